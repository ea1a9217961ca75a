"""Attribute privacy of a few binary records by brute force over all data sets, and of 32,561 in seconds."""

import math
from fractions import Fraction
from itertools import combinations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.support.laws_oracles import gaussian_divergence, least_distance, smallest_laplace_scale
from tests.support.record_oracles import laws_given
from tests.support.steps import calls

import takifugu as tf

ROWS = [(0, 0), (0, 1), (1, 0), (1, 1)]
COUNTS = st.lists(st.integers(0, 5), min_size=4, max_size=4).filter(lambda c: c[0] + c[1] > 0 and c[2] + c[3] > 0)
HARSH = [4, 2, 1, 3]


def table_of(counts):
    return tf.JointTable.from_counts(ROWS, counts, ["g", "f"], source="a made-up survey")


def laws_of(counts, records):
    return laws_given(ROWS, counts, records, lambda d: sum(r[1] for r in d), lambda d: sum(r[0] for r in d))


def framework_of(counts, records, **compared):
    return tf.Pufferfish(tf.dataset_property("g", "sum", **compared), tf.Records(table_of(counts), records))


def calibrated(framework, mechanism, epsilon=1, delta=0, query=None):
    return tf.calibrate(framework, query or tf.Sum("f"), epsilon, delta, mechanism=mechanism, allow_zero_noise=True)


@pytest.mark.mutants
@settings(max_examples=15, deadline=None)
@given(COUNTS, st.integers(1, 6), st.sampled_from([Fraction(1, 2), Fraction(2)]), st.sampled_from([None, 1, 2]))
def test_wasserstein_and_laplace_exact_by_brute_force(counts, records, epsilon, near):
    laws = laws_of(counts, records)
    pairs = [(laws[a], laws[b]) for a, b in combinations(laws, 2) if near is None or b - a <= near]
    framework = framework_of(counts, records, max_difference=near)
    moved = max(least_distance(p, q) for p, q in pairs)
    assert calibrated(framework, "wasserstein", epsilon).scale == pytest.approx(float(moved / epsilon), rel=1e-9)
    smallest = max(float(smallest_laplace_scale(p, q, epsilon, 20)) for p, q in pairs)
    assert calibrated(framework, "laplace-exact", epsilon).scale == pytest.approx(smallest, rel=1e-8, abs=1e-12)


@pytest.mark.mutants
@pytest.mark.parametrize("near", [None, 1])
def test_normal_noise_by_brute_force(near):
    epsilon, delta, laws = Fraction(1, 2), Fraction(1, 100), laws_of(HARSH, 3)
    calibration = calibrated(framework_of(HARSH, 3, max_difference=near), "gaussian-exact", epsilon, delta)
    pairs = [(laws[a], laws[b]) for a in laws for b in laws if a != b and (near is None or abs(b - a) <= near)]
    excess = max(float(gaussian_divergence(p, q, calibration.scale, epsilon)) for p, q in pairs)
    assert excess == pytest.approx(0.01, rel=1e-6)
    assert tf.exact_delta(calibration, epsilon).loss <= 0.01


def test_sets_are_hidden_as_wholes_and_never_by_their_means():
    """Given g in {0, 4} and given g = 2 the answer has the same mean, and needs noise."""
    sets = [[0, 4], [2]]
    framework = framework_of([1, 0, 0, 1], 4, sets=sets)  # f = g
    calibration = calibrated(framework, "wasserstein")
    assert calibration.scale == 2
    assert tf.exact_loss(calibration).loss <= 1
    assert "the sum of 'g' is in {0, 4}" in calibration.witness.comparison
    apart = calibrated(framework_of(HARSH, 4, sets=[(None, 2), (2, None)]), "laplace-exact").scale
    assert apart < calibrated(framework_of(HARSH, 4), "laplace-exact").scale


@pytest.mark.parametrize("records", [3, 5000])
def test_independent_columns_need_no_noise(records):
    framework = framework_of([2, 4, 1, 2], records)
    for mechanism in ("wasserstein", "laplace-exact"):
        assert calibrated(framework, mechanism).scale == 0
    raised = tf.calibrate(framework, tf.Sum("f"), 1, mechanism="laplace-exact")
    assert raised.witness.detail == "the belief alone asks for no noise"


@pytest.mark.mutants
def test_as_many_records_as_adult_has_in_seconds():
    assert calls(check_as_many_records_as_adult_has) < 6_000_000


