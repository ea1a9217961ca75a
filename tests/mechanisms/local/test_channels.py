"""Channels that randomise one value: what is measured equals the closed forms, and bounds hold."""

import math
from fractions import Fraction as F
from itertools import permutations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from mpmath import mp
from tests.support import population_oracles as oracles

from kawamoto import channels, measured
from takifugu.core.errors import DataError, InputError
from takifugu.mechanisms.local import measuring
from takifugu.mechanisms.local.senders import randomised
from takifugu.numbers.distributions.channel import Channel
from takifugu.numbers.transport import bottleneck


def apart(x, y):
    return abs(x - y)


@st.composite
def cases(draw):
    inputs, outputs = draw(st.integers(2, 4)), draw(st.integers(1, 4))
    return draw(oracles.channels(inputs, outputs)), draw(oracles.laws(inputs)), draw(oracles.laws(inputs))


@given(cases())
def test_metric_loss_by_enumeration(case):
    channel, worst = case[0], 0.0
    for x, z in permutations(channel.inputs, 2):
        for y, mass in channel.row(x).items():
            other = channel.row(z).get(y, F(0))
            worst = max(worst, math.inf if not other else math.log(mass / other) / apart(x, z))
    assert measuring.metric_loss(channel, apart) == pytest.approx(worst, abs=1e-12)


@given(cases(), st.fractions(0, 2, max_denominator=4))
def test_distribution_privacy_by_enumeration(case, epsilon):
    channel, p, q = case
    one, two = oracles.sent(channel, p), oracles.sent(channel, q)
    loss = max(oracles.loss(one, two), oracles.loss(two, one))
    assert measuring.distribution_loss(channel, p, q) == pytest.approx(float(loss), abs=1e-12)
    delta = max(oracles.delta(one, two, epsilon), oracles.delta(two, one, epsilon))
    measured_delta = measuring.distribution_delta(channel, p, q, epsilon)
    assert delta <= measured_delta
    assert measured_delta == pytest.approx(float(delta), abs=1e-14)
    assert measured.class_delta(channel, [p, q, p], epsilon) == measured_delta
    assert measured.class_loss(channel, [p, q, p]) == measuring.distribution_loss(channel, p, q)


@given(cases(), st.fractions(0, 2, max_denominator=4), st.sets(st.tuples(st.integers(0, 3), st.integers(0, 3))))
def test_privacy_of_values_by_enumeration(case, epsilon, pairs):
    channel = case[0]
    rows = {x: oracles.sent(channel, {x: F(1)}) for x in channel.inputs}
    every = [(x, z) for x in rows for z in rows]
    inside = [pair for pair in every if pair in pairs]

    def related(x, z):
        return (x, z) in pairs

    lost = max((float(oracles.loss(rows[x], rows[z])) for x, z in inside), default=0.0)
    assert measured.relation_loss(channel, related) == pytest.approx(lost, abs=1e-12)
    for computed, exact in (
        (measured.local_delta(channel, epsilon, related), [(x, z, epsilon) for x, z in inside]),
        (measured.local_delta(channel, epsilon), [(x, z, epsilon) for x, z in every]),
        (measured.metric_delta(channel, apart, epsilon), [(x, z, epsilon * abs(x - z)) for x, z in every]),
    ):
        exact = [oracles.delta(rows[x], rows[z], reach) for x, z, reach in exact]
        assert max(exact, default=0) <= computed
        assert computed == pytest.approx(float(max(exact, default=0)), abs=1e-13)


@given(cases(), st.fractions(0, 2, max_denominator=4))
def test_extended_privacy_by_enumeration(case, epsilon):
    """Definition 9 with W-infinity: the least epsilon per unit, and the delta where less is asked."""
    channel, p, q = case
    one, two = oracles.sent(channel, p), oracles.sent(channel, q)
    reach = oracles.least_largest(p, q, apart)
    lost = max(float(oracles.loss(one, two)), float(oracles.loss(two, one)))
    computed = measured.extended_loss(channel, [p, q], lambda a, b: bottleneck.w_infinity(a, b, apart))
    assert computed == pytest.approx(lost / float(reach) if reach else 0.0, abs=1e-12)
    delta = max(oracles.delta(one, two, epsilon * reach), oracles.delta(two, one, epsilon * reach))
    computed = measured.extended_delta(channel, [p, q], lambda a, b: bottleneck.w_infinity(a, b, apart), epsilon)
    assert delta <= computed <= float(delta) + 1e-14


def test_what_is_rounded_is_rounded_up():
    third = Channel.of([0, 1], [0, 1], [[F(1, 3), F(2, 3)], [0, 1]])
    assert F(measured.local_delta(third, 0)) >= F(1, 3)
    with mp.workdps(60):
        small = F(int(mp.floor(mp.exp(-20) * (1 - mp.mpf(10) ** -14) * mp.mpf(2) ** 150)), 2**150)
        close = Channel.of([0, 1], [0, 1], [[F(1, 2), F(1, 2)], [small / 2, 1 - small / 2]])
        exact = oracles.delta(oracles.sent(close, {0: F(1)}), oracles.sent(close, {1: F(1)}), F(20))
        assert 0 < exact <= measured.local_delta(close, 20) <= 2e-13
    p, q = {0: F(1)}, {1: F(1)}
    for distance in (0.3, 0.7, 1.1, 3.0, 7.0):
        loss = measured.extended_loss(third, [{0: F(1, 2), 1: F(1, 2)}, p], lambda a, b, d=distance: d)
        assert F(loss) * F(distance) >= F(measuring.distribution_loss(third, {0: F(1, 2), 1: F(1, 2)}, p))
    assert measured.extended_loss(third, [p, q], lambda a, b: 1.0) == math.inf


