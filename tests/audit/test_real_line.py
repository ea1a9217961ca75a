"""The audit of real-valued answers: closed forms, another quadrature, point masses after noise, and narrow peaks."""

import math
from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from mpmath import mp
from tests.support import density_oracles as oracle

import takifugu as tf
from takifugu.analysis.randomisers import DiscreteLaplace, Exact, RoundedLaplace, RoundedNormal
from takifugu.audit.curves import curve, with_laplace
from takifugu.audit.real_line import DIGITS, divergence
from takifugu.core.errors import Unsupported
from takifugu.numbers import Bates
from takifugu.numbers.after_noise.gaussian import gaussian_delta

STEP = Fraction(1, 10**6)


def hides(given):
    return tf.Pufferfish(tf.dataset_property("income", "mean"), tf.Density("income", "mean", given))


def noise(sigma):
    return RoundedNormal(Fraction(sigma), STEP, 1, on_grid=False) if sigma else Exact(STEP, 1, on_grid=False)


@pytest.mark.parametrize(("shift", "deviation", "added", "epsilon"), [(1, 2, 1, 1), (3, 1, 0, 0.5), (2, 4, 3, 0.1)])
def test_a_shift_has_the_closed_form(shift, deviation, added, epsilon):
    audit = tf.exact_delta(
        hides({0: tf.Normal(0, deviation), 1: tf.Normal(shift, deviation)}), epsilon, tf.Identity(), noise(added)
    )
    assert math.isclose(audit.loss, gaussian_delta(shift, math.hypot(deviation, added), epsilon), abs_tol=1e-13)
    assert audit.lower <= audit.loss <= audit.upper
    assert "the mean of 'income' is" in audit.comparison


def test_unequal_variances_have_one_side():
    audit = tf.exact_delta(hides({0: tf.Normal(0, 2), 1: tf.Normal(0, 1)}), 1, tf.Identity(), noise(0))
    assert round(audit.loss, 4) == 0.1967
    assert audit.comparison == "the mean of 'income' is 0 against the mean of 'income' is 1"


@pytest.mark.slow
@given(oracle.audited, oracle.audited, st.floats(0, 2))
@settings(max_examples=8)
def test_without_noise_it_is_the_divergence_of_the_densities(p, q, epsilon):
    with mp.workdps(DIGITS):
        low, high, _ = divergence(*_curves(p, q, 0), mp.exp(epsilon))
    assert low - 1e-9 <= oracle.hockey_stick(p, q, epsilon) <= high + 1e-9
    assert high - low < 1e-3


@pytest.mark.slow
@given(oracle.audited, oracle.audited, st.floats(0.5, 2), st.floats(0, 2))
@settings(max_examples=6)
def test_with_noise_it_is_that_of_many_point_masses(p, q, sigma, epsilon):
    with mp.workdps(DIGITS):
        low, high, _ = divergence(*_curves(p, q, sigma), mp.exp(epsilon))
    assert low - 2e-4 <= oracle.noisy_hockey_stick(p, q, sigma, epsilon) <= high + 2e-4
    assert high - low < 1e-3


@pytest.mark.slow
def test_narrow_peaks_are_not_missed():
    """Three peaks of width 1 in a range of 2e7, each moved by 5: nodes that miss them find .00096."""
    far = 1e7
    laws = {a: tf.NormalMixture([0.001, 0.998, 0.001], [-far + 5 * a, far / 7 + 5 * a, far + 5 * a], [1.0] * 3)
            for a in (0, 1)}  # fmt: skip
    audit = tf.exact_delta(hides(laws), 1, tf.Identity(), noise("1/2"))
    alone = gaussian_delta(5, math.sqrt(1.25), 1)
    assert audit.lower <= alone <= audit.upper
    assert audit.upper - audit.lower < 1e-9


@pytest.mark.slow
def test_what_cannot_be_enclosed_closely_is_still_enclosed():
    """Densities whose ratio is e^epsilon nearly everywhere leave cells open, which count for the upper end."""
    two = {a: tf.NormalMixture([0.5, 0.5], [a, a + 1], [1.0, 1.0]) for a in (0, 1)}
    audit = tf.exact_delta(hides(two), 1, tf.Identity(), RoundedLaplace(Fraction(1), STEP, 1, on_grid=False))
    assert audit.lower < 1e-9 < audit.upper < 1e-2


