"""The first rows of a table, column by column, without those that are not what the others are."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from itertools import islice

from takifugu.core.lists import present
from takifugu.data import Table, Written, column_kinds, rows_of, text_of
from takifugu.data.files.first_lines import rows_of_header
from takifugu.data.files.sniff import numerals_of, time_formats
from takifugu.data.kinds import TEXTS, TIMES, WHOLE
from takifugu.data.values.spellings import are_totals
from takifugu.data.values.texts import NUMBER
from takifugu.releasing.file.guessing.roles import are_hours_of, rises
from takifugu.releasing.file.guessing.seen import DIGITS, MOST_STATES, Seen, clock_of

#: How many rows are inspected, at most, and of a wide table how many cells.
LOOKED_AT, CELLS = 10_000, 1_000_000
Rows = Mapping[str, Sequence[str | None]]
#: Of so many rows one may be repeated as a whole.
_ONE_REPEATED_IN = 20
#: Where so few rows are inspected nothing is odd, and so many are compared with the first ones.
_FEW, _COMPARED = 4, 500


@dataclass(frozen=True)
class Odd:
    """Which odd rows a table has: how many are `repeated`, belong to its header, or say it again; and its `totals`."""

    repeated: int = 0
    below_names: int = 0
    names_again: int = 0
    totals: bool = False


@dataclass(frozen=True, eq=False)
class FirstLook:
    """What the first rows of a table look like, column by column, and how the table is written; all of it is private.

    Several columns have the names in `twice`, of which none is read. The `odd` rows are in `all_rows` only.
    """

    columns: Mapping[str, Seen]
    written: Written = field(repr=False)
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
    rows, odd = _without_odd_rows(all_rows, start.written.header and start.written.lines is None, is_whole)
    texts = {name: present(values) for name, values in rows.items()}
    numerals = numerals_of([some for some in texts.values() if not time_formats(some)])
    if start.numerals.usual:
        start = replace(start, written=replace(start.written, numerals=numerals))
    columns = {column.name: column for column in _seen(start, rows)}
    marks = {name: some for name, column in columns.items() if (some := marks_of(column))}
    unmarked = dict[str, Sequence[str | None]]()
    for name, some in marks.items():
        unmarked[name] = [None if value in some else value for value in rows[name]]
    for column in _seen(start, unmarked):
        if column.kind != TEXTS:
            columns[column.name] = replace(column, marks=len(marks[column.name]))
    dates = [column for column in columns.values() if column.is_date]
    for column in [*columns.values()] if dates else []:
        form = clock_of(column.words, column.labels) if column.kind == WHOLE else None
        if form == DIGITS or (form and any(are_hours_of(day.values, column.values) for day in dates)):
            columns[column.name] = replace(column, kind=TEXTS)  # whole numbers that are times of day beside dates
    columns |= {c.name: _in_the_order_of_time(c, [*columns.values()]) for c in columns.values() if len(c.forms) > 1}
    twice = tuple(dict.fromkeys(name for name in start.names if name and start.names.count(name) > 1))
    return FirstLook(columns, start.written, twice, all_rows, odd)


def _seen(table: Table, rows: Rows) -> Iterator[Seen]:
    """Yield columns as they look, each of the kind of all its values."""
    texts = {name: present(values) for name, values in rows.items()}
    kinds = column_kinds(table, texts)
    for name, values in rows.items():
        forms = time_formats(texts[name])
        yield Seen(name, TIMES if forms else kinds[name], values, table.written.numerals, forms)


def _in_the_order_of_time(dates: Seen, columns: Sequence[Seen]) -> Seen:
    """Return dates with the only format that rises, or as unclear.

    It rises in all rows, or in those of each unit.
    """
    several = [[c.values] for c in columns if c.is_name and c.recurs and not c.tells_when]
    readings = [replace(dates, forms=tuple(dict.fromkeys((form, *dates.forms)))) for form in dates.forms]
    for keys in ([], *several):
        risen = [reading for reading in readings if rises(reading.moments, keys, or_stays=True)]
        if risen:
            return risen[0] if len(risen) == 1 else replace(dates, is_unclear=True)
    return replace(dates, is_unclear=True)


def _first_rows(table: Table) -> dict[str, list[str | None]]:
    names = [name for name in dict.fromkeys(table.names) if name and table.names.count(name) == 1]
    columns: dict[str, list[str | None]] = {name: [] for name in names}
    texts = dict[str, str | None]()  # of cells that are texts, each of which is read once
    for row in rows_of(table, names):
        for name, value in zip(names, row, strict=False):  # without names there may still be cells
            if type(value) is not str:
                columns[name].append(_present(value, table))
                continue
            if value not in texts:
                texts[value] = _present(value, table)
            columns[name].append(texts[value])
    return columns


def _present(value: object, table: Table) -> str | None:
    text = value.isoformat(" ") if isinstance(value, datetime) else text_of(value)
    return None if text is None or text in table.missing else text


def _without_odd_rows(rows: Rows, has_names: bool, is_whole: bool) -> tuple[dict[str, list[str | None]], Odd]:
    """Separate rows from extra headers and final totals."""
    names, every = tuple(rows), [*zip(*rows.values(), strict=True)]
    if len(every) < _FEW:
        return {name: list(values) for name, values in rows.items()}, Odd()
    below = rows_of_header(every[:_COMPARED]) if has_names else 0
    some = [row for row in every[below:] if row != names]
    header_repeats = len(every) - below - len(some)
    totals = is_whole and any(are_totals(value) for value in (some or [()])[-1] if value is not None)
    some = some[: len(some) - totals]
    different = [*dict.fromkeys(some)]
    repeated = len(some) - len(different)
    if not 0 < repeated * _ONE_REPEATED_IN <= len(every):
        different, repeated = some, 0
    clean_columns = [*zip(*different, strict=True)] or [()] * len(names)
    return dict(zip(names, map(list, clean_columns), strict=True)), Odd(repeated, below, header_repeats, totals)


#: What often stands for a missing value.
_MISSING = frozenset(("?", "na", "n/a", "nan", "null", "none", "-", "--", ".", "-999"))
#: A number that was too small or too large to be measured.
_BEYOND = r"[<>\u2264\u2265]=?\s*\S+"
#: Of a column of numbers at most one row in so many is a mark for a missing value, and so many are different marks.
_ONE_MARK_IN, _MARKS = 4, 3


def marks_of(column: Seen) -> frozenset[str]:
    """Return the usual texts for missing values, few among numbers.

    Marks have no digits, or stand for numbers too small or too large to be measured.
    """
    if column.kind != TEXTS:
        return frozenset()
    usual = frozenset(text for text in column.labels if text.strip().lower() in _MISSING)
    no_numbers = (t for t in column.labels if t not in usual and not re.match(NUMBER, column.numerals.plain(t)))
    odd_texts = frozenset(islice(no_numbers, _MARKS + 1))
    few = len(odd_texts) <= _MARKS and sum(v in odd_texts for v in column.values) * _ONE_MARK_IN <= len(column.values)
    are_marks = few and len(column.labels) - len(usual | odd_texts) > MOST_STATES
    numbered = any(re.search("[0-9]", text) and not re.fullmatch(_BEYOND, text) for text in odd_texts)
    return usual | odd_texts if are_marks and not numbered else usual
