"""The true loss of Laplace noise on a density: closed forms, another quadrature, and what a wrong bound would miss."""

import math
from fractions import Fraction

import pytest
from mpmath import mp
from tests.support import density_oracles as oracle

import takifugu as tf
from takifugu.analysis.randomisers import RoundedLaplace, RoundedNormal
from takifugu.audit import exact_loss
from takifugu.audit.curves import with_laplace
from takifugu.audit.noisy_ratios import Noisy, largest_log_ratio
from takifugu.core.errors import Unsupported
from takifugu.numbers import Bates, PiecewiseLinear

STEP = Fraction(1, 10**6)
MIXTURE = tf.NormalMixture([0.5, 0.5], [0, 2], [1, 1.5])
PAIRS = {
    "moved": (tf.Normal(0, 1), tf.Normal(1, 1)),
    "wider": (tf.Normal(0, 1), tf.Normal(1, 2)),
    "mixtures": (MIXTURE, tf.NormalMixture([0.3, 0.7], [1, 3], [1, 1.5])),
    "inside": (tf.NormalMixture([0.9, 0.1], [0, 0], [2, 0.2]), tf.Normal(0, 2)),
    "ranges": (Bates(1, 0, 1), Bates(1, 0, 3)),
    "means": (Bates(5, 0, 3), Bates(3, 0, 4)),
    "cut": (tf.Truncated(tf.Normal(0, 1), -1, 2), tf.Truncated(tf.Normal(0, 2), -1, 3)),
    "half": (tf.Truncated(tf.Normal(0, 1), -1, None), tf.Truncated(tf.Normal(1, 1), None, 3)),
    "lines": (PiecewiseLinear([0, 1, 2], [0, 1, 0]), PiecewiseLinear([0, 1, 3], [1, 0, 0.5])),
}


def hides(p, q):
    return tf.Pufferfish(tf.dataset_property("income", "mean"), tf.Density("income", "mean", {0: p, 1: q}))


def noise(scale):
    return RoundedLaplace(Fraction(scale), STEP, 1, on_grid=False)


def enclosed(p, q, scale):
    curves = [Noisy(law.to_dict(), with_laplace(law.to_dict(), scale), mp.mpf(scale)) for law in (p, q)]
    return largest_log_ratio(*curves)


@pytest.mark.slow
@pytest.mark.sampled(2)
@pytest.mark.parametrize("pair", PAIRS)
@pytest.mark.parametrize("scale", [0.5, 2])
def test_it_is_the_largest_over_places_close_together(pair, scale):
    p, q = PAIRS[pair]
    audit = exact_loss(hides(p, q), tf.Identity(), noise(Fraction(scale)))
    ratios = [oracle.laplace_log_ratio(*laws, scale, 40) for laws in ((p, q), (q, p))]
    assert max(ratios) - 1e-4 <= audit.lower <= audit.upper <= max(ratios) + 1 / 40 + 1e-4
    assert audit.upper - audit.lower <= 1e-9 * max(1.0, audit.loss)


@pytest.mark.sampled(5)
@pytest.mark.parametrize("pair", ["moved", "wider", "mixtures", "inside"])
@pytest.mark.parametrize("turned", [1, -1])
def test_no_place_has_a_larger_ratio_than_the_bound(pair, turned):
    p, q = (Noisy(law.to_dict(), with_laplace(law.to_dict(), 1), mp.mpf(1)) for law in PAIRS[pair][::turned])
    low, high, place = largest_log_ratio(p, q)
    ratios = [mp.log(p.curve.at(mp.mpf(y) / 4) / q.curve.at(mp.mpf(y) / 4)) for y in range(-32, 41)]
    assert max(ratios) <= high
    assert low <= mp.log(p.curve.at(place) / q.curve.at(place)) + mp.mpf(10) ** -9 <= high + mp.mpf(10) ** -8


@pytest.mark.parametrize(("p", "q", "scale", "loss"), [
    (tf.Normal(0, 1), tf.Normal(3, 1), 2, 1.5),
    (tf.Normal(0, 1), tf.Normal(1, 2), 2, 1.5 / 4 + 1 / 2),  # far out (s^2 - s'^2)/2b^2 and (m - m')/b
    (Bates(1, 0, 1), Bates(1, 0, 3), 1, math.log((math.exp(3) - 1) / 3 / (math.e - 1))),
    (Bates(12, 0, 6), Bates(12, 1, 7), "1/4", 4),
])  # fmt: skip
def test_closed_forms_at_the_tails(p, q, scale, loss):
    audit = exact_loss(hides(p, q), tf.Identity(), noise(scale))
    assert audit.lower <= loss <= audit.upper
    assert audit.upper - audit.lower < 1e-9
    assert audit.comparison.startswith("the mean of 'income' is")


