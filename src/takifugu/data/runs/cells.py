"""How many steps of a run are in each cell of a calendar: G(end) - G(start), G(t)[c] being those before t in cell c.

A run's ends are summed up by the stretch of steps that they lie in, which has one cell: days, or hours where a cell is
one; then G(t) = G(s) + (t - s) [c is its cell], s its first step. So no step is expanded for a run.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from takifugu.data.times.cells import Slots

IntArray = npt.NDArray[np.int64]
Choose = Callable[[Any, Any, Any], Any]


@dataclass(frozen=True)
class CellSums:
    """The cells of a window, by the stretches of steps that each has one cell."""

    slots: Slots

    @property
    def size(self) -> int:
        """Return how many cells there are."""
        return len(self.slots.cells[0])

    def stretch(self, place: Any, choose: Choose) -> Any:
        """Return the number of the stretch that a step of the window, or its end, is in; numbers may leave some out."""
        number = self._fine.of(place, choose)
        after = self.slots.offsets[1:]
        if not after:
            return number
        passes = sum((choose(place >= first, 1, 0) for first, _ in after), place * 0)
        return number + passes * self._most  # an hour that clocks show twice is two stretches

    def summed(self, numbers: IntArray, ends: IntArray, places: IntArray) -> IntArray:
        """Return the steps in each cell; `ends` and `places` sum, by stretch, signs and places of the ends of runs."""
        rows = np.searchsorted(self._numbers, numbers)
        starts = self._starts[rows]
        total: IntArray = ends @ self._before(starts)
        np.add.at(total, self._cell[rows], places - ends * starts)
        return total

    def between(self, start: int, stop: int) -> IntArray:
        """Return the steps of the window from one up to before another one in each cell."""
        first = self.slots.window.start
        which = self.slots.cells[1][start - first : stop - first]
        return np.bincount(which, minlength=self.size).astype(np.int64)

    def _before(self, places: IntArray) -> IntArray:
        """Return the steps before each of these places in each cell: those of whole stretches, which end there."""
        rows = np.searchsorted(self._sorted_starts, places)
        return self._cumulative[rows]

    @cached_property
    def _fine(self) -> Slots:
        axes = ("date", "hour") if "hour" in self.slots.axes else ("date",)
        return Slots(self.slots.calendar, self.slots.window, axes)

    @cached_property
    def _most(self) -> int:
        """Return more than any number of a stretch that counts no passes."""
        window = self.slots.window
        bounds = np.array([window.stop], dtype=np.int64)
        largest = int(np.max(self._fine.numbers, initial=0))
        return max(largest, int(np.max(self._fine.of(bounds, _choose)))) + 1

    @cached_property
    def _table(self) -> tuple[IntArray, IntArray, IntArray]:
        """Return the first place, the number and the cell of each stretch; the window's end is the last one."""
        window = self.slots.window
        places = np.arange(window.start, window.stop + 1, dtype=np.int64)
        numbers = np.asarray(self.stretch(places, _choose), dtype=np.int64) + 0 * places
        first = np.flatnonzero(np.concatenate(([True], numbers[1:] != numbers[:-1])))
        cell = self.slots.cells[1]
        return places[first], numbers[first], cell[np.minimum(first, len(cell) - 1)]

    @cached_property
    def _order(self) -> IntArray:
        return np.argsort(self._table[1], kind="stable").astype(np.int64)

    @cached_property
    def _numbers(self) -> IntArray:
        return self._table[1][self._order]

    @cached_property
    def _starts(self) -> IntArray:
        return self._table[0][self._order]

    @cached_property
    def _cell(self) -> IntArray:
        return self._table[2][self._order]

    @property
    def _sorted_starts(self) -> IntArray:
        return self._table[0]

    @cached_property
    def _cumulative(self) -> IntArray:
        """Return the steps in each cell before each stretch."""
        starts, _, cell = self._table
        lengths = np.diff(np.append(starts, max(self.slots.window.stop, starts[-1])))
        counts = np.zeros((len(starts), self.size), dtype=np.int64)
        counts[np.arange(len(starts)), cell] = lengths
        return np.cumsum(counts, axis=0) - counts


def _choose(when: Any, yes: Any, no: Any) -> Any:
    return np.where(when, yes, no)


def add_up(groups: Sequence[tuple[int, int, int]], sums: CellSums) -> IntArray:
    """Return the steps in each cell of runs of one unit and state: groups of stretch, signs and signed places."""
    array = np.array(groups, dtype=np.int64).reshape(-1, 3)
    return sums.summed(array[:, 0], array[:, 1], array[:, 2])
