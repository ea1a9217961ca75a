"""A release that is killed at any call of the C library which changes a file: nothing is paid or drawn twice, and what
is public is paid for."""

import os
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.releasing.publishing.test_crashes import round_of
from tests.releasing.publishing.test_states import small
from tests.support.crashing import Fault
from tests.support.killed_calls import Server, preloaded
from tests.support.ledger_edits import pay

from takifugu.accounting.ledger import Ledger

#: `make crashes` kills at every call, the slow tests at these many.
IS_EVERY = int(os.environ.get("TAKIFUGU_CRASHES", "20")) >= 200
KILLS = 50

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    with preloaded(tmp_path_factory.mktemp("library")) as started:
        yield started


@pytest.fixture(scope="module")
def prepared(server: Server, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a release file, one in which it was published once, and the calls that each of them takes."""
    folder = tmp_path_factory.mktemp("prepared")
    for name in ("new", "old"):
        small(folder / name)
    first = server.run(["release", str(folder / "old" / "release.toml")], folder / "old")
    assert first.code == 0, first
    shutil.copytree(folder / "old", folder / "twice")
    anew = ["--replace", "both", "--replace", "walking", "--idempotency-key", "K"]
    second = server.run(["release", *anew, str(folder / "twice" / "release.toml")], folder / "twice")
    assert second.code == 0, second
    (folder / "steps.new").write_text(first.steps)
    (folder / "steps.old").write_text(second.steps)
    return folder


def test_a_commit_is_on_the_disk_with_the_end_of_its_journal(server: Server, tmp_path: Path) -> None:
    """A journal whose name comes back after a power cut undoes what was committed, and seen."""
    ledger = tmp_path / "ward" / "books" / "ledger.db"
    ledger.parent.mkdir(parents=True)
    pay(Ledger.open(ledger), budget=1)
    ended = server.run(["ledger", "set-budget", str(ledger), "data", "2"], tmp_path / "ward")
    assert ended.code == 0, ended
    assert ended.steps.endswith("uf")


def test_a_release_takes_many_calls(prepared: Path) -> None:
    for kind in ("new", "old"):
        taken = (prepared / f"steps.{kind}").read_text()
        assert len(taken) > 150
        assert set("owpfru") <= set(taken)


@pytest.mark.parametrize("kind", ["new", "old"])
def test_a_kill_at_any_call(server: Server, prepared: Path, tmp_path: Path, kind: str) -> None:
    calls = (prepared / f"steps.{kind}").read_text()
    states = set()
    for number, fault in enumerate(faults_at(calls)):
        again = [("resume", "release")[number % 2]]
        folder = tmp_path / "round"
        states.add(round_of(prepared, folder, kind, fault, again, None, server.run))
        shutil.rmtree(folder)
    assert states >= {"nothing happened", "paid, not drawn", "drawn, not published"}


def faults_at(calls: str) -> list[Fault]:
    """Return a kill before every call and in the middle of every write; of them as many as the slow tests take."""
    before = [Fault("call", at) for at in range(len(calls))]
    halves = [Fault("half", at) for at, call in enumerate(calls) if call in "wp"]
    step = 1 if IS_EVERY else max(1, len(calls) * 2 // KILLS)
    return sorted([*before[::step], *(halves if IS_EVERY else halves[:: 4 * step])], key=lambda fault: fault.at)
