"""CSV files: the separator, the column names, the encoding; and a reader for where no engine is installed."""

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

from takifugu.errors import DataError
from takifugu.visible import visible

SEPARATORS = ",;\t|"
#: How much of a file is looked at to find its separator.
_LOOK = 1 << 16
#: No line is longer, in bytes.
LONGEST_LINE = 2_000_000

Opener = Callable[..., Any]


@dataclass(frozen=True)
class Dialect:
    """How a CSV file is written: its separator, how many blank lines precede the header, and its column names."""

    separator: str
    blank_lines: int
    names: tuple[str, ...]


def look(path: Path, opener: Opener) -> Dialect:
    """Return the dialect of a CSV file, seen from its first lines.

    The separator is whichever of `,;` tab and `|` splits the header most often. Raises DataError for a file that is
    empty, is not UTF-8, or has no header.
    """
    with _text(path, opener) as file:
        start = file.read(_LOOK)
        lines = list(io.StringIO(start, newline=""))
        blank = next((number for number, line in enumerate(lines) if line.strip()), None)
        if blank is None:
            raise DataError(f"{path.name} is empty", rule="a CSV file starts with a line of column names")
        if len(start) == _LOOK and blank == len(lines) - 1:
            raise DataError(
                f"{path.name} starts with a line of over {_LOOK:,} characters", rule="it must hold column names"
            )
        headers = {s: _header(lines[blank:], s) for s in SEPARATORS}
        separator = max(SEPARATORS, key=lambda s: len(headers[s]))
        names = headers[separator]
        if not any(names):
            raise DataError(f"{path.name} has no column names", rule="its first line must hold them")
        if any(visible(name) != name for name in map(_without_line_ends, names)):
            raise DataError(
                f"{path.name} has control characters in its first line", rule="it is damaged, or no CSV file"
            )
        return Dialect(separator, blank, tuple(names))


def _header(lines: list[str], separator: str) -> list[str]:
    try:
        rows = csv.reader(lines, strict=True, delimiter=separator, skipinitialspace=True)
        return [name.strip() for name in next(rows)]
    except csv.Error:
        return []


def _without_line_ends(name: str) -> str:
    return re.sub(r"[\t\r]", " ", name)


def check_lines(path: Path, packed: bool, whole: bool) -> int:
    """Return the size of a CSV file's text in bytes; DataError where a line is longer than engines read.

    DuckDB 2.0 drops a last line that is longer than its buffer without a word, so the end is always looked at, and all
    of a file that is packed. Lines of at most LONGEST_LINE / 2 bytes always pass, longer ones than LONGEST_LINE never.
    """
    block, size = LONGEST_LINE // 2, 0
    with _reading(path), gzip.open(path) if packed else open(path, "rb") as file:
        if not whole:
            size = max(0, os.fstat(file.fileno()).st_size - LONGEST_LINE)
            file.seek(size)
        while piece := file.read(block):
            size += len(piece)
            if len(piece) == block and b"\n" not in piece and b"\r" not in piece:
                raise DataError(
                    f"{path.name} has a line of more than {block:,} bytes, which engines do not read alike",
                    fix="check its line ends and quotes",
                )
    return size


def as_lists(path: Path, opener: Opener, dialect: Dialect) -> dict[str, list[str | None]]:
    """Return the columns of a CSV file as lists of texts; of two columns with one name the last is kept.

    Raises DataError for rows of another length than the header, broken quotes, and text that is not UTF-8.
    """
    width = len(dialect.names)
    found: list[list[str | None]] = [[] for _ in range(width)]
    seen: dict[str, str] = {}
    with _text(path, opener) as file:
        lines = islice(file, dialect.blank_lines, None)
        rows = csv.reader(lines, strict=True, delimiter=dialect.separator, skipinitialspace=True)
        next(rows)
        for row in rows:
            fields = row or ([""] if width == 1 else [])
            if len(fields) == width + 1 and not fields[-1]:
                fields = fields[:-1]
            if not fields:
                continue
            if len(fields) != width:
                raise DataError(
                    f"{path.name} has a row with more or fewer fields than its header", fix="repair the file"
                )
            for column, text in zip(found, fields, strict=True):
                column.append(seen.setdefault(text, text))
    return dict(zip(dialect.names, found, strict=True))


@contextmanager
def _text(path: Path, opener: Opener) -> Iterator[TextIO]:
    with _reading(path), opener(path, "rt", encoding="utf-8-sig", newline="") as file:
        yield file


@contextmanager
def _reading(path: Path) -> Iterator[None]:
    try:
        yield
    except UnicodeDecodeError:
        raise DataError(f"{path.name} is not UTF-8 text", fix="save it as UTF-8") from None
    except csv.Error:
        raise DataError(
            f"{path.name} is not a well-formed CSV file", fix="check its quotes, separators and line ends"
        ) from None
    except (OSError, EOFError, zlib.error) as error:
        reason = (getattr(error, "strerror", None) or "it ends too early or is damaged").lower()
        raise DataError(f"{path.name} cannot be read ({reason})", fix="check the path and the file") from None
