"""Risk by hand, the examples of the paper, and the one condition under which a promise bounds it."""

import math
from fractions import Fraction
from itertools import chain, combinations, product
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.support.policies import subsets

from takagi.risk import dominates, risk
from takifugu.mechanisms.one_sided import Policy, any_of, none_of, visits

F = Fraction
#: e^-epsilon of the noise of every example: a rational, so that everything is exact.
DECAY = F(1, 3)
A, B, BOTH, NOWHERE = map(frozenset, ("A", "B", "AB", ""))
PLACES = subsets("ABC", 3)


def counts(record: frozenset[str], places: str = "ABC", cut: int = 6) -> dict[Any, Fraction]:
    """Geometric noise with P(K >= k) = DECAY^k on the count of every place, cut at a public end: the joint law."""
    masses: dict[Any, Fraction] = {(): F(1)}
    for place in places:
        x = int(place in record)
        cell = {x + k: (1 - DECAY) * DECAY**k for k in range(cut - x)} | {cut: DECAY ** (cut - x)}
        masses = {(*z, y): m * w for z, m in masses.items() for y, w in cell.items()}
    return masses


def was_at_a(record: frozenset[str]) -> bool:
    return "A" in record


@pytest.mark.slow
def test_exactly_one_of_two_places_tells_which() -> None:
    """The adversary knows "exactly one of A and B": {A} -> {B} is no allowed move, and the risk is infinite."""
    prior = {A: F(1, 2), B: F(1, 2)}
    assert not dominates(prior, was_at_a, visits())
    assert risk(counts, prior, was_at_a) == math.inf
    assert risk(counts, prior, lambda record: "B" in record) == math.inf


def test_a_correlation_that_is_no_domination_breaks_the_bound_in_proportion() -> None:
    """Who was at A is less often at B: outputs that show nobody at B point to A, without being certain of it."""
    prior = {A: F(9, 20), BOTH: F(1, 20), B: F(9, 20), NOWHERE: F(1, 20)}
    assert not dominates(prior, was_at_a, visits())
    assert 1 / DECAY < risk(lambda r: counts(r, "AB"), prior, was_at_a) < math.inf


def test_under_domination_the_risk_is_bounded_and_reached() -> None:
    prior = {A: F(1, 4), NOWHERE: F(1, 4), BOTH: F(1, 4), B: F(1, 4)}
    assert dominates(prior, was_at_a, visits())
    assert risk(lambda r: counts(r, "AB"), prior, was_at_a) == 1 / DECAY


@pytest.mark.slow
def test_the_opposite_may_become_certain() -> None:
    """That somebody was not at A is not hidden: Proposition IV.3."""
    assert risk(counts, {A: F(1, 2), NOWHERE: F(1, 2)}, lambda r: not was_at_a(r)) == math.inf


def test_blowfish_without_the_sensitive_edge_publishes_the_truth_of_it() -> None:
    """Section III-C1: no edge between c and not c lets the exact bit out; both risks are infinite."""
    exact = {True: {"yes": F(1)}, False: {"no": F(1)}}
    prior = {A: F(1, 2), NOWHERE: F(1, 2)}
    for sign in (True, False):
        assert risk(lambda r: exact[was_at_a(r)], prior, lambda r, s=sign: was_at_a(r) is s) == math.inf
    blowfish = Policy.of(none_of("A"), any_of("A"))  # neither way: the moves that Blowfish hides here
    assert not blowfish.allows(A, NOWHERE)
    assert not blowfish.allows(NOWHERE, A)
    assert blowfish.allows(A, BOTH)


def test_osdp_leaks_everything_of_records_that_are_not_sensitive() -> None:
    """Section III-C2: N = not c; whatever else is true of x may be published where x was not at A."""

    def released(record: frozenset[str]) -> dict[Any, Fraction]:
        return {"hidden": F(1)} if was_at_a(record) else {"hidden": DECAY, record: 1 - DECAY}

    prior = {A: F(1, 4), BOTH: F(1, 4), B: F(1, 4), NOWHERE: F(1, 4)}
    assert risk(released, prior, was_at_a) <= 1 / DECAY
    assert risk(released, prior, lambda r: not was_at_a(r) and "B" in r) == math.inf


weights = st.lists(st.integers(0, 4), min_size=len(PLACES), max_size=len(PLACES)).filter(any)


def prior_of(shares: list[int]) -> dict[Any, Fraction]:
    return {record: F(weight, sum(shares)) for record, weight in zip(PLACES, shares, strict=True) if weight}


