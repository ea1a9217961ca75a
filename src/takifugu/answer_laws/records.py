"""Laws of a scalar answer that adds up over independent records, given a property of their columns.

Few records: the exact laws given every value of the property (`laws.record_sums`). Many: bounds from what one record
adds (`repeated`), for a property of two levels, or one whose levels are evenly spaced and log-concave. Otherwise there
is no law: nothing is proved, and the reason says what it would have cost. Proofs: docs/theory/attributes.md#records.
"""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from fractions import Fraction
from functools import cached_property, partial
from itertools import combinations, pairwise
from typing import Any

from takifugu.answer_laws.dense import DenseFamily
from takifugu.answer_laws.listed import ListedFamily
from takifugu.answer_laws.record_classes import class_law
from takifugu.answer_laws.repeated import AloneFamily, RepeatedFamily, copies, counted
from takifugu.beliefs.record_views import ColumnView, FunctionView, SetsView, SumView
from takifugu.capabilities.answer_law import ANSWER_LAW, AnswerFamily, AnswerLaw, B
from takifugu.errors import Unsupported
from takifugu.kept import kept
from takifugu.laws.orders import lattice_step, likelihood_ratio_ordered, log_concave, stochastically_ordered
from takifugu.laws.pmf import Pmf
from takifugu.laws.record_sums import RecordLaw, given_count, given_function, given_sum, power
from takifugu.problem import Cost
from takifugu.queries import Additive
from takifugu.secrets import Family, compared_values

#: Most products of integers for exact laws, pairs of values that are compared one by one, and digits of a mass.
MOST_PRODUCTS, MOST_COMPARED, MOST_DIGITS = 3e6, 2_000, 4096
#: Pairs are compared one by one only up to this number where the outermost is the worst for every added noise.
FEW_COMPARED = 50
#: Most products for laws of many copies.
MOST_COPIES = 4e9

#: What a witness adds where many records are bounded through one.
BOUND = "; this is what each record that changes may tell by itself, added up: all together they may tell less"

#: A value of the property, an integer proportional to its probability, and the law of the answer given it.
Laws = dict[int, tuple[int, Pmf]]


class RecordsLaw(AnswerLaw[B]):
    """What the laws given a property of the records have in common; `belief` is the view."""

    @property
    def records(self) -> Any:
        return self.belief.records  # type: ignore[attr-defined]

    @cached_property
    def adds(self) -> list[int]:
        """What each row of the table adds to the answer, in grid units."""
        share = self.answer.contribution(0)[:, 0]
        return [int(x) for x in share.tolist()]

    def record(self, levels: Sequence[Any]) -> RecordLaw:
        """Return the law of one record, for these levels of the rows."""
        return RecordLaw.of(zip(levels, self.adds, self.records.weights, strict=True))

    @cached_property
    def reach(self) -> int:
        """How many places the answer's law has for each record, less one."""
        alive = [x for x, can in zip(self.adds, self.records.possible(0), strict=True) if can]
        return (max(alive) - min(alive)) // lattice_step(Pmf.from_counts(sorted({*alive}), [1] * len({*alive})))

    @property
    def places(self) -> float:
        return float(1 + self.records.size * self.reach)

    @cached_property
    def digits(self) -> float:
        """Binary digits of an exact mass."""
        return float(self.records.size * math.log2(sum(self.records.weights) or 1))

    @cached_property
    def compared_pairs(self) -> tuple[tuple[int, int], ...]:
        return self.family.value_pairs(self.belief, 0)

    @property
    @abstractmethod
    def products(self) -> float:
        """How many products of integers the exact laws take."""

    @property
    def no_bound(self) -> str:
        """Why nothing is proved where the exact laws are not listed; "" where a bound is."""
        return ""

    @property
    def pairs_count(self) -> float:
        """How many unordered pairs are compared."""
        if self.family.pairs is not None:
            return len(self.family.pairs) / 2
        values = sum(self.belief.possible(0))
        return values * (values - 1) / 2

    @property
    def outermost_is_worst(self) -> bool:
        """Whether one comparison is the worst of all for every added noise, and is known exactly."""
        return False

    @cached_property
    def exact(self) -> bool:
        """Whether the laws given every value are listed."""
        most = FEW_COMPARED if self.outermost_is_worst else MOST_COMPARED
        return self.products <= MOST_PRODUCTS and self.digits <= MOST_DIGITS and self.pairs_count <= most

    def work(self, laplace: bool = False) -> tuple[float, float]:
        if self.exact:
            return 100.0 * self.products, 100.0 * self.products
        copied = self._copied if not laplace else 0.0
        return 1e4 + copied, 1e4 + 200 * copied**0.5

    @property
    def _copied(self) -> float:
        return 0.0

    def atoms(self) -> float:
        return self.places if self.exact else 1.0 + self.reach

    def comparisons(self, laplace: bool = False) -> tuple[float, float]:
        if self.reason or not len(self.family.entries):
            return 0.0, 0.0
        if self.exact:
            return self.pairs_count, self.places
        # Masses of many copies have as many digits as there are copies.
        return 1.0, (1.0 + self.reach if laplace else self.places * (1 + self.places / 500))

    def kept_bytes(self) -> float:
        return super().kept_bytes() if self.exact else 1e4  # laws of copies are made where they are asked for

    def describe(self, entry: int, value: int, number: int, start: int = 0) -> str:
        told: str = self.belief.describe_hypothesis(value)  # type: ignore[attr-defined]
        return told

    def _listed(self, laws: Laws) -> ListedFamily:
        pairs = self.compared_pairs
        return ListedFamily(0, pairs, {v: (laws[v][1],) for v in compared_values(pairs)})


