"""Rows that Python reads one by one: a private copy as CSV, which DuckDB reads, or a frame where there is none."""

from __future__ import annotations

import csv
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import chain, islice
from pathlib import Path

from takifugu.core.errors import DataError
from takifugu.core.escaping import visible
from takifugu.core.files import private_folder
from takifugu.data.engines.table import Table
from takifugu.data.files.csv_file import table_in_memory, with_dialect
from takifugu.data.files.csv_text import LONGEST_LINE, Dialect, unnamed
from takifugu.data.files.formats import DataFile, Rows, careful_with_files, is_installed
from takifugu.data.files.parquet import LONGEST_TEXT
from takifugu.data.values.texts import BLANKS
from takifugu.data.values.written import Written

#: More columns are no table: each record would have its own.
MOST_COLUMNS = 2_000


def text_of_float(value: float) -> str:
    """Return the text of a number.

    From 2^53 on it may be another whole one: an exponent, by which nobody is called, says so.

    >>> text_of_float(7.0), text_of_float(0.5), text_of_float(2.0**53)
    ('7', '0.5', '9.007199254740992e+15')
    """
    if value.is_integer() and abs(value) < 2**53:
        return str(int(value))
    text = repr(value)
    return f"{value:.15e}" if text.endswith(".0") else text


def read_rows(rows: Callable[[DataFile, Written], Rows], file: DataFile, written: Written) -> Table:
    """Open the rows of a file, without empty ones of several columns."""
    return table_of(file, *rows(file, written))


def table_of(file: DataFile, names: Sequence[str], rows: Iterable[Sequence[str | None]]) -> Table:
    """Return rows of texts as a table.

    DuckDB needs no memory for them: they go into a folder for this user alone. Raises DataError for invalid names and
    too long texts.
    """
    checked_names(file.name, names)
    if not is_installed("duckdb"):
        table = table_in_memory(file, names, lambda: _checked(file.name, rows))
        frame = table.frame  # rows are read once
        return replace(table, scan=lambda: frame)
    folder = private_folder()
    path = Path(folder.name) / "rows.csv"
    with careful_with_files(file.name), open(path, "x", encoding="utf-8", newline="") as copy:
        writer = csv.writer(copy, quoting=csv.QUOTE_ALL, lineterminator="\n")
        writer.writerow(unnamed(len(names)))
        writer.writerows(_checked(file.name, rows))
    copied = replace(file, path=path, packed=False)
    return with_dialect(copied, Dialect(",", 0, tuple(names)), folder)


def checked_names(source: str, names: Sequence[str]) -> None:
    """Raise DataError, quoting none, for invalid or too many column names."""
    if not any(names):
        raise DataError(f"{source} has no column names", fix="write them into its first row or record")
    if len(names) > MOST_COLUMNS:
        raise DataError(f"{source} has more than {MOST_COLUMNS:,} columns", fix="leave those out that are not read")
    if any(visible(name) != name or "\n" in name for name in names):
        raise DataError(f"{source} has control characters in the names of its columns", fix="rename them")


def with_names(file: DataFile, written: Written, rows: Iterable[Sequence[str | None]]) -> Rows:
    """Return the names, and the rows below them.

    They are in the first row with content or the declared one. Names are made up for a file declared to have none.
    """
    lines = iter(rows)
    if written.lines is not None:
        start, end = written.lines
        header = [*islice(lines, end)]
        if len(header) < end:
            raise DataError(f"{file.name} has fewer lines than its header", fix="repair header under [source]")
        return [(name or "").strip() for name in header[start - 1]], lines
    first = next(filter(_filled, lines), None)
    if first is None:
        raise DataError(f"{file.name} is empty", rule="a table has a row of column names")
    if written.header:
        second = next(filter(_filled, lines), ())
        if _filled(first) == 1 < _filled(second):
            raise DataError(
                f"{file.name} begins with a row of one cell, and {_filled(second)} are in the next",
                rule="the first row that holds anything has the names of the columns",
                fix="write header = 3 under [source] if they are in row 3, or delete the title above them",
            )
        if second:
            lines = chain([second], lines)
        return [(name or "").strip() for name in first], lines
    return unnamed(len(first)), chain([first], lines)


def _filled(row: Sequence[str | None]) -> int:
    """Return the number of cells with content."""
    return sum(1 for cell in row if cell and cell.strip(BLANKS))


def _checked(source: str, rows: Iterable[Sequence[str | None]]) -> Iterator[Sequence[str | None]]:
    """Yield rows; DataError for texts too long for engines."""
    for row in rows:
        sizes = [len(text.encode()) for text in row if text]
        if max(sizes, default=0) > LONGEST_TEXT or 2 * sum(sizes) > LONGEST_LINE:
            raise DataError(
                f"{source} has a text of more than {LONGEST_TEXT:,} bytes, or a row of more than {LONGEST_LINE // 2:,}",
                rule="no state or name is that long",
            )
        yield row