def carried(prior: dict[Any, Fraction], policy: Policy) -> bool:
    """Hall's condition, for every set of records: what they hold given c finds room in what they may move to."""
    yes = {x: m for x, m in prior.items() if was_at_a(x)}
    no = {x: m for x, m in prior.items() if not was_at_a(x)}
    if not yes or not no:
        return True
    total_yes, total_no = sum(yes.values()), sum(no.values())
    for chosen in chain.from_iterable(combinations(yes, size) for size in range(len(yes) + 1)):
        room = sum(m for y, m in no.items() if any(policy.allows(x, y) for x in chosen))
        if sum(yes[x] for x in chosen) / total_yes > room / total_no:
            return False
    return True


@given(weights, st.sampled_from([visits(), visits(["A"]), visits(["A", "B"]), Policy(), Policy.of(none_of("A", "C"))]))
@settings(max_examples=200)
def test_domination_is_halls_condition(shares: list[int], policy: Policy) -> None:
    prior = prior_of(shares)
    assert dominates(prior, was_at_a, policy) == carried(prior, policy)


@pytest.mark.mutants
@given(weights)
@settings(max_examples=25)
def test_where_the_places_dominate_the_risk_is_at_most_e_to_the_epsilon(shares: list[int]) -> None:
    """The noise of each place loses epsilon; a move of several places loses as many: the bound is of the moves used."""
    prior = prior_of(shares)
    if not dominates(prior, was_at_a, visits()):
        return
    largest = max(len(record) for record in PLACES)
    assert risk(counts, prior, was_at_a) <= (1 / DECAY) ** largest


def tables(policy: Policy) -> list[dict[Any, dict[str, Fraction]]]:
    """Mechanisms with two outputs on the subsets of two places that keep the promise 1/DECAY along allowed moves."""
    levels, records = (F(0), F(1, 9), F(1, 3), F(1)), subsets("AB", 2)
    listed = []
    for masses in product(levels, repeat=len(records)):
        table = {r: {"y": m, "n": 1 - m} for r, m in zip(records, masses, strict=True)}
        if all(
            table[x][z] <= table[y][z] / DECAY for x in records for y in records if policy.allows(x, y) for z in "yn"
        ):
            listed.append(table)
    return listed


TABLES = tables(visits())


@given(st.lists(st.integers(0, 4), min_size=4, max_size=4).filter(any))
def test_every_mechanism_that_keeps_the_promise_has_bounded_risk_under_domination(shares: list[int]) -> None:
    prior = {r: F(w, sum(shares)) for r, w in zip(subsets("AB", 2), shares, strict=True) if w}
    if dominates(prior, was_at_a, visits()):
        assert max(risk(lambda r, t=table: t[r], prior, was_at_a) for table in TABLES) <= 1 / DECAY


def pointer(prior: dict[Any, Fraction], policy: Policy) -> dict[Any, dict[str, Fraction]] | None:
    """A mechanism that keeps the promise and points to A, where some records given A have too little room to move to.

    With C such a set, closed under moves that stay at A, it says "y" with mass 1/3 on C, 1/9 on what C may move to
    elsewhere, and never otherwise.
    """
    yes = [x for x in prior if was_at_a(x)]
    for chosen in chain.from_iterable(combinations(yes, size) for size in range(1, len(yes) + 1)):
        reached = {y for y in PLACES if any(policy.allows(x, y) for x in chosen)}
        here, there = {y for y in reached if was_at_a(y)}, {y for y in reached if not was_at_a(y)}
        given_yes = sum(prior.get(x, F(0)) for x in here) / sum(prior[x] for x in yes)
        given_no = sum(prior.get(x, F(0)) for x in there) / sum(m for x, m in prior.items() if not was_at_a(x))
        if given_yes > given_no:
            masses = {x: F(1, 3) if x in here else F(1, 9) if x in there else F(0) for x in PLACES}
            return {x: {"y": m, "n": 1 - m} for x, m in masses.items()}
    return None


@given(weights, st.sampled_from([visits(), visits(["A"]), visits(["A", "B"])]))
@settings(max_examples=200)
def test_only_under_domination_is_every_such_risk_bounded(shares: list[int], policy: Policy) -> None:
    """ "Only if": without domination some mechanism keeps the promise, and its risk exceeds e^epsilon = 3."""
    prior = prior_of(shares)
    if not 0 < sum(m for x, m in prior.items() if was_at_a(x)) < 1:
        return
    table = pointer(prior, policy)
    assert (table is None) == dominates(prior, was_at_a, policy)
    if table is None:
        return
    for x, y in product(PLACES, repeat=2):
        if policy.allows(x, y):
            assert all(table[x][z] <= 3 * table[y][z] for z in "yn")
    assert risk(lambda r: table[r], prior, was_at_a) > 3