@pytest.mark.slow
@pytest.mark.sampled(3)
@pytest.mark.parametrize("described", [
    Bates(5, -1, 2), tf.Truncated(tf.Normal(0, 1), -1, 2), tf.NormalMixture([0.5, 0.5], [0, 2], [1, 0.5]),
])  # fmt: skip
@pytest.mark.parametrize("sigma", [0, 0.5])
def test_bounds_and_masses_of_cells_are_those_of_the_density(described, sigma):
    with mp.workdps(DIGITS):
        density = curve(described.to_dict(), sigma)
        for left, right in ((-0.9, -0.2), (-0.2, 0.3), (0.1, 1.9)):
            least, most = density.bounds(mp.mpf(left), mp.mpf(right))
            heights = [density.at(left + (right - left) * mp.mpf(k) / 50) for k in range(51)]
            assert least <= min(heights) <= max(heights) <= most
            mass = mp.quad(density.at, [left + (right - left) * mp.mpf(k) / 5 for k in range(6)])
            assert math.isclose(density.mass(mp.mpf(left), mp.mpf(right)), mass, rel_tol=1e-4)
        everything = density.mass(min(density.ends), max(density.ends))
        assert math.isclose(everything, 1, abs_tol=1e-14)


def _curves(p, q, sigma):
    return curve(p.to_dict(), sigma), curve(q.to_dict(), sigma)


@pytest.mark.slow
@pytest.mark.sampled(3)
@pytest.mark.parametrize("sigma", [Fraction(1, 20), 2])
@pytest.mark.parametrize("described", [
    Bates(5, -1, 2).to_dict(), tf.Truncated(tf.Normal(0, 1), -1, 2).to_dict(),
    tf.Truncated(tf.NormalMixture([0.5, 0.5], [0, 2], [1, 0.5]), low=1).to_dict(),
])  # fmt: skip
def test_a_noisy_density_is_the_convolution(described, sigma):
    with mp.workdps(DIGITS):
        noisy, height, s = (
            curve(described, mp.mpf(sigma.numerator) / sigma.denominator),
            oracle.height(described),
            float(sigma),
        )
        ends = sorted(x for x in oracle._kinks(described))
        for y in (-1.01, 1.9):
            cells = sorted({*ends, *(y + s * k for k in range(-8, 9) if ends[0] < y + s * k < ends[-1])})
            by_parts = mp.quad(lambda x, y=y: height(x) * mp.npdf(y, x, s), cells)
            assert math.isclose(noisy.at(mp.mpf(y)), by_parts, rel_tol=1e-9, abs_tol=1e-15)


@pytest.mark.mutants
@pytest.mark.parametrize(("s", "b"), [(0.5, 1), (2, 0.5), (0, 1)])
def test_a_normal_density_with_laplace_noise_is_the_convolution(s, b):
    with mp.workdps(DIGITS):
        noisy_density = with_laplace({"kind": "normal", "mean": 1, "deviation": s}, b)
        for y in (-3, 1.2, 4):
            if s:
                noisy = mp.quad(lambda x, y=y: mp.npdf(x, 1, s) * mp.exp(-abs(y - x) / b) / (2 * b),
                                sorted([y, *(1 + s * k for k in range(-12, 13, 2))]))  # fmt: skip
            else:
                noisy = mp.exp(-abs(y - mp.mpf(1)) / b) / (2 * b)
            assert math.isclose(noisy_density.at(mp.mpf(y)), noisy, rel_tol=1e-9)


@pytest.mark.slow
@pytest.mark.sampled(4)
@pytest.mark.parametrize("b", [0.05, 0.7, 5])
@pytest.mark.parametrize("count", [1, 2, 12])
def test_a_mean_of_uniform_numbers_with_laplace_noise_is_the_convolution(count, b):
    described = Bates(count, 1, 3).to_dict()
    with mp.workdps(20):
        height, noisy = oracle.height(described), with_laplace(described, b)
        kinks = [1 + 2 * mp.mpf(k) / count for k in range(count + 1)]
        for y in (-1, 0.9, 1.5, 2, 3.3):
            cells = sorted({*kinks, min(max(mp.mpf(y), 1), 3)})
            by_parts = mp.quad(lambda x, y=y: height(x) * mp.exp(-abs(y - x) / b) / (2 * b), cells)
            assert math.isclose(noisy.at(mp.mpf(y)), by_parts, rel_tol=1e-9)
        beyond = mp.quad(noisy.at, [mp.mpf("2.2"), 3, 3 + 5 * b, 3 + 42 * b])
        assert math.isclose(noisy.mass(mp.mpf("2.2"), mp.mpf(3 + 42 * b)), beyond, rel_tol=1e-7)


