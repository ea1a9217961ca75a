"""Answers over real-valued columns: weighted sums of columns, added up over all records, as exact rationals.

The answer of a cell is the sum over columns j of coefficients[j] times the sum of column j over the records. It lies
anywhere between multiples of the grid: noise is added to it as it is, and the sum is rounded once. A single real number
without a known range is such an answer, too.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Hashable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

from takifugu.core.errors import InputError, Unsupported
from takifugu.core.rules import check_as_many, check_known
from takifugu.model.queries.additive.coded import Identity, Linear, Mean, Sum
from takifugu.model.queries.answer import Chosen, OfAlikeEntries
from takifugu.model.queries.forms import Query, own_grid
from takifugu.model.queries.tables.together import JointQuery, unlike
from takifugu.numbers.normal.matrices import times

#: How far a column of numbers reaches from its lowest to its highest value; None where nothing is declared.
Reach = Fraction | None


@dataclass(frozen=True, eq=False)
class ColumnSums(OfAlikeEntries):
    """Weighted sums of columns over `size` records: one row of `coefficients` per cell, one number per column."""

    grid: Fraction
    labels: tuple[str, ...]
    columns: tuple[str, ...]
    coefficients: tuple[tuple[Fraction, ...], ...]
    size: int
    #: How far apart two values of a column can be, None where it has no range.
    reaches: tuple[Reach, ...]

    on_grid = False  # an answer may be any rational

    @property
    def key(self) -> Hashable:
        return self.columns, self.coefficients, self.size, self.reaches

    @property
    def read_columns(self) -> tuple[int, ...]:
        """Return the numbers of the columns in any cell."""
        of_columns = zip(*self.coefficients, strict=True)
        return tuple(j for j, coefficients in enumerate(of_columns) if any(coefficients))

    def rounding(self, step: Fraction) -> tuple[Fraction, ...]:
        """Bound each cell's move by one record with `step` more rounding."""
        return tuple(step * sum(map(abs, row), Fraction(0)) for row in self.coefficients)

    @property
    def step(self) -> int:
        """Return the largest L1 change by a record, in whole grid units."""
        return math.ceil(sum(map(self._record_change, self.coefficients), Fraction(0)) / self.grid)

    def nearest(self, norm: int = 1) -> Fraction:
        """Return the least that a column that is read changes by one record, in grid units."""
        moves = []
        for column in self.read_columns:
            reach, factors = self.reaches[column], [abs(row[column]) for row in self.coefficients]
            # without a declared range one step of the grid: nothing says how far values lie apart
            moves.append(Fraction(1) if reach is None else sum(factors, Fraction(0)) * reach / self.grid)
        return min(filter(None, moves), default=Fraction(0))

    def cell_ranges(self) -> tuple[int | None, ...]:
        """Return each cell's largest minus least value, in grid units; None where nothing bounds its columns."""
        ranges = list[int | None]()
        for row in self.coefficients:
            is_bounded = all(reach is not None for weight, reach in zip(row, self.reaches, strict=True) if weight)
            ranges.append(math.ceil(self.size * self._record_change(row) / self.grid) if is_bounded else None)
        return tuple(ranges)

    def of_cell(self, cell: int) -> ColumnSums:
        """Return one of its cells as an answer."""
        return replace(self, labels=(self.labels[cell],), coefficients=(self.coefficients[cell],))

    def evaluate(self, totals: Sequence[Fraction]) -> tuple[Fraction, ...]:
        """Return the exact answer in grid units from the columns' totals."""
        return tuple(number / self.grid for number in times(self.coefficients, totals))

    def _record_change(self, row: Sequence[Fraction]) -> Fraction:
        change = Fraction(0)
        for weight, reach, name in zip(row, self.reaches, self.columns, strict=True):
            if weight and reach is None:
                raise Unsupported(
                    f"nothing bounds the values of the column {name!r}, so one record may change the answer at will",
                    fix="declare its range, or use a mechanism for normal columns",
                )
            change += abs(weight) * (reach or 0)
        return change