def check_as_many_records_as_adult_has():
    n = 32_561
    framework = tf.Pufferfish(tf.dataset_property("g", "share", of=1), tf.Records(table_of(HARSH), n))
    calibration = calibrated(framework, "laplace-exact", query=tf.Mean("f"))
    # Exact: the loss is n log of a ratio of exponential moments, far out on one side.
    factors = [math.exp(side / (calibration.scale * n)) for side in (1, -1)]
    ratio = max(n * abs(math.log((1 + 3 * e) / 4 / ((4 + 2 * e) / 6))) for e in factors)
    assert ratio == pytest.approx(1, rel=1e-8)
    assert calibrated(framework, "wasserstein", query=tf.Mean("f")).scale >= calibration.scale
    near = tf.Pufferfish(tf.dataset_property("g", "share", of=1, max_difference="0.01"), tf.Records(table_of(HARSH), n))
    assert calibrated(near, "laplace-exact", query=tf.Mean("f")).scale < calibration.scale / 99
    assert "32,561 independent records" in str(calibration)


def test_too_many_values_are_refused_with_what_they_would_cost():
    rows = [(g, f) for g in (0, 1, 7) for f in (0, 1)]
    table = tf.JointTable(rows, [Fraction(1, 6)] * 6, ["g", "f"])
    framework = tf.Pufferfish(tf.dataset_property("g", "mean"), tf.Records(table, 2000))
    with pytest.raises(tf.errors.CalibrationRefused, match="log-concave"):
        calibrated(framework, "laplace-exact")
    assert calibrated(framework, "group-dp").scale == 2000


def test_several_beliefs_are_each_a_case_and_never_compared_with_each_other():
    first, second = table_of(HARSH), table_of([1, 1, 1, 1])
    both = tf.Pufferfish(tf.dataset_property("g", "sum"), [tf.Records(first, 3), tf.Records(second, 3)])
    alone = tf.Pufferfish(tf.dataset_property("g", "sum"), tf.Records(first, 3))
    assert calibrated(both, "laplace-exact").scale == calibrated(alone, "laplace-exact").scale


def test_a_channel_sees_the_answers_of_all_values_or_refuses():
    few = calibrated(framework_of(HARSH, 3), "optimal")
    assert tf.exact_loss(few).loss <= 1 + 1e-9
    with pytest.raises(tf.errors.CalibrationRefused, match="table of masses"):
        calibrated(framework_of(HARSH, 2000), "optimal")


def test_a_witness_says_where_the_noise_may_be_more_than_the_least():
    exact = calibrated(framework_of(HARSH, 1000), "laplace-exact").witness.detail
    assert exact == "the log-ratio reaches epsilon here first"
    rows = [(g, f) for g in (0, 1) for f in (0, 1, 2)]
    table = tf.JointTable.from_counts(rows, [1, 3, 1, 3, 1, 4], ["g", "f"], source="made up")
    framework = tf.Pufferfish(tf.dataset_property("g", "sum"), tf.Records(table, 1000))
    detail = calibrated(framework, "laplace-exact").witness.detail
    assert detail.endswith("added up: all together they may tell less")


def test_a_set_of_several_intervals_is_read_in_order():
    from takifugu.model.secrets.value_sets import Between, Intervals, places_in

    parts = (Between(Fraction(4), None), Between(None, Fraction(1)))
    assert places_in(Intervals(parts), range(6)) == (0, 4, 5)


@pytest.mark.parametrize("mechanism", ["wasserstein", "laplace-exact"])
def test_sets_of_the_values_of_a_function(mechanism):
    spread = tf.NamedFunction("spread", 1, lambda values: max(values) - min(values))
    secret = tf.dataset_property("g", spread, sets=[[0], [1]])
    framework = tf.Pufferfish(secret, tf.Records(table_of(HARSH), 3))
    calibration = calibrated(framework, mechanism, Fraction(1, 4))
    of = lambda d: max(r[0] for r in d) - min(r[0] for r in d)  # noqa: E731
    laws = laws_given(ROWS, HARSH, 3, lambda d: sum(r[1] for r in d), of)
    assert 0 < tf.exact_loss(calibration).loss <= 0.25 * (1 + 1e-9)
    needed = {"wasserstein": float(least_distance(laws[0], laws[1]) * 4),
              "laplace-exact": float(smallest_laplace_scale(laws[0], laws[1], Fraction(1, 4), 20))}  # fmt: skip
    assert calibration.scale == pytest.approx(needed[mechanism], rel=1e-8)


def test_one_record_among_many_is_hidden_by_what_it_adds():
    framework = tf.Pufferfish(tf.every_entry("g"), tf.Records(table_of(HARSH), 20_000))
    calibration = calibrated(framework, "laplace-exact", Fraction(1, 10))
    zero, one = ({x: Fraction(HARSH[2 * g + x]) / sum(HARSH[2 * g : 2 * g + 2]) for x in (0, 1)} for g in (0, 1))
    alone = float(smallest_laplace_scale(zero, one, Fraction(1, 10), 20))
    assert calibration.scale == pytest.approx(alone, rel=1e-8)  # in likelihood-ratio order the others do not matter
