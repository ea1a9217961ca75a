"""Positive numbers beyond the range of float64: a mantissa and a binary exponent for every number.

The tails of a long chain fall far below 1e-308 (0.25**1000 is 2**-2000), and a pure promise must not lose them. Every
operation here adds and multiplies numbers that are not negative, so it keeps relative accuracy: UNIT per rounding.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from takifugu.core.arrays import FloatArray
from takifugu.numbers.distributions.pmf import Pmf

ExponentArray = npt.NDArray[np.int64]

#: Half the spacing of float64 at one: the largest relative error of one rounding.
UNIT = 2.0**-53
#: Exponent of zero: below every other, and sums of a few still fit.
LOWEST = -(2**50)
#: Products of two numbers within this many binary orders of one stay normal float64 numbers.
NARROW = 480
#: Multiplications of a matrix product: OpenBLAS takes one thread up to the first; threads pay from about the second on.
_IN_ONE_THREAD, _THREADS_FROM = 2**18, 2**25


@dataclass(frozen=True, eq=False)
class Wide:
    """An array of numbers mantissas * 2**exponents, mantissas in {0} or [1/2, 1); zeros have exponent LOWEST."""

    mantissas: FloatArray
    exponents: ExponentArray

    @staticmethod
    def of(values: npt.ArrayLike) -> Wide:
        array = np.asarray(values, dtype=np.float64)
        return normalised(array, np.zeros(array.shape, dtype=np.int64))

    def __getitem__(self, index: Any) -> Wide:
        return Wide(self.mantissas[index], self.exponents[index])

    @property
    def top(self) -> int:
        """The largest exponent; LOWEST when every number is zero."""
        return int(self.exponents.max(initial=LOWEST))

    @property
    def span(self) -> int:
        """Return the binary orders between the smallest positive and largest number."""
        exponents = self.exponents[self.mantissas > 0]
        return int(exponents.max()) - int(exponents.min()) if exponents.size else 0

    def floats(self, exponent: int | ExponentArray) -> FloatArray:
        """Return the numbers divided by 2**exponent."""
        return scaled(self.mantissas, self.exponents - exponent)


def combine(weights: Wide, rows: Wide) -> Wide:
    """Return weights @ rows; k + 1 roundings per number."""
    if weights.span + rows.span <= 2 * NARROW:
        product = weights.floats(weights.top) @ rows.floats(rows.top)
        return normalised(product, np.full(product.shape, max(weights.top + rows.top, LOWEST), dtype=np.int64))
    combined = []
    for row, exponents in zip(weights.mantissas, weights.exponents, strict=True):
        mantissas, exponents = row[:, None] * rows.mantissas, exponents[:, None] + rows.exponents
        top = exponents.max(axis=0)  # terms 2**1000 times smaller are left out
        combined.append(normalised(scaled(mantissas, exponents - top).sum(axis=0), top))
    return stack(combined)


def shifted(rows: Wide, offsets: npt.NDArray[np.int64]) -> Wide:
    """Return rows, shape (k, n), moved right by offsets, zeros filled in."""
    count, width = rows.mantissas.shape
    size = width + int(offsets.max())
    mantissas, exponents = np.zeros((count, size)), np.full((count, size), LOWEST, dtype=np.int64)
    for row, offset in enumerate(offsets.tolist()):
        mantissas[row, offset : offset + width] = rows.mantissas[row]
        exponents[row, offset : offset + width] = rows.exponents[row]
    return Wide(mantissas, exponents)


def moved(rows: Wide, places: int) -> Wide:
    """Return rows moved right or left within their width, zeros filled in."""
    mantissas, exponents = np.zeros_like(rows.mantissas), np.full_like(rows.exponents, LOWEST)
    into, out = slice(places, None), slice(None, -places)
    if places < 0:
        into, out = slice(None, places), slice(-places, None)
    mantissas[:, into], exponents[:, into] = rows.mantissas[:, out], rows.exponents[:, out]
    return Wide(mantissas, exponents)


def times(numbers: Wide, factor: float | FloatArray, exponent: int | ExponentArray) -> Wide:
    """Return numbers * factor * 2**exponent, one rounding, factor not negative."""
    return normalised(numbers.mantissas * factor, numbers.exponents + exponent)


def add(first: Wide, second: Wide) -> Wide:
    """Return the sum of two arrays of one shape, one rounding."""
    top = np.maximum(first.exponents, second.exponents)
    return normalised(first.floats(top) + second.floats(top), top)


def as_law(weights: Wide, start: int, step: int) -> Pmf:
    """Return the law proportional to weights on start, start + step, ...

    Masses are float64 where all of them are normal float64 numbers, else integers with 53 significant bits: they keep
    their relative accuracy, but they are rounded all the same.
    """
    possible = np.flatnonzero(weights.mantissas)
    values, law = start + step * possible.astype(np.int64), weights[possible]
    if law.span <= 2 * NARROW:
        numbers = law.floats(law.top)
        return Pmf(values, numbers / numbers.sum())
    masses = np.ldexp(law.mantissas, 53).astype(np.int64).tolist()
    shifts = (law.exponents - law.exponents.min()).tolist()
    return Pmf.from_counts(values, [number << shift for number, shift in zip(masses, shifts, strict=True)])


def normalised(numbers: FloatArray, exponents: ExponentArray) -> Wide:
    """Return numbers * 2**exponents."""
    mantissas, extra = np.frexp(numbers)
    return Wide(mantissas, np.where(mantissas > 0, exponents + extra, LOWEST))


def scaled(mantissas: FloatArray, exponents: ExponentArray) -> FloatArray:
    """Return mantissas * 2**exponents; below -1100 all give zero."""
    return np.ldexp(mantissas, np.maximum(exponents, -2000).astype(np.intc))


def product(rows: FloatArray, matrix: FloatArray) -> FloatArray:
    """Return rows @ matrix, small products in pieces without threads."""
    if len(rows) * matrix.size > _THREADS_FROM:
        return rows @ matrix
    result, piece = np.empty((len(rows), matrix.shape[1])), max(1, _IN_ONE_THREAD // matrix.size)
    for start in range(0, len(rows), piece):
        np.matmul(rows[start : start + piece], matrix, out=result[start : start + piece])
    return result


def stack(rows: list[Wide]) -> Wide:
    """Return rows of one length as one array."""
    return Wide(np.stack([r.mantissas for r in rows]), np.stack([r.exponents for r in rows]))
