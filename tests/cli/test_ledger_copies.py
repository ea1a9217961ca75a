"""The commands that check, upgrade and merge ledgers: what they print, and how they end."""

from __future__ import annotations

import json
import shutil
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest
from click.testing import CliRunner, Result
from tests.support.ledger_tools import dump, group_debit, one_thing

from takifugu.accounting.ledger import Ledger
from takifugu.cli import main

FORMATS = Path(__file__).parents[1] / "accounting" / "ledger" / "formats"


def invoke(*words: object) -> Result:
    return CliRunner().invoke(main, ["ledger", *map(str, words)], catch_exceptions=False)


def words_of(result: Result) -> str:
    return " ".join(result.output.split())


@pytest.fixture
def path(tmp_path: Path) -> Path:
    Ledger.open(tmp_path / "ledger.db").reserve("data", [group_debit(one_thing(), 1)], budget="3/2")
    return tmp_path / "ledger.db"


def test_a_check_that_finds_nothing_and_one_that_does(path: Path) -> None:
    assert words_of(invoke("check", path)).startswith("the ledger is what its events say")
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("update standings set epsilon = '0'")
        connection.commit()
    edited = invoke("check", path)
    assert edited.exit_code == 2
    assert "standings, row 1: epsilon is '0', and its events say '1'" in words_of(edited)
    listed = invoke("check", path, "--json")
    assert listed.exit_code == 2
    assert "standings, row 1" in listed.stdout


def test_an_older_ledger_is_upgraded_once(tmp_path: Path) -> None:
    older = tmp_path / "older.db"
    with closing(sqlite3.connect(older)) as connection:
        connection.executescript((FORMATS / "format-5.sql").read_text())
    assert "is kept at" in words_of(invoke("upgrade", older))
    assert "has the format of this version" in words_of(invoke("upgrade", older))
    assert json.loads(invoke("upgrade", older, "--json").stdout)["kept"] is None


def test_a_copy_is_merged_after_a_rehearsal(path: Path) -> None:
    other = path.with_name("other.db")
    shutil.copy(path, other)
    for copy in (path, other):
        Ledger.open(copy).reserve("data", [group_debit(one_thing(), "1/2")])
    before = dump(path)
    assert "ledger.db lacks 1; what was spent" in words_of(invoke("merge", path, other, "--dry-run"))
    assert dump(path) == before
    merged = words_of(invoke("merge", path, other))
    assert "data 1.5 2 epsilon 1.5" in merged
    assert "'data' has spent more than its budget: nothing more is paid" in merged
    assert "knows all that" in words_of(invoke("merge", path, other))
    content = json.loads(invoke("merge", other, path, "--json").stdout)
    assert (content["payments"], content["sources"][0]["spent"]["epsilon"]) == (1, "2")


def test_no_copy_is_an_error(path: Path) -> None:
    Ledger.open(path.with_name("stranger.db"))
    result = invoke("merge", path, path.with_name("stranger.db"))
    assert result.exit_code == 2
    assert "is no copy of the ledger" in words_of(result)
