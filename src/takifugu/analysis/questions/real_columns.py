"""Private columns of real numbers, read exactly: decimals as written, or fixed point where that is declared.

What is returned here goes into the noise and nowhere else. No message repeats a value, a position or a count.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction

from takifugu.analysis.questions.evaluating import one_number
from takifugu.core.columns import has_columns, transposed, value_of, values_of
from takifugu.core.errors import DataError, InputError
from takifugu.model.beliefs.density import Density
from takifugu.model.beliefs.records.normal import MultivariateNormal
from takifugu.numbers.rationals import as_fraction


@dataclass(frozen=True, eq=False)
class RealColumns:
    """Columns of exact numbers, in the belief's order, one number per record."""

    columns: tuple[tuple[Fraction, ...], ...] = field(repr=False)

    @property
    def totals(self) -> tuple[Fraction, ...]:
        """The exact sum of each column."""
        return tuple(map(_sum, self.columns))

    def tobytes(self) -> bytes:
        """Return bytes of the data, equal for equal data only."""
        ratios = []
        for column in self.columns:
            ratios.append(list(map(Fraction.as_integer_ratio, column)))
        return repr(ratios).encode()


@dataclass(frozen=True, eq=False)
class ColumnTotals:
    """The exact sum of each of the named columns, over records that were counted, bounded and added where they are."""

    columns: tuple[str, ...]
    totals: tuple[Fraction, ...] = field(repr=False)

    def tobytes(self) -> bytes:
        """Return bytes of the data, equal for equal data only."""
        return repr([self.columns, list(map(Fraction.as_integer_ratio, self.totals))]).encode()


def of_number(belief: Density, data: object) -> RealColumns:
    """Return the one number of a belief of densities, exactly; raises DataError for one of density 0."""
    value = one_number(data, "the belief is about one published number")
    reach = belief.rounding
    if not any(curve.range[0] - reach <= value <= curve.range[1] + reach for curve in belief.curves):
        raise DataError(
            "the value has density 0 under every hypothesis of the belief", rule="the promise would not cover it"
        )
    if belief.value_range is not None and not belief.value_range[0] <= value <= belief.value_range[1]:
        raise DataError("the value lies outside the declared range", rule="the belief says that it does not")
    return RealColumns(((value,),))


def of_columns(belief: MultivariateNormal, data: object) -> RealColumns | ColumnTotals:
    """Return the columns named by a normal belief: of a frame, a mapping, records, or a process's values."""
    if isinstance(data, ColumnTotals):
        if data.columns != belief.columns:
            raise DataError("the totals are of other columns than the belief's", fix="add up the columns that it names")
        return data
    real_columns = []
    for number, (name, values) in enumerate(zip(belief.columns, _columns(belief, data), strict=True)):
        if len(values) != belief.records:
            raise DataError(
                "the data have another number of records than the belief", fix="declare the number of records"
            ).at("records")
        # decimals as they are written, rounded to the declared resolution, and clipped to the range
        numbers = dict[tuple[type, Hashable], Fraction]()  # most columns repeat their values; dropped with this call
        real_columns.append(tuple(_once(numbers, value, belief, number, name) for value in values))
    return RealColumns(tuple(real_columns))


def _columns(belief: MultivariateNormal, data: object) -> list[list[Hashable]]:
    names = belief.columns
    if has_columns(data):
        column_names = set(data if isinstance(data, Mapping) else getattr(data, "column_names", None) or data.columns)
        missing = [name for name in names if name not in column_names]
        if missing:
            raise DataError(f"the data lack the columns {missing}", fix="give every column that the belief names")
        return [_values(data[name]) for name in names]
    records = _values(data)
    if belief.is_process and not any(isinstance(value, Mapping | Sequence) for value in records):
        records = [tuple(records)]  # the values of one record, as a series is written
    rows = [row for row in records if isinstance(row, Mapping | Sequence) and not isinstance(row, str | bytes)]
    if len(rows) < len(records):
        raise DataError("the data are no records", fix=f"give columns by name, or records of {list(names)}")
    records_in_order = []
    try:
        for row in rows:
            records_in_order.append([row[name] for name in names] if isinstance(row, Mapping) else list(row))
    except KeyError:
        raise DataError(f"a record lacks a column of {list(names)}", fix="give every column in each") from None
    if any(len(row) != len(names) for row in records_in_order):
        raise DataError(f"a record has another number of values than the columns {list(names)}")
    return transposed(records_in_order, len(names))


def _values(column: object) -> list[Hashable]:
    if isinstance(column, str | bytes) or not isinstance(column, Iterable):
        raise DataError("a column is no sequence of numbers", fix="give a list, an array or a column of a frame")
    return values_of(column)


def _once(
    numbers: dict[tuple[type, Hashable], Fraction], value: Hashable, belief: MultivariateNormal, number: int, name: str
) -> Fraction:
    """Return a value's number, from memory by type and value."""
    try:
        key = type(value), value
        exact = numbers.get(key)
        if exact is None:
            exact = numbers[key] = _read(value, belief, number, name)
        return exact
    except TypeError:  # not hashable, and no number
        return _read(value, belief, number, name)


def _read(value: object, belief: MultivariateNormal, number: int, name: str) -> Fraction:
    exact = _exact(value, name)
    if belief.resolution is not None:
        exact = Fraction(round(exact / belief.resolution)) * belief.resolution
    within: tuple[Fraction, Fraction] | None = belief.ranges[number]
    if within is None:
        return exact
    return min(max(exact, within[0]), within[1])


def _exact(value: object, name: str) -> Fraction:
    try:
        if value is not None and not isinstance(value, str | bool):
            return as_fraction(value_of(value), "a value")
    except (InputError, TypeError, ValueError):
        pass
    raise DataError(f"the column {name!r} has a value that is no finite number", fix="clean the data first") from None


def _sum(column: Sequence[Fraction]) -> Fraction:
    """Add exactly, over the few common denominators."""
    totals = dict[int, int]()
    for value in column:
        totals[value.denominator] = totals.get(value.denominator, 0) + value.numerator
    return sum((Fraction(total, denominator) for denominator, total in totals.items()), Fraction(0))
