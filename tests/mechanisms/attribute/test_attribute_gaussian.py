"""Normal noise that hides a property of columns: Zhang22's example, errata E8a, X1, independent integrals."""

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.support import zhang_oracles
from tests.support.golden import golden
from tests.support.normal_oracles import given_sets, hockey_stick, mixture, normal_density, of_all_records

import takifugu as tf
from takifugu.core.errors import CalibrationRefused

EXAMPLE = golden()["attribute_gaussian_001_example"]
DELTA = 1e-5
EXACT, PRINTED = "attribute-gaussian-exact", "attribute-gaussian"


def example(covariance=None, **more) -> tf.MultivariateNormal:
    return tf.MultivariateNormal([0] * 4, covariance or EXAMPLE["V"], EXAMPLE["names"], EXAMPLE["n"], **more)


def two(rho: object, records: int = 100, **more: object) -> tf.MultivariateNormal:
    return tf.MultivariateNormal([0, 0], [[1, rho], [rho, 1]], ["x", "y"], records, **more)


def compared(framework, query, epsilon, delta):
    """What the beliefs ask for, whether or not it hides one entry."""
    return tf.compare(framework, query, epsilon=epsilon, delta=delta, allow_zero_noise=True)


def variance(framework, query, mechanism=EXACT, epsilon: object = 1, delta: object = DELTA) -> float:
    row = {row.name: row for row in compared(framework, query, epsilon, delta)}[mechanism]
    assert row.scale is not None, row.reason
    return row.scale**2


def printed_variance(shift, credit, epsilon, delta) -> float:
    numbers = [float(Fraction(number)) for number in (shift, credit, epsilon, delta)]
    return zhang_oracles.printed_variance(1, *numbers)


def hides(attribute="x", function="mean", **how) -> tf.Pufferfish:
    belief = how.pop("belief", None) or two("0.5")
    return tf.Pufferfish(tf.dataset_property(attribute, function, **how), belief)


@pytest.mark.sampled(17)
@pytest.mark.parametrize("case", EXAMPLE["cases"])
@pytest.mark.parametrize("attribute", [["sat"], ["income"], ["sat", "income"]])
def test_the_golden_example(case, attribute):
    epsilon, delta = case.split(",")
    secrets = [tf.dataset_property(name, "mean", max_difference=EXAMPLE["d_U"]) for name in attribute]
    framework = tf.Pufferfish(secrets, example())
    for mechanism, kind in ((EXACT, "analytic"), (PRINTED, "classical")):
        expected = max(0.0, *(float(EXAMPLE["cases"][case][kind][f"required_{name}"]) for name in attribute))
        needed = variance(framework, tf.Mean("weight"), mechanism, epsilon, delta)
        assert needed == pytest.approx(expected, rel=3e-10)
        assert needed >= expected * (1 - 1e-11)
    for name in attribute:
        moved, credit = (EXAMPLE["per_attr"][name][key] for key in ("delta_F", "cond_var"))
        assert printed_variance(moved, credit, epsilon, delta) == pytest.approx(
            float(EXAMPLE["cases"][case]["classical"][f"required_{name}"]), rel=1e-10
        )


@pytest.mark.parametrize(("epsilon", "suffices"), [(1, True), (8.3, True), (8.5, False), (10, False), (20, False)])
def test_the_printed_variance_is_taken_where_its_exact_delta_is_kept(epsilon, suffices):
    """The answer is the property itself: no credit, and errata E8a's epsilon of 8.42 for delta = 1e-5."""
    framework = hides("x", max_difference=1)
    if suffices:
        calibration = tf.calibrate(framework, tf.Mean("x"), epsilon=epsilon, delta=DELTA, mechanism=PRINTED,
                                   single_release=True)  # fmt: skip
        assert dict(calibration.witness.numbers)["exact_delta"] <= DELTA
        assert float(calibration.scale) ** 2 == pytest.approx(printed_variance(1, 0, epsilon, DELTA), rel=1e-9)
        return
    with pytest.raises(CalibrationRefused, match="keeps delta") as refusal:
        tf.calibrate(framework, tf.Mean("x"), epsilon=epsilon, delta=DELTA, mechanism=PRINTED, single_release=True)
    if epsilon == 10:
        assert "2.266e-5" in str(refusal.value)
    exact = tf.calibrate(framework, tf.Mean("x"), epsilon=epsilon, delta=DELTA, mechanism=EXACT, single_release=True)
    assert float(exact.scale) ** 2 > printed_variance(1, 0, epsilon, DELTA)


