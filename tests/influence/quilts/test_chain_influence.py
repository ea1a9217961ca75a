"""Exact influence on chains, of one matrix or several, against every joint state: above the truth by rounding only."""

import math
from fractions import Fraction
from typing import Any

import mpmath
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.support.chain_oracles import exact_rows, joint_law
from tests.support.periodic_cases import periodic
from tests.support.quilt_cases import Case, binary, cases, random_chain, scale
from tests.support.quilt_influence import influences, nodes, placed_quilts
from tests.support.quilt_oracles import max_influence, possible

import takifugu as tf
from takifugu.influence.quilts.mqm_approx import Constants, reversible_constants
from takifugu.influence.quilts.mqm_exact import ChainInfluence
from takifugu.model.beliefs.one_sequence import Supports
from takifugu.numbers.outward_rounding import NEVER

DAY, NIGHT = [[0.8, 0.2], [0.3, 0.7]], [[0.95, 0.05], [0.6, 0.4]]


#: Random chains of one matrix, and of matrices that repeat after a period; `longest` is their largest length.
KINDS = {
    "one matrix": cases,
    "a period": lambda longest, **more: periodic(length=(1, longest), **more),
}
ANY_KIND = pytest.mark.parametrize("kind", KINDS)


@ANY_KIND
@settings(max_examples=60, deadline=None)
@given(data=st.data())
def test_influence_is_that_of_the_joint_law_whatever_the_zeros(kind: str, data: st.DataObject) -> None:
    case = data.draw(KINDS[kind](longest=6, starts=("given",)))
    (joint,), influence = case.tensors, ChainInfluence(case.chain)
    for entry in range(case.chain.length):
        assert possible(joint, entry) == [v for v, can in enumerate(case.chain.possible(entry)) if can]
        if len(possible(joint, entry)) < 2:
            continue
        for left, right in placed_quilts(case.chain, entry):
            true = max_influence(joint, nodes(entry, left, right), entry)
            here, tried = influences(influence, entry, left, right)
            assert here == true if math.isinf(true) else true - 1e-12 <= here <= true + 1e-11
            assert tried >= true - 1e-12
            if left is None:  # a value that the entry never has is compared with none
                assert tried == here


@ANY_KIND
@settings(max_examples=40, deadline=None)
@given(data=st.data())
def test_stationary_influence_is_that_of_the_joint_law(kind: str, data: st.DataObject) -> None:
    case = data.draw(KINDS[kind](longest=6, starts=("stationary",), zeros=False))
    (joint,), influence = case.tensors, ChainInfluence(case.chain)
    for entry in range(case.chain.length):
        for left, right in placed_quilts(case.chain, entry):
            true = max_influence(joint, nodes(entry, left, right), entry)
            here, tried = influences(influence, entry, left, right)
            assert true - 1e-12 <= here <= true + 1e-11
            assert here == pytest.approx(tried, abs=1e-15)


@ANY_KIND
@settings(max_examples=40, deadline=None)
@given(data=st.data(), seed=st.integers(0, 2**32 - 1))
def test_any_start_covers_every_start_and_is_reached(kind: str, data: st.DataObject, seed: int) -> None:
    case = data.draw(KINDS[kind](longest=5, starts=("any",)))
    k, rng = len(case.chain.states), np.random.default_rng(seed)
    nearly = [(1 - 1e-9 * k) * np.eye(k)[u] + 1e-9 for u in range(k)]
    laws = [*np.eye(k), *nearly, *rng.dirichlet(np.full(k, 0.4), size=6)]
    joints = [np.tensordot(law, np.array(case.tensors), 1) for law in laws]
    influence = ChainInfluence(case.chain)
    for entry in range(case.chain.length):
        for left, right in placed_quilts(case.chain, entry):
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
    influence = ChainInfluence(case.chain)
    for entry in range(case.chain.length):
        for left, right in placed_quilts(case.chain, entry):
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
    slow = tf.MarkovChain(0.98 * np.eye(k) + 0.02 * chain.matrix, 400)
    influence = ChainInfluence(slow)
    with mpmath.workdps(60):
        rows = [[mpmath.mpf(f.numerator) / f.denominator for f in r] for r in exact_rows(slow.matrix)]
        power = exact = mpmath.matrix(rows)
        for distance in range(1, 301):
            if distance in (1, 30, 300):
                for pair, (s, t) in enumerate(influence.pairs):
                    true = max(mpmath.log(power[s, y] / power[t, y]) for y in range(k))
                    excess = influence.after(0, distance)[-1, pair] - true
                    assert 0 <= excess <= 1e-14 * k * (distance + 1)
            power = power * exact


def test_point_start_gives_its_own_entry_no_influence() -> None:
    influence = ChainInfluence(binary(0.9, 0.6, 6, [1.0, 0.0]))
    assert influence.before(3, 3).max(axis=1)[2] == pytest.approx(0.0, abs=1e-13)
    assert influence.before(3, 2).max(axis=1)[1] > 0.1
    assert not influence.alive(np.array([0])).any()
    assert influence.alive(np.arange(1, 6)).all()


