"""A matrix for each hour of the day or each weekday: the period in which they repeat, and the names of its cells.

The step from an entry to the next follows the matrix of the hour, or weekday, in which the entry's own step starts.
Places in a period are counted as a ledger counts steps, so that a calendar whose start moves has the same chain.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

from takifugu.core.errors import InputError
from takifugu.core.nearest import did_you_mean
from takifugu.data.times.calendar import Calendar
from takifugu.data.times.cells import Slots
from takifugu.data.times.moments import WEEKDAYS
from takifugu.model.beliefs.chains.periodic_chain import LONGEST_PERIOD

#: The cells that matrices may be by, and after how many microseconds they are the same again.
CELLS = {"hour": tuple(f"{hour:02}" for hour in range(24)), "weekday": WEEKDAYS}
_REPEAT = {"hour": 86_400_000_000, "weekday": 604_800_000_000}
#: What a belief by hours or weekdays needs.
CALENDAR = 'write from = "2026-01-05" under [source], where the recording starts, and its step'
#: So many cells without a matrix are named one by one.
_NAMED = 4


@dataclass(frozen=True)
class Period:
    """In which cell each step of one period starts, by its number, and the place of the calendar's first step."""

    #: Places are those of clocks: on both sides of a change a cell has the same place, and steps have others.
    cells: tuple[int, ...]
    start: int


def period_of(by: str, calendar: Calendar) -> Period:
    """Return the period of a calendar's hours or weekdays."""
    if not calendar.is_time:
        raise InputError("steps are numbers, which have no hours and days", fix='declare a step such as "1h"').at(
            "matrix_by"
        )
    _check_clocks(calendar)
    step = int(calendar.step)
    size = _REPEAT[by] // math.gcd(_REPEAT[by], step)
    if size > LONGEST_PERIOD:
        raise InputError(
            f"the matrices are the same again after {size:,} steps of {calendar.length} only",
            rule=f"at most {LONGEST_PERIOD:,} are looked at", fix="declare a longer step",
        ).at("matrix_by")  # fmt: skip
    start = _by_clocks(calendar) % size
    clocks = replace(calendar, start=int(calendar.moment_of(-start)) + _ahead(calendar), stop=None, zone=None)
    return Period(tuple(Slots(clocks, range(size), (by,)).numbers.tolist()), start)


def since_1970(calendar: Calendar) -> Calendar:
    """Return the calendar counted from 1970 in UTC; by clocks its places are those of `period_of`."""
    first = calendar.moment_of(-calendar.at(0))
    return replace(calendar, start=first, stop=None)


def _by_clocks(calendar: Calendar) -> int:
    """Return the number of the calendar's first step, counted from 1970 by its clocks; a ledger counts in UTC."""
    return calendar.at(0) + _ahead(calendar) // int(calendar.step)


def _ahead(calendar: Calendar) -> int:
    """Return how far clocks are ahead of UTC, all through the calendar."""
    return 0 if calendar.zone is None else calendar.zone.offset(int(calendar.start))


def cells_of(name: str, by: str) -> tuple[int, ...]:
    """Parse a cell, a range, or several with commas into numbers."""
    cells: list[int] = []
    for part in name.split(","):
        ends = [_cell(text.strip(), name, by) for text in part.split("-")]
        if len(ends) > 2:
            raise InputError(f"{name!r} has more than two ends", fix=_example(by)).at(name)
        last = ends[-1] if ends[-1] >= ends[0] else ends[-1] + len(CELLS[by])
        cells += [cell % len(CELLS[by]) for cell in range(ends[0], last + 1)]
    return tuple(cells)


def shared_out(names: Sequence[str], by: str) -> dict[int, str]:
    """Map each cell to its key, the one that holds it."""
    name_of: dict[int, str] = {}
    for name in names:
        for cell in cells_of(name, by):
            if cell in name_of:
                raise InputError(
                    f"{CELLS[by][cell]} is in {name_of[cell]!r} and in {name!r}", rule=f"each {by} has one matrix"
                ).at(name)
            name_of[cell] = name
    missing = [text for cell, text in enumerate(CELLS[by]) if cell not in name_of]
    if missing:
        more = f" and {len(missing) - _NAMED} more" if len(missing) > _NAMED else ""
        raise InputError(f"no matrix is that of {', '.join(missing[:_NAMED])}{more}", fix=_example(by))
    return name_of


def _cell(text: str, name: str, by: str) -> int:
    if by == "hour":
        if text.isascii() and text.isdigit() and len(text) <= 2 and int(text) < 24:
            return int(text)
        raise InputError(f"{name!r} names {text!r}, which is no hour from 00 to 23", fix=_example(by)).at(name)
    numbers = [n for n, day in enumerate(WEEKDAYS) if text.lower() in (day.lower(), day[:3].lower())]
    if not numbers:
        raise InputError(
            f"{name!r} names {text!r}, which is no weekday{did_you_mean(text.title(), WEEKDAYS)}", fix=_example(by)
        ).at(name)
    return numbers[0]


def _example(by: str) -> str:
    if by == "hour":
        keys = '"22-06" = [[...], ...], "07-21"'
    else:
        keys = "Monday-Friday = [[...], ...], Saturday-Sunday"
    return f"write for example matrices = {{ {keys} = [[...], ...] }}, in which each {by} is once"


def _check_clocks(calendar: Calendar) -> None:
    """Raise InputError for a change of clocks inside the calendar: it breaks the period of the steps' hours."""
    change = change_of_clocks(calendar)
    if change is not None and (calendar.stop is None or change.moment < calendar.stop):
        raise InputError(
            f"clocks in {change.zone} are changed inside the calendar, about {change.day}",
            rule="after that steps have other hours, so the matrices do not repeat",
            fix="give times in UTC, without timezone, and matrices by the hour in UTC; or declare until before "
            "that day and another calendar for what follows: releases on one side of the day then count on the "
            "other at the cost of a change of all that they read",
        ).at("matrix_by")


@dataclass(frozen=True)
class ClockChange:
    """The first change of a zone's clocks after a calendar's start, and how many steps start before it."""

    zone: str
    moment: int
    day: str
    steps: int


def change_of_clocks(calendar: Calendar) -> ClockChange | None:
    """Return the change after which the calendar's steps have other hours, None for clocks that are never changed."""
    if calendar.zone is None:
        return None
    moment = next((at for at, *_ in calendar.zone.changes if at > calendar.start), None)
    if moment is None:
        return None
    steps = math.ceil((moment - calendar.start) / calendar.step)
    return ClockChange(calendar.zone.name, moment, calendar.written(range(steps)).split(" to ")[1][:10], steps)
