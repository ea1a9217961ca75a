"""Classes of chains: influence bounds against chains of the class, scales, exact losses and orders."""

import math
from fractions import Fraction
from itertools import permutations
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.support.class_oracles import birkhoff, influence, matrix_in_box, random_box
from tests.support.quilt_cases import bound, scale

import takifugu as tf
from takifugu.analysis.randomisers import DiscreteLaplace
from takifugu.influence.chains.region_bounds import RegionInfluence
from takifugu.influence.quilts.mqm_exact import ChainInfluence
from takifugu.mechanisms.influence import MECHANISM as INFLUENCE
from takifugu.mechanisms.quilts import APPROX as QUILT_APPROX
from takifugu.mechanisms.quilts import EXACT as QUILT_EXACT
from takifugu.model.beliefs.chains.interval_chain import IntervalMarkovChain
from takifugu.numbers.outward_rounding import NEVER


def binary_box(stay0: tuple[float, float], stay1: tuple[float, float], length: int) -> IntervalMarkovChain:
    (a, b), (c, d) = stay0, stay1
    return IntervalMarkovChain([[a, 1 - b], [1 - d, c]], [[b, 1 - a], [1 - c, d]], length)


def region_influence(region: IntervalMarkovChain, pairs: Any = None) -> RegionInfluence:
    return RegionInfluence(region, pairs or list(permutations(range(len(region.states)), 2)))


def violations(rng: np.random.Generator, regions: int, chains: int) -> tuple[int, int]:
    """Return how many true influences lie above the bound, and how many were finite, for chains drawn from regions."""
    above = finite = 0
    for _ in range(regions):
        k = int(rng.integers(2, 5))
        lower, upper = random_box(rng, k, float(rng.choice([0.0, 0.02, 0.1, 0.4])), zeros=bool(rng.integers(2)))
        influences = region_influence(IntervalMarkovChain(lower, upper, 20))
        influences.extend(8)
        for _ in range(chains):
            one = matrix_in_box(rng, lower, upper)
            changing = bool(rng.integers(2))
            before, left, right = (
                [matrix_in_box(rng, lower, upper) if changing else one for _ in range(int(rng.integers(0, most)))]
                for most in (3, 7, 7)
            )
            start = rng.dirichlet(np.full(k, 0.2)) * (1 - 1e-9) + 1e-9 / k
            for column, (s, t) in enumerate(influences.pairs):
                true = influence(start, before, left, right, s, t)
                limit = float(influences.left(len(left))[-1, column]) if left else 0.0
                limit += float(influences.right(len(right))[-1, column]) if right else 0.0
                if limit < NEVER / 2:
                    finite += 1
                    above += true > limit * (1 + 1e-9) + 1e-12
    return above, finite


@pytest.mark.mutants
@pytest.mark.parametrize(
    ("seed", "chains", "tries", "least"),
    [(0, 60, 8, 1500), pytest.param(1, 1000, 20, 100_000, marks=pytest.mark.slow)],
)
def test_bound_is_never_below_the_influence_of_a_chain_of_the_region(
    seed: int, chains: int, tries: int, least: int
) -> None:
    above, finite = violations(np.random.default_rng(seed), chains, tries)
    assert above == 0
    assert finite > least


@settings(max_examples=60, deadline=None)
@given(st.floats(0.02, 0.98), st.floats(0.02, 0.98), st.integers(1, 12))
def test_one_binary_chain_is_bounded_exactly(p0: float, p1: float, n: int) -> None:
    matrix = np.array([[p0, 1 - p0], [1 - p1, p1]])
    influences = region_influence(IntervalMarkovChain(matrix, matrix, 30))
    influences.extend(n)
    reach = min(n, influences.reach)
    power = np.linalg.matrix_power(matrix, reach)
    true = [max(math.log(power[s, y] / power[t, y]) for y in (0, 1)) for s, t in ((0, 1), (1, 0))]
    assert influences.right(reach)[-1] == pytest.approx(true, rel=1e-6, abs=1e-9)
    cross = abs(math.log(power[0, 0] * power[1, 1] / (power[0, 1] * power[1, 0])))
    assert influences.left(reach)[-1].max() == pytest.approx(cross, rel=1e-6, abs=1e-9)


