"""Families of laws that are listed atom by atom: of joint tables, and two laws given directly."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

from takifugu.analysis.answer_laws.dense import compared
from takifugu.analysis.questions.answer_law import AnswerLaw, Compared, Move
from takifugu.model.beliefs.pair import LawPair
from takifugu.numbers.after_noise.noised import (
    exact_laplace_scale,
    laplace_log_ratio,
    laplace_log_ratio_bounds,
    wasserstein_scale,
)
from takifugu.numbers.distributions.exact_ratio import log_masses
from takifugu.numbers.distributions.pmf import Pmf
from takifugu.numbers.rationals import round_up
from takifugu.numbers.transport.on_the_line import w_infinity_candidates


@dataclass(frozen=True, eq=False)
class ListedFamily:
    """The laws of the answer given each value of one entry, and the ordered pairs of value indices to compare.

    Both orders are always looked at. Each mass is right up to a factor 1 +- `relative_error`: 0 means exact, or given.
    """

    entry: int
    pairs: tuple[tuple[int, int], ...]
    hulls: Mapping[int, tuple[Pmf, ...]]
    relative_error: float = 0.0

    whole = True

    @cached_property
    def compared(self) -> tuple[Compared, ...]:
        """Return the unordered pairs of laws, by values and hulls' numbers.

        A pair is (a, number in a's hull, b, number in b's hull).
        """
        return compared(self.pairs, {value: len(laws) for value, laws in self.hulls.items()})

    def losses(self, scale: Fraction) -> list[float]:
        """Bound sup abs log A/B per comparison; scale 0 is no noise."""
        return [self._loss(*self._laws(index), scale) for index in range(len(self.compared))]

    def moves(self, index: int) -> tuple[Move, ...]:
        """Return increasing proposals for W-infinity; the last is certain.

        Of rounded masses no proposal is: laws that look equal may differ anywhere by the error.
        """
        proposals = w_infinity_candidates(*self._laws(index))
        return (*proposals, self.reach(index)) if self.relative_error else proposals

    def wasserstein(self, index: int, epsilon: Fraction) -> tuple[Move, Fraction]:
        """Return (w, scale): W-infinity and the scale w/epsilon (`after_noise.noised.wasserstein_scale`)."""
        budget = epsilon - Fraction(self._margin)
        if budget <= 0:
            return self.reach(index), round_up(self.reach(index) / epsilon)
        return wasserstein_scale(*self._laws(index), budget)

    def smallest_scale(self, index: int, epsilon: Fraction) -> Fraction:
        """Return the smallest scale for a log-ratio within epsilon.

        See `noised.exact_laplace_scale`.
        """
        budget, upper = epsilon - Fraction(self._margin), self.reach(index) / epsilon
        if budget <= 0:
            return upper
        return min(Fraction(exact_laplace_scale(*self._laws(index), budget)), upper)

    def _loss(self, p: Pmf, q: Pmf, scale: Fraction) -> float:
        if scale:
            return laplace_log_ratio_bounds(p, q, float(scale) * (1 - 2.0**-52))[1] + self._margin
        sizes = 1 - float(min(log_masses(p).min(), log_masses(q).min()))
        return laplace_log_ratio(p, q, 0) + 2.0**-48 * sizes + self._margin

    def reach(self, index: int) -> Fraction:
        """Bound every move by the largest distance between two laws' atoms."""
        (p_least, p_most), (q_least, q_most) = (law.support_range for law in self._laws(index))
        return max(Fraction(p_most) - Fraction(q_least), Fraction(q_most) - Fraction(p_least))

    @property
    def _margin(self) -> float:
        """How far rounded masses can move a log-ratio."""
        return 2 * self.relative_error * (1 + self.relative_error)

    def _laws(self, index: int) -> tuple[Pmf, Pmf]:
        a, i, b, j = self.compared[index]
        return self.hulls[a][i], self.hulls[b][j]


class PairLaw(AnswerLaw[LawPair]):
    """The two given laws, in answer units."""

    def families(self) -> Iterator[ListedFamily]:
        yield ListedFamily(0, ((0, 1), (1, 0)), {0: (self.belief.left,), 1: (self.belief.right,)})

    def atoms(self) -> float:
        return float(len(self.belief.left) + len(self.belief.right))

    def describe(self, entry: int, value: int, number: int, start: int = 0) -> str:
        return "the right one" if value else "the left distribution"
