"""How a secret about several numbers together reads a belief over records: a vector of sums of scores."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

from takifugu.core.errors import InputError
from takifugu.model.beliefs.records.possible_sums import sums_of_vectors
from takifugu.model.beliefs.records.record_views import RecordView
from takifugu.model.secrets.properties import DatasetProperty
from takifugu.numbers.rationals import to_text

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
