"""How a table is written, guessed for a first release file: its encoding, a first line without names, signs of numbers,
formats of times. A guess is written down where its author sees it, and never made again.
"""

from __future__ import annotations

import codecs
import csv
import io
import re
from collections.abc import Sequence
from dataclasses import replace
from itertools import product

from takifugu.core.errors import DataError
from takifugu.data.files.csv_text import look, text_of_file
from takifugu.data.files.first_lines import line_of_names, rows_of_header
from takifugu.data.files.formats import DataFile
from takifugu.data.times.time_format import TimeFormat
from takifugu.data.values.texts import NUMBER, TIME
from takifugu.data.values.written import Numerals, Written

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
_CLOCKS = ("", "T%H:%M:%S", *map("".join, product((" ", ", "), _BARE_CLOCKS)))
_DIGITS = ("%Y%m%d", "%Y%m%d%H%M", "%Y%m%d%H%M%S")


def guess(file: DataFile) -> Written:
    """Return the probable dialect of a CSV file, declaring only the necessary."""
    notation = Written()
    try:
        with file.opened() as data:
            notation = Written(encoding=_encoding(data.read(_LOOK)))
        with text_of_file(file, notation.codec) as text:
            lines = [*io.StringIO(text.read(_LOOK), newline="")]  # no line by line: one may be as long as the file
        opening = "".join(lines[:1]).removeprefix("\ufeff").lower()
        above = int(opening.startswith(("sep=", '"sep=')))
        first, with_names = line_of_names(lines[above:200]), notation
        if first > 1:
            with_names = replace(notation, lines=(first + above, first + above))
        dialect = look(file, with_names)
        start = first + above - 1 if first > 1 else dialect.skipped
        reader = csv.reader(lines[start : start + 500], delimiter=dialect.separator, skipinitialspace=True)
        rows, ends = list[list[str]](), list[int]()
        for row in reader:
            cells = [*map(str.strip, row)]
            if any(cells):
                rows.append(cells)
                ends.append(reader.line_num)
    except (DataError, ValueError, csv.Error):
        return notation  # opening it says what is wrong
    if not above and (below := rows_of_header(rows[1:])):
        return replace(notation, lines=(start + 1, start + ends[below]))
    if first == 1 and _is_data(dialect.names, rows):
        return replace(notation, header=False)
    return with_names


def _encoding(start: bytes) -> str | None:
    if start.startswith((b"\xff\xfe", b"\xfe\xff")):
        return "utf-16"
    for name, encoding in (("utf-8", None), ("cp1252", "cp1252")):
        try:
            codecs.getincrementaldecoder(name)().decode(start)
        except UnicodeDecodeError:
            continue
        return encoding
    return "latin-1"


def _is_data(names: Sequence[str], rows: Sequence[Sequence[str]]) -> bool:
    """Return whether a first line holds numbers, times or recurring texts."""
    if not rows or not any(names):
        return False
    later: list[set[str]] = [set() for _ in names]
    for row in rows[1:]:
        if row != rows[0]:  # tables that were joined repeat their first line
            for texts, text in zip(later, row, strict=False):
                texts.add(text)
    has_words = False
    for name, texts in zip(names, later, strict=True):
        is_number = any(re.match(NUMBER, numerals.plain(name)) for numerals in _NUMERALS)
        if name and not is_number and not re.match(TIME, name) and not time_formats([name]):
            has_words = True
            if name in texts:
                return True
    return not has_words


def numerals_of(columns: Sequence[Sequence[str]]) -> Numerals:
    """Return the signs of numbers fitting most columns."""

    def fits(numerals: Numerals, texts: set[str]) -> bool:
        return all(re.match(NUMBER, numerals.plain(text)) for text in texts)

    different, (usual, *rivals) = [set(texts) for texts in columns if texts], _NUMERALS
    for some in different:
        if not fits(usual, some) and any(fits(numerals, some) for numerals in rivals):
            # The first of those that fit most columns.
            return max(_NUMERALS, key=lambda numerals: sum(fits(numerals, texts) for texts in different))
    return usual


def time_formats(texts: Sequence[str]) -> tuple[str, ...]:
    """Return the common formats of dates and times, none for ISO 8601.

    >>> time_formats(["31/12/2025", "01/12/2025"]), time_formats(["01/02/2025"])
    (('%d/%m/%Y',), ('%d/%m/%Y', '%m/%d/%Y'))
    >>> time_formats(["Jan 5, 2026, 3:04:05 PM"]), time_formats(["05/Jan/26 8:12 AM"])
    (('%b %d, %Y, %I:%M:%S %p',), ('%d/%b/%y %I:%M %p',))
    """
    if not texts or all(re.match(TIME, text) for text in texts):
        return ()
    different, forms = tuple(dict.fromkeys(texts)), list[str]()
    if re.fullmatch("(?:19|20)[0-9]{6}(?:[0-9]{4}|[0-9]{6})?", texts[0]):
        forms += _DIGITS
    elif re.match("[0-9]{1,4}[-/.][0-9]{1,2}[-/.][0-9]{2,4}", texts[0]):
        forms += map("".join, product(_DAYS, _CLOCKS))
    elif re.match("(?:[0-9]{1,2}[-/ ]?)?[A-Za-z]{3}[-/ ]?[0-9]", texts[0]):
        forms += map("".join, product(_NAMED_DAYS, _CLOCKS))
    return tuple(form for form in forms if all(map(TimeFormat(form).read, different)))
