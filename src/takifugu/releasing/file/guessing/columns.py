"""Guess what the columns of a table mean: the unit of a row, its piece, its order, its state."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime

from takifugu.data import Table, Written, column_kinds, rows_of, text_of
from takifugu.data.files.sniff import numerals_of, time_formats
from takifugu.data.kinds import TEXTS, TIMES, WHOLE
from takifugu.releasing.file.guessing.column_words import SEQUENCE_ROLES
from takifugu.releasing.file.guessing.odd_rows import Odd, without_odd_rows
from takifugu.releasing.file.guessing.seen import ISO_DATE, Seen
from takifugu.releasing.file.guessing.sorting import (
    are_hours_of,
    reading_that_rises,
    several_each,
    what_rises,
    what_sorts,
)

#: How many rows are inspected, at most, and of a wide table how many cells.
LOOKED_AT, CELLS = 10_000, 1_000_000


@dataclass(frozen=True)
class Column:
    """A column's name, the kind of its values, and its role: what was said, or seems to be.

    `form` is the format of its times, where that is not ISO 8601, and `or_form` another that all of them have, too;
    `is_unclear` where nothing tells which is meant. `written` is how its table is written. Beside its numbers it has so
    many different `marks`, texts that are none.
    """

    name: str
    kind: str
    role: str | None
    is_said: bool = False
    form: str | None = None
    or_form: str | None = None
    is_unclear: bool = False
    written: Written = field(default_factory=Written, repr=False)
    marks: int = 0

    def guess(self, words: str) -> str:
        """Return the column's purpose, marked as a guess unless stated."""
        return words if self.is_said else f"guessed: {words}"


#: A role is guessed of so many points; dates beside times of day have as many.
_ENOUGH, _DATES = 2, 3


@dataclass(frozen=True, eq=False)
class FirstLook:
    """What the first rows of a table look like, column by column, and how the table is written; all of it is private.

    `rows` are the texts of the inspected rows by column, None where one is missing; `unclear` the columns of dates that
    can be read in two ways, and `twice` the names that several columns have, of which none is read. The `odd` rows are
    in `all_rows` only.
    """

    columns: Mapping[str, Seen]
    rows: Mapping[str, Sequence[str | None]] = field(repr=False)
    written: Written = field(repr=False)
    unclear: frozenset[str] = frozenset()
    twice: tuple[str, ...] = ()
    all_rows: Mapping[str, Sequence[str | None]] = field(default_factory=dict, repr=False)
    odd: Odd = field(default_factory=Odd)


