"""Equal boxes over a public range of coordinates, as places with names: row and column, counted from 0."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from itertools import product, starmap

from takifugu.core.errors import InputError
from takifugu.core.plain import Plain, PlainForm
from takifugu.numbers.rationals import Number, as_fraction

#: Most boxes of a grid.
MOST_BOXES = 2_000_000
#: Coordinates are written with so many digits after the point: less than a millimetre, also in degrees.
DIGITS = 9
#: The name of a box by its row and column.
_NAME = "r{}c{}".format


@dataclass(frozen=True)
class Boxes(PlainForm):
    """`columns` equal boxes from one end of x to the other, and `rows` of y; the last ones include their far ends."""

    x: tuple[Fraction, Fraction]
    y: tuple[Fraction, Fraction]
    columns: int
    rows: int

    def __post_init__(self) -> None:
        for name, (low, high) in (("x", self.x), ("y", self.y)):
            if low >= high:
                raise InputError(f"{name} goes from {low} to {high}", rule="from low to high").at(name)
        if min(self.columns, self.rows) < 1 or self.columns * self.rows > MOST_BOXES:
            raise InputError(f"the grid has {self.columns * self.rows:,} boxes", rule=f"at most {MOST_BOXES:,}")

    @staticmethod
    def of(x: tuple[Number, Number], y: tuple[Number, Number], columns: int, rows: int) -> Boxes:
        """Return the boxes over ranges of any numbers."""
        (left, right), (low, high) = x, y
        across = as_fraction(left, "an end of the grid", "x"), as_fraction(right, "an end of the grid", "x")
        along = as_fraction(low, "an end of the grid", "y"), as_fraction(high, "an end of the grid", "y")
        return Boxes(across, along, columns, rows)

    def names(self) -> tuple[str, ...]:
        """Return the names of all boxes, row by row."""
        return tuple(starmap(_NAME, product(range(self.rows), range(self.columns))))

    def from_outside(self) -> tuple[str, ...]:
        """Return all names, the farthest from the middle first, in units of the coordinates."""
        wide, tall = (self.x[1] - self.x[0]) / self.columns, (self.y[1] - self.y[0]) / self.rows

        def nearness(cell: tuple[int, int]) -> Fraction:
            row, column = cell
            across, along = (2 * column + 1 - self.columns) * wide, (2 * row + 1 - self.rows) * tall
            return -(across**2) - along**2

        cells = sorted(product(range(self.rows), range(self.columns)), key=nearness)
        return tuple(starmap(_NAME, cells))

    def place(self, x: Fraction, y: Fraction) -> str | None:
        """Return the name of a point's box, None outside the range."""
        column, row = _number(x, self.x, self.columns), _number(y, self.y, self.rows)
        return None if column is None or row is None else _NAME(row, column)

    def edges(self) -> tuple[tuple[float, ...], tuple[float, ...]]:
        """Return the edges of columns and of rows, from the lowest to the highest."""
        (left, right), (low, high) = self.x, self.y
        across = (left + (right - left) * part / self.columns for part in range(self.columns + 1))
        along = (low + (high - low) * part / self.rows for part in range(self.rows + 1))
        return tuple(map(float, across)), tuple(map(float, along))

    def box(self, name: str) -> tuple[float, float, float, float]:
        """Return the ends of a named box: left, low, right, high."""
        row, column = map(int, name.removeprefix("r").split("c"))
        (left, right), (low, high) = self.x, self.y
        wide, tall = (right - left) / self.columns, (high - low) / self.rows
        # neighbours share their edge to the last digit
        ends = (left + column * wide, low + row * tall, left + (column + 1) * wide, low + (row + 1) * tall)
        a, b, c, d = (round(float(end), DIGITS) for end in ends)
        return a, b, c, d

    def middle(self, name: str) -> tuple[float, float]:
        """Return the middle of a named box."""
        left, low, right, high = self.box(name)
        return round((left + right) / 2, DIGITS + 1), round((low + high) / 2, DIGITS + 1)

    @staticmethod
    def from_dict(data: Plain) -> Boxes:
        return Boxes.of(tuple(data["x"]), tuple(data["y"]), data["columns"], data["rows"])


def _number(value: Fraction, ends: tuple[Fraction, Fraction], count: int) -> int | None:
    low, high = ends
    if not low <= value <= high:
        return None
    return min(count - 1, math.floor((value - low) / (high - low) * count))
