"""Published tables in spreadsheets: text that one would run as a formula gets an apostrophe in front.

The rule: a text cell (a unit, a cell's label, a value that was chosen; never a number) that starts with one of = + - @,
their full-width forms, a tab, a line end or an apostrophe gets one more apostrophe in front; a text that is a number
stays as it is. `read_table` removes it again.
"""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Hashable, Iterable, Sequence
from pathlib import Path

from takifugu.core.errors import InputError
from takifugu.core.files import read_file
from takifugu.core.plain import Plain, Row
from takifugu.core.rules import as_path
from takifugu.releasing.certificates.sent_rows import ROW, number_in, read_rows

#: The columns of a published table that hold texts, and those that hold numbers.
TEXTS, NUMBERS = ("window", "unit", "cell"), ("value", "low", "high", "adjusted", "x", "y")
#: The column that says which values can be told from their noise, and what stands in it.
READABLE, ANSWERS = "readable", {"true": True, "false": False, "": None}
#: The column that says whether the true value can be the published one, where that is known.
POSSIBLE = "possible"
#: The column of values where counts were compared with thresholds, and what stands in it in place of an upper value.
UPPER, VERDICTS = "safe_or_at_most", ("safe", "not answered")
#: The column that says what such a value means, where places are called dangerous, too.
MARK = "mark"
_RUNS = re.compile("[=+\\-@\t\r\n'\uff1d\uff0b\uff0d\uff20]")
_NUMBER = re.compile(r"[+-]?[0-9]+(?:[.][0-9]+)?")
_WRITTEN = re.compile(r"-?[0-9]+(?:[.][0-9]+)?(?:e[+-]?[0-9]+)?")


def guarded(text: str) -> str:
    """Return a text as a published table writes it.

    >>> guarded("=1+1"), guarded("'tis"), guarded("-1"), guarded("well")
    ("'=1+1", "''tis", '-1', 'well')
    """
    return f"'{text}" if _RUNS.match(text) and not _NUMBER.fullmatch(text) else text


def unguarded(cell: str) -> str:
    """Return the text behind a guarded cell."""
    return cell.removeprefix("'")


def table_text(rows: Iterable[Row]) -> str:
    """Return the rows of a published table as CSV."""
    lines = list(rows)
    text = io.StringIO(newline="")
    writer = csv.DictWriter(text, list(lines[0]))
    writer.writeheader()
    for row in lines:
        writer.writerow({key: _written(value) for key, value in row.items()})
    return text.getvalue()


def _written(value: Hashable) -> Hashable:
    if isinstance(value, bool):
        return str(value).lower()
    return guarded(value) if isinstance(value, str) else value


def read_table(path: str | Path) -> Sequence[Plain]:
    """Read the rows of a published table.

    Texts are as they were, numbers int or float. Of a randomised column these are `row` and the value, a text or two
    coordinates. Raises InputError for a file that cannot be read or is not a published table.

    >>> import pathlib, tempfile
    >>> file = pathlib.Path(tempfile.mkdtemp()) / "counts.csv"
    >>> _ = file.write_text("cell,value,low,high\\n'=well,-3,-9,3\\n")
    >>> read_table(file)
    ({'cell': '=well', 'value': -3, 'low': -9, 'high': 3},)
    """
    file = as_path(path, "path")
    name = file.name
    try:
        return rows_in(read_file(file).decode("utf-8-sig"))
    except OSError as error:
        reason = (error.strerror or "it cannot be opened").lower()
        raise InputError(f"{name} cannot be read ({reason})", fix="give the path of a published table") from None
    except (ValueError, KeyError, TypeError, AttributeError, csv.Error):
        raise InputError(f"{name} is not a table that Takifugu published", fix="give the file <release>.csv") from None


def rows_in(text: str) -> Sequence[Plain]:
    """Parse the rows of a published table's text.

    Raises ValueError or a subclass for other text.
    """
    if text.partition(",")[0] == ROW:
        return read_rows(text, unguarded)
    rows = list[Plain]()
    for row in csv.DictReader(io.StringIO(text, newline=""), strict=True):
        is_chosen = row.get("low") == "" and row.get("high") == ""  # without bounds, as a choice is
        rows.append({key: _read(key, cell, is_chosen) for key, cell in row.items()})
    return tuple(rows)


def _read(column: str, cell: str, is_chosen: bool = False) -> Hashable:
    if column in (*TEXTS, MARK):
        return unguarded(cell)
    if column in (READABLE, POSSIBLE):
        return ANSWERS[cell]
    if column == UPPER:
        return cell if cell in VERDICTS else number_in(cell)
    if column not in NUMBERS:
        raise KeyError(column)
    if not cell and column != "value":
        return None  # nothing is known around what is no number
    if is_chosen and cell and not _WRITTEN.fullmatch(cell):
        return unguarded(cell)
    return number_in(cell)
