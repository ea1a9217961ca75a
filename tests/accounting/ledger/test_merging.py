"""Copies of a ledger that went their own ways: merged, they know what one ledger of all their releases would know."""

from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import pytest
from tests.accounting.ledger.test_people import about
from tests.support.ledger_tools import (
    chain_framework,
    charge,
    copied,
    dump,
    epsilon_of,
    group_debit,
    unchanged,
    with_delta,
)

from takifugu.accounting.ledger import Debit, Ledger, Session
from takifugu.analysis.guarantee import Covers
from takifugu.core.errors import CompositionRefused, LedgerError
from takifugu.model.queries import Count

QUILT = Covers.ENTRIES
FRAMEWORK = chain_framework(7, 0.9)
WEEK = charge(FRAMEWORK, Count(1), 4, QUILT)


def week(ledger: Ledger, number: int, publishes: bool = True) -> None:
    debit = Debit(FRAMEWORK, replace(WEEK, at=7 * number, calendar="days"))
    paid = ledger.reserve("weeks", [debit])
    if publishes:
        ledger.drawn(paid, b"noisy")
        ledger.publish(paid)


@pytest.fixture
def two(tmp_path: Path) -> tuple[Ledger, Ledger]:
    """Two copies after two weeks."""
    ledger = begun(tmp_path / "one.db")
    return ledger, copy_of(ledger, "other.db")


def copy_of(ledger: Ledger, name: str) -> Ledger:
    return Ledger.open(copied(ledger.store.path, ledger.store.path.with_name(name)))


def begun(path: Path) -> Ledger:
    """A ledger of two weeks."""
    ledger = Ledger.open(path)
    ledger.source("weeks", budget=99)
    week(ledger, 0)
    week(ledger, 1)
    return ledger


def test_two_laptops_that_published_a_week_each(tmp_path: Path, two: tuple[Ledger, Ledger]) -> None:
    one, other = two
    week(one, 2)
    week(other, 3)
    alone = begun(tmp_path / "alone.db")
    for number in (2, 3):
        week(alone, number)
    before = dump(one.store.path)
    rehearsed = one.merge(other, is_rehearsal=True)
    assert dump(one.store.path) == before
    merged = one.merge(other)
    assert rehearsed == replace(merged, former=None)
    assert (merged.payments, merged.former) == (1, tmp_path / "one.db.before-merge")
    assert epsilon_of(one, "weeks") == epsilon_of(alone, "weeks") == merged.after[0].spent.epsilon
    assert one.check() == ()
    assert dump(merged.former) == before
    assert other.merge(one).payments == 1
    assert one.merge(other).payments == 0
    assert one.merge(other).former is None
    assert epsilon_of(other, "weeks") == epsilon_of(alone, "weeks")
    assert other.check() == ()


def test_what_each_paid_nothing_for_is_counted_together(tmp_path: Path) -> None:
    """What was published about one step twice hides what one copy publishes about another, not what both do."""
    one, alone = Ledger.open(tmp_path / "one.db"), Ledger.open(tmp_path / "alone.db")
    for ledger in (one, alone):
        ledger.source("weeks", budget=99)
        for number in (0, 0):
            week(ledger, number)
    other, before = copy_of(one, "other.db"), epsilon_of(one, "weeks")
    for ledger in (one, other, alone, alone):
        for number in (1000, 1000):
            week(ledger, number)
    assert epsilon_of(one, "weeks") == epsilon_of(other, "weeks") < before * Fraction(101, 100)
    assert one.merge(other).after[0].spent.epsilon == epsilon_of(alone, "weeks") > before * Fraction(3, 2)
    assert one.merge(other).payments == 0


def test_a_reservation_that_both_drew_is_paid_for_twice(two: tuple[Ledger, Ledger], tmp_path: Path) -> None:
    one = two[0]
    week(one, 2, publishes=False)
    other = copy_of(one, "third.db")
    for ledger, values in ((one, b"these"), (other, b"those")):
        ledger.drawn(ledger.pending("weeks")[0], values)
    twice = begun(tmp_path / "twice.db")
    for number in (2, 2):
        week(twice, number)
    assert one.merge(other).payments == 1
    assert epsilon_of(one, "weeks") == epsilon_of(twice, "weeks")
    assert [event.what for event in one.events("weeks")][-1].startswith("two copies of the ledger drew it")
    assert [waiting.bundle for waiting in one.pending()] == [b"these"]
    assert (other.merge(one).payments, one.merge(other).payments) == (1, 0)
    assert epsilon_of(other, "weeks") == epsilon_of(twice, "weeks")
    assert (one.check(), other.check()) == ((), ())


@pytest.mark.parametrize("ends", ["drawn", "published"])
def test_a_reservation_that_one_drew_counts_once_and_is_never_drawn_again(
    two: tuple[Ledger, Ledger], ends: str
) -> None:
    one = two[0]
    week(one, 2, publishes=False)
    other = copy_of(one, "third.db")
    waiting = other.pending("weeks")[0]
    other.drawn(waiting, b"theirs")
    if ends == "published":
        other.publish(waiting)
    before = epsilon_of(one, "weeks")
    assert one.merge(other).payments == 0
    assert epsilon_of(one, "weeks") == before
    if ends == "drawn":
        assert one.drawn(one.pending("weeks")[0], b"mine") == b"theirs"
    else:
        with pytest.raises(LedgerError, match="drawn and published before"):
            one.drawn(waiting, b"mine")
    assert one.check() == ()


