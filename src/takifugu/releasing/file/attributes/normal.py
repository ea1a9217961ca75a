"""Jointly normal columns: their numbers are bounded, put on a grid and added up where they are, in one scan."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from takifugu.analysis.questions.real_columns import ColumnTotals
from takifugu.core.errors import TakifuguError
from takifugu.data import Bounded, Table, totals
from takifugu.model.beliefs.records.normal import MultivariateNormal
from takifugu.numbers.rationals import as_fraction, to_text
from takifugu.releasing.file.attributes.beliefs import NormalSpec
from takifugu.releasing.file.attributes.kind import Attributes
from takifugu.releasing.file.kind import ReleaseFile, Unit
from takifugu.releasing.file.problems import blamed, fault
from takifugu.releasing.file.records.reading import texts, wrong
from takifugu.releasing.file.same_data import FIT_ELSEWHERE, IS_PRIVATE, is_one_of, same_rows
from takifugu.releasing.file.source import open_public, private_files


class _Normal(Attributes):
    names, hides = ("normal",), ("property", "record", "parameter")

    def shape_faults(self, spec: Any, folder: Path, data: Any) -> Iterator[TakifuguError]:
        given = spec.belief
        declared = [key for key in ("mean", "covariance") if getattr(given, key) is not None]
        if given.fit is not None:
            for key in declared:
                yield fault(("belief", key), "is given beside fit", "write only one of them")
            if not given.fit.private and is_one_of(folder / given.fit.file, private_files(spec.source, folder, data)):
                yield fault(("belief", "fit", "file"), IS_PRIVATE, FIT_ELSEWHERE)
        elif len(declared) < 2:
            missing = "covariance" if declared == ["mean"] else "mean"
            yield fault(("belief", missing), "is missing", "write mean and covariance, or a [belief.fit]")
        else:
            try:
                MultivariateNormal(given.mean, given.covariance, given.columns, given.records)
            except TakifuguError as error:
                yield blamed(error, "belief", *_key_in(error))
        for key in ("ranges", "missing"):
            for name in getattr(given, key) or {}:
                if name not in given.columns:
                    yield fault(("belief", key, name), "is no column of the belief", f"write one of {[*given.columns]}")
        for name in given.columns:
            if name not in given.ranges:
                fix = f"write the least and the largest number that it can hold, {name} = [0, 200]"
                yield fault(("belief", "ranges", name), "is missing", fix)
                continue
            try:
                _rule(given, name)
            except TakifuguError as error:
                yield blamed(error, "belief", *_key_of(error, given, name))

    def belief(self, spec: Any, folder: Path) -> MultivariateNormal:
        given: NormalSpec = spec.belief
        read: dict[str, Any] = {"ranges": given.ranges, "resolution": given.resolution, "outside": given.outside}
        read["replaced"] = tuple(given.missing or {})
        if given.fit is None:
            means, covariance = given.mean or (), given.covariance or ()
            return MultivariateNormal(means, covariance, given.columns, given.records, source=given.source, **read)
        table = open_public(given.fit, spec.source, folder / given.fit.file)
        columns = zip(*texts(table, given.columns), strict=True)
        public = {
            name: [None if text is None else table.numerals.plain(text) for text in values]
            for name, values in zip(given.columns, columns, strict=True)
        }
        origin = f"{given.source}; fitted to {given.fit.file}"
        return MultivariateNormal.fit(
            public, given.columns, source=origin, private=given.fit.private, records=given.records, **read
        )

    def reveals(self, spec: Any, folder: Path, table: Table) -> Iterator[TakifuguError]:
        fit = spec.belief.fit
        if fit is not None and not fit.private and same_rows(
            open_public(fit, spec.source, folder / fit.file), table, spec.belief.columns
        ):  # fmt: skip
            yield fault(("belief", "fit", "file"), "has the rows of the private data", FIT_ELSEWHERE)

    def layout(self, spec: Any) -> Mapping[str, Any]:
        """Return what decides which number a record has in a column: missing ones are replaced."""
        replaced = {name: to_text(as_fraction(value, name)) for name, value in (spec.belief.missing or {}).items()}
        return {**super().layout(spec), "belief.missing": replaced or None}

    def units(self, file: ReleaseFile) -> tuple[Unit, ...]:
        """Return the total of each column."""
        given: NormalSpec = file.spec.belief  # type: ignore[attr-defined]
        (group,) = totals(file.table, [_rule(given, name) for name in given.columns])
        if group.rows != given.records:
            raise wrong("file", "the data have another number of rows than belief.records says", fix="check both")
        step = as_fraction(given.resolution, "the resolution")
        return (Unit(None, ColumnTotals(given.columns, tuple(int(total) * step for total in group.sums))),)

    def assumptions(self, file: ReleaseFile) -> Iterator[str]:
        spec: Any = file.spec
        yield from super().assumptions(file)
        given: NormalSpec = spec.belief
        step = to_text(as_fraction(given.resolution, "the resolution"))
        yield f"numbers are rounded to multiples of {step} when they are read"
        for name, value in (given.missing or {}).items():
            yield f"a missing or infinite value of {name!r} counts as {value}, as if that had been observed"


def _rule(given: NormalSpec, name: str) -> Bounded:
    low, high = given.ranges[name]
    return Bounded(name, low, high, given.resolution, (given.missing or {}).get(name), given.outside == "clip")


def _key_in(error: TakifuguError) -> tuple[str, ...]:
    """Return the key of [belief] that an error names, if it names one."""
    key = str(error.where[0]) if error.where else ""
    return (key,) if key in NormalSpec.model_fields else ()


def _key_of(error: TakifuguError, given: NormalSpec, name: str) -> tuple[str, ...]:
    """Return the key to blame for a column that cannot be read as declared."""
    if error.where == ("grid",):
        return ("resolution",)
    low, high = (as_fraction(end, "an end of a range") for end in given.ranges[name])
    return ("missing" if name in (given.missing or {}) and low <= high else "ranges", name)


NORMAL = _Normal()