@pytest.mark.mutants
@settings(max_examples=12)
@given(
    st.sampled_from(["-0.9", "-0.3", "0.2", "0.7", "1", "-1"]), st.sampled_from([2, 5, 30]),
    st.sampled_from([0.3, 1.0, 4.0, 9.0]), st.sampled_from([0.05, 1e-3]),
)  # fmt: skip
def test_every_calibrated_delta_is_confirmed_by_integration(rho, records, epsilon, delta):
    """The law of the answer from all records at once, the divergence by integration: nothing of the calibration."""
    framework = hides(belief=two(rho, records), max_difference=1)
    slope, residual = of_all_records([[1, float(rho)], [float(rho), 1]], records, [[0, 1]], [[1 / records, 0]])
    for mechanism in (EXACT, PRINTED):
        rows = {row.name: row for row in compared(framework, tf.Sum("y"), epsilon, delta)}
        if rows[mechanism].scale is None:
            assert mechanism == PRINTED
            assert "keeps delta" in rows[mechanism].reason
            continue
        total, shift = float(residual[0, 0]) + rows[mechanism].scale ** 2, float(slope[0, 0])
        reach = 10 * math.sqrt(total)
        laws = normal_density(0, total), normal_density(shift, total)
        divergence = hockey_stick(*laws, epsilon, min(0, shift) - reach, max(0, shift) + reach, cells=200)
        assert divergence <= delta + 1e-9
        if mechanism == EXACT and rows[mechanism].scale:
            assert divergence == pytest.approx(delta, abs=1e-9)


def test_columns_without_correlation_need_no_noise_and_it_is_said():
    framework = hides(belief=two(0), max_difference=1000)
    for mechanism in (EXACT, PRINTED):
        calibration = tf.calibrate(
            framework, tf.Sum("y"), 1, delta=DELTA, mechanism=mechanism, single_release=True, allow_zero_noise=True
        )
        assert calibration.scale == 0
        assert "the same under every hypothesis" in calibration.witness.comparison
        assert "no noise is needed" in calibration.witness.detail
        raised = tf.calibrate(framework, tf.Sum("y"), 1, delta=DELTA, mechanism=mechanism, single_release=True)
        assert raised.witness.detail == "the belief alone asks for no noise"


@pytest.mark.mutants
@settings(max_examples=15)
@given(st.lists(st.integers(-3, 3), min_size=9, max_size=9), st.sampled_from([0.5, 2.0, 5.0]))
def test_vectors_are_hidden_in_the_direction_that_tells_most(numbers, epsilon):
    root = np.array(numbers).reshape(3, 3)
    covariance = root @ root.T + np.diag([1, 0, 0])
    belief = tf.MultivariateNormal([0] * 3, covariance.tolist(), ["x", "y", "z"], 4)
    framework = tf.Pufferfish(tf.dataset_property("x", "sum", max_difference=6), belief)
    query = tf.JointQuery([tf.Sum("y"), tf.Linear([0, 1, 2])])
    slope, residual = of_all_records(covariance, 4, [[0, 1, 0], [0, 1, 2]], [[1, 0, 0]])
    shift = slope[:, 0] * 6
    if not shift.any():
        return
    for mechanism in (EXACT, PRINTED):
        rows = {row.name: row for row in compared(framework, query, epsilon, 1e-3)}
        if rows[mechanism].scale is None:
            continue
        total = residual + np.eye(2) * rows[mechanism].scale ** 2
        distance = math.sqrt(shift @ np.linalg.pinv(total) @ shift)
        delta = hockey_stick(normal_density(0, 1), normal_density(distance, 1), epsilon, -9, 9 + distance, cells=200)
        assert delta <= 1e-3 + 1e-9
        if mechanism == EXACT and rows[mechanism].scale:
            assert delta == pytest.approx(1e-3, abs=1e-7)


