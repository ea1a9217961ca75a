"""A box of places: a grid of cells, the cell of each coordinate, and how long a unit of either coordinate is."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from itertools import product
from typing import Annotated, Literal

import numpy as np
import numpy.typing as npt

from takifugu.core.errors import DataError, InputError
from takifugu.core.sections import Key, Number, Positive
from takifugu.numbers.rationals import as_fractions, as_interval

#: One degree of a great circle of the earth, in metres (its mean radius is 6,371,009 m).
DEGREE = 111_195
#: Centres of cells are written with so many digits after the point.
_DIGITS = 12

Floats = npt.NDArray[np.float64]
Pair = tuple[Number, Number]
Scales = Pair | tuple[Fraction, Fraction]


@dataclass(frozen=True, kw_only=True)
class Box:
    """A rectangle that is divided into equal cells; a place counts as the centre of its cell."""

    first: Annotated[Pair, Key("the lowest and the highest first coordinate", [139.5, 139.9])]
    second: Annotated[Pair, Key("the lowest and the highest second one", [35.5, 35.9])]
    cells: Annotated[tuple[Positive, Positive], Key("how many cells along either coordinate", [15, 15])]
    degrees: Annotated[
        bool, Key("the coordinates are degrees of longitude and latitude: distances are in metres")
    ] = False
    metres: Annotated[Pair | None, Key("how many metres one unit of either coordinate is")] = None
    outside: Annotated[
        Literal["refuse", "clamp"], Key("what a place outside the box is: refused, or moved to its edge")
    ] = "refuse"


@dataclass(frozen=True)
class Grid:
    """Cells of equal size, listed row by row (the first coordinate runs fastest)."""

    low: tuple[float, float]
    high: tuple[float, float]
    cells: tuple[int, int]
    clamps: bool
    in_degrees: bool = False

    @property
    def centres(self) -> tuple[tuple[float, float], ...]:
        """Return the centre of each cell."""
        first_axis = [_centre(self, 0, k) for k in range(self.cells[0])]
        second_axis = [_centre(self, 1, k) for k in range(self.cells[1])]
        return tuple((x, y) for y, x in product(second_axis, first_axis))

    def cells_of(self, first: Floats, second: Floats) -> npt.NDArray[np.int32]:
        """Return the number of the cell of each place.

        Raises DataError for coordinates that are missing or not finite, and unless they are clamped for places outside
        the box; no message says which, or how many.
        """
        numbers = []
        for axis, coordinates in enumerate((first, second)):
            if not np.isfinite(coordinates).all():
                raise DataError(
                    "a coordinate is missing or not finite", rule="there is no such place", fix="drop these rows"
                ).at("value")
            low, high, count = self.low[axis], self.high[axis], self.cells[axis]
            if not self.clamps and ((coordinates < low) | (coordinates > high)).any():
                raise DataError(
                    "a place lies outside of the declared box", fix='declare a larger box, or write outside = "clamp"'
                ).at("value")
            clipped = np.clip(coordinates, low, high)
            numbers.append(np.minimum(((clipped - low) / (high - low) * count).astype(np.int64), count - 1))
        numbers_of_cells: npt.NDArray[np.int32] = (numbers[1] * self.cells[0] + numbers[0]).astype(np.int32)
        return numbers_of_cells


def grid_of(box: Box) -> Grid:
    """Return the grid of [belief.box].

    Raises InputError at the key for a box without an inside.
    """
    ends = []
    for key, pair in (("first", box.first), ("second", box.second)):
        low, high = as_interval(pair, "the box", "box", key)
        ends.append((float(low), float(high)))
    (a, b), (c, d) = ends
    if box.degrees and not (-90 <= c < d <= 90 and -360 <= a < b <= 360):
        raise InputError(
            "are no degrees of longitude and latitude, in this order",
            fix="write the longitudes in first and the latitudes, from -90 to 90, in second",
        ).at("box")
    if box.degrees and box.metres is not None:
        raise InputError("is given beside degrees", fix="write one of both").at("box", "metres")
    grid = Grid((a, c), (b, d), box.cells, box.outside == "clamp", box.degrees)
    if len(set(grid.centres)) < math.prod(box.cells) or math.prod(box.cells) < 2:
        raise InputError(f"are {list(box.cells)}", rule="there must be two different cells or more").at("box", "cells")
    return grid


def scales_of(box: Box) -> tuple[Scales, str]:
    """Return the length of each coordinate's unit, and its name.

    Degrees are measured in the middle of the box.
    """
    if box.degrees:
        low, high = map(float, as_fractions(box.second, "an end of the box"))
        along = Fraction(round(DEGREE * math.cos(math.radians((low + high) / 2))))
        return (max(along, Fraction(1)), Fraction(DEGREE)), "m"
    return ((1, 1), "") if box.metres is None else (box.metres, "m")


def _centre(grid: Grid, axis: int, number: int) -> float:
    low, high, count = grid.low[axis], grid.high[axis], grid.cells[axis]
    return round(low + (high - low) * (number + 0.5) / count, _DIGITS)
