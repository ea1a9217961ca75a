"""Series of normal values (Theorem 16): by conditioning, by integrals over values as they are read, by simulation."""

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from tests.support import process_oracles as oracle

import takifugu as tf
from takifugu.analysis.questions import real_columns
from takifugu.core.errors import CalibrationRefused, DataError, InputError
from takifugu.model import beliefs, secrets

TINY = Fraction(1, 10**6)
BY_NAME = {"mechanism": "process-gaussian"}


def hide(belief, difference=1, attribute=None):
    return tf.Pufferfish(tf.every_entry(attribute, max_difference=difference), belief)


def fives(length):
    return tf.JointQuery([tf.Sum(entries=range(first, first + 5)) for first in range(0, length, 5)])


@pytest.mark.mutants
@pytest.mark.parametrize(("length", "correlation", "known", "least"), [
    (20, "0.8", 33.9, 32.8), (100, "0.8", 38.0, 25.8), (100, "0.95", 152.1, 145.9), (100, "0.5", 12.7, 0),
])  # fmt: skip
def test_a_sum_needs_what_the_moves_of_all_values_need(length, correlation, known, least):
    series = tf.AutoregressiveNormal(correlation, 3, length)
    scale = float(tf.calibrate(hide(series), tf.Sum(), 1, TINY, **BY_NAME).scale)
    assert scale == pytest.approx(known, abs=0.05)
    covariance, weights = oracle.autoregressive(float(correlation), length), np.ones((1, length))
    assert scale == pytest.approx(oracle.least_deviation(covariance, weights, 1, 1e-6, 1, own=False), rel=1e-6)
    assert oracle.least_deviation(covariance, weights, 1, 1e-6, 1, own=True) == pytest.approx(least, abs=0.05)


