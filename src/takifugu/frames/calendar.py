"""The declared calendar of a recording: where its steps lie, which of them a window holds, and how both are written.

Steps are counted in UTC. A place is the number of a step, from 0 at the calendar's start. Where the recording starts
and ends is no part of what a place means to a ledger, which counts steps from the year 1 (times) or from 0 (numbers).
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from fractions import Fraction
from typing import Any

from takifugu.errors import InputError
from takifugu.laws.rationals import as_fraction, to_text

#: A moment in microseconds since 1970 (UTC), or a number along the order column.
Moment = int | Fraction
_EPOCH, _FIRST = datetime(1970, 1, 1, tzinfo=UTC), datetime(1, 1, 1, tzinfo=UTC)
_MICROSECOND = timedelta(microseconds=1)
#: What `every` may be, and a window of each as it is written.
PERIODS = {"day": "2026-02-09", "week": "2026-W07", "month": "2026-02", "year": "2026"}


@dataclass(frozen=True)
class Calendar:
    """Steps of one length from `start` on, up to `stop` where that is declared; moments are exact.

    >>> calendar = Calendar.read("2026-01-05", "2026-03-02", timedelta(hours=1))
    >>> calendar.size, calendar.period("2026-W07"), calendar.written(range(840, 1008))
    (1344, range(840, 1008), '2026-02-09 to 2026-02-16')
    """

    start: Moment
    stop: Moment | None
    step: Fraction
    is_time: bool

    @staticmethod
    def read(start: Any, stop: Any, length: Fraction | timedelta) -> Calendar:
        """Read a calendar with steps of a length (`parse_step`); InputError, which names the key, for what is none."""
        is_time = isinstance(length, timedelta)
        exact = Fraction(length // _MICROSECOND) if isinstance(length, timedelta) else length
        first = moment(start, is_time, "from")
        found = Calendar(first, None, exact, is_time)
        if not is_time and first < 0:
            raise InputError(f"the calendar starts at {start}", rule="its numbers are counted from 0").at("from")
        if stop is None:
            return found
        last = moment(stop, is_time, "until")
        if last <= first:
            raise InputError("the calendar ends before it starts", fix="write a later until").at("until")
        return Calendar(first, found.moment_of(found._place(last, "until")), exact, is_time)

    @property
    def size(self) -> int | None:
        """Return the number of steps; None where the end is not declared."""
        return None if self.stop is None else self._place(self.stop, "until")

    @property
    def name(self) -> str:
        """Return what a ledger knows it by: the length of its steps, and how they lie. Its ends may move."""
        unit = "microseconds" if self.is_time else "in numbers"
        return f"steps of {to_text(self.step)} {unit}, {to_text(self._origin % self.step)} later"

    @property
    def length(self) -> str:
        """Return how long a step is, in words."""
        if not self.is_time:
            return to_text(self.step)
        for unit, size in (("day", 86_400), ("hour", 3600), ("minute", 60), ("second", 1)):
            times = self.step / (size * 10**6)
            if times.denominator == 1:
                return f"{times} {unit}{'s' if times > 1 else ''}"
        return f"{to_text(self.step)} microseconds"

    def steps_in(self, seconds: int) -> int:
        """Return how many steps such a time has; 0 where steps are numbers."""
        return int(seconds * 10**6 / self.step) if self.is_time else 0

    def at(self, place: int) -> int:
        """Return the number of a step as a ledger counts it."""
        return int(self._origin // self.step) + place

    def ticks(self, per_step: int) -> int:
        """Return the calendar's start in ticks of an order column, of which so many make a step.

        Raises InputError where it lies between two ticks.
        """
        tick = Fraction(self.start) / self.step * per_step
        if tick.denominator != 1:
            raise InputError("the calendar's start is no multiple of what the order column can hold").at("from")
        return int(tick)

    def window(self, start: Any, stop: Any) -> range:
        """Return the places from `start` up to before `stop`.

        Raises InputError, which names the key, for a window outside the calendar or between two of its steps.
        """
        first = self._place(moment(start, self.is_time, "from"), "from")
        last = self._place(moment(stop, self.is_time, "to"), "to")
        if last <= first:
            raise InputError("the window ends before it starts", fix="write a later to").at("to")
        return self._inside(range(first, last), f"{start} to {stop}", "from")

    def period(self, text: str) -> range:
        """Return the places of a day, a week of ISO 8601, a month or a year, as it is written."""
        first, last = self._bounds(text)
        places = range(self._place(first, "window"), self._place(last, "window"))
        return self._inside(places, text, "window")

    def periods(self, every: str) -> Iterator[tuple[str, range]]:
        """Yield every whole day, week, month or year of the calendar, with its name; it must have an end."""
        size = self.size
        if size is None:
            raise InputError(
                "the calendar has no end, so there is no last window",
                fix='declare until under [source], or publish one window: --window 2026-W07, or window = "2026-W07"',
            ).at("every")
        day = (_EPOCH + int(self.start) * _MICROSECOND).date()
        while True:
            text = _period_of(day, every)
            first, last = self._bounds(text)
            if last > self.moment_of(size):
                return
            if first >= self.start:
                yield text, range(self._place(first, "every"), self._place(last, "every"))
            day = (_EPOCH + int(last) * _MICROSECOND).date()

    def written(self, places: range) -> str:
        """Return from when to when a window is, in UTC."""
        return f"{self._text(places.start)} to {self._text(places.stop)}"

    @property
    def _origin(self) -> Fraction:
        """Return how far the start is from where a ledger counts from."""
        return Fraction(self.start) + ((_EPOCH - _FIRST) // _MICROSECOND if self.is_time else 0)

    def _place(self, where: Moment, key: str) -> int:
        place = (Fraction(where) - self.start) / self.step
        if place.denominator != 1:
            raise InputError(
                "lies between two steps of the calendar", fix="write a time that is whole steps after its start"
            ).at(key)
        return int(place)

    def moment_of(self, place: int) -> Moment:
        """Return when a step starts."""
        found = self.start + place * self.step
        return int(found) if self.is_time else Fraction(found)

    def _inside(self, places: range, text: str, key: str) -> range:
        size = self.size
        if places.start < 0 or (size is not None and places.stop > size):
            raise InputError(
                f"the window {text} is not inside the calendar",
                rule=f"it runs from {self._text(0)}" + (f" to {self._text(size)}" if size is not None else ""),
                fix="write a window inside it, or move until",
            ).at(key)
        return places

    def _bounds(self, text: str) -> tuple[Moment, Moment]:
        if not self.is_time:
            raise InputError("steps are numbers, which have no days", fix="write from and to instead").at("window")
        found = _days_of(text)
        if found is None:
            raise InputError(
                f"the window is {text[:40]!r}",
                fix="write a day, a week, a month or a year, such as " + ", ".join(map(repr, PERIODS.values())),
            ).at("window")
        first, last = (datetime(d.year, d.month, d.day, tzinfo=UTC) - _EPOCH for d in found)
        return first // _MICROSECOND, last // _MICROSECOND

    def _text(self, place: int) -> str:
        found = self.moment_of(place)
        if not self.is_time:
            return to_text(Fraction(found))
        return (_EPOCH + int(found) * _MICROSECOND).replace(tzinfo=None).isoformat().removesuffix("T00:00:00")


def moment(value: Any, is_time: bool, key: str) -> Moment:
    """Read a moment as a release file or a caller writes it: a TOML date or time, a text of one, or a number."""
    if not is_time:
        if isinstance(value, date):
            raise InputError("is a time, and steps are numbers", fix='write a number, or a step such as "1h"').at(key)
        return as_fraction(value, "a place along the order column", key)
    try:
        if isinstance(value, str):
            value = datetime.fromisoformat(value)
        if isinstance(value, date) and not isinstance(value, datetime):
            value = datetime(value.year, value.month, value.day)
        if isinstance(value, datetime):
            return int(((value if value.tzinfo else value.replace(tzinfo=UTC)) - _EPOCH) // _MICROSECOND)
    except (ValueError, OverflowError):
        pass
    raise InputError(f"is {str(value)[:40]!r}, which is no time", fix="write a date such as 2026-01-05").at(key)


def _days_of(text: str) -> tuple[date, date] | None:
    """Return the first day of a period and the first one after it."""
    try:
        if found := re.fullmatch(r"(\d{4})-W(\d{2})", text):
            first = date.fromisocalendar(int(found[1]), int(found[2]), 1)
            return first, first + timedelta(days=7)
        if found := re.fullmatch(r"(\d{4})-(\d{2})-(\d{2})", text):
            first = date(int(found[1]), int(found[2]), int(found[3]))
            return first, first + timedelta(days=1)
        if found := re.fullmatch(r"(\d{4})-(\d{2})", text):
            year, month = int(found[1]), int(found[2])
            return date(year, month, 1), date(year + month // 12, month % 12 + 1, 1)
        if re.fullmatch(r"\d{4}", text):
            return date(int(text), 1, 1), date(int(text) + 1, 1, 1)
    except (ValueError, OverflowError):
        pass
    return None


def _period_of(day: date, every: str) -> str:
    """Return the name of the period that holds a day."""
    if every == "week":
        year, week, _ = day.isocalendar()
        return f"{year:04}-W{week:02}"
    return day.isoformat()[: {"day": 10, "month": 7, "year": 4}[every]]
