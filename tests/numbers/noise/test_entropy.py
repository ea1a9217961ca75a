"""Bytes are never shared: not by processes, threads, copies or pickles; only the noise package draws."""

import ast
import copy
import hashlib
import pickle
import re
import threading
from fractions import Fraction
from pathlib import Path

import pytest
from tests.support.processes import bytes_of_a_fork, result_of_a_child
from tests.support.sources import parsed

from takifugu.numbers.noise import InsecureSeededEntropyForTests, SystemEntropy, discrete_laplace
from takifugu.numbers.noise.entropy import Entropy, is_private

SOURCE = Path(__file__).parents[3] / "src" / "takifugu"


def streams(entropy: Entropy) -> list[bytes]:
    """Return what this process and three forks of it draw."""
    entropy.bytes(5)  # whatever could be buffered is buffered now
    return [bytes_of_a_fork(lambda: entropy.bytes(32)) for _ in range(3)] + [entropy.bytes(32)]


def noises(entropy: Entropy) -> list[bytes]:
    """Return the noise that this process and three forks of it draw."""

    def draw() -> bytes:
        return discrete_laplace(Fraction(10**9), 4, entropy).tobytes()

    return [bytes_of_a_fork(draw) for _ in range(3)] + [draw()]


@pytest.mark.parametrize("drawn", [streams, noises])
def test_two_processes_never_draw_the_same_stream(drawn) -> None:
    draws = result_of_a_child(drawn, SystemEntropy())
    assert len(draws) == len(set(draws)) == 4
    assert all(draws)


@pytest.mark.parametrize("drawn", [streams, noises])
def test_the_fork_test_can_fail(drawn) -> None:
    assert len(set(result_of_a_child(drawn, InsecureSeededEntropyForTests(1)))) == 1


def test_copies_pickles_and_threads_never_share_bytes() -> None:
    entropy = SystemEntropy()
    entropy.bytes(5)
    twins = [copy.copy(entropy), copy.deepcopy(entropy), pickle.loads(pickle.dumps(entropy)), entropy]
    drawn: list[bytes] = [twin.bytes(32) for twin in twins]
    threads = [threading.Thread(target=lambda: drawn.extend(entropy.bytes(16) for _ in range(500))) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(set(drawn)) == 2004


def test_a_seeded_stream_repeats_and_does_not_depend_on_how_it_is_cut() -> None:
    whole = InsecureSeededEntropyForTests(3).bytes(200_000)
    pieces = InsecureSeededEntropyForTests(3)
    assert b"".join(pieces.bytes(n) for n in (0, 1, 65_535, 1, 130_000, 4_463)) == whole
    assert len({whole[i : i + 16] for i in range(0, 200_000, 16)}) == 12_500
    assert InsecureSeededEntropyForTests(4).bytes(16) != whole[:16]
    assert hashlib.sha256(whole).hexdigest()[:16] == "c462b0f645cf7b0a"  # a seed means the same in every version


class Claims:
    """A source from outside that says that it is private."""

    private = True

    def bytes(self, n: int) -> bytes:
        return bytes(n)


class Derived(SystemEntropy):
    def bytes(self, n: int) -> bytes:
        return bytes(n)


@pytest.mark.parametrize("entropy", [Claims(), Derived(), InsecureSeededEntropyForTests(0)])
def test_what_a_source_claims_is_not_believed(entropy: Entropy) -> None:
    assert is_private(SystemEntropy())
    assert not is_private(entropy)


def drawing(source: ast.Module) -> set[str]:
    """Return what a module uses that draws random numbers; `secrets.token_hex` makes keys and names, not noise."""
    used: set[str] = set()
    for node in ast.walk(source):
        if isinstance(node, ast.Import):
            used |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.level == 0:
            used |= {str(node.module), *(f"{node.module}.{alias.name}" for alias in node.names)} - {"secrets"}
        elif isinstance(node, ast.Attribute):
            used.add(ast.unparse(node).replace("np.", "numpy.", 1))
    names = {"random", "secrets", "os.urandom", "os.getrandom", "numpy.random"}
    names |= {"secrets.randbelow", "secrets.randbits", "secrets.choice", "secrets.SystemRandom", "secrets.token_bytes"}
    return used & names


@pytest.mark.mutants
def test_no_other_room_draws_randomness() -> None:
    for path in SOURCE.rglob("*.py"):
        is_named = re.search("random|secrets", path.read_text(encoding="utf-8"))
        assert path.parent == SOURCE / "numbers" / "noise" or not is_named or not drawing(parsed(path)), path