@pytest.mark.mutants
def test_a_peak_is_not_missed_where_it_is_narrow():
    """A spike of width 1e-5 far from all ends of cells that know nothing of it."""
    p, q = tf.NormalMixture([0.9, 0.1], [0, 0.7319], [1, 1e-5]), tf.Normal(0, 1)
    with mp.workdps(50):
        low, high, place = enclosed(p, q, mp.mpf("0.2"))
        here = [with_laplace(law.to_dict(), mp.mpf("0.2")).at(mp.mpf("0.7319")) for law in (p, q)]
    assert low == pytest.approx(float(mp.log(here[0] / here[1])), rel=1e-6)
    assert high - low < 1e-9
    assert place == pytest.approx(0.7319, abs=1e-4)


@pytest.mark.sampled(4)
@pytest.mark.parametrize("law", [law for pair in PAIRS.values() for law in pair], ids=lambda law: law.to_dict()["kind"])
def test_a_noisy_density_bends_no_more_than_its_exponentials(law):
    """Beyond two places it is at most the combination of e^(y/b) and e^(-y/b) through them; a line is no bound."""
    lines = 0
    with mp.workdps(50):
        for scale in (mp.mpf("0.3"), mp.mpf(2)):
            at = with_laplace(law.to_dict(), scale).at
            for k in range(-40, 60, 7):
                for h in (mp.mpf("0.01"), mp.mpf("0.7")):
                    y = mp.mpf(k) / 10
                    left, middle, right = at(y - h), at(y), at(y + h)
                    assert left + right <= 2 * mp.cosh(h / scale) * middle * (1 + mp.mpf(10) ** -30)
                    lines += left + right > 2 * middle
    assert lines


@pytest.mark.parametrize("law", [
    tf.Normal(1, 2), MIXTURE, tf.Truncated(tf.Normal(0, 1), -1, None), tf.Truncated(MIXTURE, -1, 3),
], ids=str)  # fmt: skip
@pytest.mark.parametrize("sign", [1, -1])
@pytest.mark.parametrize("scale", ["0.5", "2"])
def test_a_tail_is_bounded_and_nothing_of_it_is_left_beyond_the_end(law, sign, scale):
    """Over e^(-|y - place|/b) a noisy density rises to its limit, which is E[e^(sign (X - place)/b)] / 2b."""
    with mp.workdps(50):
        b = mp.mpf(scale)
        noisy = Noisy(law.to_dict(), with_laplace(law.to_dict(), b), b)
        for place in (noisy.end(sign), noisy.end(sign) / 3):
            least, most = noisy.tail(place, sign)
            over = [noisy.curve.at(place + sign * y) * mp.exp(y / b) for y in (0, mp.mpf("0.1"), 1, 3, 60)]
            assert least == over[0]
            assert over == pytest.approx(sorted(over), rel=1e-30)
            assert most == pytest.approx(over[-1], rel=1e-20)
            if place == noisy.end(sign):
                assert most - least <= 1e-9 * most


def test_what_is_not_enclosed():
    framework = hides(*PAIRS["ranges"])
    assert exact_loss(framework, tf.Identity(), RoundedNormal(Fraction(1), STEP, 1, on_grid=False)).upper == math.inf
    with pytest.raises(Unsupported, match="noise is so small"):
        exact_loss(framework, tf.Identity(), noise("1/1000"))


def test_an_answer_that_follows_from_what_is_hidden_has_a_kink():
    """With a correlation of 1 the noisy answer is Laplace noise about one place or another."""
    body = tf.MultivariateNormal([0, 0], [[4, 4], [4, 4]], names=["x", "y"], records=2)
    hidden = tf.Pufferfish(tf.dataset_property("x", "mean", max_difference=3), body)
    audit = exact_loss(hidden, tf.Mean("y"), noise(2))
    assert audit.lower <= 1.5 <= audit.upper
    assert audit.upper - audit.lower < 1e-9


@pytest.mark.slow
def test_equal_densities_lose_nothing():
    with mp.workdps(50):
        low, high, _ = enclosed(tf.Normal(0, 1), tf.Normal(0, 1), 1)
    assert low == 0
    assert high < 1e-4
