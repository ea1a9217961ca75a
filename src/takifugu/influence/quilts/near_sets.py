"""D(N) for runs of entries: how far an answer moves when they change (docs/decisions.md#change-of-an-answer)."""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from operator import mul

import numpy as np

from takifugu.analysis.bounds import Witness
from takifugu.analysis.problem import Part
from takifugu.core.arrays import FloatArray, IntArray
from takifugu.core.errors import Unsupported
from takifugu.numbers.rationals import float_above
from takifugu.numbers.runs import Runs

#: Changes of one query stay below this, so that they are exact in floats too.
MOST_CHANGE = 2**53


class RunningChange:
    """D(N) of one query for runs of entries, in grid units, from running sums.

    >>> RunningChange(np.array([1, 0, 2])).between(np.array([0, 1]), 3).tolist()
    [3.0, 2.0]
    """

    def __init__(self, changes: IntArray) -> None:
        self.each = Runs.of(changes)
        self.size = self.each.size
        if float((self.each.values.astype(np.float64) * self.each.lengths).sum()) >= MOST_CHANGE:
            raise Unsupported(
                f"the answer can change by {MOST_CHANGE} steps of its grid or more, too many to add exactly",
                fix="declare a coarser grid",
            )

    def between(self, low: IntArray, high: IntArray | int) -> FloatArray:
        """Return D of the runs low .. high - 1."""
        change = self.each.sum_before(np.asarray(high)) - self.each.sum_before(low)
        return np.asarray(change, dtype=np.float64)

    def total(self) -> float:
        """Return D of all entries."""
        return float(self.between(np.array([0]), self.size)[0])


def trivial_cost(part: Part, charges: Sequence[tuple[IntArray, Fraction]]) -> tuple[float, Witness]:
    """Return the joint cost by the trivial quilt, rounded up: all entries change.

    A release of scale 0 costs infinitely much where it reads anything.
    """
    total, is_infinite = Fraction(0), False
    for changes, scale in charges:
        each = Runs.of(changes)
        moved = sum(map(mul, each.values.tolist(), each.lengths.tolist()))  # beyond 64 bits, if it must be
        if scale:
            total += moved / Fraction(scale)
        else:
            is_infinite |= moved > 0
    cost = math.inf if is_infinite else float_above(total)
    return cost, Witness("any values against any others", "the near set is everything", (("cost", cost),))
