"""Laws of a scalar answer that adds up over independent records, given a property of their columns.

Few records: the exact laws given every value of the property (`record_sums`). Many: bounds from what one record
adds (`repeated`), for a property of two levels, or one whose levels are evenly spaced and log-concave. Otherwise there
is no law: nothing is proved, and the reason says what it would have cost. Proofs: docs/theory/attributes.md#records.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Sequence
from dataclasses import replace
from fractions import Fraction
from functools import cached_property
from itertools import compress
from typing import Any

from takifugu.analysis.answer_laws.given_records import BOUND, Laws, RecordsLaw
from takifugu.analysis.answer_laws.given_sum import SumLaw, VectorLaw
from takifugu.analysis.answer_laws.listed import ListedFamily
from takifugu.analysis.answer_laws.record_classes import class_law
from takifugu.analysis.answer_laws.repeated import AloneFamily
from takifugu.analysis.questions.answer_law import ANSWER_LAW, AnswerFamily, AnswerLaw
from takifugu.core.errors import Unsupported
from takifugu.model.beliefs.records.record_views import ColumnView, FunctionView, RecordView, SetsView, ends_of_sets
from takifugu.model.queries import Additive
from takifugu.model.secrets.families import Family, compared_values
from takifugu.numbers.distributions.pmf import Pmf
from takifugu.numbers.distributions.record_sums import RecordLaw, given_function, power


class FunctionLaw(RecordsLaw[FunctionView]):
    """Given any function of columns: all combinations of their values."""

    @cached_property
    def products(self) -> float:
        levels = set(compress(self.belief.levels, self.records.weights))
        return float(3 * len(levels) ** self.records.size + self.places**2 * self.records.size)

    @property
    def no_bound(self) -> str:
        return (
            f"{self.belief.secret.what} has too many values or records for exact distributions of the answer: "
            "use fewer records, or a mean, sum or share"
        )

    def listed(self, values: Sequence[int]) -> Laws:
        """Return the exact laws given some values, by their indices."""
        law = RecordLaw.of(zip(map(_Level, self.belief.levels), self.adds, self.records.weights, strict=True))
        apply = lambda levels: self.belief.apply([level.values for level in levels])  # noqa: E731
        laws = given_function(law, self.records.size, apply)
        return {v: laws[self.belief.values[v]] for v in values}

    def families(self) -> Iterator[AnswerFamily]:
        if not self.exact:
            raise Unsupported(self.no_bound)
        yield self._listed(self.listed(compared_values(self.compared_pairs)))


class _Level:
    """Values of columns that may have no order of their own, in some order."""

    def __init__(self, values: tuple[Hashable, ...]) -> None:
        self.values, self._key = values, repr(values)

    def __lt__(self, other: _Level) -> bool:
        return self._key < other._key

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Level) and self._key == other._key

    def __hash__(self) -> int:
        return hash(self._key)


class SetsLaw(RecordsLaw[SetsView]):
    """Given which set a property is in: mixtures of the laws given its values, or bounds for any two of these."""

    @cached_property
    def inner(self) -> SumLaw | FunctionLaw:
        law: Any = ANSWER_LAW.of(self.belief.inside)(self.belief.inside, self.answer, self.family)
        return law  # type: ignore[no-any-return]

    @cached_property
    def products(self) -> float:
        return self.inner.products

    @property
    def no_bound(self) -> str:
        return self.inner.no_bound

    def families(self) -> Iterator[AnswerFamily]:
        members = self.belief.members
        if self.exact:
            laws = self.inner.listed(sorted(set().union(*members)))
            mixtures = {}
            for s, group in enumerate(members):
                if len(group):
                    weights, mixed = zip(*map(laws.__getitem__, group), strict=True)
                    total = sum(weights)
                    mixtures[s] = total, Pmf.mix([Fraction(weight, total) for weight in weights], mixed)
            yield self._listed(mixtures)
            return
        inner = self.inner
        if self.no_bound or not isinstance(inner, SumLaw):
            raise Unsupported(self.no_bound)
        # Whatever hides each two of their values hides two sets: laws given a set are mixtures of these.
        for sets, ends in ends_of_sets(members):
            times = max(abs(inner.steps_between(min(pair), max(pair))) for pair in ends)
            yield inner.repeated(sets, times)

    @property
    def note(self) -> str:
        return "" if self.exact else BOUND

    @property
    def _copied(self) -> float:
        return self.inner._copied


class ColumnLaw(RecordsLaw[ColumnView]):
    """Given a column's value in one record: what that record adds, and all others."""

    @cached_property
    def law(self) -> RecordLaw[int]:
        return self.record(self.records.table.indices[:, self.belief.column].tolist())

    @cached_property
    def products(self) -> float:
        return self.places**2 * (1 + self.digits / 2000) * len(self.law.levels) / 4

    def families(self) -> Iterator[AnswerFamily]:
        pairs = self.compared_pairs
        laws = {v: self.law.given(v) for v in compared_values(pairs)}
        if not self.exact:
            yield AloneFamily(0, pairs, {v: (law,) for v, law in laws.items()})
            return
        law_of_others = power(self.law.whole, self.records.size - 1)
        yield ListedFamily(0, pairs, {v: (law.convolve(law_of_others),) for v, law in laws.items()})

    def comparisons(self, laplace: bool = False) -> tuple[float, float]:
        return self.pairs_count, self.places if self.exact else 1.0 + self.reach

    @property
    def note(self) -> str:
        return "" if self.exact else BOUND


def record_law(kind: type[RecordsLaw[RecordView]]) -> Callable[..., AnswerLaw[RecordView]]:
    """Return a maker of laws; inexact ones have `no_bound` as reason."""

    def make(belief: RecordView, answer: Additive, family: Family) -> AnswerLaw[RecordView]:
        if belief.whole.within is not None:
            return class_law(belief, answer, family)
        law = kind(belief, answer, family)
        return law if law.exact else replace(law, reason=law.no_bound)

    return make


SUM, VECTOR, FUNCTION, SETS, COLUMN = map(record_law, (SumLaw, VectorLaw, FunctionLaw, SetsLaw, ColumnLaw))
