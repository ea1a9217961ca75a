"""What laws of an answer given a property of independent records have in common: their size, and when they exist."""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Sequence
from functools import cached_property
from itertools import compress
from typing import TYPE_CHECKING, TypeVar

from takifugu.analysis.answer_laws.listed import ListedFamily
from takifugu.analysis.questions.answer_law import AnswerLaw
from takifugu.model.beliefs.records.record_views import RecordView
from takifugu.model.secrets.families import compared_values
from takifugu.numbers.distributions.exact_ratio import lattice_step
from takifugu.numbers.distributions.pmf import Pmf
from takifugu.numbers.distributions.record_sums import Level, RecordLaw

if TYPE_CHECKING:
    from takifugu.model.beliefs.records.records import Records

Seen = TypeVar("Seen", bound=RecordView, covariant=True)

#: Most products of integers for exact laws, pairs of values that are compared one by one, and digits of a mass.
MOST_PRODUCTS, MOST_COMPARED, MOST_DIGITS = 3e6, 2_000, 4096
#: Pairs are compared one by one only up to this number where the outermost is the worst for every added noise.
FEW_COMPARED = 50

#: What a witness adds where many records are bounded through one.
BOUND = "; this is what each record that changes may tell by itself, added up: all together they may tell less"

#: A value of the property, an integer proportional to its probability, and the law of the answer given it.
Laws = dict[int, tuple[int, Pmf]]


class RecordsLaw(AnswerLaw[Seen]):
    """What the laws given a property of the records have in common; `belief` is the view."""

    @property
    def records(self) -> Records:
        return self.belief.whole

    @cached_property
    def adds(self) -> list[int]:
        """Return the addend of each row of the table, in grid units."""
        share = self.answer.contribution(0)[:, 0]
        return list(map(int, share.tolist()))

    def record(self, levels: Sequence[Level]) -> RecordLaw[Level]:
        """Return the law of one record, for these levels of the rows."""
        return RecordLaw.of(zip(levels, self.adds, self.records.weights, strict=True))

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

    @property
    @abstractmethod
    def products(self) -> float:
        """How many products of integers the exact laws take."""

    @property
    def no_bound(self) -> str:
        """Return why no bound is proved beyond listed laws, else ""."""
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
        """Return whether one exact comparison is the worst for every noise."""
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

    def cached_bytes(self) -> float:
        return super().cached_bytes() if self.exact else 1e4  # laws of copies are made where they are asked for

    def _listed(self, laws: Laws) -> ListedFamily:
        pairs = self.compared_pairs
        return ListedFamily(0, pairs, {v: (laws[v][1],) for v in compared_values(pairs)})
