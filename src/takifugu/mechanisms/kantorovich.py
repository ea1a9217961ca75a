"""The Kantorovich mechanism: Laplace noise of scale (largest move of the optimal plan) / epsilon (Ding22 Lemma 1).

The plan is the monotone one, whose joint distribution function is min(F, G). Among the plans of least mean |x - x'| it
is the one whose largest move is W-infinity; others may move twice as far (errata E13). So this is the Wasserstein
mechanism of Song17 by an independent method, with the same scale and the same verification of rounded masses.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from takifugu.analysis.bounds import Bound, Cost, Refusal
from takifugu.analysis.problem import Problem
from takifugu.mechanisms.wasserstein import MECHANISM as WASSERSTEIN


@dataclass(frozen=True)
class Kantorovich:
    """Ding22 Lemma 1, for every belief with a law of the answer, one number or one line."""

    name: str = "kantorovich"
    source: str = "Ding 2022, Lemma 1"

    def cost(self, problem: Problem) -> Cost:
        return WASSERSTEIN.cost(problem)

    def bound(self, problem: Problem) -> Bound | Refusal:
        """Return the noise of the monotone plan's largest move over epsilon.

        >>> from fractions import Fraction
        >>> from takifugu import Identity, Pmf, between
        >>> flu = between(Pmf.from_counts([0, 1, 2, 3], [3, 1, 1, 1]), Pmf.from_counts([1, 2, 3, 4], [1, 1, 1, 1]))
        >>> MECHANISM.bound(Problem(flu, Identity(), Fraction(1, 2))).randomiser.scale
        Fraction(4, 1)
        """
        bound = WASSERSTEIN.bound(problem)
        if isinstance(bound, Refusal):
            return bound
        move = dict(bound.witness.numbers)["w_infinity"]
        return replace(bound, witness=replace(
            bound.witness,
            detail="the monotone plan moves mass farthest between these two",
            numbers=(("largest_move", move),),
        ))  # fmt: skip


MECHANISM = Kantorovich()
