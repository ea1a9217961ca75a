"""What stands for missing values in columns: usual marks, and the few texts among many numbers."""

from __future__ import annotations

import re
from itertools import islice

from takifugu.data.kinds import TEXTS
from takifugu.data.values.texts import NUMBER
from takifugu.releasing.file.guessing.seen import MOST_STATES, Seen

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
