"""How a table is written, guessed for a first release file: its encoding, a first line without names, signs of numbers,
formats of times. A guess is written down where its author sees it, and never made again.
"""

from __future__ import annotations

import codecs
import csv
import io
import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import product

from takifugu.core.errors import DataError
from takifugu.data.files.csv_text import look, text_of_file
from takifugu.data.files.formats import DataFile
from takifugu.data.times.time_format import TimeFormat
from takifugu.data.values.numerals import Numerals
from takifugu.data.values.texts import NUMBER, TIME
from takifugu.data.values.written import Written

#: How much of a file is looked at.
_LOOK = 1 << 20
#: The signs of numbers that are tried where the usual ones fit fewer columns.
_NUMERALS = tuple(Numerals(*signs) for signs in ((".", ""), (",", ""), (",", "."), (",", " "), (".", ","), (".", "'")))
#: The formats of times that are tried, each with and without a time of day.
_DAYS = ("%d/%m/%Y", "%m/%d/%Y", "%d.%m.%Y", "%d-%m-%Y", "%m-%d-%Y", "%Y/%m/%d", "%Y.%m.%d", "%d.%m.%y", "%d/%m/%y",
         "%m/%d/%y")  # fmt: skip
_CLOCKS = ("", " %H:%M", " %H:%M:%S", " %H:%M:%S.%f", " %I:%M %p", " %I:%M:%S %p", "T%H:%M:%S")
_DIGITS = ("%Y%m%d", "%Y%m%d%H%M", "%Y%m%d%H%M%S")


def guess(file: DataFile) -> Written:
    """Return how a CSV file seems to be written; nothing is declared that need not be."""
    written = Written()
    try:
        with file.opened() as data:
            written = Written(encoding=_encoding(data.read(_LOOK)))
        names = look(file, written).names
        bare = replace(written, header=False)
        rows = _first_rows(file, bare)
    except (DataError, ValueError, csv.Error):
        return written  # opening it says what is wrong
    return bare if _is_data(names, rows) else written


def _encoding(start: bytes) -> str | None:
    if start.startswith((b"\xff\xfe", b"\xfe\xff")):
        return "utf-16"
    for name in ("utf-8", "cp1252"):
        try:
            codecs.getincrementaldecoder(name)().decode(start)
        except UnicodeDecodeError:
            continue
        return None if name == "utf-8" else name
    return "latin-1"


def _first_rows(file: DataFile, written: Written) -> list[Sequence[str]]:
    """Return some rows of a file, the first line among them."""
    dialect = look(file, written)
    with text_of_file(file, dialect.codec) as text:
        start = text.read(_LOOK)  # no line by line: one may be as long as the file
    lines = list(io.StringIO(start, newline=""))[dialect.skipped : dialect.skipped + 500]
    read = csv.reader(lines, delimiter=dialect.separator, skipinitialspace=True)
    return [row for row in read if any(cell.strip() for cell in row)]


def _is_data(names: Sequence[str], rows: list[Sequence[str]]) -> bool:
    """Return whether a first line holds data: numbers or times alone, or a text that its column holds again."""
    words = [(place, name) for place, name in enumerate(names) if name and not _is_number(name) and not _is_time(name)]
    if not rows or not any(names):
        return False
    others = [row for row in rows[1:] if list(row) != list(rows[0])]  # tables that were joined repeat their first line
    later = [{row[place].strip() for row in others if place < len(row)} for place in range(len(names))]
    return not words or any(name in later[place] for place, name in words)


def _is_number(text: str) -> bool:
    return any(re.match(NUMBER, numerals.plain(text)) for numerals in _NUMERALS)


def _is_time(text: str) -> bool:
    return bool(re.match(TIME, text)) or time_format([text]) is not None


def numerals_of(columns: Sequence[Sequence[str]]) -> Numerals:
    """Return the signs of numbers by which most columns of texts hold nothing but numbers."""

    different = [set(some) for some in columns if some]

    def fits(numerals: Numerals, some: set[str]) -> bool:
        return all(re.match(NUMBER, numerals.plain(text)) for text in some)

    usual, *others = _NUMERALS
    rest = [some for some in different if not fits(usual, some)]
    if not any(fits(numerals, some) for some in rest for numerals in others):
        return usual
    return max(_NUMERALS, key=lambda numerals: sum(fits(numerals, some) for some in different))  # the first of the best


def time_format(texts: Sequence[str]) -> str | None:
    """Return a format of dates and times that all texts have; None for ISO 8601, and where there is none."""
    if not texts or all(re.match(TIME, text) for text in texts):
        return None
    return next((form for form in _forms(texts[0]) if all(TimeFormat(form).read(text) for text in texts)), None)


def _forms(text: str) -> Iterator[str]:
    if re.fullmatch("(?:19|20)[0-9]{6}(?:[0-9]{4}|[0-9]{6})?", text):
        yield from _DIGITS
    elif re.match("[0-9]{1,4}[-/.][0-9]{1,2}[-/.][0-9]{2,4}", text):
        yield from (day + clock for day, clock in product(_DAYS, _CLOCKS))
