"""Normal noise for nearly normal answers: the corrected Theorem 3 of Zhang22, and what the printed one promises."""

import math
from dataclasses import replace
from fractions import Fraction as F

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from mpmath import mp
from tests.support import density_oracles as oracle

import takifugu as tf
from takifugu.analysis.bounds import Refusal
from takifugu.analysis.problem import Problem
from takifugu.analysis.randomisers import Exact, RoundedNormal
from takifugu.mechanisms.attribute.gaussian_approx import MECHANISM, Split
from takifugu.numbers import Bates
from takifugu.numbers.after_noise.gaussian import gaussian_analytic_sigma
from takifugu.numbers.densities.excess import charge_at

HIDDEN = tf.dataset_property("income", "mean")
NAME = "attribute-gaussian-approx"


def framework(given, secret=HIDDEN, **more):
    return tf.Pufferfish(secret, tf.Density("income", "mean", given, **more))


def mixtures(move=1.0, spread=1.5):
    return {a: tf.NormalMixture([0.25, 0.75], [a * move, a * move + 0.5], [spread, spread]) for a in (0, 1, 2)}


def bound(about, epsilon=1, delta=0.01):
    return MECHANISM.bound(Problem(about, tf.Identity(), F(epsilon), F(delta)))


CASES = {
    "mixtures": framework(mixtures()),
    "uniform sums": framework({a: Bates(6, a, a + 4) for a in (0, 1)}),
    "a normal one cut": framework({0: tf.Truncated(tf.Normal(0, 2), high=6), 1: tf.Normal(0.5, 2)}),
}


@pytest.mark.mutants
@pytest.mark.parametrize(("epsilon", "delta"), [(0.5, 0.06), (2, 0.02)])
@pytest.mark.parametrize("name", CASES)
def test_it_keeps_its_promise(name, epsilon, delta):
    bounded = bound(CASES[name], epsilon, delta)
    audit = tf.exact_delta(CASES[name], epsilon, tf.Identity(), bounded.randomiser)
    assert audit.upper <= delta


def test_references_that_are_right_cost_nothing():
    shift = framework({0: tf.Normal(0, 2), 1: tf.Normal(3, 2)})
    bounded = bound(shift, 1, "0.00001")
    total = 3 * gaussian_analytic_sigma(1, 1, 1e-5)
    assert math.isclose(float(bounded.randomiser.scale), math.sqrt(total**2 - 4), rel_tol=1e-9)
    assert dict(bounded.witness.numbers)["eta"] == 0
    assert bounded.witness.comparison.startswith("the mean of 'income' is 0 against")


@pytest.mark.parametrize(("epsilon", "delta", "move"), [
    (2, F(1, 1000), 3), (F(1, 2), F(1, 100), -1), (4, F(1, 10**6), 3),
])  # fmt: skip
def test_its_witness_says_what_the_printed_algorithm_would_take(epsilon, delta, move):
    shift = framework({0: tf.Normal(0, 2), 1: tf.Normal(move, 2)})
    numbers = dict(bound(shift, epsilon, delta).witness.numbers)
    classical = math.sqrt(2 * math.log(1.25 / delta)) * abs(move) / epsilon
    assert numbers["difference of their means"] == abs(move)
    assert numbers["sigma of Algorithm 2"] == pytest.approx(math.sqrt(max(0, classical**2 - 4)))
    assert (numbers["eta"], numbers["lambda"]) == (0, 0)
    assert numbers["epsilon of the references"] == pytest.approx(float(epsilon))
    assert numbers["delta of the references"] == pytest.approx(float(delta))


@pytest.mark.mutants
def test_signs_and_places_do_not_matter():
    mirrored = {-a: tf.NormalMixture(d.weights, [-m for m in d.means], d.deviations) for a, d in mixtures().items()}
    moved = {a: tf.NormalMixture(d.weights, [m + 7 for m in d.means], d.deviations) for a, d in mixtures().items()}
    first, *others = (bound(framework(given)).randomiser.scale for given in (mixtures(), mirrored, moved))
    for other in others:
        assert math.isclose(first, other, rel_tol=1e-8)