@pytest.mark.parametrize("stays", [((0.7, 0.8), (0.6, 0.9)), ((0.1, 0.9), (0.1, 0.9)), ((0.2, 0.3), (0.85, 0.95))])
def test_bound_is_never_above_the_printed_contraction(stays: Any) -> None:
    region = binary_box(*stays, 50)
    influences = region_influence(region)
    influences.extend(20)
    for a in range(1, influences.reach + 1):
        for b in (1, a):
            both = float((influences.left(a)[-1] + influences.right(b)[-1]).max())
            assert both <= birkhoff(region.lower, region.upper, a, b) * (1 + 1e-9)
        assert influences.right(a)[-1].max() <= birkhoff(region.lower, region.upper, None, a) * (1 + 1e-9)
        assert influences.left(a)[-1].max() <= birkhoff(region.lower, region.upper, a, None) * (1 + 1e-9)


@pytest.mark.mutants
def test_influence_falls_with_distance_and_grows_with_the_region() -> None:
    rng = np.random.default_rng(4)
    for _ in range(20):
        lower, upper = random_box(rng, 3, 0.05)
        wider = np.clip(lower - 0.02, 0, 1), np.clip(upper + 0.02, 0, 1)
        one, two = (region_influence(IntervalMarkovChain(*ends, 50)) for ends in ((lower, upper), wider))
        for influences in (one, two):
            influences.extend(30)
            assert (np.diff(influences.right(influences.reach), axis=0) <= 0).all()
            assert (np.diff(influences.left(influences.reach), axis=0) <= 0).all()
        reach = min(one.reach, two.reach)
        assert (one.right(reach) <= two.right(reach) * (1 + 1e-9) + 1e-15).all()
        assert (one.left(reach) <= two.left(reach) * (1 + 1e-9) + 1e-15).all()


def test_pairs_of_a_secret_are_bounded_alone() -> None:
    rng = np.random.default_rng(8)
    region = IntervalMarkovChain(*random_box(rng, 3, 0.1), 50)
    every, some = region_influence(region), region_influence(region, [(0, 2), (2, 0)])
    assert some.pairs == ((0, 2), (2, 0))
    for influences in (every, some):
        influences.extend(10)
    columns = [every.pairs.index(pair) for pair in some.pairs]
    np.testing.assert_array_equal(every.right(10)[:, columns], some.right(10))
    np.testing.assert_array_equal(every.left(10)[:, columns], some.left(10))


def test_a_zero_that_two_steps_fill_does_not_fall_to_group() -> None:
    region = IntervalMarkovChain([[0.4, 0.4], [0.98, 0.0]], [[0.6, 0.6], [1.0, 0.02]], 200)
    influences = region_influence(region)
    influences.extend(2)
    assert (influences.right(1) > NEVER / 2).any()
    assert (influences.left(2)[-1] < NEVER / 2).all()
    framework = tf.Pufferfish(tf.every_entry(), region)
    assert tf.calibrate(framework, tf.Count(1), 1, mechanism="influence").scale < 30


def closed_form(low: float, i: int, a: int, b: int) -> float:
    decay = 1 - 2 * low
    terms = [*((a, i) if a else ()), *((b,) if b else ())]
    return sum(math.log((1 + decay**n) / (1 - decay**n)) for n in terms)


@pytest.mark.parametrize("low", [0.05, 0.1, 0.3, 0.45])
def test_interval_influence_is_the_closed_form(low: float) -> None:
    influences = ChainInfluence(tf.BinaryChains(low, 30).worst)
    for i in (1, 2, 5, 9):
        for a in range(i + 1):
            for b in range(4):
                mine = float(influences.largest(np.array([i]), a or None, b or None)[0])
                expected = closed_form(low, i, a, b)
                assert expected * (1 - 1e-12) - 1e-12 <= mine <= expected * (1 + 1e-9) + 1e-11


