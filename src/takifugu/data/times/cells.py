"""Which cell of a table each step of a window is in: by hour of the day, weekday, date, week or month, on local clocks.

A step's number is `sum of its part along each axis`, in mixed radix, computed from its place by integers alone, so that
every engine finds the same. With a time zone a step is where clocks on the wall put it: an hour that they skip has no
step, and one that they show twice has the steps of both.
"""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from takifugu.core.arrays import IntArray
from takifugu.core.errors import InputError
from takifugu.core.nearest import unknown
from takifugu.data.times.calendar import Calendar
from takifugu.data.times.moments import cell_name, cell_numbers
from takifugu.data.times.zones import DAY, HOUR

WEEK = 7 * DAY
#: What a table may be by, from the longest to the shortest, and how long a step of it may be at most.
AXES = {"month": 28 * DAY, "week": WEEK, "date": DAY, "weekday": DAY, "hour": HOUR}
#: Cells that come again; of others there is a first one, that of the origin of local time.
_REPEATING = ("weekday", "hour")


def axes_of(by: str | Sequence[str], calendar: Calendar) -> tuple[str, ...]:
    """Return the axes of a table in order; InputError for unfit ones."""
    if isinstance(by, str):
        by = (by,)
    axes = tuple(by)
    for axis in axes:
        if axis not in AXES:
            what = f"is by {axis!r}, which the calendar does not tell"
            raise unknown(what, axis, list(reversed(AXES))).at("by")
        if axes.count(axis) > 1:
            raise InputError(f"names {axis!r} twice", fix="name it once").at("by")
        if not calendar.is_time:
            raise InputError(f"is by {axis!r}, and steps are numbers", fix='declare a step such as "1min"').at("by")
        if calendar.step > AXES[axis]:
            raise InputError(
                f"is by {axis!r}, and a step is {calendar.length}", rule="a cell is no shorter than a step",
                fix=f"write one of {[a for a in reversed(AXES) if calendar.step <= AXES[a]]}, or leave by out",
            ).at("by")  # fmt: skip
    if not axes:
        raise InputError("names nothing", fix='write for example by = "hour"').at("by")
    return axes


@dataclass(frozen=True)
class Slots:
    """The number of every step of a window, along one axis or several, and what each number is called."""

    calendar: Calendar
    window: range
    axes: tuple[str, ...]

    @cached_property
    def numbers(self) -> IntArray:
        """Return the number of each step of the window."""
        places = np.arange(self.window.start, self.window.stop, dtype=np.int64)
        numbers: IntArray = self.of(places).astype(np.int64)
        return numbers

    @cached_property
    def cells(self) -> tuple[IntArray, IntArray]:
        """Return the different numbers of steps, and each step's place there."""
        numbers, places = np.unique(self.numbers, return_inverse=True)
        return numbers, places.ravel().astype(np.int64)

    def of(self, places: Any) -> Any:
        """Return the numbers of steps by their places, which may be SQL that np.where() understands."""
        start, unit = self.calendar.moment_of(self.window.start) - self._monday, self._unit
        clocks = [(place, (start + offset) // unit) for place, offset in self.offsets]
        steps = (places - self.window.start) * (self.calendar.step // unit)
        wall = steps + _by_halves(places, clocks)
        number = places * 0
        for axis in self.axes:
            if axis == "month":
                part = _by_halves(wall, self._months)
            else:
                part = wall // (AXES[axis] // unit)
            if axis in _REPEATING:
                part = part % self._sizes[axis]
            number = number * self._sizes[axis] + part
        return number

    def label(self, number: int) -> str:
        """Return the words for a number."""
        return " ".join(self.called(number))

    def called(self, number: int) -> tuple[str, ...]:
        """Return the words for a number along each axis."""
        words = list[str]()
        for axis, part in zip(self.axes, self.parts(number, self.axes), strict=True):
            first = 0 if axis in _REPEATING else int(cell_numbers(axis, self._monday))
            words.append(cell_name(axis, first + part))
        return tuple(words)

    def parts(self, number: int, axes: Sequence[str]) -> tuple[int, ...]:
        """Return the part of a number along some of the axes."""
        parts = {}
        for axis in reversed(self.axes):
            number, parts[axis] = divmod(number, self._sizes[axis])
        return tuple(parts[place] for place in axes)

    @cached_property
    def offsets(self) -> list[tuple[int, int]]:
        """Return the clocks' distances from UTC in microseconds, by first place."""
        zone, start = self.calendar.zone, self.window.start
        if zone is None:
            return [(start, 0)]
        offsets = [(start, zone.offset(self.calendar.moment_of(start)))]
        for at, _, offset in zone.changes[bisect_right(zone.changes, (self.calendar.moment_of(start),)) :]:
            place = max(-((self.calendar.start - at) // self.calendar.step), start)
            if place >= self.window.stop:
                break
            offsets = [*(pair for pair in offsets if pair[0] < place), (place, offset)]
        return offsets

    @cached_property
    def _monday(self) -> int:
        """Return the Monday, in microseconds, before the window's first step."""
        day = (self.calendar.moment_of(self.window.start) + self.offsets[0][1]) // DAY
        return (day - (day + 3) % 7 - 7) * DAY

    @cached_property
    def _unit(self) -> int:
        """Return the microseconds of one unit of local time, exact in multiples."""
        shifts = [self.calendar.moment_of(self.window.start) + offset for _, offset in self.offsets]
        return math.gcd(HOUR, self.calendar.step, *shifts)

    @cached_property
    def _months(self) -> list[tuple[int, int]]:
        """Return each month's start, in units, and number in the window."""
        walls = self._monday + np.arange(self._days, dtype=np.int64) * DAY
        numbers, starts = np.unique(cell_numbers("month", walls), return_index=True)
        return list(zip((starts * (DAY // self._unit)).tolist(), (numbers - numbers[0]).tolist(), strict=True))

    @cached_property
    def _sizes(self) -> Mapping[str, int]:
        """Return the largest number of parts along each axis."""
        days = self._days
        return {"hour": 24, "weekday": 7, "date": days, "week": days // 7 + 1, "month": len(self._months)}

    @property
    def _days(self) -> int:
        """Return the most days from the origin to the window's end."""
        ahead = max(offset for _, offset in self.offsets)
        return (self.calendar.moment_of(self.window.stop) + ahead - self._monday) // DAY + 1


def _by_halves(places: Any, steps: Sequence[tuple[int, int]]) -> Any:
    """Return the value of the last step up to each number."""
    if len(steps) == 1:
        return steps[0][1]
    middle = len(steps) // 2
    later = _by_halves(places, steps[middle:])
    return np.where(places >= steps[middle][0], later, _by_halves(places, steps[:middle]))
