"""Independent records of jointly normal columns: a mean vector and a covariance, kept as the rationals declared."""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import ClassVar

import numpy as np

from takifugu.core.assumptions import Assumption, reading, world
from takifugu.core.entries import Nameless, Undivided
from takifugu.core.errors import InputError, within
from takifugu.core.plain import ByValue, Json, Plain, set_fields
from takifugu.core.rules import check_as_many, check_known, check_type, list_of, members_of
from takifugu.model.beliefs import from_dict
from takifugu.model.beliefs.estimate import checked_source, point_estimate
from takifugu.model.beliefs.records.normal_fit import moments, region_of, scatter_of
from takifugu.model.beliefs.states import State
from takifugu.model.queries import Linear, Mean, Query, Sum
from takifugu.model.queries.resolving.real_columns import Columns, ColumnSums, declared_grid, readable_grid
from takifugu.model.queries.tables.together import JointQuery
from takifugu.numbers.normal.matrices import Matrix, Vector, form, is_semidefinite, pivots
from takifugu.numbers.rationals import Number, as_fraction, as_fractions, as_interval, as_positive, is_whole, to_text

Range = tuple[Fraction, Fraction]


@dataclass(frozen=True, eq=False)
class MultivariateNormal(Nameless, Undivided, ByValue):
    """Model independent records that are jointly normal over named columns (Zhang22 §4.3).

    Decimals stay exact, so a singular covariance is one. The guarantee covers the effect of rounding, clipping and
    replacing on the answer (docs/theory/attributes.md). One record is a Gaussian process: its columns are the values
    of a series, and `every_entry(max_difference=...)` hides each of them.

    Args:
        mean: One number for each column.
        covariance: One row for each column: symmetric and positive semidefinite.
        names: Names of the columns.
        records: Number of records, one or more; it is public.
        ranges: (low, high) of columns, in their units. Numbers outside are clipped when they are read.
        resolution: Step to which numbers are rounded when read.
        source: Where the numbers come from, in words; certificates print it.
        replaced: Columns whose missing values are replaced by a number before they are read.

    Raises:
        InputError: For a covariance that is not symmetric and positive semidefinite, and for fewer than one record.

    Examples:
        >>> body = MultivariateNormal([170, 70], [[49, 40], [40, 144]], names=["height", "weight"], records=500)
        >>> body.describe()
        "500 independent records of the jointly normal columns 'height' and 'weight' (assumed)"
    """

    mean: Vector
    covariance: Matrix
    columns: tuple[str, ...]
    records: int
    ranges: tuple[Range | None, ...]
    resolution: Fraction | None
    source: str
    replaced: tuple[str, ...]

    answers: ClassVar = {
        "how data are read": "analysis.questions.real_columns:of_columns",
        "the mean of an answer": "analysis.expectations.rows:OfNormal",
        "the moments of a count": "analysis.expectations.moments_of_rows:of_normal",
        "the view of a secret": "model.beliefs.records.normal_views:view_of",
    }

    def __init__(
        self,
        mean: Iterable[Number],
        covariance: Iterable[Iterable[Number]],
        names: Iterable[str],
        records: int,
        ranges: Mapping[str, tuple[Number, Number]] | None = None,
        resolution: Number | None = None,
        source: str = "assumed",
        replaced: Iterable[str] = (),
    ) -> None:
        columns, filled = _columns(names), tuple(members_of(replaced, "replaced", "replaced", "['height']"))
        check_known(filled, columns, "the records have no column", "replaced")
        means = tuple(as_fraction(value, "a mean", "mean") for value in list_of(mean, "the means", "mean", "[170, 70]"))
        check_as_many(means, "means", columns, "columns", "mean")
        if not is_whole(records, 1):
            raise InputError(
                f"the number of records is {records!r}",
                rule="one record is a series of values, more are a table, and their number is public",
                fix="write a whole number from 1",
            ).at("records")
        step = None
        if resolution is not None:
            step = as_positive(resolution, "the resolution", "resolution")
        set_fields(
            self, mean=means, covariance=_covariance(covariance, columns), columns=columns, records=records,
            ranges=_ranges({} if ranges is None else ranges, columns), resolution=step, source=source,
            replaced=filled,
        )  # fmt: skip

    @classmethod
    def fit(
        cls,
        data: object,
        names: Iterable[str] | None = None,
        *,
        source: str,
        private: bool = False,
        records: int | None = None,
        ranges: Mapping[str, tuple[Number, Number]] | None = None,
        resolution: Number | None = None,
        replaced: Iterable[str] = (),
        confidence: float | None = None,
    ) -> MultivariateNormal:
        """Return the belief with the means and the covariance of data.

        It is a point estimate, and the certificate says so; with a confidence the result is a class instead, every
        distribution that the data support.

        Args:
            data: A frame, or lists of numbers by column.
            names: The columns to take; None for all.
            source: Where the data come from, in words.
            private: Whether they are the data to protect; `calibrate` then refuses the belief by default.
            records: Records that the release is about; None for as many as are given.
            ranges: As in `MultivariateNormal`.
            resolution: As in `MultivariateNormal`.
            replaced: As in `MultivariateNormal`.
            confidence: Probability that the class holds the true distribution, between 0 and 1.

        Returns:
            The belief, with a confidence a `NormalRegion`.

        Raises:
            InputError: For an empty source, columns of different lengths or without numbers, fewer than two records,
                and a confidence or a sample that gives no region.

        Examples:
            >>> fitted = MultivariateNormal.fit({"x": [1, 2, 3], "y": [2, 4, 6]}, source="a public survey")
            >>> fitted.covariance
            ((Fraction(1, 1), Fraction(2, 1)), (Fraction(2, 1), Fraction(4, 1)))
            >>> sample = {"x": [1, 2, 3, 4], "y": [1, 3, 2, 4]}
            >>> region = MultivariateNormal.fit(sample, source="a public survey", confidence=0.99)
            >>> region.describe()  # doctest: +ELLIPSIS
            "4 independent records of ... under every distribution that 4 public rows support (confidence 0.99; ...)"
        """
        if cls is not MultivariateNormal:
            fix = "write MultivariateNormal.fit(...), with a confidence for a region"
            raise InputError(f"a {cls.__name__} is not fitted by its own name", fix=fix)
        origin = checked_source(source, private)
        if confidence is None:
            origin = point_estimate(origin)
        columns, means, covariance, count = moments(data, names)
        estimate = MultivariateNormal(
            means, covariance, columns, count if records is None else records, ranges, resolution, origin,
            replaced,
        )  # fmt: skip
        if confidence is None:
            return estimate
        ends = region_of(scatter_of(data, columns), confidence)
        # Found by its kind: its file rests on this one.
        region = from_dict({**estimate.to_dict(), "kind": "normal-region", "region": ends.to_dict()})
        assert isinstance(region, MultivariateNormal)
        return region

    @property
    def size(self) -> int:
        return self.records

    def alphabet(self, entry: int) -> tuple[State, ...]:
        return ()  # the values of a record are real numbers

    def possible(self, entry: int) -> tuple[bool, ...]:
        return ()

    def position(self, name: Hashable) -> int:
        raise InputError(
            f"{name!r} is a column, not an entry: entries are records",
            fix=f"hide dataset_property({name!r}, ...) or every_entry({name!r}, max_difference=...)",
        )

    @cached_property
    def read(self) -> Columns:
        """The columns as queries read them."""
        reaches = []
        for ends in self.ranges:
            reaches.append(None if ends is None else self._reach(*ends))
        return Columns(self.columns, self.records, tuple(reaches))

    @property
    def is_process(self) -> bool:
        """Whether one draw of all columns is the data: a Gaussian process."""
        return self.records == 1

    def varies(self, column: int) -> bool:
        """Return whether a column has more than one value.

        Args:
            column: The number of the column.

        Returns:
            Whether its variance is above 0.
        """
        return self.covariance[column][column] > 0

    def drift(self, column: int) -> Vector:
        """Bound how far the mean of each column moves with one unit of another, and say which way.

        Args:
            column: The number of the column that is moved by one unit.

        Returns:
            Cov/Var for each column, rounded away from 0 if at all.
        """
        variance = self.covariance[column][column]
        return tuple(shared / variance for shared in self.covariance[column])

    def resolve(self, query: Query) -> ColumnSums:
        """Return a query as weighted sums of the columns.

        Without a declared grid the answer is on a readable one.

        Args:
            query: The query.

        Returns:
            The answer, without data.

        Raises:
            InputError: Where a column that is read varies less than one step of the resolution, and for another query
                than sums of one record.
        """
        if self.is_process and not isinstance(query, Sum | Mean | Linear | JointQuery):
            raise InputError(
                f"the query asks for {query.describe()}, and the belief is a Gaussian process",
                rule="its guarantee is proved for sums of values: a count jumps by 1 where a value crosses a line, "
                "however little the value moves",
                fix="publish Sum(...), Mean(...), Linear(weights), or several JointQuery([...])",
            ).at("query")
        labels, rows = zip(*self.read.weights(query), strict=True)
        grid = declared_grid(query)
        if grid is None:
            grid = min(map(readable_grid, map(self.deviation, rows)))
        if len(labels) == 1:
            labels = (labels[0].split(" ")[0],)
        answer = ColumnSums(grid, labels, self.columns, rows, self.records, self.read.reaches)
        self._check_resolution(answer.read_columns)
        return answer

    def _check_resolution(self, read: Sequence[int]) -> None:
        if self.is_process:
            return  # a value may move by a whole step more, which is charged
        for number, variance in zip(read, self.pivots(read), strict=True):
            if self.resolution is not None and self.resolution**2 > variance:
                condition = "" if number == read[0] else " given the others that are read"
                raise InputError(
                    f"the resolution is {to_text(self.resolution)}, and the column {self.columns[number]!r} has a "
                    f"standard deviation of {math.sqrt(variance):.4g}{condition}",
                    rule="numbers that are rounded more coarsely than they vary are no longer nearly normal",
                    fix="declare a finer resolution",
                ).at("resolution")

    def pivots(self, read: Sequence[int]) -> tuple[Fraction, ...]:
        """Return the variance of each of some columns given those before it.

        Args:
            read: Numbers of the columns.

        Returns:
            One variance for each.
        """
        return pivots(np.array(self.covariance, dtype=object)[np.ix_(read, read)])

    def clips(self, read: Iterable[int]) -> bool:
        """Return whether numbers in some columns are clipped.

        Args:
            read: Numbers of the columns.

        Returns:
            True if they are.
        """
        return any(self.ranges[j] is not None for j in read)

    def replaces(self, read: Iterable[int]) -> bool:
        """Return whether missing numbers in some columns are replaced.

        Args:
            read: Numbers of the columns.

        Returns:
            True if they are.
        """
        return any(self.columns[j] in self.replaced for j in read)

    def _reach(self, low: Fraction, high: Fraction) -> Fraction:
        """Return the largest distance in a range, after clipping and rounding."""
        step = self.resolution
        if step is None:
            return high - low
        # outwards: a file's end half-way between two steps is rounded in floats, to either
        return (math.ceil(high / step) - math.floor(low / step)) * step

    def deviation(self, row: Sequence[Fraction]) -> float:
        """Return the standard deviation of a weighted sum of the columns, over all records.

        Args:
            row: One weight for each column.

        Returns:
            The deviation, in answer units.
        """
        return math.sqrt(self.records * form(row, self.covariance, row))

    def assumptions(self) -> tuple[Assumption, ...]:
        names = " and ".join(map(repr, self.columns))
        if self.is_process:
            drawn = world(f"The values are one draw from the stated joint normal distribution of {names}.")
        else:
            drawn = world(
                f"The {self.records} records are independent, each drawn from the stated joint normal distribution of "
                f"{names}."
            )
        return drawn, *self._readings()

    def _readings(self) -> Iterator[Assumption]:
        if any(self.ranges):
            yield reading("Numbers outside of their range count as the end next to them, as if that had been observed.")

    def to_dict(self) -> Json:
        ranges = {}
        for name, ends in zip(self.columns, self.ranges, strict=True):
            if ends is not None:
                ranges[name] = list(map(to_text, ends))
        data: Json = {
            "kind": "multivariate-normal", "mean": list(map(to_text, self.mean)),
            "covariance": [list(map(to_text, row)) for row in self.covariance],
            "names": list(self.columns), "records": self.records, "source": self.source,
        }  # fmt: skip
        if ranges:
            data["ranges"] = ranges
        if self.replaced:
            data["replaced"] = list(self.replaced)
        if self.resolution is not None:
            data["resolution"] = to_text(self.resolution)
        return data

    @staticmethod
    def from_dict(data: Plain) -> MultivariateNormal:
        ranges = {name: (low, high) for name, (low, high) in data.get("ranges", {}).items()}
        return MultivariateNormal(
            data["mean"], data["covariance"], data["names"], data["records"], ranges, data.get("resolution"),
            data.get("source", "assumed"), data.get("replaced", ()),
        )  # fmt: skip

    def describe(self) -> str:
        names = " and ".join(map(repr, self.columns))
        if self.is_process:
            return f"the Gaussian process {names} ({self.source})"
        return f"{self.records} independent records of the jointly normal columns {names} ({self.source})"


