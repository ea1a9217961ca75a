"""Noise for answers whose densities are stated: normal noise of the least size, and what W-infinity gives."""

from dataclasses import replace
from fractions import Fraction as F

import pytest
from mpmath import mp

import takifugu as tf
from takifugu.analysis.problem import Problem
from takifugu.mechanisms import gaussian_exact, laplace_exact, normal_by_rule, wasserstein, wasserstein_delta
from takifugu.numbers import Bates, PiecewiseLinear
from takifugu.numbers.after_noise.gaussian import PRINTED_CONSTANT, gaussian_analytic_sigma, gaussian_rule_b

UNEQUAL = {0: tf.Normal(0, 1), 1: tf.Normal(1, 2)}
MIXED = {
    0: tf.NormalMixture([0.5, 0.5], [0, 2], [1, 1.5]), 1: tf.NormalMixture([0.25, 0.75], [0, 2], [1, 1.5]),
    2: tf.NormalMixture([0.25, 0.75], [1, 3], [1, 1.5]),
}  # fmt: skip
CUT = {0: PiecewiseLinear([0, 1, 2], [0, 1, 0]), 1: tf.Truncated(tf.Normal(1, 1), low=0, high=3)}
SUMS = {0: Bates(3, 0, 6), 1: Bates(3, 1, 9)}


def bound(mechanism, given, epsilon=1, delta="0.00001", **secret):
    hidden = tf.dataset_property("income", "mean", **secret)
    framework = tf.Pufferfish(hidden, tf.Density("income", "mean", given))
    return mechanism.bound(Problem(framework, tf.Identity(), F(epsilon), F(delta)))


def delta_of_normals(first, second, epsilon):
    """Return the divergence of N(m, d^2) from N(m', d'^2) by the roots of the log-ratio, d and d' different."""
    (m, d), (other, spread) = first, second
    square = (1 / spread**2 - 1 / d**2) / 2
    line = m / d**2 - other / spread**2
    constant = (other / spread) ** 2 / 2 - (m / d) ** 2 / 2 + mp.log(spread / d) - epsilon
    discriminant = line**2 - 4 * square * constant
    if discriminant <= 0:
        return mp.mpf(0)  # the first nowhere exceeds e^epsilon times the second
    root = mp.sqrt(discriminant)
    low, high = sorted(((-line - root) / (2 * square), (-line + root) / (2 * square)))

    def inside(mean, deviation):
        return mp.ncdf((high - mean) / deviation) - mp.ncdf((low - mean) / deviation)

    factor = mp.exp(epsilon)
    between = inside(m, d) - factor * inside(other, spread)
    return between if square < 0 else 1 - factor - between


@pytest.mark.sampled(2)
@pytest.mark.parametrize(("epsilon", "delta"), [(F(1), F(1, 10**5)), (F(1, 2), F(1, 1000)), (F(3), F(1, 10**9))])
def test_unequal_variances_need_what_mpmath_says(epsilon, delta):
    sigma = bound(gaussian_exact.MECHANISM, UNEQUAL, epsilon, delta).randomiser.scale
    with mp.workdps(30):
        noise = mp.mpf(sigma.numerator) / sigma.denominator

        def delta_at(noise):
            one, other = (0, mp.sqrt(1 + noise**2)), (1, mp.sqrt(4 + noise**2))
            exponent = mp.mpf(epsilon.numerator) / epsilon.denominator
            return max(delta_of_normals(one, other, exponent), delta_of_normals(other, one, exponent))

        assert delta_at(noise) <= mp.mpf(delta.numerator) / delta.denominator < delta_at(noise * (1 - mp.mpf("1e-9")))
    if (epsilon, delta) == (1, F(1, 10**5)):
        assert float(sigma) == pytest.approx(6.6455280174, rel=1e-10)


def test_shifted_normals_need_the_analytic_noise_less_their_own():
    sigma = bound(gaussian_exact.MECHANISM, {0: tf.Normal(0, 2), 1: tf.Normal(3, 2)}).randomiser.scale
    assert float(sigma) ** 2 + 4 == pytest.approx((3 * gaussian_analytic_sigma(1, 1, 1e-5)) ** 2, rel=1e-9)


@pytest.mark.mutants
def test_theorem_3_as_printed_stands_beside_the_corrected_one():
    corrected = bound(normal_by_rule.RULE_B, SUMS)
    numbers = dict(corrected.witness.numbers)
    move, printed = numbers["w_infinity"], numbers["printed_sigma"]
    assert move == pytest.approx(3, rel=2e-6)
    assert printed == pytest.approx(gaussian_rule_b(F(move), F(1), F(1, 10**5), PRINTED_CONSTANT))
    assert float(corrected.randomiser.scale) > printed
    analytic = bound(normal_by_rule.ANALYTIC, SUMS).randomiser.scale
    assert float(analytic) == pytest.approx(move * gaussian_analytic_sigma(1, 1, 1e-5), rel=1e-9)


@pytest.mark.mutants
@pytest.mark.parametrize(("mechanism", "delta"), [
    (gaussian_exact.MECHANISM, F(1, 1000)), (wasserstein_delta.MECHANISM, F(1, 20)),
])  # fmt: skip
def test_cut_and_drawn_densities_keep_their_delta_and_less_normal_noise_is_noticed(mechanism, delta):
    framework = tf.Pufferfish(tf.dataset_property("income", "mean"), tf.Density("income", "mean", CUT))
    noise = bound(mechanism, CUT, F(1, 2), delta).randomiser
    assert tf.exact_delta(framework, F(1, 2), tf.Identity(), noise).upper <= delta + 1e-11  # what the audit leaves open
    if mechanism is gaussian_exact.MECHANISM:
        less = replace(noise, scale=noise.scale * F(99, 100))
        assert tf.exact_delta(framework, F(1, 2), tf.Identity(), less).lower > delta


@pytest.mark.mutants
def test_laplace_noise_gives_unequal_deviations_a_pure_promise():
    framework = tf.Pufferfish(tf.dataset_property("income", "mean"), tf.Density("income", "mean", UNEQUAL))
    noise = bound(laplace_exact.MECHANISM, UNEQUAL, 1, 0).randomiser
    assert float(noise.scale) == pytest.approx((1 + 7**0.5) / 2, rel=1e-4)
    assert tf.exact_delta(framework, 1, tf.Identity(), noise).lower <= 1e-15
    less = replace(noise, scale=noise.scale * F(9, 10))
    assert tf.exact_delta(framework, 1, tf.Identity(), less).lower > 1e-9


@pytest.mark.mutants
def test_only_what_is_compared_counts():
    near = bound(wasserstein.MECHANISM, MIXED, 1, 0, pairs=[(1, 2)]).witness
    assert dict(near.numbers)["w_infinity"] == 1.0
    far = bound(wasserstein.MECHANISM, MIXED, 1, 0).witness
    assert dict(far.numbers)["w_infinity"] > 1.5
    assert far.comparison.startswith("the mean of 'income' is 0 against")
