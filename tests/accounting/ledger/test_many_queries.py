"""Many different queries about one unit: the ledger keeps each, and forgets none of them."""

from __future__ import annotations

import json
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from tests.support.ledger_tools import chain_framework, charge, dump

from takifugu.accounting.composition import Charge, joint
from takifugu.accounting.ledger import Debit, Ledger
from takifugu.analysis.guarantee import Covers
from takifugu.core.errors import BudgetExceeded
from takifugu.model.queries import Count

WHOLE, DATA, QUILT, SINGLE = Covers
SIZE, FEW = 8, 8
FRAMEWORK = chain_framework(SIZE, 0.8)
PLACES: dict[str, dict[str, Any]] = {"anywhere": {}, "one window": {"at": 3, "calendar": "hours"}}


@pytest.fixture
def ledger(tmp_path: Path) -> Ledger:
    return Ledger.open(tmp_path / "ledger.db")


def of_entries(number: int, **how: Any) -> Charge:
    """Return a release of a query, and with a noise, of its own."""
    low = number % SIZE
    query = Count(number // SIZE % 2, entries=range(low, min(SIZE, low + 1 + number % 3)))
    one = charge(FRAMEWORK, query, Fraction(40 + number, 1 + number % 7), QUILT, **{"reading": "", **how})
    return replace(one, epsilon=Fraction(1, 100))


def debit(number: int, **how: Any) -> Debit:
    return Debit(FRAMEWORK, of_entries(number, **how), "", f"release {number}")


def terms(ledger: Ledger) -> list[dict[str, Any]]:
    ((_, body, _),) = dump(ledger.store.path)["summaries"]
    listed: list[dict[str, Any]] = json.loads(body)["terms"]
    return listed


@pytest.mark.parametrize("how", PLACES)
def test_each_release_adds_what_it_costs_beside_all_before(ledger: Ledger, how: str) -> None:
    plain = [of_entries(n, **PLACES[how]) for n in range(3 * FEW)]
    spent = Fraction(0)
    for number in range(len(plain)):
        ledger.reserve("data", [debit(number, **PLACES[how])], budget=10**6)
        before, spent = spent, ledger.spent("data").spent.epsilon
        assert spent > before
        assert spent == pytest.approx(float(joint(FRAMEWORK, plain[: number + 1]).epsilon), rel=1e-9)
    assert sum(int(term["cost"].split(";")[0]) for term in terms(ledger)) == len(plain)
    summaries = dump(ledger.store.path)["summaries"]
    ledger.rebuild()
    assert ledger.spent("data").spent.epsilon == spent
    assert dump(ledger.store.path)["summaries"] == summaries


@pytest.mark.parametrize("how", PLACES)
def test_the_same_queries_again_are_no_more_to_read(ledger: Ledger, how: str) -> None:
    """What is kept grows with the number of different queries, and not with that of releases."""
    sizes = []
    for time in range(4):
        new = [of_entries(n, **PLACES[how]) for n in range(12)]
        again = [replace(one, scale=(one.scale or 1) + time) for one in new]
        named = enumerate(again)
        ledger.reserve("data", [Debit(FRAMEWORK, one, "", f"{time} {n}") for n, one in named], budget=10**6)
        sizes.append(len(terms(ledger)))
    assert len(set(sizes)) == 1


@pytest.mark.parametrize("how", PLACES)
def test_a_new_belief_inherits_every_query(ledger: Ledger, how: str) -> None:
    other = chain_framework(SIZE, 0.95)
    plain = [of_entries(n, **PLACES[how]) for n in range(2 * FEW)]
    ledger.reserve("data", [debit(n, **PLACES[how]) for n in range(2 * FEW)], budget=10**6)
    for number in range(3):
        new = charge(other, Count(1), 90 + number, QUILT, **{"reading": "", **PLACES[how]})
        new = replace(new, epsilon=Fraction(1, 99))
        ledger.reserve("data", [Debit(other, new)])
        plain.append(new)
        costs = [joint(framework, plain).epsilon for framework in (FRAMEWORK, other)]
        assert ledger.spent("data").spent.epsilon == pytest.approx(float(max(costs)), rel=1e-9)


@pytest.mark.parametrize("frameworks", [1, 2])
def test_other_sources_of_the_same_people_are_charged_every_query_once(ledger: Ledger, frameworks: int) -> None:
    """At the cost of a change of the whole data, however many frameworks there are."""
    other = chain_framework(SIZE, 0.95)
    many = [replace(debit(n), unit="ann") for n in range(2 * FEW)]
    if frameworks == 2:
        new = replace(charge(other, Count(1), 90, QUILT, reading=""), epsilon=Fraction(1, 99))
        many.append(Debit(other, new, "ann", "under another belief"))
    ledger.reserve("first", many, budget=10**6)
    one = replace(of_entries(0), covers=WHOLE)
    assert one.change is not None
    assert one.scale is not None
    ledger.reserve("second", [Debit(FRAMEWORK, one, "ann")], budget=10**6, same_people=True)
    whole = sum(c.charge.change / c.charge.scale for c in many if c.charge.change and c.charge.scale)
    assert ledger.spent("second").spent.epsilon == max(one.epsilon, one.change / one.scale) + whole


def test_another_length_counts_what_all_queries_read(ledger: Ledger) -> None:
    ledger.reserve("data", [debit(n) for n in range(2 * FEW)], budget=10**6)
    short = chain_framework(3, 0.8)
    new = replace(charge(short, Count(1), 50, QUILT, reading=""), epsilon=Fraction(1, 99))
    ledger.reserve("data", [Debit(short, new)])
    each = [of_entries(n) for n in range(2 * FEW)] + [new]
    assert ledger.spent("data").spent.epsilon == sum(max(one.epsilon, one.change / one.scale) for one in each)


def test_a_budget_is_refused_at_the_same_place_and_nothing_is_written(ledger: Ledger) -> None:
    many = [debit(n) for n in range(3 * FEW)]
    cost = joint(FRAMEWORK, [one.charge for one in many]).epsilon
    ledger.reserve("data", many[:-1], budget=cost * (1 - Fraction(1, 10**6)))
    before = dump(ledger.store.path)
    with pytest.raises(BudgetExceeded, match="times the scale"):
        ledger.reserve("data", many[-1:])
    assert dump(ledger.store.path) == before
    ledger.set_budget("data", cost * (1 + Fraction(1, 10**9)))
    ledger.reserve("data", many[-1:])
