"""Times of day in a column of their own, beside dates: how they are written, and when they are."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from datetime import datetime

from takifugu.data import TimeFormat
from takifugu.data.values.texts import TIME
from takifugu.releasing.file.guessing.column_words import CLOCK, HOURS

#: The day of times of day, which are compared as times.
_FIRST_DAY, ISO_DATE = "1970-01-01 ", "%Y-%m-%d"
_CLOCK = r"[0-9]{1,2}:[0-9]{2}(?::[0-9]{2})?( ?[AaPp][Mm])?"
#: A time of day as a number (930 is 9:30), and its format, which is read with four digits; hours, and theirs.
_NUMBER, DIGITS, _HOUR, WHOLE_HOURS = r"(?:[01]?[0-9]|2[0-3])?[0-5]?[0-9]", "%H%M", r"[01]?[0-9]|2[0-3]", "%H"


def clock_of_numbers(words: frozenset[str], labels: Sequence[str]) -> str | None:
    """Return the format of times of day as whole numbers.

    >>> clock_of_numbers(frozenset(["time"]), ["5", "930"]), clock_of_numbers(frozenset(["hour"]), ["9", "10"])
    ('%H%M', '%H')
    """
    if words & CLOCK and any(len(text) > 2 for text in labels) and _all_are(_NUMBER, labels):
        return DIGITS
    return WHOLE_HOURS if words & HOURS and len(labels) > 1 and _all_are(_HOUR, labels) else None


def clock_of(labels: Sequence[str]) -> str | None:
    """Return the format of times of day.

    >>> clock_of(["9:30", "10:00"]), clock_of(["9:30:00 pm"]), clock_of(["26:00"])
    ('%H:%M', '%I:%M:%S %p', None)
    """
    if not labels or not _all_are(_CLOCK, labels):
        return None
    half = re.search(" ?[AaPp][Mm]$", labels[0])
    minutes = "%M:%S" if labels[0].count(":") == 2 else "%M"
    form = f"%H:{minutes}"
    if half is not None:
        form = f"%I:{minutes}{' ' * half[0].startswith(' ')}%p"
    return form if all(map(reader_of(form), labels)) else None


def reader_of(form: str) -> Callable[[str], datetime | None]:
    read = TimeFormat(f"{ISO_DATE} {form}").read
    digits = 4 if form == DIGITS else 0
    return lambda text: read(_FIRST_DAY + text.zfill(digits))


def are_iso(labels: Sequence[str]) -> bool:
    """Return whether all times of day follow ISO 8601."""
    return all(re.match(TIME, _FIRST_DAY + text) for text in labels)


def _all_are(form: str, labels: Sequence[str]) -> bool:
    return all(re.fullmatch(form, text) for text in labels)
