"""RAPPOR and quality: closed forms against all 2^k outputs, and every tuple."""

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

from takifugu.core.errors import DataError, InputError
from takifugu.mechanisms.local.measuring import tuple_loss, worst_tuple_loss
from takifugu.mechanisms.local.rappor import instantaneous, permanent
from takifugu.numbers.distributions.channel import Channel
from takifugu.numbers.distributions.positive_part import Enclosure
from takifugu.numbers.distributions.positive_part_of_bits import mean_positive_part_of_bits
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


WEIGHTS = st.lists(st.integers(-16, 16), min_size=1, max_size=6)


@given(WEIGHTS, st.integers(-20, 10), st.sampled_from([F(1, 4), F(3, 4)]))
def test_the_mean_of_bits_by_enumeration(weights, constant, chance):
    exact = F(0)
    for bits in product((0, 1), repeat=len(weights)):
        mass = math.prod(chance if bit else 1 - chance for bit in bits)
        exact += mass * max(F(constant, 4) + sum(F(w, 4) for w, bit in zip(weights, bits, strict=True) if bit), 0)
    mean = mean_positive_part_of_bits(constant / 4, np.array(weights) / 4, float(chance))
    assert mean.low <= exact <= mean.high
    assert mean.high - mean.low <= 1e-6 * mean.high + 1e-12


@given(st.lists(st.floats(-4, 4), min_size=1, max_size=4), st.floats(-3, 1))
def test_the_mean_of_any_bits_is_enclosed(weights, constant):
    weights, exact = [*weights, 0.3, -0.3, 0.6], F(0)
    for bits in product((0, 1), repeat=len(weights)):
        total = F(constant) + sum(F(w) for w, bit in zip(weights, bits, strict=True) if bit)
        exact += max(total, F(0)) / 2 ** len(weights)
    mean = mean_positive_part_of_bits(constant, np.array(weights), 0.5, narrow=1e-3)
    assert mean.low <= exact <= mean.high


def test_a_weight_next_to_nothing_is_no_lattice():
    mean = mean_positive_part_of_bits(0.0, np.array([1e-13, 2.0]), 0.5)
    assert mean.low <= 1.0 + 0.5e-13 <= mean.high


def test_bits_are_drawn_as_they_should_be():
    rappor = permanent(range(3), "1/2")
    bits = rappor.randomise(np.full(60_000, 1), InsecureSeededEntropyForTests(4))
    for place, chance in enumerate((0.25, 0.75, 0.25)):
        assert stats.binomtest(int(bits[:, place].sum()), 60_000, chance).pvalue > 1e-6
        assert stats.binomtest(int(bits[:, place].sum()), 60_000, chance * 1.05).pvalue < 1e-6
    with pytest.raises(DataError):
        rappor.randomise(np.array([3]))


def test_the_closest_set_bit_by_all_outputs():
    rappor = permanent(range(4), "2/5")
    distances = np.abs(np.subtract.outer(np.arange(4.0), np.array([0.0, 1.0, 1.5, 4.0])))
    np.fill_diagonal(distances, 0)
    total = 0.0
    for bits, mass in law_of_bits(rappor, {2: F(1)}).items():
        set_bits = [y for y in range(4) if bits[y]]
        total += float(mass) * (min(distances[2, y] for y in set_bits) if set_bits else distances.max())
    assert rappor.expected_loss({2: F(1)}, distances) == pytest.approx(total, abs=1e-12)


@given(st.integers(0, 3), st.integers(0, 100))
def test_the_loss_of_a_tuple_by_every_tuple(dummies, seed):
    rng = np.random.default_rng(seed)
    rows = [[F(int(w), int(ws.sum())) for w in ws] for ws in rng.integers(1, 5, size=(2, 3))]
    channel, distances = Channel.of([0, 1], ["a", "b", "c"], rows), rng.integers(0, 4, size=(2, 3)).astype(float)
    prior, nu = {0: F(1, 3), 1: F(2, 3)}, np.array([0.5, 0.25, 0.25])
    total = 0.0
    for x in (0, 1):
        for ys in product(range(3), repeat=dummies + 1):
            chance = float(rows[x][ys[0]]) * math.prod(nu[y] for y in ys[1:])
            total += float(prior[x]) * chance * min(distances[x, y] for y in ys)
    assert tuple_loss(channel, prior, distances, dummies, nu) == pytest.approx(total, abs=1e-12)
    assert worst_tuple_loss(channel, distances, dummies) == distances.max()


@given(st.integers(0, 3), st.integers(0, 100))
def test_the_worst_loss_of_a_tuple_by_every_tuple(dummies, seed):
    rng = np.random.default_rng(seed)
    weights = rng.integers(0, 2, size=(3, 3))
    weights[:, 0] += weights.sum(axis=1) == 0
    rows = [[F(int(w), int(ws.sum())) for w in ws] for ws in weights[:2]]
    channel, distances = Channel.of([0, 1], ["a", "b", "c"], rows), rng.integers(0, 6, size=(2, 3)).astype(float)
    nu = weights[2] / weights[2].sum()
    worst = [
        min(distances[x, y] for y in ys)
        for x in (0, 1) for ys in product(range(3), repeat=dummies + 1)
        if rows[x][ys[0]] and all(nu[y] for y in ys[1:])
    ]  # fmt: skip
    assert worst_tuple_loss(channel, distances, dummies, nu) == max(worst)
    assert worst_tuple_loss(channel, distances, dummies) == worst_tuple_loss(channel, distances)


@pytest.mark.parametrize(("zero", "one"), [("1/2", "1/4"), ("1/2", "1/2"), ("-1/4", "1/2"), ("1/2", "5/4")])
def test_a_1_is_reported_more_often_for_a_1_than_for_a_0(zero, one):
    with pytest.raises(InputError) as refusal:
        instantaneous("ab", "1/2", zero, one)
    assert refusal.value.where == ("p",)
    assert instantaneous("ab", "1/2", 0, 1) == permanent("ab", "1/2")
