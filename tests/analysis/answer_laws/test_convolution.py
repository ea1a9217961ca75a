"""Convolution in blocks, and arrays of positive polynomials, against Fractions."""

import math
from fractions import Fraction
from itertools import product as all_of

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.support.wide_numbers import close, fractions, wide

from takifugu.numbers.extended import convolution
from takifugu.numbers.extended.floats import LOWEST, Wide, shifted

Row = list[Fraction]


def times(one: Row, other: Row) -> Row:
    units = [math.lcm(*(value.denominator for value in row)) for row in (one, other)]
    whole = [[int(value * unit) for value in row] for row, unit in zip((one, other), units, strict=True)]
    result = [0] * (len(one) + len(other) - 1)
    for i, j in all_of(range(len(one)), range(len(other))):
        result[i + j] += whole[0][i] * whole[1][j]
    return [Fraction(value, units[0] * units[1]) for value in result]


@st.composite
def rows(draw: st.DrawFn) -> Row:
    """Rows whose binary orders are linear, bend, jump, or are arbitrary; some with zeros."""
    size, rng = draw(st.integers(1, 90)), np.random.default_rng(draw(st.integers(0, 10**6)))
    at = np.arange(size)
    orders = draw(
        st.sampled_from(
            [-3 * at, 20 * at, -(at**2), -40 * (at % 2), 1500 * (at // 20), rng.integers(-3000, 3000, size)]
        )
    )
    gaps = draw(st.sampled_from([0.0, 0.0, 0.4]))
    held = rng.random(size) >= gaps
    return [
        Fraction(int(m)) * Fraction(2) ** int(e) * int(h)
        for m, e, h in zip(rng.integers(1, 99, size), orders, held, strict=True)
    ]


@settings(max_examples=60, deadline=None)
@given(rows(), rows())
def test_every_number_keeps_its_relative_accuracy(one: Row, other: Row) -> None:
    product = convolution.convolve(wide(one), wide(other))
    assert close(product, times(one, other), 2 * min(len(one), len(other)) + 4)
    assert (product.exponents[product.mantissas == 0] == LOWEST).all()


@pytest.mark.mutants
def test_convolution_of_a_long_row_that_alternates_between_two_sizes() -> None:
    a = [Fraction(1 + i % 3) * Fraction(2) ** (-1500 * (i % 2) - 7 * i) for i in range(200)]
    expected = [sum(a[j] * a[i - j] for j in range(200) if 0 <= i - j < 200) for i in range(399)]
    assert close(convolution.convolve(wide(a), wide(a)), expected, 404)


def law(size: int) -> Wide:
    """Return binomial counts with odds 1 : 20, from 1 down to 2**-4.4 size."""
    from math import comb

    return wide([Fraction(comb(size - 1, k), 20**k).limit_denominator(2**6000) for k in range(size)])


@pytest.mark.mutants
def test_laws_of_counts_are_convolved_in_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    one, other = law(700), law(300)
    exact = times(fractions(one), fractions(other))
    monkeypatch.setattr("takifugu.numbers.extended.convolution._by_pieces", None)
    assert one.span > 2500
    assert close(convolution.convolve(one, other), exact, 604)


@pytest.mark.parametrize(("name", "value"), [("_TRUSTED", -2000), ("_RAISED", -300)])
def test_small_numbers_beside_a_large_one_are_not_raised(
    monkeypatch: pytest.MonkeyPatch, name: str, value: int
) -> None:
    small = Fraction(2) ** -900
    one, other = [Fraction(0)] * 31 + [Fraction(1)] + [small] * 168, [Fraction(1)] + [Fraction(0)] * 28 + [Fraction(1)]
    expected = times(one, other)
    assert close(convolution.convolve(wide(one), wide(other)), expected, 64)
    monkeypatch.setattr(convolution, name, value)
    assert not close(convolution.convolve(wide(one), wide(other)), expected, 64)


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 10**6), st.sampled_from([0, 3, 700]), st.sampled_from([0, 300]))
def test_products_sums_and_shifts_of_polynomials(seed: int, spread: int, more: int) -> None:
    rng = np.random.default_rng(seed)

    def made(shape: tuple[int, ...], spread: int) -> tuple[Wide, np.ndarray]:
        size = int(np.prod(shape))
        orders = rng.integers(-spread, spread + 1, size)
        values = [
            Fraction(int(m)) * Fraction(2) ** int(e) for m, e in zip(rng.integers(0, 9, size), orders, strict=True)
        ]
        table = np.array(values, dtype=object).reshape(shape)
        return wide(values).each(lambda array: array.reshape(shape)), table

    wide_axis = int(rng.integers(1, 40))
    (one, first), (other, second) = (
        made((2, 3, wide_axis), spread),
        made((2, 1, int(rng.choice([1, 2, 3, 4, 30]))), spread + more),
    )
    product = convolution.convolve(one, other)
    expected = [x for i in range(2) for j in range(3) for x in times(list(first[i, j]), list(second[i, 0]))]
    assert close(product, expected, 2 * min(first.shape[-1], second.shape[-1]) + 4)
    assert close(one.sum((0, 1)), list(first.sum(axis=(0, 1))), 6)
    moved = shifted(one, [2, 0, 1], 1)
    blank = [Fraction(0)]
    expected = [
        x for i in range(2) for j, by in enumerate([2, 0, 1]) for x in blank * by + list(first[i, j]) + blank * (2 - by)
    ]
    assert fractions(moved) == expected
    turned = one.each(lambda array: np.expand_dims(array.transpose(1, 0, 2), 1))
    spreaded = shifted(turned, [1, 0], 1)
    expected = [
        x
        for j in range(3)
        for by in (1, 0)
        for i in range(2)
        for x in blank * by + list(first[i, j]) + blank * (1 - by)
    ]
    assert fractions(spreaded) == expected
