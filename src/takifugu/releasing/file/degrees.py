"""Longitude and latitude: which columns hold them, in which order they come, and which numbers are none."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
import numpy.typing as npt

from takifugu.core.errors import DataError, InputError, TakifuguError
from takifugu.core.text.toml import toml_of
from takifugu.data import Table
from takifugu.numbers.rationals import Number, as_fraction
from takifugu.releasing.file.guessing.column_words import EAST, NORTH, words_in
from takifugu.releasing.file.problems import Where, fault

#: The largest longitude, which some count from 0 to 360, and the largest latitude.
LARGEST = (360, 90)
_NAMES = ("longitude", "latitude")


def are_degrees(columns: Sequence[str]) -> bool:
    """Return whether two columns are longitude and latitude by name.

    >>> are_degrees(["lat", "gps_lon"]), are_degrees(["x", "y"])
    (True, False)
    """
    first, second = (words_in(column) for column in columns)
    return bool((first & EAST and second & NORTH) or (first & NORTH and second & EAST))


def misplaced(
    columns: Sequence[str], ends: Sequence[Sequence[Number]], key: Where, boxes: tuple[Where, Where]
) -> Iterator[TakifuguError]:
    """Yield the faults of a box of longitudes and latitudes.

    `key` names the columns, `boxes` their `ends`. A latitude may only come first with a box beyond 90: then the data
    have exchanged the names.
    """
    if not are_degrees(columns):
        return
    reach = [max(abs(as_fraction(low, "an end")), abs(as_fraction(high, "an end"))) for low, high in ends]
    if words_in(columns[0]) & NORTH and reach[0] <= LARGEST[1]:
        right = toml_of([columns[1], columns[0]])
        fault_text = f"takes {columns[0]!r} for the longitude and {columns[1]!r} for the latitude"
        box = InputError().at(*boxes[0][:2]).place
        yield fault(key, fault_text, f"the longitude comes first: {right}, and so do its ends in {box}")
        return
    for axis, name in enumerate(_NAMES):
        if reach[axis] > LARGEST[axis]:
            most = LARGEST[axis]
            yield fault(
                boxes[axis], f"is no range of the {name} {columns[axis]!r}",
                f"write degrees from -{most} to {most}, the longitude first",
            )  # fmt: skip


def first_beyond(coordinates: Sequence[npt.ArrayLike]) -> tuple[int, int] | None:
    """Return the axis and row of the first coordinate out of range."""
    for axis, largest in enumerate(LARGEST):
        is_beyond = np.abs(np.asarray(coordinates[axis], dtype=float)) > largest
        if is_beyond.any():
            return axis, int(np.argmax(is_beyond))
    return None


def refuse_beyond(table: Table, columns: Sequence[str], coordinates: Sequence[npt.ArrayLike]) -> None:
    """Raise DataError for a row of coordinates beyond the earth."""
    nowhere = first_beyond(coordinates)
    if nowhere is None:
        return
    axis, row = nowhere
    place = ""
    if table.ordered:
        place = f" in row {row + 1} (counted from 1 below the header)"
    raise DataError(
        f"column {columns[axis]!r} holds{place} a {_NAMES[axis]} out of range",
        rule=f"it is a number of degrees from -{LARGEST[axis]} to {LARGEST[axis]}",
        fix="repair the row, or leave it out of the file",
    ).at("coordinates")
