"""Who was where in which step: each person once at a place, however many rows say so; exact integers.

All windows are read at once: the visits of a year are grouped by one scan, and an hour of it is a part of the columns.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import pairwise

import numpy as np

from takifugu.core.arrays import IntArray
from takifugu.core.column_words import MOST_DEGREES
from takifugu.data.lookalikes import refuse_lookalikes
from takifugu.data.relation.counts import bits, integers, refuse
from takifugu.data.relation.opening import WRITTEN
from takifugu.data.relation.roles import Opened
from takifugu.data.relation.statements import visits
from takifugu.data.relation.types import NO_COORDINATE, NO_DEGREES, check_types, code_sql, name_why
from takifugu.data.sql.faults import no_rows
from takifugu.data.sql.words import double, identifier, literal, number_of
from takifugu.data.values.bins import Bins, Classes
from takifugu.data.values.spellings import meant
from takifugu.data.values.texts import MISSING, UNKNOWN

_VISITS, _PEOPLE = '"takifugu visits"', '"takifugu people"'


@dataclass(frozen=True)
class Grid:
    """The edges of a grid's columns and rows, rising; the last ones include their far ends."""

    x: tuple[float, ...]
    y: tuple[float, ...]
    #: Whether coordinates are longitudes and latitudes. Boxes are numbered row by row.
    in_degrees: bool = False

    @property
    def bins(self) -> tuple[Bins, Bins]:
        """Return the columns and the rows as bins of coordinates, by their ends."""
        x, y = ({f"{low} to {high}": (low, high) for low, high in pairwise(edges)} for edges in (self.x, self.y))
        return Bins(x), Bins(y)


@dataclass(frozen=True, eq=False)
class Visits:
    """The visits in the order of their steps, as columns: number of the person, of the place, and step; private."""

    person: IntArray = field(repr=False)
    place: IntArray = field(repr=False)
    step: IntArray = field(repr=False)

    def within(self, window: range) -> Visits:
        """Return the visits in some steps."""
        low, high = np.searchsorted(self.step, [window.start, window.stop])
        return Visits(self.person[low:high], self.place[low:high], self.step[low:high])

    @property
    def most(self) -> int:
        """Return the most places of one person in one step."""
        if not len(self.step):
            return 0
        _, places = np.unique(self.step * (self.person.max() + 1) + self.person, return_counts=True)
        return int(places.max())

    def people(self, places: int) -> IntArray:
        """Return how many people were at each of the places, in any step."""
        visited_once = np.unique(self.person * places + self.place)
        return np.bincount(visited_once % places, minlength=places).astype(np.int64)


def visited(opened: Opened, grid: Grid | None = None) -> Visits:
    """Return the visits to the known places, or to the boxes of a grid; RowFault for rows against a rule."""
    check_types(opened)
    relation = opened.relation
    if grid is None:
        # a name that was perhaps meant to be that of a declared place, also where `where` leaves it out
        value = opened.roles["value0"].sql
        numbered = f'select {value} as text, row_number() over () as "row" from {identifier(WRITTEN)}'
        texts = f'select text::varchar, min("row") from ({numbered}) group by 1 order by 2'
        refuse_lookalikes(relation.rows(texts, "value"), _names(opened), opened.words()["value"], "value")
    places = code_sql(opened) if grid is None else _of_grid(opened, grid)
    relation.rows(
        f"""create or replace temp table {_VISITS} as select unit, place, step, bit_or(why) as why
        from ({visits(opened, places)}) group by unit, place, step"""
    )
    relation.rows(
        f"""create or replace temp table {_PEOPLE} as select unit, bit_or(why) | {name_why(opened)} as why,
        row_number() over (order by unit) - 1 as number from {_VISITS} group by unit"""
    )
    people = relation.columns(f"select unit, why from {_PEOPLE} order by number")
    some = f"select 1 from {identifier(WRITTEN)} limit 1"
    if not (len(people["why"]) or opened.filters or relation.rows(some)):
        raise no_rows()  # that all visits are left out tells where nobody was, and is no fault
    words = {"places": _condition(opened, grid), "somewhere": _somewhere(opened)}
    refuse(opened, bits(people["why"]), None, places, words)
    meant([(str(name), None) for name in people["unit"].tolist()], str(opened.source.unit), "unit")
    table = relation.columns(f"select number, place, step from {_VISITS} join {_PEOPLE} using (unit) order by step")
    relation.check_unchanged()
    return Visits(integers(table["number"]), integers(table["place"]), integers(table["step"]))


def _of_grid(opened: Opened, grid: Grid) -> str:
    """Return the number of a row's box."""
    numbers, missing = list[str](), list[str]()
    for role in ("value0", "value1"):
        name = identifier(role)
        numbers.append(f"({number_of(name, opened.type(role))})")
        missing.append(f"coalesce({name}::varchar, '') = ''")
    x, y = numbers
    cases = [f"when {' or '.join(missing)} then {MISSING}"]
    cases += [f"when not coalesce(isfinite({number}), false) then {NO_COORDINATE}" for number in numbers]
    if grid.in_degrees:
        beyond = zip(numbers, MOST_DEGREES, NO_DEGREES, strict=True)
        cases += [f"when abs({number}) > {most} then {code}" for number, most, code in beyond]
    outside = [f"{n} < {double(e[0])} or {n} > {double(e[-1])}" for n, e in ((x, grid.x), (y, grid.y))]
    cases.append(f"when {' or '.join(outside)} then {UNKNOWN}")
    return f"case {' '.join(cases)} else {_part(y, grid.y)} * {len(grid.x) - 1} + {_part(x, grid.x)} end"


def _part(number: str, edges: Sequence[float]) -> str:
    """Return between which edges a number lies: a guess, and whether it lies below or above that part."""
    count, low, width = len(edges) - 1, edges[0], (edges[-1] - edges[0]) / (len(edges) - 1)
    listed = f"[{', '.join(f'{double(edge)}' for edge in edges)}]"
    guess = f"least(greatest(floor(({number} - {double(low)}) / {double(width)}), 0), {count - 1})::int"
    below, above = f"({number} < {listed}[{guess} + 1])::int", f"({number} >= {listed}[{guess} + 2])::int"
    return f"least({guess} - {below} + {above}, {count - 1})"


def _condition(opened: Opened, grid: Grid | None) -> str:
    """Return the condition that leaves other places out, as SQL says it."""
    values = [opened.roles[f"value{number}"].sql for number in range(len(opened.source.values))]
    if grid is not None:
        for number, value in enumerate(values):
            if opened.type(f"value{number}") == "VARCHAR":
                values[number] = f"cast({value} AS double)"
        ends = zip(values, (grid.x, grid.y), strict=True)
        # all digits: a rounded end would leave out visits that are inside
        return " AND ".join(f"{value} BETWEEN {edges[0]!r} AND {edges[-1]!r}" for value, edges in ends)
    places = _names(opened)
    if len(places) > 12:
        return f"{values[0]} IN (...)"
    return f"{values[0]} IN ({', '.join(map(literal, places))})"


def _somewhere(opened: Opened) -> str:
    """Return the condition that leaves out rows without a place, or without one of two coordinates."""
    values = [opened.words()[f"value{number}"] for number in range(len(opened.source.values))]
    return " AND ".join(f"coalesce(length({value}::varchar), 0) > 0" for value in values)


def _names(opened: Opened) -> Sequence[str]:
    """Return the names of the places."""
    (places,) = opened.source.rules
    assert not isinstance(places, Bins | Classes), "places have names"
    return places
