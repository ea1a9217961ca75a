"""Rows as a belief's values, numbers, bins or degrees; no message repeats a value of the data."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from takifugu.core.arrays import FloatArray
from takifugu.core.column_words import EAST, MOST_DEGREES, NORTH, words_in
from takifugu.core.errors import DataError, InputError, TakifuguError, raise_gathered
from takifugu.core.nearest import first_of
from takifugu.core.plain import toml_of
from takifugu.core.sections import values_of, written
from takifugu.data import Bins, Classes
from takifugu.data.lookalikes import refuse_lookalikes
from takifugu.data.relation.keys import Column
from takifugu.data.relation.source import Table
from takifugu.data.relation.types import value_line
from takifugu.data.sql.faults import RowFault
from takifugu.data.values.texts import UNBINNED, UNKNOWN, not_numbers
from takifugu.model.queries.sections import spelled
from takifugu.numbers.rationals import Number, as_fraction
from takifugu.releasing.file.problems import Where, fault

if TYPE_CHECKING:
    from takifugu.model.beliefs.boxed_places import Box

Codes = npt.NDArray[np.int32]
#: What to write, by the cause of a fault and the column.
Fixes = Mapping[str, Mapping[str, str]]
#: A public file, whose rows are nobody's secret, may be read without some of them.
LEAVE_OUT = "read the file without such rows, by a SELECT with WHERE in the place of its name"


@contextmanager
def placed_at(*key: str) -> Iterator[None]:
    """Place every error about the data inside at a key of [source], by default at its own."""
    try:
        yield
    except DataError as error:
        error.where = ("source", *(key or error.where))
        raise error.placed() from None


def raise_all(faults: Iterable[TakifuguError]) -> None:
    """Raise the one fault of the data, or SpecError for several different ones, whose words begin with their place."""
    different = list({error.line: error for error in faults}.values())
    if different[1:]:
        for error in different:
            error.where = ()
    raise_gathered(different)


def wrong(key: str, what: str, rule: str = "", fix: str = "") -> DataError:
    """Return an error about the data at a key of [source]."""
    return DataError(what, rule=rule, fix=fix).at("source", key).placed()


@contextmanager
def telling_all(table: Table, fixes: Fixes = MappingProxyType({})) -> Iterator[None]:
    """Raise all faults of the rows that are counted inside, with the `fixes` of this kind of file."""
    try:
        yield
    except TakifuguError as error:
        raise_all(faults_of_rows(table, error, fixes))
        raise


def faults_of_rows(
    table: Table, error: TakifuguError, fixes: Fixes = MappingProxyType({})
) -> Iterator[TakifuguError]:
    """Yield the faults of the rows, each at its key of [source], with the `fixes` of this kind of file."""
    for fault_of_rows in error.each() if isinstance(error, RowFault) else (error,):
        of_column = _of_column(table, fault_of_rows, fixes)
        if of_column.where[:1] == ("value",) and isinstance(table.opened.source.values[0], Column):
            of_column.where = ("file",)  # there is no such key: the belief names the columns
        yield of_column.at("source").placed()


def _of_column(table: Table, error: TakifuguError, fixes: Fixes) -> TakifuguError:
    """Return the fault of a column's value with what is declared of the column, or of one that is written alike."""
    if not isinstance(error, RowFault) or "column" not in error.words:
        return error
    name, source = error.words["column"], table.opened.source
    number = source.values.index(name)
    error.fix = fixes.get(error.cause, {}).get(name, error.fix)
    rule = source.rules[number]
    if error.cause == "unknown state" and not isinstance(rule, Bins | Classes):  # whose values are numbers
        if isinstance(source.values[number], Column):
            error.fix = value_line(table.opened, f"value{number}", "CASE ... END") + ", or declare the value"
        error.fix += f"; declared are {first_of(rule)}"
        try:
            table.refuse_lookalikes(rule, "value", f"value{number}")
        except TakifuguError as lookalike:
            return lookalike
    return error


def cells_on(
    box: Box, names: Sequence[str], first: FloatArray, second: FloatArray, rows: Sequence[int] = ()
) -> Codes:
    """Return the number of each place's cell; DataError for a place beyond the earth or the box."""
    # `rows` are the numbers of the places' rows, where these are not all
    if box.degrees or are_degrees(names[:2]):
        _refuse_beyond(names, (first, second), rows)
    return box.cells_of(first, second)