@pytest.mark.parametrize("asks", [False, True])
def test_a_session_that_both_went_on_with_counts_once_a_copy(tmp_path: Path, asks: bool) -> None:
    one = Ledger.open(tmp_path / "one.db")
    session = Session.open(one, "data", [group_debit(chain_framework(7), "1/2")], budget=9)
    session.ask("first", lambda _: "1")
    other = copy_of(one, "other.db")
    if asks:
        Session(other, other.pending()[0]).ask("second", lambda _: "2")
    assert one.merge(other).payments == int(asks)
    alone = Ledger.open(tmp_path / "alone.db")
    for _ in range(1 + asks):
        alone.reserve("data", [group_debit(chain_framework(7), "1/2")], budget=9)
    assert epsilon_of(one) == epsilon_of(alone)
    assert one.merge(other).payments == 0
    assert one.check() == ()


def test_of_budgets_that_both_declared_the_smaller_one_counts(two: tuple[Ledger, Ledger]) -> None:
    one, other = two
    for ledger, budget in ((one, 5), (other, 3)):
        ledger.reserve("new", [about("Ana", "1/2")], budget=budget, same_people=False)
    one.set_budget("weeks", 7)
    merged = one.merge(other)
    rows = {row.name: row for row in merged.after}
    assert (rows["new"].spent.epsilon, rows["new"].budget) == (1, replace(rows["new"].spent, epsilon=Fraction(3)))
    assert rows["weeks"].budget == replace(rows["weeks"].spent, epsilon=Fraction(7))
    other.merge(one)
    assert {row.name: (row.spent, row.budget) for row in other.show()} == {
        name: (row.spent, row.budget) for name, row in rows.items()
    }


def late(ledger: Ledger) -> None:
    ledger.reserve("weeks", [Debit(FRAMEWORK, with_delta(FRAMEWORK, "1/3"))])


def test_where_the_order_decides_nothing_is_merged(two: tuple[Ledger, Ledger]) -> None:
    one, other = two
    for ledger in two:
        ledger.set_budget("weeks", (99, "1/10"))
    week(one, 2)
    late(other)
    for into, of in (two, two[::-1]):
        with unchanged(into.store.path), pytest.raises(CompositionRefused, match="depends on which was first"):
            into.merge(of)


def test_what_both_drew_is_not_merged_where_the_order_decides(two: tuple[Ledger, Ledger]) -> None:
    one = two[0]
    one.set_budget("weeks", (99, "1/10"))
    late(one)
    other = copy_of(one, "third.db")
    for ledger in (one, other):
        ledger.drawn(ledger.pending("weeks")[0], b"noisy")
    with unchanged(one.store.path), pytest.raises(CompositionRefused, match="depends on which was first"):
        one.merge(other)
    assert not list(one.store.path.parent.glob("*.before-merge"))


@pytest.mark.parametrize("elsewhere", [False, True], ids=["one side alone", "the other about another source"])
def test_where_one_side_alone_published_no_order_is_asked(two: tuple[Ledger, Ledger], elsewhere: bool) -> None:
    one, other = two
    if elsewhere:
        one.reserve("elsewhere", [group_debit(FRAMEWORK, 1)])
    before = [row.spent for row in one.show() if row.name == "elsewhere"]
    other.set_budget("weeks", (99, "1/10"))
    late(other)
    one.merge(other)
    assert one.spent("weeks").spent == other.spent("weeks").spent
    assert [row.spent for row in one.show() if row.name == "elsewhere"] == before


def no_copy(one: Ledger, other: Ledger) -> Ledger:
    return begun(one.store.path.with_name("stranger.db"))


def itself(one: Ledger, other: Ledger) -> Ledger:
    return one


def edited(one: Ledger, other: Ledger) -> Ledger:
    week(other, 3)
    with other.store.writing() as connection:
        connection.execute("update events set body = replace(body, 'false', 'true') where id = 2")
    return other


def beheaded(one: Ledger, other: Ledger) -> Ledger:
    with other.store.writing() as connection:
        connection.execute("delete from events where id = (select max(id) from events)")
    return other


@pytest.mark.parametrize(
    ("strange", "words"),
    [(no_copy, "is no copy of the ledger"), (itself, "with itself"), (edited, "edited"), (beheaded, "edited")],
)
def test_what_is_no_copy_is_refused(
    two: tuple[Ledger, Ledger], strange: Callable[[Ledger, Ledger], Ledger], words: str
) -> None:
    one, other = two
    wrong = strange(one, other)
    with unchanged(one.store.path), pytest.raises(LedgerError, match=words):
        one.merge(wrong)
    assert not list(one.store.path.parent.glob("*.before-merge"))
