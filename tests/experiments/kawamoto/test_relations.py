"""Relations of values and populations: sensitivity, stability, point laws, and what they do not imply."""

import math
from fractions import Fraction
from itertools import product

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.support import population_oracles as oracles
from tests.support.population_oracles import apart

from kawamoto import bounds, measured, relations
from takifugu.mechanisms.local import measuring
from takifugu.mechanisms.local.tupling import Tupling
from takifugu.numbers.distributions.channel import Channel
from takifugu.numbers.transport import bottleneck

F = Fraction


@given(st.lists(st.lists(st.integers(-9, 9), min_size=3, max_size=3), min_size=4, max_size=4))
def test_the_utility_distance_is_a_pseudometric(utilities):
    d = relations.utility_distance(lambda x, y: utilities[x][y], range(3))
    for x, z, w in product(range(4), repeat=3):
        assert d(x, z) == max(abs(a - b) for a, b in zip(utilities[x], utilities[z], strict=True)) == d(z, x)
        assert d(x, x) == 0
        assert d(x, w) <= d(x, z) + d(z, w)
    steps = [(0, 1), (1, 3)]
    assert relations.largest_distance(d, range(4), lambda x, z: (x, z) in steps) == max(d(0, 1), d(1, 3))
    assert relations.largest_distance(d, range(4), lambda x, z: False) == 0


LAWS = [{0: F(1)}, {1: F(1)}, {0: F(1, 2), 1: F(1, 2)}, {0: F(1, 3), 1: F(2, 3)}]


PLACES = st.integers(0, 3)


@given(st.sets(st.tuples(PLACES, PLACES), max_size=8), st.lists(PLACES, min_size=4, max_size=4))
@settings(max_examples=80)
def test_stability_by_powers_of_the_relation(pairs, image):
    """The least number of steps is the least power of the relation, as a matrix of booleans, that connects."""
    psi = [(LAWS[a], LAWS[b]) for a, b in sorted(pairs)]

    def least(a, b):
        reached = {a}
        for steps in range(5):
            if b in reached:
                return steps
            reached = {z for x, z in pairs if x in reached}
        return None

    for a, b in product(range(4), repeat=2):
        assert relations.steps_between(psi, LAWS[a], {**LAWS[b], 7: F(0)}) == least(a, b)
    place = {relations._key(law): n for n, law in enumerate(LAWS)}
    stability = relations.stability(lambda p: LAWS[image[place[relations._key(p)]]], psi)
    each = [least(image[a], image[b]) for a, b in pairs]
    assert stability == (None if None in each else max(each, default=0))


@given(oracles.channels(3, 3), oracles.laws(3), oracles.laws(3))
@settings(max_examples=60)
def test_stability_in_w_infinity_is_that_of_points(channel, p, q):
    c = relations.metric_stability(channel, apart)
    moved = bottleneck.w_infinity(channel.lift(p), channel.lift(q), apart)
    assert float(moved) <= c * float(bottleneck.w_infinity(p, q, apart)) * (1 + 1e-12)
    points = [
        oracles.least_largest(channel.row(x), channel.row(z), apart) / abs(x - z)
        for x in range(3) for z in range(3) if x != z
    ]  # fmt: skip
    assert c == pytest.approx(max(points), rel=1e-12)
    assert c >= max(points)


@given(oracles.channels(3, 3, 1), oracles.laws(3), oracles.laws(3))
@settings(max_examples=40)
def test_pre_processing_in_the_extended_form(channel, p, q):
    """A keeps epsilon per unit of W-infinity, T is (c, W-infinity)-stable: A after T keeps c epsilon."""
    stable = Channel.of([0, 1, 2], [0, 1, 2], [[F(1, 2), F(1, 2), 0], [0, 1, 0], [0, F(1, 4), F(3, 4)]])
    c = relations.metric_stability(stable, apart)
    rate = measuring.metric_loss(channel, apart)
    loss = measuring.distribution_loss(stable.compose(channel), p, q)
    assert loss <= bounds.bound_by_moves(c * rate, p, q, apart) * (1 + 1e-12) + 1e-12


@given(oracles.channels(3, 3), st.fractions(0, 2, max_denominator=4))
@settings(max_examples=40)
def test_with_all_points_distribution_privacy_is_local_privacy(channel, epsilon):
    psi = [({x: F(1)}, {z: F(1)}) for x in range(3) for z in range(3)]
    assert relations.implies_local(psi, range(3), lambda x, z: True)
    assert not relations.implies_local(psi[1:], range(3), lambda x, z: True)
    assert relations.points_of([({0: F(1), 9: F(0)}, {1: F(1)})]) == {(0, 1)}
    deltas = [oracles.delta(oracles.sent(channel, p), oracles.sent(channel, q), epsilon) for p, q in psi]
    assert max(deltas) <= measured.local_delta(channel, epsilon) <= float(max(deltas)) + 1e-13


def test_without_points_it_may_not_be():
    """Tupling of a value that is told as it is: flat populations are hidden, and no two values (Section 6.2)."""
    flat = {x: F(1, 16) for x in range(16)}, {x: F(1 if x % 2 else 2, 24) for x in range(16)}
    assert not relations.implies_local([flat], range(16), lambda x, z: x != z)
    assert relations.points_of([flat]) == set()
    hidden = Tupling(9).delta(list(flat[0].values()), list(flat[1].values()), "0.3")
    points = Tupling(9).delta([1] + [0] * 15, [0, 1] + [0] * 14, "0.3")
    assert hidden < 0.03
    assert points > 0.5


def noisy_count(size):
    """Return the count of ones with two-sided geometric noise of ratio 1/2, cut to 0, ..., size: ln 2 per record."""
    inputs = list(product((0, 1), repeat=size))
    rows = []
    for count in map(sum, inputs):
        row = [F(1, 3) * F(1, 2 ** abs(y - count)) for y in range(size + 1)]
        row[0] = F(2, 3) * F(1, 2**count)
        row[size] = F(2, 3) * F(1, 2 ** (size - count))
        rows.append(row)
    return Channel.of(inputs, list(range(size + 1)), rows)


def test_a_private_histogram_hides_no_population():
    """Section 3.5: epsilon of one record stays ln 2, and populations are told apart ever better as records grow."""
    p, q = {0: F(9, 10), 1: F(1, 10)}, {0: F(1, 10), 1: F(9, 10)}
    losses = []
    for size in (1, 3, 5, 7):
        channel = noisy_count(size)
        assert measured.relation_loss(channel, relations.differ_in_one) == pytest.approx(math.log(2), abs=1e-12)
        losses.append(measuring.distribution_loss(channel, relations.records(p, size), relations.records(q, size)))
    assert losses == sorted(losses)
    assert losses[0] < math.log(2)
    assert losses[-1] > 3 * math.log(2)


def test_a_channel_that_hides_populations_is_no_private_histogram():
    """Section 3.5, the other way: one bit of two hides parity with epsilon 0, and tells a record for sure."""
    values = list(product((0, 1), repeat=2))
    first = Channel.of(values, (0, 1), [[1 - x[0], x[0]] for x in values])
    even, odd = {(0, 0): F(1, 2), (1, 1): F(1, 2)}, {(0, 1): F(1, 2), (1, 0): F(1, 2)}
    assert measuring.distribution_loss(first, even, odd) == 0
    assert measured.relation_loss(first, relations.differ_in_one) == math.inf
