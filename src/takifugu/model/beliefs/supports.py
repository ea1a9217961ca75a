"""The values that a chain can take at each time: zero patterns of matrices, never rounded masses."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from takifugu.core.arrays import BoolArray, IntArray, read_only, unwritable
from takifugu.core.plain import set_fields


@dataclass(frozen=True, eq=False)
class Supports:
    """The values that X_t can take: `patterns[t]` up to the first repetition, then patterns[first:] forever."""

    patterns: tuple[BoolArray, ...]
    first: int

    def __post_init__(self) -> None:
        set_fields(self, patterns=tuple(map(unwritable, self.patterns)))

    def at(self, time: int) -> BoolArray:
        """Return the possible values of X_time."""
        return self.patterns[self.number(time)]

    def number(self, time: int) -> int:
        """Return the place in `patterns` of the support of X_time."""
        repeats = time >= len(self.patterns)
        if repeats:
            return self.first + (time - self.first) % (len(self.patterns) - self.first)
        return time

    @cached_property
    def late(self) -> BoolArray:
        """Return the possible values at some time of the cycle."""
        return read_only(np.asarray(np.logical_or.reduce(self.patterns[self.first :])))

    def by_phase(self, period: int, first: int = 0) -> BoolArray:
        """Return the possible values at each phase's times from `first` on.

        The phase is the number of steps from X_0, modulo the period.
        """
        rows = np.zeros((period, len(self.patterns[0])), dtype=bool)
        for time in range(first, len(self.patterns)):
            rows[time % period] |= self.patterns[time]
        return rows

    def numbers(self, times: IntArray) -> IntArray:
        """Return the place in `patterns` of the support at each time."""
        cycle = len(self.patterns) - self.first
        return np.where(times < len(self.patterns), times, self.first + (times - self.first) % cycle)

    def pairs(self, times: IntArray, first: IntArray, second: IntArray) -> BoolArray:
        """Return the pairs of possible values at each time, shape (times, pairs)."""
        supports = np.array(self.patterns)
        return np.logical_and(supports[:, first], supports[:, second])[self.numbers(times)]


def supports_from(start: BoolArray, steps: Sequence[BoolArray] | BoolArray) -> Supports:
    """Return the supports of X_0, X_1, ... from the first.

    `steps` are the possible transitions of each step of a period.

    >>> swap = np.array([[False, True], [True, False]])
    >>> supports_from(np.array([True, False]), [swap]).at(7).tolist()
    [False, True]
    """
    first_time: dict[tuple[bytes, int], int] = {}
    supports: list[BoolArray] = []
    now, period = start, len(steps)
    while (key := (now.tobytes(), len(supports) % period)) not in first_time:
        first_time[key] = len(supports)
        supports.append(now)
        now = np.asarray((now[:, None] & steps[(len(supports) - 1) % period]).any(axis=0))
    return Supports(tuple(supports), first_time[key])
