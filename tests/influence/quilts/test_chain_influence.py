"""Exact influence on chains against every joint state: never below the truth, and above it by rounding only."""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import permutations

import mpmath
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.support.chain_oracles import exact_rows, joint_law
from tests.support.quilt_cases import Case, binary, cases, random_chain
from tests.support.quilt_influence import influences, nodes, ready
from tests.support.quilt_oracles import joint_tensor, max_influence, possible

from takifugu.influence.quilts.chain.constants import Constants, reversible_constants
from takifugu.influence.quilts.chain.influence import ChainInfluence, chain_influence
from takifugu.model.beliefs.chains.chain import MarkovChain
from takifugu.model.beliefs.supports import Supports
from takifugu.numbers.log_ratios import NEVER


def within(influence: ChainInfluence, *distances: int | None) -> bool:
    """Return whether a quilt's nodes are tabulated: they are, unless farther nodes were found not to help."""
    tabulated = max(d or 0 for d in distances) <= influence.reach
    assert tabulated or influence.exhausted
    return tabulated


def quilts(length: int, entry: int) -> list[tuple[int | None, int | None]]:
    lefts, rights = [None, *range(1, entry + 1)], [None, *range(1, length - entry)]
    return [(a, b) for a in lefts for b in rights]


@settings(max_examples=60, deadline=None)
@given(cases(longest=6, starts=("given",)))
def test_influence_is_that_of_the_joint_law_whatever_the_zeros(case: Case) -> None:
    joint = joint_tensor(case.chain.matrix, case.law, case.chain.length)
    influence = ready(case.chain)
    for entry in range(case.chain.length):
        assert len(possible(joint, entry)) == sum(case.chain.possible(entry))
        if len(possible(joint, entry)) < 2:
            continue
        for left, right in quilts(case.chain.length, entry):
            if not within(influence, left, right):
                continue
            true = max_influence(joint, nodes(entry, left, right), entry)
            here, tried = influences(influence, entry, left, right)
            assert here == true if math.isinf(true) else true - 1e-12 <= here <= true + 1e-11
            assert tried >= true - 1e-12


@settings(max_examples=40, deadline=None)
@given(cases(longest=6, starts=("stationary",), zeros=False))
def test_stationary_influence_is_that_of_the_joint_law(case: Case) -> None:
    joint = joint_tensor(case.chain.matrix, case.law, case.chain.length)
    influence = ready(case.chain)
    for entry in range(case.chain.length):
        for left, right in quilts(case.chain.length, entry):
            if not within(influence, left, right):
                continue
            true = max_influence(joint, nodes(entry, left, right), entry)
            here, tried = influences(influence, entry, left, right)
            assert true - 1e-12 <= here <= true + 1e-11
            assert here == pytest.approx(tried, abs=1e-15)


@settings(max_examples=40, deadline=None)
@given(cases(longest=5, starts=("any",), zeros=True), st.integers(0, 2**32 - 1))
def test_any_start_covers_every_start_and_is_reached(case: Case, seed: int) -> None:
    k, length = len(case.chain.states), case.chain.length
    rng = np.random.default_rng(seed)
    nearly = [(1 - 1e-9 * k) * np.eye(k)[u] + 1e-9 for u in range(k)]
    laws = [*np.eye(k), *nearly, *rng.dirichlet(np.full(k, 0.4), size=6)]
    joints = [joint_tensor(case.chain.matrix, law, length) for law in laws]
    influence = ready(case.chain)
    for entry in range(length):
        for left, right in quilts(length, entry):
            if not within(influence, left, right):
                continue
            seen = [max_influence(joint, nodes(entry, left, right), entry) for joint in joints]
            here, tried = influences(influence, entry, left, right)
            assert here >= max(seen) - 1e-9
            assert tried >= here - 1e-12
            # Where the supremum is infinite, starts that come near it have influence of log 1e9 and more.
            assert max(seen) >= (here - 1e-5 if math.isfinite(here) else 12)


