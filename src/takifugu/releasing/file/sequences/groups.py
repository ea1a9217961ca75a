"""Tables by a public attribute of units, such as the ward of a patient: one cell for each value that a unit has.

Every entry of a unit lies in the cell of the unit's own value, so that all entries of a table have one cell each
(queries.by): the table moves by what the unit's own answer moves, and a unit is charged for that once. A declared value
that no unit has, which is as public as the values of those that there are, has no cell.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from fractions import Fraction

from takifugu.core.errors import DataError, TakifuguError, did_you_mean, first_of
from takifugu.data import Table, refuse_lookalikes, text_of, totals
from takifugu.data.times.cells import AXES
from takifugu.model import queries
from takifugu.model.queries import Query
from takifugu.model.queries.forms import Averaging, ByCells
from takifugu.releasing.file.guessing.column_words import people_of
from takifugu.releasing.file.kind import Unit, UnitQuery
from takifugu.releasing.file.problems import blamed, fault
from takifugu.releasing.file.sequences.build import named_columns
from takifugu.releasing.file.sequences.sections import ItemSpec, SourceSpec, named


def attribute_of(item: ItemSpec, source: SourceSpec) -> str | None:
    """Return the attribute of a table's cells, if any."""
    return next((name for name in named(item) if name in source.attributes), None)


def used_by(source: SourceSpec, items: Iterable[ItemSpec]) -> tuple[str, ...]:
    """Return the attributes of any table."""
    used = {attribute_of(item, source) for item in items}
    return tuple(name for name in source.attributes if name in used)


def faults_of(source: SourceSpec, items: Sequence[ItemSpec | None]) -> Iterator[TakifuguError]:
    """Yield the faults of attributes and of tables by them."""
    roles = {column: key[0] for key, column in named_columns(source).items()}
    for name, values in source.attributes.items():
        location, texts = ("source", "attributes", name), [text_of(value) for value in values]
        if name in roles:
            yield fault(location, f"is the column of source.{roles[name]}", "name a column that says something else")
        if name in AXES:
            problem = f"would be told from the {name} of the calendar by nothing"
            yield fault(location, problem, "rename the column")
        if not texts or None in texts or len(set(texts)) < len(texts):
            yield fault(location, f"has the values {list(map(str, values))}", "name every value that it can have, once")
    if source.attributes and source.unit is None:
        problem = "is missing, and attributes are those of people"
        yield fault(("source", "unit"), problem, 'write unit = "<the column that says whose row it is>"')
    for number, item in enumerate(items):
        if item is not None:
            yield from _item_faults(source, item, number)


def _item_faults(source: SourceSpec, item: ItemSpec, number: int) -> Iterator[TakifuguError]:
    location = ("release", number)
    for name in named(item):
        if name not in source.attributes and name not in AXES:
            axes = [*source.attributes, *AXES]
            yield fault(
                (*location, "by"), f"{name!r} is no public attribute of people{did_you_mean(name, axes)}",
                f'if everybody may know it of each person, write attributes = {{ {name} = ["...", "..."] }} under '
                '[source]; if it is private, make it part of the states ("flu, busy"), or publish records, '
                'belief.kind = "users"',
            )  # fmt: skip
    if attribute_of(item, source) is None:
        return
    if len(named(item)) > 1:
        problem = "is an attribute of people and something else"
        yield fault((*location, "by"), problem, "publish one table by each, or a file for the people of each value")
    if item.per != "pooled":
        problem = f"is {item.per!r}, and one person has one value of an attribute"
        yield fault((*location, "per"), problem, 'write per = "pooled"')
    if item.query == "linear":
        problem = "does not belong to a linear query, whose weights choose the entries"
        yield fault((*location, "by"), problem, "write a sum with codes, or leave by out")


