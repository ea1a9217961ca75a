"""What is declared of rows that are changes of a state, stays in one or events, and of the steps that they cover."""

from __future__ import annotations

import math
from collections.abc import Hashable, Mapping
from dataclasses import dataclass, field
from fractions import Fraction

from takifugu.data.times.calendar import Calendar
from takifugu.data.times.moments import Moment

#: From when to when a unit is covered: where the calendar starts and ends if None.
Ends = tuple[Moment | None, Moment | None]


@dataclass(frozen=True)
class RunRules:
    """What rows say: `changes` of a state, which hold until the next one, `stays` in one, or `events` of one step.

    `covered` are all units, with their ends; without names there is one unit. Of changes, `before` is the state up to a
    unit's first one (None: it must have one by then). Of stays, `end` names the column of their ends, or `duration`
    that of their lengths and the microseconds of one. Where starts are a date and a time of day, `end` is a time of
    day alone, the first such one after the start, or both columns. `otherwise` is the state of a step without a stay or
    event, and `overlap` says which of two counts: none ("refuse"), the one that began "first", or the "last" one, which
    ends the other.
    """

    rows: str
    covered: Mapping[str | None, Ends] = field(default_factory=lambda: {None: (None, None)})
    before: Hashable = None
    end: str | tuple[str, str] | None = None
    duration: tuple[str, int] | None = None
    otherwise: Hashable = None
    overlap: str = "refuse"

    @property
    def last_column(self) -> str | None:
        """Return the column of the end or length of stays."""
        if self.duration is not None:
            return self.duration[0]
        return self.end[1] if isinstance(self.end, tuple) else self.end

    @property
    def last_key(self) -> str:
        """Return the key of the end or length of stays."""
        if self.end is None:
            return "duration"
        return "end"


@dataclass(frozen=True)
class Cover:
    """The steps of a calendar in which a unit is covered, the tick of the first one, and that from which on none are.

    >>> from datetime import timedelta
    >>> calendar = Calendar.read("2026-01-05", "2026-01-06", timedelta(hours=1))
    >>> Cover.of(calendar, (None, calendar.start + 5_400_000_000), 3_600_000_000).places
    range(0, 2)
    """

    places: range
    first: int
    until: int

    @staticmethod
    def of(calendar: Calendar, ends: Ends, per_step: int) -> Cover:
        """Return the cover of two moments in a calendar with an end."""
        start, until = calendar.moment_of(0), calendar.moment_of(calendar.size or 0)
        if ends[0] is not None:
            start = max(start, ends[0])
        if ends[1] is not None:
            until = min(until, ends[1])
        first = math.ceil(Fraction(start - calendar.start) / calendar.step)
        stop = math.ceil(Fraction(until - calendar.start) / calendar.step)
        return Cover(
            range(first, max(first, stop)), calendar.ticks(per_step) + first * per_step,
            math.ceil(Fraction(until) / calendar.step * per_step),
        )  # fmt: skip
