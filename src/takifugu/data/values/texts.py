"""How texts are read as numbers, the same wherever the rows are, and the codes of values that are no states."""

from __future__ import annotations

import re

from takifugu.core.errors import DataError

#: What is stripped from both ends of a text; engines differ in what they call a blank.
BLANKS = " \t\n\r\x0b\x0c"
_NUMBER = re.compile(
    r"(?:-?[0-9]{1,60}(?:[.][0-9]{1,60})?(?:e[+-]?[0-9]{1,2})?|[+-]?(?:nan|inf(?:inity)?))$", re.IGNORECASE | re.ASCII
)
#: Codes of a missing value, of one that is no state or no number, and of a number in no bin.
MISSING, UNKNOWN, UNBINNED = -1, -2, -3


def number_in(text: str) -> float | None:
    """Return the number that a text is, also NaN and infinities; None for another text."""
    return float(text) if _NUMBER.match(text) else None


def not_numbers(column: str, fix: str) -> DataError:
    return DataError(f"column {column!r} has texts that are no numbers", fix=fix)
