"""The audit of real-valued answers: closed forms, another quadrature, and point masses after noise."""

from __future__ import annotations

import math
from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from mpmath import mp
from tests.support import density_oracles as oracle

import takifugu as tf
from takifugu.audit import true_delta, true_loss
from takifugu.audit.curves import curve
from takifugu.audit.real_line import DIGITS, divergence
from takifugu.errors import Unsupported
from takifugu.laws.gaussian import gaussian_delta
from takifugu.randomisers import Exact, RoundedLaplace, RoundedNormal

STEP = Fraction(1, 10**6)


def hides(given):
    return tf.Pufferfish(tf.dataset_property("income", "mean"), tf.Density("income", "mean", given))


def noise(sigma):
    return RoundedNormal(Fraction(sigma), STEP, 1, on_grid=False) if sigma else Exact(STEP, 1, on_grid=False)


@pytest.mark.parametrize(("shift", "own", "added", "epsilon"), [(1, 2, 1, 1), (3, 1, 0, 0.5), (2, 4, 3, 0.1)])
def test_a_shift_has_the_closed_form(shift, own, added, epsilon):
    audit = true_delta(hides({0: tf.Normal(0, own), 1: tf.Normal(shift, own)}), epsilon, tf.Identity(), noise(added))
    assert math.isclose(audit.loss, gaussian_delta(shift, math.hypot(own, added), epsilon), abs_tol=1e-13)
    assert audit.lower <= audit.loss <= audit.upper
    assert "the mean of 'income' is" in audit.comparison


def test_unequal_variances_have_one_side():
    audit = true_delta(hides({0: tf.Normal(0, 2), 1: tf.Normal(0, 1)}), 1, tf.Identity(), noise(0))
    assert round(audit.loss, 4) == 0.1967
    assert audit.comparison == "the mean of 'income' is 0 against the mean of 'income' is 1"


@given(oracle.audited, oracle.audited, st.floats(0, 2))
@settings(max_examples=8)
def test_without_noise_it_is_the_divergence_of_the_densities(p, q, epsilon):
    with mp.workdps(DIGITS):
        found, _ = divergence(*_curves(p, q, 0), mp.exp(epsilon))
    assert math.isclose(found, oracle.hockey_stick(p, q, epsilon), abs_tol=1e-9)


@given(oracle.audited, oracle.audited, st.floats(0.5, 2), st.floats(0, 2))
@settings(max_examples=6)
def test_with_noise_it_is_that_of_many_point_masses(p, q, sigma, epsilon):
    with mp.workdps(DIGITS):
        found, _ = divergence(*_curves(p, q, sigma), mp.exp(epsilon))
    assert math.isclose(found, oracle.noisy_hockey_stick(p, q, sigma, epsilon), abs_tol=2e-4)


def _curves(p, q, sigma):
    return curve(p.to_dict(), sigma), curve(q.to_dict(), sigma)


@pytest.mark.parametrize("sigma", [Fraction(1, 20), 2])
@pytest.mark.parametrize("told", [
    tf.UniformMean(5, -1, 2).to_dict(), tf.Truncated(tf.Normal(0, 1), -1, 2).to_dict(),
    tf.Truncated(tf.NormalMixture([0.5, 0.5], [0, 2], [1, 0.5]), low=1).to_dict(),
])  # fmt: skip
def test_a_noisy_density_is_the_convolution(told, sigma):
    with mp.workdps(DIGITS):
        found, height, s = curve(told, mp.mpf(sigma.numerator) / sigma.denominator), oracle.height(told), float(sigma)
        ends = sorted(x for x in oracle._kinks(told))
        for y in (-1.01, 1.9):
            cells = sorted({*ends, *(y + s * k for k in range(-8, 9) if ends[0] < y + s * k < ends[-1])})
            by_parts = mp.quad(lambda x, y=y: height(x) * mp.npdf(y, x, s), cells)
            assert math.isclose(found.at(mp.mpf(y)), by_parts, rel_tol=1e-9, abs_tol=1e-15)


def test_what_it_does_not_know():
    found = hides({0: tf.Normal(0, 2), 1: tf.Normal(0, 1)})
    with pytest.raises(Unsupported, match="normal noise only"):
        true_delta(found, 1, tf.Identity(), RoundedLaplace(Fraction(1), STEP, 1, on_grid=False))
    with pytest.raises(Unsupported):
        true_loss(found, tf.Identity(), noise(1))
    cut = hides({0: tf.Truncated(tf.UniformMean(2, 0, 1), high=0.8), 1: tf.Normal(0, 1)})
    with pytest.raises(Unsupported, match="that is cut"):
        true_delta(cut, 1, tf.Identity(), noise(1))
