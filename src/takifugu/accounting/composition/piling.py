"""Releases about windows of one recording whose places are declared, as stretches of steps that cost the same.

What all windows cost is piled up at the steps where something changes, never in an array of windows by steps: between
the ends of windows every step costs the same.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from typing import NamedTuple

import numpy as np

from takifugu.core.arrays import IntArray
from takifugu.model.queries import Additive
from takifugu.numbers.runs import Runs

#: The cost of a whole recording stays below 2 to this power, in units.
COST_BITS = 58


class Windows(NamedTuple):
    """The changes by one query's windows, from each of `starts` on, in units of the rate of their start."""

    starts: IntArray
    changes: IntArray
    #: Rates in units of `unit`, each with the number of starts in a row that have it.
    rates: Sequence[tuple[Fraction, int]]
    unit: Fraction = Fraction(1)

    @property
    def cost(self) -> float:
        """The cost of all windows, about."""
        total = math.fsum(float(rate) * times for rate, times in self.rates)
        return total * float(self.unit) * float(self.changes.sum())

    def in_units(self, unit: Fraction) -> IntArray:
        """Return each start's cost in units, rounded up."""
        up, down = (self.unit / unit).as_integer_ratio()
        costs, repeats = [], []
        for rate, times in self.rates:
            costs.append(-(-rate.numerator * up // (rate.denominator * down)))
            repeats.append(times)
        return np.repeat(np.array(costs, dtype=np.int64), repeats)


def piled(windows: Sequence[Windows], start: int | None = None) -> tuple[Runs, Fraction]:
    """Return each step's cost as runs, from `start` or else the first step of any window, with the unit of cost."""
    shapes = {id(series.changes): _edges(series.changes) for series in windows}
    unit = windows[0].unit * windows[0].rates[0][0]
    if any(multiple * series.unit != unit for series in windows for multiple, _ in series.rates):
        # rates are rounded up to 2^-58 of the whole cost; a further window makes no step cheaper
        unit = Fraction(2) ** (math.frexp(math.fsum(series.cost for series in windows))[1] - COST_BITS)
    places, changes = [], []
    if start is not None:
        places.append(np.array([start], dtype=np.int64))
        changes.append(np.zeros(1, dtype=np.int64))
    for series in windows:
        edges, sizes = shapes[id(series.changes)]
        places.append((series.starts[:, None] + edges).ravel())
        changes.append(np.outer(series.in_units(unit), sizes).ravel())
    steps, places_of = np.unique(np.concatenate(places), return_inverse=True)
    values = np.zeros(len(steps), dtype=np.int64)
    np.add.at(values, places_of, np.concatenate(changes))
    values = np.cumsum(values)[:-1]
    last = np.flatnonzero(np.append(values[1:] != values[:-1], True))
    return Runs(values[last], steps[1:][last] - steps[0]), unit


def _edges(changes: IntArray) -> tuple[IntArray, IntArray]:
    """Return the places and sizes of edges."""
    steps = np.diff(changes, prepend=0, append=0)
    places = np.flatnonzero(steps)
    ends = np.array([0, len(changes)], dtype=np.int64)
    return np.concatenate([ends, places]), np.concatenate([np.zeros(2, dtype=np.int64), steps[places]])


def standing_in(size: int) -> Additive:
    """Return an answer over `size` entries, for a search of secrets only."""
    return Additive(Fraction(1), ("change",), (np.zeros((1, 1), dtype=np.int64),), np.zeros(size, dtype=np.int64))
