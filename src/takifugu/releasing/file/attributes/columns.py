"""Whole columns: of finitely many values, counted by value, or of numbers, added up, where they are, in one scan."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Mapping
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, runtime_checkable

import numpy as np

from takifugu.analysis.questions.real_columns import ColumnTotals
from takifugu.core.cache import cached
from takifugu.core.errors import TakifuguError
from takifugu.core.plain import toml_of
from takifugu.core.sections import written
from takifugu.data import Bounded
from takifugu.data.relation.source import Table
from takifugu.data.values.bins import Known
from takifugu.model.beliefs.records.declared_records import DeclaredClasses
from takifugu.model.queries import State
from takifugu.model.queries.sections import spelled, values_by_column
from takifugu.numbers.rationals import as_fraction, as_positive
from takifugu.releasing.file.attributes.kind import AttributeReleaseSpec, Attributes
from takifugu.releasing.file.kind import ReleaseFile, Unit
from takifugu.releasing.file.problems import Where, blamed, faults_at, stranger
from takifugu.releasing.file.public import Public
from takifugu.releasing.file.reading import telling_all, wrong
from takifugu.releasing.file.sections import Table as Item


def _classes(spec: Any) -> Mapping[str, DeclaredClasses]:
    """Return the classes of numbers by column."""
    belief = spec.belief.meant
    return belief.classes if written(belief, ("classes",)) else {}


def _states(spec: Any, belief: object) -> dict[str, Mapping[str, Hashable]]:
    """Return the values of each column by their texts, also classes that nobody is believed to be in."""
    classes = _classes(spec)
    return {
        name: spelled(classes[name].called) if name in classes else values
        for name, values in values_by_column(belief).items()
    }


def _known(spec: Any, belief: object) -> list[Known]:
    classes = _classes(spec)
    return [
        classes[name].classes([*values]) if name in classes else [*values]
        for name, values in _states(spec, belief).items()
    ]


class Finite(Attributes):
    """A kind whose columns hold values that the belief lists; a belief may put the numbers of some into `classes`."""

    facts = replace(Attributes.facts, known=_known)

    def units(self, file: ReleaseFile) -> tuple[Unit, ...]:
        """Return the records as columns, in the order of their values, which hides that of the data."""
        states = _states(file.spec, file.belief)
        missing = {
            name: f'fill them, or write missing = "..." under [belief.classes.{name}]' for name in _classes(file.spec)
        }
        with telling_all(file.table, {"no value": missing}):
            groups = file.table.answers()
        _check_count(int(groups.rows.sum()), file.spec.belief.meant.records)
        columns = dict[str, list[State]]()
        for name, codes in zip(states, groups.codes.T, strict=True):
            of_rows = np.array([*states[name].values()], dtype=object)[np.repeat(codes, groups.rows)]
            columns[name] = of_rows.tolist()
        return (Unit(None, columns),)


def _check_count(rows: int, records: int) -> None:
    """Raise DataError for another number of records than declared, without telling it."""
    if rows != records:
        raise wrong("file", "the data have another number of rows than belief.records says", fix="check both")


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
        wrong_steps = [*faults_at(("belief", "resolution"), lambda: as_positive(belief.resolution, "the resolution"))]
        yield from wrong_steps
        for name in belief.columns if not wrong_steps else ():
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
    """Return the exact total of each column; DataError for rows against a rule."""
    rules = [_rule(belief, name) for name in belief.columns]
    what = "fill what is missing or not finite, or write what that counts as"
    missing = {one.column: f"missing = {{ {toml_of(one.column)} = {one.middle:.12g} }} under [belief]" for one in rules}
    fixes = {"no value": {column: f"{what}: {words}" for column, words in missing.items()}}
    with telling_all(table, fixes):
        groups = table.totals(rules)
    _check_count(int(groups.rows.sum()), belief.records)
    step = as_fraction(belief.resolution, "the resolution")
    return tuple(total * step for total in groups.sums[0].tolist())


def _rule(belief: Section, name: str) -> Bounded:
    low, high = belief.ends(name)
    return Bounded(name, low, high, belief.resolution, (belief.missing or {}).get(name))
