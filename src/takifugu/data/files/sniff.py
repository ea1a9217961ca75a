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
from takifugu.data.files.first_lines import line_of_names, rows_of_header
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
#: A month by its English name is never taken for a day.
_NAMED_DAYS = ("%d-%b-%Y", "%d %b %Y", "%d%b%Y", "%d/%b/%Y", "%d-%b-%y", "%d/%b/%y", "%b %d, %Y", "%b %d %Y")
_BARE_CLOCKS = ("%H:%M", "%H:%M:%S", "%H:%M:%S.%f", "%I:%M %p", "%I:%M:%S %p", "%I:%M%p", "%I:%M:%S%p")
_CLOCKS = ("", "T%H:%M:%S", *(between + clock for between in (" ", ", ") for clock in _BARE_CLOCKS))
_DIGITS = ("%Y%m%d", "%Y%m%d%H%M", "%Y%m%d%H%M%S")


def guess(file: DataFile) -> Written:
    """Return the probable dialect of a CSV file, declaring only the necessary."""
    notation = Written()
    try:
        with file.opened() as data:
            notation = Written(encoding=_encoding(data.read(_LOOK)))
        with text_of_file(file, notation.codec) as text:
            lines = [*io.StringIO(text.read(_LOOK), newline="")]  # no line by line: one may be as long as the file
        above = int(_says_separator(lines))
        first = line_of_names(lines[above:200])
        first += above if first > 1 else 0
        with_names = replace(notation, lines=(first, first)) if first > 1 else notation
        dialect = look(file, with_names)
        start = first - 1 if first > 1 else dialect.skipped
        rows, ends = _first_rows(lines[start : start + 500], dialect.separator)
    except (DataError, ValueError, csv.Error):
        return notation  # opening it says what is wrong
    below = 0 if above else rows_of_header(rows[1:])
    if below:
        return replace(notation, lines=(start + 1, start + ends[below]))
    bare = first == 1 and _is_data(dialect.names, rows)
    return replace(notation, header=False) if bare else with_names


def _says_separator(lines: Sequence[str]) -> bool:
    return bool(lines) and lines[0].removeprefix("\ufeff").lower().startswith(("sep=", '"sep='))


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


def _first_rows(lines: Sequence[str], separator: str) -> tuple[list[Sequence[str]], list[int]]:
    """Return the rows with content, each with its last line's number."""
    read = csv.reader(lines, delimiter=separator, skipinitialspace=True)
    some = [(row, read.line_num) for row in read if any(cell.strip() for cell in row)]
    return [row for row, _ in some], [end for _, end in some]


def _is_data(names: Sequence[str], rows: list[Sequence[str]]) -> bool:
    """Return whether a first line holds numbers, times or recurring texts."""
    words = [(place, name) for place, name in enumerate(names) if name and not _is_number(name) and not _is_time(name)]
    if not rows or not any(names):
        return False
    below = [row for row in rows[1:] if list(row) != list(rows[0])]  # tables that were joined repeat their first line
    later = [{row[place].strip() for row in below if place < len(row)} for place in range(len(names))]
    return not words or any(name in later[place] for place, name in words)


def _is_number(text: str) -> bool:
    return any(re.match(NUMBER, numerals.plain(text)) for numerals in _NUMERALS)


def _is_time(text: str) -> bool:
    return bool(re.match(TIME, text)) or bool(time_formats([text]))


def numerals_of(columns: Sequence[Sequence[str]]) -> Numerals:
    """Return the signs of numbers fitting most columns."""

    different = [set(some) for some in columns if some]

    def fits(numerals: Numerals, some: set[str]) -> bool:
        return all(re.match(NUMBER, numerals.plain(text)) for text in some)

    usual, *rivals = _NUMERALS
    texts = [some for some in different if not fits(usual, some)]
    if not any(fits(numerals, some) for some in texts for numerals in rivals):
        return usual
    return max(_NUMERALS, key=lambda numerals: sum(fits(numerals, some) for some in different))  # the first of the best


def time_formats(texts: Sequence[str]) -> tuple[str, ...]:
    """Return the common formats of dates and times, none for ISO 8601.

    >>> time_formats(["31/12/2025", "01/12/2025"]), time_formats(["01/02/2025"])
    (('%d/%m/%Y',), ('%d/%m/%Y', '%m/%d/%Y'))
    >>> time_formats(["Jan 5, 2026, 3:04:05 PM"]), time_formats(["05/Jan/26 8:12 AM"])
    (('%b %d, %Y, %I:%M:%S %p',), ('%d/%b/%y %I:%M %p',))
    """
    if not texts or all(re.match(TIME, text) for text in texts):
        return ()
    different = tuple(dict.fromkeys(texts))
    return tuple(form for form in _forms(texts[0]) if all(map(TimeFormat(form).read, different)))


def _forms(text: str) -> Iterator[str]:
    if re.fullmatch("(?:19|20)[0-9]{6}(?:[0-9]{4}|[0-9]{6})?", text):
        yield from _DIGITS
    elif re.match("[0-9]{1,4}[-/.][0-9]{1,2}[-/.][0-9]{2,4}", text):
        yield from (day + clock for day, clock in product(_DAYS, _CLOCKS))
    elif re.match("(?:[0-9]{1,2}[-/ ]?)?[A-Za-z]{3}[-/ ]?[0-9]", text):
        yield from (day + clock for day, clock in product(_NAMED_DAYS, _CLOCKS))
