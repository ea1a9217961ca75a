"""Reservations: releases that move together, one draw that is ever public, and values kept until they are published."""

from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import pytest
from tests.support.ledger_tools import chain_framework, charge, dump, edit, epsilons_of, group_debit, one_thing

from takifugu.accounting.ledger import DRAWN, PUBLISHED, RESERVED, Debit, Ledger
from takifugu.accounting.ledger.adopting import Adoption
from takifugu.analysis.guarantee import Covers
from takifugu.core.errors import InputError, LedgerError
from takifugu.model.queries import Count

DEBITS = [group_debit(one_thing(7), "1/2", name=name) for name in ("monday", "tuesday")]


def states(ledger: Ledger) -> set[str]:
    return {entry.state for entry in ledger.history("data")}


def test_releases_that_were_paid_together_move_together(ledger: Ledger) -> None:
    done = ledger.reserve("data", DEBITS, budget=9)
    other = ledger.reserve("data", DEBITS[:1])
    assert states(ledger) == {RESERVED}
    ledger.drawn(done, b"noisy")
    assert [entry.state for entry in ledger.history("data")] == [DRAWN, DRAWN, RESERVED]
    ledger.publish(done)
    assert [entry.state for entry in ledger.history("data")] == [PUBLISHED, PUBLISHED, RESERVED]
    assert [pending.group for pending in ledger.pending()] == [other.group]


def test_what_is_pending_says_all_that_completing_it_needs(ledger: Ledger) -> None:
    assert ledger.pending() == ledger.pending("data") == ()
    recipe = {"file": "release.toml", "tables": [1, None, "x"]}
    done = ledger.reserve("data", DEBITS, budget=9, identity=b"this release", recipe=recipe)
    ledger.reserve("other", DEBITS[:1], identity=b"that release")
    (pending,) = ledger.pending("data")
    assert (pending.group, pending.source, pending.ids, pending.state) == (done.group, "data", done.ids, RESERVED)
    assert (pending.recipe, pending.bundle, pending.spent, pending.budget) == (recipe, None, done.spent, done.budget)
    assert ledger.pending("data", b"this release") == ledger.pending(None, b"this release") == (pending,)
    assert ledger.pending("data", b"that release") == ledger.pending("third") == ()
    assert [one.source for one in ledger.pending()] == ["data", "other"]
    assert ledger.drawn(pending, b"noisy") == b"noisy"
    assert Ledger.open(ledger.store.path).pending("data")[0].bundle == b"noisy"
    ledger.publish(pending)
    assert ledger.pending("data") == ()


def test_the_first_draw_wins(ledger: Ledger) -> None:
    done = ledger.reserve("data", DEBITS)
    assert ledger.drawn(done, b"first") == b"first"
    assert ledger.drawn(done, b"second") == b"first"
    (pending,) = ledger.pending()
    assert ledger.drawn(pending, b"third") == pending.bundle == b"first"


def test_published_values_are_dropped_and_never_drawn_again(ledger: Ledger) -> None:
    done = ledger.reserve("data", DEBITS)
    with pytest.raises(LedgerError, match=r"never 'drawn'.*in this order"):
        ledger.publish(done)
    ledger.drawn(done, b"noisy values, noisy values, noisy values")
    ledger.publish(done)
    after = dump(ledger.store.path)
    ledger.publish(done)
    assert dump(ledger.store.path) == after
    assert all(row[6] is None for row in after["reservations"])
    with pytest.raises(LedgerError, match="drawn and published before"):
        ledger.drawn(done, b"others")
    assert dump(ledger.store.path) == after


def test_reservations_of_another_ledger_are_unknown(ledger: Ledger, tmp_path: Path) -> None:
    done = Ledger.open(tmp_path / "other.db").reserve("data", DEBITS)
    for move in (lambda: ledger.drawn(done, b""), lambda: ledger.publish(done)):
        with pytest.raises(LedgerError, match="has no reservation"):
            move()


