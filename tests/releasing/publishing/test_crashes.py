"""The command line, killed or with a failing disk at every write, sync, rename and commit: words stay true, nothing is
paid twice, and what was drawn is what is published."""

import os
import random
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.support.crashing import FAULTS, LIMITS, Ended, Fault, check_public, check_words, run, seen
from tests.support.release_files import believe, publish, read_from, release_text
from tests.support.releases import put

#: How many rounds the slow test plays; `make crashes` plays more.
ROUNDS = int(os.environ.get("TAKIFUGU_CRASHES", "20"))

SPEC = release_text(
    read_from("study", "data.csv", order="t", step=1, value="state", budget=400),
    believe("markov-chain", states=["still", "walking"], matrix=[[0.8, 0.2], [0.3, 0.7]], source="a test"),
    publish("both", "histogram", epsilon=4.0, mechanism="group-dp"),
    publish("walking", "count", states=["walking"], epsilon=2.0, mechanism="group-dp"),
    output="out", expect={"source": "a test", "matters": 1000, "unimportant": ["still", "walking"]},
)  # fmt: skip


def small(where: Path, spec: str = SPEC, rows: int = 40) -> Path:
    """Write a release file and its data; return the file's path."""
    table = "".join(f"{t},{'walking' if t % 3 else 'still'}\n" for t in range(rows))
    return put(where, {"release.toml": spec, "data.csv": f"t,state\n{table}"})


@pytest.fixture(scope="module")
def prepared(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a release file, one in which it was published once, and how many steps a release takes."""
    folder = tmp_path_factory.mktemp("prepared")
    for name in ("new", "old"):
        small(folder / name)
    first = run(["release", str(folder / "old" / "release.toml")], folder / "old")
    assert first.code == 0, first
    assert len(seen(folder / "old").files) == 10
    (folder / "steps.txt").write_text(first.steps)
    return folder


def steps(prepared: Path) -> str:
    return (prepared / "steps.txt").read_text()


def round_of(
    prepared: Path, folder: Path, kind: str, fault: Fault, again: list[str], twice: Fault | None,
    run: Callable[..., Ended] = run,
) -> str:  # fmt: skip
    """Break a release once (and its completion, too, if `twice`), complete it, and check everything in between."""
    shutil.copytree(prepared / kind, folder)
    before = seen(folder)
    toml = str(folder / "release.toml")
    anew = ["--replace", "both", "--replace", "walking", "--idempotency-key", "K"] if kind == "old" else []
    broken = run(["release", *anew, toml], folder, fault)
    now = seen(folder)
    check_public(now)
    state = now.state_since(before)
    if broken.code >= 0:
        check_words(broken, now, before)
    complete = ["ledger", "resume", str(folder / "ledger.db")] if again == ["resume"] else ["release", *anew, toml]
    if state == "nothing happened" and again == ["resume"]:
        return state  # nothing to complete, and perhaps no ledger
    reached = state
    if twice is not None:
        run(complete, folder, twice)
        middle = seen(folder)
        check_public(middle)
        reached = middle.state_since(before)
        if reached == "done":
            complete = ["ledger", "resume", str(folder / "ledger.db")]
    ended = run(complete, folder)
    assert ended.code == 0, (fault, twice, state, ended)
    last = seen(folder)
    check_public(last)
    assert last.state_since(before) == "done"
    assert len(last.reservations) == len(before.reservations) + 1, "paid twice"
    left = [name for name in last.files if name != ".takifugu.lock" or reached != "done"]  # swept by the next release
    assert len(left) == 10, left
    drawn = next((files for group, (_, files) in now.reservations.items() if group not in before.reservations), {})
    for name, content in drawn.items():
        assert last.files[name] == content, "drawn twice"
    for name, content in now.files.items():
        if name in last.files and before.files.get(name) != content:
            assert last.files[name] == content, "published twice"
    return state


def chance_round(prepared: Path, folder: Path, number: int) -> str:
    chance = random.Random(number)
    kinds = FAULTS if number % 4 else LIMITS
    fault = _fault(chance, kinds[(number // 4 if kinds is LIMITS else number) % len(kinds)], len(steps(prepared)))
    twice = _fault(chance, "kill", len(steps(prepared))) if chance.random() < 0.3 else None
    again = ["resume"] if chance.random() < 0.5 else ["release"]
    return round_of(prepared, folder, chance.choice(["new", "old"]), fault, again, twice)


def _fault(chance: random.Random, kind: str, count: int) -> Fault:
    if kind == "size":
        return Fault(kind, int(2 ** chance.uniform(11, 18)))
    return Fault(kind, chance.randrange(1500 if kind == "time" else count))


def test_a_release_takes_many_steps(prepared: Path) -> None:
    assert len(steps(prepared)) > 40
    assert set(steps(prepared)) == set("wfrulc")


@pytest.mark.sampled(9)
@pytest.mark.parametrize("number", range(4))
def test_some_rounds(prepared: Path, tmp_path: Path, number: int) -> None:
    fault = Fault("kill", len(steps(prepared)) * (2 * number + 1) // 9)
    round_of(prepared, tmp_path / "round", "new", fault, [("resume", "release")[number % 2]], None)


@pytest.mark.slow
def test_many_rounds(prepared: Path, tmp_path: Path) -> None:
    states = {chance_round(prepared, tmp_path / str(number), number) for number in range(ROUNDS)}
    assert len(states) >= (3 if ROUNDS >= 8 else 1)  # a few rounds meet few states


@pytest.mark.slow
def test_a_kill_at_every_step_in_turn(prepared: Path, tmp_path: Path) -> None:
    """At every one for `make crashes`, else at the last commits (reserve, draw, publish), first and last renames."""
    taken = steps(prepared)
    chosen = list(range(len(taken)))
    if ROUNDS < 200:
        commits, renames = ([at for at in chosen if taken[at] == kind] for kind in "cr")
        chosen = commits[-16:] + renames[:3] + renames[-3:]
    states = [round_of(prepared, tmp_path / str(at), "new", Fault("kill", at), ["resume"], None) for at in chosen]
    assert set(states) >= {"paid, not drawn", "drawn, not published", "published, not recorded", "done"}


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["new", "old"])
def test_a_retry_after_a_kill_at_each_of_the_last_steps_pays_once(prepared: Path, tmp_path: Path, kind: str) -> None:
    """New tables by the same command, and tables that are replaced by the same command with the same key."""
    count = len(steps(prepared))
    for back in (1, 2, 3, 5, 8):
        round_of(prepared, tmp_path / str(back), kind, Fault("kill", count - back), ["release"], None)