class SumLaw(RecordsLaw[SumView]):
    """Given a sum of scores: listed, or bounded through one record."""

    @cached_property
    def law(self) -> RecordLaw:
        return self.record(self.belief.scores)

    @property
    def is_binary(self) -> bool:
        return len(self.law.levels) == 2

    @property
    def outermost_is_worst(self) -> bool:
        whole = self.is_binary and not self.belief.is_vector and self.family.pairs is None
        return whole and is_ordered(*(self.law.given(level) for level in self.law.levels))

    @cached_property
    def products(self) -> float:
        n, width = self.records.size, self.places
        if self.is_binary:
            return float((n + 1) * width**2 / 6 * (1 + self.digits / 2000))
        sums = len(self.belief.keys)
        return float(n * sum(map(len, self.law.masses.values())) * sums * width / 3)

    def families(self) -> Iterator[AnswerFamily]:
        if self.exact:
            yield self._listed(self.listed(compared_values(self.compared_pairs)))
        elif self.no_bound:
            raise Unsupported(self.no_bound)
        else:
            yield self.repeated(*self.farthest)

    def listed(self, wanted: Sequence[int]) -> Laws:
        """Return the exact laws given some values, by their indices."""
        keys, n = self.belief.keys, self.records.size
        if not self.is_binary:
            found = given_sum(self.law, n)
            return {v: found[keys[v]] for v in wanted}
        zero, one = (self.law.given(level) for level in self.law.levels)
        w, u = self.law.weights
        laws = given_count(zero, one, n, wanted)
        return {a: (math.comb(n, a) * u**a * w ** (n - a), laws[a]) for a in wanted}

    @property
    def note(self) -> str:
        if self.exact or (self.is_binary and is_tight(*(self.law.given(level) for level in self.law.levels))):
            return ""
        return BOUND

    def farthest_laws(self) -> tuple[DenseFamily, tuple[int, int]] | None:
        """Return the laws given the two values farthest apart; None where those given every value are listed."""
        if self.exact or self.no_bound or not self.is_binary or self._copied > MOST_COPIES:
            return None
        zero, one = map(self.law.given, self.law.levels)
        a, b = sorted(self.farthest[0])
        return counted(zero, one, self.records.size, (a, b)), (a, b)

    @property
    def farthest(self) -> tuple[tuple[int, int], int]:
        """The pair of values that are farthest apart, and how many steps of one record lie between them."""
        count, keys = len(self.belief.keys), self.belief.keys
        if self.family.pairs is None:
            pair = (0, count - 1)
        else:
            pair = max(self.family.pairs, key=lambda pair: keys[pair[1]] - keys[pair[0]])
        return pair, self.steps_between(*pair)

    def steps_between(self, a: int, b: int) -> int:
        """Return how many records change by one step of their levels, at least, between two values."""
        keys, (low, high) = self.belief.keys, (self.law.levels[0], self.law.levels[1])
        return int((keys[b] - keys[a]) // (high - low))

    def repeated(self, pair: tuple[int, int], times: int) -> RepeatedFamily:
        """Return the bounds for all pairs of values that are at most so many steps apart."""
        a, b = sorted(pair)
        given = [self.law.given(level) for level in self.law.levels]
        changes = list(pairwise(range(len(given))))
        one = ListedFamily(0, tuple(changes), {level: (law,) for level, law in enumerate(given)})
        if not self.is_binary or times * self.reach > MOST_COPIES**0.5:
            return RepeatedFamily(((a, b),), one, times)
        zero, other = given
        found = partial(kept, self, (copies, times), partial(copies, zero, other, times))
        ordered = stochastically_ordered(zero, other) or stochastically_ordered(other, zero)
        return RepeatedFamily(
            ((a, b),), one, times, found if is_ordered(zero, other) else None, found if ordered else None
        )

    @property
    def _copied(self) -> float:
        return self.places**2

    @property
    def no_bound(self) -> str:
        """Why changing one record by one step at a time does not lead from each value to the next; "" where it does."""
        levels = self.law.levels
        if self.is_binary and not self.belief.is_vector:
            return ""
        even = not self.belief.is_vector and len({b - a for a, b in pairwise(levels)}) == 1
        if even and log_concave(Pmf.from_counts(list(levels), list(self.law.weights)), levels[1] - levels[0]):
            return ""
        return (
            f"the exact distributions of the answer given {self.belief.secret.what} would take "
            f"{Cost(100 * self.products, 100 * self.products).describe()}, and a bound from single records is proved "
            "for a property of two levels, or of evenly spaced ones with log-concave probabilities: hide a share, use "
            "coarser values or fewer records"
        )


class FunctionLaw(RecordsLaw[FunctionView]):
    """Given any function of columns: all combinations of their values."""

    @cached_property
    def products(self) -> float:
        levels = {level for level, weight in zip(self.belief.levels, self.records.weights, strict=True) if weight}
        return float(3 * len(levels) ** self.records.size + self.places**2 * self.records.size)

    @property
    def no_bound(self) -> str:
        return (
            f"{self.belief.secret.what} has too many values or records for exact distributions of the answer: "
            "use fewer records, or a mean, sum or share"
        )

    def listed(self, wanted: Sequence[int]) -> Laws:
        """Return the exact laws given some values, by their indices."""
        law = RecordLaw.of(zip(map(_Level, self.belief.levels), self.adds, self.records.weights, strict=True))
        apply = lambda levels: self.belief.apply([level.values for level in levels])  # noqa: E731
        found = given_function(law, self.records.size, apply)
        return {v: found[self.belief.values[v]] for v in wanted}

    def families(self) -> Iterator[AnswerFamily]:
        if not self.exact:
            raise Unsupported(self.no_bound)
        yield self._listed(self.listed(compared_values(self.compared_pairs)))


class _Level:
    """Values of columns that may have no order of their own, in some order."""

    def __init__(self, values: tuple[Any, ...]) -> None:
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
        found: Any = ANSWER_LAW.of(self.belief.inside)(self.belief.inside, self.answer, self.family)
        return found  # type: ignore[no-any-return]

    @cached_property
    def products(self) -> float:
        return self.inner.products

    @property
    def no_bound(self) -> str:
        return self.inner.no_bound

    def families(self) -> Iterator[AnswerFamily]:
        members = self.belief.members
        if self.exact:
            laws = self.inner.listed(sorted({v for found in members for v in found}))
            yield self._listed({s: _mixture([laws[v] for v in found]) for s, found in enumerate(members) if len(found)})
            return
        if self.no_bound:
            raise Unsupported(self.no_bound)
        # Whatever hides each two of their values hides two sets: laws given a set are mixtures of these.
        inner: Any = self.inner
        for one, other in combinations([s for s, found in enumerate(members) if len(found)], 2):
            ends = [(a, b) for a in _ends(members[one]) for b in _ends(members[other])]
            times = max(abs(inner.steps_between(min(pair), max(pair))) for pair in ends)
            yield inner.repeated((one, other), times)

    @property
    def note(self) -> str:
        return "" if self.exact else BOUND

    @property
    def _copied(self) -> float:
        return self.inner._copied


class ColumnLaw(RecordsLaw[ColumnView]):
    """Given a column's value in one record: what that record adds, and all others."""

    @cached_property
    def law(self) -> RecordLaw:
        place = {value: index for index, value in enumerate(self.belief.values)}
        return self.record([place[row[self.belief.column]] for row in self.records.table.rows])

    @cached_property
    def products(self) -> float:
        return self.places**2 * (1 + self.digits / 2000) * len(self.law.levels) / 4

    def families(self) -> Iterator[AnswerFamily]:
        pairs = self.compared_pairs
        given = {v: self.law.given(v) for v in compared_values(pairs)}
        if not self.exact:
            yield AloneFamily(0, pairs, {v: (law,) for v, law in given.items()})
            return
        others = power(self.law.whole, self.records.size - 1)
        yield ListedFamily(0, pairs, {v: (law.convolve(others),) for v, law in given.items()})

    def comparisons(self, laplace: bool = False) -> tuple[float, float]:
        return self.pairs_count, self.places if self.exact else 1.0 + self.reach

    @property
    def note(self) -> str:
        return "" if self.exact else BOUND


def record_law(kind: type[RecordsLaw[Any]]) -> Callable[..., AnswerLaw[Any]]:
    """Return how a law is made for a type of view: with the reason why there is none, where that is so."""

    def make(belief: Any, answer: Additive, family: Family) -> AnswerLaw[Any]:
        if belief.records.within is not None:
            return class_law(belief, answer, family)
        law = kind(belief, answer, family)
        return law if law.exact else replace(law, reason=law.no_bound)

    return make


SUM, FUNCTION, SETS, COLUMN = map(record_law, (SumLaw, FunctionLaw, SetsLaw, ColumnLaw))


def is_tight(zero: Pmf, one: Pmf) -> bool:
    """Return whether what one record loses decides exactly what many do: in likelihood-ratio order."""
    return likelihood_ratio_ordered(zero, one) or likelihood_ratio_ordered(one, zero)


def is_ordered(zero: Pmf, one: Pmf) -> bool:
    """Return whether two laws are log-concave on one lattice and one is above the other in likelihood-ratio order.

    Then laws of sums of copies of both are in that order, the more copies of one there are, and so they are after any
    log-concave noise: the outermost comparison is the worst (docs/theory/attributes.md#orders).
    """
    step = lattice_step(zero, one)
    if (int(one.values[0]) - int(zero.values[0])) % step or not (log_concave(zero, step) and log_concave(one, step)):
        return False
    return is_tight(zero, one)


def _mixture(laws: Sequence[tuple[int, Pmf]]) -> tuple[int, Pmf]:
    total = sum(weight for weight, _ in laws)
    return total, Pmf.mix([Fraction(weight, total) for weight, _ in laws], [law for _, law in laws])


def _ends(members: range | tuple[int, ...]) -> tuple[int, int]:
    return members[0], members[-1]
