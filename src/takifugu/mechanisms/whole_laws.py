"""The two laws of the whole answer in every comparison, for mechanisms that act on the answer and not by added noise.

Let the answer be F = F_1 + ... + F_n over independent components. A secret of component i says nothing about the
others, so given it the law of F is that of F_i given it, convolved with the law of the sum of the others. Added noise
may leave the others out, because they can be added afterwards; a choice among outputs sees F itself, and may not.
The laws are convolved as exact integers (floats are binary fractions), so nothing but their own rounding remains.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np

from takifugu import answers
from takifugu.answers.sums import Sums
from takifugu.answers.wide import UNIT
from takifugu.beliefs import Belief
from takifugu.beliefs.chain import MarkovChain
from takifugu.beliefs.contacts import Clique
from takifugu.beliefs.network import BayesianNetwork
from takifugu.beliefs.users import IndependentUsers
from takifugu.errors import Unsupported
from takifugu.laws.atoms import Floats
from takifugu.laws.exact_ratio import exact_law
from takifugu.laws.pmf import Pmf
from takifugu.mechanisms.base import Part, Problem
from takifugu.mechanisms.compared_laws import Comparison, compared_laws
from takifugu.mechanisms.log_ratios import TRUSTED
from takifugu.queries import Additive
from takifugu.secrets import Family

#: Laws of sums of independent shares are listed up to this many values.
MOST_ANSWERS = 1000


def whole_laws(problem: Problem) -> Iterator[Comparison]:
    """Yield every comparison of a problem with the laws of the whole answer.

    Raises Unsupported where a belief has no law of the answer, where independent components follow a chain of any
    start, and where the sum of independent shares may take more than MOST_ANSWERS values.
    """
    if problem.is_pair:
        yield from compared_laws(problem)
        return
    for belief, answer in zip(problem.framework.beliefs, problem.answers, strict=True):
        alone = problem
        if len(problem.framework.beliefs) > 1:
            alone = replace(problem, framework=replace(problem.framework, beliefs=(belief,)))
        if len(belief.components()) == 1:
            yield from compared_laws(alone)
            continue
        _check_cells(belief, answer)
        _check_size(belief, answer)
        if isinstance(belief, IndependentUsers):
            yield from _of_users(alone, belief, answer)
        else:
            shares = Shares(belief, answer)
            for comparison in compared_laws(alone):
                yield shares.completed(comparison)


def most_answers(belief: Belief, answer: Additive) -> float:
    """Return a bound on how many values a scalar answer can take: places between the outermost, and joint states.

    >>> from takifugu import Count, IndependentUsers
    >>> users = IndependentUsers([{0: 0.5, 1: 0.5}] * 25)
    >>> most_answers(users, Count(1).resolve(users))
    26.0
    """
    values = [np.unique(table[:, 0]) for table in answer.tables]
    which = np.zeros(answer.size, dtype=np.int64) if answer.table_of is None else answer.table_of
    spreads = np.array([int(v[-1] - v[0]) for v in values], dtype=float)[which] * np.abs(answer.weights)
    steps = np.array([np.gcd.reduce(np.diff(v)) if len(v) > 1 else 0 for v in values])[which] * answer.weights
    states = np.log2([len(v) for v in values])[which] * (spreads > 0)
    return float(min(1 + spreads.sum() / max(int(np.gcd.reduce(steps)), 1), 2.0 ** min(states.sum(), 60.0)))


@dataclass(frozen=True, eq=False)
class Shares:
    """The laws of what the independent components of a belief add to an answer, one for each different component."""

    belief: Belief
    answer: Additive

    def completed(self, comparison: Comparison) -> Comparison:
        """Return a comparison of laws of one component's share as one of laws of the whole answer."""
        others, error = self._others[self._kind_at[comparison.located.start]]
        p, q = (exact_law(law).convolve(others) for law in (comparison.p, comparison.q))
        return replace(comparison, p=p, q=q, error=comparison.error + error + comparison.error * error)

    @cached_property
    def _kinds(self) -> dict[Any, tuple[Belief, Additive, int]]:
        """A component and how many are like it, by what makes components alike."""
        found: dict[Any, tuple[Belief, Additive, int]] = {}
        for number, run in enumerate(self.belief.components()):
            piece, share = self.belief.component(number), self.answer.restrict(slice(run.start, run.stop))
            _, _, count = found.get((id(piece), share.key), (piece, share, 0))
            found[id(piece), share.key] = piece, share, count + 1
        return found

    @cached_property
    def _kind_at(self) -> dict[int, int]:
        """The number of a component's kind by its first entry."""
        order = {key: place for place, key in enumerate(self._kinds)}
        return {
            run.start: order[id(self.belief.component(n)), self.answer.restrict(slice(run.start, run.stop)).key]
            for n, run in enumerate(self.belief.components())
        }

    @cached_property
    def _others(self) -> list[tuple[Pmf, float]]:
        """For each kind of component the law of the sum of all others, and how far its masses may be off."""
        kinds = list(self._kinds.values())
        laws = [share_law(piece, share) for piece, share, _ in kinds]
        counts = [count for _, _, count in kinds]
        sums = Sums([law for law, _ in laws], counts, lambda p, q: p.convolve(q), Pmf([0], [1]))
        logs = math.fsum(count * math.log1p(error) for (_, error), count in zip(laws, counts, strict=True))
        return [(sums.without(kind), 1.01 * math.expm1(logs)) for kind in range(len(kinds))]