@pytest.mark.mutants
@pytest.mark.parametrize(
    ("length", "correlation", "least"), [(20, "0.8", 19.2), (100, "0.8", 19.4), (100, "0.95", 41.0), (100, "0.5", 10.4)]
)
def test_sums_of_five_values_need_little_more_than_with_the_own_randomness(length, correlation, least):
    series = tf.AutoregressiveNormal(correlation, 1, length)
    scale = float(tf.calibrate(hide(series), fives(length), 1, TINY, **BY_NAME).scale)
    covariance = oracle.autoregressive(float(correlation), length)
    weights = np.kron(np.eye(length // 5), np.ones((1, 5)))
    assert scale == pytest.approx(oracle.least_deviation(covariance, weights, 1, 1e-6, 1, own=False), rel=1e-6)
    with_own = oracle.least_deviation(covariance, weights, 1, 1e-6, 1, own=True)
    assert with_own == pytest.approx(least, abs=0.05)
    assert with_own <= scale <= 1.03 * with_own


@pytest.mark.parametrize("length", [1, 2])
def test_the_integrals_of_values_read_as_they_are_are_those_of_the_closed_form(length):
    laws = [oracle.density_of_sum(0.7, length, 0, value, np.asarray, 2.0) for value in (1.0, 0.0)]
    exact = oracle.moves(oracle.autoregressive(0.7, length), np.ones((1, length)), np.array([4.0]), 1, own=True)[0]
    assert oracle.delta_by_integral(*laws, 0.3) == pytest.approx(oracle.profile(exact, 0.3), rel=1e-3)


@st.composite
def processes(draw):
    """A covariance of two to five values as whole numbers, and weights of one or two cells."""
    size = draw(st.integers(2, 5))
    number = st.integers(-3, 3)
    factor = np.array(draw(st.lists(st.lists(number, min_size=size, max_size=size), min_size=size, max_size=size)))
    cells = draw(st.lists(st.lists(number, min_size=size, max_size=size).filter(any), min_size=1, max_size=2))
    return factor @ factor.T + np.eye(size, dtype=int), np.array(cells)


@settings(max_examples=60, deadline=None)
@given(processes(), st.fractions(Fraction(1, 4), 3, max_denominator=8))
def test_no_noise_hides_less_than_the_process_allows(case, difference):
    covariance, weights = case
    names = [f"v{number}" for number in range(len(covariance))]
    belief = tf.MultivariateNormal([0] * len(names), covariance.tolist(), names, records=1)
    query = tf.JointQuery([tf.Linear(row.tolist()) for row in weights])
    noise = tf.calibrate(hide(belief, difference), query, 1, "0.01", allow_zero_noise=True, **BY_NAME)
    variances = np.full(len(weights), float(noise.scale) ** 2)
    exact = oracle.moves(covariance, weights, variances, float(difference), own=True).max()
    assert oracle.profile(exact, 1) <= 0.01 * (1 + 1e-9)
    terms = weights[:, :, None] * (covariance / np.diag(covariance))
    sizes = np.maximum(np.maximum(terms, 0).sum(axis=1), np.maximum(-terms, 0).sum(axis=1))
    mu = float(difference) * np.linalg.norm(sizes, axis=0).max() / float(noise.scale)
    assert mu == pytest.approx(oracle.largest_move(1, 0.01), rel=1e-6)


def noise_of(correlation, length, difference, **reading):
    series = tf.AutoregressiveNormal(correlation, 1, length, **reading)
    return float(tf.calibrate(hide(series, difference), tf.Sum(), 1, "0.05", allow_zero_noise=True, **BY_NAME).scale)


def delta_of(correlation, length, value, difference, read, deviation):
    laws = [
        oracle.density_of_sum(correlation, length, 0, at, read, deviation) for at in (value, value + difference)
    ]
    return max(oracle.delta_by_integral(*laws, 1), oracle.delta_by_integral(*laws[::-1], 1))


@st.composite
def values_of_one(draw):
    """Two to five multiples of one value, all but the first clipped, and the weights of one to three releases."""
    row = st.lists(st.integers(-3, 3), min_size=5, max_size=5).filter(lambda numbers: any(numbers[:2]))
    size, high = draw(st.integers(2, 5)), draw(st.none() | st.integers(-2, 3))
    releases = draw(st.lists(st.lists(row, min_size=1, max_size=2), min_size=1, max_size=3))
    return np.array(draw(row)[:size]), high, [[row[:size] for row in rows] for rows in releases]


@settings(max_examples=60, deadline=None)
@given(values_of_one(), st.sampled_from([None, Fraction(1, 2), Fraction(1)]), st.sampled_from([Fraction(1, 2), 1, 2]))
def test_releases_of_values_that_one_value_fixes_lose_no_more_than_they_cost(case, step, difference):
    """Nothing else is random, so the moves are those of the values as they are read, and their squares add up."""
    shares, high, releases = case
    names = [f"v{number}" for number in range(len(shares))]
    ranges = None if high is None else dict.fromkeys(names[1:], (-3, high))
    belief = tf.MultivariateNormal([0] * len(names), np.outer(shares, shares).tolist(), names, 1, ranges, step)
    made = []
    for rows in releases:
        query = tf.JointQuery([tf.Linear(row) for row in rows])
        made.append(tf.calibrate(hide(belief, difference), query, 1, "0.01", allow_zero_noise=True, **BY_NAME))
    assume(all(one.scale for one in made))  # what reads values that never move has no noise, and composes with nothing
    together = tf.compose(made)
    charged = oracle.largest_move(float(together.epsilon), float(together.delta))

    def read(hidden, numbers):
        values = numbers[:, None] * (shares / shares[hidden])
        if high is not None:
            values[:, 1:] = values[:, 1:].clip(-3, high)
        return values if step is None else oracle.rounded(float(step))(values)

    edges = (np.arange(-24, 25)[:, None] / 4 + np.array([-1e-7, 0, 1e-7])).ravel()
    for hidden in np.flatnonzero(shares):
        for reach in (float(difference), float(difference) * 0.6):
            moved, squares = read(hidden, edges + reach) - read(hidden, edges), np.zeros(len(edges))
            for rows, one in zip(releases, made, strict=True):
                squares += ((moved @ np.transpose(rows)) ** 2).sum(axis=1) / max(float(one.scale), 1e-9) ** 2
            assert math.sqrt(squares.max()) <= charged * (1 + 1e-6)


@pytest.mark.parametrize(("weights", "shares", "farthest"), [
    ((1, -1), (1, 1), 1), ((2, -3), (1, 1), 3), ((1, 1), (1, -1), 1), ((1, -1), (1, -2), 3),
])  # fmt: skip
def test_a_difference_of_values_that_rise_together_needs_no_more_than_the_larger_of_both(weights, shares, farthest):
    """Where one of them is clipped, the other one moves alone: no less is enough."""
    covariance = [[a * b for b in shares] for a in shares]
    for name in "xy":
        belief = tf.MultivariateNormal([0, 0], covariance, ["x", "y"], 1, {name: (-1, 1)})
        noise = tf.calibrate(hide(belief, attribute="x"), tf.Linear(weights), 1, "0.01", **BY_NAME)
        assert float(noise.scale) == pytest.approx(farthest / oracle.largest_move(1, 0.01), rel=1e-6)


def test_a_rounded_value_may_jump_by_a_step_more():
    """One value alone: 0.49 is read as 0, and 1.51 as 2, so nothing less than the bound hides it."""
    deviation = noise_of("0.5", 1, "1.02", resolution=1)
    read = oracle.rounded(1.0)
    assert delta_of(0.5, 1, 0.49, 1.02, read, deviation) <= 0.05
    assert delta_of(0.5, 1, 0.49, 1.02, read, deviation * 0.98) > 0.05
    assert deviation == pytest.approx(2.02 / oracle.largest_move(1, 0.05), rel=1e-6)


@pytest.mark.parametrize(("reading", "read"), [
    ({"resolution": "0.5"}, oracle.rounded(0.5)), ({"value_range": (-1, 1)}, oracle.clipped(-1, 1)),
])  # fmt: skip
@pytest.mark.parametrize("correlation", ["0.8", "-0.6"])
def test_two_values_that_are_rounded_or_clipped(reading, read, correlation):
    deviation = noise_of(correlation, 2, 1, **reading)
    assert max(delta_of(float(correlation), 2, at, 1, read, deviation) for at in (-0.74, -0.5, 0.26)) <= 0.05


@pytest.mark.slow
@pytest.mark.parametrize(("reading", "read"), [
    ({"resolution": 1}, oracle.rounded(1.0)), ({"value_range": (-1, 1)}, oracle.clipped(-1, 1)),
])  # fmt: skip
def test_no_threshold_tells_more_of_a_simulated_series(reading, read):
    """A lower bound on delta by events that outputs are above a number, of 200,000 runs."""
    length, hidden, runs = 20, 7, 200_000
    deviation = noise_of("0.8", length, 1, **reading)
    noise = np.random.default_rng(5).normal(0, deviation, runs)
    low, high = (
        oracle.simulated(0.8, length, hidden, value, read, runs, seed) + noise
        for value, seed in ((-0.5, 1), (0.5, 2))
    )
    for threshold in np.linspace(-20, 40, 61):
        found = (high > threshold).mean() - math.e * (low > threshold).mean()
        assert found <= 0.05 + 5 * (1 + math.e) / math.sqrt(runs)


def test_laplace_noise_hides_the_farthest_move():
    series = tf.AutoregressiveNormal("0.5", 1, 5)
    noise = tf.calibrate(hide(series, 2), tf.Sum(), 1, mechanism="wasserstein")
    assert noise.scale == pytest.approx(2 * (1 + 2 * (0.5 + 0.25)), rel=1e-6)
    assert tf.calibrate(hide(series, 2, "step 0"), tf.Sum(), 1, mechanism="wasserstein").scale == pytest.approx(
        2 * (1 + 0.5 + 0.25 + 0.125 + 0.0625), rel=1e-6
    )


def test_a_series_reads_back_as_itself_and_reads_lists():
    series = tf.AutoregressiveNormal("-0.25", 2, 4, 10, (0, 20), "0.5", source="a sensor's sheet")
    again = beliefs.from_dict(series.to_dict())
    assert again == series
    assert repr(again) == "<AutoregressiveNormal: 4 steps, correlation -0.25>"
    assert again.covariance == tuple(tuple(4 * Fraction(-1, 4) ** abs(i - j) for j in range(4)) for i in range(4))
    assert [series.drift(3)[place] for place in (3, 2, 1, 0)] == [1, Fraction(-1, 4), Fraction(1, 16), Fraction(-1, 64)]
    third = tf.AutoregressiveNormal(Fraction(1, 3), 1, 40)
    exact = [Fraction(1, 3) ** distance for distance in range(40)]
    assert all(0 <= bound - power <= Fraction(1, 2**62) for bound, power in zip(third.drift(0), exact, strict=True))
    assert series.deviation([1, 1, 0, 2]) == pytest.approx(
        math.sqrt(np.array([1, 1, 0, 2]) @ oracle.autoregressive(-0.25, 4, 2) @ np.array([1, 1, 0, 2])), rel=1e-12
    )
    assert real_columns.of_columns(series, [11, 12.2, 30, 9]).totals == (11, 12, 20, 9)
    with pytest.raises(DataError):
        real_columns.of_columns(series, [11, 12.2, 30])


def test_what_one_value_alone_moves_is_what_noise_has_to_hide():
    series = tf.AutoregressiveNormal("0.5", 1, 4, resolution="0.25")
    answer = series.resolve(tf.JointQuery([tf.Linear([1, -3, 0, 2]), tf.Linear([0, 1, 0, 0])]))
    assert secrets.view(tf.every_entry(max_difference=2), series).entry_change(answer) == 4 * Fraction(9, 4)
    assert secrets.view(tf.every_entry("step 3", max_difference=2), series).entry_change(answer) == 2 * Fraction(9, 4)


def test_a_value_that_never_varies_is_nothing_to_hide():
    flat = tf.MultivariateNormal([0, 5], [[1, 0], [0, 0]], names=["x", "c"], records=1)
    assert secrets.view(tf.every_entry(max_difference=1), flat).columns == (0,)
    with pytest.raises(InputError, match="one value only"):
        secrets.view(tf.every_entry("c", max_difference=1), flat)


@pytest.mark.parametrize(("query", "secret", "words"), [
    (tf.Count(1), tf.every_entry(max_difference=1), "a count jumps by 1"),
    (tf.Histogram(), tf.every_entry(max_difference=1), "a count jumps by 1"),
    (tf.Sum(), tf.every_entry(), "max_difference"),
    (tf.Sum(), tf.dataset_property("step 0", "mean", max_difference=1), "single values are hidden"),
    (tf.Sum(), tf.distribution_parameter("step 0", values=[0, 1]), "single values are hidden"),
])  # fmt: skip
def test_what_a_process_refuses(query, secret, words):
    series = tf.AutoregressiveNormal("0.5", 1, 5)
    with pytest.raises((InputError, CalibrationRefused), match=words):
        tf.calibrate(tf.Pufferfish(secret, series), query, 1, TINY, **BY_NAME)


@pytest.mark.parametrize(("wrong", "key"), [
    ({"correlation": 1}, "correlation"), ({"correlation": "-1"}, "correlation"),
    ({"standard_deviation": 0}, "standard_deviation"), ({"length": 0}, "length"), ({"length": 2001}, "length"),
    ({"value_range": (2, 1)}, "value_range"), ({"resolution": 0}, "resolution"),
])  # fmt: skip
def test_what_a_series_refuses(wrong, key):
    with pytest.raises(InputError) as refusal:
        tf.AutoregressiveNormal(**{"correlation": "0.5", "standard_deviation": 1, "length": 5, **wrong})
    assert key in refusal.value.where
