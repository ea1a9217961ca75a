"""A ledger that is restored from a copy: whatever the copy has forgotten, nothing is granted or drawn a second time."""

from __future__ import annotations

import json
import shutil
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result
from tests.releasing import files

import takifugu as tf
from takifugu.cli import main
from takifugu.errors import LedgerError, ReleaseState
from takifugu.ledger import Ledger
from takifugu.releasing.outcomes import Outcome

SMALL = files.SPEC.replace('per = "both"\n', "")
AGAIN = SMALL.replace('"time-use"', '"again"')
THIRD = SMALL.replace('"time-use"', '"third"')
TWO = f'{SMALL}\n[[release]]\nname = "walks"\nquery = "count"\nstates = ["walking"]\nepsilon = 0.5\n'


def invoke(*words: object) -> Result:
    return CliRunner().invoke(main, [str(w) for w in words], catch_exceptions=False)


def words_of(result: Result) -> str:
    return " ".join(result.output.split())


def copied(path: Path, name: str) -> Path:
    """Copy a ledger as it is at this moment."""
    target = path.with_name(name)
    with closing(sqlite3.connect(path)) as old, closing(sqlite3.connect(target)) as new:
        old.backup(new)
    return target


def restored(path: Path, copy: Path) -> None:
    for leftover in path.parent.glob(f"{path.name}*"):
        leftover.unlink()
    shutil.copy(copy, path)


def copies_of_a_release(folder: Path, monkeypatch: pytest.MonkeyPatch, spec: str) -> dict[str, Path]:
    """Publish, and return a copy of the ledger at each state that it went through."""
    where = files.write(folder, spec)
    ledger = folder / "ledger.db"
    found: dict[str, Path] = {}
    methods = {"reserve": "reserved", "drawn": "drawn", "publish": "published"}
    with monkeypatch.context() as patched:
        for method, state in methods.items():
            real = getattr(Ledger, method)

            def call(self: Ledger, *args: Any, _real: Any = real, _state: str = state, **more: Any) -> Any:
                if not found:
                    found["before"] = copied(ledger, "copy-before.db")
                answer = _real(self, *args, **more)
                found[_state] = copied(ledger, f"copy-{_state}.db")
                return answer

            patched.setattr(Ledger, method, call)
        tf.release_file(where)
    assert list(found) == ["before", "reserved", "drawn", "published"]
    return found


def public(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in (folder / "out").iterdir()}


@pytest.mark.parametrize("state", ["before", "reserved", "drawn", "published"])
@pytest.mark.parametrize("then", ["release", "force", "resume", "another"])
def test_a_copy_at_any_state_draws_nothing_twice_and_grants_nothing_twice(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, state: str, then: str
) -> None:
    files.write(tmp_path, THIRD)
    tf.release_file(tmp_path / "release.toml")
    copies = copies_of_a_release(tmp_path, monkeypatch, SMALL)
    before = public(tmp_path)
    restored(tmp_path / "ledger.db", copies[state])
    where = tmp_path / "release.toml"
    files.write(tmp_path, AGAIN if then == "another" else SMALL)
    words = {"force": ["release", "--force", where], "resume": ["ledger", "resume", tmp_path / "ledger.db"]}
    result = invoke(*words.get(then, ["release", where]))
    now = public(tmp_path)
    book = Ledger.open(tmp_path / "ledger.db")
    spent = book.spent("study").spent.epsilon
    if state == "before" and then != "resume":
        assert result.exit_code == 2
        assert "a copy from before" in words_of(result)
        assert "ledger adopt" in words_of(result)
        assert now == before
        return
    if then == "another":
        assert result.exit_code == 0
        assert {name: now[name] for name in before} == before
        assert spent > 2  # all three are counted together
        assert len(book.history("study")) == 3
        return
    if then == "force" and state in ("reserved", "published"):  # nothing is pending: this is a new release, and is paid
        assert result.exit_code == 0
        assert len(book.history("study")) == 3
        return
    assert now == before
    assert len(book.history("study")) == (1 if state == "before" else 2)
    if then == "resume" or state == "drawn":
        assert result.exit_code == 0
        assert not book.pending()


def test_what_lies_there_is_listed_when_a_reservation_is_closed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    copies = copies_of_a_release(tmp_path, monkeypatch, TWO)
    (tmp_path / "out" / "walks.csv").unlink()  # its values cannot be had again, and are not drawn again
    restored(tmp_path / "ledger.db", copies["reserved"])
    (one,) = tf.resume(tmp_path / "ledger.db")
    assert one.state is ReleaseState.DONE
    assert isinstance(one.outcome, Outcome)
    assert [table.name for table in one.outcome.tables] == ["time-use"]
    book = Ledger.open(tmp_path / "ledger.db")
    assert not book.pending()
    assert "was not drawn again" in book.events("study")[-1].what
    assert book.spent("study").spent.epsilon > 1


def test_a_copy_is_noticed_in_the_folder_of_the_file_too(tmp_path: Path) -> None:
    where = files.write(tmp_path, SMALL)
    Ledger.open(tmp_path / "ledger.db").source("study", 10)
    copy = copied(tmp_path / "ledger.db", "copy.db")
    tf.release_file(where)
    restored(tmp_path / "ledger.db", copy)
    files.write(tmp_path, AGAIN)
    for more in ({}, {"output": tmp_path / "elsewhere"}, {"new_ledger": True}, {"force": True}):
        with pytest.raises(LedgerError, match="a copy from before"):
            tf.release_file(where, **more)  # type: ignore[arg-type]
    assert not (tmp_path / "elsewhere").exists()
    dry = invoke("release", where, "--dry-run")
    assert dry.exit_code == 2
    assert "a copy from before" in words_of(dry)


def test_a_certificate_of_somebody_else_is_no_reason_to_stop(tmp_path: Path) -> None:
    where = files.write(tmp_path, SMALL)
    tf.release_file(where)
    told = json.loads((tmp_path / "out" / "time-use.certificate.json").read_text())
    (tmp_path / "out" / "theirs.certificate.json").write_text(json.dumps({**told, "source": "another study"}))
    files.write(tmp_path, AGAIN)
    tf.release_file(where)
