"""Moments, days, weeks and months as release files write them, by clocks in a zone where one is declared."""

from __future__ import annotations

import re
from datetime import UTC, date, datetime, timedelta
from fractions import Fraction

import numpy as np

from takifugu.core.arrays import IntArray
from takifugu.core.errors import InputError
from takifugu.data.times.zones import DAY, EPOCH, HOUR, MICROSECOND, Zone
from takifugu.numbers.rationals import as_fraction

#: A moment in microseconds since 1970 (UTC), or a number along the order column.
Moment = int | Fraction
WEEKDAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
#: What `every` may be, and a window of each as it is written.
AN_HOUR = "2026-02-09T18"
PERIODS = {"day": "2026-02-09", "week": "2026-W07", "month": "2026-02", "year": "2026"}
#: The last hour that a date can tell.
LAST_HOUR = (datetime(9999, 12, 31, 23, tzinfo=UTC) - EPOCH) // MICROSECOND


def now() -> datetime:
    """Return this moment, by the clock of this machine."""
    return datetime.now().astimezone()


def moment(value: object, is_time: bool, key: str, zone: Zone | None = None) -> Moment:
    """Read a moment from a TOML date or time, text or number.

    Times without a zone are of clocks in `zone`, if any, and a date is the start of its first hour. Raises InputError,
    with the key, for a time that clocks skipped or showed twice.
    """
    if not is_time:
        if isinstance(value, date):
            raise InputError("is a time, and steps are numbers", fix='write a number, or a step such as "1h"').at(key)
        return as_fraction(value, "a place along the order column", key)
    try:
        if isinstance(value, str):
            value = datetime.fromisoformat(value)
        if isinstance(value, datetime) and value.tzinfo is not None:
            return (value - EPOCH) // MICROSECOND
        if isinstance(value, datetime):
            wall = (value.replace(tzinfo=UTC) - EPOCH) // MICROSECOND
            if zone is None:
                return wall
            if wall % DAY == 0:
                return midnight(value.date(), zone)
            instants = zone.moments(wall)
            if len(instants) == 1:
                return instants[0]
            verb = "showed twice" if instants else "skipped"
            raise InputError(
                f"is {value}, a time that clocks in {zone.name!r} {verb}",
                fix="write it with its offset from UTC, such as 2025-10-26T02:00:00+01:00",
            ).at(key)
        if isinstance(value, date):
            return midnight(value, zone)
    except InputError:
        raise
    except (ValueError, OverflowError):
        pass
    raise InputError(f"is {str(value)[:40]!r}, which is no time", fix="write a date such as 2026-01-05").at(key)


def midnight(day: date, zone: Zone | None) -> int:
    """Return the first moment of a day, at or after midnight."""
    return first_moment((datetime(day.year, day.month, day.day, tzinfo=UTC) - EPOCH) // MICROSECOND, zone)


def first_moment(wall: int, zone: Zone | None) -> int:
    """Return the first moment at which clocks show a local time or a later one.

    Moments of two times in order are in that order, so periods between them are half-open and cover all time.
    """
    if zone is None:
        return wall
    instants = zone.moments(wall)
    if instants:
        return instants[0]
    skip = zone.at(wall)
    return skip.start - skip.offset  # the skip starts at the change


def cell_numbers(kind: str, walls: IntArray) -> IntArray:
    """Return the numbers of local times' cells, rising in time.

    Times are in microseconds since 1970, a Thursday.
    """
    days = walls // DAY
    if kind == "hour":
        return walls // HOUR % 24
    if kind == "month":
        return days.astype("datetime64[D]").astype("datetime64[M]").astype(np.int64)
    return {"weekday": (days + 3) % 7, "date": days, "week": (days + 3) // 7}[kind]


def cell_name(kind: str, number: int) -> str:
    if kind == "hour":
        return f"{number:02}"
    if kind == "weekday":
        return WEEKDAYS[number]
    if kind == "month":
        return f"{1970 + number // 12:04}-{number % 12 + 1:02}"
    if kind == "date":
        return period_of(EPOCH.date() + timedelta(days=number), "day")
    return period_of(EPOCH.date() + timedelta(days=7 * number - 3), kind)


def days_of(text: str) -> tuple[date, date] | None:
    """Return the first day of a period and of the next."""
    try:
        if match := re.fullmatch(r"(\d{4})-W(\d{2})", text):
            first = date.fromisocalendar(int(match[1]), int(match[2]), 1)
            return first, first + timedelta(days=7)
        if match := re.fullmatch(r"(\d{4})-(\d{2})-(\d{2})", text):
            first = date(int(match[1]), int(match[2]), int(match[3]))
            return first, first + timedelta(days=1)
        if match := re.fullmatch(r"(\d{4})-(\d{2})", text):
            year, month = int(match[1]), int(match[2])
            return date(year, month, 1), date(year + month // 12, month % 12 + 1, 1)
        if re.fullmatch(r"\d{4}", text):
            return date(int(text), 1, 1), date(int(text) + 1, 1, 1)
    except (ValueError, OverflowError):
        pass
    return None


def period_number(text: str) -> tuple[int, str] | None:
    """Return the number of a period and its kind, if valid.

    Numbers rise by 1 from period to period.

    >>> period_number("2026-W01")[0] - period_number("2025-W52")[0], period_number("2026-02")
    (1, (24313, 'month'))
    """
    hour = hour_of(text)
    if hour is not None:
        return hour // HOUR, "hour"
    days = days_of(text)
    if days is None:
        return None
    first, after = days
    length = (after - first).days
    if length == 1:
        return first.toordinal(), "day"
    if length == 7:
        return first.toordinal() // 7, "week"
    if length < 32:
        return 12 * first.year + first.month - 1, "month"
    return first.year, "year"


def enclosing(text: str) -> str:
    """Return the month of an hour or a day.

    A longer period lies in its year.

    >>> enclosing("2026-02-09T18"), enclosing("2026-02-09"), enclosing("2026-W07"), enclosing("2026-02")
    ('2026-02', '2026-02', '2026', '2026')
    """
    return text[:7] if re.match(r"\d{4}-\d{2}-\d{2}", text) else text[:4]


def hour_of(text: str) -> int | None:
    """Return the start of an hour, as clocks show it, by its name, if valid.

    >>> hour_of("1970-01-02T03") // HOUR, hour_of("1970-01-02T24")
    (27, None)
    """
    if re.fullmatch(r"\d{4}-\d{2}-\d{2}T\d{2}", text) is None:
        return None
    try:
        return int((datetime.fromisoformat(text).replace(tzinfo=UTC) - EPOCH) // MICROSECOND)
    except ValueError:
        return None


def name_of_hour(start: int) -> str:
    """Return the name of the hour from this local time on."""
    return (EPOCH + start * MICROSECOND).isoformat()[:13]


def period_of(day: date, every: str) -> str:
    """Return the name of a day's period, or of its first hour."""
    if every == "hour":
        return f"{day.isoformat()}T00"
    if every == "week":
        year, week, _ = day.isocalendar()
        return f"{year:04}-W{week:02}"
    return day.isoformat()[: {"day": 10, "month": 7, "year": 4}[every]]
