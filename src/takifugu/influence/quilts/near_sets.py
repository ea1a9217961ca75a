"""D(N) for runs of entries: how far an answer moves when they change (docs/decisions.md#change-of-an-answer)."""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction

import numpy as np

from takifugu.core.errors import Unsupported
from takifugu.model.queries import IntArray
from takifugu.numbers.log_ratios import UNIT, BoolArray, FloatArray
from takifugu.numbers.rationals import float_above

#: Changes of one query stay below this, so that they are exact in floats too.
MOST_CHANGE = 2**53
#: Running sums of joint costs stay below 2 to this power.
SUM_BITS = 60


class RunningChange:
    """What the runs of a sequence cost when they change: whole numbers of steps, from running sums.

    A step is worth `unit` (`step` is that number rounded up); a run with a `blocked` entry costs infinitely much.
    """

    def __init__(self, each: IntArray, unit: Fraction = Fraction(1), blocked: BoolArray | None = None) -> None:
        self.size = len(each)
        self.unit, self.step = unit, float_above(unit)
        self.sums: IntArray = np.concatenate([[0], np.cumsum(each, dtype=np.int64)])
        self._blocked = None if blocked is None else np.concatenate([[0], np.cumsum(blocked)])

    def between(self, low: IntArray, high: IntArray | int) -> FloatArray:
        """Return the cost of the runs low .. high - 1 (0 where a run is empty)."""
        cost = (self.sums[high] - self.sums[low]) * self.step
        if self._blocked is not None:
            return np.where(self._blocked[high] > self._blocked[low], np.inf, cost)
        return np.asarray(cost, dtype=np.float64)

    def total(self) -> float:
        """Return the cost of all entries."""
        return float(self.between(np.array([0]), self.size)[0])


def query_change(each: IntArray) -> RunningChange:
    """Return D(N) of one query in grid units; Unsupported where it is too large to be added exactly.

    >>> query_change(np.array([1, 0, 2])).between(np.array([0, 1]), 3).tolist()
    [3.0, 2.0]
    """
    if float(each.astype(np.float64).sum()) >= MOST_CHANGE:
        raise Unsupported(
            f"the answer can change by {MOST_CHANGE} steps of its grid or more, too many to add exactly",
            fix="declare a coarser grid",
        )
    return RunningChange(each)


def joint_change(charges: Sequence[tuple[IntArray, Fraction]]) -> RunningChange:
    """Return sum over releases k of D_k(N)/b_k as one running change: exact where all read the same entries alike.

    Otherwise every entry's cost is rounded up to a multiple of 2^-60 of the whole cost. A release of scale 0 blocks
    every entry that it reads.

    >>> cost = joint_change([(np.array([1, 1]), Fraction(3)), (np.array([1, 1]), Fraction(6))])
    >>> cost.sums[-1] * cost.unit
    Fraction(1, 1)
    """
    size = len(charges[0][0])
    blocked = np.zeros(size, dtype=bool)
    rates: dict[bytes, Fraction] = {}
    tables: dict[bytes, IntArray] = {}
    for changes, scale in charges:
        if scale == 0:
            blocked |= changes > 0
            continue
        key = np.ascontiguousarray(changes, dtype=np.int64).tobytes()
        rates[key] = rates.get(key, Fraction(0)) + 1 / Fraction(scale)
        tables[key] = changes
    barrier = blocked if blocked.any() else None
    if len(rates) == 0:
        return RunningChange(np.zeros(size, dtype=np.int64), Fraction(1), barrier)
    if len(rates) == 1:
        (key, rate) = next(iter(rates.items()))
        if float(tables[key].astype(np.float64).sum()) < 2.0**SUM_BITS:
            return RunningChange(tables[key], rate, barrier)
    costs = np.zeros(size)
    for key, rate in rates.items():
        costs += tables[key] * float_above(rate)
    costs *= 1 + (len(rates) + 4) * UNIT
    unit = Fraction(2) ** max(-1000, math.frexp(float(costs.sum()))[1] - SUM_BITS)
    return RunningChange(np.ceil(costs / float(unit)).astype(np.int64), unit, barrier)
