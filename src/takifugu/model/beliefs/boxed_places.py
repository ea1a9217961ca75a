"""A box of places: its cells, the cell of each place, and how long a unit of either coordinate is."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from itertools import product, starmap
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
#: Coordinates whose units have no name.
UNSCALED: tuple[Scales, str] = ((1, 1), "")


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

    @property
    def ends(self) -> tuple[tuple[float, float], tuple[float, float]]:
        """Return the lowest and the highest number of either coordinate."""
        left, right = as_interval(self.first, "the box", "box", "first")
        low, high = as_interval(self.second, "the box", "box", "second")
        return (float(left), float(right)), (float(low), float(high))

    @property
    def centres(self) -> tuple[tuple[float, float], ...]:
        """Return the centre of each cell, row by row: the first coordinate runs fastest."""
        along, across = starmap(_centres, zip(self.ends, self.cells, strict=True))
        return tuple((x, y) for y, x in product(across, along))

    @property
    def scales(self) -> tuple[Scales, str]:
        """Return the length of each coordinate's unit, and its name; degrees are measured in the middle of the box."""
        if self.degrees:
            low, high = map(float, as_fractions(self.second, "an end of the box"))
            along = Fraction(round(DEGREE * math.cos(math.radians((low + high) / 2))))
            return (max(along, Fraction(1)), Fraction(DEGREE)), "m"
        return UNSCALED if self.metres is None else (self.metres, "m")

    def check(self) -> None:
        """Raise InputError at the key for a box without an inside, and for what are no degrees."""
        (a, b), (c, d) = self.ends
        if self.degrees and not (-90 <= c < d <= 90 and -360 <= a < b <= 360):
            raise InputError(
                "are no degrees of longitude and latitude, in this order",
                fix="write the longitudes in first and the latitudes, from -90 to 90, in second",
            ).at("box")
        if self.degrees and self.metres is not None:
            raise InputError("is given beside degrees", fix="write one of both").at("box", "metres")
        if len(set(self.centres)) < math.prod(self.cells) or math.prod(self.cells) < 2:
            error = InputError(f"are {list(self.cells)}", rule="there must be two different cells or more")
            raise error.at("box", "cells")

    def cells_of(self, first: Floats, second: Floats) -> npt.NDArray[np.int32]:
        """Return the number of the cell of each place; no message says which one is refused, or how many."""
        numbers = []
        for coordinates, (low, high), count in zip((first, second), self.ends, self.cells, strict=True):
            if not np.isfinite(coordinates).all():
                raise DataError(
                    "a coordinate is missing or not finite", rule="there is no such place", fix="drop these rows"
                ).at("value")
            if self.outside == "refuse" and ((coordinates < low) | (coordinates > high)).any():
                raise DataError(
                    "a place lies outside of the declared box", fix='declare a larger box, or write outside = "clamp"'
                ).at("value")
            clipped = np.clip(coordinates, low, high)
            numbers.append(np.minimum(((clipped - low) / (high - low) * count).astype(np.int64), count - 1))
        numbers_of_cells: npt.NDArray[np.int32] = (numbers[1] * self.cells[0] + numbers[0]).astype(np.int32)
        return numbers_of_cells


def _centres(ends: tuple[float, float], count: int) -> list[float]:
    low, high = ends
    return [round(low + (high - low) * (number + 0.5) / count, _DIGITS) for number in range(count)]
