"""What sorts the rows of a table: whose rows rise in time, in which pieces and readings; where a clock was set back."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Mapping, Sequence
from datetime import datetime, timedelta
from itertools import pairwise

from takifugu.data.kinds import TEXTS, TIMES, WHOLE
from takifugu.releasing.file.guessing.seen import Seen

Rows = Mapping[str, Sequence[str | None]]
#: A clock is set back by no more.
_HOUR = timedelta(hours=1)
_MIDNIGHT = datetime(2000, 1, 1)


def is_sorted(rows: Rows, seen: Mapping[str, Seen], column_of: Mapping[str, str]) -> bool:
    """Return whether the order rises in each piece, clock changes aside."""
    keys = _keys(rows, column_of)
    return rises(_ranks(rows, seen, column_of), keys) or is_set_back(walls_of(rows, seen, column_of), keys)


def what_sorts(rows: Rows, seen: Mapping[str, Seen], column_of: Mapping[str, str]) -> str | None:
    """Return the column needed to sort each unit, if any."""
    if "order" not in column_of:
        return None
    ranks, keys = _ranks(rows, seen, column_of), _keys(rows, column_of)
    if rises(ranks, keys):
        return None
    left = (c for c in seen.values() if c.name not in column_of.values() and not c.tells_when)
    free = [c for c in left if c.kind in (WHOLE, TEXTS) and len(c.labels) > 1 and several_each([*keys, rows[c.name]])]
    walls = walls_of(rows, seen, column_of)
    if is_set_back(walls, keys):  # or one ends where the next begins
        return next((c.name for c in free if c.stands_together and rises(ranks, [*keys, rows[c.name]])), None)
    sorting = (c.name for c in free if rises(ranks, [*keys, rows[c.name]]))
    return next(sorting, None) or next((c.name for c in free if is_set_back(walls, [*keys, rows[c.name]])), None)


def what_rises(rows: Rows, seen: Mapping[str, Seen], column_of: Mapping[str, str]) -> str | None:
    """Return a column of recurring whole numbers, rising in each piece."""
    free = [c for c in seen.values() if c.name not in column_of.values()]
    return next((c.name for c in rising(free, rows, _keys(rows, column_of))), None)


def rising(columns: Sequence[Seen], rows: Rows, keys: Sequence[Sequence[str | None]]) -> Iterator[Seen]:
    """Yield the columns of recurring whole numbers, rising for each key."""
    recur = (c for c in columns if keys and c.kind == WHOLE and 1 < len(c.labels) * 2 <= c.rows)
    return (c for c in recur if rises(c.ranks(rows[c.name]), keys))


def several_each(keys: Sequence[Sequence[str | None]]) -> bool:
    """Return whether keys have two rows or more on average."""
    return len(set(zip(*keys, strict=True))) * 2 <= len(keys[0])


def set_back(rows: Rows, seen: Mapping[str, Seen], column_of: Mapping[str, str]) -> bool:
    """Return whether the order shows a clock set back."""
    return "order" in column_of and is_set_back(walls_of(rows, seen, column_of), _keys(rows, column_of))


def is_set_back(walls: Sequence[datetime], keys: Sequence[Sequence[str | None]]) -> bool:
    """Return whether times of each key rise but for clock changes."""
    number = passes(walls, keys)
    return any(number) and rises(list(zip(number, walls, strict=True)), keys)


def passes(walls: Sequence[datetime], keys: Sequence[Sequence[str | None]]) -> list[int]:
    """Return how often the clock was set back before each row.

    A clock goes back once, by at most an hour, and is passed again; else none was set back.
    """
    before: dict[tuple[str | None, ...], datetime] = {}
    back: dict[tuple[str | None, ...], datetime] = {}
    number = []
    for wall, *names in zip(walls, *keys, strict=True):
        key = tuple(names)
        if key in before and wall < before[key]:
            if key in back or before[key] - wall > _HOUR:
                return [0] * len(walls)
            back[key] = before[key]
        before[key] = wall
        number.append(int(key in back))
    return number if all(before[key] > back[key] for key in back) else [0] * len(walls)


def tell_apart(rows: Rows, seen: Mapping[str, Seen], columns: Sequence[Seen]) -> bool:
    """Return whether these columns, with clock changes, identify nearly all rows."""
    values = [rows[column.name] for column in columns]
    times = [c for c in columns if c.kind == TIMES]
    if _nearly_all_differ(values) or not times:
        return _nearly_all_differ(values)
    clocks = [c for c in columns if c.is_clock]
    keys = [rows[c.name] for c in columns if c not in (*times[:1], *clocks)]
    shows = dict(zip(("order", "clock"), (c.name for c in (*times[:1], *clocks)), strict=False))
    return _nearly_all_differ([*values, passes(walls_of(rows, seen, shows), keys)])


def _nearly_all_differ(values: Sequence[Sequence[Hashable]]) -> bool:
    rows = list(zip(*values, strict=True))
    return len(set(rows)) * 100 >= len(rows) * 98


def walls_of(rows: Rows, seen: Mapping[str, Seen], column_of: Mapping[str, str]) -> Sequence[datetime]:
    """Return the rows' local times, all equal without any."""
    order = column_of["order"]
    walls = _times_in(seen[order], rows[order])
    if "clock" not in column_of or not walls:
        return walls or [_MIDNIGHT] * len(rows[order])
    clock = column_of["clock"]
    times = seen[clock].clock_ranks(rows[clock])
    return [datetime.combine(day, time.time()) for day, time in zip(walls, times, strict=True)]