def coded(
    texts: Sequence[str | None], values: Iterable[Hashable], column: str, fixes: tuple[str, str],
    rows: Sequence[int] = (),
) -> Codes:
    """Return the number of each text's value; DataError, told by its row, for a missing or undeclared one."""
    # `fixes` mend a missing value, and an undeclared one
    places: dict[str | None, int] = {value: place for place, value in enumerate(spelled(values))}
    odd = [number for number, text in enumerate(texts) if text not in places]
    if not odd:
        return np.array([places[text] for text in texts], dtype=np.int32)
    empty = [number for number in odd if texts[number] is None]
    if not empty:
        of_odd = ((texts[number], rows[number] if rows else number + 1) for number in odd)
        refuse_lookalikes(of_odd, map(str, places), repr(column), "value")
    fault_text, fix = "has a value that is not declared", f"the values are {first_of(places)}; {fixes[1]}"
    if empty:
        fault_text, fix = "has missing values", fixes[0]
    place = f"row {rows[(empty or odd)[0]]}: " if rows else ""
    raise DataError(f"{place}column {column!r} {fault_text}", fix=fix).at("value")


def bins_of(source: Any, column: str | None = None) -> Bins | None:
    """Return the bins of a column, by default of the only one."""
    bins = values_of(source, written(source, ("bins",))).get("bins")  # records of whole columns have classes
    if bins is not None and column is not None:
        bins = bins.get(column)
    return None if bins is None else Bins(bins)


def binned(text: str | None, column: str, bins: Bins | None) -> str | None:
    """Return the bin of a text's number, if there are bins; DataError, without the number, outside all of them."""
    if bins is None or text is None:
        return text
    code = bins.code_of(text)
    if code == UNBINNED:
        bin_words = [f"{state}: {words}" for state, words in zip(bins.states, bins.words, strict=True)]
        fault_text = f"column {column!r} has a number that is in none of the bins"
        fix = f"declare bins for all numbers that can occur, or {LEAVE_OUT}; the bins are {bin_words}"
        raise wrong("bins", fault_text, fix=fix)
    if code == UNKNOWN:
        raise not_numbers(column, f"repair them, or {LEAVE_OUT}").at("source", "bins").placed()
    return str(bins.states[code])


_NAMES = ("longitude", "latitude")


def are_degrees(columns: Sequence[str]) -> bool:
    """Return whether two columns are longitude and latitude by name, in either order."""
    first, second = map(words_in, columns)
    return bool((first & EAST and second & NORTH) or (first & NORTH and second & EAST))


def misplaced(
    columns: Sequence[str], ends: Sequence[Sequence[Number]], boxes: tuple[Where, Where]
) -> Iterator[TakifuguError]:
    """Yield the faults of a box of longitudes and latitudes; `boxes` are the keys of its `ends`."""
    if not are_degrees(columns):
        return
    reach = [max(abs(as_fraction(low, "an end")), abs(as_fraction(high, "an end"))) for low, high in ends]
    # a latitude may only come first with a box beyond 90: then the data have exchanged the names
    if words_in(columns[0]) & NORTH and reach[0] <= MOST_DEGREES[1]:
        right = toml_of([columns[1], columns[0]])
        fault_text = f"takes {columns[0]!r} for the longitude and {columns[1]!r} for the latitude"
        box = InputError().at(*boxes[0][:2]).place
        yield fault(("source", "value"), fault_text, f"the longitude comes first: {right}, and so do its ends in {box}")
        return
    for axis, name in enumerate(_NAMES):
        if reach[axis] > MOST_DEGREES[axis]:
            most = MOST_DEGREES[axis]
            yield fault(
                boxes[axis], f"is no range of the {name} {columns[axis]!r}",
                f"write degrees from -{most} to {most}, the longitude first",
            )  # fmt: skip


def _refuse_beyond(columns: Sequence[str], coordinates: Sequence[FloatArray], rows: Sequence[int]) -> None:
    """Raise DataError for a row of coordinates beyond the earth; `rows` are the numbers of rows that are not all."""
    for axis, largest in enumerate(MOST_DEGREES):
        is_beyond = np.abs(coordinates[axis]) > largest
        if is_beyond.any():
            row = int(np.argmax(is_beyond))
            number = rows[row] if rows else row + 1
            raise DataError(
                f"column {columns[axis]!r} holds in row {number} (counted from 1 below the header) a {_NAMES[axis]} "
                "out of range",
                rule=f"it is a number of degrees from -{largest} to {largest}",
                fix="repair the row, or leave it out of the file",
            ).at("value")