def test_laplace_noise_on_normal_answers_is_as_pure_as_on_numbers():
    shift = hides({0: tf.Normal(0, 1), 1: tf.Normal(2, 1)})
    enough, less = (RoundedLaplace(Fraction(b), STEP, 1, on_grid=False) for b in ("2", "1.5"))
    assert tf.exact_delta(shift, 1, tf.Identity(), enough).upper < 1e-11
    assert tf.exact_delta(shift, 1, tf.Identity(), less).lower > 1e-4


BODY = tf.MultivariateNormal([170, 70], [[49, 40], [40, 144]], names=["height", "weight"], records=4)


@pytest.mark.parametrize("secret", [
    tf.dataset_property("weight", "mean", max_difference=3), tf.dataset_property("weight", "sum", pairs=[(1, 14)]),
    tf.every_entry("weight", max_difference=20), tf.distribution_parameter("height", values=[168, 171]),
])  # fmt: skip
def test_normal_records_against_the_closed_form(secret):
    slope, variance, move = {
        "dataset-property": (40 / 144, (49 - 40**2 / 144) / 4, None), "every-entry": (40 / 144 / 4, 49 / 4, 20),
        "distribution-parameter": (1, 49 / 4, 3),
    }[secret.to_dict()["kind"]]  # fmt: skip
    if move is None:
        move = 3 if secret.max_difference else 13 / 4
    if secret.to_dict()["kind"] == "every-entry":
        variance -= 40**2 / 144 / 16
    audit = tf.exact_delta(tf.Pufferfish(secret, BODY), 0.5, tf.Mean("height"), noise(1))
    assert math.isclose(audit.loss, gaussian_delta(slope * move, math.sqrt(variance + 1), 0.5), abs_tol=1e-12)


@pytest.mark.slow
def test_half_lines_of_normal_records():
    """Against 2 phi(y) Phi(+-c y), c = .7/sqrt(1 - .49), the densities of y given each half-line."""
    pair = tf.MultivariateNormal([0, 0], [[1, "0.7"], ["0.7", 1]], names=["x", "y"], records=2)
    sides = tf.Pufferfish(tf.dataset_property("x", "mean", sets=[(None, 0), (0, None)]), pair)
    slope = 0.7 / math.sqrt(0.51)
    excess = lambda y: 2 * mp.npdf(y) * (mp.ncdf(slope * y) - mp.e * mp.ncdf(-slope * y))  # noqa: E731
    root = mp.findroot(lambda y: mp.ncdf(slope * y) - mp.e * mp.ncdf(-slope * y), 0.5)
    exact = mp.quad(excess, [root, root + 2, 5, 12])
    assert math.isclose(tf.exact_delta(sides, 1, tf.Mean("y"), noise(0)).loss, exact, abs_tol=1e-9)
    mirrored = tf.Pufferfish(tf.dataset_property("x", [-1], sets=[(None, 0), (0, None)]), pair)
    assert math.isclose(tf.exact_delta(sides, 1, tf.Mean("y"), noise(1)).loss,
                        tf.exact_delta(mirrored, 1, tf.Mean("y"), noise(1)).loss, abs_tol=1e-12)  # fmt: skip


def test_what_it_does_not_know():
    framework = hides({0: tf.Normal(0, 2), 1: tf.Normal(0, 1)})
    with pytest.raises(Unsupported, match="normal and Laplace noise"):
        tf.exact_delta(framework, 1, tf.Identity(), DiscreteLaplace(Fraction(1), STEP))
    assert tf.exact_loss(framework, tf.Identity(), noise(1)).upper == math.inf
    cut = hides({0: tf.Truncated(Bates(2, 0, 1), high=0.8), 1: tf.Normal(0, 1)})
    with pytest.raises(Unsupported, match="that is cut"):
        tf.exact_delta(cut, 1, tf.Identity(), noise(1))
    tails = tf.dataset_property("weight", "mean", sets=[[(None, 60), (80, None)], (60, 80)])
    with pytest.raises(Unsupported, match="sets of one interval"):
        tf.exact_delta(tf.Pufferfish(tails, BODY), 1, tf.Mean("height"), noise(1))
