"""How many steps of a run are in each cell of a calendar: G(end) - G(start), G(t)[c] being those before t in cell c.

A run's ends are summed up by the stretch of steps that they lie in, which has one cell: days, or hours where a cell is
one; then G(t) = G(s) + (t - s) [c is its cell], s its first step. Cells that repeat with each day or week have the
stretches of one; G then grows by n[c], the steps of a whole period in cell c, with each that lies between.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import Any

import numpy as np

from takifugu.core.arrays import IntArray
from takifugu.data.times.cells import Slots
from takifugu.data.times.zones import DAY

Choose = Callable[[Any, Any, Any], Any]


@dataclass(frozen=True)
class CellSums:
    """The cells of a window, by the stretches of steps that each has one cell."""

    slots: Slots

    @property
    def size(self) -> int:
        """Return the number of cells."""
        return len(self.slots.cells[0])

    def stretch(self, place: Any, choose: Choose) -> tuple[Any, Any]:
        """Return the numbers of a step's stretch and period.

        The window's end counts as a step.
        """
        number, passes = self._fine.of(place, choose), place * 0
        for first, _ in self.slots.offsets[1:]:  # an hour that clocks show twice is two stretches
            passes = passes + choose(place >= first, 1, 0)
        if self._repeats is None:
            return number + passes * self._most, place * 0
        return number % self._repeats[0] + passes * self._repeats[0], number // self._repeats[0]

    def summed(self, numbers: IntArray, ends: IntArray, places: IntArray, periods: IntArray) -> IntArray:
        """Return the steps in each cell, from sums by stretch.

        Sums are of the signs, places and periods of the ends of runs.
        """
        starts, stretch_numbers, period, cell = self._table
        order = np.unique(stretch_numbers, return_index=True)[1]
        rows = order[np.searchsorted(stretch_numbers[order], numbers)]
        behind = periods - ends * period[rows]
        total: IntArray = ends @ self._cumulative[rows] + behind.sum() * self._of_period
        size = 0 if self._repeats is None else self._repeats[1]
        np.add.at(total, cell[rows], places - ends * starts[rows] - size * behind)
        return total

    def between(self, start: int, stop: int) -> IntArray:
        """Return the steps from `start` up to before `stop`, by cell."""
        first = self.slots.window.start
        cell_by_step = self.slots.cells[1][start - first : stop - first]
        return np.bincount(cell_by_step, minlength=self.size).astype(np.int64)

    @cached_property
    def _fine(self) -> Slots:
        axes: tuple[str, ...] = ("date",)
        if "hour" in self.slots.axes:
            axes = ("date", "hour")
        return Slots(self.slots.calendar, self.slots.window, axes)

    @cached_property
    def _most(self) -> int:
        """Return a bound above all numbers of stretches in one pass."""
        window = self.slots.window
        return int(np.max(self._fine.of(np.array([window.start, window.stop], dtype=np.int64), np.where))) * 2 + 50

    @cached_property
    def _longest(self) -> tuple[int, int]:
        """Return the ends of the longest stretch without clock changes."""
        starts = [*(place for place, _ in self.slots.offsets), self.slots.window.stop]
        return max(pairwise(starts), key=lambda ends: ends[1] - ends[0])

    @cached_property
    def _repeats(self) -> tuple[int, int] | None:
        """Return the stretches and steps of a period of cells, if any.

        Periods are days or weeks on one clock, and clocks must run that long without a change: a window of less than a
        day may end in the hour of its start.
        """
        calendar, axes = self.slots.calendar, {*self.slots.axes}
        days = 7 if "weekday" in axes else 1
        steps = calendar.steps_in(days * 86_400)
        if not axes <= {"hour", "weekday"} or not steps or steps * calendar.step != days * DAY:
            return None
        first, last = self._longest
        if last - first < steps:
            return None
        if "hour" in axes:
            return 24 * days, steps
        return days, steps

    @cached_property
    def _of_period(self) -> IntArray:
        """Return the steps of a whole period by cell, 0 without one."""
        if self._repeats is None:
            return np.zeros(self.size, dtype=np.int64)
        first, _ = self._longest
        return self.between(first, first + self._repeats[1])

    @cached_property
    def _table(self) -> tuple[IntArray, IntArray, IntArray, IntArray]:
        """Return first place, number, period and cell by stretch.

        The window's end is the last.
        """
        window = self.slots.window
        places = np.arange(window.start, window.stop + 1, dtype=np.int64)
        numbers, periods = (np.asarray(part, dtype=np.int64) for part in self.stretch(places, np.where))
        changed = (numbers[1:] != numbers[:-1]) | (periods[1:] != periods[:-1])
        first = np.flatnonzero(np.concatenate(([True], changed)))
        cell_by_step = self.slots.cells[1]
        cell = cell_by_step[np.minimum(first, len(cell_by_step) - 1)]  # unused at the window's end
        return places[first], numbers[first], periods[first], cell

    @cached_property
    def _cumulative(self) -> IntArray:
        """Return the steps in each cell before each stretch."""
        starts, _, _, cell = self._table
        counts = np.zeros((len(starts), self.size), dtype=np.int64)
        counts[np.arange(len(starts)), cell] = np.diff(np.append(starts, max(self.slots.window.stop, starts[-1])))
        return np.cumsum(counts, axis=0) - counts


def add_up(steps: Sequence[tuple[int, int, int, int]], sums: CellSums | None) -> IntArray | int:
    """Return the steps of one unit's and state's runs in each cell.

    Runs are stretches with signs, places and periods; without cells their lengths are added.
    """
    if sums is None:
        return sum(length for _, _, length, _ in steps)
    array = np.array(steps, dtype=np.int64).reshape(-1, 4)
    return sums.summed(array[:, 0], array[:, 1], array[:, 2], array[:, 3])
