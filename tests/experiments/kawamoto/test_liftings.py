"""Couplings and liftings against Strassen's theorem, and the paper's Example 1 with its Figure 1."""

import math
from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.support import population_oracles as oracles
from tests.support.population_oracles import apart

from kawamoto import channels, liftings, measured
from takifugu.mechanisms.local import measuring
from takifugu.numbers.transport import bottleneck

F = Fraction
#: Kawamoto19 Figure 1.
LEFT, RIGHT = {1: F(2, 10), 2: F(5, 10), 3: F(3, 10)}, {1: F(3, 10), 2: F(2, 10), 3: F(5, 10)}
PRINTED = {(1, 1): F(2, 10), (2, 1): F(1, 10), (2, 2): F(2, 10), (2, 3): F(2, 10), (3, 3): F(3, 10)}


def test_figure_1_is_a_coupling_and_the_only_one_without_moves_of_2():
    """Example 1: gamma[2, 1] = 0.1 moves from lambda_0[2] to lambda_1[1]; its largest move is 1."""
    assert oracles.marginals(PRINTED) == (LEFT, RIGHT)
    assert liftings.coupling(LEFT, RIGHT, lambda x, y: (x, y) in PRINTED) == PRINTED
    assert max(apart(x, y) for x, y in PRINTED) == bottleneck.w_infinity(LEFT, RIGHT, apart) == 1
    assert not liftings.is_lifted(LEFT, RIGHT, lambda x, y: x == y)
    distances = liftings.distances(LEFT, RIGHT, apart)
    assert (distances.w_infinity, distances.diameter) == (1, 2)
    assert distances.w_1 == pytest.approx(0.3)
    assert str(distances) == "W-infinity 1 (diameter 2; mean move 0.3, which bounds nothing)"


@st.composite
def cases(draw):
    p, q = draw(oracles.laws(4)), draw(oracles.laws(4))
    pairs = draw(st.sets(st.tuples(st.integers(0, 3), st.integers(0, 3)), max_size=16))
    return p, q, pairs


@given(cases())
@settings(max_examples=60)
def test_a_coupling_exists_where_it_should_and_is_one(case):
    p, q, pairs = case
    coupling = liftings.coupling(p, q, lambda x, y: (x, y) in pairs)
    assert (coupling is not None) == oracles.has_coupling(p, q, pairs)
    if coupling is not None:
        assert set(coupling) <= pairs
        assert oracles.marginals(coupling) == ({x: m for x, m in p.items() if m}, {y: m for y, m in q.items() if m})


@given(cases())
@settings(max_examples=60)
def test_the_lifting_for_w_infinity_is_the_lifting_of_the_short_moves(case):
    p, q, pairs = case
    reach = oracles.least_largest(p, q, apart)
    assert bottleneck.w_infinity(p, q, apart) == reach
    short = {(x, y) for x, y in pairs if apart(x, y) <= reach}
    is_lifted = liftings.is_nearest_lifted(p, q, lambda x, y: (x, y) in pairs, apart)
    assert is_lifted == oracles.has_coupling(p, q, short)
    assert not is_lifted or liftings.is_lifted(p, q, lambda x, y: (x, y) in pairs)


def test_the_mean_move_enters_no_bound():
    """(.9, and .1 at distance 10) against a point: mean move 1, and a loss of 7.7 under metric privacy 1."""
    point, spread = {0: F(1)}, {0: F(9, 10), 10: F(1, 10)}
    channel = channels.exponential([0, 10], [0, 10], apart, 2)
    loss = measuring.distribution_loss(channel, point, spread)
    assert loss == pytest.approx(math.log(0.9 + 0.1 * math.exp(10)), abs=1e-12)  # 7.698
    assert measuring.metric_loss(channel, apart) <= 1 + 1e-12
    by_mean = measured.extended_loss(channel, [point, spread], lambda p, q: liftings.distances(p, q, apart).w_1)
    by_move = measured.extended_loss(channel, [point, spread], lambda p, q: bottleneck.w_infinity(p, q, apart))
    assert by_mean == pytest.approx(loss)
    assert by_move <= 1 + 1e-12 < by_mean