def test_a_vector_of_attributes_is_judged_at_its_corners():
    belief = tf.MultivariateNormal([0] * 3, [[2, 1, 1], [1, 2, -1], [1, -1, 9]], ["a", "b", "c"], 10)
    framework = tf.Pufferfish(tf.dataset_property(["a", "b"], "sum", max_difference=[3, 4]), belief)
    added = variance(framework, tf.Sum("c"), delta=1e-3)
    slope, residual = of_all_records([[2, 1, 1], [1, 2, -1], [1, -1, 9]], 10, [[0, 0, 1]], [[1, 0, 0], [0, 1, 0]])
    moves = [abs(float(slope[0] @ np.array([3, sign * 4]))) for sign in (1, -1)]
    total = float(residual[0, 0]) + added
    reach = 12 * math.sqrt(total)
    exact = hockey_stick(normal_density(0, total), normal_density(max(moves), total), 1, -reach, reach, cells=200)
    assert exact == pytest.approx(1e-3, abs=1e-9)


def test_beliefs_form_a_class_and_are_not_compared_with_each_other():
    """Ours is the largest need of one belief; printed takes the largest shift and the least variance of all (Theta)."""
    beliefs = [two("0.9", source="one"), two("0.2", source="other")]
    both = tf.Pufferfish(tf.dataset_property("x", "mean", max_difference=2), beliefs)
    each = [variance(hides(belief=belief, max_difference=2), tf.Mean("y"), PRINTED) for belief in beliefs]
    assert variance(both, tf.Mean("y"), PRINTED) == max(each)
    calibration = tf.calibrate(both, tf.Mean("y"), epsilon=1, delta=DELTA, mechanism=PRINTED, single_release=True)
    assert dict(calibration.witness.numbers)["printed_variance"] >= max(each) * (1 - 1e-9)


@pytest.mark.mutants
def test_pairs_of_values_are_compared_as_they_are():
    near = variance(hides(pairs=[(0, 1)]), tf.Sum("x"))
    assert near == variance(hides(max_difference=1), tf.Sum("x"))
    assert variance(hides(pairs=[(0, 1), (7, 4)]), tf.Sum("x")) == variance(hides(max_difference=3), tf.Sum("x"))


SUM = two("0.7", 4)  # the sums have variance 4 and covariance 2.8


@pytest.mark.mutants
@pytest.mark.parametrize("sets", [
    [(None, 0), (0, None)],
    [(None, -1), (1, 3), (4, None)],
    [(None, 1), (2, None)],
    [[(None, -2), (2, None)], (-2, 2)],
])  # fmt: skip
def test_intervals_of_values_are_compared_as_mixtures(sets):
    framework = tf.Pufferfish(tf.dataset_property("x", "sum", sets=sets), SUM)
    added = variance(framework, tf.Sum("y"), delta=1e-3)
    residual = Fraction(4) - Fraction("1.96") + Fraction(added)
    laws = [given_sets(s if isinstance(s, list) else [s], Fraction(7, 10), 0, 4, residual) for s in sets]
    reach = 9 * math.sqrt(4 + added)
    worst = max(hockey_stick(p, q, 1, -reach, reach, 150) for p in laws for q in laws if p is not q)
    assert worst == pytest.approx(1e-3, abs=1e-9)
    rows = {row.name: row for row in tf.compare(framework, tf.Sum("y"), epsilon=1, delta=1e-3)}
    assert "are others" in rows[PRINTED].reason


def test_half_lines_are_refused_for_vectors_and_hidden_where_nothing_is_told():
    framework = tf.Pufferfish(tf.dataset_property("x", "sum", sets=[(None, 0), (0, None)]), SUM)
    rows = {row.name: row for row in tf.compare(framework, tf.JointQuery([tf.Sum("y")] * 2), epsilon=1, delta=1e-3)}
    assert "several numbers" in rows[EXACT].reason
    alone = tf.Pufferfish(tf.dataset_property("x", "sum", sets=[(None, 0), (0, None)]), two(0, 4))
    assert variance(alone, tf.Sum("y")) == 0


