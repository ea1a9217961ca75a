"""Arrays of positive polynomials, exponents being sums: products, sums, shifts, of any size.

The last axis of an array runs over the coefficients. Numbers are float64 times one power of two while all of them lie
within NARROW binary orders: products of two such numbers stay normal float64 numbers, and nothing is lost. Otherwise
they are `Wide`. Nothing is ever subtracted: a number is right up to as many factors 1 +- 2**-53 as it was rounded.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from takifugu.core.arrays import FloatArray
from takifugu.numbers.atoms import Array
from takifugu.numbers.extended.convolution import convolve
from takifugu.numbers.extended.floats import LOWEST, NARROW, Wide, normalised

#: The shorter of two polynomials is taken coefficient by coefficient up to this many coefficients ...
_FEW = 24
#: ... or where there are more products of polynomials than this.
_MANY = 64


@dataclass(frozen=True, eq=False)
class Scaled:
    """The numbers `floats` * 2**`exponent`, all of them 0 or in [2**-NARROW, 1)."""

    floats: FloatArray
    exponent: int

Numbers = Scaled | Wide


def numbers(values: FloatArray, exponent: int = 0) -> Numbers:
    """Return values * 2**exponent, Scaled within NARROW binary orders, else Wide."""
    largest, smallest = float(values.max(initial=0.0)), float(values.min(initial=0.0))
    if largest <= 0:
        return Scaled(np.zeros(values.shape), 0)
    order = math.frexp(largest)[1]
    least = math.ldexp(1.0, order - NARROW)
    if smallest >= least or not ((values > 0) & (values < least)).any():
        return Scaled(values * math.ldexp(1.0, -order), exponent + order)
    return as_wide(Scaled(values, exponent))


def as_wide(some: Numbers) -> Wide:
    """Return the numbers as Wide."""
    if isinstance(some, Wide):
        return some
    mantissas, extra = np.frexp(some.floats)
    return Wide(mantissas, np.where(mantissas > 0, some.exponent + extra.astype(np.int64), LOWEST))


def shape(some: Numbers) -> tuple[int, ...]:
    return some.floats.shape if isinstance(some, Scaled) else some.mantissas.shape


def summed(some: Numbers, axes: tuple[int, ...]) -> Numbers:
    """Return the sum over some axes, one rounding per summand."""
    if not axes:
        return some
    if isinstance(some, Scaled):
        return numbers(some.floats.sum(axis=axes), some.exponent)
    top = some.exponents.max(axis=axes, keepdims=True)
    return normalised(some.floats(top).sum(axis=axes), top.squeeze(axes))


def product(first: Numbers, second: Numbers) -> Numbers:
    """Return the products of polynomials, cell by cell.

    Axes of length 1 are repeated. A coefficient is rounded at most 2 min(n, m) + 4 times, n and m the numbers of
    coefficients.
    """
    if shape(first)[-1] < shape(second)[-1]:
        first, second = second, first
    few = shape(second)[-1]
    if isinstance(first, Scaled) and isinstance(second, Scaled):
        cells = math.prod(np.broadcast_shapes(shape(first)[:-1], shape(second)[:-1]))
        if few == 1:
            return numbers(first.floats * second.floats, first.exponent + second.exponent)
        if few <= _FEW or cells > _MANY:
            return numbers(_place_by_place(first.floats, second.floats), first.exponent + second.exponent)
    left, right = as_wide(first), as_wide(second)
    if few == 1:
        return normalised(left.mantissas * right.mantissas, left.exponents + right.exponents)
    return _row_by_row(left, right)


def _place_by_place(left: FloatArray, right: FloatArray) -> FloatArray:
    width, few = left.shape[-1], right.shape[-1]
    cells = np.broadcast_shapes(left.shape[:-1], right.shape[:-1])
    result = np.zeros((*cells, width + few - 1))
    for j in range(few):
        result[..., j : j + width] += left * right[..., j : j + 1]
    return result


def shifted(some: Numbers, axis: int, offsets: Sequence[int]) -> Numbers:
    """Multiply by z**offsets[s] along `axis`, offsets from 0."""
    cells, width = list(shape(some)), shape(some)[-1]
    single = cells[axis] == 1
    cells[axis], cells[-1] = len(offsets), width + max(offsets)

    def placed(values: Array, empty: int) -> Array:
        result = np.full(cells, empty, dtype=values.dtype)
        into, source = np.moveaxis(result, axis, 0), np.moveaxis(values, axis, 0)
        for s, offset in enumerate(offsets):
            into[s, ..., offset : offset + width] = source[0 if single else s]
        return result

    if isinstance(some, Scaled):
        return Scaled(placed(some.floats, 0), some.exponent)
    return Wide(placed(some.mantissas, 0), placed(some.exponents, LOWEST))


def arranged(some: Numbers, axes: Sequence[int | None]) -> Numbers:
    """Return the numbers with these axes, coefficients last; None is new."""
    order = [value for value in axes if value is not None]
    fresh: tuple[slice | None, ...] = ()
    for axis in axes:
        fresh += (None if axis is None else slice(None),)
    fresh += (slice(None),)
    if isinstance(some, Scaled):
        return Scaled(some.floats.transpose([*order, -1])[fresh], some.exponent)
    return Wide(some.mantissas.transpose([*order, -1])[fresh], some.exponents.transpose([*order, -1])[fresh])


def _row_by_row(left: Wide, right: Wide) -> Wide:
    cells = np.broadcast_shapes(left.mantissas.shape[:-1], right.mantissas.shape[:-1])
    size = (*cells, left.mantissas.shape[-1] + right.mantissas.shape[-1] - 1)
    result = Wide(np.zeros(size), np.full(size, LOWEST, dtype=np.int64))
    first, second = _repeated(left, cells), _repeated(right, cells)
    for cell in np.ndindex(*cells):
        of_left, of_right = first[cell], second[cell]
        if of_left.mantissas.any() and of_right.mantissas.any():
            product = convolve(of_left, of_right)
            result.mantissas[cell], result.exponents[cell] = product.mantissas, product.exponents
    return result


def _repeated(rows: Wide, cells: tuple[int, ...]) -> Wide:
    size = (*cells, rows.mantissas.shape[-1])
    return Wide(np.broadcast_to(rows.mantissas, size), np.broadcast_to(rows.exponents, size))
