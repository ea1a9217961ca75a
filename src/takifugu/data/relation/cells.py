"""How many steps of runs are in each cell of a calendar, from their ends alone.

The steps of a stretch have one cell: an hour by clocks, or a day, up to a change of clocks. Of the steps before t those
in a stretch s are all of it, if t lies behind it, and t - start(s) if t lies in it; a run's steps are those before its
end without those before its start. So sums of the ends of runs by stretch are enough: of their signs and their places,
and, where cells come again with each day or week, of the number of their period.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import Any

import numpy as np

from takifugu.core.arrays import IntArray
from takifugu.data.times.cells import Slots
from takifugu.data.times.zones import DAY

#: So many numbers are added up at once.
_CHUNK = 2**24


def _operator(form: str) -> Callable[[Sql, object], Sql]:
    """Return an operator that writes itself."""
    return lambda one, other: Sql(form.format(one, other))


@dataclass(frozen=True, eq=False, order=False)
class Sql:
    """A whole number as SQL that is computed with as Python and NumPy do, above 0."""

    text: str

    __add__, __radd__ = _operator("({0} + {1})"), _operator("({1} + {0})")
    __sub__, __mul__ = _operator("({0} - {1})"), _operator("({0} * {1})")
    __floordiv__, __mod__ = _operator("({0} // {1})"), _operator("({0} % {1})")
    __ge__ = _operator("({0} >= {1})")

    def __str__(self) -> str:
        return self.text

    def __array_function__(self, function: Any, types: Any, arguments: Any, options: Any) -> Sql:
        """Return what np.where() chooses by a condition."""
        assert function is np.where, "no other function of arrays is written in SQL"
        return Sql("(case when {} then {} else {} end)".format(*arguments))


class Cells(Slots):
    """The cells of a window of a calendar along some axes, and sums of the ends of runs as steps of each."""

    @property
    def size(self) -> int:
        """Return the number of cells."""
        return len(self.cells[0])

    @property
    def number_sql(self) -> str:
        """Return the number of the cell of a step at `place`."""
        return str(self.of(Sql("place")))

    def index(self, numbers: IntArray) -> IntArray:
        """Return the place of cells by their numbers."""
        return np.searchsorted(self.cells[0], numbers)

    @property
    def stretch_sql(self) -> tuple[str, str]:
        """Return the number of the stretch and of the period of a step at `place`; the window's end counts as one."""
        stretch, period = self._stretch(Sql("place"))
        return str(stretch), str(period)

    def summed(
        self, rows: IntArray, count: int, numbers: IntArray, ends: IntArray, places: IntArray, periods: IntArray
    ) -> IntArray:
        """Return the steps of each of `count` rows by cell, from sums of the ends of runs by row and stretch."""
        starts, unique, period, cell, before = self._table
        at = np.searchsorted(unique, numbers)
        behind = periods - ends * period[at]
        steps = 0 if self._repeats is None else self._repeats[1]
        total = np.zeros((count, self.size), dtype=np.int64)
        np.add.at(total, (rows, cell[at]), places - ends * starts[at] - steps * behind)
        if self._repeats is not None:
            whole = np.zeros(count, dtype=np.int64)
            np.add.at(whole, rows, behind)
            total += whole[:, None] * self._of_period
        chunk = max(_CHUNK // len(unique), 1)
        order = np.argsort(rows, kind="stable")
        bounds = np.searchsorted(rows[order], np.arange(0, count + chunk, chunk))
        for first, (low, high) in zip(range(0, count, chunk), pairwise(bounds.tolist()), strict=False):
            some = order[low:high]
            table = np.zeros((min(chunk, count - first), len(unique)), dtype=np.int64)
            np.add.at(table, (rows[some] - first, at[some]), ends[some])
            total[first : first + chunk] += self._before(table, before, cell)
        return total

    def _before(self, table: IntArray, before: IntArray, cell: IntArray) -> IntArray:
        """Return the steps by cell in all stretches before those with ends, of each row."""
        if self._repeats is not None:
            if np.abs(table).sum(axis=1).max(initial=0) * before.max(initial=0) < 2**53:  # so that floats are exact
                product: IntArray = (table.astype(np.float64) @ before.astype(np.float64)).astype(np.int64)
                return product
            return table @ before
        later = table[:, ::-1].cumsum(axis=1)[:, ::-1] - table  # the ends behind each stretch
        order = np.argsort(cell, kind="stable")
        starts = np.searchsorted(cell[order], np.arange(self.size))
        summed: IntArray = np.add.reduceat((later * before)[:, order], starts, axis=1)
        return summed

    def between(self, first: IntArray, last: IntArray) -> IntArray:
        """Return the steps of stretches of steps by cell, one row each."""
        bounds, where = np.unique(np.stack([first, np.maximum(first, last)], axis=1), axis=0, return_inverse=True)
        cell_of, start = self.cells[1], self.window.start
        some = np.stack([np.bincount(cell_of[a - start : b - start], minlength=self.size) for a, b in bounds.tolist()])
        chosen: IntArray = some.astype(np.int64)[where.ravel()]
        return chosen

    def _stretch(self, place: Any) -> tuple[Any, Any]:
        number, passes = self._fine.of(place), place * 0
        for first, _ in self.offsets[1:]:  # an hour that clocks show twice is two stretches
            passes = passes + np.where(place >= first, 1, 0)
        if self._repeats is None:
            return number + passes * self._most, place * 0
        return number % self._repeats[0] + passes * self._repeats[0], number // self._repeats[0]

    @cached_property
    def _fine(self) -> Slots:
        axes = ("date", "hour") if "hour" in self.axes else ("date",)
        return Slots(self.calendar, self.window, axes)

    @cached_property
    def _most(self) -> int:
        """Return a bound above the numbers of stretches between two changes of clocks."""
        ends = np.array([self.window.start, self.window.stop], dtype=np.int64)
        return int(np.max(self._fine.of(ends))) * 2 + 50

    @cached_property
    def _longest(self) -> tuple[int, int]:
        starts = [*(place for place, _ in self.offsets), self.window.stop]
        return max(pairwise(starts), key=lambda ends: ends[1] - ends[0])

    @cached_property
    def _repeats(self) -> tuple[int, int] | None:
        """Return the stretches and steps of a period of cells, if they come again and the window is longer."""
        days = 7 if "weekday" in self.axes else 1
        steps = self.calendar.steps_in(days * 86_400)
        if not {*self.axes} <= {"hour", "weekday"} or not steps or steps * self.calendar.step != days * DAY:
            return None
        first, last = self._longest
        if last - first < steps:
            return None
        return (24 * days if "hour" in self.axes else days), steps

    @cached_property
    def _of_period(self) -> IntArray:
        assert self._repeats is not None, "cells come again"
        first, _ = self._longest
        cell_of = self.cells[1][first - self.window.start :][: self._repeats[1]]
        return np.bincount(cell_of, minlength=self.size).astype(np.int64)

    @cached_property
    def _table(self) -> tuple[IntArray, IntArray, IntArray, IntArray, IntArray]:
        """Return start, number, period and cell of each stretch by number, and what lies before it."""
        places = np.arange(self.window.start, self.window.stop + 1, dtype=np.int64)
        numbers, periods = (np.asarray(part, dtype=np.int64) for part in self._stretch(places))
        changed = (numbers[1:] != numbers[:-1]) | (periods[1:] != periods[:-1])
        first = np.flatnonzero(np.concatenate(([True], changed)))
        cell_of = self.cells[1]
        cell = cell_of[np.minimum(first, len(cell_of) - 1)]  # unused at the window's end
        length = np.diff(np.append(places[first], max(self.window.stop, places[first][-1])))
        unique, at = np.unique(numbers[first], return_index=True)
        # stretches in order have their lengths; of those that come again the first one has the steps before it by cell
        if self._repeats is None:
            return places[first], numbers[first], periods[first], cell, length
        steps = np.zeros((len(at), self.size), dtype=np.int64)
        so_far, last = np.zeros(self.size, dtype=np.int64), 0
        for row in np.argsort(at).tolist():
            np.add.at(so_far, cell[last : at[row]], length[last : at[row]])
            steps[row], last = so_far, int(at[row])
        return places[first][at], unique, periods[first][at], cell[at], steps
