"""A release file says which ledger it belongs to: written once, one line, and compared at every release."""

import os
import tomllib
from pathlib import Path

import pytest
from tests.releasing import files
from tests.support.commands import ended
from tests.support.failing import failing
from tests.support.releases import refused
from tests.support.starting import begin

import takifugu as tf
from takifugu.accounting.ledger import Ledger
from takifugu.core.errors import LedgerError, SpecError
from takifugu.releasing.file.neighbours import with_ledger_id

SMALL = files.SPEC.replace('per = "both"\n', "")
ID = "0123456789abcdef"


@pytest.mark.slow
@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_the_first_release_adds_one_line_and_changes_nothing_else(tmp_path: Path, end: str) -> None:
    spec = f"# ours\n\n{SMALL}\n# the end"
    spec = spec.replace('ledger = "ledger.db"', '  "ledger"   = "ledger.db" # safe').replace("\n", end)
    where = files.write(tmp_path)
    where.write_bytes(spec.encode())
    where.chmod(0o640)
    tf.release_file(where)
    text = where.read_bytes().decode()
    lines, before = text.split(end), spec.split(end)
    (added,) = [line for line in lines if "ledger_id" in line]
    assert lines.index(added) == before.index('  "ledger"   = "ledger.db" # safe') + 1
    assert [line for line in lines if line != added] == before
    assert tomllib.loads(text)["ledger_id"] == Ledger.open(tmp_path / "ledger.db").id
    assert where.stat().st_mode & 0o777 == 0o640
    tf.release_file(where, output=tmp_path / "more", once="more")
    assert where.read_bytes().decode() == text


@pytest.mark.slow
def test_a_release_with_another_ledger_stops(tmp_path: Path) -> None:
    where = files.write(tmp_path, SMALL)
    tf.release_file(where)
    moved = where.read_text().replace('"ledger.db"', '"other.db"').replace('"out"', '"elsewhere"')
    where.write_text(moved)
    for words in ("there is no ledger", f"has the id .*, not '{tomllib.loads(moved)['ledger_id']}'"):
        with pytest.raises(LedgerError, match=words):
            tf.release_file(where)
        ended(2, "release", where, "--dry-run")
        assert not (tmp_path / "elsewhere").exists()
        Ledger.open(tmp_path / "other.db")
    where.write_text(f"require_ledger = true\n{moved}")
    ended(2, "release", where, "--new-ledger")
    where.write_text(moved)
    tf.release_file(where, new_ledger=True)
    assert tomllib.loads(where.read_text())["ledger_id"] == Ledger.open(tmp_path / "other.db").id


def test_a_copy_of_a_ledger_has_its_id(tmp_path: Path) -> None:
    where = files.write(tmp_path, SMALL)
    tf.release_file(where)
    (tmp_path / "copy.db").write_bytes((tmp_path / "ledger.db").read_bytes())
    assert Ledger.open(tmp_path / "copy.db").id == Ledger.open(tmp_path / "ledger.db").id


def test_init_writes_it(tmp_path: Path) -> None:
    files.write(tmp_path)
    begin(tmp_path / "data.csv", "-o", tmp_path / "new.toml")
    text = (tmp_path / "new.toml").read_text()
    assert tomllib.loads(text)["ledger_id"] == Ledger.open(tmp_path / "ledger.db").id


def test_an_id_that_is_none_is_refused(tmp_path: Path) -> None:
    assert "ledger_id" in str(refused(files.write(tmp_path, f'ledger_id = "mine"\n{SMALL}'), kind=SpecError))


@pytest.mark.parametrize("text", [
    'output = "out"\n', 'output = """\nledger = "x"\n"""\n', 'ledger = """\nledger.db"""\n',
    '[source]\nledger = "x"\n', "ledger = 'a.db'\nledger = 'b.db'\n", "[",
])  # fmt: skip
def test_a_text_that_would_change_otherwise_stays(text: str) -> None:
    assert with_ledger_id(text, ID) is None


@pytest.mark.parametrize("text", [
    'ledger = "a"', "ledger='a'\n[source]\nledger = 'b'\n", '\ufeffledger = "a"\n', "ledger = 'a'\r\nx = 1",
])  # fmt: skip
def test_a_text_with_a_ledger_gets_its_id(text: str) -> None:
    after = with_ledger_id(text, ID)
    assert tomllib.loads(after.removeprefix("\ufeff"))["ledger_id"] == ID
    assert with_ledger_id(after, ID) == after


def test_a_file_that_may_not_be_written_is_released_anyway(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    where = files.write(tmp_path, SMALL)
    with failing(monkeypatch, os, "chmod", PermissionError(13, "Permission denied")):
        tf.release_file(where)
    assert where.read_text() == SMALL
    assert not list(tmp_path.glob(".*.unfinished"))
