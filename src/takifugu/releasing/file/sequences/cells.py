"""Tables by cells: by hour, weekday, date, week or month of the calendar, or by a public attribute such as a ward.

Every entry lies in one cell (queries.by). All entries of a unit lie in the cell of its own attribute: the table moves
by what the unit's own answer moves, and a unit is charged for that once. A declared value that no unit has, which is as
public as the values of those that there are, has no cell.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator, Sequence
from dataclasses import replace
from fractions import Fraction
from itertools import pairwise
from operator import attrgetter
from typing import Any

import numpy as np

from takifugu.core.assumptions import Assumption, check, public, reading
from takifugu.core.errors import TakifuguError
from takifugu.core.names import natural, normalised
from takifugu.core.nearest import did_you_mean
from takifugu.core.people import People
from takifugu.data import Slots
from takifugu.data.relation.roster import Roster
from takifugu.data.times.cells import AXES
from takifugu.model import queries
from takifugu.model.queries import Query
from takifugu.releasing.certificates.facts import AS_WRITTEN
from takifugu.releasing.file.keys import names_of
from takifugu.releasing.file.kind import Unit, UnitQuery
from takifugu.releasing.file.problems import broken
from takifugu.releasing.file.sections import numbered
from takifugu.releasing.file.sequences.sections import ItemSpec, SourceSpec
from takifugu.releasing.file.sharing import CHOICES


def attribute_of(item: ItemSpec) -> str | None:
    """Return the attribute of a table's cells, if any: what is no axis of the calendar."""
    return next((name for name in names_of(item.by) if name not in AXES), None)


def used_by(items: Iterable[ItemSpec]) -> tuple[str, ...]:
    """Return the attributes of any table."""
    return tuple(dict.fromkeys(name for item in items if (name := attribute_of(item)) is not None))


def faults_of(roster: Roster | None, items: Sequence[ItemSpec | None]) -> Iterator[TakifuguError]:
    """Yield the faults of tables by cells, and of attributes, which are columns of the roster."""
    attributes = {} if roster is None else roster.attributes
    for name, column in attributes.items():
        yield from broken(
            (name in AXES, "source.roster", f"has a column {name!r}, which would be told from the {name} of the "
             "calendar by nothing", "rename the column, AS in a SELECT"),
            (any(name in names_of(item.by) for _, item in numbered(items)) and any(text is None for text in column),
             "source.roster", f"says nothing of {name!r} for somebody", "fill it, everybody has one value"),
        )  # fmt: skip
    axes = [*attributes, *AXES]
    for number, item in numbered(items):
        place, names, is_public = f"table.{number}", names_of(item.by), attribute_of(item) is not None
        for name in names:
            yield from broken((
                name not in axes, f"{place}.by", f"{name!r} is no public attribute of people{did_you_mean(name, axes)}",
                f"if everybody may know it of each person, declare a roster with their names and a column {name!r}; if "
                'it is private, make it part of the states ("flu, busy"), or publish records, belief.kind = "users"',
            ))  # fmt: skip
        yield from broken(
            (item.query == "linear" and names, f"{place}.by",
             "does not belong to a linear query, whose weights choose the entries",
             "write a sum with codes, or leave by out"),
            (is_public and len(names) > 1, f"{place}.by", "is an attribute of people and something else",
             "publish one table by each, or a file for the people of each value"),
            (is_public and item.per != "pooled", f"{place}.per",
             f"is {item.per!r}, and one person has one value of an attribute", 'write per = "pooled"'),
        )  # fmt: skip


def with_attributes(units: tuple[Unit, ...], roster: Roster | None, items: Iterable[ItemSpec]) -> tuple[Unit, ...]:
    """Return the units with all attributes of tables, by the roster."""
    used = used_by(items)
    if not used or roster is None:
        return units
    columns = [roster.attributes[name].tolist() for name in used]
    names: list[str | None] = [normalised(name) for name in roster.names.tolist()]
    values = dict(zip(names, zip(*columns, strict=True), strict=True))
    return tuple(replace(unit, attributes=dict(zip(used, values[unit.name], strict=True))) for unit in units)


def values_of_attribute(roster: Roster | None, name: str) -> list[str]:
    """Return all values of an attribute in their order."""
    assert roster is not None, "tables by attributes have a roster"
    return sorted({str(text) for text in roster.attributes[name].tolist()}, key=natural)


