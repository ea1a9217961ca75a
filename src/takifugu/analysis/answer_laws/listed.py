"""Families of laws that are listed atom by atom: of joint tables, and two laws given directly."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from itertools import chain, starmap

import numpy as np

from takifugu.analysis.questions.answer_law import AnswerLaw
from takifugu.analysis.questions.compared import Compared, LawIndex, Move, laws_of, unordered
from takifugu.analysis.questions.evaluating import row_answers
from takifugu.core.arrays import IntArray
from takifugu.core.errors import InputError
from takifugu.model.beliefs.pair import LawPair
from takifugu.model.beliefs.table import JointTable
from takifugu.model.secrets.families import compared_values
from takifugu.numbers.after_noise.noised import (
    exact_laplace_scale,
    laplace_log_ratio,
    laplace_log_ratio_bounds,
    wasserstein_scale,
)
from takifugu.numbers.distributions.exact_ratio import log_masses
from takifugu.numbers.distributions.pmf import Pmf
from takifugu.numbers.extended.floats import UNIT
from takifugu.numbers.outward_rounding import log_ratio_error
from takifugu.numbers.rationals import round_up
from takifugu.numbers.transport.on_the_line import w_infinity_candidates

#: Exact masses are kept up to this many atoms and binary digits of a mass.
FEW_ATOMS, FEW_DIGITS = 512, 4096


@dataclass(frozen=True, eq=False)
class ListedFamily:
    """The laws of the answer given each value of one entry, and the ordered pairs of value indices to compare.

    Both orders are always looked at. Each mass is right up to a factor 1 +- `relative_error`: 0 means exact, or given.
    Laws that are not `whole` are those of a part of the answer: enough for added noise, and for nothing else.
    """

    entry: int
    pairs: tuple[tuple[int, int], ...]
    hulls: Mapping[int, tuple[Pmf, ...]]
    relative_error: float = 0.0
    whole: bool = True

    alone = None

    def __post_init__(self) -> None:
        for value in set(chain.from_iterable(self.pairs)):
            if not self.hulls.get(value):
                raise InputError(
                    f"the answer has no distribution given value {value} of entry {self.entry}",
                    rule="every value that is compared has one, or several", fix="list them in hulls",
                )  # fmt: skip

    @property
    def compared(self) -> tuple[Compared, ...]:
        """Return every unordered pair of laws."""
        sizes = {value: len(laws) for value, laws in self.hulls.items()}
        return tuple(starmap(self._compared, unordered(self.pairs, sizes)))

    def losses(self, scale: Fraction) -> list[float]:
        return [compared.loss(scale) for compared in self.compared]

    def _compared(self, left: LawIndex, right: LawIndex) -> Compared:
        p, q = (self.hulls[value][number] for value, number in (left, right))
        (p_least, p_most), (q_least, q_most) = p.support_range, q.support_range
        reach = max(Fraction(p_most) - Fraction(q_least), Fraction(q_most) - Fraction(p_least))
        return Compared(
            left, right, reach, partial(self._loss, p, q), partial(self._moves, p, q, reach),
            partial(laws_of, self, left, right), partial(self._smallest_scale, p, q, reach),
            partial(self._wasserstein, p, q, reach),
        )  # fmt: skip

    def _moves(self, p: Pmf, q: Pmf, reach: Fraction) -> tuple[Move, ...]:
        """Return proposals for W-infinity."""
        proposals = w_infinity_candidates(p, q)
        # rounded masses that look equal may differ anywhere by the error
        return (*proposals, reach) if self.relative_error else proposals

    def _wasserstein(self, p: Pmf, q: Pmf, reach: Fraction, epsilon: Fraction) -> tuple[Move, Fraction]:
        budget = epsilon - Fraction(self._margin)
        if budget <= 0:
            return reach, round_up(reach / epsilon)
        return wasserstein_scale(p, q, budget)

    def _smallest_scale(self, p: Pmf, q: Pmf, reach: Fraction, epsilon: Fraction) -> Fraction:
        budget, upper = epsilon - Fraction(self._margin), reach / epsilon
        if budget <= 0:
            return upper
        return min(Fraction(exact_laplace_scale(p, q, budget)), upper)

    def _loss(self, p: Pmf, q: Pmf, scale: Fraction) -> float:
        if scale:
            return laplace_log_ratio_bounds(p, q, float(scale) * (1 - 2.0**-52))[1] + self._margin
        sizes = 1 - float(min(log_masses(p).min(), log_masses(q).min()))
        return laplace_log_ratio(p, q, 0) + 2.0**-48 * sizes + self._margin

    @property
    def _margin(self) -> float:
        """How far rounded masses can move a log-ratio."""
        return log_ratio_error(self.relative_error)


def one_move(entry: int, pair: tuple[int, int], move: Fraction) -> ListedFamily:
    """Return the family of two numbers that a move lies between, beside what is the same under both hypotheses."""
    a, b = pair
    laws = {a: (Pmf([Fraction(0)], [1]),), b: (Pmf([move], [1]),)}
    return ListedFamily(entry, ((a, b), (b, a)), laws, whole=False)


class PairLaw(AnswerLaw[LawPair]):
    """The two given laws, in answer units."""

    def families(self) -> Iterator[ListedFamily]:
        yield ListedFamily(0, ((0, 1), (1, 0)), {0: (self.belief.left,), 1: (self.belief.right,)})

    def atoms(self) -> float:
        return float(len(self.belief.left) + len(self.belief.right))

    def describe(self, entry: int, value: int, number: int, start: int = 0) -> str:
        return "the right one" if value else "the left distribution"


#: Relative error of a mass of `law_given` for a table of floats: two sums, one division, one division in Pmf.
ROUNDED = 6 * UNIT


def law_given(belief: JointTable, answers: IntArray, entry: int, value: int) -> Pmf:
    """Return the law of the answer given a possible value of an entry, by its index; exact if the table is."""
    groups: dict[int, list[int | float]] = {}
    for row in np.flatnonzero(belief.indices[:, entry] == value).tolist():
        groups.setdefault(int(answers[row]), []).append(belief.masses[row])
    values = sorted(groups)
    if belief.total is not None:
        return Pmf.from_counts(values, [int(sum(groups[v])) for v in values])
    total = math.fsum(chain.from_iterable(groups.values()))
    return Pmf(values, [math.fsum(groups[v]) / total for v in values])


class TableLaw(AnswerLaw[JointTable]):
    """The laws given each value of each secret entry, in order: sums over the rows."""

    def families(self) -> Iterator[ListedFamily]:
        belief, answers = self.belief, row_answers(self.belief, self.answer)
        for entry in self.family.entries:
            pairs = self.family.value_pairs(belief, entry)
            if pairs:
                laws = {v: (law_given(belief, answers, entry, v),) for v in compared_values(pairs)}
                yield ListedFamily(entry, pairs, laws, 0.0 if belief.total is not None else ROUNDED)

    def work(self, laplace: bool = False) -> tuple[float, float]:
        return 100.0 * self.atoms() * len(self.family.entries), 100.0 * self.atoms()

    def atoms(self) -> float:
        return float(len(self.belief.rows))
