"""Tables by cells: by hour, weekday, date, week or month of the calendar, or by a public attribute such as a ward.

Every entry lies in one cell (queries.by). All entries of a unit lie in the cell of its own attribute: the table moves
by what the unit's own answer moves, and a unit is charged for that once. A declared value that no unit has, which is as
public as the values of those that there are, has no cell.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from itertools import pairwise
from operator import attrgetter
from typing import Any

import numpy as np

from takifugu.core.errors import DataError, TakifuguError
from takifugu.core.lists import among, without
from takifugu.core.nearest import did_you_mean, first_of
from takifugu.data import Layout, Slots, Table, refuse_lookalikes, text_of, totals
from takifugu.data.rows.kinds_of_order import WITH_OFFSETS, order_kind
from takifugu.data.times.cells import AXES
from takifugu.data.times.time_format import EPOCHS
from takifugu.model import queries
from takifugu.model.queries import Query
from takifugu.model.queries.forms import Averaging, ByCells
from takifugu.releasing.certificates.facts import AS_WRITTEN, UTC
from takifugu.releasing.file.guessing.column_words import people_of
from takifugu.releasing.file.keys import columns_of_order, names_of
from takifugu.releasing.file.kind import Unit, UnitQuery
from takifugu.releasing.file.problems import broken
from takifugu.releasing.file.reading import placed_at
from takifugu.releasing.file.sequences.sections import ItemSpec
from takifugu.releasing.file.sequences.source import SourceSpec
from takifugu.releasing.file.sharing import CHOICES
from takifugu.releasing.file.tables import numbered


def attribute_of(item: ItemSpec, source: SourceSpec) -> str | None:
    """Return the attribute of a table's cells, if any."""
    return next(iter(among(names_of(item.by), source.attributes)), None)


def used_by(source: SourceSpec, items: Iterable[ItemSpec]) -> tuple[str, ...]:
    """Return the attributes of any table."""
    used = {attribute_of(item, source) for item in items}
    return tuple(among(source.attributes, used))


