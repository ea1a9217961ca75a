"""Moments, days, weeks and months as release files write them, by clocks in a zone where one is declared."""

from __future__ import annotations

import re
from datetime import UTC, date, datetime
from typing import Any

import numpy as np

from takifugu.core.errors import InputError
from takifugu.data.times.zones import DAY, EPOCH, HOUR, MICROSECOND, Zone
from takifugu.numbers.rationals import as_fraction

WEEKDAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
#: What `every` may be, and a window of each as it is written.
PERIODS = {"hour": "2026-02-09T18", "day": "2026-02-09", "week": "2026-W07", "month": "2026-02", "year": "2026"}
#: NumPy's units of periods, of which a week is none of its own: it starts on a Monday here.
_UNITS: dict[str, Any] = {"hour": "h", "day": "D", "month": "M", "year": "Y"}
#: The last moment of the last year that a period's name can tell.
LAST = (datetime.max.replace(tzinfo=UTC) - EPOCH) // MICROSECOND


def now() -> datetime:
    """Return this moment, by the clock of this machine."""
    return datetime.now().astimezone()


def moment(value: object, is_time: bool, key: str, zone: Zone | None = None) -> int:
    """Read a TOML date or time, text or number: microseconds since 1970 (UTC), or a whole number."""
    # times without a zone are of clocks in `zone`, if any; InputError for one that they skipped or showed twice
    if not is_time:
        if isinstance(value, date):
            raise InputError("is a time, and steps are numbers", fix='write a number, or a step such as "1h"').at(key)
        number = as_fraction(value, "a place along the order column", key)
        if number.denominator != 1:
            raise InputError(f"is {value}, and steps are whole numbers", fix="write a whole number").at(key)
        return int(number)
    try:
        if isinstance(value, str):
            value = datetime.fromisoformat(value)
        elif isinstance(value, date) and not isinstance(value, datetime):
            value = datetime(value.year, value.month, value.day)
        if isinstance(value, datetime) and value.tzinfo is not None:
            return (value - EPOCH) // MICROSECOND
        if isinstance(value, datetime):
            wall = (value.replace(tzinfo=UTC) - EPOCH) // MICROSECOND
            if zone is None:
                return wall
            if wall % DAY == 0:  # a day starts at or after midnight
                return zone.first_moment(wall)
            instants = zone.moments(wall)
            if len(instants) == 1:
                return instants[0]
            verb = "showed twice" if instants else "skipped"
            raise InputError(
                f"is {value}, a time that clocks in {zone.name!r} {verb}",
                fix="write it with its offset from UTC, such as 2025-10-26T02:00:00+01:00",
            ).at(key)
    except InputError:
        raise
    except (ValueError, OverflowError):
        pass
    raise InputError(f"is {str(value)[:40]!r}, which is no time", fix="write a date such as 2026-01-05").at(key)


def cell_numbers(kind: str, walls: Any) -> Any:
    """Return the numbers, rising in time, of the cells of local times in microseconds since 1970, a Thursday."""
    if kind == "hour":
        return walls // HOUR % 24
    if kind == "weekday":
        return (walls // DAY + 3) % 7
    return periods_at(walls, {"date": "day"}.get(kind, kind))


def cell_name(kind: str, number: int) -> str:
    if kind == "hour":
        return f"{number:02}"
    return WEEKDAYS[number] if kind == "weekday" else name_of({"date": "day"}.get(kind, kind), number)


def periods_at(walls: Any, kind: str) -> Any:
    """Return the numbers of the periods that local times lie in; they rise by 1 from period to period."""
    if kind == "week":
        return (walls // DAY + 3) // 7
    return np.asarray(walls).astype("datetime64[us]").astype(f"datetime64[{_UNITS[kind]}]").astype(np.int64)


def start_of(kind: str, number: int) -> int:
    """Return the local time at which a period starts, where the one before it ends."""
    if kind == "week":
        return (7 * number - 3) * DAY
    return int(np.datetime64(number, _UNITS[kind]).astype("datetime64[us]").astype(np.int64))


def name_of(kind: str, number: int) -> str:
    """Return the name of a period."""
    if kind == "week":
        year, week, _ = (EPOCH + start_of(kind, number) * MICROSECOND).isocalendar()
        return f"{year:04}-W{week:02}"
    return str(np.datetime64(number, _UNITS[kind]))


def period_number(text: str) -> tuple[str, int] | None:
    """Return the kind of a period and its number, None for a text that is no period's name."""
    form = re.sub("[0-9]", "0", text)
    kind = next((kind for kind, example in PERIODS.items() if re.sub("[0-9]", "0", example) == form), "")
    try:
        start = datetime.fromisoformat({"month": f"{text}-01", "year": f"{text}-01-01"}.get(kind, text))
    except ValueError:
        return None
    return (kind, int(periods_at((start.replace(tzinfo=UTC) - EPOCH) // MICROSECOND, kind))) if kind else None


def enclosing(text: str) -> str:
    """Return the month of an hour or a day; a longer period lies in its year."""
    return text[:7] if re.match(r"\d{4}-\d{2}-\d{2}", text) else text[:4]
