"""The loss of queries by one shared profile, against the ledger's own; sums of scales, against those found by it."""

import math
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.support.chain_strategies import chains, tables, with_secrets

import takifugu as tf
from takifugu.accounting.composition.by_noise import cost_by_noise
from takifugu.analysis.sensitivity import component_change
from takifugu.calibration import problem_of
from takifugu.calibration.jointly import Split
from takifugu.calibration.shared_noise import LaplaceTogether

WALK = [[0.9, 0.1], [0.4, 0.6]]


def noise_of(framework, queries, epsilon=Fraction(1)):
    problems = tuple(problem_of(framework, query, epsilon, 0) for query in queries)
    return LaplaceTogether(framework, problems, epsilon)


def ledger_loss(noise, scales):
    """What the ledger charges for these scales: its own cost, all profiles made again."""
    charges = [replace(charge, scale=scale) for charge, scale in zip(noise.charges, scales, strict=True)]
    return cost_by_noise(noise.view, charges)


class Slow(LaplaceTogether):
    """Noise that asks the ledger at every scale."""

    profile = None


@st.composite
def asked(draw):
    """A framework with some weighted sums, and scales."""
    belief = draw(st.one_of(chains(length=(2, 7)), tables()))
    framework = with_secrets(belief)
    codes = list(belief.alphabet(0)) if belief.one_alphabet else None
    queries = []
    for _ in range(draw(st.integers(1, 4))):
        weights = draw(st.lists(st.integers(0, 3), min_size=belief.size, max_size=belief.size).filter(any))
        if codes is not None and draw(st.booleans()):
            queries.append(tf.Count(draw(st.sampled_from(codes))))
        else:
            queries.append(tf.Linear(weights, grid=1))
    scale = st.fractions(Fraction(1, 8), 8, max_denominator=12)
    return framework, queries, draw(st.lists(scale, min_size=len(queries), max_size=len(queries)))


@pytest.mark.mutants
@settings(max_examples=300, deadline=None)
@given(asked())
def test_the_loss_by_one_profile_is_what_the_ledger_charges(case):
    framework, queries, scales = case
    noise = noise_of(framework, queries)
    if any(change.size == 0 for change in map(component_change, noise.problems)):
        return
    assert noise.profile is not None
    theirs, ours = float(ledger_loss(noise, scales)), noise.loss(scales)
    assert theirs * (1 - 2e-9) <= ours <= theirs * (1 + 1e-9)


def test_queries_of_independent_people_share_a_profile_too():
    users = tf.Pufferfish(tf.every_entry(), tf.IndependentUsers([{0: 0.5, 1: 0.25, 2: 0.25}] * 5))
    noise = noise_of(users, [tf.Count(1), tf.Count(2), tf.Histogram()])
    scales = [Fraction(2), Fraction(3), Fraction(5)]
    assert noise.loss(scales) == pytest.approx(float(ledger_loss(noise, scales)), rel=1e-12)


def test_shapes_are_of_proportional_tables():
    framework = tf.Pufferfish(tf.every_entry(), tf.MarkovChain(WALK, 10))
    window = tf.Count(1, entries=range(4))
    noise = noise_of(framework, [tf.Count(1), window, tf.Histogram(), tf.Sum(codes={0: 0, 1: 7}), window])
    assert list(noise.shapes) == [(0, 2, 3), (1, 4)]
    assert noise.sizes == (1, 1, 2, 7, 1)


def test_choices_lose_as_the_ledger_says():
    framework = tf.Pufferfish(tf.every_entry(), tf.MarkovChain(WALK, 10))
    noise = noise_of(framework, [tf.Mode(), tf.Count(1)])
    scales = [Fraction(7), Fraction(11)]
    assert noise.loss(scales) == pytest.approx(float(ledger_loss(noise, scales)), rel=1e-12)


def test_where_quilts_of_columns_lower_a_loss_the_ledger_is_asked():
    network = tf.BayesianNetwork([("x", [1, 2], [], [0.6, 0.4])])
    given = {1: {0: "0.9", 1: "0.1"}, 2: {0: "0.5", 1: "0.5"}}
    framework = tf.Pufferfish(tf.distribution_parameter("x"), tf.Parameters(network, {"x": given}, 2))
    noise = noise_of(framework, [tf.Sum("x")] * 2)
    scales = [Fraction(3), Fraction(4)]
    assert noise.profile is None
    assert noise.loss(scales) == float(ledger_loss(noise, scales))


