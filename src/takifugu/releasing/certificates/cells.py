"""Published tables as CSV: cells with their values, or a line for each value that was sent of a randomised column.

In spreadsheets, text that one would run as a formula gets an apostrophe in front: a text cell (a unit, a cell's label,
a value that was chosen; never a number) that starts with one of = + - @, their full-width forms, a tab, a line end or
an apostrophe gets one more apostrophe; a text that is a number stays as it is. `read_table` removes it again.

Of a randomised column the first column is `row`, counted from 0; the others are the value: the two coordinates of a
place as numbers, or one text. Several lines may have one row (a value among dummies).
"""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Hashable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, overload

from takifugu.core.errors import InputError
from takifugu.core.escaping import visible
from takifugu.core.plain import Plain, Row
from takifugu.core.rules import as_path
from takifugu.releasing.certificates.files import required_bytes

#: The first column of what was sent for each row.
ROW = "row"
#: The column that says of each row of a rehearsal that it is one, and what stands in it.
REHEARSAL, NO_GUARANTEE = "rehearsal", "no guarantee"
#: The columns of a published table that hold texts, and those that hold numbers.
CLOCK = "clock"
TEXTS, NUMBERS = ("window", "unit", "cell", CLOCK, REHEARSAL), (
    "value", "low", "high", "estimate", "estimate_low", "estimate_high", "adjusted", "x", "y",
)  # fmt: skip
#: The columns of what a reader who believes the model concludes of the exact value, empty where they contradict.
ESTIMATED = ("estimate", "estimate_low", "estimate_high")
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
    """Return a text as a published table writes it, with a ' before one that a spreadsheet would run."""
    text = visible(text)
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
        cells = dict[str, Hashable]()
        for key, value in row.items():
            if isinstance(value, bool):
                value = str(value).lower()
            elif isinstance(value, str):
                value = guarded(value)
            cells[key] = value
        writer.writerow(cells)
    return text.getvalue()


def read_table(path: str | Path) -> Sequence[Plain]:
    r"""Read the rows of a published table.

    Args:
        path: The CSV file.

    Returns:
        One mapping for each row. Texts are unescaped, numbers int or float. A randomised column has `row` and the
        value, a text or two coordinates.

    Raises:
        InputError: For a file that cannot be read or is no published table.

    Examples:
        >>> import pathlib, tempfile
        >>> file = pathlib.Path(tempfile.mkdtemp()) / "counts.csv"
        >>> _ = file.write_text("cell,value,low,high\n'=well,-3,-9,3\n")
        >>> read_table(file)
        ({'cell': '=well', 'value': -3, 'low': -9, 'high': 3},)
    """
    file = as_path(path, "path")
    name = file.name
    content = required_bytes(file, "give the path of a published table")
    try:
        return rows_in(content.decode("utf-8-sig"))
    except (ValueError, KeyError, TypeError, AttributeError, csv.Error):
        raise InputError(f"{name} is not a table that Takifugu published", fix="give the file <release>.csv") from None


def rows_in(text: str) -> Sequence[Plain]:
    """Parse the rows of a published table's text. Raises ValueError or a subclass for other text."""
    if text.partition(",")[0] == ROW:
        return read_rows(text)
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


class Rows(Sequence[Mapping[str, Hashable]]):
    """The lines of a table, kept as columns: a million mappings would take a gigabyte."""

    def __init__(self, columns: Mapping[str, Sequence[Hashable]]) -> None:
        self.columns = dict(columns)

    def __len__(self) -> int:
        return len(self.columns[ROW])

    @overload
    def __getitem__(self, index: int) -> Row: ...
    @overload
    def __getitem__(self, index: slice) -> Rows: ...
    def __getitem__(self, index: int | slice) -> Row | Rows:
        part: dict[str, Any] = {name: values[index] for name, values in self.columns.items()}
        return Rows(part) if isinstance(index, slice) else part

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Rows) and self.columns == other.columns

    __hash__ = None  # type: ignore[assignment]


def names_of(columns: Sequence[str], outputs: Sequence[Hashable]) -> tuple[str, ...]:
    """Return the value's column names: the data's, or defaults."""
    usual = ("x", "y") if isinstance(outputs[0], tuple) else ("value",)
    return tuple(columns) if len(columns) == len(usual) and ROW not in columns else usual


def rows_sent(names: Sequence[str], outputs: Sequence[Hashable], row: Sequence[int], place: Sequence[int]) -> Rows:
    """Return the lines of sent values. `place` has each value's index in `outputs`, `row` the number of its row."""
    parts = list(zip(*outputs, strict=True)) if len(names) == 2 else [tuple(outputs)]
    columns: dict[str, Sequence[Hashable]] = {ROW: list(row)}
    for name, part in zip(names, parts, strict=True):
        columns[name] = [part[index] for index in place]
    return Rows(columns)


def rows_text(names: Sequence[str], outputs: Iterable[object], row: Iterable[int], place: Iterable[int]) -> str:
    """Return the table of sent values as CSV. Coordinates are in full, texts guarded and quoted."""
    texts = list[str]()  # of each value, once
    for value in outputs:
        texts.append(_line(map(repr, value) if isinstance(value, tuple) else [guarded(str(value))]))
    lines = [_line([ROW, *map(guarded, names)])]
    lines += [f"{number},{texts[y]}" for number, y in zip(row, place, strict=True)]
    return "\r\n".join([*lines, ""])


def _line(cells: Iterable[str]) -> str:
    text = io.StringIO(newline="")
    csv.writer(text, lineterminator="").writerow(cells)
    return text.getvalue()


def read_rows(text: str) -> Rows:
    """Read the lines of sent values from CSV. Raises InputError for other text."""
    reader = csv.reader(io.StringIO(text, newline=""), strict=True)
    try:
        header = next(reader)
        lines = list(reader)
        if header[0] != ROW or any(len(line) != len(header) for line in lines):
            raise ValueError
        cells = list(zip(*lines, strict=True)) or [()] * len(header)
        read = number_in if len(header) == 3 else unguarded
        columns: dict[str, Sequence[Hashable]] = {ROW: list(map(int, cells[0]))}
        for name, texts in zip(header[1:], cells[1:], strict=True):
            columns[unguarded(name)] = list(map(read, texts))
        return Rows(columns)
    except (ValueError, StopIteration, IndexError, csv.Error):
        raise InputError("the text is no table of randomised rows") from None


def number_in(text: str) -> int | float:
    """Read a number as a published table writes it."""
    return float(text) if any(mark in text for mark in ".en") else int(text)