@settings(max_examples=25, deadline=None)
@given(cases(longest=5, starts=("given",), zeros=False))
def test_rounding_never_goes_below_the_exact_value(case: Case) -> None:
    assert case.start is not None
    joint = joint_law(case.rows, case.chain.length, case.start)
    influence = ready(case.chain)
    for entry in range(case.chain.length):
        for left, right in quilts(case.chain.length, entry):
            if not within(influence, left, right):
                continue
            where = nodes(entry, left, right)
            laws: dict[int, dict[tuple[int, ...], Fraction]] = {}
            for path, mass in joint.items():
                law = laws.setdefault(path[entry], {})
                seen = tuple(path[n] for n in where)
                law[seen] = law.get(seen, Fraction(0)) + mass
            totals = {v: sum(law.values()) for v, law in laws.items()}
            given = {v: {x: m / totals[v] for x, m in law.items()} for v, law in laws.items()}
            ratios = [given[a][x] / given[b][x] for a in given for b in given for x in given[a]]
            exact = max(ratios)
            with mpmath.workdps(40):
                true = mpmath.log(mpmath.mpf(exact.numerator) / exact.denominator)
                assert influences(influence, entry, left, right)[0] >= true


@pytest.mark.parametrize("k", [2, 4])
def test_error_that_is_charged_covers_long_products_and_stays_small(k: int) -> None:
    chain = random_chain(np.random.default_rng(k), k, 400)
    slow = MarkovChain(0.98 * np.eye(k) + 0.02 * chain.matrix, 400)
    influence = ready(slow)
    with mpmath.workdps(60):
        rows = [[mpmath.mpf(f.numerator) / f.denominator for f in r] for r in exact_rows(slow.matrix)]
        power = exact = mpmath.matrix(rows)
        for distance in range(1, 301):
            if distance in (1, 30, 300):
                for pair, (s, t) in enumerate(influence.pairs):
                    true = max(mpmath.log(power[s, y] / power[t, y]) for y in range(k))
                    excess = influence.right(distance)[-1, pair] - true
                    assert 0 <= excess <= 1e-14 * k * (distance + 1)
            power = power * exact


def test_influence_falls_with_the_distance_and_settles() -> None:
    chain = random_chain(np.random.default_rng(3), 3, 4000, [1.0, 0.0, 0.0])
    influence = ready(chain)
    assert (np.diff(influence.right(60), axis=0) <= 0).all()
    assert (np.diff(influence.left(90, 60), axis=0) <= 0).all()
    assert influence.settled is not None
    assert influence.settled < 200
    stationary = ready(MarkovChain(chain.matrix, 4000))
    excess = influence.left(3000, 10) - stationary.left(3000, 10)
    assert np.abs(excess).max() < 2e-12


def test_point_start_gives_its_own_entry_no_influence() -> None:
    influence = ready(binary(0.9, 0.6, 6, [1.0, 0.0]))
    assert influence.left(3, 3).max(axis=1)[2] == pytest.approx(0.0, abs=1e-13)
    assert influence.left(3, 2).max(axis=1)[1] > 0.1
    assert not influence.secret(6)[0]
    assert influence.secret(6)[1:].all()


def test_independent_entries_have_no_influence_at_all() -> None:
    for initial in ("stationary", "any", [0.5, 0.25, 0.25]):
        influence = ready(MarkovChain([[0.1, 0.2, 0.7]] * 3, 9, initial))
        assert influence.right(1).max() == 0.0
        assert influence.left(5, 3).max() == 0.0 == influence.left(5, 3).min()


def test_periodic_chain_never_forgets_and_the_search_stops() -> None:
    chain = MarkovChain([[0, 1, 0], [0, 0, 1], [1, 0, 0]], 10**6)
    influence = ChainInfluence(chain, list(permutations(range(3), 2)))
    influence.extend(10**6)
    assert influence.exhausted
    assert influence.reach < 20_000
    assert (influence.right(influence.reach) == NEVER).all()


