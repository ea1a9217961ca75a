"""The declared calendar of a recording: where its steps lie, which of them a window holds, and how both are written.

Steps are counted in UTC; days, weeks and other periods are those of clocks in the declared zone, where there is one. A
place is the number of a step, from 0 at the calendar's start. Where the recording starts and ends is no part of what a
place means to a ledger, which counts steps from 1970 (times) or from 0 (numbers).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import timedelta, timezone
from math import gcd

from takifugu.core.errors import InputError
from takifugu.data.times import moments
from takifugu.data.times.moments import (
    LAST,
    PERIODS,
    moment,
    name_of,
    period_number,
    periods_at,
    start_of,
)
from takifugu.data.times.steps import Step, time_text
from takifugu.data.times.zones import DAY, EPOCH, HOUR, MICROSECOND, Zone

#: A calendar of more windows is a mistake in its end: each one is looked at. The lengths are those of the shortest.
MOST_WINDOWS = 20_000
_LENGTHS = {"hour": HOUR, "day": DAY, "week": 7 * DAY, "month": 28 * DAY, "year": 365 * DAY}


@dataclass(frozen=True)
class Calendar:
    """Steps of one length from `start` on, up to `stop` where that is declared; moments are exact."""

    start: int
    stop: int | None
    step: int
    is_time: bool
    zone: Zone | None = None

    @staticmethod
    def read(start: object, stop: object, length: Step, zone: Zone | None = None) -> Calendar:
        """Read a calendar with steps of a length (`parse_step`); InputError, with the key, for an odd start or end."""
        # a `zone` has the clocks of times without one, and steps must fit its every change
        is_time = isinstance(length, timedelta)
        first = moment(start, is_time, "from", zone)
        if isinstance(length, timedelta):
            calendar = Calendar(first, None, length // MICROSECOND, True, zone)
        else:
            calendar = Calendar(first, None, length, False)
        if not is_time and first < 0:
            raise InputError(f"the calendar starts at {start}", rule="its numbers are counted from 0").at("from")
        if stop is None:
            calendar._check_changes(None)
            return calendar
        last = moment(stop, is_time, "until", zone)
        if last <= first:
            raise InputError("the calendar ends before it starts", fix="write a later until").at("until")
        calendar._check_changes(last)
        return replace(calendar, stop=calendar.moment_of(calendar._place(last, "until")))

    @property
    def size(self) -> int | None:
        """Return the number of steps, if the end is declared."""
        return None if self.stop is None else self._place(self.stop, "until")

    @property
    def length(self) -> str:
        """Return the length of a step in words."""
        return time_text(self.step * MICROSECOND, in_words=True) if self.is_time else str(self.step)

    def steps_in(self, seconds: int) -> int:
        """Return the number of steps in a time, 0 without times."""
        return seconds * 10**6 // self.step if self.is_time else 0

    def most_steps_in(self, seconds: int, window: range) -> int:
        """Return the most steps of a window that start in a time by clocks, such as a day."""
        if not self.steps_in(seconds):
            return 0
        longer = 0
        # which is longer where they are set back; none start in a time shorter than a step
        for at, before, after in () if self.zone is None else self.zone.changes:
            if self.moment_of(window.start) < at < self.moment_of(window.stop):
                longer = max(longer, before - after)
        return min(-(-(seconds * 10**6 + longer) // self.step), len(window))

    def at(self, place: int) -> int:
        """Return the number of a step, counted from 1970, or from 0, as a ledger counts."""
        return self.start // self.step + place

    def window(self, start: object, stop: object) -> range:
        """Return the places from `start` up to before `stop`; InputError outside the calendar or between steps."""
        first = self._place(moment(start, self.is_time, "from", self.zone), "from")
        last = self._place(moment(stop, self.is_time, "to", self.zone), "to")
        if last <= first:
            raise InputError("the window ends before it starts", fix="write a later to").at("to")
        return self._inside(range(first, last), f"{start} to {stop}", "from")

    def period(self, text: str) -> range:
        """Return the places of a named hour, day, week (ISO 8601), month or year."""
        first, last = self._ends(*self._named(text))
        places = range(self._place(first, "window"), self._place(last, "window"))
        return self._inside(places, text, "window")

    def periods(self, every: str) -> Iterator[tuple[str, range]]:
        """Yield every whole hour, day, week, month or year of a finite calendar with its name."""
        size = self.size
        if size is None:
            raise self.endless(every)
        if self.is_time and size * self.step > MOST_WINDOWS * _LENGTHS[every]:
            raise InputError(
                f"the calendar holds more than {MOST_WINDOWS:,} windows of a {every}",
                fix="move until under [source]: it may be moved again, whenever it is near",
            ).at("every")
        for text, first, last in self._windows(every):
            if last > self.moment_of(size):
                return
            yield text, range(self._place(first, "every"), self._place(last, "every"))

    def first_period(self, every: str) -> str:
        """Return the name of the first whole hour, day, week, month or year, "" for none."""
        return next((text for text, _, _ in self._windows(every)), "")

    def endless(self, every: str) -> InputError:
        """Return the refusal of every window of a calendar without an end."""
        first = self.first_period(every)
        return InputError(
            "the calendar has no end, so there is no last window",
            fix=f"declare until under [source], or publish one window, such as --window {first} "
            f"(window='{first}' in Python)",
        ).at("every")

    def periods_from(self, text: str) -> Iterator[tuple[str, range]]:
        """Yield a named period and all later ones, without end."""
        kind, number = self._named(text)
        for name, first, last in replace(self, start=self._ends(kind, number)[0], stop=None)._windows(kind):
            yield name, range(self._place(first, "every"), self._place(last, "every"))

    def _windows(self, every: str) -> Iterator[tuple[str, int, int]]:
        """Yield the ends of endless whole windows after the start."""
        number = int(periods_at(self.start + self._offset(self.start), every))
        while start_of(every, number + 1) <= LAST:
            first, last = self._ends(every, number)
            if self.start <= first < last:  # clocks do not skip it
                yield name_of(every, number), first, last
            number += 1

    def _ends(self, kind: str, number: int) -> tuple[int, int]:
        """Return the ends of a period, of which an hour is two hours long where clocks show it twice."""
        if not self.is_time:
            raise InputError("steps are numbers, which have no days", fix="write from and to instead").at("window")
        first, last = start_of(kind, number), start_of(kind, number + 1)
        return (first, last) if self.zone is None else (self.zone.first_moment(first), self.zone.first_moment(last))

    def written(self, places: range) -> str:
        """Return the ends of a window in words, by zone or UTC."""
        return f"{self._text(places.start)} to {self._text(places.stop)}"

    def is_over(self, places: range) -> bool:
        """Return whether a window of times has ended: without a zone, in UTC or by this machine's clock."""
        if not self.is_time:
            return True
        now = moments.now()
        latest = now - EPOCH
        if self.zone is None:
            latest += max(timedelta(), now.utcoffset() or timedelta())
        return self.moment_of(places.stop) <= latest // MICROSECOND

    def _place(self, instant: int, key: str) -> int:
        place, rest = divmod(instant - self.start, self.step)
        if rest:
            what, fix = "lies", "write a time that is"
            if key in ("every", "window"):
                what, fix = "starts or ends", "write from and to in its place, each"
            raise InputError(
                f"{what} between two steps of the calendar", fix=f"{fix} whole steps after the calendar's start"
            ).at(key)
        return place

    def moment_of(self, place: int) -> int:
        """Return the start of a step."""
        return self.start + place * self.step

    def _inside(self, places: range, text: str, key: str) -> range:
        size = self.size
        if places.start < 0 or (size is not None and places.stop > size):
            rule = f"it runs from {self._text(0)}"
            if size is not None:
                rule += f" to {self._text(size)}"
            fix = "write a window inside it, or move until"
            raise InputError(f"the window {text} is not inside the calendar", rule=rule, fix=fix).at(key)
        return places

    def _named(self, text: str) -> tuple[str, int]:
        """Return the kind and the number of a period by its name; InputError for one that clocks skipped."""
        period = period_number(text)
        if period is None or start_of(period[0], period[1] + 1) > LAST:
            kinds = [kind for kind in PERIODS if kind != "hour" or self.step <= HOUR]
            words = ", ".join(f"{'an' if kind == 'hour' else 'a'} {kind}" for kind in kinds[:-1])
            examples = ", ".join(repr(PERIODS[kind]) for kind in kinds)
            fix = f"write {words} or a year, such as {examples}"
            raise InputError(f"the window is {text[:40]!r}", fix=fix).at("window")
        first, last = self._ends(*period)
        if first == last:
            assert self.zone is not None, "no other clocks skip an hour"
            article = "an" if period[0] == "hour" else "a"
            fault = f"the window is {text!r}, {article} {period[0]} that clocks in {self.zone.name!r} skipped"
            raise InputError(fault, fix=f"write the {period[0]} before or after it").at("window")
        return period

    def _text(self, place: int) -> str:
        moment = self.moment_of(place)
        if not self.is_time:
            return str(moment)
        offset = self._offset(moment)
        wall = moment + offset
        if self.zone is not None and len(self.zone.moments(wall)) > 1:  # shown twice: which one it is
            return (EPOCH + wall * MICROSECOND).replace(tzinfo=timezone(offset * MICROSECOND)).isoformat()
        return (EPOCH + wall * MICROSECOND).replace(tzinfo=None).isoformat().removesuffix("T00:00:00")

    def _offset(self, moment: int) -> int:
        """Return the zone's offset from UTC in microseconds, 0 without one."""
        return 0 if self.zone is None else self.zone.offset(moment)

    def _check_changes(self, stop: int | None) -> None:
        """Refuse changes of clocks by a part of a step."""
        if self.zone is None:
            return
        for at, before, after in self.zone.changes:
            is_inside = at > self.start and (stop is None or at < stop)
            if is_inside and (after - before) % self.step:
                day = (EPOCH + (at + after) * MICROSECOND).date()
                fits = time_text(gcd(self.step, after - before) * MICROSECOND)
                raise InputError(
                    f"steps of {self.length} do not fit clocks in {self.zone.name!r}, which are changed by "
                    f"{abs(after - before) // 60_000_000} minutes on {day}",
                    fix=f'write a step of which that is a multiple, such as step = "{fits}", or leave timezone out '
                    "where rows are whole days",
                ).at("timezone")
