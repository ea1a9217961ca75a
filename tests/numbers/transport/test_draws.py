"""Bounds over boxes of probabilities against the exact number at points, the golden grid of Example 2, and mpmath."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from mpmath import mp
from tests.support.golden import golden

from takifugu.numbers.transport import draws as module
from takifugu.numbers.transport.draws import (
    Draws,
    farthest_move,
    float_gap,
    largest_loss,
    number_of,
    quantile_gap,
    weights_of,
)

CHANCES = st.fractions(0, 1, max_denominator=12)
F = Fraction


def law(chances: list[Fraction]) -> list[Fraction]:
    """Return the law of the number of ones, draw by draw."""
    masses = [F(1)]
    for p in chances:
        masses = [a * (1 - p) + b * p for a, b in zip([*masses, F(0)], [F(0), *masses], strict=True)]
    return masses


def w_infinity(p: list[Fraction], q: list[Fraction]) -> int:
    """Return the least w with P(X <= x) <= Q(Y <= x + w) and the same exchanged, for every x."""
    def cdf(masses: list[Fraction], x: int) -> Fraction:
        return sum(masses[: max(x + 1, 0)], F(0))

    n = len(p)
    return min(w for w in range(n) if all(
        cdf(p, x) <= cdf(q, x + w) and cdf(q, x) <= cdf(p, x + w) for x in range(n)))  # fmt: skip


def loss(p: list[Fraction], q: list[Fraction], scale: Fraction) -> float:
    """Return the largest |log-ratio| after Laplace noise, at every output, with 40 digits."""
    if not scale:
        if any(bool(a) != bool(b) for a, b in zip(p, q, strict=True)):
            return math.inf
        return max(abs(math.log(a / b)) for a, b in zip(p, q, strict=True) if a)
    with mp.workdps(40):
        def mass(masses: list[Fraction], y: int) -> object:
            t = mp.mpf(scale.denominator) / scale.numerator
            return mp.fsum(mp.mpf(m.numerator) / m.denominator * mp.exp(-abs(y - x) * t) for x, m in enumerate(masses))

        return float(max(abs(mp.log(mass(p, y) / mass(q, y))) for y in range(len(p))))


@settings(max_examples=60, deadline=None)
@given(st.lists(st.tuples(st.integers(0, 3), CHANCES), min_size=1, max_size=3))
def test_the_number_of_ones_by_draw(draws: list[tuple[int, Fraction]]) -> None:
    expected = law([p for count, p in draws for _ in range(count)])
    weights = number_of(draws)
    assert [F(mass, sum(weights)) for mass in weights] == expected


@settings(max_examples=80, deadline=None)
@given(st.lists(CHANCES, min_size=1, max_size=5), st.data())
def test_gaps_of_quantiles(p: list[Fraction], data: st.DataObject) -> None:
    q = data.draw(st.lists(CHANCES, min_size=len(p), max_size=len(p)))
    high, low = number_of([(1, x) for x in p]), number_of([(1, x) for x in q])
    both = max(quantile_gap(high, low), quantile_gap(low, high))
    assert both == w_infinity(law(p), law(q))
    rounded = float_gap(weights_of([(1, x) for x in p]), weights_of([(1, x) for x in q]))
    assert quantile_gap(high, low) <= rounded <= quantile_gap(high, low) + 1  # ties may be lost to rounding


@settings(max_examples=10, deadline=None)
@given(st.integers(70, 120), st.integers(1, 11), st.integers(1, 11))
def test_gaps_of_many_draws(count: int, a: int, b: int) -> None:
    p, q = [(count, F(a, 12)), (5, F(1, 3))], [(count, F(b, 12)), (5, F(1, 3))]
    exact = quantile_gap(number_of(p), number_of(q))
    assert exact <= float_gap(weights_of(p), weights_of(q)) <= exact + (a == b)


def test_the_boxes_of_example_2() -> None:
    """F given that `a` of four people have X_2 = 1 is Bin(a, p1) + Bin(4 - a, p2), both in the box."""
    for box, (expected, _) in golden()["attribute_wasserstein_theta_grid_001_example2"].items():
        low, high = (F(end) for end in box.strip("[]").split(","))
        farthest = max(
            farthest_move(
                lambda c, a=a, b=b: [
                    Draws(b, c[0], c[0], same=True), Draws(4 - a, c[1], c[1], same=True), Draws(a - b, c[0], c[1])
                ],
                ((low, high), (low, high)),
            )
            for a in range(5) for b in range(a)
        )  # fmt: skip
        assert farthest == int(expected)


_BOX = st.tuples(CHANCES, CHANCES).map(lambda ends: (min(ends), max(ends)))


@settings(max_examples=40, deadline=None)
@given(st.integers(1, 4), st.integers(0, 2), _BOX, _BOX, st.sampled_from([F(0), F(1, 3), F(1), F(5)]))
def test_no_point_of_a_box_is_above_the_bounds(
    count: int, shared: int, one: tuple[Fraction, Fraction], other: tuple[Fraction, Fraction], scale: Fraction
) -> None:
    """Two columns that follow the secret in opposite ways, and one that does not: corners and inner points."""
    def sides(cell: module.Cell) -> list[Draws]:
        flipped = [(1 - high, 1 - low) for low, high in cell[:2]]
        others = Draws(shared, cell[2], cell[2], same=True)
        return [Draws(count, cell[0], cell[1]), Draws(1, flipped[0], flipped[1]), others]

    cell = (one, one, other)
    move, lost = farthest_move(sides, cell, 60), largest_loss(sides, cell, scale, 40)
    inner = [[low, high, low + (high - low) / 3] for low, high in cell]
    for a, b, c in itertools.product(*inner):
        p, q = ([x] * count + [1 - x] + [c] * shared for x in (a, b))
        assert w_infinity(law(p), law(q)) <= move
        assert loss(law(p), law(q), scale) <= lost * (1 + 1e-9) + 1e-12


@settings(max_examples=30, deadline=None)
@given(st.integers(1, 6), CHANCES, CHANCES, st.sampled_from([F(1, 4), F(1), F(7)]))
def test_the_bound_on_a_loss_is_reached_where_all_draws_move_one_way(
    count: int, p: Fraction, q: Fraction, scale: Fraction
) -> None:
    largest = largest_loss(lambda c: [Draws(count, c[0], c[1])], ((p, p), (q, q)), scale)
    assert largest == pytest.approx(loss(law([p] * count), law([q] * count), scale), rel=1e-9, abs=1e-12)


@pytest.mark.parametrize("count", [1, 7, 300])
@pytest.mark.parametrize("scale", [F(0), F(2, 3), F(50)])
def test_the_loss_of_known_chances_is_rounded_up(count: int, scale: Fraction) -> None:
    """Of one draw with chances p and q: the largest log f/g after noise e^(-|x|/scale), at 0 and at 1."""
    for a, b in itertools.permutations(range(1, 12), 2):
        p, q = F(a, 12), F(b, 12)
        with mp.workdps(40):
            decay = mp.exp(-mp.mpf(scale.denominator) / scale.numerator) if scale else mp.mpf(0)

            def at(x: int, chance: Fraction, decay: object = decay) -> object:
                one = mp.mpf(chance.numerator) / chance.denominator
                return one + (1 - one) * decay if x else (1 - one) + one * decay

            exact = count * max(abs(mp.log(at(x, p) / at(x, q))) for x in (0, 1))
            loss = largest_loss(lambda cell, p=p, q=q: [Draws(count, (p, p), (q, q))], (), scale)
            assert exact <= loss <= exact * (1 + mp.mpf(10) ** -9)


def test_corners_alone_would_not_do() -> None:
    """W-infinity of Example 2 is no monotone function of the box: the bound is above what corners show, or equal."""
    low, high = F(3, 10), F(7, 10)

    def sides(cell: module.Cell) -> list[Draws]:
        return [Draws(2, cell[0], cell[0], True), Draws(2, cell[0], cell[1])]

    corners = [
        w_infinity(law([p] * 4), law([p, p, q, q])) for p, q in itertools.product((low, high), repeat=2)
    ]
    assert farthest_move(sides, ((low, high), (low, high))) >= max(corners)
