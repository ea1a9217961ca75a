"""Positive numbers beyond the range of float64: a mantissa and a binary exponent for every number.

The tails of a long chain fall far below 1e-308 (0.25**1000 is 2**-2000), and a pure promise must not lose them. Every
operation here adds, multiplies and divides numbers that are not negative, so it keeps relative accuracy: UNIT per
rounding.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from takifugu.core.arrays import BoolArray, FloatArray
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
    def of(values: npt.ArrayLike, exponents: int | ExponentArray = 0) -> Wide:
        """Return values * 2**exponents."""
        mantissas, extra = np.frexp(np.asarray(values, dtype=np.float64))
        return Wide(mantissas, np.where(mantissas > 0, np.add(exponents, extra, dtype=np.int64), LOWEST))

    @staticmethod
    def zeros(*shape: int) -> Wide:
        return Wide(np.zeros(shape), np.full(shape, LOWEST, dtype=np.int64))

    def __getitem__(self, index: Any) -> Wide:
        return Wide(self.mantissas[index], self.exponents[index])

    def __setitem__(self, index: Any, numbers: Wide) -> None:
        self.mantissas[index], self.exponents[index] = numbers.mantissas, numbers.exponents

    def __len__(self) -> int:
        return len(self.mantissas)

    # Each product, quotient and sum of two is rounded once.
    def __add__(self, other: Wide) -> Wide:
        top = np.maximum(self.exponents, other.exponents)
        return Wide.of(self.floats(top) + other.floats(top), top)

    def __mul__(self, other: Wide) -> Wide:
        return Wide.of(self.mantissas * other.mantissas, self.exponents + other.exponents)

    def __truediv__(self, other: Wide) -> Wide:
        return Wide.of(self.mantissas / other.mantissas, self.exponents - other.exponents)

    def __matmul__(self, rows: Wide) -> Wide:
        """Return the matrix product, k + 1 roundings per number."""
        if self.span + rows.span <= 2 * NARROW:
            return Wide.of(self.floats(self.top) @ rows.floats(rows.top), self.top + rows.top)
        return stack([(self[number, :, None] * rows).sum(0) for number in range(len(self))])

    @property
    def shape(self) -> tuple[int, ...]:
        return self.mantissas.shape

    @property
    def support(self) -> BoolArray:
        """Which numbers are positive."""
        return np.asarray(self.mantissas > 0)

    @property
    def logs(self) -> FloatArray:
        """The logarithms, -inf for zeros."""
        with np.errstate(divide="ignore"):
            return np.asarray(np.log(self.mantissas) + self.exponents * math.log(2))

    @property
    def top(self) -> int:
        """The largest exponent; LOWEST when every number is zero."""
        return int(self.exponents.max(initial=LOWEST))

    @property
    def span(self) -> int:
        """Return the binary orders between the smallest positive and largest number."""
        exponents = self.exponents[self.mantissas > 0]
        return int(exponents.max()) - int(exponents.min()) if exponents.size else 0

    def floats(self, exponent: int | ExponentArray = 0) -> FloatArray:
        """Return the numbers divided by 2**exponent; what float64 cannot hold is 0, or infinite."""
        return scaled(self.mantissas, self.exponents - exponent)

    def sum(self, axes: int | tuple[int, ...]) -> Wide:
        """Return the sum over some axes, one rounding per summand; terms 2**1000 times smaller are left out."""
        top = self.exponents.max(axis=axes, keepdims=True)
        return Wide.of(self.floats(top).sum(axis=axes), top.squeeze(axes))

    def each(self, arrange: Callable[[npt.NDArray[Any]], npt.NDArray[Any]]) -> Wide:
        """Return the numbers at other places: `arrange` moves, repeats or omits those of an array."""
        return Wide(arrange(self.mantissas), arrange(self.exponents))

    def blocks(self, length: int) -> Blocks:
        """Cut rows into blocks of so many numbers."""
        size = self.shape[-1]
        padded = Wide.zeros(*self.shape[:-1], size + -size % length)
        padded[..., :size] = self
        cut = padded.each(lambda array: array.reshape(*array.shape[:-1], -1, length))
        tops = cut.exponents.max(axis=-1)
        return Blocks(cut.floats(tops[..., None]), tops, size)


@dataclass(frozen=True, eq=False)
class Blocks:
    """Numbers floats[..., block, place] * 2**tops[..., block]; those after the first `size` of a row are padding."""

    floats: FloatArray
    tops: ExponentArray
    size: int

    def wide(self) -> Wide:
        """Return the numbers row by row."""
        numbers = Wide.of(self.floats, self.tops[..., None])
        return numbers.each(lambda array: array.reshape(*self.tops.shape[:-1], -1)[..., : self.size])


def shifted(numbers: Wide, offsets: Sequence[int] | npt.NDArray[np.int64], axis: int = 0) -> Wide:
    """Return rows (the last axis) moved right by offsets along another axis, zeros filled in."""
    width, shape = numbers.shape[-1], list(numbers.shape)
    shape[axis], shape[-1] = len(offsets), width + int(max(offsets))
    result, before = Wide.zeros(*shape), (slice(None),) * axis
    for place, offset in enumerate(offsets):
        # An axis of length 1 is repeated.
        row = numbers[(*before, place if numbers.shape[axis] > 1 else 0)]
        result[(*before, place, ..., slice(offset, offset + width))] = row
    return result


def stack(
    numbers: Sequence[Wide], join: Callable[[list[npt.NDArray[Any]]], npt.NDArray[Any]] = np.stack
) -> Wide:
    """Return several arrays as one."""
    return Wide(join([part.mantissas for part in numbers]), join([part.exponents for part in numbers]))


def as_law(weights: Wide, start: int, step: int) -> Pmf:
    """Return the distribution proportional to weights on start, start + step, ..."""
    possible = np.flatnonzero(weights.mantissas)
    values, law = start + step * possible.astype(np.int64), weights[possible]
    if law.span <= 2 * NARROW:
        numbers = law.floats(law.top)
        return Pmf(values, numbers / numbers.sum())
    # Integers with 53 significant bits keep their relative accuracy, but are rounded all the same.
    masses = np.ldexp(law.mantissas, 53).astype(np.int64).tolist()
    shifts = (law.exponents - law.exponents.min()).tolist()
    return Pmf.from_counts(values, [number << shift for number, shift in zip(masses, shifts, strict=True)])


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
