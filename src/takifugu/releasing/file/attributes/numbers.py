"""Whole columns of numbers: they are bounded, put on a grid and added up where they are, in one scan."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from takifugu.analysis.questions.real_columns import ColumnTotals
from takifugu.core.errors import TakifuguError, nearest
from takifugu.data import Bounded, totals
from takifugu.model.beliefs.records.declared_normal import NormalSection
from takifugu.numbers.rationals import as_fraction
from takifugu.releasing.file.attributes.kind import Attributes
from takifugu.releasing.file.attributes.sections import AttributeReleaseSpec
from takifugu.releasing.file.kind import ReleaseFile, Unit
from takifugu.releasing.file.problems import blamed, fault
from takifugu.releasing.file.reading import wrong


class Numbers(Attributes):
    """A kind whose columns hold numbers: its belief says their `ranges`, `resolution`, and what is `missing`."""

    def shape_faults(self, spec: AttributeReleaseSpec, folder: Path, data: object) -> Iterator[TakifuguError]:
        given = spec.belief
        for key, by_column in (("ranges", given.ranges), ("missing", given.missing)):
            for name in by_column or {}:
                if name not in given.columns:
                    fix = f"write {nearest(name, given.columns)}"
                    yield fault(("belief", key, name), "is no column of the belief", fix)
        for name in given.columns:
            if name not in given.ranges:
                fix = f"write the least and the largest number that it can hold, {name} = [0, 200]"
                yield fault(("belief", "ranges", name), "is missing", fix)
                continue
            try:
                _rule(given, name)
            except TakifuguError as error:
                yield blamed(error, "belief", *_key_of(error, given, name))

    def units(self, file: ReleaseFile) -> tuple[Unit, ...]:
        """Return the total of each column."""
        given: NormalSection = file.spec.belief.meant
        (group,) = totals(file.table, [_rule(given, name) for name in given.columns])
        if group.rows != given.records:
            raise wrong("file", "the data have another number of rows than belief.records says", fix="check both")
        step = as_fraction(given.resolution, "the resolution")
        return (Unit(None, ColumnTotals(given.columns, tuple(int(total) * step for total in group.sums))),)


def _rule(given: NormalSection, name: str) -> Bounded:
    low, high = given.ranges[name]
    return Bounded(name, low, high, given.resolution, (given.missing or {}).get(name), given.outside == "clip")


def _key_of(error: TakifuguError, given: NormalSection, name: str) -> tuple[str, ...]:
    """Return the key to blame for a column beyond its declaration."""
    if error.where == ("grid",):
        return ("resolution",)
    return ("missing" if error.where == ("missing",) else "ranges", name)

