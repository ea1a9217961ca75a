"""What the independent components of a belief add to an answer beside one of them, and how that smooths its laws.

Let the answer be F = F_1 + ... + F_n over independent components. Given a secret of component i the law of F is that of
F_i given it, convolved with the law of the sum of the others. Noise for F_i alone is enough for F (the others are added
afterwards), but the law of F may need less. The convolution is exact in integers, so it is made where the answer takes
few values (MOST_SMOOTHED); elsewhere, and where any initial distribution is allowed, F_i stands alone.
"""

from __future__ import annotations

import math
from collections.abc import Hashable
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from takifugu.analysis.problem import Part, Problem
from takifugu.analysis.questions.answer_law import answer_law
from takifugu.analysis.questions.compared import AnswerFamily
from takifugu.analysis.questions.marginal import marginal
from takifugu.mechanisms.common.lines import line_answers
from takifugu.model.beliefs import Belief, separate
from takifugu.model.beliefs.alike import Alike, alike
from takifugu.model.queries import Additive
from takifugu.model.secrets.families import Family
from takifugu.numbers.distributions.exact_ratio import exact_law
from takifugu.numbers.distributions.pmf import Pmf

if TYPE_CHECKING:
    from takifugu.analysis.answer_laws.listed import ListedFamily

#: Answers with more values than this are not convolved, nor where all laws together would take more products.
MOST_SMOOTHED, MOST_PRODUCTS = 200, 2e7
#: What a witness adds where a component stands alone.
ALONE = "; smallest given this component alone: nothing counts on what independent ones add"


def is_smoothed(problem: Problem, lines: bool = False) -> bool:
    """Return whether other components' shares count in the laws: for one number, few values, single laws."""
    # With `lines` cells along one line are one number. Independent users are counted elsewhere (`answer_laws.users`).
    if problem.cells > 1 and not lines:
        return False
    if not any(len(belief.components()) > 1 for belief in problem.framework.beliefs):
        return False
    numbers = line_answers(problem)
    laws = sum(len(p.family.entries) * len(p.belief.alphabet(0)) for p in problem.parts)
    if numbers is None:
        return False
    for belief, answer in zip(problem.framework.beliefs, numbers, strict=True):
        if len(belief.components()) == 1:
            continue
        if separate(belief) or not marginal(belief.component(0)).known:
            return False
        values = most_answers(belief, answer)
        if values > MOST_SMOOTHED or laws * values**2 > MOST_PRODUCTS:
            return False
    return True


def stands_alone(problem: Problem, lines: bool = False) -> bool:
    """Return whether one component's laws stand for the whole answer's."""
    if is_smoothed(problem, lines):
        return False
    for number, belief in enumerate(problem.framework.beliefs):
        runs = belief.components()
        if len(runs) > 1 and not separate(belief):
            weights = problem.answers[number].weights
            contributing = [run for run in runs if np.any(weights[run.start : run.stop])]
            if len(contributing) > 1:
                return True
    return False


def alone(problem: Problem, lines: bool = False) -> str:
    """Describe why the noise may be more than the least, if so."""
    if stands_alone(problem, lines):
        return ALONE
    notes = (answer_law(part).note for part in problem.law_parts)
    return next(filter(None, notes), "")


def smoothed(family: AnswerFamily, law_of_others: Pmf, error: float) -> ListedFamily:
    """Return the family convolved with the law of other components' shares."""
    from takifugu.analysis.answer_laws.listed import ListedFamily

    hulls = {}
    for value, laws in family.hulls.items():
        hulls[value] = tuple(exact_law(law).convolve(law_of_others) for law in laws)
    total_error = family.relative_error + error + family.relative_error * error
    pairs = tuple((compared.left[0], compared.right[0]) for compared in family.compared)
    return ListedFamily(family.entry, pairs, hulls, total_error)


