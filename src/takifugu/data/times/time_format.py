"""Times that are written otherwise than ISO 8601, or are numbers since 1970: a format, read alike on every engine."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from functools import cached_property
from itertools import pairwise

from takifugu.core.errors import DataError, InputError
from takifugu.core.lists import among

#: The names of months, in small letters: in English on every machine.
MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_OF_MONTHS = "|".join("".join(f"[{sign}{sign.upper()}]" for sign in month) for month in MONTHS)
#: What the parts of a format match, in the letters of Python's strptime.
PARTS: Mapping[str, str] = {
    "Y": "(?:[1-9][0-9]{3}|0[1-9][0-9]{2}|00[1-9][0-9]|000[1-9])",
    "y": "[0-9]{2}", "m": "(?:0?[1-9]|1[0-2])", "d": "(?:0?[1-9]|[12][0-9]|3[01])",
    "H": "(?:[01]?[0-9]|2[0-3])", "I": "(?:0?[1-9]|1[0-2])", "M": "[0-5]?[0-9]", "S": "[0-5]?[0-9]",
    "f": "[0-9]{1,6}", "p": "[aApP][mM]", "b": f"(?:{_OF_MONTHS})",
}  # fmt: skip
#: Parts of two digits of which the first may be left out where it is 0.
SHORT = "mdHIMS"
#: The start of 1970 in each part.
START = {
    "Y": "1970", "y": "70", "m": "01", "b": "Jan", "d": "01",
    "H": "00", "I": "12", "M": "00", "S": "00", "f": "0", "p": "AM",
}  # fmt: skip
#: Years of two digits from this one on are of the last century (POSIX, strptime).
CENTURY = 69
#: The formats of an order column of such numbers, and the microseconds of one of them.
EPOCHS: Mapping[str, int] = {"epoch": 1_000_000, "epoch_ms": 1_000}
#: The last microsecond of the year 9999; larger numbers are no times, and fit no 64 bits.
LAST = 253_402_300_799_999_999
_EXAMPLE = 'write for example "%d/%m/%Y %H:%M": %Y or %y, %m or %b (Jan), %d, %H (or %I and %p), %M, %S, %f'


@dataclass(frozen=True)
class TimeFormat:
    """A format of dates and times, as a text of parts such as %d and of what stands between them.

    Raises InputError for a part that is not known or is there twice, and for a format that is not a date, with a time
    of day or without one.

    >>> TimeFormat("%d/%m/%Y %H:%M").read("31/12/2025 9:05")
    datetime.datetime(2025, 12, 31, 9, 5)
    >>> TimeFormat("%d%b%Y").read("1FEB2026")
    datetime.datetime(2026, 2, 1, 0, 0)
    """

    text: str

    def __post_init__(self) -> None:
        parts = [*filter(None, self.letters)]
        if not 2 <= len(self.text) <= 100 or not PARTS.keys() >= set(parts):
            raise InputError(f"the format of times is {self.text[:60]!r}", fix=_EXAMPLE).at("order_format")
        twice = len(set(parts)) < len(parts) or {"Y", "y"} <= set(parts) or {"H", "I"} <= set(parts)
        day = "d" in parts and len({"m", "b"} & set(parts)) == 1 and bool({"Y", "y"} & set(parts))
        clock = "".join(among("HIMSf", parts))
        # Each part of the clock needs the one above it, and a clock of twelve hours the half of the day.
        is_full = clock in ("", "H", "HM", "HMS", "HMSf", "I", "IM", "IMS", "IMSf") and ("I" in parts) == ("p" in parts)
        if twice or not day or not is_full:
            raise InputError(
                f"the format of times is {self.text!r}", rule="it must have a year, a month and a day, each once, and "
                "a time of day in full or none", fix=_EXAMPLE,
            ).at("order_format")  # fmt: skip
        if any(map(str.isdigit, self.words)) or "f" in self.letters[:-1]:
            raise InputError(
                f"the format of times is {self.text!r}", rule="no digits stand between its parts, and %f is the last",
                fix=_EXAMPLE,
            ).at("order_format")  # fmt: skip

    @cached_property
    def pieces(self) -> tuple[tuple[str, str], ...]:
        """Return the format's pieces, a part's letter or "", and text."""
        pieces = list[tuple[str, str]]()
        for match in re.finditer(r"%(.?)|([^%]+)", self.text, re.DOTALL):
            if match[2] is not None:
                pieces.append(("", match[2]))
            elif match[1] == "%":
                pieces.append(("", "%"))
            else:
                pieces.append((match[1] or "?", ""))
        return tuple(pieces)

    @cached_property
    def words(self) -> str:
        """Return the text between its parts."""
        return "".join(literal for _, literal in self.pieces)

    @cached_property
    def is_utc(self) -> bool:
        """Return whether its words say that times are in UTC."""
        return re.search(r"\b(?:UTC|GMT|Z)\b", self.words) is not None

    @property
    def letters(self) -> list[str]:
        """The letters of the parts, "" for what stands between them."""
        return [letter for letter, _ in self.pieces]

    @cached_property
    def packed(self) -> bool:
        """Return whether a number follows another one at once.

        Parts of two digits then need both.
        """
        pairs = pairwise(self.letters)
        return any(first and first in SHORT and other and other not in "pb" for first, other in pairs)

    @cached_property
    def pattern(self) -> str:
        """Return a pattern of such times for every engine."""
        return f"^{self._pattern(named=False)}$"

    def _pattern(self, named: bool) -> str:
        pattern = ""
        for letter, literal in self.pieces:
            if not letter:
                pattern += "".join(map(_pattern_of, literal))
                continue
            form = PARTS[letter]
            if self.packed and letter in SHORT:
                form = form.replace("?[", "[")
            if named:
                form = f"(?P<{letter}>{form})"
            pattern += form
        return pattern

    @cached_property
    def example(self) -> str:
        """Return the start of 1970 in this format."""
        return "".join(START.get(letter, literal) for letter, literal in self.pieces)

    def read(self, text: str) -> datetime | None:
        """Return the time of a text, None for any other."""
        match = re.fullmatch(self._pattern(named=True), text)
        if match is None:
            return None
        part = match.groupdict()
        number = {letter: int(value) for letter, value in part.items() if letter not in "pb"}
        if "b" in part:
            number["m"] = 1 + MONTHS.index(part["b"].lower())
        if "y" in part:
            number["Y"] = number["y"] + 1900
            if number["y"] < CENTURY:
                number["Y"] += 100
        hour = number.get("H", number.get("I", 0) % 12) + 12 * (part.get("p", "").lower() == "pm")
        second, fraction = number.get("S", 0), int(part.get("f", "").ljust(6, "0") or 0)
        try:
            return datetime(number["Y"], number["m"], number["d"], hour, number.get("M", 0), second, fraction)
        except ValueError:
            return None


def _pattern_of(sign: str) -> str:
    """Return a pattern for a sign, valid in every engine."""
    if sign.isalnum() or sign in " _-:,/;'\"" or ord(sign) > 127:
        return sign
    return f"[\\{sign}]" if sign in "[]\\^" else f"[{sign}]"


def check_order_format(text: str | None) -> None:
    """Raise InputError for an unknown format of an order column.

    >>> check_order_format("epoch"), check_order_format("%d/%m/%Y")
    (None, None)
    """
    if text is not None and text not in EPOCHS:
        TimeFormat(text)


def dates_for_numbers(column: str) -> DataError:
    return DataError(
        f"column {column!r} holds dates and times, and its format says numbers since 1970",
        fix="leave order_format out, or declare how they are written",
    ).at("order_format")
