"""Whole columns of numbers: they are bounded, put on a grid and added up where they are, in one scan."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING

from takifugu.analysis.questions.real_columns import ColumnTotals
from takifugu.core.errors import TakifuguError
from takifugu.data import Bounded, Table, totals
from takifugu.numbers.rationals import as_fraction
from takifugu.releasing.file.attributes.kind import Attributes
from takifugu.releasing.file.attributes.sections import AttributeReleaseSpec
from takifugu.releasing.file.kind import ReleaseFile, Unit
from takifugu.releasing.file.problems import Where, blamed, fault, stranger
from takifugu.releasing.file.reading import wrong

if TYPE_CHECKING:
    from takifugu.model.beliefs.records.declared_density import DensitySection
    from takifugu.model.beliefs.records.declared_normal import NormalSection

    Section = NormalSection | DensitySection


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
