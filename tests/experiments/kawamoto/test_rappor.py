"""RAPPOR: closed forms against all 2^k outputs, what is sent against its law, and sums of bits by enumeration."""

import math
from fractions import Fraction as F
from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from mpmath import mp
from scipy import stats
from tests.support.population_oracles import laws

import takifugu as tf
from kawamoto.positive_part_of_bits import mean_positive_part_of_bits
from kawamoto.rappor import Rappor, flipped_bits, instantaneous, permanent, rappor
from takifugu.mechanisms.local.choosing import largest_strength
from takifugu.mechanisms.local.populations import populations_of
from takifugu.numbers.distributions.positive_part import Enclosure
from takifugu.numbers.noise import InsecureSeededEntropyForTests


def law_of_bits(rappor, population):
    """Return the probability of every output, by its definition."""
    masses = {}
    for bits in product((0, 1), repeat=len(rappor.values)):
        total = F(0)
        for n, x in enumerate(rappor.values):
            chance = F(1)
            for m, bit in enumerate(bits):
                one = rappor.present if m == n else rappor.other
                chance *= one if bit else 1 - one
            total += population.get(x, F(0)) * chance
        masses[bits] = total
    return masses


@st.composite
def cases(draw):
    size = draw(st.integers(2, 5))
    p, q = draw(laws(size)), draw(laws(size))
    f = draw(st.fractions("0.1", "0.9", max_denominator=10))
    rappor = permanent(range(size), f)
    return (rappor if draw(st.booleans()) else instantaneous(range(size), f, "0.25", "0.75")), p, q


@given(cases(), st.fractions(0, 2, max_denominator=4))
@settings(max_examples=25)
def test_both_numbers_by_all_outputs(case, epsilon):
    rappor, p, q = case
    one, two = law_of_bits(rappor, p), law_of_bits(rappor, q)
    loss = max(abs(math.log(one[bits] / two[bits])) for bits in one)
    assert rappor.distribution_loss(p, q) == pytest.approx(loss, abs=1e-12)
    assert rappor.distribution_loss(p, q) <= rappor.epsilon * (1 + 1e-12)
    factor = math.exp(epsilon)
    delta = math.fsum(max(float(one[bits]) - factor * float(two[bits]), 0) for bits in one)
    bracket = rappor.delta(p, q, epsilon)
    assert bracket.low - 1e-12 <= delta <= bracket.high + 1e-12
    assert bracket.high - bracket.low <= 1e-6 * bracket.high + 1e-11


@pytest.mark.parametrize("k", range(1, 9))
def test_next_to_no_loss_is_rounded_up_too(k):
    """A ratio next to 1 has no digits left as a float, and its logarithm would be up to 1e-10 too small."""
    tiny = F(k, 10**7)
    noisy, rappor = permanent(range(3), 1 - tiny), permanent(range(3), F(1, 2))
    p, q = ({0: F(1, 3) + move, 1: F(1, 3) - move, 2: F(1, 3)} for move in (tiny, F(0)))
    one, two = law_of_bits(rappor, p), law_of_bits(rappor, q)
    with mp.workdps(40):

        def log(ratio):
            return mp.log(mp.mpf(ratio.numerator) / ratio.denominator)

        exact = log(noisy.present * (1 - noisy.other) / (noisy.other * (1 - noisy.present)))
        assert exact <= noisy.epsilon <= exact * (1 + mp.mpf(2) ** -50)
        exact = max(abs(log(one[bits] / two[bits])) for bits in one)
        assert exact <= rappor.distribution_loss(p, q) <= exact * (1 + mp.mpf(2) ** -50)
    assert rappor.distribution_loss(p, p) == 0


@pytest.mark.parametrize("k", range(1, 9, 2))
@pytest.mark.parametrize("digits", [14, 16, 18])
def test_next_to_no_loss_delta_is_enclosed_too(k, digits):
    """What p and e^epsilon q differ by is smaller than what floats of p and q are off by."""
    tiny, rappor = F(k, 10**digits), permanent(range(3), F(1, 2))
    p, q = ({0: F(1, 3) + move, 1: F(1, 3) - move, 2: F(1, 3)} for move in (tiny, F(0)))
    one, two = law_of_bits(rappor, p), law_of_bits(rappor, q)
    for epsilon in (F(0), tiny / 3):
        with mp.workdps(40):
            factor = mp.exp(mp.mpf(epsilon.numerator) / epsilon.denominator)
            gaps = [one[bits] - factor * two[bits].numerator / two[bits].denominator for bits in one]
            exact = mp.fsum(max(gap, 0) for gap in gaps)
            bracket = rappor.delta(p, q, epsilon)
            assert bracket.low <= exact <= bracket.high <= 1e-12


@given(cases())
@settings(max_examples=25)
def test_delta_is_0_from_the_loss_on_and_not_before(case):
    rappor, p, q = case
    loss = F(rappor.distribution_loss(p, q))
    for epsilon in (loss, 2 * loss, 30, 9000):
        assert rappor.delta(p, q, epsilon) == rappor.delta(q, p, epsilon) == Enclosure(0.0, 0.0)
    assert p == q or max(rappor.delta(p, q, loss / 2).low, rappor.delta(q, p, loss / 2).low) > 0