def _columns(names: Iterable[str]) -> tuple[str, ...]:
    columns = (names,) if isinstance(names, str) else tuple(members_of(names, "the columns", "names", "['height']"))
    if not columns or not all(isinstance(name, str) and name for name in columns) or len({*columns}) != len(columns):
        raise InputError(f"the columns are {list(columns)}", rule="they are one or more names, each once").at("names")
    return columns


def _covariance(covariance: Iterable[Iterable[Number]], columns: Sequence[str]) -> Matrix:
    rows: Matrix = ()
    for row in list_of(covariance, "the covariance", "covariance", "[[49, 40], [40, 144]]"):
        numbers = list_of(row, "a row of the covariance", "covariance", "[49, 40]")
        rows += (as_fractions(numbers, "a covariance", "covariance"),)
    size = len(columns)
    if len(rows) != size or any(len(row) != size for row in rows):
        raise InputError(
            f"the covariance has {len(rows)} rows for {size} columns", rule="it has one row and one number per column"
        ).at("covariance")
    for i in range(size):
        for j in range(i):
            if rows[i][j] != rows[j][i]:
                raise InputError(
                    f"the covariance of {columns[i]!r} and {columns[j]!r} is {to_text(rows[i][j])} and "
                    f"{to_text(rows[j][i])}",
                    rule="a covariance matrix is symmetric", fix="write the same number in both places",
                ).at("covariance", i)  # fmt: skip
    if not is_semidefinite(rows):
        raise InputError(
            "the covariance is not positive semidefinite: some weighted sum of the columns would have a negative "
            "variance",
            rule="decimals are read exactly, so that a rounded correlation of 1 can exceed it",
            fix="correct a covariance, or add a little to the variances",
        ).at("covariance")
    return rows


def _ranges(declared_ranges: Mapping[str, tuple[Number, Number]], columns: Sequence[str]) -> tuple[Range | None, ...]:
    check_type(declared_ranges, Mapping, "a range for each column", "write {'height': (140, 210)}", "ranges")
    for name in declared_ranges:
        check_known([name], columns, "the records have no column", "ranges", name)
    ranges = dict[str, Range]()
    for name, ends in declared_ranges.items():
        with within("ranges", name):
            low, high = as_interval(ends, "the range")
            ranges[name] = (low, high)
    return tuple(map(ranges.get, columns))
