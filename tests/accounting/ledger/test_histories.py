"""Histories of one unit: many queries, of which none is forgotten, and windows with noise of their own."""

import json
from collections.abc import Iterator, Sequence
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from tests.support import messages
from tests.support.ledger_tools import chain_framework, charge, dump, edit, epsilon_of, refused_unchanged

import takifugu as tf
from takifugu.accounting.composition import Charge, joint, sums
from takifugu.accounting.composition.several import each_window, merged, several
from takifugu.accounting.ledger import Debit, Ledger, histories
from takifugu.analysis.guarantee import Covers
from takifugu.core.errors import BudgetExceeded
from takifugu.influence.chains import recordings
from takifugu.model.frameworks import Framework
from takifugu.model.frameworks import from_dict as framework_from

WHOLE, DATA, QUILT, SINGLE = Covers
SIZE, FEW = 8, 8
FRAMEWORK = chain_framework(SIZE, 0.8)
PLACES: dict[str, dict[str, Any]] = {"anywhere": {}, "one window": {"at": 3, "calendar": "hours"}}


def of_entries(number: int, **how: Any) -> Charge:
    """Return a release of a query, and with a noise, of its own."""
    low = number % SIZE
    query = tf.Count(number // SIZE % 2, entries=range(low, min(SIZE, low + 1 + number % 3)))
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
    plain = [of_entries(n, **PLACES[how]) for n in range(2 * FEW)]
    spent = Fraction(0)
    for number in range(len(plain)):
        ledger.reserve("data", [debit(number, **PLACES[how])], budget=10**6)
        before, spent = spent, epsilon_of(ledger)
        assert spent > before
        assert spent == pytest.approx(float(joint(FRAMEWORK, plain[: number + 1]).epsilon), rel=1e-9)
    assert sum(int(term["cost"].split(";")[0]) for term in terms(ledger)) == len(plain)
    summaries = dump(ledger.store.path)["summaries"]
    ledger.rebuild()
    assert epsilon_of(ledger) == spent
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
        new = charge(other, tf.Count(1), 90 + number, QUILT, **{"reading": "", **PLACES[how]})
        new = replace(new, epsilon=Fraction(1, 99))
        ledger.reserve("data", [Debit(other, new)])
        plain.append(new)
        costs = [joint(framework, plain).epsilon for framework in (FRAMEWORK, other)]
        assert epsilon_of(ledger) == pytest.approx(float(max(costs)), rel=1e-9)


@pytest.mark.parametrize("frameworks", [1, 2])
def test_other_sources_of_the_same_people_are_charged_every_query_once(ledger: Ledger, frameworks: int) -> None:
    """At the cost of a change of the whole data, however many frameworks there are."""
    other = chain_framework(SIZE, 0.95)
    many = [replace(debit(n), unit="ann") for n in range(2 * FEW)]
    if frameworks == 2:
        new = replace(charge(other, tf.Count(1), 90, QUILT, reading=""), epsilon=Fraction(1, 99))
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
    new = replace(charge(short, tf.Count(1), 50, QUILT, reading=""), epsilon=Fraction(1, 99))
    ledger.reserve("data", [Debit(short, new)])
    each = [of_entries(n) for n in range(2 * FEW)] + [new]
    assert epsilon_of(ledger) == sum(max(one.epsilon, one.change / one.scale) for one in each)


def test_a_budget_is_refused_at_the_same_place_and_nothing_is_written(ledger: Ledger) -> None:
    many = [debit(n) for n in range(3 * FEW)]
    cost = joint(FRAMEWORK, [one.charge for one in many]).epsilon
    ledger.reserve("data", many[:-1], budget=cost * (1 - Fraction(1, 10**6)))
    refused_unchanged(ledger, BudgetExceeded, "times the scale", "data", many[-1:])
    ledger.set_budget("data", cost * (1 + Fraction(1, 10**9)))
    ledger.reserve("data", many[-1:])


# Windows of which each has noise of its own: what a ledger remembers of them costs what all of them cost anew.


TWO = [[0.9, 0.1], [0.4, 0.6]]
THREE = [[0.8, 0.1, 0.1], [0.2, 0.6, 0.2], [0.1, 0.3, 0.6]]
BELIEFS: dict[str, Any] = {
    "two values": tf.MarkovChain(TWO, 24),
    "three values, any start": tf.MarkovChain(THREE, 24, "any"),
    "a period": tf.PeriodicChain([TWO, [[0.7, 0.3], [0.2, 0.8]], [[0.5, 0.5], [0.5, 0.5]]], 24),
    "a class": tf.MarkovChainClass(0.2, 0.4, 24),
    "pieces": tf.IndependentPieces(tf.MarkovChain([[0.95, 0.05], [0.1, 0.9]], 24), (24,)),
}


@pytest.fixture(autouse=True)
def _afresh() -> Iterator[None]:
    messages.forget()
    yield
    messages.forget()


def framework_of(name: str) -> Framework:
    return tf.Pufferfish(tf.every_entry(), BELIEFS[name])


def drawn(random: np.random.Generator, frameworks: Sequence[Framework], many: int) -> list[tuple[Framework, Charge]]:
    """Return releases in windows: weeks in a row, between them, before them, twice; now and then with equal noise."""
    releases = []
    for _ in range(many):
        framework = frameworks[int(random.integers(len(frameworks)))]
        scale = Fraction(int(random.integers(50, 5000)), int(random.integers(3, 40)))
        scale = Fraction(20) if random.random() < 0.2 else scale
        kind = (QUILT, QUILT, QUILT, DATA)[int(random.integers(4))]
        one = charge(framework, tf.Count(int(random.integers(2))), scale, kind)
        place = 24 * int(random.integers(-6, 12)) + (3 * int(random.integers(8)) if random.random() < 0.3 else 0)
        releases.append((framework, replace(one, at=place, calendar="hours", read_as="", reading="")))
    return releases


def from_scratch(released: Sequence[tuple[Framework, Charge]]) -> Fraction:
    """Return what releases cost, computed by frameworks that nobody asked before, with nothing remembered."""
    messages.forget()
    frameworks = {framework.fingerprint(): framework for framework, _ in released}
    charges = [one for _, one in released]
    return max(joint(framework_from(one.to_dict()), charges).epsilon for one in frameworks.values())


CASES = [["two values"], ["three values, any start"], ["a period"], ["a class"], ["pieces"], ["two values", "pieces"],
         ["two values", "a period", "pieces"]]  # fmt: skip


@pytest.mark.sampled(7)
@pytest.mark.parametrize("names", CASES, ids=" and ".join)
def test_windows_in_any_order_cost_what_they_cost_from_scratch(ledger: Ledger, names: list[str]) -> None:
    """Exactly: with what the process remembers, what the ledger keeps of histories, without either, and anew."""
    random = np.random.default_rng(CASES.index(names))
    released = drawn(random, [framework_of(name) for name in names], 18)
    spent = []
    for number, (framework, one) in enumerate(released):
        ledger.reserve("data", [Debit(framework, one, "", f"release {number}")], budget=10**6)
        spent.append(epsilon_of(ledger))
        if number == 11:
            _lose_summaries(ledger)
    assert spent == sorted(spent)
    for number in (10, 11, 12, 17):
        assert spent[number] == from_scratch(released[: number + 1])
    before = dump(ledger.store.path)["summaries"]
    ledger.rebuild()
    assert epsilon_of(ledger) == spent[-1]
    assert dump(ledger.store.path)["summaries"] == before


def _lose_summaries(ledger: Ledger) -> None:
    edit(ledger.store.path, "delete from summaries")
    messages.forget()


@pytest.mark.sampled(3)
@pytest.mark.parametrize("seed", range(6))
def test_one_charge_of_many_windows_costs_what_they_cost_one_by_one(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    random = np.random.default_rng(seed)
    framework = framework_of(list(BELIEFS)[seed % len(BELIEFS)])
    charges = [one for _, one in drawn(random, [framework], 40)]
    together = joint(framework, charges).epsilon
    held: list[Charge] = []
    for one in [charges[n] for n in random.permutation(len(charges))]:
        held = merged([*held, one])
    assert joint(framework, held).epsilon == together
    parts = [merged(charges[:9]), merged(charges[9:30]), charges[30:]]
    assert joint(framework, [one for part in parts for one in part]).epsilon == together
    rows = list(map(several, held))
    assert sum(one.covers is QUILT for one in rows) == 2  # one for each query
    assert all([window.at for window in each_window(one)] == one.places.tolist() for one in rows)
    monkeypatch.setattr(sums, "merged", lambda charges: list(map(several, charges)))
    apart = joint(framework_from(framework.to_dict()), charges).epsilon
    assert float(together) == pytest.approx(float(apart), rel=1e-9)


def test_whether_units_are_tied_is_asked_of_an_index(ledger: Ledger) -> None:
    framework = framework_of("two values")
    ledger.reserve("data", [Debit(framework, charge(framework, tf.Count(1), 30, QUILT))])
    plans: list[str] = []
    with ledger.store.reading() as connection:
        connection.set_trace_callback(plans.append)
        histories.has_links(connection, 1)
        connection.set_trace_callback(None)
        explained = connection.all(f"explain query plan {plans[-1]}")
    assert any("charges_that_link" in row.detail for row in explained)


def test_the_next_window_follows_few_stretches_however_many_there_are(
    ledger: Ledger, monkeypatch: pytest.MonkeyPatch
) -> None:
    framework = framework_of("two values")
    one = charge(framework, tf.Count(1), 30, QUILT)
    weeks = [replace(one, scale=30 + Fraction(n * 7919 % 997, 1000), at=24 * n, calendar="hours") for n in range(300)]
    ledger.reserve("data", [Debit(framework, week, "", f"{n}") for n, week in enumerate(weeks[:-2])], budget=10**6)
    followed: list[int] = []
    before = recordings.along

    def counting(*given: Any) -> Any:
        followed.append(1)
        return before(*given)

    monkeypatch.setattr(recordings, "along", counting)
    ledger.reserve("data", [Debit(framework, weeks[-2], "", "last but one")])
    followed.clear()
    ledger.reserve("data", [Debit(framework, weeks[-1], "", "last")])
    assert 0 < len(followed) < 30
    assert len(dump(ledger.store.path)["summaries"]) == 1