def by_attribute(query: Query, name: str, values: Sequence[Hashable], units: Sequence[Unit]) -> UnitQuery:
    """Return a pooled query per value of an attribute, in which each unit is charged for its own answer."""
    of_unit = {unit.name: unit.attributes.get(name, str(values[0])) for unit in units}
    ordered, cells, first = list[Unit](), dict[str, range](), 0
    for value in map(str, values):
        members = [unit for unit in units if of_unit[unit.name] == value]
        size = sum(map(attrgetter("size"), members))
        if members:
            cells[value], first = range(first, first + size), first + size
        ordered += members
    by_value = queries.GroupBy(query, cells, by=name)
    if len(units) == 1:  # the table is its own
        return UnitQuery(by_value, tuple(ordered))
    shares = dict[str, tuple[Query, Fraction]]()
    for unit in units:
        shares[unit.name or ""] = query, Fraction(1)
        # its share of a mean over a ward is its sum, divided by the ward's entries
        if query.is_mean:  # its noise is as much wider as it is divided by
            shares[unit.name or ""] = query.undivided(), Fraction(len(cells[of_unit[unit.name]]))
    return UnitQuery(by_value, tuple(ordered), shares)


def cells_of_nobody(name: str, values: Sequence[str], query: Query, people: People) -> tuple[Assumption, ...]:
    """Return a certificate's words on values of nobody."""
    empty = [*values]
    if isinstance(query, queries.GroupBy):
        cells = dict(query.cells)
        empty = [value for value in empty if value not in cells]
    if not empty:
        return ()
    return (public(f"No {people.one} has the {name} {' or '.join(map(repr, empty))}, so there is no such cell."),)


def counted_by(items: Iterable[ItemSpec]) -> tuple[str, ...]:
    """Return the axes of all tables, for one scan."""
    axes = set[str]()
    for item in items:
        axes.update(names_of(item.by))
    return tuple(value for value in AXES if value in axes)


def by_cells(query: Query, slots: Slots) -> queries.GroupBy:
    """Return the query by cell, in the calendar's order."""
    numbers, cell_of_step = slots.cells
    every = len(cell_of_step)
    for seconds in (86_400, 604_800):  # after which the cells of a window may repeat
        steps = slots.calendar.steps_in(seconds)
        is_period = steps > 0 and len(cell_of_step) % steps == 0 and slots.calendar.step * steps == seconds * 10**6
        if is_period and (cell_of_step.reshape(-1, steps) == cell_of_step[:steps]).all():
            every = steps
            break
    order, ends = np.argsort(cell_of_step[:every], kind="stable"), np.cumsum(np.bincount(cell_of_step[:every])).tolist()
    cells = list[tuple[str, list[int]]]()
    for number, (first, end) in zip(numbers.tolist(), pairwise([0, *ends]), strict=True):
        cells.append((slots.label(number), order[first:end].tolist()))
    by = " and ".join(slots.axes)
    if len(slots.axes) == 1:
        return queries.GroupBy(query, cells, by, every)
    return queries.GroupBy(query, cells, by, every, axes=slots.axes, parts=list(map(slots.called, numbers.tolist())))


def is_too_large(item: Any, slots: Slots, states: int) -> bool:
    """Return whether a table has too many cells for memory."""
    from takifugu.model.queries.tables.by import MOST_NUMBERS

    cells, width = len(slots.cells[0]), 1
    if item.query == "histogram":
        width = states if item.states is None else len(item.states)
    if item.query in CHOICES:
        width = states + 1
    if item.query == "count-above":
        width = len(item.thresholds)
    return cells * states * cells * width > MOST_NUMBERS


def clock_of(source: SourceSpec) -> str:
    """Return whose clock tells the hours of a table: times without a zone are those of clocks as they were written."""
    calendar = source.calendar
    return AS_WRITTEN if calendar is None or calendar.zone is None else calendar.zone.name


def words_of_cells(slots: Slots) -> Assumption:
    """Return the certificate's words on the cells of a table."""
    cells = " and ".join(f"{axis}s" for axis in slots.axes)
    zone = slots.calendar.zone
    if zone is None:
        return reading(f"The {cells} are those of clocks {AS_WRITTEN}: no zone is declared, and its times name none.")
    twice = "An hour that they skip has no step, and one that they show twice has the steps of both."
    return reading(f"The {cells} are those of clocks in {zone.name}. {twice}")


def unequal_cells(slots: Slots) -> Iterator[Assumption]:
    """Yield that sums of some cells are of more steps: of a weekday that came five times, or an hour shown twice."""
    numbers, cell_of_step = slots.cells
    steps = np.bincount(cell_of_step)
    most, least = int(steps.argmax()), int(steps.argmin())
    if steps[most] != steps[least]:
        longer, shorter = (slots.label(int(numbers[cell])) for cell in (most, least))
        yield check(
            f"The window has {steps[most]:,} steps in {longer!r} and {steps[least]:,} in {shorter!r}: a sum is larger "
            "where there are more of them."
        )