def test_underflow_is_infinite_influence_or_an_older_bound_never_a_wrong_number() -> None:
    chain = MarkovChain([[0.5, 0.4, 0.1], [0.3, 0.5, 0.2], [0, 0, 1]], 3000, [0.5, 0.5, 0.0])
    influence = ready(chain)
    rows = influence.left(2900, 1500)
    assert not np.isnan(rows).any()
    pair = influence.pairs.index((2, 0))
    assert rows[-1, pair] == NEVER
    # The two transient values stay apart: what they say about each other has a limit, not 0.
    limit = influence.right(60)[-1, influence.pairs.index((0, 1))]
    assert 0.1 < influence.right(1500)[-1, influence.pairs.index((0, 1))] <= limit < 0.2


def test_supports_repeat_from_the_first_repetition() -> None:
    chain = MarkovChain([[0, 1, 0], [0.5, 0, 0.5], [0, 1, 0]], 50, [1, 0, 0])
    where = chain.supports
    for time in range(20):
        assert tuple(where.at(time)) == chain.possible(time)
        assert where.pairs(np.array([time]), np.array([0]), np.array([2]))[0, 0] == (time > 0 and time % 2 == 0)
    assert where.late.all()
    assert isinstance(where, Supports)


def test_tables_are_shared_by_chains_that_differ_in_length_only() -> None:
    short = binary(0.8, 0.7, 10)
    assert chain_influence(short) is chain_influence(short.with_length(10))
    long = short.with_length(500)
    assert chain_influence(long) is chain_influence(long.with_length(20))


def test_forgotten_start_law_is_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    chain = binary(0.9, 0.6, 6)
    joint = joint_tensor(chain.matrix, chain.stationary, 6)
    true = max_influence(joint, [2], 4)
    assert influences(ready(chain), 4, 2, None)[0] == pytest.approx(true, abs=1e-12)
    monkeypatch.setattr(ChainInfluence, "_term", lambda self, entries: np.zeros((len(entries), len(self.pairs))))
    assert abs(influences(ready(chain), 4, 2, None)[0] - true) > 0.1


def test_constants_are_bounds_that_hold_and_are_nearly_reached() -> None:
    rng = np.random.default_rng(5)
    for k in (2, 3, 5):
        flows = rng.random((k, k)) ** 3
        flows += flows.T
        chain = MarkovChain(flows / flows.sum(axis=1, keepdims=True), 10)
        constants = reversible_constants(chain)
        assert isinstance(constants, Constants)
        with mpmath.workdps(40):
            rows = [[mpmath.mpf(f.numerator) / f.denominator for f in r] for r in exact_rows(chain.matrix)]
            values, left = mpmath.eig(mpmath.matrix(rows).T)
            order = sorted(range(k), key=lambda n: -abs(values[n]))
            mass = [left[i, order[0]] / mpmath.fsum(left[j, order[0]] for j in range(k)) for i in range(k)]
            gap, least = 1 - abs(values[order[1]]), min(mpmath.re(m) for m in mass)
            # The constants belong to a chain within `defect` of this one.
            assert gap - 1e-11 <= constants.g <= gap + 2 * k * constants.defect
            assert least * (1 - mpmath.mpf("1e-12")) <= constants.pi <= least * (1 + 2 * k * constants.defect)


def test_constants_are_refused_with_the_reason() -> None:
    reasons = {
        "not irreducible and aperiodic": MarkovChain([[0, 1], [1, 0]], 5),
        "one direction only": MarkovChain([[0.5, 0.5, 0], [0, 0.5, 0.5], [0.5, 0, 0.5]], 5),
        "the chain is not reversible: the flow": MarkovChain([[0.2, 0.5, 0.3], [0.3, 0.2, 0.5], [0.5, 0.3, 0.2]], 5),
    }
    for words, chain in reasons.items():
        reason = reversible_constants(chain)
        assert isinstance(reason, str)
        assert words in reason
