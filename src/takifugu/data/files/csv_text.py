"""CSV files: the separator, the column names, what comes before them, and the rows one by one."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import islice
from typing import TextIO

from takifugu.core.errors import DataError
from takifugu.core.escaping import is_plain
from takifugu.data.files.formats import DataFile
from takifugu.data.files.other_kinds import other_text
from takifugu.data.values.texts import BLANKS
from takifugu.data.values.written import Written

SEPARATORS = ",;\t|"
#: What Excel reads the separator from: a first line of its own.
_SEP = re.compile(r'"?sep=(.)"?[\r\n]*', re.IGNORECASE)
#: How many lines show how many fields a row has, where no line has the names.
_LONGEST = 100
#: How much of a file is looked at to find its separator.
_LOOK = 1 << 16
#: No line is longer, in bytes.
LONGEST_LINE = 2_000_000


@dataclass(frozen=True)
class Dialect:
    """How a CSV file is written: its separator, how many lines come before its rows or their header, column names."""

    separator: str
    skipped: int
    names: tuple[str, ...]
    header: bool = True
    codec: str | None = None


def look(file: DataFile, written: Written) -> Dialect:
    """Return the dialect of a CSV file, by declaration or first lines.

    The separator is that of Excel's line `sep=;`, or else the one of `,;` tab and `|` that splits the header most
    often. Raises DataError for an empty file, another format (JSON, XML), a wrong encoding, or a missing header.
    """
    with text_of_file(file, written.codec) as text:
        start = text.read(_LOOK)
        lines = list(io.StringIO(start.removeprefix("\ufeff"), newline=""))
    first = _first(lines, 0)
    said = _SEP.fullmatch(lines[first]) if first < len(lines) else None
    if said is not None:
        first = _first(lines, first + 1)
    if first == len(lines):
        raise DataError(f"{file.name} is empty", rule="a CSV file starts with a line of column names")
    if written.lines is not None:
        first = written.lines[0] - 1
        if written.lines[1] > len(lines):
            raise DataError(f"{file.name} has fewer lines than its header", fix="repair header under [source]")
    kind = other_text("".join(lines[first:]))
    if kind is not None:
        raise DataError(f"{file.name} {kind[0]}", rule="data are a table of rows and columns", fix=kind[1])
    if len(start) == _LOOK and first == len(lines) - 1:
        long = f"{file.name} starts with a line of over {_LOOK:,} characters"
        raise DataError(long, rule="it must hold column names")
    sign = written.delimiter
    if sign is None and said is not None:
        sign = said[1]
    sign = sign or _separator(lines[first:], written)
    names = tuple(_fields(lines[first:], sign))
    if not written.header:
        return Dialect(sign, first, unnamed(len(names)), False, written.codec)
    _check_names(file, names)
    if written.lines is not None:
        return Dialect(sign, written.lines[1], names, False, written.codec)
    return Dialect(sign, first, names, True, written.codec)


def _check_names(file: DataFile, names: Sequence[str]) -> None:
    """Refuse a header without names, or with control characters."""
    if not any(names):
        raise DataError(
            f"{file.name} has no column names", rule="its first line must hold them",
            fix="write them, or header = false for a file that has none",
        )  # fmt: skip
    if not all(map(is_plain, names)):
        fault = f"{file.name} has control characters in its first line"
        raise DataError(fault, rule="it is damaged, or no CSV file")


def unnamed(columns: int) -> tuple[str, ...]:
    """Return names for the columns of a file without them."""
    return tuple(f"column_{number}" for number in range(1, columns + 1))


def _first(lines: list[str], start: int) -> int:
    """Return the number of the first line with text, from `start` on, or of lines."""
    return next((number for number in range(start, len(lines)) if lines[number].strip()), len(lines))


def _separator(lines: list[str], notation: Written) -> str:
    """Return the separator with most fields in the header, or equal rows."""
    if notation.header:
        return max(SEPARATORS, key=lambda sign: len(_fields(lines, sign)))
    rows = list(filter(str.strip, lines[:_LONGEST]))
    rows = rows[:-1] or rows  # the last one may be cut

    def splits(sign: str) -> tuple[bool, int]:
        widths = {len(_fields([row], sign)) for row in rows}
        return len(widths) == 1, min(widths)

    return max(";\t|,", key=splits)  # a comma may belong to numbers


def _fields(lines: list[str], separator: str) -> list[str]:
    try:
        rows = csv.reader(lines, strict=True, delimiter=separator, skipinitialspace=True)
        return list(map(str.strip, next(rows)))
    except csv.Error:
        return []


def check_lines(file: DataFile, whole: bool) -> int:
    """Return the size of a CSV file's text in bytes.

    Raises DataError for lines too long for engines, always above LONGEST_LINE and never up to half of it. DuckDB 2.0
    silently drops a last line longer than its buffer, so the end is always read, and all of a packed file.
    """
    block, size = LONGEST_LINE // 2, 0
    with file.opened() as data:
        if not whole:
            size = max(0, file.path.stat().st_size - LONGEST_LINE)
            data.seek(size)
        while piece := data.read(block):
            size += len(piece)
            if len(piece) == block and b"\n" not in piece and b"\r" not in piece:
                raise DataError(
                    f"{file.name} has a line of more than {block:,} bytes, which engines do not read alike",
                    fix="check its line ends and quotes",
                )
    return size


def rows_of(file: DataFile, dialect: Dialect) -> Iterator[list[str]]:
    """Yield the non-empty rows of a CSV file.

    Raises DataError for rows of another length than the header, broken quotes, and a wrong encoding.
    """
    width = len(dialect.names)
    with text_of_file(file, dialect.codec) as text:
        lines = islice(text, dialect.skipped, None)
        rows = csv.reader(lines, strict=True, delimiter=dialect.separator, skipinitialspace=True)
        if dialect.header:
            next(rows)
        for row in rows:
            fields = row
            if not row and width == 1:
                fields = [""]
            if len(fields) == width + 1 and not fields[-1]:
                fields = fields[:-1]
            if not fields or (width > 1 and not any(cell.strip(BLANKS) for cell in fields)):
                continue
            if len(fields) != width:
                raise DataError(
                    f"{file.name} has a row with more or fewer fields than its header",
                    fix="repair the file, and delete what is above the names of its columns",
                )
            yield fields


@contextmanager
def text_of_file(file: DataFile, codec: str | None) -> Iterator[TextIO]:
    with file.opened(codec) as data, io.TextIOWrapper(data, codec or "utf-8-sig", newline="") as text:
        yield text
