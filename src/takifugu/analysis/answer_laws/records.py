"""Laws of a scalar answer that adds up over independent records, given a property of their columns.

Few records: the exact laws given every value of the property (`record_sums`). Many: bounds from what one record
adds (`repeated`), for a property of two levels, or one whose levels are evenly spaced and log-concave, and for the
column of one record. Otherwise there is no law: nothing is proved, and the reason says what it would have cost. Given
which set a property is in the laws are mixtures of those given its values. Proofs: docs/theory/attributes.md#records.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import replace
from fractions import Fraction
from functools import cached_property, partial
from itertools import compress, pairwise
from typing import Any

from takifugu.analysis.answer_laws.listed import ListedFamily
from takifugu.analysis.answer_laws.record_classes import class_law
from takifugu.analysis.answer_laws.repeated import copies, repeated
from takifugu.analysis.bounds import Cost
from takifugu.analysis.questions.answer_law import AnswerLaw
from takifugu.analysis.questions.compared import AnswerFamily, BoundedFamily
from takifugu.core.cache import cached
from takifugu.core.errors import Unsupported
from takifugu.model.beliefs.records.record_views import Laws, Property, RecordView, Sum
from takifugu.model.beliefs.records.records import Records
from takifugu.model.queries import Additive
from takifugu.model.secrets.families import Family, compared_values
from takifugu.model.secrets.value_sets import ends_of_sets
from takifugu.numbers.distributions.exact_ratio import (
    lattice_step,
    likelihood_ratio_ordered,
    log_concave,
    stochastically_ordered,
)
from takifugu.numbers.distributions.pmf import Pmf
from takifugu.numbers.distributions.record_sums import RecordLaw

#: Most products of integers for exact laws, pairs of values that are compared one by one, and digits of a mass.
MOST_PRODUCTS, MOST_COMPARED, MOST_DIGITS = 3e6, 2_000, 4096
#: Pairs are compared one by one only up to this number where the outermost is the worst for every added noise.
FEW_COMPARED = 50
#: Most products for laws of many copies.
MOST_COPIES = 4e9

#: What a witness adds where many records are bounded through one.
BOUND = "; this is what each record that changes may tell by itself, added up: all together they may tell less"


class RecordsLaw(AnswerLaw[RecordView]):
    """The laws given a property of the records, or which set it is in; `belief` is the view."""

    @property
    def shown(self) -> Property:
        return self.belief.shown

    @property
    def records(self) -> Records:
        return self.belief.whole

    @cached_property
    def adds(self) -> list[int]:
        """Return the addend of each row of the table, in grid units."""
        share = self.answer.contribution(0)[:, 0]
        return list(map(int, share.tolist()))

    @cached_property
    def law(self) -> RecordLaw[Any]:
        """The law of one record."""
        return RecordLaw.of(zip(self.shown.levels, self.adds, self.records.weights, strict=True))

    # What exact laws would take, and whether they are listed.
    @cached_property
    def reach(self) -> int:
        """How many places the answer's law has for each record, less one."""
        alive = sorted(set(compress(self.adds, self.records.possible(0))))
        return (alive[-1] - alive[0]) // lattice_step(Pmf.from_counts(alive, [1] * len(alive)))

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

    @cached_property
    def products(self) -> float:
        """How many products of integers the exact laws take."""
        return self.shown.products(self.law, self.places, self.digits)

    @property
    def pairs_count(self) -> float:
        """How many unordered pairs are compared."""
        return self.pairs_of(sum(self.belief.possible(0)))

    @property
    def is_binary(self) -> bool:
        return len(self.law.levels) == 2

    @property
    def is_one_sum(self) -> bool:
        """Return whether the values of one sum are compared, and not sets of them."""
        return isinstance(self.shown, Sum) and self.belief.sets is None

    @property
    def outermost_is_worst(self) -> bool:
        """Return whether one exact comparison is the worst for every noise."""
        if not self.is_one_sum or not self.is_binary or self.family.pairs is not None:
            return False
        return is_ordered(*map(self.law.given, self.law.levels))

    @cached_property
    def exact(self) -> bool:
        """Whether the laws given every value are listed."""
        most = FEW_COMPARED if self.outermost_is_worst else MOST_COMPARED
        return self.products <= MOST_PRODUCTS and self.digits <= MOST_DIGITS and self.pairs_count <= most

    @cached_property
    def no_bound(self) -> str:
        """Why no bound is proved beyond listed laws, else ""."""
        return self.shown.unbounded(self.law, Cost(100 * self.products, 100 * self.products).describe())

    # The laws, and bounds beyond them.
    def families(self) -> Iterator[AnswerFamily]:
        members = self.belief.members
        if self.exact:
            values = compared_values(self.compared_pairs)
            laws = self.shown.laws(self.law, values) if members is None else self._mixed(members)
            yield ListedFamily(0, self.compared_pairs, {v: (laws[v][1],) for v in values})
        elif self.no_bound:
            raise Unsupported(self.no_bound)
        elif self.shown.is_of_one_record:
            laws_of_one = {v: (self.law.given(v),) for v in compared_values(self.compared_pairs)}
            yield ListedFamily(0, self.compared_pairs, laws_of_one, whole=False)
        elif members is None:
            yield self.repeated(*self.farthest)
        else:  # whatever hides each two of their values hides two sets
            for sets, ends in ends_of_sets(members):
                times = max(abs(self.steps_between(min(pair), max(pair))) for pair in ends)
                yield self.repeated(sets, times)

    def _mixed(self, members: Sequence[Sequence[int]]) -> Laws:
        """Return the law given each set with members: a mixture of those given its values."""
        laws = self.shown.laws(self.law, sorted(set().union(*members)))
        mixtures = {}
        for s, group in enumerate(members):
            if len(group):
                weights, mixed = zip(*map(laws.__getitem__, group), strict=True)
                total = sum(weights)
                mixtures[s] = total, Pmf.mix([Fraction(weight, total) for weight in weights], mixed)
        return mixtures

    @property
    def farthest(self) -> tuple[tuple[int, int], int]:
        """Return the two values farthest apart, in steps of one record."""
        keys = self.shown.keys
        if self.family.pairs is None:
            pair = (0, len(keys) - 1)
        else:
            pair = max(self.family.pairs, key=lambda pair: keys[pair[1]] - keys[pair[0]])
        return pair, self.steps_between(*pair)

    def steps_between(self, a: int, b: int) -> int:
        """Return the least number of one-record steps between two values."""
        low, high, *_ = self.law.levels
        return int((self.shown.keys[b] - self.shown.keys[a]) // (high - low))

    def repeated(self, pair: tuple[int, int], times: int) -> BoundedFamily:
        """Bound all pairs of values at most `times` steps apart."""
        laws = list(map(self.law.given, self.law.levels))
        changes = list(pairwise(range(len(laws))))
        single = ListedFamily(0, tuple(changes), {level: (law,) for level, law in enumerate(laws)})
        if not self.is_binary or times * self.reach > MOST_COPIES**0.5:
            return repeated(pair, single, times)
        zero, other = laws
        shifts = partial(cached, self, (copies, times), partial(copies, zero, other, times))
        ordered = stochastically_ordered(zero, other) or stochastically_ordered(other, zero)
        return repeated(
            pair, single, times, shifts if is_ordered(zero, other) else None, shifts if ordered else None
        )

    # What is said and predicted of them.
    @property
    def note(self) -> str:
        if self.exact or (self.is_one_sum and self.is_binary and is_tight(*map(self.law.given, self.law.levels))):
            return ""
        return BOUND

    def work(self, laplace: bool = False) -> tuple[float, float]:
        if self.exact:
            return 100.0 * self.products, 100.0 * self.products
        copied = 0.0 if laplace or self.shown.is_of_one_record else self.places**2
        return 1e4 + copied, 1e4 + 200 * copied**0.5

    def atoms(self) -> float:
        return self.places if self.exact else 1.0 + self.reach

    def comparisons(self, laplace: bool = False) -> tuple[float, float]:
        if self.reason or not len(self.family.entries):
            return 0.0, 0.0
        if self.exact or self.shown.is_of_one_record:
            return self.pairs_count, self.atoms()
        # Masses of many copies have as many digits as there are copies.
        return 1.0, (1.0 + self.reach if laplace else self.places * (1 + self.places / 500))

    def cached_bytes(self) -> float:
        return super().cached_bytes() if self.exact else 1e4  # laws of copies are made where they are asked for


def is_tight(low: Pmf, high: Pmf) -> bool:
    """Return whether two laws are in likelihood-ratio order: one record's loss decides that of many exactly."""
    return likelihood_ratio_ordered(low, high) or likelihood_ratio_ordered(high, low)


def is_ordered(low: Pmf, high: Pmf) -> bool:
    """Return whether two laws are log-concave and in likelihood-ratio order, on one lattice (#orders)."""
    step = lattice_step(low, high)
    if (int(high.values[0]) - int(low.values[0])) % step or not (log_concave(low, step) and log_concave(high, step)):
        return False
    return is_tight(low, high)


def record_law(belief: RecordView, answer: Additive, family: Family) -> AnswerLaw[RecordView]:
    """Return the laws given a property of records; inexact ones have `no_bound` as reason."""
    if belief.whole.within is not None:
        return class_law(belief, answer, family)
    law = RecordsLaw(belief, answer, family)
    return law if law.exact else replace(law, reason=law.no_bound)