@pytest.mark.mutants
def test_finite_sets_are_never_compared_by_their_means():
    """Errata X1: F given g = a is N(a, 1); {-10, 10} against {0} has equal means, and an exact delta of .9999987."""
    belief = tf.MultivariateNormal([0, 0], [[1, 1], [1, 2]], ["g", "f"], 2)
    secret = tf.dataset_property("g", "sum", sets=[[-10, 10], [0]])
    framework = tf.Pufferfish(secret, belief)
    calibration = tf.calibrate(framework, tf.Sum("f"), epsilon=1, delta=1e-3, mechanism=EXACT, single_release=True)
    added = float(calibration.scale) ** 2
    by_value = variance(framework, tf.Sum("f"), PRINTED, delta=1e-3)
    total = 2 + Fraction(added)
    laws = mixture([1, 1], [-10, 10], total), mixture([1], [0], total)
    reach = 10 + 9 * math.sqrt(total)
    worst = max(hockey_stick(p, q, 1, -reach, reach) for p, q in (laws, laws[::-1]))
    assert worst == pytest.approx(1e-3, abs=1e-9)
    assert added < by_value
    assert by_value == pytest.approx(printed_variance(10, 2, 1, 1e-3), rel=1e-9)
    assert dict(calibration.witness.numbers)["exact_delta"] <= 1e-3


@pytest.mark.mutants
def test_a_parameter_of_the_population_is_another_thing_than_the_sample():
    """The mean of the population leaves the whole variance of the answer as credit; a variance has two laws."""
    belief = tf.MultivariateNormal([0, 0], [[4, 0], [0, 1]], ["x", "y"], 10)
    mean = tf.Pufferfish(tf.distribution_parameter("x", interval=(0, 3), map="mean"), belief)
    added = variance(mean, tf.Mean("x"))
    sample = variance(hides(belief=belief, max_difference=3), tf.Mean("x"))
    assert added == pytest.approx(sample - 4 / 10, rel=1e-9)
    assert variance(mean, tf.Mean("y")) == 0
    spread = tf.Pufferfish(tf.distribution_parameter("x", values=[4, 1], map="variance"), belief)
    added = variance(spread, tf.Sum("x"), delta=1e-3)
    laws = normal_density(0, 40 + added), normal_density(0, 10 + added)
    reach = 11 * math.sqrt(40 + added)
    worst = max(hockey_stick(p, q, 1, -reach, reach) for p, q in (laws, laws[::-1]))
    assert worst == pytest.approx(1e-3, abs=1e-9)
    tangled = tf.Pufferfish(tf.distribution_parameter("x", values=[4, 1], map="variance"), two("0.5"))
    rows = {row.name: row for row in tf.compare(tangled, tf.Linear([1, 1]), epsilon=1, delta=1e-3)}
    assert "correlated" in rows[EXACT].reason


def test_one_record_is_hidden_by_all_the_others():
    framework = tf.Pufferfish(tf.every_entry("x", max_difference=4), two("0.5", 3))
    assert framework.definition == "pufferfish"
    slope, residual = of_all_records([[1, 0.5], [0.5, 1]], 3, [[0, 1]], [[1, 0]], single=True)
    added = variance(framework, tf.Sum("y"))
    total, shift = float(residual[0, 0]) + added, 4 * float(slope[0, 0])
    laws = normal_density(0, total), normal_density(shift, total)
    assert hockey_stick(*laws, 1, -90, 90, 800) == pytest.approx(DELTA, abs=1e-9)


def test_mechanisms_of_finite_laws_hide_the_shift_without_credit():
    framework = hides(belief=two("0.9", 4), max_difference=3)
    rows = {row.name: row for row in tf.compare(framework, tf.Mean("y"), epsilon=2, delta=DELTA)}
    assert rows["wasserstein"].scale == pytest.approx(2.7 / 2, rel=1e-9)
    assert rows["gaussian-exact"].scale > rows[EXACT].scale
    assert "real number" in rows["optimal"].reason
    assert "nothing bounds" in rows["group-dp"].reason
    bounded = hides(belief=two("0.9", 4, ranges={"y": (-5, 5)}), max_difference=3)
    rows = {row.name: row for row in tf.compare(bounded, tf.Mean("y"), epsilon=2, delta=DELTA)}
    assert rows["group-dp"].scale == pytest.approx(10 / 2, rel=1e-3)
