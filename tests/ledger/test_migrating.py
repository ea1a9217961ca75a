"""A ledger of layout version 1, written by commit fb6fe2e: it opens, is migrated once, and counts the same."""

from __future__ import annotations

import json
import sqlite3
from contextlib import closing
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from tests.support.ledger_tools import chain_framework, dump, group_debit
from tests.support.processes import side_by_side

from takifugu.errors import BudgetExceeded, LedgerError
from takifugu.ledger import Amount, Ledger

HERE = Path(__file__).parent
#: What the code that wrote the ledger said about it.
TOLD = json.loads((HERE / "version_1.json").read_text(encoding="utf-8"))
#: Two of its sources are one now: "Ana" has units in both, and what was spent about her adds up.
OTHER = " study\u00a0"


def merged() -> dict[str, Any]:
    expected = {name: json.loads(json.dumps(told)) for name, told in TOLD.items() if name != OTHER}
    study, other = expected["study"], TOLD[OTHER]
    ((ana, epsilon, _),) = other["units"]
    for unit in study["units"]:
        if unit[0] == ana:
            unit[1] = str(Fraction(unit[1]) + Fraction(epsilon))
    study["history"] += other["history"]
    study["budget"] = other["budget"]  # the smaller of the two
    return expected


EXPECTED = merged()


@pytest.fixture
def path(tmp_path: Path) -> Path:
    where = tmp_path / "version 1.db"
    with closing(sqlite3.connect(where)) as connection:
        connection.executescript((HERE / "version_1.sql").read_text(encoding="utf-8"))
        connection.execute("PRAGMA journal_mode=WAL")
    return where


def told(book: Ledger) -> dict[str, Any]:
    """Return what this version says, in the words of version_1.json."""
    found = {}
    for row in book.show():
        amount = (row.budget.epsilon, row.budget.delta) if row.budget else None
        found[row.name] = {
            "id": row.id, "spent": [str(row.spent.epsilon), str(row.spent.delta)],
            "budget": None if amount is None else [str(amount[0]), str(amount[1])], "implied": row.budget_is_implied,
            "units": [[u.unit, str(u.spent.epsilon), str(u.spent.delta)] for u in book.spent(row.name).units],
            "history": [
                [e.id, e.name, e.state, str(e.amount.epsilon), str(e.amount.delta), list(e.kinds), e.scope, e.units,
                 list(e.frameworks), e.created]
                for e in book.history(row.name)
            ],
        }  # fmt: skip
    return found


def test_it_opens_and_counts_the_same(path: Path) -> None:
    book = Ledger.open(path)
    assert told(book) == EXPECTED
    assert not book.is_new
    assert told(Ledger.open(path)) == EXPECTED


def test_it_takes_further_releases(path: Path) -> None:
    book = Ledger.open(path)
    with pytest.raises(BudgetExceeded, match=r"left: epsilon 0;.*No budget was declared"):
        book.reserve("implied", [group_debit(chain_framework(100, 0.7), 5)])
    done = book.reserve("unused", [group_debit(chain_framework(7), Fraction(1, 2))])
    book.drawn(done, b"noisy")
    book.publish(done)
    assert book.spent("unused").spent.epsilon == Fraction(1, 2)


def test_the_oldest_releases_are_counted_with_a_further_one(path: Path) -> None:
    book = Ledger.open(path)
    before = book.spent("sequence").spent.epsilon
    book.reserve("sequence", [group_debit(chain_framework(100, 0.7), Fraction(1, 9))])
    assert before < book.spent("sequence").spent.epsilon <= before + Fraction(1, 9)


def test_what_was_not_published_is_pending_and_says_that_it_cannot_be_completed(path: Path) -> None:
    book = Ledger.open(path)
    reserved = [p for p in book.pending() if p.state == "reserved"]
    (drawn,) = [p for p in book.pending() if p.state == "drawn"]
    assert sorted(name for p in reserved for name in p.ids) == ["left over", *["other spelling"], *["release"] * 3]
    assert all(p.recipe == {} and p.bundle is None for p in (*reserved, drawn))
    with pytest.raises(LedgerError, match="drawn by an older version, which kept no noisy values"):
        book.drawn(drawn, b"again")
    book.publish(drawn)
    assert drawn.group not in [p.group for p in book.pending()]


