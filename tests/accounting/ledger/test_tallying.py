"""Costs are computed before the lock is taken: what is written meanwhile, by anybody, makes them stale if it counts."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from pathlib import Path

import pytest
from tests.accounting.ledger.test_accounts import pooled_debits
from tests.accounting.ledger.test_people import about

from takifugu.accounting.ledger import Ledger
from takifugu.accounting.ledger.asking import request_of
from takifugu.accounting.ledger.tallying import tally
from takifugu.mechanisms import wasserstein
from takifugu.model.queries import Count


@pytest.fixture
def ledger(tmp_path: Path) -> Ledger:
    """Ana is in two sources of the same people, Cid in a third one, of others."""
    book = Ledger.open(tmp_path / "ledger.db")
    book.reserve("sleep", [about("Ana"), about("Ben")], budget=9)
    book.reserve("work", [about("Ana")], budget=9, same_people=True)
    book.reserve("third", [about("Cid")], budget=9)
    return book


def is_stale_after(ledger: Ledger, source: str, meanwhile: Callable[[], object]) -> bool:
    request = request_of([about("Ana")], ledger.tag_of, False)
    with ledger.store.reading() as connection:
        tallied = tally(connection, source, request, False if source == "new" else None)
        assert tallied.is_of(connection)
    meanwhile()
    with ledger.store.reading() as connection:
        return not tallied.is_of(connection)


@pytest.mark.parametrize("source", ["work", "sleep"])
@pytest.mark.parametrize("other", ["work", "sleep"])
def test_a_release_about_the_same_people_makes_it_stale(ledger: Ledger, source: str, other: str) -> None:
    assert is_stale_after(ledger, source, lambda: ledger.reserve(other, [about("Ana", "1/2")]))


@pytest.mark.parametrize("other", ["work", "sleep"])
def test_another_budget_makes_it_stale(ledger: Ledger, other: str) -> None:
    assert is_stale_after(ledger, "work", lambda: ledger.set_budget(other, 5))


@pytest.mark.parametrize("source", ["work", "new"])
def test_a_unit_that_is_new_somewhere_makes_it_stale(ledger: Ledger, source: str) -> None:
    """Ana may be in the third source now, and nobody has said whether she is the same."""
    assert is_stale_after(ledger, source, lambda: ledger.reserve("third", [about("Ana")], same_people=False))
    assert is_stale_after(ledger, source, lambda: ledger.source("fourth"))


@pytest.mark.parametrize("source", ["work", "new"])
def test_a_unit_that_is_new_somewhere_beside_known_ones_makes_it_stale(ledger: Ledger, source: str) -> None:
    both = [about("Ana"), about("Cid")]
    assert is_stale_after(ledger, source, lambda: ledger.reserve("third", both, same_people=False))


def test_what_another_source_adds_to_a_pooled_single_makes_it_stale(tmp_path: Path) -> None:
    """Nobody asks about Ana, who is in the other source; but it is her cost there that Ben shares."""
    book = Ledger.open(tmp_path / "pooled.db")
    book.reserve("sleep", pooled_debits({"Ana": (1,), "Ben": (1,)}, Count(1), wasserstein.MECHANISM), budget=9)
    book.reserve("work", [about("Ana", "1/2")], budget=10**6, same_people=True)
    request = request_of([about("Ben")], book.tag_of, False)
    costs = []
    for later in range(2):
        with book.store.reading() as connection:
            tallied = tally(connection, "sleep", request, None)
            costs.append(tallied.mine.cost.epsilon)
            assert tallied.is_of(connection)
        if not later:
            book.reserve("work", [about("Ana", "1/4")])
            with book.store.reading() as connection:
                assert not tallied.is_of(connection)
    assert costs == [Fraction(5, 2), Fraction(11, 4)]


def test_in_another_source_only_the_unit_itself_is_asked_about(tmp_path: Path) -> None:
    """Ben is in no other source, but shares an output-law promise with Ana, who is."""
    book = Ledger.open(tmp_path / "pooled.db")
    book.reserve("sleep", pooled_debits({"Ana": (1,), "Ben": (1,)}, Count(1), wasserstein.MECHANISM), budget=9)
    request = request_of([about("Ana")], book.tag_of, False)
    with book.store.reading() as connection:
        tallied = tally(connection, "work", request, True)
    (sleep,) = tallied.theirs
    kinds = {members.tag: (kind.shape, kind.is_elsewhere) for kind, members in sleep.kinds.items()}
    assert kinds == {book.tag_of("Ana"): (0, True), book.tag_of("Ben"): (-1, False)}
    assert [kind.is_elsewhere for kind in tallied.mine.kinds] == [False]


def test_what_is_about_others_does_not(ledger: Ledger) -> None:
    assert not is_stale_after(ledger, "work", lambda: ledger.reserve("third", [about("Cid", "1/2")]))
    assert not is_stale_after(ledger, "work", lambda: ledger.set_budget("third", 5))
    assert not is_stale_after(ledger, "work", lambda: ledger.show())
    assert not is_stale_after(ledger, "new", lambda: ledger.reserve("work", [about("Ana", "1/2")]))


def test_what_is_stale_is_computed_again(ledger: Ledger, monkeypatch: pytest.MonkeyPatch) -> None:
    """Another process is faster, once: its release counts."""
    twin = Ledger.open(ledger.store.path)
    seen = []

    def slow(*args: object) -> object:
        tallied = tally(*args)  # type: ignore[arg-type]
        if not seen:
            seen.append(True)
            twin.reserve("sleep", [about("Ana", "1/2")])
        return tallied

    monkeypatch.setattr("takifugu.accounting.ledger.book.tally", slow)
    ledger.reserve("work", [about("Ana", "1/4")])
    for source in ("sleep", "work"):
        assert ledger.spent(source).spent.epsilon == 2 + 0.5 + 0.25
