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

from takifugu.errors import BudgetExceeded, LedgerError
from takifugu.ledger import Ledger, Source

HERE = Path(__file__).parent
#: What the code that wrote the ledger said about it.
TOLD = json.loads((HERE / "version_1.json").read_text(encoding="utf-8"))


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
    assert told(book) == TOLD
    assert not book.is_new
    assert told(Ledger.open(path)) == TOLD


def test_it_takes_further_releases(path: Path) -> None:
    book = Ledger.open(path)
    with pytest.raises(BudgetExceeded, match=r"left: epsilon 0;.*No budget was declared"):
        book.reserve("implied", [group_debit(chain_framework(100, 0.7), 5)])
    done = book.reserve("unused", [group_debit(chain_framework(7), Fraction(1, 2))])
    book.drawn(done, b"noisy")
    book.publish(done)
    assert book.spent("unused").spent.epsilon == Fraction(1, 2)


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
    for name in TOLD:
        (event,) = book.events(name)
        assert "a spelling that has vanished from the data cannot be found" in event.what


def test_only_what_is_asked_for_changes(path: Path) -> None:
    """Every row of version 1 but the digests of contents is there afterwards."""
    before = dump(path)
    book = Ledger.open(path)
    after = dump(path)
    assert isinstance(book.source("study"), Source)
    for name in ("sources", "units", "frameworks", "debits"):
        assert after[name] == before[name]
    assert "contents" not in after
