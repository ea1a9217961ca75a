"""Many different queries about one unit: the ledger adds them up entry by entry, and forgets none of them."""

from __future__ import annotations

import json
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from tests.support.ledger_tools import chain_framework, charge, dump

from takifugu.accounting.composition import Charge, joint
from takifugu.accounting.composition.folding import FEW
from takifugu.accounting.composition.views import View
from takifugu.accounting.ledger import Debit, Ledger
from takifugu.analysis.guarantee import Covers
from takifugu.core.errors import BudgetExceeded
from takifugu.model.queries import Count

WHOLE, DATA, QUILT, SINGLE = Covers
SIZE = 8
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
        assert spent >= joint(FRAMEWORK, plain[: number + 1]).epsilon * (1 - Fraction(1, 10**11))
    assert [int(term["cost"].split(";")[0]) for term in terms(ledger)] == [len(plain)]
    summaries = dump(ledger.store.path)["summaries"]
    ledger.rebuild()
    assert ledger.spent("data").spent.epsilon == spent
    assert dump(ledger.store.path)["summaries"] == summaries


@pytest.mark.parametrize("how", PLACES)
def test_a_reserve_reads_the_new_query_alone_however_long_the_past(
    ledger: Ledger, how: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What is resolved, and what is read from the file, does not grow with the number of releases."""
    read, real = [0], View._read

    def counted(*args: Any) -> Any:
        read[0] += 1
        return real(*args)

    ledger.reserve("data", [debit(n, **PLACES[how]) for n in range(40)], budget=10**6)
    monkeypatch.setattr(View, "_read", counted)
    sizes = []
    for number in range(40, 43):
        read[0] = 0
        ledger.reserve("data", [debit(number, **PLACES[how])])
        assert read[0] <= 2  # to pay for it, and to add it up
        sizes.append(len(json.dumps(terms(ledger))))
    assert sizes[-1] < 1.1 * sizes[0]


@pytest.mark.parametrize("how", PLACES)
def test_a_new_belief_inherits_every_query(ledger: Ledger, how: str) -> None:
    """The sums are of one framework; for another one the debits are read once more, and then it has sums, too."""
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
    under = [set(term["by entry"]["under"]) for term in terms(ledger) if "by entry" in term]
    assert under == [{FRAMEWORK.fingerprint(), other.fingerprint()}]


@pytest.mark.parametrize("frameworks", [1, 2])
def test_other_sources_of_the_same_people_are_charged_every_query_once(ledger: Ledger, frameworks: int) -> None:
    """At the cost of a change of the whole data, however many frameworks have a sum of the same queries."""
    other = chain_framework(SIZE, 0.95)
    many = [replace(debit(n), unit="ann") for n in range(2 * FEW)]
    if frameworks == 2:
        new = replace(charge(other, Count(1), 90, QUILT, reading=""), epsilon=Fraction(1, 99))
        many.append(Debit(other, new, "ann", "under another belief"))
    ledger.reserve("first", many, budget=10**6)
    assert [len(term["by entry"]["under"]) for term in terms(ledger) if "by entry" in term] == [frameworks]
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
    cost = sum(max(one.epsilon, one.change / one.scale) for one in each)
    assert cost <= ledger.spent("data").spent.epsilon <= cost + Fraction(1, 2**50)


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