@given(st.lists(st.integers(1, 2**90), min_size=6, max_size=6), st.integers(0, 3))
@settings(max_examples=25)
def test_log_ratios_of_long_masses_are_rounded_up(masses, near):
    """The logarithm of a mass over 2**91 is off by more than a ratio next to 1 is above it."""
    rows = [[*masses[k : k + 3], 2**92 - sum(masses[k : k + 3])] for k in (0, 3)]
    rows.append([rows[0][0] + near, *rows[0][1:3], rows[0][3] - near])
    channel = Channel((0, 2, 3), tuple(range(4)), tuple(map(tuple, rows)), 2**92)
    ratios, metric = measuring.largest_log_ratios(channel), measuring.metric_loss(channel, apart)
    with mp.workdps(60):
        exact = [
            [max(abs(mp.log(mp.mpf(a) / b)) for a, b in zip(one, two, strict=True)) for two in rows] for one in rows
        ]
        for one, two in ((0, 1), (1, 2), (0, 2)):
            assert exact[one][two] <= ratios[one, two] == ratios[two, one] <= exact[one][two] * (1 + 1e-12) + 1e-12
            assert exact[one][two] <= metric * apart(channel.inputs[one], channel.inputs[two])
    assert ratios.diagonal().tolist() == [0, 0, 0]
    assert (ratios[0, 2] == 0) == (near == 0)


def test_one_population_alone_is_never_told_apart():
    channel = channels.randomised_response([0, 1], 1)
    alone = [{0: F(1)}]
    assert measured.class_loss(channel, alone) == measured.class_delta(channel, alone, 0) == 0
    assert measured.extended_loss(channel, alone, None) == measured.extended_delta(channel, alone, None, 0) == 0
    three = [{0: F(1)}, {1: F(1)}, {0: F(1, 2), 1: F(1, 2)}]
    deltas = [measuring.distribution_delta(channel, p, q, 0) for p in three for q in three]
    assert (
        measured.extended_delta(channel, three, lambda p, q: 1, 0)
        == max(deltas)
        == measured.class_delta(channel, three, 0)
    )


def test_values_at_distance_0_and_outputs_that_nobody_gives():
    same = {("a", "b"), ("b", "a")}

    def d(x, y):
        return 0 if x == y or (x, y) in same else 2

    even, uneven = [F(1, 2), F(1, 2), 0], [F(1, 4), F(3, 4), 0]
    assert measuring.metric_loss(Channel.of(["a", "b", "c"], [0, 1, 2], [even, uneven, even]), d) == math.inf
    hidden = Channel.of(["a", "b", "c"], [0, 1, 2], [uneven, uneven, even])
    assert measuring.metric_loss(hidden, d) == pytest.approx(math.log(2) / 2, abs=1e-12)
    assert measuring.metric_loss(Channel.of(["a", "b"], [0], [[1], [1]]), d) == pytest.approx(0, abs=1e-14)
    logs = measuring.log_masses(hidden)
    assert logs[0].tolist() == pytest.approx([math.log(0.25), math.log(0.75), -math.inf])


def test_the_bayes_factor_is_at_most_e_to_the_loss():
    p, q = {0: F(3, 4), 1: F(1, 4)}, {0: F(1, 4), 1: F(3, 4)}
    channel = channels.randomised_response([0, 1], 1)
    factors = [measured.bayes_factor(channel, p, q, y) for y in (0, 1)]
    assert max(factors) == pytest.approx(math.exp(measuring.distribution_loss(channel, p, q)), rel=1e-12)
    assert factors[0] * factors[1] == pytest.approx(1)
    sure = Channel.of([0, 1], [0, 1, 2], [[1, 0, 0], [0, 1, 0]])
    assert measured.bayes_factor(sure, {0: 1}, {1: 1}, 0) == math.inf
    with pytest.raises(InputError, match="impossible"):
        measured.bayes_factor(sure, p, q, 2)


def test_the_best_guess():
    p, q = {0: F(3, 4), 1: F(1, 4)}, {0: F(1, 4), 1: F(3, 4)}
    assert measuring.success(None, p, q) == pytest.approx(0.75)
    half = channels.randomised_response([0, 1], math.log(3))
    assert measuring.success(half, p, q) == pytest.approx((1 + 0.25) / 2)


@pytest.mark.parametrize("total", [3, 2**90])
def test_columns_of_any_total(total):
    channel = Channel(("a", "b"), (0, 1), ((0, total), (total, 0)), total)
    assert randomised(channel, np.array([0, 1, 1, 0])).tolist() == [1, 0, 0, 1]
    assert randomised(channel, np.array([], dtype=int)).tolist() == []
    with pytest.raises(DataError):
        randomised(channel, np.array([0, 2]))
