"""What stands for missing values in columns: usual marks, and the few texts among many numbers."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from itertools import islice

from takifugu.data.kinds import NUMBERS, TEXTS, WHOLE
from takifugu.data.values.texts import INTEGER, NUMBER
from takifugu.releasing.file.guessing.columns import Column, FirstLook
from takifugu.releasing.file.guessing.seen import MOST_STATES, Seen

#: What often stands for a missing value.
_MISSING = frozenset(("?", "na", "n/a", "nan", "null", "none", "-", "--", ".", "-999"))
#: A number that was too small or too large to be measured.
_BEYOND = r"[<>\u2264\u2265]=?\s*\S+"
#: Of a column of numbers at most one row in so many is a mark for a missing value, and so many are different marks.
_ONE_MARK_IN, _MARKS = 4, 3


def without_marks(look: FirstLook) -> FirstLook:
    """Return a first look with usual marks read as missing."""
    rows, columns = dict(look.rows), dict(look.columns)
    for name, column in look.columns.items():
        marks = _marks_of(column, look.rows[name])
        if marks:
            values = [None if v in marks else v for v in look.rows[name]]
            plain = [column.numerals.plain(value) for value in values if value is not None]
            kind = next((k for k, form in ((WHOLE, INTEGER), (NUMBERS, NUMBER)) if all_match(form, plain)), TEXTS)
            rows[name], columns[name] = values, Seen(name, kind, values, column.numerals, column.forms)
    return replace(look, columns=columns, rows=rows)


def with_marks(look: FirstLook, unmarked: FirstLook, columns: Sequence[Column]) -> tuple[Column, ...]:
    """Return the columns, with unused, rarely marked numbers as numbers."""
    return tuple(_as_numbers(c, look.columns[c.name], unmarked.columns[c.name]) for c in columns)


def _as_numbers(column: Column, look: Seen, unmarked: Seen) -> Column:
    if column.role is not None or look.kind != TEXTS or unmarked.kind not in (WHOLE, NUMBERS):
        return column
    marks = len(look.labels) - len(unmarked.labels)
    return replace(column, kind=unmarked.kind, marks=marks)


def _marks_of(column: Seen, values: Sequence[str | None]) -> frozenset[str]:
    """Return the usual texts for missing values, few among numbers.

    Marks have no digits, or stand for numbers too small or too large to be measured.
    """
    if column.kind != TEXTS:
        return frozenset()
    usual = frozenset(text for text in column.labels if text.strip().lower() in _MISSING)
    no_numbers = (t for t in column.labels if t not in usual and not re.match(NUMBER, column.numerals.plain(t)))
    odd_texts = frozenset(islice(no_numbers, _MARKS + 1))
    few = len(odd_texts) <= _MARKS and sum(v in odd_texts for v in values) * _ONE_MARK_IN <= len(values)
    are_marks = few and len(column.labels) - len(usual | odd_texts) > MOST_STATES
    numbered = any(re.search("[0-9]", text) and not re.fullmatch(_BEYOND, text) for text in odd_texts)
    return usual | odd_texts if are_marks and not numbered else usual


def all_match(form: str, texts: Sequence[str]) -> bool:
    return bool(texts) and all(re.match(form, text) for text in texts)
