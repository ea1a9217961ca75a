"""Arithmetic beyond the range of float64, against Fractions."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from tests.support.wide_numbers import close, fractions

from takifugu.numbers.extended.floats import UNIT, Wide, add, as_law, combine, moved, shifted, stack, times

numbers = st.tuples(st.integers(0, 9), st.integers(-3000, 3000)).map(lambda t: Fraction(t[0]) * Fraction(2) ** t[1])
near = st.tuples(st.integers(0, 9), st.integers(-40, 40)).map(lambda t: Fraction(t[0]) * Fraction(2) ** t[1])
arrays = st.one_of(st.lists(numbers, min_size=1, max_size=9), st.lists(near, min_size=1, max_size=90))


def wide(values: list[Fraction]) -> Wide:
    """Small integers times powers of two: exact."""
    parts = [Wide.of([float(_odd(v)[0])]) for v in values]
    return Wide(
        np.concatenate([p.mantissas for p in parts]),
        np.concatenate([times(p, 1.0, _odd(v)[1]).exponents for p, v in zip(parts, values, strict=True)]),
    )


@given(st.data(), st.integers(1, 3), st.integers(1, 4))
def test_combine_is_a_matrix_product(data: st.DataObject, inner: int, width: int) -> None:
    some = st.sampled_from([numbers, near]).flatmap(lambda kind: st.lists(kind, min_size=inner, max_size=inner))
    weights = [data.draw(some) for _ in range(2)]
    rows = [data.draw(st.lists(numbers, min_size=width, max_size=width)) for _ in range(inner)]
    expected = [sum(w[k] * rows[k][j] for k in range(inner)) for w in weights for j in range(width)]
    product = combine(stack([wide(w) for w in weights]), stack([wide(r) for r in rows]))
    assert close(product, expected, inner + 2)


@given(arrays, st.integers(1, 3))
def test_moves_and_sums(a: list[Fraction], places: int) -> None:
    row = stack([wide(a)])
    pad = [Fraction(0)] * places
    assert fractions(moved(row, places)) == (pad + a)[: len(a)]
    assert fractions(moved(row, -places)) == (a + pad)[places:]
    assert fractions(shifted(row, np.array([places]))) == pad + a
    assert close(add(row, row), [2 * x for x in a], 1)


@given(arrays.filter(any), st.integers(-5, 5), st.integers(1, 4))
def test_laws_keep_every_mass(a: list[Fraction], start: int, step: int) -> None:
    law = as_law(wide(a), start, step)
    held = [(start + step * i, x / sum(a)) for i, x in enumerate(a) if x]
    assert law.values.tolist() == [v for v, _ in held]
    masses = [Fraction(m) for _, m in law.items()]
    assert all(abs(m - x) <= 2 * (len(a) + 3) * Fraction(UNIT) * x for m, (_, x) in zip(masses, held, strict=True))


def _odd(value: Fraction) -> tuple[int, int]:
    """Write value as integer * 2**exponent."""
    if value.denominator > 1:
        return value.numerator, -(value.denominator.bit_length() - 1)
    shift = (value.numerator & -value.numerator).bit_length() - 1 if value else 0
    return value.numerator >> shift, shift
