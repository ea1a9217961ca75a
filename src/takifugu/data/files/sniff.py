"""How a table is written, guessed for a first release file: its encoding, a first line without names, signs of numbers,
formats of times. A guess is written down where its author sees it, and never made again.
"""

from __future__ import annotations

import codecs
import csv
import io
import re
import shlex
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


def check_first_lines(file: DataFile) -> None:
    """Raise DataError for a CSV file whose first lines have fewer fields than nearly all others, as a title has."""
    written = guess(file)
    with text_of_file(file, written.codec) as text:
        lines = io.StringIO(text.read(_LOOK), newline="").readlines()[:200]
    if lines and lines[0].lower().startswith(("sep=", '"sep=')):
        return
    by_sign = [_widths(lines, sign) for sign in ";\t|,"]  # a comma may belong to numbers
    usual, widths = max(((_usual(widths), widths) for widths in by_sign), key=lambda pair: pair[0])
    if usual < 2 or any(_usual(some) == next(filter(None, some), 0) > 1 for some in by_sign):
        return
    above = next((number for number, width in enumerate(widths) if width >= usual), 0)
    full, short = [width for width in widths if width], [width for width in widths[:above] if width]
    if short and full.count(usual) * 10 >= 9 * (len(full) - len(short)):
        lines_have = "line of {} has" if above == 1 else f"{above} lines of {{}} have"
        raise DataError(
            f"the first {lines_have.format(file.name)} fewer fields than the others, as a title has",
            rule="the first line has the names of the columns",
            fix=f"delete what is above them (tail -n +{above + 1} {shlex.quote(file.name)} > data.csv)",
        )


def _widths(lines: Sequence[str], sign: str) -> list[int]:
    """Return how many fields each row has, without an empty one at its end, and 0 for a line within a row."""
    reader = csv.reader(lines, delimiter=sign)
    widths = [0] * len(lines)
    try:
        for row in reader:
            widths[reader.line_num - 1] = len(row) - (len(row) > 1 and not row[-1].strip())
    except csv.Error:
        return []  # opening it says what is wrong
    return widths


def _usual(widths: Sequence[int]) -> int:
    full = [width for width in widths if width]
    return max(set(full), key=full.count, default=0)


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
    return bool(re.match(TIME, text)) or bool(time_formats([text]))


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


def time_formats(texts: Sequence[str]) -> tuple[str, ...]:
    """Return the formats of dates and times that all texts have; none for ISO 8601, and where there is none.

    >>> time_formats(["31/12/2025", "01/12/2025"]), time_formats(["01/02/2025"])
    (('%d/%m/%Y',), ('%d/%m/%Y', '%m/%d/%Y'))
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
