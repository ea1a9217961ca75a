"""Releases about windows of one recording whose places are declared, as stretches of steps that cost the same.

Every window is a run: where it starts, and what its steps move. What all of them cost is piled up at the steps where
something changes, never in an array of windows by steps.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from itertools import chain
from typing import NamedTuple

import numpy as np

from takifugu.accounting.composition.stretches import Stretches
from takifugu.accounting.composition.windows import Part
from takifugu.model.queries import IntArray

#: The cost of a whole recording stays below 2 to this power, in units.
COST_BITS = 58


class Run(NamedTuple):
    """What releases of one query move at the steps from each of `starts` on, in units of `rate` of cost.

    Where they cost something else at each start, `parts` say what.
    """

    starts: IntArray
    changes: IntArray
    rate: Fraction
    parts: Sequence[Part] = ()

    @property
    def cost(self) -> float:
        """What all windows cost, about."""
        up, down = self.rate.numerator, self.rate.denominator
        each = chain.from_iterable(part.costs(up, down) for part in self.parts)
        return math.fsum(each if self.parts else [up / down] * len(self.starts)) * float(self.changes.sum())

    def in_units(self, unit: Fraction) -> IntArray:
        """Return what each start costs in multiples of a unit, rounded up."""
        one = self.rate / unit
        up, down = one.numerator, one.denominator
        if self.parts:
            return np.concatenate([part.in_units(up, down) for part in self.parts])
        return np.full(len(self.starts), -(-up // down), dtype=np.int64)


def piled(runs: Sequence[Run], start: int | None = None) -> Stretches:
    """Return what each step costs, from `start` or the first one that any run reads to the last one.

    It is exact where all runs have one rate. Otherwise each rate is rounded up to a multiple of 2^-58 of the whole
    cost; a further run makes no step cheaper.

    >>> week = np.ones(7, dtype=np.int64)
    >>> found = piled([Run(np.array([0, 5]), week, Fraction(1, 2))])
    >>> found.lengths.tolist(), found.values.tolist(), found.unit
    ([5, 2, 5], [1, 2, 1], Fraction(1, 2))
    """
    shapes = {id(run.changes): _edges(run.changes) for run in runs}
    unit = runs[0].rate
    if any(run.parts or run.rate != unit for run in runs):
        whole = math.fsum(run.cost for run in runs)
        unit = Fraction(2) ** (math.frexp(whole)[1] - COST_BITS)
    begin = np.array([] if start is None else [start], dtype=np.int64)
    places = [(run.starts[:, None] + shapes[id(run.changes)][0]).ravel() for run in runs]
    changes = [np.outer(run.in_units(unit), shapes[id(run.changes)][1]).ravel() for run in runs]
    steps, where = np.unique(np.concatenate([begin, *places]), return_inverse=True)
    values = np.zeros(len(steps), dtype=np.int64)
    np.add.at(values, where, np.concatenate([np.zeros_like(begin), *changes]))
    values = np.cumsum(values)[:-1]
    lengths = np.diff(steps)
    new = np.flatnonzero(np.append([True], values[1:] != values[:-1]))
    return Stretches(np.add.reduceat(lengths, new), values[new], unit)


def _edges(changes: IntArray) -> tuple[IntArray, IntArray]:
    """Return the places where the changes change, from 0 to behind the last, and by how much."""
    steps = np.diff(changes, prepend=0, append=0)
    places = np.flatnonzero(steps)
    ends = np.array([0, len(changes)], dtype=np.int64)
    return np.concatenate([ends, places]), np.concatenate([np.zeros(2, dtype=np.int64), steps[places]])