def test_a_recipe_is_plain_json_and_identities_are_hashes(ledger: Ledger) -> None:
    with pytest.raises(InputError, match="recipe"):
        ledger.reserve("data", DEBITS, recipe={"data": (1, 2)})
    assert ledger.show() == ()
    ledger.reserve("data", DEBITS, identity=b"canonical file of the hospital")
    assert b"canonical file" not in ledger.store.path.read_bytes()


def test_a_damaged_bundle_is_found(ledger: Ledger) -> None:
    done = ledger.reserve("data", DEBITS)
    ledger.drawn(done, b"noisy")
    edit(ledger.store.path, "update reservations set bundle = cast('not compressed' as blob)")
    for ask in (lambda: ledger.pending(), lambda: ledger.drawn(done, b"x")):
        with pytest.raises(LedgerError, match=r"edited or damaged.*restore a backup"):
            ask()


def test_a_change_of_the_budget_leaves_a_trace(ledger: Ledger) -> None:
    ledger.source("data", budget=2)
    ledger.source("data", budget=2)
    ledger.set_budget("data", (3, "1/1000"))
    words = [event.what for event in ledger.events("data")]
    assert words == ["the budget is epsilon 2", "the budget is epsilon 3, delta 0.001 (before: epsilon 2)"]
    ledger.reserve("other", DEBITS)
    (event,) = ledger.events("other")
    assert event.what == "the budget is epsilon 1, what the first release cost, because none was declared"


def test_only_the_open_that_made_the_file_says_that_it_is_new(tmp_path: Path) -> None:
    assert Ledger.open(tmp_path / "a.db").is_new
    assert not Ledger.open(tmp_path / "a.db").is_new


# What is entered for every unit is charged to each of them as if it had been paid for about that very unit.


READING = "reading: one row an hour"
SIZE = 8
#: Under the second belief values tell more about each other.
FRAMEWORK, OTHER = chain_framework(SIZE, 0.6), chain_framework(SIZE, 0.95)


def about(unit: str, number: int) -> Debit:
    query = Count(number // SIZE % 2, entries=range(number % SIZE, min(SIZE, number % SIZE + 1 + number % 3)))
    one = charge(FRAMEWORK, query, Fraction(40 + number), Covers.ENTRIES, reading="")
    return Debit(FRAMEWORK, replace(one, read_as=READING, scope="pooled"), unit, f"release {number}")


def later(unit: str) -> Debit:
    one = charge(OTHER, Count(1), Fraction(50), Covers.ENTRIES, reading="")
    return Debit(OTHER, replace(one, read_as=READING), unit, "later")


def adoption(number: int) -> Adoption:
    return Adoption("data", "an account", {f"release {number}": f"{number:016x}"}, [about("", number)])


@pytest.mark.sampled(3)
@pytest.mark.parametrize("count", [1, 3, 24])
def test_whoever_comes_later_is_charged_for_all_of_it_under_every_belief(tmp_path: Path, count: int) -> None:
    adopted, whole = (Ledger.open(tmp_path / f"{name}.db") for name in ("adopted", "whole"))
    for number in range(count):
        adopted.adopt([[adoption(number)]])
        whole.reserve("data", [about("Ana", number)], budget=99)
    adopted.set_budget("data", 99)
    for ledger in (adopted, whole):
        ledger.reserve("data", [later("Ana")])
    ((mine,), (theirs,)) = (epsilons_of(ledger).values() for ledger in (adopted, whole))
    assert mine == pytest.approx(float(theirs), rel=1e-9)
    adopted.rebuild()
    assert [*epsilons_of(adopted).values()] == [mine]


def test_a_rehearsal_writes_nothing_and_says_what_the_entry_says(tmp_path: Path) -> None:
    ledger = Ledger.open(tmp_path / "ledger.db")
    offers = [[adoption(number)] for number in range(3)]
    rehearsed = ledger.adopt(offers, is_rehearsal=True)
    assert ledger.show() == ()
    assert ledger.adopt(offers) == rehearsed
    assert ledger.show()[0].spent == rehearsed[-1][1]