def with_attributes(
    units: tuple[Unit, ...], table: Table, source: SourceSpec, items: Iterable[ItemSpec]
) -> tuple[Unit, ...]:
    """Return the units with all attributes of tables, in one scan.

    Raises DataError for a unit with two values or none, and for an undeclared value; no value is told.
    """
    used = used_by(source, items)
    if not used or source.unit is None:
        return units
    alphabets = [{str(text_of(value)): str(value) for value in source.attributes[name]} for name in used]
    values_of: dict[str | None, tuple[str, ...]] = {}
    unit_texts = {unit.written for unit in units}
    for group in totals(table, [], by=[source.unit, *used], null_keys="keep"):
        unit, *texts = group.key
        if unit not in unit_texts:
            continue  # its rows are left out
        for name, text, values in zip(used, texts, alphabets, strict=True):
            if text is None or _spelt(text, values) not in values:
                _check_lookalikes(table, name, values)
                problem = f"column {name!r} has missing values" if text is None else (
                    f"column {name!r} has a value that is not declared")  # fmt: skip
                raise _wrong(name, problem, f"its declared values are {first_of(values.values())}")
        attributes = tuple(values[_spelt(str(text), values)] for text, values in zip(texts, alphabets, strict=True))
        if values_of.setdefault(unit, attributes) != attributes:
            name = next(n for n, a, b in zip(used, values_of[unit], attributes, strict=True) if a != b)
            raise _wrong(name, f"column {name!r} has two values for one person", "an attribute does not change")
    return tuple(replace(unit, attributes=dict(zip(used, values_of[unit.written], strict=True))) for unit in units)


def _spelt(text: str, values: Mapping[str, str]) -> str:
    """Return a text as declared, "True" of some engines as "true"."""
    return text.lower() if text in ("True", "False") and text not in values else text


def _check_lookalikes(table: Table, name: str, declared: Iterable[str]) -> None:
    try:
        refuse_lookalikes(table, name, declared, "attributes")
    except DataError as error:
        error.where = ("source", "attributes", name)
        raise error.placed() from None


def _wrong(name: str, what: str, fix: str) -> DataError:
    return DataError(what, fix=fix).at("source", "attributes", name).placed()


def by_attribute(query: Query, name: str, values: Sequence[Hashable], units: Sequence[Unit]) -> UnitQuery:
    """Return a pooled query per value of an attribute.

    A unit is charged for its own answer: its share of a mean over a ward is its sum, divided by the ward's entries.
    """
    of_unit = {unit.name: unit.attributes.get(name, str(values[0])) for unit in units}
    ordered, cells, first = list[Unit](), dict[str, range](), 0
    for value in map(str, values):
        members = [unit for unit in units if of_unit[unit.name] == value]
        size = sum(unit.size for unit in members)
        if members:
            cells[value], first = range(first, first + size), first + size
        ordered += members
    several = units if len(units) > 1 else ()  # the table is one unit's own
    shares = {unit.name or "": _share(query, len(cells[of_unit[unit.name]])) for unit in several}
    return UnitQuery(queries.By(query, cells, by=name), tuple(ordered), shares)


def _share(query: Query, entries: int) -> tuple[Query, Fraction]:
    """Return a unit's query, with its factor of the table's noise."""
    if isinstance(query, Averaging):
        return query.undivided(), Fraction(entries)
    return query, Fraction(1)


def cells_of_nobody(name: str, source: SourceSpec, query: Query) -> tuple[str, ...]:
    """Return a certificate's words on values of nobody."""
    cells = {label for label, _ in query.cells} if isinstance(query, ByCells) else set()
    empty = [repr(str(value)) for value in source.attributes[name] if str(value) not in cells]
    nobody = f"no {people_of(source.unit).one} has the {name} {' or '.join(empty)}"
    return (f"{nobody}, so that there is no such cell",) if empty else ()


def columns_of(source: SourceSpec, table: Table) -> Iterator[TakifuguError]:
    """Yield the faults of attributes without a column in the source."""
    for name in source.attributes:
        try:
            table.require([name], [name, *filter(None, (source.unit, source.value))])
        except TakifuguError as error:
            yield blamed(error, "source", "attributes", name)
