"""A ledger in memory, for rehearsals: it says and refuses what one in a file does, and leaves nothing behind."""

import random
from pathlib import Path
from threading import Thread
from typing import Any

import pytest
from tests.support import ledger_histories as histories
from tests.support.ledger_edits import debit, kinds, pay, published
from tests.support.rounds import rounds

from takifugu.accounting.ledger import Amount, Ledger
from takifugu.accounting.ledger.events import digest_of, first_row
from takifugu.core.errors import BudgetExceeded, LedgerError


def test_a_refusal_names_the_ledger_that_will_be(tmp_path: Path) -> None:
    ledger = Ledger.blank("kitchen ledger.db")
    seen = ledger.preview("data", [debit(epsilon="2")], 1, entries="these")
    assert "takifugu ledger set-budget 'kitchen ledger.db' data 2" in str(seen.over)
    assert kinds(ledger) == ["began"]
    with pytest.raises(BudgetExceeded):
        pay(ledger, debit(epsilon="2"), budget=1)
    assert kinds(ledger) == ["began"]


@pytest.mark.parametrize("seeds", rounds(2, 12))
@pytest.mark.parametrize("make", [histories.history, lambda r, _: histories.of_other_kinds(r)])
def test_it_is_what_a_file_is(tmp_path: Path, make: Any, seeds: range) -> None:
    accepted = 0
    for seed in seeds:
        people, payments = make(random.Random(seed), False)
        in_file, in_memory = Ledger.open(tmp_path / f"{seed}.db"), Ledger.blank()
        for payment in payments:
            words = [histories.attempted(lambda b=book: histories.paid(b, payment)) for book in (in_file, in_memory)]  # noqa: B023
            assert words[0] == words[1], seed
            accepted += not words[0]
        spent = [(source.name, source.spent, source.budget) for source in in_file.show()]
        assert spent == [(source.name, source.spent, source.budget) for source in in_memory.show()]
        for name, *_ in spent:
            assert [in_file.spent(name, unit) for unit in people] == [in_memory.spent(name, unit) for unit in people]
        assert in_memory.check() == ()
    assert accepted > len(seeds)


def test_rows_are_written_where_nobody_else_wrote(tmp_path: Path) -> None:
    """What every store does: a late writer, or one about another ledger, writes nothing; what is done is dropped."""
    for store in (Ledger.blank().store, Ledger.open(tmp_path / "ledger.db").store):
        row, ((_, head),) = first_row(), store.after(0)
        assert not store.append(1, row[1], [row], {"other": b"body"}, {("three", 0): b"c"}, "")
        assert store.append(1, head, [row], {digest_of(b"body"): b"body"}, {("one", 1): b"b", ("one", 0): b"a"}, "")
        before = store.after(0)
        assert before[1:] == store.after(1) == [row]
        for number in (0, 1, 3):
            before_it = row[1] if number == 3 else head
            assert not store.append(number, before_it, [row], {"other": b"body"}, {("three", 0): b"c"}, "one")
        assert store.after(0) == before
        assert store.contents([digest_of(b"body")]) == {digest_of(b"body"): b"body"}
        with pytest.raises(LedgerError, match="lacks what one of its events names"):
            store.content("other")
        assert (store.waiting("one"), store.waiting("three")) == ([b"a", b"b"], [])
        with store.alone():
            assert store.append(2, row[1], [row], {}, {}, "one")
        assert store.waiting("one") == []


def test_threads_never_spend_the_same_epsilon() -> None:
    ledger = Ledger.blank()
    published(ledger, budget=1)

    def spend() -> None:
        while not histories.attempted(lambda: pay(Ledger(ledger.store))):
            pass

    threads = [Thread(target=spend) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert ledger.spent("data") == Amount(Amount.of_texts(("1", "0")).epsilon)
    assert len(ledger.payments()) == 10
    assert ledger.check() == ()