def faults_of(source: SourceSpec, items: Sequence[ItemSpec | None]) -> Iterator[TakifuguError]:
    """Yield the faults of attributes and of tables by them."""
    for name, values in source.attributes.items():
        key, texts = ("source", "attributes", name), [*map(text_of, values)]
        is_odd = not texts or None in texts or len(set(texts)) < len(texts)
        yield from broken(
            (name in AXES, key, f"would be told from the {name} of the calendar by nothing", "rename the column"),
            (is_odd, key, f"has the values {list(map(str, values))}", "name every value that it can have, once"),
        )
    fix = 'write unit = "<the column that says whose row it is>"'
    what = "is missing, and attributes are those of people"
    yield from broken((source.attributes and source.unit is None, "source.unit", what, fix))
    axes = [*source.attributes, *AXES]
    for number, item in numbered(items):
        place, names, is_public = f"table.{number}", names_of(item.by), attribute_of(item, source) is not None
        for name in names:
            yield from broken((
                name not in axes, f"{place}.by", f"{name!r} is no public attribute of people{did_you_mean(name, axes)}",
                f'if everybody may know it of each person, write attributes = {{ {name} = ["...", "..."] }} under '
                '[source]; if it is private, make it part of the states ("flu, busy"), or publish records, '
                'belief.kind = "users"',
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


def with_attributes(
    units: tuple[Unit, ...], table: Table, source: SourceSpec, items: Iterable[ItemSpec]
) -> tuple[Unit, ...]:
    """Return the units with all attributes of tables, in one scan.

    Raises DataError for a unit with two values or none, and for an undeclared value; no value is told.
    """
    used = used_by(source, items)
    if not used or source.unit is None:
        return units
    alphabets = list[dict[str, str]]()
    for name in used:
        alphabets.append({str(text_of(value)): str(value) for value in source.attributes[name]})
    values_of: dict[str | None, tuple[str, ...]] = {}
    unit_texts = {unit.written for unit in units}
    for group in totals(table, [], by=[source.unit, *used], null_keys="keep"):
        unit, *texts = group.key
        if unit not in unit_texts:
            continue  # its rows are left out
        for name, text, values in zip(used, texts, alphabets, strict=True):
            if text is None or _spelt(text, values) not in values:
                problem = "missing values" if text is None else "a value that is not declared"
                fix = f"its declared values are {first_of(values.values())}"
                with placed_at("attributes", name):
                    refuse_lookalikes(table, name, values, "attributes")
                    raise DataError(f"column {name!r} has {problem}", fix=fix)
        attributes = tuple(values[_spelt(str(text), values)] for text, values in zip(texts, alphabets, strict=True))
        if values_of.setdefault(unit, attributes) != attributes:
            name = next(n for n, a, b in zip(used, values_of[unit], attributes, strict=True) if a != b)
            with placed_at("attributes", name):
                raise DataError(f"column {name!r} has two values for one person", fix="an attribute does not change")
    return tuple(replace(unit, attributes=dict(zip(used, values_of[unit.written], strict=True))) for unit in units)


def _spelt(text: str, values: Mapping[str, str]) -> str:
    """Return a text as declared, "True" of some engines as "true"."""
    return text.lower() if text in ("True", "False") and text not in values else text


def by_attribute(query: Query, name: str, values: Sequence[Hashable], units: Sequence[Unit]) -> UnitQuery:
    """Return a pooled query per value of an attribute.

    A unit is charged for its own answer: its share of a mean over a ward is its sum, divided by the ward's entries.
    """
    of_unit = {unit.name: unit.attributes.get(name, str(values[0])) for unit in units}
    ordered, cells, first = list[Unit](), dict[str, range](), 0
    for value in map(str, values):
        members = [unit for unit in units if of_unit[unit.name] == value]
        size = sum(map(attrgetter("size"), members))
        if members:
            cells[value], first = range(first, first + size), first + size
        ordered += members
    by_value = queries.By(query, cells, by=name)
    if len(units) == 1:  # the table is its own
        return UnitQuery(by_value, tuple(ordered))
    shares = dict[str, tuple[Query, Fraction]]()
    for unit in units:
        shares[unit.name or ""] = query, Fraction(1)
        if isinstance(query, Averaging):  # its noise is as much wider as it is divided by
            shares[unit.name or ""] = query.undivided(), Fraction(len(cells[of_unit[unit.name]]))
    return UnitQuery(by_value, tuple(ordered), shares)


def cells_of_nobody(name: str, source: SourceSpec, query: Query) -> tuple[str, ...]:
    """Return a certificate's words on values of nobody."""
    empty = list(map(str, source.attributes[name]))
    if isinstance(query, ByCells):
        cells = dict(query.cells)
        empty = without(empty, cells)
    if not empty:
        return ()
    nobody = f"no {people_of(source.unit).one} has the {name} {' or '.join(map(repr, empty))}"
    return (f"{nobody}, so that there is no such cell",)


def counted_by(items: Iterable[ItemSpec]) -> tuple[str, ...]:
    """Return the axes of all tables, for one scan."""
    axes = set[str]()
    for item in items:
        axes.update(names_of(item.by))
    return tuple(among(AXES, axes))


def by_cells(query: Query, slots: Slots) -> queries.By:
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
        return queries.By(query, cells, by, every)
    return queries.By(query, cells, by, every, axes=slots.axes, parts=list(map(slots.called, numbers.tolist())))


def is_too_large(item: Any, slots: Slots, states: int) -> bool:
    """Return whether a table has too many cells for memory."""
    from takifugu.model.queries.cells import MOST_NUMBERS

    cells, width = len(slots.cells[0]), 1
    if item.query == "histogram":
        width = states if item.states is None else len(item.states)
    if item.query in CHOICES:
        width = states + 1
    if item.query == "count-above":
        width = len(item.thresholds)
    return cells * states * cells * width > MOST_NUMBERS


def clock_of(source: SourceSpec, opened: Table | None) -> str:
    """Return whose clock tells the hours of a table, "" where only data that are not there say it.

    Without a zone these are UTC for moments and numbers since 1970, and clocks as they were written for all else.
    """
    calendar = source.calendar
    if calendar is not None and calendar.zone is not None:
        return calendar.zone.name
    if source.order_format in EPOCHS:
        return UTC
    if opened is None or source.order_format is not None or source.rows == "wide":
        return "" if opened is None else AS_WRITTEN
    order, time_of_day = columns_of_order(source.order)
    try:
        kind = order_kind(opened, Layout(source.value, order=order, time_of_day=time_of_day))
    except TakifuguError:  # which reading the data tells, with its place
        return ""
    return UTC if kind == WITH_OFFSETS else AS_WRITTEN


def words_of_cells(slots: Slots, clock: str) -> str:
    """Return the certificate's words on the cells of a table."""
    cells = " and ".join(f"{axis}s" for axis in slots.axes)
    zone = slots.calendar.zone
    if zone is None:
        written = f"those of clocks {AS_WRITTEN}: no zone is declared, and its times name none"
        return f"the {cells} are {written if clock == AS_WRITTEN else 'in UTC'}"
    twice = "an hour that they skip has no step, and one that they show twice has the steps of both"
    return f"the {cells} are those of clocks in {zone.name}: {twice}"