def test_independent_entries_have_no_influence_at_all() -> None:
    for initial in ("stationary", "any", [0.5, 0.25, 0.25]):
        influence = ChainInfluence(tf.MarkovChain([[0.1, 0.2, 0.7]] * 3, 9, initial))
        assert influence.after(0, 1).max() == 0.0
        assert influence.before(5, 3).max() == 0.0 == influence.before(5, 3).min()


@pytest.mark.mutants
def test_underflow_is_infinite_influence_or_an_older_bound_never_a_wrong_number() -> None:
    chain = tf.MarkovChain([[0.5, 0.4, 0.1], [0.3, 0.5, 0.2], [0, 0, 1]], 3000, [0.5, 0.5, 0.0])
    influence = ChainInfluence(chain)
    rows = influence.before(2900, 1500)
    assert not np.isnan(rows).any()
    pair = influence.pairs.index((2, 0))
    assert rows[-1, pair] == NEVER
    # The two transient values stay apart: what they say about each other has a limit, not 0.
    limit = influence.after(0, 60)[-1, influence.pairs.index((0, 1))]
    assert 0.1 < influence.after(0, 1500)[-1, influence.pairs.index((0, 1))] <= limit < 0.2


def test_supports_repeat_from_the_first_repetition() -> None:
    chain = tf.MarkovChain([[0, 1, 0], [0.5, 0, 0.5], [0, 1, 0]], 50, [1, 0, 0])
    where = chain.supports
    for time in range(20):
        assert tuple(where.at(time)) == chain.possible(time)
        assert where.pairs(np.array([time]), np.array([0]), np.array([2]))[0, 0] == (time > 0 and time % 2 == 0)
    assert isinstance(where, Supports)


def test_constants_are_bounds_that_hold_and_are_nearly_reached() -> None:
    rng = np.random.default_rng(5)
    for k in (2, 3, 5):
        flows = rng.random((k, k)) ** 3
        flows += flows.T
        chain = tf.MarkovChain(flows / flows.sum(axis=1, keepdims=True), 10)
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
        "not irreducible and aperiodic": tf.MarkovChain([[0, 1], [1, 0]], 5),
        "one direction only": tf.MarkovChain([[0.5, 0.5, 0], [0, 0.5, 0.5], [0.5, 0, 0.5]], 5),
        "the chain is not reversible: the flow": tf.MarkovChain([[0.2, 0.5, 0.3], [0.3, 0.2, 0.5], [0.5, 0.3, 0.2]], 5),
    }
    for words, chain in reasons.items():
        reason = reversible_constants(chain)
        assert isinstance(reason, str)
        assert words in reason


@pytest.mark.parametrize("initial", ["stationary", "any", [0.2, 0.5, 0.3]])
@pytest.mark.parametrize("length", [1, 7, 200])
def test_a_period_of_one_step_is_a_chain_with_one_matrix(initial: Any, length: int) -> None:
    matrix = [[0.6, 0.3, 0.1], [0.2, 0.7, 0.1], [0.3, 0.3, 0.4]]
    one, same = tf.MarkovChain(matrix, length, initial), tf.PeriodicChain([matrix], length, [0] * 12, 5, initial)
    assert same.period == 1
    for query in (tf.Count(1), tf.Histogram()):
        for epsilon in ("1/10", 1, 4):
            assert scale(one, query, epsilon) == scale(same, query, epsilon)
    both = ChainInfluence(one), ChainInfluence(same)
    assert (both[0].before(length - 1, length - 1) == both[1].before(length - 1, length - 1)).all()


def test_equal_matrices_written_apart_are_one_matrix() -> None:
    one, same = tf.MarkovChain(DAY, 300), tf.PeriodicChain([DAY, DAY], 300, [0, 1, 1])
    assert same.period == 3
    assert float(scale(one, tf.Count(1), 1)) == pytest.approx(float(scale(same, tf.Count(1), 1)), rel=1e-11)


def test_entries_a_period_apart_have_the_same_influence() -> None:
    influence = ChainInfluence(tf.PeriodicChain([NIGHT, DAY], 400, [0] * 7 + [1] * 15 + [0] * 2))
    for phase in range(24):
        near, far = influences(influence, 96 + phase, 30, 20), influences(influence, 288 + phase, 30, 20)
        assert near == far
    assert len({influences(influence, 96 + phase, 5, 5) for phase in range(24)}) > 5


RING = [[0.0, 1.0, 0.0], [0.0, 0.0, 1.0], [1.0, 0.0, 0.0]]


@pytest.mark.mutants
@pytest.mark.parametrize(
    "chain", [tf.MarkovChain(RING, 20_000), tf.PeriodicChain([RING, np.eye(3)], 20_000, [0, 1, 1])], ids=list(KINDS)
)
def test_a_chain_that_never_forgets_ends_the_search(chain: Any) -> None:
    assert scale(chain, tf.Count(1), 2) == Fraction(chain.length, 2)
