"""The first rows of a table, column by column, without those that are not what the others are."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from itertools import islice

from takifugu.data import Table, Written, column_kinds, rows_of, text_of
from takifugu.data.files.first_lines import are_numbers, rows_of_header
from takifugu.data.files.sniff import numerals_of, time_formats
from takifugu.data.kinds import NUMBERS, TEXTS, TIMES, WHOLE
from takifugu.data.values.texts import INTEGER, NUMBER, TIME
from takifugu.releasing.file.guessing.clocks import DIGITS, WHOLE_HOURS, clock_of_numbers
from takifugu.releasing.file.guessing.courses import are_hours_of, rises
from takifugu.releasing.file.guessing.seen import MOST_STATES, Seen

#: How many rows are inspected, at most, and of a wide table how many cells.
LOOKED_AT, CELLS = 10_000, 1_000_000
_FORMS = ((WHOLE, INTEGER), (NUMBERS, NUMBER), (TIMES, TIME))


Rows = Mapping[str, Sequence[str | None]]
#: Of so many rows one may be repeated as a whole.
_ONE_REPEATED_IN = 20
#: Where so few rows are inspected nothing is odd, and so many are compared with the first ones.
_FEW, _COMPARED = 4, 500
_TOTAL = r"(?i)\W*(?:(?:grand|sub)?[ -]?total[es]?|totaal|(?:gesamt)?summe|gesamt|insgesamt|sum|somme|suma|totaux)\W*"


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
    texts = {name: [v for v in values if v is not None] for name, values in rows.items()}
    forms = {name: time_formats(some) for name, some in texts.items()}
    numerals = numerals_of([some for name, some in texts.items() if not forms[name]])
    table_format = replace(start.written, numerals=numerals) if start.numerals.usual else start.written
    kinds = column_kinds(replace(start, written=table_format), texts)
    kinds |= {name: TIMES for name, some in forms.items() if some}
    seen = (Seen(name, kinds[name], values, table_format.numerals, forms[name]) for name, values in rows.items())
    columns = {column.name: without_marks(column) for column in seen}
    columns |= {column.name: replace(column, kind=TEXTS) for column in _clocks([*columns.values()])}
    columns |= {c.name: _in_the_order_of_time(c, [*columns.values()]) for c in columns.values() if len(c.forms) > 1}
    twice = tuple(dict.fromkeys(name for name in start.names if name and start.names.count(name) > 1))
    return FirstLook(columns, table_format, twice, all_rows, odd)


def without_marks(column: Seen) -> Seen:
    """Return a column of texts with usual marks read as missing."""
    marks = marks_of(column)
    if not marks:
        return column
    values = [None if value in marks else value for value in column.values]
    texts = [value for value in values if value is not None]
    forms, plain = time_formats(texts), [column.numerals.plain(text) for text in {*texts}]
    kind = TEXTS
    for other_kind, form in reversed(_FORMS):
        if plain and all(re.match(form, text) for text in plain):
            kind = other_kind
    if forms:
        kind = TIMES
    used_marks = 0 if kind == TEXTS else len(marks)
    return Seen(column.name, kind, values, column.numerals, forms, marks=used_marks)


def _clocks(columns: Sequence[Seen]) -> list[Seen]:
    """Return the columns of numbers that are times of day."""
    dates = [column for column in columns if column.is_date]
    numbers = [column for column in columns if column.kind == WHOLE and dates]
    forms = {column: clock_of_numbers(column.words, column.labels) for column in numbers}
    hours = list[Seen]()
    for column, form in forms.items():
        if form == WHOLE_HOURS and any(are_hours_of(day.values, column.values) for day in dates):
            hours.append(column)
    return [*hours, *(column for column, form in forms.items() if form == DIGITS)]


def _in_the_order_of_time(dates: Seen, columns: Sequence[Seen]) -> Seen:
    """Return dates with the only rising format, or as unclear.

    They rise in all rows, or else in those of each unit: the first column with a rising format counts.
    """
    several = [c for c in columns if c.is_name and c.recurs and not c.tells_when]
    several.sort(key=lambda column: (not column.named("unit"), column.runs != len(column.labels)))
    readings = [replace(dates, forms=tuple(dict.fromkeys((form, *dates.forms)))) for form in dates.forms]
    for keys in ([], *([column.values] for column in several)):
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
    columns = [*zip(*some, strict=True)]
    totals = is_whole and len(some) > 1 and _are_totals([(column[-1], column[:-1]) for column in columns])
    some = some[: len(some) - totals]
    different = [*dict.fromkeys(some)]
    repeated = len(some) - len(different)
    if not 0 < repeated * _ONE_REPEATED_IN <= len(every):
        different, repeated = some, 0
    clean_columns = [*zip(*different, strict=True)] or [()] * len(names)
    return dict(zip(names, map(list, clean_columns), strict=True)), Odd(repeated, below, header_repeats, totals)


def _are_totals(columns: Sequence[tuple[str | None, Sequence[str | None]]]) -> bool:
    """Return whether the last row holds totals.

    Totals say so, or lack the identifier of all other rows and have a larger number.
    """
    if any(last is not None and re.fullmatch(_TOTAL, last) and last not in values for last, values in columns):
        return True
    lacks = any(last is None and None not in values and len(set(values)) == len(values) for last, values in columns)
    if not lacks:
        return False
    numbers = [(last, values) for last, values in columns if last is not None and are_numbers([last, *values])]
    for last, values in numbers:
        if len(last) <= max(len(value or "") for value in values):
            return False
    return bool(numbers)


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
