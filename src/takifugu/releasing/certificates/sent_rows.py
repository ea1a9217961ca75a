"""The published table of randomised rows: one line for each value that was sent, with the number of its row.

Its first column is `row`, counted from 0; the others are the value: the two coordinates of a place as numbers, or one
text. Several lines may have one row (a value among dummies, bits), or none (no bit is 1).
"""

from __future__ import annotations

import csv
import io
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from typing import Any, overload

from takifugu.core.errors import InputError
from takifugu.core.lists import take
from takifugu.core.plain import Row

ROW = "row"


class Rows(Sequence[Mapping[str, Hashable]]):
    """The lines of a table, kept as columns: a million mappings would take a gigabyte.

    >>> Rows({"row": [0, 1], "place": ["north", "south"]})[1]
    {'row': 1, 'place': 'south'}
    """

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
    """Return the value's column names: the data's, or defaults.

    >>> names_of([], [(0.0, 1.5)]), names_of(["activity"], ["rest"])
    (('x', 'y'), ('activity',))
    """
    usual = ("x", "y") if isinstance(outputs[0], tuple) else ("value",)
    return tuple(columns) if len(columns) == len(usual) and ROW not in columns else usual


def rows_sent(names: Sequence[str], outputs: Sequence[Hashable], row: Sequence[int], place: Sequence[int]) -> Rows:
    """Return the lines of sent values.

    `place` has each value's index in `outputs`, `row` the number of its row.
    """
    parts = list(zip(*outputs, strict=True)) if len(names) == 2 else [tuple(outputs)]
    columns: dict[str, Sequence[Hashable]] = {ROW: list(row)}
    for name, part in zip(names, parts, strict=True):
        columns[name] = take(part, place)
    return Rows(columns)


def rows_text(
    names: Sequence[str], outputs: Sequence[str], row: Iterable[int], place: Iterable[int]
) -> str:
    """Return the table of sent values as CSV.

    `outputs` are the values as `written`, once each.
    """
    lines = [",".join([ROW, *names])]
    lines += [f"{r},{outputs[y]}" for r, y in zip(row, place, strict=True)]
    return "\r\n".join([*lines, ""])


def written(values: Iterable[object], guarded: Callable[[str], str]) -> list[str]:
    """Return values as CSV: coordinates in full, texts guarded and quoted."""
    lines = []
    for value in values:
        cells = list(map(repr, value)) if isinstance(value, tuple) else [guarded(str(value))]
        text = io.StringIO(newline="")
        csv.writer(text, lineterminator="").writerow(cells)
        lines.append(text.getvalue())
    return lines


def read_rows(text: str, unguarded: Callable[[str], str]) -> Rows:
    """Read the lines of sent values from CSV.

    Raises InputError for other text.
    """
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
