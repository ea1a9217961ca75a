"""The mean of independent uniform numbers (Irwin and Hall; scaled), by positive terms only.

Let B_n be the density of the sum of n uniform numbers on [0, 1]. Then (n - 1) B_n(u) = u B_{n-1}(u) +
(n - u) B_{n-1}(u - 1), and P(sum <= u) = B_{n+1}(u) + B_{n+1}(u - 1) + ...: no term is negative, so no digit is lost,
however far out u is. The density is log-concave and (log B_n)' <= (n - 1)/u for u <= n/2, so a relative error of u
counts at most n - 1 times.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from takifugu.core.errors import InputError
from takifugu.core.plain import PlainForm, set_fields
from takifugu.numbers.atoms import Array, Floats
from takifugu.numbers.densities import TINY, between_tails, finite
from takifugu.numbers.rationals import is_whole

#: Most numbers of a mean: the work grows as their square.
MOST = 100


@dataclass(frozen=True)
class Bates(PlainForm, kind="uniform-mean"):
    """Model the mean of independent uniform numbers.

    Args:
        count: How many numbers, 1 to 100.
        low: The least number, in answer units.
        high: The largest number.

    Raises:
        InputError: Unless count is a whole number from 1 to 100 and low < high are finite.

    Examples:
        >>> Bates(2, 0, 1).pdf(np.array([0.25, 0.5])).tolist()
        [1.0, 2.0]
    """

    count: int
    low: float
    high: float

    def __post_init__(self) -> None:
        count: object = self.count
        if not is_whole(count, 1) or count > MOST:
            raise InputError(f"count is {count!r}", rule=f"it must be a whole number from 1 to {MOST}").at("count")
        set_fields(self, low=finite(self.low, "low"), high=finite(self.high, "high"))
        if not self.low < self.high:
            raise InputError(
                f"the range is from {self.low!r} to {self.high!r}", rule="low must be below high"
            ).at("low")

    @property
    def mean(self) -> float:
        return self.low + (self.high - self.low) / 2

    @property
    def deviation(self) -> float:
        return float((self.high - self.low) / np.sqrt(12 * self.count))

    @property
    def range(self) -> tuple[float, float]:
        return self.low, self.high

    @property
    def edges(self) -> tuple[float, ...]:
        knots = [self.low + (self.high - self.low) * k / self.count for k in range(1, self.count)]
        return tuple(sorted({self.low, *knots, self.mean, self.high}))

    def pdf(self, x: Floats) -> Floats:
        steps, is_inside = self._steps(x)
        return np.where(is_inside, self._height(steps), 0.0)

    def bounds(self, low: Floats, high: Floats) -> tuple[Floats, Floats]:
        heights = self._height(self._steps(np.concatenate((low, high)))[0])
        left, right = heights[: len(low)], heights[len(low) :]
        over = (high <= self.low) | (low >= self.high)
        holds = (low >= self.low) & (high <= self.high)
        # The middle itself is rounded; where no end is nearer to it the highest place is the cell's own end.
        peak = (low - self.low <= self.high - low) & (high - self.low >= self.high - high)
        most = np.where(peak, self._peak, np.maximum(left, right))
        least = np.where(holds, np.minimum(left, right), 0.0)
        slack = self._relative
        return least * (1 - slack) - TINY, np.where(over, 0.0, most * (1 + slack)) + TINY

    def mass(self, low: Floats, high: Floats) -> tuple[Floats, Floats]:
        return between_tails(
            low, high, self.mean, lambda x: self._tail(x - self.low), lambda x: self._tail(self.high - x),
            lambda x: np.full_like(x, self._relative),
        )  # fmt: skip

    @cached_property
    def _peak(self) -> float:
        return float(self._height(np.array([self.count / 2]))[0])

    @property
    def _relative(self) -> float:
        """Return the relative error of heights and tails: n + 1 levels."""
        return 2.0**-48 * (self.count + 4)

    def _steps(self, x: Floats) -> tuple[Floats, Array]:
        """Return the steps from the nearer end, and whether inside."""
        near = np.minimum(x - self.low, self.high - x)
        return self.count * np.clip(near / (self.high - self.low), 0.0, 0.5), near >= 0

    def _height(self, steps: Floats) -> Floats:
        height: Floats = _splines(steps, self.count)[0] * (self.count / (self.high - self.low))
        return height

    def _tail(self, distance: Floats) -> Floats:
        """Return P(X <= low + distance), read up to the middle, which is rounded, or a little beyond."""
        share = np.clip(distance / (self.high - self.low), 0.0, 1.0)
        tail: Floats = _splines(self.count * share, self.count + 1).sum(axis=0)
        return tail

    def describe(self) -> str:
        uniform = f"uniform from {self.low:g} to {self.high:g}"
        return uniform if self.count == 1 else f"the mean of {self.count} numbers, each {uniform}"


def _splines(u: Floats, order: int) -> Floats:
    """Return B_order(u - j) for j = 0, 1, ..., as rows."""
    offset = u[None, :] - np.arange(order)[:, None]
    values = ((offset >= 0) & (offset < 1)).astype(float)
    for n in range(2, order + 1):
        following = np.concatenate((values[1:], np.zeros_like(values[:1])))
        values = (np.maximum(offset, 0.0) * values + np.maximum(n - offset, 0.0) * following) / (n - 1)
    return values
