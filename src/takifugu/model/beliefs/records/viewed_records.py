"""From a secret about columns to the view of records that it is read by."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING

from takifugu.core.errors import InputError
from takifugu.model.beliefs.records.possible_sums import in_steps, sums_of_vectors
from takifugu.model.beliefs.records.record_views import (
    ColumnView,
    FunctionView,
    RecordView,
    SetsView,
    SumView,
    column_number,
)
from takifugu.model.secrets.of_entries import EveryEntry
from takifugu.model.secrets.properties import DatasetProperty, DistributionParameter, Named
from takifugu.numbers.normal.matrices import times
from takifugu.numbers.rationals import to_text

if TYPE_CHECKING:
    from takifugu.model.beliefs.records.records import Records

def view_of(records: Records, secret: object) -> RecordView | None:
    """Return the view of records for a secret, None for whole records.

    Raises InputError for an unknown column, values that are not numbers where they are added, and a parameter of the
    population, as records of one known distribution have none.
    """
    if not isinstance(secret, DatasetProperty):
        if isinstance(secret, EveryEntry) and secret.attribute is not None:
            return ColumnView(records, secret, records.column(str(secret.attribute)))
        if isinstance(secret, DistributionParameter):
            raise InputError(
                f"records of one known distribution have no parameter of {secret.column!r} to hide",
                fix="hide a property of the records at hand, dataset_property(...), or believe in Parameters(...)",
            ).at("secrets")
        return None
    places = list(map(records.column, secret.columns))
    sum_view: SumView | FunctionView
    if secret.is_vector:
        return _vector_view(records, secret, places)
    if isinstance(secret.function, Named):
        levels = []
        for row in records.table.rows:
            levels.append(tuple(row[place] for place in places))
        sum_view = FunctionView(records, secret, secret.function, tuple(levels))
    else:
        sum_view = _sum_view(records, secret, places)
    if secret.sets is None:
        return sum_view
    return SetsView(records, secret, secret.sets, sum_view)


def _sum_view(records: Records, secret: DatasetProperty, places: Sequence[int]) -> SumView:
    weights = secret.function if isinstance(secret.function, tuple) else (Fraction(1),)
    weighed = times(list(zip(*_columns(records, secret, places), strict=True)), weights)
    return SumView(records, secret, *in_steps(weighed, records.size))


def _vector_view(records: Records, secret: DatasetProperty, places: Sequence[int]) -> VectorView:
    columns = _columns(records, secret, places)
    if secret.sets is not None:
        raise InputError(
            "the secret hides several numbers together, and its sets are of one number",
            fix="give max_difference, or one secret per column",
        ).at("sets")
    in_each = [in_steps(column, records.size) for column in columns]
    scores = tuple(zip(*(steps for steps, _, _ in in_each), strict=True))
    units, offsets = tuple(unit for _, unit, _ in in_each), tuple(offset for _, _, offset in in_each)
    return VectorView(records, secret, scores, units, offsets)


def _columns(records: Records, secret: DatasetProperty, places: Sequence[int]) -> list[list[Fraction]]:
    """Return the addend of each row of the table to each number."""
    share = Fraction(1, 1 if secret.function == "sum" else records.size)
    columns = []
    for place in places:
        columns.append([share * score for score in _scores(records, secret, place)])
    return columns


def _scores(records: Records, secret: DatasetProperty, place: int) -> list[Fraction]:
    """Return each row's score, before division by the number of records."""
    name = secret.columns[secret.columns.index(records.columns[place])]
    values = [row[place] for row in records.table.rows]
    if secret.of is None:
        if secret.function == "share":
            raise InputError(
                f"the share in {name!r} names no value", fix=f"write of={records.table.alphabet(place)[0]!r}"
            ).at("of")
        return [column_number(value, name) for value in values]
    alphabet = records.table.alphabet(place)
    for value in secret.of:
        if value not in alphabet:
            raise InputError(
                f"the secret names the value {value!r}, which {name!r} cannot have",
                fix=f"write some of {list(map(str, alphabet))}",
            ).at("of")
    return [Fraction(value in secret.of) for value in values]


Vector = tuple[Fraction, ...]


@dataclass(frozen=True, eq=False)
class VectorView(RecordView):
    """Several sums over the records of whole scores: the scores of each row of the table, one for each sum.

    The property is `offsets` + `units` times the sums, place by place; the scores of a place begin at 0 and have no
    common divisor.
    """

    secret: DatasetProperty
    scores: tuple[tuple[int, ...], ...]
    units: Vector
    offsets: Vector

    @cached_property
    def keys(self) -> tuple[tuple[int, ...], ...]:
        """The possible sums of scores, in order, one for each value."""
        alive = {score for score, can in zip(self.scores, self.whole.possible(0), strict=True) if can}
        if len(alive) == 1:
            (score,) = alive
            return (tuple(place * self.whole.size for place in score),)
        return tuple(sorted(sums_of_vectors(sorted(alive), self.whole.size)))

    @cached_property
    def values(self) -> tuple[Vector, ...]:
        """Return the possible vectors of the property, in order."""
        values = []
        for key in self.keys:
            values.append(tuple(o + u * k for o, u, k in zip(self.offsets, self.units, key, strict=True)))
        return tuple(values)

    @cached_property
    def pairs(self) -> tuple[tuple[int, int], ...] | None:
        """Return the pairs within `max_difference` in every number; None for all."""
        if self.secret.pairs is not None:
            raise InputError(
                "the secret hides several numbers together, and its pairs are of one number",
                fix="give max_difference, or one secret per column",
            ).at("pairs")
        if self.secret.max_difference is None:
            return None
        return tuple(_near(self.values, self.secret.max_difference))

    def describe_hypothesis(self, value: int) -> str:
        return f"{self.secret.what} is ({', '.join(map(to_text, self.values[value]))})"


def _near(values: Sequence[Vector], differences: Vector) -> Iterator[tuple[int, int]]:
    for a, vector in enumerate(values):
        for b in range(a + 1, len(values)):
            if all(abs(x - y) <= d for x, y, d in zip(vector, values[b], differences, strict=True)):
                yield a, b
