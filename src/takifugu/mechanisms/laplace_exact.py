"""The smallest Laplace noise: the least scale b after which no comparison's largest log-ratio exceeds epsilon.

For laws mu, nu of the answer under the two sides of a comparison the ratio of the noised densities is monotone between
neighbouring atoms, so its extremes are at atoms, and it falls when b grows: the least b is found by search, comparison
by comparison, and the largest of them serves all (docs/architecture.md#exact-laplace-scale); for any initial
distribution the ratio is taken over all at once. It is never above W-infinity / epsilon (Song17 Theorem 3.2). The same
b serves discrete Laplace noise on the grid. Where the laws differ by at most epsilon themselves, no noise is needed. An
answer of several cells that moves along one line, such as a histogram over two states, counts as one number, with the
smallest scale again (`lines`). It is a promise about this one answer's law and does not compose (errata E12).
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import partial

import numpy as np

from takifugu.answer_laws.dense import DenseFamily
from takifugu.answer_laws.minimax_start import WHOLE, over_all_starts
from takifugu.capabilities.answer_law import Compared
from takifugu.guarantee import Composition
from takifugu.laws.exact_ratio import log_masses
from takifugu.laws.pmf import Pmf
from takifugu.mechanisms.answer_families import Located, predicted
from takifugu.mechanisms.answer_noise import laplace_noise
from takifugu.mechanisms.largest_need import refusing
from takifugu.mechanisms.pooled import Amount, Rule, conditions, fewer, least
from takifugu.problem import Bound, Cost, Problem, Refusal, Witness

#: For the predicted time: passes over the laws of a comparison.
SCANS = 150.0
#: The scale that other comparisons are tried with lies this much above the largest found so far, relatively.
HEADROOM = Fraction(1, 2**35)


@dataclass(frozen=True)
class LaplaceExact:
    """The smallest Laplace scale for an answer of one number or on one line, rounded up by at most 1e-10 relative.

    Where rounded masses could move a log-ratio by r, a further r / epsilon relative is added (about 1e-12 / epsilon for
    a chain of 1,000 steps).
    """

    name: str = "laplace-exact"
    source: str = (
        "largest log-ratio of two distributions after Laplace noise, at atoms; "
        "never above Song, Wang and Chaudhuri 2017, Theorem 3.2"
    )

    def cost(self, problem: Problem) -> Cost:
        """Predict the work: all laws once, and about 150 operations per atom for every comparison."""
        return predicted(problem, SCANS, laplace=True, lines=True)

    @refusing
    def bound(self, problem: Problem) -> Bound | Refusal:
        """Return the least noise that keeps every comparison within epsilon: none at all where none is needed.

        >>> from takifugu.frameworks import between
        >>> from takifugu.laws.pmf import Pmf
        >>> from takifugu.queries import Identity
        >>> flu = between(Pmf.from_counts([0, 1, 2, 3], [3, 1, 1, 1]), Pmf.from_counts([1, 2, 3, 4], [1, 1, 1, 1]))
        >>> round(float(MECHANISM.bound(Problem(flu, Identity(), Fraction(1))).randomiser.scale), 9)
        1.46353212
        """
        return _bound(problem, least(problem, _rule(problem)))

    def with_fewer_others(self, problem: Problem) -> Iterator[Bound]:
        """Yield the bounds that count on ever fewer of the other components, at last on none."""
        for amount in fewer(problem, _rule(problem), least(problem, _rule(problem))):
            yield _bound(problem, amount)


MECHANISM = LaplaceExact()


def _rule(problem: Problem) -> Rule:
    nothing = "no comparison: the distributions differ by less than epsilon without noise"
    needs = partial(_needs, epsilon=problem.epsilon)
    return Rule(needs, _loss, nothing, SCANS, SCANS, lines=True, settled=partial(_settled, epsilon=problem.epsilon))


def _bound(problem: Problem, amount: Amount) -> Bound:
    noise = laplace_noise(problem, amount.size)
    detail = f"the log-ratio reaches epsilon here first{amount.note}"
    witness = Witness(amount.worst, detail, (("scale", float(noise.scale)),))
    told = conditions(problem, _rule(problem), amount)
    return Bound(noise, problem.epsilon, Fraction(0), Composition.SINGLE, witness, told)


def _loss(located: Located, scale: Fraction, enough: float) -> float:
    return max(enough, *over_all_starts(located.family).losses(scale), 0.0)


def _settled(located: Located, compared: Compared, scale: Fraction, epsilon: Fraction) -> bool:
    """Return whether a comparison loses epsilon beyond all atoms at this scale, where other components change nothing.

    There the ratio of the densities is E e^{F/b} given a over that given b, or with -F for F, and what independent
    components add is a factor of both. It is asked of laws of one start.
    """
    a, i, b, j = compared
    hulls, just_below = located.family.hulls, float(scale) * (1 - 2.0**-30)
    if not just_below:
        return False
    if WHOLE in (i, j):
        starts = located.family.starts if isinstance(located.family, DenseFamily) else {a: (), b: ()}
        both = [(starts[a].index(u), starts[b].index(u)) for u in starts[a] if u in starts[b]]
    else:
        both = [(i, j)]
    sides = ((hulls[a][m], hulls[b][n], sign) for m, n in both for sign in (1, -1))
    return any(abs(_tail(p, sign / just_below) - _tail(q, sign / just_below)) > epsilon for p, q, sign in sides)


def _tail(law: Pmf, rate: float) -> float:
    """Return log E e^{rate F}, for a rate of any sign."""
    logs = log_masses(law) + law.values.astype(float) * rate
    top = float(logs.max())
    return top + math.log(float(np.exp(logs - top).sum()))


def _needs(located: Located, scale: Fraction, epsilon: Fraction) -> Iterator[tuple[Fraction, Compared]]:
    """Solve for the comparison that loses most at the scale so far, until none loses more than epsilon."""
    family, solved = over_all_starts(located.family), set[int]()
    while True:
        losses = family.losses(scale)
        failing = [i for i, loss in enumerate(losses) if loss > epsilon and i not in solved]
        if not failing:
            return
        index = max(failing, key=losses.__getitem__)
        needed = family.smallest_scale(index, epsilon)
        if needed > scale:
            scale = min(needed * (1 + HEADROOM), Fraction(family.reach(index)) / epsilon)
            yield scale, family.compared[index]
        solved.add(index)