@pytest.mark.mutants
@pytest.mark.parametrize("low", [0.05, 0.2, 0.4])
def test_no_chain_of_the_interval_tells_more_and_one_tells_as_much(low: float) -> None:
    """On a grid of (p0, p1) with its corners, both signs of the eigenvalue, starts at and next to both ends."""
    rng = np.random.default_rng(6)
    grid = np.concatenate([np.linspace(low, 1 - low, 7), rng.uniform(low, 1 - low, 3)])
    tiny = 1e-12
    starts = [[1 - tiny, tiny], [tiny, 1 - tiny], [0.5, 0.5], [0.9, 0.1]]
    for i, a, b in [(1, 1, 1), (2, 1, 2), (4, 2, 3), (3, 3, 0), (5, 0, 4), (6, 4, 1)]:
        limit, largest, at = closed_form(low, i, a, b), 0.0, (0.0, 0.0)
        for p0 in grid:
            for p1 in grid:
                matrix = np.array([[p0, 1 - p0], [1 - p1, p1]])
                for start in starts:
                    for s, t in ((0, 1), (1, 0)):
                        true = influence(start, [matrix] * (i - a), [matrix] * a, [matrix] * b, s, t)
                        assert true <= limit * (1 + 1e-9)
                        if true > largest + 1e-12:
                            largest, at = true, (float(p0), float(p1))
        assert largest == pytest.approx(limit, rel=1e-6)
        assert at[0] == pytest.approx(at[1])  # a corner with p0 = p1; which of the two depends on the parities
        assert at[0] in (low, 1 - low)


def test_interval_lies_between_its_worst_chain_and_the_classes_that_hold_it() -> None:
    for low, epsilon, length in [(0.1, 1, 100), (0.2, 5, 100), (0.3, 1, 60), (0.4, 2, 10)]:
        chains = tf.BinaryChains(low, length)
        here = scale(chains, tf.Count(1), epsilon, QUILT_APPROX)
        worst = scale(chains.worst, tf.Count(1), epsilon, QUILT_EXACT)
        reversible = scale(tf.ReversibleChains(low, 2 * low, length), tf.Count(1), epsilon, QUILT_APPROX)
        assert worst == here < reversible <= Fraction(length, epsilon) * (1 + Fraction(1, 10**9))


def test_interval_at_its_ends() -> None:
    assert scale(tf.BinaryChains(0, 40), tf.Count(1), 2, QUILT_APPROX) == 20
    assert scale(tf.BinaryChains(0.5, 40), tf.Count(1), 2, QUILT_APPROX) == Fraction(1, 2)
    ends = [scale(tf.BinaryChains(low, 40), tf.Count(1), 1, QUILT_APPROX) for low in (0.5, 0.45)]
    assert ends[0] < ends[1]


REGION = binary_box((0.5, 0.7), (0.55, 0.65), 6)
THREE = IntervalMarkovChain(
    [[0.3, 0.2, 0.2], [0.25, 0.35, 0.2], [0.2, 0.25, 0.3]], [[0.5, 0.4, 0.4], [0.4, 0.5, 0.4], [0.4, 0.4, 0.5]], 4
)
INTERVAL = tf.BinaryChains(0.35, 6)


def mechanism_of(belief: Any) -> Any:
    return INFLUENCE if isinstance(belief, IntervalMarkovChain) else QUILT_APPROX


def largest_loss(belief: Any, query: Any, epsilon: Any, draws: int, seed: int, secret: Any = None) -> float:
    """Return the largest exact loss over chains drawn from a class, calibrated by `mechanism_of`."""
    rng = np.random.default_rng(seed)
    noise = bound(belief, query, epsilon, mechanism_of(belief), secret).randomiser
    intervals = isinstance(belief, IntervalMarkovChain)
    region = belief if intervals else binary_box(*[(belief.low, 1 - belief.low)] * 2, belief.size)
    k = len(region.states)
    chains = []
    for number in range(draws):
        start: Any = "any" if number % 3 else [float(p) for p in rng.dirichlet(np.ones(k))]
        chains.append(tf.MarkovChain(matrix_in_box(rng, region.lower, region.upper), region.size, start))
    return tf.exact_loss(tf.Pufferfish(secret or tf.every_entry(), belief), query, noise, chains=chains).loss


