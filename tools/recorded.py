"""The problems that `tools/record.py` records: what is asked, under which key, and with which mechanism.

Frameworks, queries and budgets come from the tests, the examples and published networks; nothing here computes noise.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property, partial
from pathlib import Path
from typing import Any

from tests.conformance.corpus import DELTAS, EPSILONS, corpus
from tests.conformance.corpus import Case as Small
from tests.conformance.suite import audited as check_promise
from tests.fuzz import build
from tests.fuzz.checks import Case, check, generate, released, same_entries
from tests.fuzz.choices import Choices
from tests.support.golden import golden, transport_laws

import networks
import takifugu as tf
from research_data import find
from takifugu.accounting.ledger import Ledger
from takifugu.calibration import REGISTRY
from takifugu.releasing.file.loading import load
from takifugu.releasing.planning import plan

ROOT = Path(__file__).resolve().parents[1]
#: Random sets of releases, all from one seed.
SETS, SEED = 300, "record"
#: Golden entries of the transport laws, and the mechanisms that they were computed for.
PURE = ("wasserstein", "kantorovich-relaxed", "laplace-exact")
NORMAL = ("gaussian-exact", "gaussian-analytic", "kantorovich-gaussian-a", "kantorovich-gaussian-b")


@dataclass(frozen=True, eq=False)
class Problem:
    """One calibration: what `tf.calibrate` is given, under a key that stays as long as the problem is the same."""

    key: str
    framework: Any
    query: Any
    epsilon: Fraction
    delta: Fraction = Fraction(0)
    mechanism: str = "auto"
    single_release: bool = False
    allow_zero_noise: bool = True
    members: tuple[Any, ...] = ()

    def calibrated(self) -> Any:
        """Return the calibration; raises what takifugu raises."""
        return tf.calibrate(
            self.framework, self.query, self.epsilon, self.delta, mechanism=self.mechanism,
            single_release=self.single_release, allow_zero_noise=self.allow_zero_noise,
        )  # fmt: skip


def conformance() -> Iterator[Problem]:
    """Yield every case of the corpus, by every mechanism of its definition, and as "auto" takes it."""
    for case in corpus():
        parts = case.framework, case.query
        for epsilon in EPSILONS:
            for delta in DELTAS:
                for only in (False, True):
                    key = f"conformance | {case.name} | epsilon {epsilon}, delta {delta} | auto{', alone' * only}"
                    yield Problem(key, *parts, epsilon, delta, "auto", only, False, case.members)
        for line in REGISTRY:
            if case.framework.definition not in line.definitions:
                continue
            for delta in DELTAS if line.takes_delta else DELTAS[:1]:
                key = f"conformance | {case.name} | epsilon 1, delta {delta} | {line.name}"
                yield Problem(key, *parts, Fraction(1), delta, line.name, members=case.members)


def goldens() -> Iterator[Problem]:
    """Yield what tests/golden.json holds reference values of: pairs of laws, chains, and classes of chains."""
    for name, laws in transport_laws().items():
        pair = tf.distribution_pair(*(tf.numbers.Pmf([*law], [*law.values()]) for law in laws))
        budgets = [(Fraction(epsilon), Fraction(0)) for epsilon in golden()["laplace_scale"].get(name, ())]
        budgets += [tuple(map(Fraction, both.split(","))) for both in golden()["gaussian_sigma"].get(name, ())]
        for epsilon, delta in budgets:
            for mechanism in NORMAL if delta else PURE:
                key = f"golden | {name} | epsilon {epsilon}, delta {delta} | {mechanism}"
                yield Problem(key, pair, tf.Identity(), epsilon, delta, mechanism)
    for name in golden()["quilt_exact_binary_chain"]:
        p, q, length, epsilon = (part.split("=")[1] for part in name.split(","))
        matrix = [[float(p), float(1 - Fraction(p))], [float(1 - Fraction(q)), float(q)]]
        for initial in ("any", "stationary"):
            framework = tf.Pufferfish(tf.every_entry(), tf.MarkovChain(matrix, int(length), initial))
            for mechanism in ("quilt-exact", "influence", "auto"):
                key = f"golden | chain {name}, {initial} | {mechanism}"
                yield Problem(key, framework, tf.Count(1), Fraction(epsilon), mechanism=mechanism)
    for name, case in golden()["quilt_class_pi_g"].items():
        framework = tf.Pufferfish(tf.every_entry(), tf.ReversibleChains(case["pi"], case["g"], 100))
        for mechanism in ("quilt-approx", "auto"):
            key = f"golden | class {name} | {mechanism}"
            yield Problem(key, framework, tf.Count(1), Fraction(name.split("eps=")[1]), mechanism=mechanism)


def published() -> Iterator[Problem]:
    """Yield the nine published networks of experiments/real-networks.md, and pairs of their variables with a delta."""
    for name in networks.NETWORKS:
        path = find(f"bif/{name}.bif")
        if path is None:
            raise SystemExit(f"bif/{name}.bif is missing: put it under a folder that TAKIFUGU_DATA names")
        network = tf.read_network(path)
        first, last = str(network.names[0]), str(network.names[-1])
        count = networks.first_states(network)
        for hidden, secret in ((first, tf.every_entry(first)), ("all", tf.every_entry())):
            framework = tf.Pufferfish(secret, network)
            for mechanism in networks.MECHANISMS:
                key = f"network | {name}, hide {hidden} | epsilon 3 | {mechanism}"
                yield Problem(key, framework, count, Fraction(3), mechanism=mechanism)
        one = tf.Count(network.alphabet(network.size - 1)[0], entries=[last])
        for delta in (Fraction(0), Fraction(1, 10**6)):
            key = f"network | {name}, hide {first}, publish {last} | epsilon 1, delta {delta} | auto, alone"
            framework = tf.Pufferfish(tf.every_entry(first), network)
            yield Problem(key, framework, one, Fraction(1), delta, "auto", True, False)


@dataclass(frozen=True, eq=False)
class RandomSet:
    """Some releases about one source, made as tests/fuzz makes them."""

    number: int

    @property
    def key(self) -> str:
        return f"random | {self.number:03}"

    @cached_property
    def case(self) -> Case:
        return generate(Choices(f"{SEED}:{self.number}"), ("several",))


def random_sets() -> Iterator[RandomSet]:
    """Yield the random sets."""
    yield from map(RandomSet, range(SETS))


def of_request(request: Any) -> Any:
    """Return the calibration of a random release."""
    return build.calibrated(request, build.built(request))


def together(chosen: RandomSet, made: list[tuple[Any, Any]], tried: Callable[[Callable[[], Any]], Any]) -> Any:
    """Return what releases lose together: `compose` where they are about the same entries, and what a ledger spends."""
    lost = {}
    if len(made) > 1 and same_entries([request for request, _ in made]):
        lost["joint"] = tried(lambda: _epsilon_and_delta(tf.compose([calibration for _, calibration in made])))
    with tempfile.TemporaryDirectory() as folder:
        ledger = Path(folder) / "ledger.db"
        for number, (request, calibration) in enumerate(made):
            paid = tried(partial(_released, chosen.case, request, calibration, ledger))
            if paid:
                lost[f"ledger refuses {number}"] = paid
        lost["ledger"] = tried(lambda: _epsilon_and_delta(Ledger.open(ledger).spent("s")))
    return lost


def _released(case: Case, request: Any, calibration: Any, ledger: Path) -> Any:
    released(case, request, calibration, ledger)
    return {}


def _epsilon_and_delta(spent: Any) -> dict[str, str]:
    return {"epsilon": str(spent.epsilon), "delta": str(spent.delta)}


def release_files() -> Iterator[Path]:
    """Yield every release file of the examples."""
    for path in sorted((ROOT / "examples").rglob("*.toml")):
        if "[[table]]" in path.read_text(encoding="utf-8"):
            yield path


def calibrated_tables(path: Path) -> Iterator[tuple[str, list[Any]]]:
    """Return every table of a release file by name and scope, with the calibrations of its answers."""
    tables = plan.calibrated(load(path)).tables
    return iter([(f"{table.name}, {table.scope}", list(table.calibrations)) for table in tables])


def account(path: Path) -> dict[str, Any]:
    """Return what a release file would spend, and the reasons for which it is refused."""
    foretold = tf.dry_run(path).to_dict()["forecast"]
    spent = foretold["account"] and foretold["account"]["after"]
    return {"spent": spent, "refusals": "; ".join(map(str, foretold["refused"]))}


#: What is asked one by one, by the word that its keys begin with.
PROBLEMS: dict[str, Callable[[], Iterable[Problem]]] = {
    "conformance": conformance, "golden": goldens, "network": published,
}  # fmt: skip


class TooLarge(Exception):
    """What no audit can list."""


def audited(key: str, row: dict[str, Any], row_of: Callable[[Any], dict[str, Any]]) -> str:
    """Compute a row again and set it against the exact audit; return what is wrong with it, or "".

    Raises TooLarge, with the reason, where no audit can judge it.
    """
    part, _, rest = key.partition(" | ")
    if part == "random":
        outcome = check(RandomSet(int(rest.partition(" | ")[0])).case)
        if outcome.status in ("refused", "too large"):
            raise TooLarge(f"it is {outcome.status}")
        return outcome.what
    if part not in PROBLEMS:
        raise TooLarge("it is about a whole file")
    problem = next((problem for problem in PROBLEMS[part]() if problem.key == key), None)
    if problem is None:
        return "this checkout has no such problem"
    try:
        calibration = problem.calibrated()
        if row_of(calibration) != row:
            return "the code at hand gives another row"
        check_promise(row["mechanism"], Small(key, problem.framework, problem.query, problem.members), calibration)
    except AssertionError as broken:
        return str(broken)
    except tf.TakifuguError as refused:
        raise TooLarge(str(refused)) from refused
    return ""