def test_225_places_take_no_2_to_the_225_outputs():
    rng = np.random.default_rng(2)
    p, q = (dict(enumerate(w / w.sum())) for w in rng.gamma(1, size=(2, 225)))
    rappor = permanent(range(225), "1/2")
    bracket = rappor.delta(p, q, "0.1")
    assert 0 < bracket.low <= bracket.high < bracket.low * (1 + 1e-4)
    assert rappor.distribution_loss(p, q) < rappor.epsilon


def test_the_closest_set_bit_by_all_outputs():
    rappor = permanent(range(4), "2/5")
    distances = np.abs(np.subtract.outer(np.arange(4.0), np.array([0.0, 1.0, 1.5, 4.0])))
    np.fill_diagonal(distances, 0)
    total = 0.0
    for bits, mass in law_of_bits(rappor, {2: F(1)}).items():
        set_bits = [y for y in range(4) if bits[y]]
        total += float(mass) * (min(distances[2, y] for y in set_bits) if set_bits else distances.max())
    assert rappor.expected_loss({2: F(1)}, distances) == pytest.approx(total, abs=1e-12)


@given(st.fractions("1/100", "99/100", max_denominator=200), st.fractions(0, "2/5"), st.fractions("1/2", 1))
def test_the_local_epsilon_of_rappor(f, p, q):
    one_hot = permanent(list("abc"), f)
    half = mp.mpf(f.numerator) / f.denominator / 2
    assert one_hot.epsilon == pytest.approx(float(2 * mp.log((1 - half) / half)), abs=1e-12)
    reported = instantaneous(list("abc"), f, p, q)
    a, b = p + (q - p) * (1 - f / 2), p + (q - p) * f / 2
    ratio = a * (1 - b) / (b * (1 - a))
    assert reported.epsilon == pytest.approx(float(mp.log(mp.mpf(ratio.numerator) / ratio.denominator)), abs=1e-12)


def test_bits_that_are_sent_and_a_twentieth_more_epsilon():
    rows, values, entropy = 200_000, list(range(6)), InsecureSeededEntropyForTests(8)
    bits = permanent(values, repr(flipped_bits(2))).randomise(np.full(rows, 2), entropy)
    seen = np.bincount(bits @ (1 << np.arange(6)), minlength=64)
    for epsilon, right in ((2, True), (2.1, False)):
        rappor = permanent(values, repr(flipped_bits(epsilon)))
        expected = np.ones(64)
        for bit in values:
            chance = float(rappor.present if bit == 2 else rappor.other)
            expected *= np.where(np.arange(64) >> bit & 1, chance, 1 - chance)
        assert (stats.chisquare(seen, expected * rows).pvalue > 1e-6) == right


@pytest.mark.parametrize("narrow", [1.0, 1e-2])
@pytest.mark.parametrize("chance", [2.0**-20, 0.25, 0.5, 1 - 2.0**-20])
def test_bits_of_any_weights_are_enclosed_with_no_tolerance(chance, narrow):
    """Weights on the lattice and off it, sums that cancel to 0, a weight next to the lattice, none at all."""
    root = 2**0.5
    cases = [
        (-1.0, [root, 1.0]), (-root, [1.0, root, 1.0]), (1.0, [-1.0, -root, root - 1, 0.5]), (-0.3, [0.1, 0.1, 0.1]),
        (0.25, []), (-0.25, [0.0]), (0.0, [0.0, 0.0]), (-1e-3, [1e-3 * (1 + 1e-15), 7.0, -7.0]), (1.0, [-0.5, -0.5]),
        (-1.0, [0.5, 0.5 + 1e-16]), (-root, [1.0, root, 3**0.5]), (-0.2, [0.1, 0.1, root]),
        (-2.0, [3**0.5, root, -(5**0.5), 1.0, -1.0, 0.3]),
    ]  # fmt: skip
    for constant, weights in cases:
        exact = F(0)
        for bits in product((0, 1), repeat=len(weights)):
            mass = math.prod(F(chance) if bit else 1 - F(chance) for bit in bits)
            total = F(constant) + sum(F(w) for w, bit in zip(weights, bits, strict=True) if bit)
            exact += mass * max(total, 0)
        mean = mean_positive_part_of_bits(constant, np.array(weights), chance, narrow)
        assert mean.low <= exact <= mean.high
        assert mean.high - mean.low <= narrow * mean.high + 1e-11


@pytest.mark.parametrize("epsilon", [F(1), F(699), F(10**400)])
@pytest.mark.parametrize("least", [F(1, 10**100), F(1, 10**400)])
def test_where_floats_do_not_hold_a_delta_it_is_not_computed(epsilon, least):
    bits = Rappor(("a", "b"), F(1, 2), least)
    if bits.epsilon > epsilon:
        assert bits.delta({"a": F(1)}, {"b": F(1)}, epsilon) == Enclosure(0.0, 1.0)


@pytest.mark.parametrize("delta", [F(0), F(1, 50)])
def test_the_largest_strength_keeps_the_promise_and_a_twentieth_more_does_not(delta):
    laws = {"home": {"a": "0.8", "b": "0.1", "c": "0.1"}, "out": {"a": "0.2", "b": "0.3", "c": "0.5"}}
    people = populations_of(tf.FromPopulations(laws))
    way, losses = rappor(people), []
    strength = largest_strength(way, people, F(1, 2), delta)
    for more in (1, 1.05):
        sender = way.make(strength * more)
        losses.append(sender.delta(people, F(1, 2)) if delta else sender.epsilon(people))
    assert losses[0] <= (delta or 0.5) < losses[1]