@pytest.mark.mutants
def test_what_is_compared_is_what_the_secret_says():
    far = bound(framework(mixtures())).randomiser.scale
    near = bound(framework(mixtures(), replace(HIDDEN, max_difference=(F(1),)))).randomiser.scale
    one = bound(framework(mixtures(), replace(HIDDEN, pairs=((F(0), F(1)),)))).randomiser.scale
    sets = bound(framework(mixtures(), replace(HIDDEN, sets=((F(0), F(2)), (F(1),))))).randomiser
    assert far > near > 0
    assert math.isclose(near, one, rel_tol=1e-9)
    assert math.isclose(near, sets.scale, rel_tol=1e-9)


def test_where_nothing_depends_on_it_there_is_no_noise():
    same = framework({0: tf.Normal(1, 2), 1: tf.Normal(1, 2)})
    bounded = bound(same)
    assert bounded.randomiser == Exact(bounded.randomiser.grid, 1, on_grid=False)
    assert "no comparison" in bounded.witness.comparison
    assert tf.calibrate(same, tf.Identity(), 1, 0.01).witness.detail == "the belief alone asks for no noise"


@pytest.mark.mutants
def test_the_printed_theorem_fails_and_the_corrected_one_holds():
    """Errata E8b: the upper 0.05 of the second distribution is cut away; Algorithm 2 adds no noise."""
    s = 4.8448
    cut = framework(
        {0: tf.Truncated(tf.Normal(0, s), high=7.969), 1: tf.Normal(1, s)},
        references={0: tf.Normal(0, s), 1: tf.Normal(1, s)},
    )
    epsilon, eta = 1, charge_at(tf.Truncated(tf.Normal(0, s), high=7.969), tf.Normal(0, s), 0.0)
    assert round(eta, 4) == 0.05
    assert 2 * math.log(1.25 / 1e-5) <= s**2 * (1 + 1e-5)  # (c D / epsilon)^2 - s^2 is nothing
    exact = tf.exact_delta(cut, epsilon, tf.Identity(), Exact(F(1, 1000), 1, on_grid=False)).loss
    assert round(exact, 5) == 0.07515
    assert exact > 1e-5 + eta  # what the printed theorem promises, with lambda = 0
    corrected = 1e-5 + eta * (1 + math.exp(epsilon))
    assert exact <= corrected
    assert round(corrected, 4) == 0.1859
    assert isinstance(bound(cut, epsilon, "0.05001"), Refusal)
    assert bound(cut, epsilon, "0.187").randomiser.kind == "none"


@pytest.mark.mutants
@given(oracle.densities, oracle.densities, st.floats(0, 1), st.floats(0.1, 2))
@settings(max_examples=15)
def test_the_inequality_of_the_corrected_theorem(one, other, closeness, epsilon):
    """For any densities and any references of one variance; noise would only be another density."""
    spread = (one.deviation + other.deviation) / 2
    first, second = tf.Normal(one.mean, spread), tf.Normal(other.mean, spread)
    eta = max(charge_at(one, first, closeness), charge_at(other, second, closeness))
    delta = oracle.hockey_stick(first, second, epsilon)
    allowed = math.exp(closeness) * delta + eta * (1 + math.exp(epsilon + closeness))
    assert oracle.hockey_stick(one, other, epsilon + 2 * closeness) <= allowed + 1e-8


@given(
    st.floats(0, 1.5), st.floats(0, 0.1), st.fractions(F(1, 10), 3), st.fractions(F(1, 100), F(1, 2))
)
@settings(max_examples=40)
def test_a_split_spends_no_more_than_there_is(closeness, charge, epsilon, delta):
    split = Split.at(closeness, charge, epsilon, delta)
    if split is None:
        assert epsilon <= 2 * F(closeness) or charge > 0
        return
    assert split.epsilon + 2 * F(closeness) == epsilon
    with mp.workdps(40):
        share, left = (mp.mpf(number.numerator) / number.denominator for number in (split.delta, split.epsilon))
        spent = mp.exp(closeness) * share + mp.mpf(charge) * (1 + mp.exp(left + closeness))
        assert spent <= mp.mpf(delta.numerator) / delta.denominator <= spent * (1 + mp.mpf(10) ** -11)


@pytest.mark.mutants
def test_noise_and_grid_are_as_declared():
    calibration = tf.calibrate(CASES["mixtures"], tf.Identity(grid="0.01"), 1, "0.01", mechanism=NAME)
    assert calibration.randomiser == RoundedNormal(calibration.randomiser.scale, F(1, 100), 1, on_grid=False)
    assert tf.calibrate(CASES["mixtures"], tf.Identity(), 1, "0.01").randomiser.grid == F(1, 10**6)
