"""D(N) for runs of entries: how far an answer moves when they change (docs/decisions.md#change-of-an-answer)."""

from __future__ import annotations

import math
from collections.abc import Hashable, Sequence
from fractions import Fraction

import numpy as np

from takifugu.analysis.bounds import Witness
from takifugu.analysis.problem import Part
from takifugu.core.arrays import FloatArray, IntArray
from takifugu.core.errors import Unsupported
from takifugu.numbers.outward_rounding import UNIT
from takifugu.numbers.rationals import float_above
from takifugu.numbers.runs import Runs, refined

#: Changes of one query stay below this, so that they are exact in floats too.
MOST_CHANGE = 2**53
#: Running sums of joint costs stay below 2 to this power.
SUM_BITS = 60


class RunningChange:
    """The costs of changed runs, in steps, from running sums.

    A step is worth `unit` (`step` is that number rounded up); a run with a `blocked` entry costs infinitely much.
    """

    def __init__(
        self, changes: IntArray | Runs, unit: Fraction = Fraction(1), blocked: Runs | None = None
    ) -> None:
        self.each = Runs.of(changes)
        self.size = self.each.size
        self.unit, self.step = unit, float_above(unit)
        self._blocked = blocked

    def steps(self, low: IntArray, high: IntArray | int) -> IntArray:
        """Return the steps of the runs low .. high - 1."""
        return self.each.sum_before(np.asarray(high)) - self.each.sum_before(low)

    def between(self, low: IntArray, high: IntArray | int) -> FloatArray:
        """Return the cost of runs low .. high - 1."""
        cost = self.steps(low, high) * self.step
        if self._blocked is not None:
            is_blocked = self._blocked.sum_before(np.asarray(high)) > self._blocked.sum_before(low)
            return np.where(is_blocked, np.inf, cost)
        return np.asarray(cost, dtype=np.float64)

    @property
    def is_blocked(self) -> bool:
        """Whether some entry must not change."""
        return self._blocked is not None

    def total(self) -> float:
        """Return the cost of all entries."""
        return float(self.between(np.array([0]), self.size)[0])


def query_change(changes: IntArray) -> RunningChange:
    """Return D(N) of one query in grid units.

    >>> query_change(np.array([1, 0, 2])).between(np.array([0, 1]), 3).tolist()
    [3.0, 2.0]
    """
    runs = Runs.of(changes)
    if float((runs.values.astype(np.float64) * runs.lengths).sum()) >= MOST_CHANGE:
        raise Unsupported(
            f"the answer can change by {MOST_CHANGE} steps of its grid or more, too many to add exactly",
            fix="declare a coarser grid",
        )
    return RunningChange(runs)


def joint_change(charges: Sequence[tuple[IntArray, Fraction]]) -> RunningChange:
    """Return sum over releases k of D_k(N)/b_k as a running change.

    The sum is exact where all read the same entries alike. Otherwise every entry's cost is rounded up to a multiple of
    2^-60 of the whole cost. A release of scale 0 blocks every entry that it reads.

    >>> cost = joint_change([(np.array([1, 1]), Fraction(3)), (np.array([1, 1]), Fraction(6))])
    >>> cost.each.total * cost.unit
    Fraction(1, 1)
    """
    rates: dict[Hashable, Fraction] = {}
    tables: dict[Hashable, Runs] = {}
    without_noise: list[Runs] = []
    for changes, scale in charges:
        row = Runs.of(changes)
        if scale == 0:
            without_noise.append(row)
            continue
        rates[row.key] = rates.get(row.key, Fraction(0)) + 1 / Fraction(scale)
        tables[row.key] = row
    barrier = None
    if any(row.values.any() for row in without_noise):
        values, ends = refined(*without_noise)
        barrier = Runs(np.asarray((values > 0).any(axis=0), dtype=np.int64), ends)
    if len(rates) == 0:
        return RunningChange(Runs.alike(0, len(charges[0][0])), Fraction(1), barrier)
    if len(rates) == 1:
        (key, rate) = next(iter(rates.items()))
        if float((tables[key].values.astype(np.float64) * tables[key].lengths).sum()) < 2.0**SUM_BITS:
            return RunningChange(tables[key], rate, barrier)
    values, ends = refined(*tables.values())
    costs = np.zeros(len(ends))
    for changes, rate in zip(values, rates.values(), strict=True):
        costs += changes * float_above(rate)
    costs *= 1 + (len(rates) + 4) * UNIT
    total = float((costs * np.diff(ends, prepend=0)).sum())
    unit = Fraction(2) ** max(-1000, math.frexp(total)[1] - SUM_BITS)
    return RunningChange(Runs(np.ceil(costs / float(unit)).astype(np.int64), ends), unit, barrier)


def trivial_cost(part: Part, charges: Sequence[tuple[IntArray, Fraction]]) -> tuple[float, Witness]:
    """Return the joint cost by the trivial quilt, rounded up: all entries change."""
    change = joint_change(charges)
    total = math.inf if math.isinf(change.total()) else float_above(change.each.total * change.unit)
    return total, Witness("any values against any others", "the near set is everything", (("cost", total),))