LONG = tf.Pufferfish(tf.every_entry(), tf.MarkovChain(WALK, 200))
SIXTY = tf.Pufferfish(tf.every_entry(), tf.MarkovChain(WALK, 60))


def windows(*ranges):
    return [tf.Count(1, entries=range(first, last)) for first, last in ranges]


@pytest.mark.mutants
@pytest.mark.parametrize(("framework", "queries", "searched"), [
    (LONG, [tf.Count(1)] * 6, 120.06078183),
    (LONG, [tf.Count(1)] * 20, 1334.5136163),
    (LONG, windows(*((10 * i, 10 * i + 20) for i in range(6))), 39.84590044),
    (LONG, [tf.Count(1), tf.Histogram(), tf.Count(1, entries=range(80, 100))], 53.28857089),
    (SIXTY, windows((0, 10), (5, 30), (50, 60)), 15.04526305),
])  # fmt: skip
def test_the_sum_is_not_above_that_of_the_search_by_the_ledger(framework, queries, searched):
    """`searched`: what golden sections along every scale reached, with the ledger's cost at each step."""
    made = tf.calibrate_jointly(framework, queries, 1)
    charged = tf.compose(made).epsilon
    assert 1 - Fraction(1, 10**8) <= charged <= 1
    assert math.fsum(one.expected_error for one in made) <= searched * (1 + 1e-3)


@pytest.mark.slow
def test_the_sum_of_twenty_windows_is_not_above_that_of_the_closed_form_alone():
    made = tf.calibrate_jointly(LONG, windows(*((9 * i, 9 * i + 20) for i in range(20))), 1)
    assert tf.compose(made).epsilon <= 1
    assert math.fsum(float(one.scale) for one in made) <= 163.07


def random_set(seed):
    """A histogram, a count in proportion to it, and a window or two."""
    rng = np.random.default_rng(seed)
    states, length = int(rng.integers(2, 4)), int(rng.integers(4, 9))
    matrix = rng.dirichlet(np.ones(states), size=states).round(2) + 0.05
    matrix /= matrix.sum(axis=1, keepdims=True)
    framework = tf.Pufferfish(tf.every_entry(), tf.MarkovChain(matrix, length, str(rng.choice(["stationary", "any"]))))
    queries = [tf.Histogram(), tf.Count(0)]
    for _ in range(int(rng.integers(1, 3))):
        first = int(rng.integers(length - 1))
        queries.append(tf.Count(1, entries=range(first, int(rng.integers(first, length)) + 1)))
    return noise_of(framework, queries)


@pytest.mark.mutants
@pytest.mark.parametrize("seed", [9, 21, 24, 27])
def test_within_a_shape_errors_are_split_as_the_closed_form_says(seed):
    """A search over whole shapes mends no proportion: those are the closed form's from the start."""
    noise = random_set(seed)
    assert len(noise.shapes[0]) == 2
    split = Split(noise, (1.0,) * len(noise.problems))
    scales = split.best()
    for factor in (Fraction(4, 5), Fraction(9, 10), Fraction(11, 10), Fraction(5, 4)):
        assert split.error(scales) <= split.error(split.fitted([factor * scales[0], *scales[1:]])) * (1 + 1e-4)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(30))
def test_random_sets_need_no_more_than_by_the_ledger_at_every_step(seed):
    noise = random_set(seed)
    weights, slow = (1.0,) * len(noise.problems), Slow(noise.framework, noise.problems, noise.epsilon)
    ours, theirs = Split(noise, weights).best(), Split(slow, weights).best()
    assert ledger_loss(noise, ours) <= 1
    assert Split(noise, weights).error(ours) <= Split(slow, weights).error(theirs) * (1 + 1e-3)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(10))
def test_no_random_direction_gains(seed):
    """A search along one shape after another could rest at a kink that is no least; here it does not."""
    noise, rng = random_set(seed), np.random.default_rng(seed)
    split = Split(noise, (1.0,) * len(noise.problems))
    scales = split.best()
    for width in np.repeat((0.1, 0.03, 0.01), 40):
        powers = rng.normal(size=len(scales)) * width
        tried = split.fitted([scale * Fraction(math.exp(power)) for scale, power in zip(scales, powers, strict=True)])
        assert split.error(scales) <= split.error(tried) * (1 + 2e-4)