def looked_at(columns: int) -> int:
    """Return the number of rows to inspect.

    >>> looked_at(3), looked_at(600)
    (10000, 1666)
    """
    return min(LOOKED_AT, CELLS // max(columns, 1))


def first_look(table: Table) -> FirstLook:
    """Inspect the first rows of a table; DataError for unreadable ones."""
    start = table.head(looked_at(len(table.names)))
    all_rows = _first_rows(start)
    is_whole = len(next(iter(all_rows.values()), ())) < looked_at(len(table.names))
    rows, odd = without_odd_rows(all_rows, start.written.header and start.written.lines is None, is_whole)
    texts = {name: [v for v in values if v is not None] for name, values in rows.items()}
    forms = {name: time_formats(some) for name, some in texts.items()}
    numerals = numerals_of([some for name, some in texts.items() if not forms[name]])
    table_format = replace(start.written, numerals=numerals) if start.numerals.usual else start.written
    start = replace(start, written=table_format)
    kinds = {**column_kinds(start, texts), **{name: TIMES for name, some in forms.items() if some}}
    columns = {
        name: Seen(name, kinds[name], values, table_format.numerals, forms[name]) for name, values in rows.items()
    }
    if any(column.is_date for column in columns.values()):
        dates = [name for name, column in columns.items() if column.is_date]
        clocks = [name for name, column in columns.items() if column.kind == WHOLE and column.is_numbered_clock]
        hours = (name for name, column in columns.items() if column.kind == WHOLE and column.holds_hours)
        clocks += [hour for hour in hours if any(are_hours_of(rows[day], rows[hour]) for day in dates)]
        columns |= {name: Seen(name, TEXTS, rows[name], table_format.numerals, ()) for name in clocks}
    twice = tuple(dict.fromkeys(name for name in start.names if name and start.names.count(name) > 1))
    unclear = set[str]()
    for name in [name for name, some in forms.items() if len(some) > 1]:
        form = reading_that_rises(columns[name], rows, columns)
        if form is None:
            unclear.add(name)
        else:
            other_forms = (other for other in forms[name] if other != form)
            columns[name] = Seen(name, kinds[name], rows[name], table_format.numerals, [form, *other_forms])
    return FirstLook(columns, rows, table_format, frozenset(unclear), twice, all_rows, odd)


def with_roles(
    look: FirstLook, roles: Mapping[str, str] = SEQUENCE_ROLES, said: Mapping[str, str | None] | None = None
) -> tuple[Column, ...]:
    """Return the columns with their likely roles.

    `roles` are keys of [source], each with the likeness of its column: "order", "value", "unit" or "piece" of several
    rows, "person" of one row, "group". Roles that were `said` have these columns.
    """
    columns, rows, said = look.columns, look.rows, said or {}
    clock = next((name for name, column in columns.items() if column.is_clock), None)
    column_of = {role: name for role, name in said.items() if role in roles and name is not None}
    said_columns = {*column_of.values()}
    for role, like in roles.items():
        if role not in said:
            scores = _scores(look, role, like, column_of, clock)
            best = max(scores, key=scores.__getitem__, default=None)
            if best is not None and scores[best] >= _ENOUGH:
                column_of[role] = best
        is_day = role == "order" and role in column_of and columns[column_of[role]].is_date
        if is_day and clock is not None and clock not in column_of.values():
            column_of["clock"] = clock
    is_free = "order" in roles and "order" not in (*column_of, *said)
    if is_free and (by := what_rises(rows, columns, column_of)) is not None:
        column_of["order"] = by
    for role in ("unit", "piece"):
        if (
            role in roles
            and role not in (*column_of, *said)
            and (by := what_sorts(rows, columns, column_of)) is not None
        ):
            column_of[role] = by
    role_of = {name: role for role, name in column_of.items()}
    clock_column = columns[column_of["clock"]] if "clock" in column_of else None
    return tuple(
        Column(
            s.name, s.kind, role_of.get(s.name), s.name in said_columns, _form(s, role_of.get(s.name), clock_column),
            next(iter(s.forms[1:]), None), s.name in look.unclear, look.written,
        )
        for s in columns.values()
    )


def _scores(
    look: FirstLook, role: str, like: str, column_of: Mapping[str, str], clock: str | None
) -> dict[str, int]:
    """Return each unassigned column's likeness to a role."""
    summaries, rows = look.columns, look.rows
    scores = {name: column.score(like) for name, column in summaries.items() if name not in column_of.values()}
    if role == "value" and (by := what_sorts(rows, summaries, column_of)) is not None and _recurs(summaries[by]):
        scores.pop(by, None)  # it says whose row it is
    if role == "piece":
        keys = [rows[column_of["unit"]]] if "unit" in column_of else []
        scores = {name: score for name, score in scores.items() if several_each([*keys, rows[name]])}
    if role == "order" and clock is not None:  # a log of one day has one date
        days = [name for name in scores if summaries[name].is_date and len(summaries[name].labels) == 1]
        scores |= dict.fromkeys(days, _DATES)
    if role == "unit" and any(summaries[name].names_people and scores[name] >= _ENOUGH for name in scores):
        scores = {name: score for name, score in scores.items() if not summaries[name].names_things}
    return scores


def _recurs(column: Seen) -> bool:
    return 1 < len(column.labels) * 2 <= column.rows


def _form(column: Seen, role: str | None, clock: Seen | None) -> str | None:
    """Return the format of times, other than ISO 8601 beside a clock."""
    if role == "clock":
        return column.clock_form
    if role == "order" and clock is not None and column.form is None and not clock.is_iso_clock:
        return ISO_DATE
    return column.epoch if role == "order" else column.form


def _first_rows(table: Table) -> dict[str, list[str | None]]:
    names = [name for name in dict.fromkeys(table.names) if name and table.names.count(name) == 1]
    rows = rows_of(table, names)
    return {name: _all_present([row[i] for row in rows], table) for i, name in enumerate(names)}


def _all_present(values: Sequence[Hashable], table: Table) -> list[str | None]:
    cell_texts = {value: _present(value, table) for value in {value for value in values if type(value) is str}}
    return [cell_texts[value] if type(value) is str else _present(value, table) for value in values]


def _present(value: object, table: Table) -> str | None:
    text = value.isoformat(" ") if isinstance(value, datetime) else text_of(value)
    return None if text is None or text in table.missing else text
