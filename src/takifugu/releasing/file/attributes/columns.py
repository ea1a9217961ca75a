"""Whole columns: of finitely many values, counted by value, or of numbers, added up, where they are, in one scan."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Protocol, runtime_checkable

from takifugu.analysis.questions.real_columns import ColumnTotals
from takifugu.core.cache import cached
from takifugu.core.errors import TakifuguError
from takifugu.core.lists import places_of
from takifugu.core.sections import written
from takifugu.data import UNKNOWN, UNOBSERVED, Bounded, Classes, Table, tally, totals
from takifugu.model.beliefs.records.declared_records import DeclaredClasses
from takifugu.model.beliefs.sections import FILL_THEM
from takifugu.model.queries import State
from takifugu.model.queries.sections import spelled, values_by_column
from takifugu.numbers.rationals import as_fraction
from takifugu.releasing.file.attributes.kind import AttributeReleaseSpec, Attributes, Known
from takifugu.releasing.file.kind import ReleaseFile, Unit
from takifugu.releasing.file.problems import Where, blamed, fault, stranger
from takifugu.releasing.file.public import Public
from takifugu.releasing.file.reading import no_lookalikes, unknown_value, wrong
from takifugu.releasing.file.tables import Table as Item


class Finite(Attributes):
    """A kind whose columns hold values that the belief lists; a belief may put the numbers of some into `classes`."""

    def units(self, file: ReleaseFile) -> tuple[Unit, ...]:
        """Return the records as columns, empty classes included."""
        belief = file.spec.belief.meant
        classes = belief.classes if written(belief, ("classes",)) else {}
        states = values_by_column(file.belief)
        read = {**states, **{name: spelled(of_numbers.called) for name, of_numbers in classes.items()}}
        records = list[tuple[State, ...]]()
        for row, times in _counted(file.table, read, classes, belief.records):
            records += [row] * times
        return (Unit(None, dict(zip(read, map(list, zip(*records, strict=True)), strict=True))),)


def _counted(
    table: Table, states: Known, classes: Mapping[str, DeclaredClasses], records: int
) -> Iterator[tuple[tuple[State, ...], int]]:
    """Yield each row of values with its number of records.

    Sorting hides the order of the data. Raises DataError for missing or undeclared values, and for another number of
    records than declared, without telling it.
    """
    columns = dict[str, Mapping[str, int] | Classes]()
    for name, values in states.items():
        if name in classes:
            columns[name] = classes[name].classes([*values])
        else:
            columns[name] = places_of(values)
    counts = tally(table, columns)
    if sum(counts.values()) != records:
        raise wrong("file", "the data have another number of rows than belief.records says", fix="check both")
    for place, name in enumerate(columns):
        codes = {row[place] for row in counts}
        if UNOBSERVED in codes:
            fix = FILL_THEM
            if name in classes:
                fix = f'fill them, or write missing = "..." under [belief.classes.{name}]'
            raise wrong("file", f"column {name!r} has missing values", fix=fix)
        if UNKNOWN in codes:
            if name not in classes:
                no_lookalikes(table, name, states[name])
            raise unknown_value(name, states[name])
    for row in sorted(counts):
        cells = [list(values.values())[code] for code, values in zip(row, states.values(), strict=True)]
        yield tuple(cells), counts[row]


if TYPE_CHECKING:
    from takifugu.model.beliefs.records.declared_density import DensitySection
    from takifugu.model.beliefs.records.declared_normal import NormalSection

    Section = NormalSection | DensitySection


@runtime_checkable
class Remarking(Protocol):
    """A section of a belief that says of its public files how well they fit it."""

    def remarks(self, public: Public) -> Iterator[str]: ...


class Numbers(Attributes):
    """A kind whose columns hold numbers: its belief says their `ranges`, `resolution`, and what is `missing`."""

    def shape_faults(self, spec: AttributeReleaseSpec, folder: Path, data: object) -> Iterator[TakifuguError]:
        belief = spec.belief.meant
        for key, by_column in (("ranges", belief.ranges), ("missing", belief.missing)):
            for name in by_column or {}:
                if name not in belief.columns:
                    yield stranger(("belief", key, name), name, "column of the belief", belief.columns)
        for name in belief.columns:
            if name not in belief.ranges:
                fix = f"write the least and the largest number that it can hold, {name} = [0, 200]"
                yield fault(("belief", "ranges", name), "is missing", fix)
                continue
            try:
                _rule(belief, name)
            except TakifuguError as error:
                where: Where = ("ranges", name)
                if error.where == ("grid",):
                    where = ("resolution",)
                elif error.where == ("missing",):
                    where = ("missing", name)
                yield blamed(error, "belief", *where)

    def units(self, file: ReleaseFile) -> tuple[Unit, ...]:
        """Return the total of each column."""
        belief: Section = file.spec.belief.meant
        return (Unit(None, ColumnTotals(belief.columns, _totals(file.table, belief))),)

    def remarks(self, file: ReleaseFile, item: Item, mechanism: str, noise: object = None) -> Iterator[str]:
        """Yield how normal the numbers of a public file look, if any are fitted."""
        section, public = file.spec.belief.meant, Public(file.folder, file.source)
        if isinstance(section, Remarking):
            yield from cached(file.belief, "remarks", lambda: tuple(section.remarks(public)))  # the same for all tables


class OneNumber(Numbers):
    """A kind whose belief states the density of one column's mean or sum."""

    def units(self, file: ReleaseFile) -> tuple[Unit, ...]:
        """Return the number that is published, as it is read."""
        belief: DensitySection = file.spec.belief.meant
        (total,) = _totals(file.table, belief)
        return (Unit(None, total / belief.parts),)


def _totals(table: Table, belief: Section) -> tuple[Fraction, ...]:
    """Return the exact total of each column.

    Raises DataError for another number of records than declared, without telling it.
    """
    (group,) = totals(table, [_rule(belief, name) for name in belief.columns])
    if group.rows != belief.records:
        raise wrong("file", "the data have another number of rows than belief.records says", fix="check both")
    step = as_fraction(belief.resolution, "the resolution")
    return tuple(int(total) * step for total in group.sums)


def _rule(belief: Section, name: str) -> Bounded:
    low, high = belief.ranges[name]
    return Bounded(name, low, high, belief.resolution, (belief.missing or {}).get(name), belief.outside == "clip")