def test_every_source_says_what_the_migration_cannot_find(path: Path) -> None:
    book = Ledger.open(path)
    for name in EXPECTED:
        first, *others = book.events(name)
        assert "a spelling that has vanished from the data cannot be found" in first.what
        assert len(others) == (name == "study")
    words = f"the source {OTHER!r} (id {TOLD[OTHER]['id']}) is read alike and was merged here"
    assert book.events("study")[1].what == words


def test_every_charge_and_every_framework_is_there_afterwards(path: Path) -> None:
    before = dump(path)
    Ledger.open(path)
    after = dump(path)
    assert "contents" not in after
    assert {row[-1] for row in after["frameworks"]} == {row[-1] for row in before["frameworks"]}
    old = sorted(json.dumps({**json.loads(row[-1]), "release": ""}, sort_keys=True) for row in before["debits"])
    bodies = {row[0]: json.dumps(json.loads(row[-1]), sort_keys=True) for row in after["charges"]}
    units = {row[0]: row[-1] for row in after["batches"]}
    assert sorted(bodies[row[3]] for row in after["debits"] for _ in range(units[row[1]])) == old


def test_the_open_that_migrates_says_so_and_the_ledger_remembers_when(path: Path) -> None:
    first, second = Ledger.open(path), Ledger.open(path)
    assert "brought here from layout version 1" in first.note
    assert "a spelling that has vanished from the data cannot be found" in first.note
    assert second.note == ""
    assert first.migrated == second.migrated is not None
    new = Ledger.open(path.with_name("new.db"))
    assert (new.note, new.migrated) == ("", None)


def test_of_many_that_open_it_at_once_one_migrates(path: Path) -> None:
    notes = side_by_side(note_of, [(str(path),)] * 6)
    assert sum(note != "" for note in notes) == 1
    assert told(Ledger.open(path)) == EXPECTED


def test_an_old_program_refuses_a_migrated_ledger(path: Path) -> None:
    """Version 1 reads the kind and the version before anything else."""
    Ledger.open(path)
    with closing(sqlite3.connect(path)) as connection:
        assert connection.execute("select kind, version from meta").fetchall() == [("takifugu-ledger", 2)]


@pytest.mark.parametrize("name", ["study", "sequence"])
@pytest.mark.parametrize("budget", [None, "1/7"])
def test_a_spelling_about_which_nothing_was_released_changes_nothing_but_the_budget(
    path: Path, name: str, budget: str | None
) -> None:
    with closing(sqlite3.connect(path)) as connection:
        new = (f"{name}  ", budget, None if budget is None else "0")
        connection.execute("insert into sources values (8, ?, 'another', 'then', ?, ?, 1)", new)
        connection.commit()
    book = Ledger.open(path)
    found, source = told(book), book.source(name)
    assert not source.budget_is_implied
    if budget is not None:
        assert source.budget == Amount(Fraction(1, 7), Fraction(0))
        found[name]["budget"] = EXPECTED[name]["budget"]
    assert found == EXPECTED
    unit = "Ana" if name == "sequence" else ""
    with pytest.raises(LedgerError, match="either every release names the units"):
        book.reserve(name, [group_debit(chain_framework(7), Fraction(1, 9), unit)], same_people=False)


def test_a_unit_about_which_nothing_was_released_is_left_out(path: Path) -> None:
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("insert into units values (99, 6, ?, '0', '0')", ("ab" * 32,))
        connection.commit()
    assert told(Ledger.open(path)) == EXPECTED


def test_one_source_as_one_unit_and_divided_cannot_be_merged(path: Path) -> None:
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("update sources set name = 'sequence ' where name = 'singles'")
        connection.commit()
    before = dump(path)
    with pytest.raises(LedgerError, match="once as one unit and once divided into units"):
        Ledger.open(path)
    assert dump(path) == before


def note_of(path: str) -> str:
    return Ledger.open(path).note
