"""What is entered for every unit is charged to each of them as if it had been paid for about that very unit."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import pytest
from tests.support.ledger_tools import chain_framework, charge

from takifugu.accounting.ledger import Debit, Ledger
from takifugu.accounting.ledger.adopting import Adoption
from takifugu.accounting.ledger.format.layouts import written
from takifugu.analysis.guarantee import Covers
from takifugu.model.queries import Count

LAYOUT = written({"layout": "one row an hour"})
SIZE = 8
#: Under the second belief values tell more about each other.
FRAMEWORK, OTHER = chain_framework(SIZE, 0.6), chain_framework(SIZE, 0.95)


def about(unit: str, number: int) -> Debit:
    query = Count(number // SIZE % 2, entries=range(number % SIZE, min(SIZE, number % SIZE + 1 + number % 3)))
    one = charge(FRAMEWORK, query, Fraction(40 + number), Covers.ENTRIES, reading="")
    return Debit(FRAMEWORK, replace(one, layout=LAYOUT, scope="pooled"), unit, f"release {number}")


def later(unit: str) -> Debit:
    one = charge(OTHER, Count(1), Fraction(50), Covers.ENTRIES, reading="")
    return Debit(OTHER, replace(one, layout=LAYOUT), unit, "later")


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
    (mine,) = (one.spent.epsilon for one in adopted.spent("data").units)
    (theirs,) = (one.spent.epsilon for one in whole.spent("data").units)
    assert mine == pytest.approx(float(theirs), rel=1e-9)
    adopted.rebuild()
    assert [one.spent.epsilon for one in adopted.spent("data").units] == [mine]


def test_a_rehearsal_writes_nothing_and_says_what_the_entry_says(tmp_path: Path) -> None:
    ledger = Ledger.open(tmp_path / "ledger.db")
    offers = [[adoption(number)] for number in range(3)]
    rehearsed = ledger.adopt(offers, is_rehearsal=True)
    assert ledger.show() == ()
    assert ledger.adopt(offers) == rehearsed
    assert ledger.show()[0].spent == rehearsed[-1][1]
