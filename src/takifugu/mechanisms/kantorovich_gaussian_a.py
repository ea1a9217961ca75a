"""Normal noise by the classical rule: sigma = sqrt(2 log(1.25/delta)) W-infinity / epsilon (000 Theorem 3a).

Proved for epsilon at most 1; above it the rule can fail (ERRATA E8a), so it is refused there. A baseline: the analytic
rule needs less.
"""

from __future__ import annotations

from dataclasses import dataclass

from takifugu.laws.gaussian import gaussian_printed_a
from takifugu.mechanisms.answer_families import predicted
from takifugu.mechanisms.base import Bound, Cost, Problem, Refusal
from takifugu.mechanisms.normal_noise import bound_on_move

ONLY_UP_TO_ONE = (
    'this rule is proved for epsilon at most 1, and can fail above: use mechanism="gaussian-exact" or '
    '"kantorovich-gaussian-b"'
)


@dataclass(frozen=True)
class KantorovichGaussianA:
    """000 Theorem 3(a) on the largest move of the monotone plan."""

    name: str = "kantorovich-gaussian-a"
    source: str = "Ding 2022, Theorem 3(a)"

    def cost(self, problem: Problem) -> Cost:
        return predicted(problem, 3_000.0)

    def bound(self, problem: Problem) -> Bound | Refusal:
        """Return the rounded normal noise, or a refusal for delta 0 and for epsilon above 1.

        >>> from fractions import Fraction
        >>> from takifugu.frameworks import between
        >>> from takifugu.laws.pmf import Pmf
        >>> from takifugu.queries import Identity
        >>> pair = between(Pmf([0], [1]), Pmf([2], [1]))
        >>> bound = MECHANISM.bound(Problem(pair, Identity(), Fraction(1), Fraction(1, 10**5)))
        >>> round(float(bound.randomiser.scale), 6)
        9.689611
        """
        if problem.epsilon > 1:
            return Refusal(ONLY_UP_TO_ONE)
        return bound_on_move(problem, gaussian_printed_a, "the monotone plan moves mass farthest between these two")


MECHANISM = KantorovichGaussianA()