def _times_in(column: Seen, values: Sequence[str | None]) -> list[datetime]:
    if column.kind != TIMES or (column.form is not None and ("%z" in column.form or column.form.startswith("epoch"))):
        return []
    try:
        times = column.ranks(values) if column.form is not None else [datetime.fromisoformat(v or "") for v in values]
    except ValueError:
        return []
    return times if all(time.tzinfo is None for time in times) else []


def _ranks(rows: Rows, columns: Mapping[str, Seen], column_of: Mapping[str, str]) -> Sequence[Hashable]:
    order = column_of["order"]
    ranks = columns[order].ranks(rows[order])
    if "clock" not in column_of:
        return ranks
    clock = column_of["clock"]
    return list(zip(ranks, columns[clock].clock_ranks(rows[clock]), strict=True))


def _keys(rows: Rows, column_of: Mapping[str, str]) -> list[Sequence[str | None]]:
    return [rows[column_of[role]] for role in ("unit", "piece") if role in column_of]


def reading_that_rises(
    dates: Seen, rows: Mapping[str, Sequence[str | None]], columns: Mapping[str, Seen]
) -> str | None:
    """Return the only format for rising dates, or None.

    Dates rise in all rows, or else in those of each unit: the first column with a rising format counts.
    """
    several = [c for c in columns.values() if c.kind in (WHOLE, TEXTS) and 1 < len(c.labels) * 2 <= c.rows]
    several = sorted((c for c in several if not c.tells_when), key=_likeness_to_units)
    ranks = {form: dates.ranks(rows[dates.name], form) for form in dates.forms}
    for keys in ([], *([rows[column.name]] for column in several)):
        risen = [form for form in dates.forms if rises(ranks[form], keys, or_stays=True)]
        if risen:
            return risen[0] if len(risen) == 1 else None
    return None


def are_hours_of(days: Sequence[str | None], hours: Sequence[str | None]) -> bool:
    """Return whether days have several hours, mostly rising within each.

    >>> are_hours_of("aaabbb", "012012"), are_hours_of("aaabbb", "777777"), are_hours_of("aaabbb", "210210")
    (True, False, False)
    """
    rows = [(day, int(hour)) for day, hour in zip(days, hours, strict=True) if day is not None and hour is not None]
    several = 2 * len({day for day, _ in rows}) <= len(set(rows))
    rising = [earlier <= other for (day, earlier), (same, other) in pairwise(rows) if day == same]
    return several and sum(rising) * 5 >= len(rising) * 4


def _likeness_to_units(column: Seen) -> tuple[bool, bool]:
    return not column.named("unit"), column.runs != len(column.labels)


def rises(ranks: Sequence[Hashable], keys: Sequence[Sequence[str | None]], or_stays: bool = False) -> bool:
    """Return whether the rows of each key rise; `or_stays` allows equal ones."""
    last: dict[tuple[str | None, ...], Hashable] = {}
    risen = False
    for rank, *key in zip(ranks, *keys, strict=True):
        before = last.get(tuple(key))
        if before is not None:
            if not (before < rank or (or_stays and before == rank)):
                return False
            risen = risen or before != rank
        last[tuple(key)] = rank
    return risen or not or_stays