CASES = [
    (REGION, tf.Count(1), 3),
    (REGION, tf.Linear([8, 1, 0, 0, 1, 8]), 4),
    (THREE, tf.Count(1), 4),
    (INTERVAL, tf.Count(1), 2),
    (INTERVAL, tf.Linear([9, 1, 0, 0, 1, 9]), 5),
]


@pytest.mark.mutants
@pytest.mark.parametrize("case", range(len(CASES)))
def test_loss_is_at_most_epsilon_for_chains_of_the_class(case: int) -> None:
    belief, query, epsilon = CASES[case]
    group = Fraction(query.resolve(belief).entry_changes().sum()) / epsilon
    assert scale(belief, query, epsilon, mechanism_of(belief)) < group
    assert largest_loss(belief, query, epsilon, 12, seed=case) <= epsilon


@pytest.mark.slow
@pytest.mark.parametrize("case", range(len(CASES)))
def test_loss_is_at_most_epsilon_for_a_thousand_chains(case: int) -> None:
    belief, query, epsilon = CASES[case]
    assert largest_loss(belief, query, epsilon, 200, seed=100 + case) <= epsilon


def test_audit_refuses_chains_outside_the_class() -> None:
    for belief in (REGION, INTERVAL):
        framework = tf.Pufferfish(tf.every_entry(), belief)
        outside = tf.MarkovChain([[0.9, 0.1], [0.4, 0.6]], 6, "any")
        with pytest.raises(tf.errors.InputError, match="outside the intervals"):
            tf.exact_loss(framework, tf.Count(1), DiscreteLaplace(Fraction(2), Fraction(1)), chains=[outside])
        assert math.isinf(tf.exact_loss(framework, tf.Count(1), DiscreteLaplace(Fraction(2), Fraction(1))).upper)


@pytest.mark.parametrize("length", [1, 2])
def test_short_sequences(length: int) -> None:
    short = INTERVAL.with_length(length)
    assert scale(short, tf.Count(1), Fraction(1, 3), QUILT_APPROX) == 3 * length
    assert scale(short, tf.Count(1), 20, QUILT_APPROX) <= Fraction(length, 20)


@pytest.mark.mutants
def test_pieces_are_calibrated_each_alone() -> None:
    for belief in (REGION, INTERVAL):
        pieces = tf.IndependentPieces(belief, [50, 3, 7, 50])
        together = scale(pieces, tf.Count(1), 1, mechanism_of(belief))
        assert together == scale(belief.with_length(50), tf.Count(1), 1, mechanism_of(belief))
        with_members = tf.Pufferfish(tf.every_entry(), tf.IndependentPieces(belief.with_length(2), [2, 1]))
        noise = bound(with_members.beliefs[0], tf.Count(1), 1, mechanism_of(belief)).randomiser
        if isinstance(belief, tf.BinaryChains):
            member = belief.worst
        else:
            matrix = matrix_in_box(np.random.default_rng(7), belief.lower, belief.upper)
            member = tf.MarkovChain(matrix, belief.size, "any")
        assert tf.exact_loss(with_members, tf.Count(1), noise, chains=[member]).loss <= 1


@pytest.mark.mutants
def test_long_sequences_ask_for_what_a_wide_enough_one_does() -> None:
    for belief in (REGION, INTERVAL):
        wide, long = (scale(belief.with_length(n), tf.Count(1), 1, mechanism_of(belief)) for n in (400, 100_000))
        assert float(wide) == pytest.approx(float(long), rel=1e-9)


def test_the_printed_contraction_has_no_power_to_spare() -> None:
    matrix = np.array([[0.8, 0.2], [0.2, 0.8]])
    for a, b in [(1, 1), (1, 2), (2, 1)]:
        start = [1e-12, 1 - 1e-12]
        true = influence(start, [], [matrix] * a, [matrix] * b, 0, 1)
        assert true <= birkhoff(matrix, matrix, a, b)
    exact = influence([1e-12, 1 - 1e-12], [], [matrix], [], 0, 1)
    assert exact == pytest.approx(birkhoff(matrix, matrix, 1, None), rel=1e-6)  # tau^(a-1) cannot be tau^a
    assert exact > birkhoff(matrix, matrix, 2, None) * 1.5
