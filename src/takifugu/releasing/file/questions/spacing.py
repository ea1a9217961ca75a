"""How rows lie in time: at even steps, as samples do, or whenever something changed or happened."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import pairwise

from takifugu.data import TimeFormat
from takifugu.data.kinds import NUMBERS, TIMES, WHOLE
from takifugu.data.rows.layout import STEP_UNITS
from takifugu.releasing.file.guessing.seen import Seen

#: Rows are even where so many of a hundred gaps are the commonest one, and so many are multiples of it.
_COMMONEST, _MULTIPLES = 60, 95
#: States last over rows where so many of a hundred rows have the state of the row before.
_LASTING = 5


@dataclass(frozen=True)
class Spacing:
    """How rows follow each other: their commonest `gap`, whether it `is_even`, and whether states are `repeated`."""

    gap: float | None = None
    is_even: bool = False
    is_repeated: bool = False


def spacing(
    times: Sequence[float | None], keys: Sequence[tuple[str | None, ...]], values: Sequence[str | None]
) -> Spacing:
    """Return the spacing of each key's rows in time."""
    of_key: dict[tuple[str | None, ...], list[tuple[float, str | None]]] = {}
    for moment, key, value in zip(times, keys, values, strict=True):
        if moment is not None:
            of_key.setdefault(key, []).append((moment, value))
    following = [pair for rows in of_key.values() for pair in pairwise(sorted(rows, key=lambda row: row[0]))]
    gaps = [round(after[0] - before[0], 3) for before, after in following]
    if not gaps:
        return Spacing()
    (gap, number), *_ = Counter(gaps).most_common(1)
    multiples = sum(gap > 0 and difference > 0 and (difference / gap).is_integer() for difference in gaps)
    even = gap > 0 and number * 100 >= _COMMONEST * len(gaps) and multiples * 100 >= _MULTIPLES * len(gaps)
    same = sum(before[1] == after[1] for before, after in following)
    return Spacing(gap, even, same * 100 >= _LASTING * len(gaps))


def moments(
    seen: Mapping[str, Seen], rows: Mapping[str, Sequence[str | None]], columns: Sequence[str]
) -> list[float | None]:
    """Return a column's times in seconds, with any times of day."""
    first, *clock = columns
    times = _moments(seen[first], rows[first])
    if not clock:
        return times
    clocks = [_seconds(time.replace(year=1970, month=1, day=1)) for time in seen[clock[0]].clock_ranks(rows[clock[0]])]
    return [None if day is None else day + time for day, time in zip(times, clocks, strict=True)]


def _moments(column: Seen, values: Sequence[str | None]) -> list[float | None]:
    if column.kind in (WHOLE, NUMBERS):
        part = 1000 if column.epoch == "epoch_ms" else 1
        return [None if v is None else float(column.numerals.plain(v)) / part for v in values]
    if column.kind != TIMES:
        return [None] * len(values)
    if column.form is not None:
        times = column.ranks(values)
        return [None if v is None else _seconds(time) for v, time in zip(values, times, strict=True)]
    try:
        return [None if v is None else _seconds(datetime.fromisoformat(v)) for v in values]
    except ValueError:
        return [None] * len(values)


def _seconds(time: datetime) -> float:
    return (time if time.tzinfo is not None else time.replace(tzinfo=UTC)).timestamp()


def gap_of(headers: Sequence[str], form: str | None, of_days: bool) -> float | None:
    """Return the commonest time between columns in seconds, if any.

    >>> gap_of(["2026-01-05", "2026-01-06", "2026-01-09"], None, False), gap_of(["9:00", "9:30"], None, True)
    (86400.0, 1800.0)
    """
    day, form = ("2000-01-01 ", "%Y-%m-%d %H:%M") if of_days else ("", form)
    read = datetime.fromisoformat if form is None else TimeFormat(form).read
    try:
        times = [read(day + re.sub("[.hH]", ":", header) if of_days else header) for header in headers]
    except ValueError:
        return None
    gaps = [(b - a).total_seconds() for a, b in pairwise(times) if a is not None and b is not None and b > a]
    return Counter(gaps).most_common(1)[0][0] if gaps else None


def step_of(gap: float, timed: bool) -> str | None:
    """Return a gap as a release file's step, if whole.

    >>> step_of(1800, True), step_of(3600, True), step_of(2, False), step_of(0.5, True)
    ('30min', '1h', '2', None)
    """
    if gap <= 0 or not float(gap).is_integer():
        return None
    if not timed:
        return str(int(gap))
    units = [unit for unit, seconds in STEP_UNITS.items() if gap % seconds == 0]
    unit = max(units, key=STEP_UNITS.__getitem__)
    return f"{int(gap) // STEP_UNITS[unit]}{unit}"
