"""Table 1 of Kawamoto19 as it holds: shared and fresh input, post-processing, and pre-processing with its delta."""

import math
from fractions import Fraction as F

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from mpmath import mp
from tests.support import population_oracles as oracles

from kawamoto import bounds, composing, liftings, measured
from kawamoto.composing import PairPromise
from takifugu.core.errors import CalibrationRefused
from takifugu.mechanisms.local import measuring
from takifugu.numbers.distributions.channel import Channel

EPSILONS = st.fractions(0, 2, max_denominator=4)


def product_law(p, q):
    return {(x, z): a * b for x, a in p.items() for z, b in q.items()}


def on_two_values(first, second):
    """Return both channels side by side, each on a value of its own: inputs and outputs are pairs."""
    outputs = [(y, w) for y in first.outputs for w in second.outputs]
    inputs = [(x, z) for x in first.inputs for z in second.inputs]
    laws = [product_law(first.row(x), second.row(z)) for x, z in inputs]
    return Channel.of(inputs, outputs, [[F(law.get(y, 0)) for y in outputs] for law in laws])


@given(oracles.channels(3, 2), oracles.channels(3, 3))
@settings(max_examples=30)
def test_two_channels_on_one_value_and_on_two(first, second):
    shared, fresh = composing.on_one_value(first, second), on_two_values(first, second)
    for x in range(3):
        one, two = oracles.sent(first, {x: F(1)}), oracles.sent(second, {x: F(1)})
        assert oracles.sent(shared, {x: F(1)}) == product_law(one, two)
        for z in range(3):
            assert oracles.sent(fresh, {(x, z): F(1)}) == product_law(one, oracles.sent(second, {z: F(1)}))


@given(oracles.channels(3, 2), oracles.channels(3, 2), oracles.laws(3), oracles.laws(3), EPSILONS, EPSILONS, st.data())
@settings(max_examples=60)
def test_lifted_relations_add_up_on_one_value(first, second, p, q, epsilon, other, data):
    """E9a: with what each channel keeps for the values of a relation, the sum holds for all of its lifting."""
    pairs = data.draw(st.sets(st.tuples(st.integers(0, 2), st.integers(0, 2)), min_size=1))

    def related(x, z):
        return (x, z) in pairs

    promise = [
        PairPromise(e, F(measured.local_delta(channel, e, related)))
        for channel, e in ((first, epsilon), (second, other))
    ]  # fmt: skip
    if not liftings.is_lifted(p, q, related):
        with pytest.raises(CalibrationRefused, match="no lifting"):
            bounds.shared_input(promise, [(p, q)], related)
        return
    shared = bounds.shared_input(promise, [(p, q)], related)
    together = composing.on_one_value(first, second)
    assert oracles.delta(oracles.sent(together, p), oracles.sent(together, q), shared.epsilon) <= shared.delta


@given(
    oracles.channels(2, 2, 1), oracles.channels(2, 2, 1), oracles.laws(2), oracles.laws(2), oracles.laws(2),
    oracles.laws(2), EPSILONS, EPSILONS,
)  # fmt: skip
@settings(max_examples=60)
def test_any_populations_add_up_on_two_values(first, second, p, q, r, s, epsilon, other):
    promise = composing.fresh_input([
        PairPromise(epsilon, F(measuring.distribution_delta(first, p, q, epsilon))),
        PairPromise(other, F(measuring.distribution_delta(second, r, s, other))),
    ])  # fmt: skip
    together = on_two_values(first, second)
    one, two = oracles.sent(together, product_law(p, r)), oracles.sent(together, product_law(q, s))
    assert oracles.delta(one, two, promise.epsilon) <= promise.delta


def bits():
    values = ("00", "01", "10", "11")
    return [Channel.of(values, (0, 1), [[1 - int(x[b]), int(x[b])] for x in values]) for b in (0, 1)]


def test_the_two_bits_are_never_summed():
    """E9a: each hides parity, together they show it; in the lifting of "differ" they are, but keep nothing for it."""
    even, odd = {"00": F(1, 2), "11": F(1, 2)}, {"01": F(1, 2), "10": F(1, 2)}
    assert [measuring.distribution_loss(bit, even, odd) for bit in bits()] == [0, 0]
    assert measuring.distribution_loss(composing.on_one_value(*bits()), even, odd) == math.inf
    assert measuring.distribution_delta(composing.on_one_value(*bits()), even, odd, 50) == 1
    with pytest.raises(CalibrationRefused):
        bounds.shared_input([PairPromise(0), PairPromise(0)], [(even, odd)], lambda x, y: x == y)
    assert not liftings.is_lifted(even, odd, lambda x, y: x == y)
    assert liftings.is_lifted(even, odd, lambda x, y: x != y)
    assert [measured.relation_loss(bit, lambda x, y: x != y) for bit in bits()] == [math.inf, math.inf]


@given(oracles.channels(3, 3), oracles.channels(3, 2), oracles.laws(3), oracles.laws(3), EPSILONS)
@settings(max_examples=40)
def test_post_processing_tells_no_more(first, then, p, q, epsilon):
    after = first.compose(then)
    assert oracles.sent(after, p) == oracles.sent(then, oracles.sent(first, p))
    assert oracles.delta(oracles.sent(after, p), oracles.sent(after, q), epsilon) <= measuring.distribution_delta(
        first, p, q, epsilon
    )


def test_pre_processing_needs_the_delta_of_a_group():
    """E9c: adjacent points keep (1, 0.01), and two steps need 0.01 (1 + e) at epsilon 2, not 0.01."""
    third = F(1, 100) + F(math.e) / 100
    channel = Channel.of([0, 1, 2], ["n", "y"], [[1, 0], [F(99, 100), F(1, 100)], [1 - third, third]])
    step = measured.local_delta(channel, 1, lambda x, z: abs(x - z) == 1)
    assert step == pytest.approx(0.01, abs=1e-15)
    twice = measured.local_delta(channel, 2, lambda x, z: abs(x - z) == 2)
    assert twice == pytest.approx(0.01 * (1 + math.e), abs=1e-15)
    promise = composing.after_stable(PairPromise(1, F(step)), 2)
    assert promise.epsilon == 2
    assert twice <= float(promise.delta) * (1 + 1e-14)
    assert float(promise.delta) == pytest.approx(twice, abs=1e-14)


@given(oracles.channels(4, 3), EPSILONS, st.integers(0, 3))
@settings(max_examples=40)
def test_so_many_steps_along_a_line(channel, epsilon, steps):
    one = PairPromise(epsilon, F(measured.local_delta(channel, epsilon, lambda x, z: abs(x - z) == 1)))
    promise = composing.after_stable(one, steps)
    delta = measured.local_delta(channel, promise.epsilon, lambda x, z: abs(x - z) == steps)
    assert delta <= float(promise.delta) + 1e-15


@given(st.fractions(0, 3, max_denominator=9), st.integers(0, 6))
def test_the_sum_of_powers(epsilon, count):
    with mp.workdps(60):
        exact = mp.fsum(mp.exp(k * mp.mpf(epsilon.numerator) / epsilon.denominator) for k in range(count))
        bracket = composing.sum_of_powers(epsilon, count)
        assert bracket.low <= exact <= bracket.high
    assert bracket.high <= bracket.low * (1 + 2.0**-51)
