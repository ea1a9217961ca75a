"""CSV files: the separator, the column names, what comes before them; a reader for where no engine is installed."""

from __future__ import annotations

import csv
import gzip
import io
import os
import re
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any, TextIO

from takifugu.core.errors import DataError
from takifugu.core.escaping import visible
from takifugu.data.files.other_kinds import other_text
from takifugu.data.files.recoded import not_written_so
from takifugu.data.files.written import Written
from takifugu.data.values.texts import BLANKS

SEPARATORS = ",;\t|"
#: What Excel reads the separator from: a first line of its own.
_SEP = re.compile(r'"?sep=(.)"?[\r\n]*', re.IGNORECASE)
#: How many lines show how many fields a row has, where no line has the names.
_LONGEST = 100
#: How much of a file is looked at to find its separator.
_LOOK = 1 << 16
#: No line is longer, in bytes.
LONGEST_LINE = 2_000_000

Opener = Callable[..., Any]


@dataclass(frozen=True)
class Dialect:
    """How a CSV file is written: its separator, how many lines come before its rows or their header, column names."""

    separator: str
    skipped: int
    names: tuple[str, ...]
    header: bool = True
    codec: str | None = None


def look(path: Path, opener: Opener, written: Written | None = None) -> Dialect:
    """Return the dialect of a CSV file, seen from its first lines where it is not declared.

    The separator is what Excel's line `sep=;` says, or else whichever of `,;` tab and `|` splits the header most often.
    Raises DataError for a file that is empty, is no table (JSON, XML), is not in its encoding, or has no header.
    """
    written = written or Written()
    with _text(path, opener, written.codec) as file:
        start = file.read(_LOOK)
        lines = list(io.StringIO(start.removeprefix("\ufeff"), newline=""))
    first = _first(lines, 0)
    said = _SEP.fullmatch(lines[first]) if first is not None else None
    first = first if said is None or first is None else _first(lines, first + 1)
    if first is None:
        raise DataError(f"{path.name} is empty", rule="a CSV file starts with a line of column names")
    kind = other_text("".join(lines[first:]))
    if kind is not None:
        raise DataError(f"{path.name} {kind[0]}", rule="data are a table of rows and columns", fix=kind[1])
    if len(start) == _LOOK and first == len(lines) - 1:
        raise DataError(
            f"{path.name} starts with a line of over {_LOOK:,} characters", rule="it must hold column names"
        )
    separator = written.delimiter or (said[1] if said else _separator(lines[first:], written))
    names = _fields(lines[first:], separator)
    if not written.header:
        return Dialect(separator, first, unnamed(len(names)), False, written.codec)
    if not any(names):
        raise DataError(
            f"{path.name} has no column names", rule="its first line must hold them",
            fix="write them, or header = false for a file that has none",
        )  # fmt: skip
    if any(visible(name) != name for name in map(_without_line_ends, names)):
        raise DataError(f"{path.name} has control characters in its first line", rule="it is damaged, or no CSV file")
    return Dialect(separator, first, tuple(names), True, written.codec)


def unnamed(columns: int) -> tuple[str, ...]:
    """Return what the columns of a file without names are called."""
    return tuple(f"column_{number}" for number in range(1, columns + 1))


def _first(lines: list[str], start: int) -> int | None:
    """Return the number of the first line from `start` on that is not blank."""
    return next((number for number in range(start, len(lines)) if lines[number].strip()), None)


def _separator(lines: list[str], written: Written) -> str:
    """Return the sign that splits the first line most often; without a header, the one that splits all lines alike."""
    if written.header:
        return max(SEPARATORS, key=lambda sign: len(_fields(lines, sign)))
    rows = [line for line in lines[:_LONGEST] if line.strip()]
    rows = rows[:-1] or rows  # the last one may be cut
    widths = {sign: [len(_fields([row], sign)) for row in rows] for sign in SEPARATORS}
    # A comma may belong to numbers, so another sign that splits as often stands first.
    return max(";\t|,", key=lambda sign: (len(set(widths[sign])) == 1, min(widths[sign])))


def _fields(lines: list[str], separator: str) -> list[str]:
    try:
        rows = csv.reader(lines, strict=True, delimiter=separator, skipinitialspace=True)
        return [name.strip() for name in next(rows)]
    except csv.Error:
        return []


def _without_line_ends(name: str) -> str:
    return re.sub(r"[\t\r]", " ", name)


def check_lines(path: Path, packed: bool, whole: bool, name: str = "") -> int:
    """Return the size of a CSV file's text in bytes; DataError where a line is longer than engines read.

    DuckDB 2.0 drops a last line that is longer than its buffer without a word, so the end is always looked at, and all
    of a file that is packed. Lines of at most LONGEST_LINE / 2 bytes always pass, longer ones than LONGEST_LINE never.
    """
    block, size = LONGEST_LINE // 2, 0
    with careful_with_files(path), gzip.open(path) if packed else open(path, "rb") as file:
        if not whole:
            size = max(0, os.fstat(file.fileno()).st_size - LONGEST_LINE)
            file.seek(size)
        while piece := file.read(block):
            size += len(piece)
            if len(piece) == block and b"\n" not in piece and b"\r" not in piece:
                raise DataError(
                    f"{name or path.name} has a line of more than {block:,} bytes, which engines do not read alike",
                    fix="check its line ends and quotes",
                )
    return size


def as_lists(path: Path, opener: Opener, dialect: Dialect) -> dict[str, list[str | None]]:
    """Return the columns of a CSV file as lists of texts; of two columns with one name the last is kept.

    Rows without any value are none. Raises DataError for rows of another length than the header, broken quotes, and
    text that is not in the file's encoding.
    """
    width = len(dialect.names)
    columns: list[list[str | None]] = [[] for _ in range(width)]
    seen: dict[str, str] = {}
    with _text(path, opener, dialect.codec) as file:
        lines = islice(file, dialect.skipped, None)
        rows = csv.reader(lines, strict=True, delimiter=dialect.separator, skipinitialspace=True)
        if dialect.header:
            next(rows)
        for row in rows:
            fields = row or ([""] if width == 1 else [])
            if len(fields) == width + 1 and not fields[-1]:
                fields = fields[:-1]
            if not fields or (width > 1 and not any(field.strip(BLANKS) for field in fields)):
                continue
            if len(fields) != width:
                raise DataError(
                    f"{path.name} has a row with more or fewer fields than its header", fix="repair the file"
                )
            for column, text in zip(columns, fields, strict=True):
                column.append(seen.setdefault(text, text))
    return dict(zip(dialect.names, columns, strict=True))


@contextmanager
def _text(path: Path, opener: Opener, codec: str | None) -> Iterator[TextIO]:
    with careful_with_files(path, codec), opener(path, "rt", encoding=codec or "utf-8-sig", newline="") as file:
        yield file


@contextmanager
def careful_with_files(path: Path, codec: str | None = None) -> Iterator[None]:
    """Turn what goes wrong with a file into a DataError that names it, and never quotes it."""
    try:
        yield
    except UnicodeError:
        raise not_written_so(path.name, codec) from None
    except csv.Error:
        raise DataError(
            f"{path.name} is not a well-formed CSV file", fix="check its quotes, separators and line ends"
        ) from None
    except (OSError, EOFError, zlib.error) as error:
        reason = (getattr(error, "strerror", None) or "it ends too early or is damaged").lower()
        raise DataError(f"{path.name} cannot be read ({reason})", fix="check the path and the file") from None