def share_law(piece: Belief, share: Additive) -> tuple[Pmf, float]:
    """Return (law, error): the exact-mass law of one component's share, each mass right up to a factor 1 +- error.

    It is the mixture of the laws given an entry's values over the probabilities of these values.

    >>> clique = Clique(2, Pmf([0, 1, 2], [Fraction(1, 2), Fraction(1, 4), Fraction(1, 4)]))
    >>> from takifugu import Count
    >>> [str(p) for _, p in share_law(clique, Count(1).resolve(clique))[0].items()]
    ['1/2', '1/4', '1/4']
    """
    free = next((i for i in range(piece.size) if sum(piece.possible(i)) > 1), None)
    if free is None:
        read = [int(i) for i in np.flatnonzero(share.weights)]  # an entry that is not read has no table of its own
        fixed = sum(int(share.contribution(i)[piece.possible(i).index(True), 0]) for i in read)
        return Pmf([fixed], [1]), 0.0
    chances, error = _chances(piece, free)
    family = next(iter(answers.families(Part(piece, share, Family((free,))))))
    total = sum((chances[value] for value in family.hulls), Fraction(0))
    law = Pmf.mix([chances[v] / total for v in family.hulls], [exact_law(given) for (given,) in family.hulls.values()])
    return law, 2.01 * (2 * family.relative_error + error)


def _of_users(problem: Problem, belief: IndependentUsers, answer: Additive) -> Iterator[Comparison]:
    for comparison in compared_laws(problem):
        if not getattr(comparison.family, "whole", True):
            raise Unsupported(_too_many(belief, answer))
        yield comparison


def _chances(piece: Belief, entry: int) -> tuple[list[Fraction], float]:
    """Return the probability of each value of an entry, up to a factor 1 +- error."""
    if isinstance(piece, Clique):
        ill = sum((Fraction(n) * Fraction(p) for n, p in piece.number.items()), Fraction(0)) / piece.size
        return [sum((Fraction(p) for _, p in piece.number.items()), Fraction(0)) - ill, ill], 0.0
    if isinstance(piece, BayesianNetwork):
        table, error = piece.law([entry])
        return _trusted(table, np.asarray(piece.possible(entry))), error
    if isinstance(piece, MarkovChain) and piece.initial != "any":
        rounded = 1.01 * (len(piece.states) + 1) * (entry + 1) * UNIT
        if piece.initial == "stationary":
            law = piece.wide_stationary
            shares = zip(law.mantissas.tolist(), law.exponents.tolist(), strict=True)
            return [Fraction(m) * Fraction(2) ** e if m else Fraction(0) for m, e in shares], rounded
        return _trusted(piece.marginal(entry), np.asarray(piece.possible(entry))), rounded
    if isinstance(piece, MarkovChain):
        raise Unsupported(
            "a choice among outputs sees the whole answer, and the other pieces of any start have no one law of what "
            'they add: state the start, or use additive noise, mechanism="laplace-exact"'
        )
    raise Unsupported(f"the law of what {piece.describe()} adds to the answer is not known: use additive noise")


def _trusted(masses: Floats, possible: Any) -> list[Fraction]:
    """Return float masses as they are; Unsupported where one that is possible may have lost digits or vanished."""
    if (possible & (masses < TRUSTED)).any():
        raise Unsupported(
            "a value of an entry has a probability below 1e-270, too small for the law of what independent components "
            'add: use additive noise, mechanism="laplace-exact"'
        )
    return [Fraction(p) for p in masses.tolist()]


def _check_cells(belief: Belief, answer: Additive) -> None:
    reason = answers.unsupported(belief.component(0), answer)
    if reason:
        raise Unsupported(reason)


def _check_size(belief: Belief, answer: Additive) -> None:
    if most_answers(belief, answer) > MOST_ANSWERS:
        raise Unsupported(_too_many(belief, answer))


def _too_many(belief: Belief, answer: Additive) -> str:
    return (
        f"the answer may take up to {most_answers(belief, answer):,.0f} values, and a table of masses has at most "
        f'{MOST_ANSWERS:,} of them: publish a coarser answer or fewer entries, or use mechanism="laplace-exact"'
    )
