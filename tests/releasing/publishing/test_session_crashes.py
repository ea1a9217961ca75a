"""`takifugu ask`, killed or with a failing disk at each of its steps: paid once, and no place is answered twice."""

import json
import shutil
import sqlite3
import zlib
from contextlib import closing
from pathlib import Path

import pytest
from tests.support.crashing import FAULTS, Fault, run
from tests.support.release_files import believe, hide, publish, read_from, release_text
from tests.support.releases import put

SPEC = release_text(
    read_from("evening", "visits.csv", person="who", place="where", budget=400),
    believe("asymmetric", places=["bar", "gym", "inn"]), hide(visits="all"),
    publish("safe", "safe", at_most=0, limit=2, epsilon=0.01), output="out",
)  # fmt: skip
ROWS = "who,where\nAna,bar\nBen,bar\nBen,gym\n"
#: Somebody is at each, so none is safe; noise is far above two people: a second draw would be another number.
PLACES = ("bar", "gym")
Answers = list[tuple[str, str]]


@pytest.fixture(scope="module")
def prepared(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return put(tmp_path_factory.mktemp("prepared") / "new", {"evening.toml": SPEC, "visits.csv": ROWS}).parent


def in_ledger(folder: Path) -> tuple[list[str], Answers]:
    """Return the states of all payments, and the answers in the ledger, read without any of its code."""
    if not (folder / "ledger.db").exists():
        return [], []
    with closing(sqlite3.connect(f"file:{folder / 'ledger.db'}?mode=ro", uri=True)) as connection:
        rows = connection.execute("select state, bundle from reservations").fetchall()
    answers: Answers = []
    for _, bundle in rows:
        pairs = json.loads(zlib.decompress(bundle))["asked"] if bundle else []
        answers += [(json.loads(question)[0], answer) for question, answer in pairs]
    return [state for state, _ in rows], answers


def in_folder(folder: Path) -> Answers:
    """Return the answers in the folder; a table has its own certificate, or none is there."""
    certificate = folder / "out" / "safe-session.certificate.json"
    if not certificate.exists():
        assert not (folder / "out" / "safe-session.csv").exists()
        return []
    return [*json.loads(certificate.read_text())["answers"][0]["values"].items()]


def played(prepared: Path, folder: Path, fault: Fault) -> list[str]:
    """Break a call once, repeat it, and return the states that the break left."""
    shutil.copytree(prepared, folder)
    words = ["ask", str(folder / "evening.toml"), *PLACES]
    broken = run(words, folder, fault)
    states, ledger = in_ledger(folder)
    out = in_folder(folder)
    assert len(states) <= 1, "paid twice"
    if ledger:
        assert out == ledger[: len(out)], "published before it was kept"
    again = run(words, folder)
    assert again.code == (0 if states != ["published"] else 2), (fault, broken, again)
    assert in_ledger(folder) == (["published"], [])
    last = in_folder(folder)
    assert last[: len(out)] == out
    assert last[: len(ledger)] == ledger, "answered twice"
    assert [place for place, _ in last] == [*PLACES]
    return states


def test_some_steps(prepared: Path, tmp_path: Path) -> None:
    taken = len(steps(prepared, tmp_path / "whole"))
    played(prepared, tmp_path / "late", Fault("kill", taken * 3 // 4))


def steps(prepared: Path, folder: Path) -> str:
    shutil.copytree(prepared, folder)
    return run(["ask", str(folder / "evening.toml"), *PLACES], folder).steps


@pytest.mark.slow
def test_a_kill_at_every_commit_and_rename_in_turn(prepared: Path, tmp_path: Path) -> None:
    taken = steps(prepared, tmp_path / "whole")
    chosen = [at for at, letter in enumerate(taken) if letter in "cr"]
    states = [played(prepared, tmp_path / str(at), Fault("kill", at)) for at in chosen]
    assert [["reserved"] in states, ["drawn"] in states, ["published"] in states] == [True] * 3


@pytest.mark.slow
@pytest.mark.parametrize("kind", FAULTS)
def test_whatever_goes_wrong_at_some_steps(prepared: Path, tmp_path: Path, kind: str) -> None:
    taken = len(steps(prepared, tmp_path / "whole"))
    for at in range(3, taken, 20):
        played(prepared, tmp_path / str(at), Fault(kind, at))
