"""Which column has which role in rows of states: one ranking, which all questions and rules ask."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from takifugu.data.kinds import NUMBERS, TEXTS, TIMES, WHOLE, YES_NO
from takifugu.releasing.file.guessing.column_words import BIRTH
from takifugu.releasing.file.guessing.courses import is_set_back, nearly_all_differ, passes, rises, several_each
from takifugu.releasing.file.guessing.seen import MOST_STATES, Seen

#: The columns by their roles: "order" and its "clock", "value", "unit", and the "piece" of a unit's rows.
Roles = Mapping[str, Seen]
#: A role is guessed of so many points; dates beside times of day have as many, and a name that says it.
_ENOUGH, _SAID = 2, 3


def roles_of(columns: Sequence[Seen], said: Mapping[str, Seen | None] | None = None) -> dict[str, Seen]:
    """Return the likely columns by role; what was `said` stays."""
    said = said or {}
    column_of = {role: column for role, column in said.items() if column is not None}
    clock = next((column for column in columns if column.is_clock), None)
    for role, candidates in _CANDIDATES.items():
        if role not in said:
            free = [column for column in columns if column not in column_of.values()]
            points = candidates(free, column_of)
            best = max(points, key=points.__getitem__, default=None)
            if best is not None and points[best] >= _ENOUGH:
                column_of[role] = best
        is_day = role == "order" and "order" in column_of and column_of["order"].is_date
        if is_day and clock is not None and clock not in column_of.values():
            column_of["clock"] = clock
    for role, likely in (("order", _what_rises), ("unit", _what_sorts), ("piece", _what_sorts)):
        if role not in {**said, **column_of} and (by := likely(columns, column_of)) is not None:
            column_of[role] = by
    return column_of


def _orders(free: Sequence[Seen], _: Roles) -> dict[Seen, int]:
    """Return columns of times or numbers, with the likeness to an order."""
    clocked = any(column.is_clock for column in free)
    points = dict[Seen, int]()
    for column in free:
        different = len(column.labels)
        if column.is_date and different == 1 and clocked:  # a log of one day has one date
            points[column] = _SAID
        names_units = column.named("unit") and column.recurs and not column.is_called_order
        if different < 2 or column.only_numbers_cases or column.words & BIRTH or names_units:
            continue
        if column.is_number or column.kind == TIMES:
            likeness = _SAID * (column.is_time + column.is_called_order) + 2 * column.rises
            points[column] = likeness + (different > MOST_STATES)
    return points


def _values(free: Sequence[Seen], column_of: Roles) -> dict[Seen, int]:
    """Return columns of few values, with the likeness to states."""
    by = _what_sorts(free, column_of)  # it says whose row it is
    some = [c for c in free if len(c.labels) <= MOST_STATES and c.kind not in (TIMES, NUMBERS) and c.rows > 1]
    some = [c for c in some if not (c.is_clock or (c is by and c.recurs))]
    points = dict[Seen, int]()
    for column in some:
        said = column.named("value") - column.named("unit") - column.named("piece")
        points[column] = 2 * (column.kind in (TEXTS, YES_NO)) + _SAID * said
        points[column] += 1 if column.runs > len(column.labels) else -1
    return points


def _units(free: Sequence[Seen], column_of: Roles) -> dict[Seen, int]:
    """Return columns of recurring names, with the likeness to units."""
    some = [c for c in free if c.kind != NUMBERS and not c.tells_when and len(c.labels) <= max(1, c.rows // 2)]
    some = [c for c in some if c.rows and not is_size(c, column_of)]
    points = {c: _SAID * c.named("unit") + 2 * c.stands_together for c in some}
    if any(column.names_people and points[column] >= _ENOUGH for column in points):
        return {column: likeness for column, likeness in points.items() if not column.names_things}
    return points


def _pieces(free: Sequence[Seen], column_of: Roles) -> dict[Seen, int]:
    """Return columns of recurring names, with the likeness to pieces."""
    keys = [column_of["unit"].values] if "unit" in column_of else []
    some = [c for c in free if c.is_name and 0 < len(c.labels) <= max(1, c.rows // 2) and c.named("piece")]
    return {column: _SAID for column in some if several_each([*keys, column.values])}


_CANDIDATES: Mapping[str, Callable[[Sequence[Seen], Roles], dict[Seen, int]]] = {
    "order": _orders, "value": _values, "unit": _units, "piece": _pieces,
}  # fmt: skip


def is_size(column: Seen, column_of: Roles) -> bool:
    """Return whether a column of numbers says how many, or how long.

    Its name decides, or its values for an ambiguous noun: numbers of employees or of a household's members are told
    apart by no time.
    """
    if column.is_size or column.is_duration or not column.may_be_size:
        return column.is_size or column.is_duration
    if "order" not in column_of or column_of["order"].is_running:
        return True
    return not tell_apart({**column_of, "unit": column})


def moments(column_of: Roles) -> list[float]:
    """Return when each row was, the time of day included."""
    day, *clock = [column_of[role].moments for role in ("order", "clock") if role in column_of]
    return [a + b for a, b in zip(day, *clock, strict=True)] if clock else day


def keys_of(column_of: Roles) -> list[Sequence[str | None]]:
    return [column_of[role].values for role in ("unit", "piece") if role in column_of]


def tell_apart(column_of: Roles) -> bool:
    """Return whether the order identifies nearly all rows of each piece."""
    keys, times = keys_of(column_of), moments(column_of)
    if not times or not column_of["order"].is_local:
        return nearly_all_differ([*keys, times])
    return nearly_all_differ([*keys, times, passes(times, keys)])


def goes_back(column_of: Roles) -> bool:
    """Return whether the order shows a clock set back."""
    return _is_set_back(column_of, keys_of(column_of))


def _is_set_back(column_of: Roles, keys: Sequence[Sequence[str | None]]) -> bool:
    return "order" in column_of and column_of["order"].is_local and is_set_back(moments(column_of), keys)


def _what_sorts(columns: Sequence[Seen], column_of: Roles) -> Seen | None:
    """Return the column needed to sort each unit, if any."""
    if "order" not in column_of:
        return None
    times, keys = moments(column_of), keys_of(column_of)
    if rises(times, keys):
        return None
    free = [c for c in columns if c not in column_of.values() and c.is_name and not c.tells_when]
    free = [c for c in free if len(c.labels) > 1 and several_each([*keys, c.values])]
    sorting = (column for column in free if rises(times, [*keys, column.values]))
    if _is_set_back(column_of, keys):  # or one ends where the next begins
        return next((column for column in sorting if column.stands_together), None)
    return next(sorting, None) or next((c for c in free if _is_set_back(column_of, [*keys, c.values])), None)


def _what_rises(columns: Sequence[Seen], column_of: Roles) -> Seen | None:
    """Return a column of recurring whole numbers, rising in each piece."""
    keys = keys_of(column_of)
    free = (c for c in columns if keys and c not in column_of.values() and c.kind == WHOLE and c.recurs)
    return next((column for column in free if rises(column.moments, keys)), None)
