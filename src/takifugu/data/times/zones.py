"""Clocks on the wall of a declared time zone: which moment they mean, where clocks were changed, too.

An hour that clocks skip has no moment; of one that they show twice the rows before the clock was set back are the first
pass, and the rows after it are the second one.
"""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import cache, cached_property
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError, available_timezones

from takifugu.core.errors import InputError
from takifugu.core.nearest import did_you_mean

#: Changes of clocks are known from the start of the first of these years to that of the last; none is expected outside.
FIRST_YEAR, LAST_YEAR = 1900, 2101
#: Times are in microseconds since 1970.
EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
MICROSECOND = timedelta(microseconds=1)
HOUR, DAY = 3_600_000_000, 86_400_000_000


@dataclass(frozen=True)
class Stretch:
    """Times on the wall from `start` on, in microseconds since 1970: how far they are ahead of UTC.

    Of times that clocks show twice `offset` is that of the first pass, and `back` is by how much the clock is set back
    at `end`; `skipped` are those that they never show.
    """

    start: int
    offset: int
    skipped: bool = False
    back: int = 0
    end: int = 0


@dataclass(frozen=True)
class Zone:
    """A time zone of the IANA database, by name. Raises InputError for one that it does not have.

    >>> zone = Zone("Europe/Berlin")
    >>> [zone.at(hour * 3_600_000_000).offset // 3_600_000_000 for hour in (489_289, 489_290, 489_291)]
    [2, 2, 1]
    """

    name: str

    def __post_init__(self) -> None:
        try:
            if self.name.lower() in ("localtime", "posixrules", "factory"):  # another zone on every machine
                raise ZoneInfoNotFoundError
            ZoneInfo(self.name)
        except (ZoneInfoNotFoundError, ValueError, OSError):
            guess = did_you_mean(self.name[:60], sorted(available_timezones()))
            raise InputError(
                f"{self.name[:60]!r} is no time zone that this machine knows{guess}",
                fix='write one such as "Europe/Berlin", or "UTC" for clocks that are never changed',
            ).at("timezone") from None

    @property
    def stretches(self) -> tuple[Stretch, ...]:
        """Return the stretches of alike times on clocks."""
        return _all_stretches(self.name)

    @cached_property
    def starts(self) -> tuple[int, ...]:
        return tuple(stretch.start for stretch in self.stretches)

    def at(self, wall: int) -> Stretch:
        """Return the stretch of a time on the wall."""
        return self.stretches[bisect_right(self.starts, wall) - 1]

    @property
    def changes(self) -> tuple[tuple[int, int, int], ...]:
        """Return the changes of clocks in UTC, with offsets before and after."""
        return _all_changes(self.name)

    def offset(self, moment: int) -> int:
        """Return the distance of clocks from UTC at a moment, in microseconds.

        >>> Zone("America/New_York").offset(0) // 3_600_000_000
        -5
        """
        changes = self.changes
        after = bisect_right(changes, moment, key=lambda change: change[0])
        return changes[after - 1][2] if after else self.stretches[0].offset

    def moments(self, wall: int) -> tuple[int, ...]:
        """Return the moments of a local time: one, two or (skipped) none.

        >>> [len(Zone("Europe/Berlin").moments(hour * 3_600_000_000)) for hour in (489_289, 489_290, 492_986)]
        [1, 2, 0]
        """
        stretch = self.at(wall)
        first = wall - stretch.offset
        if stretch.skipped:
            return ()
        if stretch.back:
            return first, first + stretch.back
        return (first,)

    def between(self, low: int, high: int) -> tuple[Stretch, ...]:
        """Return the stretches of local times from `low` to `high`."""
        return self.stretches[bisect_right(self.starts, low) - 1 : bisect_right(self.starts, high)]


@cache
def _all_stretches(name: str) -> tuple[Stretch, ...]:
    zone = ZoneInfo(name)
    first = _offset(zone, datetime(FIRST_YEAR, 1, 1, tzinfo=zone))
    stretches = [Stretch(-(2**62), first // MICROSECOND)]
    for at, before, after in _all_changes(name):
        if after > before:
            stretches += [Stretch(at + before, before, skipped=True), Stretch(at + after, after)]
        else:
            repeated = Stretch(at + after, before, back=before - after, end=at + before)
            stretches += [repeated, Stretch(at + before, after)]
    return tuple(stretches)


@cache
def _all_changes(name: str) -> tuple[tuple[int, int, int], ...]:
    zone, changes = ZoneInfo(name), list[tuple[int, int, int]]()
    if zone.utcoffset(None) is not None:  # its clocks are never changed
        return ()
    moment = datetime(FIRST_YEAR, 1, 1, tzinfo=zone)
    offset = _offset(zone, moment)
    while moment.year < LAST_YEAR:
        later = moment + timedelta(days=1)
        while _offset(zone, later) != offset:  # a day may hold two changes
            change = _change(zone, moment, later, offset)
            after = _offset(zone, change)
            at = change.replace(tzinfo=UTC) - EPOCH
            changes.append((at // MICROSECOND, offset // MICROSECOND, after // MICROSECOND))
            moment, offset = change, after
        moment = later
    return tuple(changes)


def _change(zone: ZoneInfo, before: datetime, after: datetime, offset: timedelta) -> datetime:
    """Return the second of a day's first change of the offset, in UTC."""
    while after - before > timedelta(seconds=1):
        middle = before + timedelta(seconds=(after - before) // timedelta(seconds=2))
        if _offset(zone, middle) == offset:
            before = middle
        else:
            after = middle
    return after


def _offset(zone: ZoneInfo, moment: datetime) -> timedelta:
    """Return the offset at a moment in UTC that bears the zone's own label."""
    return zone.fromutc(moment).utcoffset() or timedelta()