def most_answers(belief: Belief, answer: Additive) -> float:
    """Return a bound on the number of a scalar answer's values."""
    spreads, steps, counts = [], [], []
    for table in answer.tables:
        values = np.array(sorted(set(table[:, 0].tolist())))  # np.unique loads masked arrays
        spreads.append(int(values[-1] - values[0]))
        steps.append(np.gcd.reduce(np.diff(values)))
        counts.append(len(values))
    table_numbers = answer.table_numbers
    spread = np.array(spreads, dtype=float)[table_numbers] * np.abs(answer.weights)
    step = np.gcd.reduce(np.array(steps)[table_numbers] * answer.weights)
    states = np.log2(counts)[table_numbers] * (spread > 0)
    return float(min(1 + spread.sum() / max(int(step), 1), 2.0 ** min(states.sum(), 60.0)))


@dataclass(frozen=True, eq=False)
class Shares:
    """The laws of what the independent components of a belief add to an answer, one for each different component."""

    belief: Belief
    answer: Additive

    def others(self, start: int) -> tuple[Pmf, float]:
        """Return the law of the sum of all components but that from entry `start` on, and its relative error."""
        return self._others[self._kind_at[start]]

    @cached_property
    def _kinds(self) -> dict[Hashable, tuple[Belief, Additive, int]]:
        """Return a component of each kind, and the kind's size."""
        kinds: dict[Hashable, tuple[Belief, Additive, int]] = {}
        for group, (piece, share) in zip(self._classes, self._shares, strict=True):
            _, _, count = kinds.get((id(piece), share.key), (piece, share, 0))
            kinds[id(piece), share.key] = piece, share, count + group.count
        return kinds

    @cached_property
    def _kind_at(self) -> dict[int, int]:
        """Return the number of a component's kind by its first entry."""
        order, runs = {kind: place for place, kind in enumerate(self._kinds)}, self.belief.components()
        kinds: dict[int, int] = {}
        for group, (piece, share) in zip(self._classes, self._shares, strict=True):
            for number in group.numbers:
                kinds[runs[int(number)].start] = order[id(piece), share.key]
        return kinds

    @cached_property
    def _classes(self) -> tuple[Alike, ...]:
        return tuple(alike(self.belief, self.answer))

    @cached_property
    def _shares(self) -> list[tuple[Belief, Additive]]:
        """Return the belief about each class's components, kept, and their share."""
        shares = []
        for group in self._classes:
            share = self.answer.restrict(slice(group.run.start, group.run.stop))
            shares.append((self.belief.component(group.number), share))
        return shares

    @cached_property
    def _others(self) -> list[tuple[Pmf, float]]:
        """Return the law of all others' sum for each kind."""
        from takifugu.numbers.extended.leave_one_out import Sums

        laws, counts, logs = [], [], []
        for piece, share, count in self._kinds.values():
            law, error = share_law(piece, share)
            laws.append(law)
            counts.append(count)
            logs.append(count * math.log1p(error))
        sums, error = Sums(laws, counts, Pmf([0], [1])), 1.01 * math.expm1(math.fsum(logs))
        return [(sums.without(kind), error) for kind in range(len(laws))]


def share_law(piece: Belief, share: Additive) -> tuple[Pmf, float]:
    """Return the law of one component's share, in exact masses, and their relative error."""
    free = next((i for i in range(piece.size) if sum(piece.possible(i)) > 1), None)
    if free is None:
        read = list(map(int, np.flatnonzero(share.weights)))  # an entry that is not read has no table of its own
        fixed = sum(int(share.contribution(i)[piece.possible(i).index(True), 0]) for i in read)
        return Pmf([fixed], [1]), 0.0
    # The law is the mixture of the laws given an entry's values over the probabilities of these values.
    chances, error = marginal(piece).of(free)
    family = next(answer_law(Part(piece, share, Family((free,)))).families())
    total = sum([chances[place] for place in family.hulls], Fraction(0))
    laws_given_value = [exact_law(law) for (law,) in family.hulls.values()]
    law = Pmf.mix([chances[v] / total for v in family.hulls], laws_given_value)
    return law, 2.01 * (2 * family.relative_error + error)
