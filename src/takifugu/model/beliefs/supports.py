"""The values that a chain can take at each time: zero patterns of matrices, never rounded masses."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from takifugu.numbers.log_ratios import BoolArray, IntArray


@dataclass(frozen=True, eq=False)
class Supports:
    """The values that X_t can take: `patterns[t]` up to the first repetition, then patterns[first:] forever."""

    patterns: tuple[BoolArray, ...]
    first: int

    def at(self, time: int) -> BoolArray:
        """Return which values X_time can take."""
        return self.patterns[self.number(time)]

    def number(self, time: int) -> int:
        """Return which element of `patterns` is the support of X_time."""
        repeats = time >= len(self.patterns)
        return self.first + (time - self.first) % (len(self.patterns) - self.first) if repeats else time

    @cached_property
    def late(self) -> BoolArray:
        """Return the values that are possible at some time of the cycle."""
        return np.asarray(np.logical_or.reduce(self.patterns[self.first :]))

    def late_by_phase(self, period: int) -> BoolArray:
        """Return the values possible at times of the cycle that are so many steps, modulo the period, from X_0."""
        return self._met(period, self.first)

    def met_by_phase(self, period: int) -> BoolArray:
        """Return the values possible at any time that is so many steps, modulo the period, from X_0."""
        return self._met(period, 0)

    def _met(self, period: int, first: int) -> BoolArray:
        rows = np.zeros((period, len(self.patterns[0])), dtype=bool)
        for time in range(first, len(self.patterns)):
            rows[time % period] |= self.patterns[time]
        return rows

    def numbers(self, times: IntArray) -> IntArray:
        """Return which element of `patterns` is the support at each time."""
        cycle = len(self.patterns) - self.first
        return np.where(times < len(self.patterns), times, self.first + (times - self.first) % cycle)

    def pairs(self, times: IntArray, first: IntArray, second: IntArray) -> BoolArray:
        """Return which pairs of values (first, second) are both possible at each time, shape (times, pairs)."""
        supports = np.array(self.patterns)
        return np.logical_and(supports[:, first], supports[:, second])[self.numbers(times)]


def supports_from(start: BoolArray, steps: Sequence[BoolArray] | BoolArray) -> Supports:
    """Return the supports of X_0, X_1, ... from that of X_0 and the possible transitions of each step of a period.

    >>> swap = np.array([[False, True], [True, False]])
    >>> supports_from(np.array([True, False]), [swap]).at(7).tolist()
    [False, True]
    """
    seen: dict[tuple[bytes, int], int] = {}
    supports: list[BoolArray] = []
    now, period = start, len(steps)
    while (key := (now.tobytes(), len(supports) % period)) not in seen:
        seen[key] = len(supports)
        supports.append(now)
        now = np.asarray((now[:, None] & steps[(len(supports) - 1) % period]).any(axis=0))
    return Supports(tuple(supports), seen[key])
