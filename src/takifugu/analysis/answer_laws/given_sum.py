"""Laws of an answer given a sum of scores of independent records: exact ones listed, or bounds through one record."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from functools import cached_property, partial
from itertools import pairwise
from typing import Any, TypeVar

from takifugu.analysis.answer_laws.given_records import BOUND, Laws, RecordsLaw
from takifugu.analysis.answer_laws.listed import ListedFamily
from takifugu.analysis.answer_laws.repeated import RepeatedFamily, copies
from takifugu.analysis.bounds import Cost
from takifugu.analysis.questions.answer_law import AnswerFamily
from takifugu.core.cache import cached
from takifugu.core.errors import Unsupported
from takifugu.model.beliefs.records.record_views import SumView, VectorView
from takifugu.model.secrets.families import compared_values
from takifugu.model.secrets.properties import DatasetProperty
from takifugu.numbers.distributions.exact_ratio import (
    lattice_step,
    likelihood_ratio_ordered,
    log_concave,
    stochastically_ordered,
)
from takifugu.numbers.distributions.pmf import Pmf
from takifugu.numbers.distributions.record_sums import RecordLaw, Sum, given_count, given_sum

#: Most products for laws of many copies.
MOST_COPIES = 4e9


Scored = TypeVar("Scored", SumView, VectorView, covariant=True)


class _OfSums(RecordsLaw[Scored]):
    """Given sums of scores."""

    @cached_property
    def law(self) -> RecordLaw[Any]:
        return self.record(self.belief.scores)

    @cached_property
    def products(self) -> float:
        return products_of(self.law, self.records.size, len(self.belief.keys), self.places, self.digits)

    @property
    def _copied(self) -> float:
        return self.places**2

    def listed(self, sums: Sequence[int]) -> Laws:
        """Return the exact laws given some values, by their indices."""
        return laws_of_sums(self.law, self.records.size, self.belief.keys, sums)


class SumLaw(_OfSums[SumView]):
    """Given a sum of scores: listed, or bounded through one record."""

    @property
    def is_binary(self) -> bool:
        return len(self.law.levels) == 2

    @property
    def outermost_is_worst(self) -> bool:
        return self.is_binary and self.family.pairs is None and is_ordered(*map(self.law.given, self.law.levels))

    def families(self) -> Iterator[AnswerFamily]:
        if self.exact:
            yield self._listed(self.listed(compared_values(self.compared_pairs)))
        elif self.no_bound:
            raise Unsupported(self.no_bound)
        else:
            yield self.repeated(*self.farthest)

    @property
    def note(self) -> str:
        if self.exact or (self.is_binary and is_tight(*map(self.law.given, self.law.levels))):
            return ""
        return BOUND

    @property
    def farthest(self) -> tuple[tuple[int, int], int]:
        """Return the two values farthest apart, in steps of one record."""
        count, keys = len(self.belief.keys), self.belief.keys
        if self.family.pairs is None:
            pair = (0, count - 1)
        else:
            pair = max(self.family.pairs, key=lambda pair: keys[pair[1]] - keys[pair[0]])
        return pair, self.steps_between(*pair)

    def steps_between(self, a: int, b: int) -> int:
        """Return the least number of one-record steps between two values."""
        keys, (low, high) = self.belief.keys, (self.law.levels[0], self.law.levels[1])
        return int((keys[b] - keys[a]) // (high - low))

    def repeated(self, pair: tuple[int, int], times: int) -> RepeatedFamily:
        """Bound all pairs of values at most `times` steps apart."""
        a, b = sorted(pair)
        laws = list(map(self.law.given, self.law.levels))
        changes = list(pairwise(range(len(laws))))
        single = ListedFamily(0, tuple(changes), {level: (law,) for level, law in enumerate(laws)})
        if not self.is_binary or times * self.reach > MOST_COPIES**0.5:
            return RepeatedFamily(((a, b),), single, times)
        zero, other = laws
        shifts = partial(cached, self, (copies, times), partial(copies, zero, other, times))
        ordered = stochastically_ordered(zero, other) or stochastically_ordered(other, zero)
        return RepeatedFamily(
            ((a, b),), single, times, shifts if is_ordered(zero, other) else None, shifts if ordered else None
        )

    @property
    def no_bound(self) -> str:
        """Return why one-record steps do not reach all values, else ""."""
        levels = self.law.levels
        if self.is_binary:
            return ""
        even = len({b - a for a, b in pairwise(levels)}) == 1
        if even and log_concave(Pmf.from_counts(list(levels), list(self.law.weights)), levels[1] - levels[0]):
            return ""
        return no_bound(self.belief.secret, self.products)


class VectorLaw(_OfSums[VectorView]):
    """Given several sums of scores together: listed, and bounded by nothing."""

    def families(self) -> Iterator[AnswerFamily]:
        if not self.exact:
            raise Unsupported(self.no_bound)
        yield self._listed(self.listed(compared_values(self.compared_pairs)))

    @property
    def no_bound(self) -> str:
        return no_bound(self.belief.secret, self.products)


def products_of(law: RecordLaw[Sum], records: int, sums: int, width: float, digits: float) -> float:
    """Return the number of integer products in so many exact laws."""
    if len(law.levels) == 2:
        return float((records + 1) * width**2 / 6 * (1 + digits / 2000))
    return float(records * sum(map(len, law.masses.values())) * sums * width / 3)


def laws_of_sums(law: RecordLaw[Sum], records: int, keys: Sequence[Sum], places: Sequence[int]) -> Laws:
    """Return the exact laws given the sums of scores at `places`."""
    if len(law.levels) != 2:
        given_laws = given_sum(law, records)
        return {v: given_laws[keys[v]] for v in places}
    low, high = map(law.given, law.levels)
    w, u = law.weights
    laws = given_count(low, high, records, places)
    return {a: (math.comb(records, a) * u**a * w ** (records - a), laws[a]) for a in places}


def no_bound(secret: DatasetProperty, products: float) -> str:
    """Return why sums of scores with costly laws have no bound."""
    return (
        f"the exact distributions of the answer given {secret.what} would take "
        f"{Cost(100 * products, 100 * products).describe()}, and a bound from single records is proved "
        "for a property of two levels, or of evenly spaced ones with log-concave probabilities: hide a share, use "
        "coarser values or fewer records"
    )


def is_tight(low: Pmf, high: Pmf) -> bool:
    """Return whether two laws are in likelihood-ratio order.

    Then one record's loss decides that of many records exactly.
    """
    return likelihood_ratio_ordered(low, high) or likelihood_ratio_ordered(high, low)


def is_ordered(low: Pmf, high: Pmf) -> bool:
    """Return whether two laws are log-concave and in likelihood-ratio order.

    Laws on two lattices count as unordered. Under this order, laws of sums of copies are ordered by the number of
    copies of one, even after any log-concave noise, so the outermost comparison is the worst
    (docs/theory/attributes.md#orders).
    """
    step = lattice_step(low, high)
    if (int(high.values[0]) - int(low.values[0])) % step or not (log_concave(low, step) and log_concave(high, step)):
        return False
    return is_tight(low, high)
