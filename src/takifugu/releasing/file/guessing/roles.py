"""Which column has which role in rows of states, by how rows follow each other in time."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

from takifugu.core.lists import without
from takifugu.data.kinds import NUMBERS, TEXTS, TIMES, WHOLE, YES_NO
from takifugu.data.rows.layout import STEP_UNITS
from takifugu.releasing.file.guessing.column_words import BIRTH, THINGS
from takifugu.releasing.file.guessing.seen import MISSING, MOST_STATES, RISES, Seen

#: The columns by their roles: "order" and its "clock", "value", "unit", and the "recording" of a unit's rows.
Roles = Mapping[str, Seen]
#: An order tells nearly all rows apart where so many of a hundred differ, though a clock was set back.
_DIFFERENT = 90
#: A role is likely of so many points; dates beside times of day have as many, and a name that says it.
_ENOUGH, _SAID = 2, 3


def roles_of(columns: Sequence[Seen], said: Mapping[str, Seen | None] | None = None) -> dict[str, Seen]:
    """Return the likely columns by role; what was `said` stays."""
    said = said or {}
    column_of = {role: column for role, column in said.items() if column is not None}
    clock = next((column for column in columns if column.is_clock), None)
    for role, points_of in _POINTS.items():
        if role not in said:
            free = without(columns, column_of.values())
            if role == "value":  # what sorts the rows says whose they are
                by = _what_sorts(free, column_of)
                free = [column for column in free if column is not by or not column.recurs]
            points = {column: points_of(column, free, column_of) for column in free}
            best = max(free, key=points.__getitem__, default=None)
            if best is not None and points[best] >= _ENOUGH:
                column_of[role] = best
        is_day = role == "order" and "order" in column_of and column_of["order"].is_date
        if is_day and clock is not None and clock not in column_of.values():
            column_of["clock"] = clock
    for role, likely in (("order", _what_rises), ("unit", _what_sorts), ("recording", _what_sorts)):
        if role not in {**said, **column_of} and (by := likely(columns, column_of)) is not None:
            column_of[role] = by
    return column_of


def _as_order(column: Seen, free: Sequence[Seen], _: Roles) -> int:
    """Return how much speaks for times or numbers as an order."""
    different = len(column.labels)
    if column.is_date and different == 1 and any(other.is_clock for other in free):  # a log of one day has one date
        return _SAID
    names_units = column.named("unit") and column.recurs and not column.is_called_order
    if different < 2 or column.only_numbers_cases or column.words & BIRTH or names_units:
        return 0
    if not (column.is_number or column.kind == TIMES):
        return 0
    return _SAID * (column.is_time + column.is_called_order) + 2 * (column.rising >= RISES) + (different > MOST_STATES)


def _as_value(column: Seen, _: Sequence[Seen], __: Roles) -> int:
    """Return how much speaks for a few values as states."""
    if column.has_many or column.kind in (TIMES, NUMBERS) or column.rows < 2 or column.is_clock:
        return 0
    said = column.named("value") - column.named("unit") - column.named("recording")
    varies = 1 if column.runs > len(column.labels) else -1
    return 2 * (column.kind in (TEXTS, YES_NO)) + _SAID * said + varies


def _as_unit(column: Seen, free: Sequence[Seen], _: Roles) -> int:
    """Return how much speaks for recurring names as units; people come before what they use."""
    if not _may_be_unit(column):
        return 0
    people = any(other.names_people and _may_be_unit(other) for other in free)
    stand_together = 1 < column.runs == len(column.labels)
    return 0 if people and column.words & THINGS else _SAID * column.named("unit") + 2 * stand_together


def _may_be_unit(column: Seen) -> bool:
    return column.may_name and 0 < len(column.labels) <= max(1, column.rows // 2)


def _as_piece(column: Seen, _: Sequence[Seen], column_of: Roles) -> int:
    """Return how much speaks for recurring names as pieces."""
    keys = [column_of["unit"].values] if "unit" in column_of else []
    recurs = column.is_name and 0 < len(column.labels) <= max(1, column.rows // 2)
    return _SAID if recurs and column.named("recording") and several_each([*keys, column.values]) else 0


_POINTS: Mapping[str, Callable[[Seen, Sequence[Seen], Roles], int]] = {
    "order": _as_order, "value": _as_value, "unit": _as_unit, "recording": _as_piece,
}  # fmt: skip


def moments(column_of: Roles) -> list[float]:
    """Return when each row was, the time of day included."""
    day, *clock = [column_of[role].moments for role in ("order", "clock") if role in column_of]
    return [a + b for a, b in zip(day, *clock, strict=True)] if clock else day


def keys_of(column_of: Roles) -> list[Sequence[str | None]]:
    return [column_of[role].values for role in ("unit", "recording") if role in column_of]


def tell_apart(column_of: Roles) -> bool:
    """Return whether the order identifies nearly all rows of each piece."""
    rows = [*zip(*keys_of(column_of), moments(column_of), strict=True)]
    return len({*rows}) * 100 >= len(rows) * _DIFFERENT


def _what_sorts(columns: Sequence[Seen], column_of: Roles) -> Seen | None:
    """Return the column needed to sort each unit, if any."""
    if "order" not in column_of:
        return None
    times, keys = moments(column_of), keys_of(column_of)
    if _are_sorted(times, keys):
        return None
    for column in without(columns, column_of.values()):
        finer = [*keys, column.values]
        if column.may_name and column.varies and several_each(finer) and _are_sorted(times, finer):
            return column
    return None


def _are_sorted(times: Sequence[float], keys: Keys) -> bool:
    """Return whether the rows of each key rise, or all fall."""
    return rises(times, keys) or rises(times[::-1], [key[::-1] for key in keys])


def _what_rises(columns: Sequence[Seen], column_of: Roles) -> Seen | None:
    """Return a column of recurring whole numbers, rising in each piece."""
    keys = keys_of(column_of)
    free = (c for c in columns if keys and c not in column_of.values() and c.kind == WHOLE and c.recurs)
    return next((column for column in free if rises(column.moments, keys)), None)


Keys = Sequence[Sequence[str | None]]
#: Rows are even where so many of a hundred gaps are the commonest one, and so many are multiples of it.
_COMMONEST, _MULTIPLES = 60, 95
#: States last over rows where so many of a hundred rows have the state of the row before.
_LASTING = 5


def rises(moments: Sequence[float], keys: Keys, or_stays: bool = False) -> bool:
    """Return whether the rows of each key rise; `or_stays` allows equal ones."""
    last: dict[tuple[str | None, ...], float] = {}
    risen = False
    for moment, *key in zip(moments, *keys, strict=True):
        before = last.get(tuple(key))
        if before is not None:
            if not (before < moment or (or_stays and before == moment)):
                return False
            risen = risen or before != moment
        last[tuple(key)] = moment
    return risen or not or_stays


def several_each(keys: Keys) -> bool:
    """Return whether keys have two rows or more on average."""
    return len(set(zip(*keys, strict=True))) * 2 <= len(keys[0])


def are_hours_of(days: Sequence[str | None], hours: Sequence[str | None]) -> bool:
    """Return whether days have several hours on average.

    >>> are_hours_of("aaabbb", "012012"), are_hours_of("aaabbb", "777777")
    (True, False)
    """
    rows = {(day, hour) for day, hour in zip(days, hours, strict=True) if day is not None and hour is not None}
    return 2 * len({day for day, _ in rows}) <= len(rows)


@dataclass(frozen=True)
class Spacing:
    """How rows follow each other: their commonest `gap`, whether it `is_even`, and whether states are `repeated`."""

    gap: float | None = None
    is_even: bool = False
    is_repeated: bool = False


def spacing(moments: Sequence[float], keys: Keys, values: Sequence[str | None]) -> Spacing:
    """Return the spacing of each key's rows in time."""
    of_key: dict[tuple[str | None, ...], list[tuple[float, str | None]]] = {}
    for moment, value, *key in zip(moments, values, *keys, strict=True):
        if moment > MISSING:
            of_key.setdefault(tuple(key), []).append((moment, value))
    following = list[tuple[tuple[float, str | None], tuple[float, str | None]]]()
    for rows in of_key.values():
        following += pairwise(sorted(rows, key=lambda row: row[0]))
    gaps = [round(after[0] - before[0], 3) for before, after in following]
    if not gaps:
        return Spacing()
    (gap, number), *_ = Counter(gaps).most_common(1)
    multiples = sum(gap > 0 and difference > 0 and (difference / gap).is_integer() for difference in gaps)
    even = gap > 0 and number * 100 >= _COMMONEST * len(gaps) and multiples * 100 >= _MULTIPLES * len(gaps)
    same = sum(before[1] == after[1] for before, after in following)
    return Spacing(gap, even, same * 100 >= _LASTING * len(gaps))


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