@dataclass(frozen=True)
class Columns:
    """Real-valued columns of `size` records, with the range of each that has one."""

    names: tuple[str, ...]
    size: int
    reaches: tuple[Reach, ...]

    def weights(self, query: Query) -> tuple[tuple[str, tuple[Fraction, ...]], ...]:
        """Return the label and the coefficients of each cell of a query about the columns."""
        if isinstance(query, JointQuery):
            labels, rows = zip(*itertools.chain.from_iterable(map(self.weights, query.queries)), strict=True)
            return tuple(zip(unlike(list(labels)), rows, strict=True))
        if isinstance(query, Linear):
            check_as_many(query.weights, "weights", self.names, "columns of numbers", "weights")
            if query.codes is not None:
                raise InputError("the columns are numbers, and the query has codes", fix="leave codes out").at("codes")
            return (("linear", query.weights),)
        if not isinstance(query, Sum | Mean) or query.codes is not None:
            if isinstance(query, Sum | Mean | Identity):
                subject = "codes of a column"
            else:
                subject = query.describe()
            raise InputError(
                f"the query asks for {subject}, and the columns hold real numbers",
                fix="publish Sum(column), Mean(column), Linear(weights of the columns), or several JointQuery([...])",
            ).at("query")
        read = self._read(query.attribute, query.entries)
        # a mean divides by the number of the values that it adds
        share = Fraction(1, self.size * len(read)) if isinstance(query, Mean) else Fraction(1)
        label = "mean" if isinstance(query, Mean) else "sum"
        if query.attribute is not None:
            label = f"{label} of {query.attribute}"
        return ((label, tuple(share * (name in read) for name in self.names)),)

    def _read(self, attribute: object, entries: Chosen | None) -> set[str]:
        if attribute is None and entries is None:
            return {*self.names}
        columns = (entries or ()) if attribute is None else [attribute]
        return set(map(self.named, columns))

    def named(self, entry: object, key: str = "attribute") -> str:
        """Return the name of a column, by its name or number."""
        if isinstance(entry, int) and not isinstance(entry, bool) and 0 <= entry < len(self.names):
            return self.names[entry]
        check_known([entry], self.names, "the records have no column", key)
        return str(entry)


def declared_grid(query: Query) -> Fraction | None:
    """Return a query's finest declared grid, None without one."""
    if isinstance(query, JointQuery):
        grids = [grid for part in query.queries if (grid := declared_grid(part)) is not None]
        return query.grid or min(grids, default=None)
    return own_grid(query)


def readable_grid(deviation: float) -> Fraction:
    """Return the power of ten below a thousandth of a deviation."""
    # rounding to it adds less than a millionth of the variance
    if not deviation:
        return Fraction(1, 1000)
    return Fraction(10) ** math.floor(math.log10(deviation) - 3)


@dataclass(frozen=True)
class RealNumber(OfAlikeEntries):
    """A published number as it is given, in units of `grid`, which it need not be a multiple of."""

    grid: Fraction
    #: The largest distance of two values of it, None where nothing is declared.
    reach: Reach = None

    labels = ("value",)
    size = 1
    on_grid = False

    @property
    def key(self) -> Hashable:
        return self.grid, self.reach

    @property
    def step(self) -> int:
        """Return how far the number can change, in whole grid units."""
        if self.reach is None:
            raise Unsupported(
                "the published number has no range, so no noise covers every change of it",
                fix="use a mechanism that looks at its distribution",
            )
        return math.ceil(self.reach / self.grid)

    def nearest(self, norm: int = 1) -> Fraction:
        """Return one step of the grid: nothing says how far one record moves the number, at most `reach` for all."""
        return Fraction(1)

    def evaluate(self, totals: Sequence[Fraction]) -> tuple[Fraction, ...]:
        """Return the number itself in grid units; the noise rounds it."""
        return tuple(number / self.grid for number in totals)
