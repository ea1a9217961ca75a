"""Times of day in a column of their own, beside dates: how they are written, and when they are."""

from __future__ import annotations

import re
from collections.abc import Sequence

from takifugu.data import TimeFormat
from takifugu.data.values.texts import TIME
from takifugu.releasing.file.guessing.column_words import CLOCK, HOURS

#: The day of times of day, which are compared as times.
FIRST_DAY, ISO_DATE = "1970-01-01 ", "%Y-%m-%d"
_CLOCK = r"[0-9]{1,2}:[0-9]{2}(?::[0-9]{2})?( ?[AaPp][Mm])?"
#: A time of day as a number (930 is 9:30), and its format, which is read with four digits; hours, and theirs.
_NUMBER, DIGITS, _HOUR, WHOLE_HOURS = r"(?:[01]?[0-9]|2[0-3])?[0-5]?[0-9]", "%H%M", r"[01]?[0-9]|2[0-3]", "%H"


def clock_of(words: frozenset[str], labels: Sequence[str]) -> str | None:
    """Return the format of times of day, or of whole numbers called so.

    >>> clock_of(frozenset(), ["9:30", "10:00"]), clock_of(frozenset(["hour"]), ["9", "10"])
    ('%H:%M', '%H')
    >>> clock_of(frozenset(), ["9:30:00 pm"]), clock_of(frozenset(), ["26:00"])
    ('%I:%M:%S %p', None)
    """
    if words & CLOCK and any(len(text) > 2 for text in labels) and all(re.fullmatch(_NUMBER, text) for text in labels):
        return DIGITS
    if words & HOURS and len(labels) > 1 and all(re.fullmatch(_HOUR, text) for text in labels):
        return WHOLE_HOURS
    if not labels or not all(re.fullmatch(_CLOCK, text) for text in labels):
        return None
    half = re.search(" ?[AaPp][Mm]$", labels[0])
    minutes = "%M:%S" if labels[0].count(":") == 2 else "%M"
    form = f"%H:{minutes}"
    if half is not None:
        form = f"%I:{minutes}{' ' * half[0].startswith(' ')}%p"
    read = TimeFormat(f"{ISO_DATE} {form}").read
    return form if all(read(FIRST_DAY + text) for text in labels) else None


def are_iso(labels: Sequence[str]) -> bool:
    """Return whether all times of day follow ISO 8601."""
    return all(re.match(TIME, FIRST_DAY + text) for text in labels)
