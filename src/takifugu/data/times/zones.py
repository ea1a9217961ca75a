"""Clocks on the wall of a declared time zone: which moment they mean, where clocks were changed, too.

A local time that clocks skip has no moment, and one that they show twice has two.
"""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import cache
from operator import itemgetter
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
class Zone:
    """A time zone of the IANA database, by name. Raises InputError for one that it does not have."""

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
    def changes(self) -> tuple[tuple[int, int, int], ...]:
        """Return the changes of clocks in UTC, with offsets before and after."""
        return _all_changes(self.name)

    def offset(self, moment: int) -> int:
        """Return the distance of clocks from UTC at a moment, in microseconds."""
        after = bisect_right(self.changes, moment, key=itemgetter(0))
        if after:
            return self.changes[after - 1][2]
        zone = ZoneInfo(self.name)
        return _offset(zone, datetime(FIRST_YEAR, 1, 1, tzinfo=zone)) // MICROSECOND

    def moments(self, wall: int) -> tuple[int, ...]:
        """Return the moments of a local time: one, two or (skipped) none."""
        near = self.changes[bisect_right(self.changes, (wall - DAY,)) : bisect_right(self.changes, (wall + DAY,))]
        offsets = {self.offset(wall - DAY), *(after for _, _, after in near)}
        return tuple(sorted(wall - offset for offset in offsets if self.offset(wall - offset) == offset))

    def first_moment(self, wall: int) -> int:
        """Return the first moment at which clocks show a local time or a later one."""
        shown = self.moments(wall)
        # moments of two times in order are in that order, so periods between them are half-open and cover all time
        return shown[0] if shown else next(at for at, before, after in self.changes if at + before <= wall < at + after)


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
