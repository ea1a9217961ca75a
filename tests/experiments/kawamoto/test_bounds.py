"""From values to populations: what is measured never exceeds what Theorems 1 and 2 and Proposition 1 promise."""

import math
from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.support import population_oracles as oracles
from tests.support.population_oracles import apart

from kawamoto import bounds, channels, liftings, measured
from kawamoto.composing import PairPromise
from takifugu.core.errors import CalibrationRefused
from takifugu.mechanisms.local import measuring
from takifugu.numbers.distributions.channel import Channel
from takifugu.numbers.transport import bottleneck

F = Fraction
EPSILONS = st.fractions(0, 2, max_denominator=4)


def lost(channel, p, q, epsilon):
    return oracles.delta(oracles.sent(channel, p), oracles.sent(channel, q), epsilon)


@st.composite
def cases(draw, least=0):
    values = draw(st.integers(2, 4))
    channel = draw(oracles.channels(values, draw(st.integers(1, 4)), least))
    return channel, draw(oracles.laws(values)), draw(oracles.laws(values))


@given(cases(), EPSILONS, st.sets(st.tuples(st.integers(0, 3), st.integers(0, 3)), min_size=4))
@settings(max_examples=80)
def test_theorem_1_holds_without_the_size_of_the_relation(case, epsilon, pairs):
    channel, p, q = case

    def related(x, z):
        return (x, z) in pairs

    promise = PairPromise(epsilon, F(measured.local_delta(channel, epsilon, related)))
    if liftings.is_lifted(p, q, related):
        assert bounds.from_local(promise, p, q, related) == promise
        assert lost(channel, p, q, epsilon) <= promise.delta
    else:
        with pytest.raises(CalibrationRefused, match="no lifting"):
            bounds.from_local(promise, p, q, related)


@pytest.mark.slow
@given(cases(), EPSILONS)
@settings(max_examples=80)
def test_theorem_2_holds_without_the_size_of_the_relation(case, epsilon):
    channel, p, q = case
    bound = bounds.from_metric(PairPromise(epsilon, F(measured.metric_delta(channel, apart, epsilon))), p, q, apart)
    reach = oracles.least_largest(*({x: m for x, m in law.items() if m} for law in (p, q)), apart)
    assert bound.promise.epsilon == epsilon * reach
    assert bound.by_diameter.epsilon == epsilon * max(apart(x, z) for x in p for z in q if p[x] and q[z])
    assert lost(channel, p, q, bound.promise.epsilon) <= bound.promise.delta


@given(cases())
@settings(max_examples=80)
def test_the_best_relation_is_between_what_is_measured_and_what_is_known_of_all_values(case):
    channel, p, q = case
    bound = bounds.bound_by_coupling(channel, p, q)
    assert measuring.distribution_loss(channel, p, q) <= bound * (1 + 1e-15) + 1e-15
    assert bound <= measuring.local_loss(channel)
    assert bound <= bounds.bound_by_moves(measuring.metric_loss(channel, apart), p, q, apart)
    rows = {x: oracles.sent(channel, {x: F(1)}) for x in channel.inputs}
    for one, two in ((p, q), (q, p)):
        one, two = ({x: m for x, m in law.items() if m} for law in (one, two))
        least = oracles.least_largest(one, two, lambda x, z: max(oracles.loss(rows[x], rows[z]), 0))
        assert least <= bound * (1 + 1e-15) + 1e-15


@given(cases(), EPSILONS)
@settings(max_examples=80)
def test_the_delta_of_a_plan_is_between_what_is_measured_and_the_largest_of_all_pairs(case, epsilon):
    channel, p, q = case
    delta = bounds.delta_by_coupling(channel, p, q, epsilon)
    assert max(lost(channel, p, q, epsilon), lost(channel, q, p, epsilon)) <= delta
    assert delta <= measured.local_delta(channel, epsilon) * (1 + 1e-14)


@given(cases(least=1), st.integers(0, 2), st.data())
@settings(max_examples=60)
def test_close_beliefs_are_covered(case, closeness, data):
    channel, p, q = case
    values = len(channel.inputs)
    promise = bounds.close_beliefs(channel, p, q, closeness, apart)
    near, far = data.draw(oracles.laws(values)), data.draw(oracles.laws(values))
    if bottleneck.w_infinity(p, near, apart) <= closeness and bottleneck.w_infinity(q, far, apart) <= closeness:
        assert measuring.distribution_loss(channel, near, far) <= float(promise.epsilon) * (1 + 1e-15) + 1e-15


def test_beliefs_close_to_two_populations_that_are_hidden_may_see_everything():
    """E9d: A(x) = 1[x >= 2] hides unif{0, 2} from unif{1, 3}, and a belief at distance 1 is told apart for sure."""
    channel = Channel.of([0, 1, 2, 3], [0, 1], [[1, 0], [1, 0], [0, 1], [0, 1]])
    p, q, near = {0: F(1, 2), 2: F(1, 2)}, {1: F(1, 2), 3: F(1, 2)}, {1: F(1)}
    assert measuring.distribution_loss(channel, p, q) == 0
    assert bottleneck.w_infinity(p, near, apart) == 1
    assert measuring.distribution_loss(channel, near, q) == math.inf
    with pytest.raises(CalibrationRefused, match="no metric privacy"):
        bounds.close_beliefs(channel, p, q, 1, apart)
    laplace = channels.exponential([0, 1, 2, 3], [0, 1, 2, 3], apart, 1)
    promise = bounds.close_beliefs(laplace, p, q, 1, apart)
    assert measuring.distribution_loss(laplace, near, q) <= promise.epsilon <= 3
    assert promise == PairPromise(F(measuring.metric_loss(laplace, apart)) * (1 + 2))
