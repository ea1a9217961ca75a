"""Influence noise: the least Laplace noise whose profile keeps epsilon under every belief, by the least of all curves.

It composes: profiles of releases add up, adaptively, and the ledger computes what the sum costs with the very function
that is used here. On chains of two states with positive correlation it is the least noise of all, `laplace-exact`'s.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from takifugu.errors import Unsupported
from takifugu.guarantee import Composition
from takifugu.influence.curves import CURVES, Release, joint_loss, least_scale
from takifugu.laws.rationals import round_up
from takifugu.mechanisms.answer_noise import covering
from takifugu.problem import Bound, Cost, Part, Problem, Refusal, Witness
from takifugu.queries import Additive
from takifugu.sensitivity import part_change

#: Evaluations of the loss for one scale.
EVALUATIONS = 10.0
#: Operations for one step of a sweep, up to so many states: scalars, all rays, programs.
PER_STEP = ((2, 2e3), (6, 6e4), (12, 9e5))
#: Operations for a step and a state beyond: one sort for each pair of rows.
PER_SORT = 1e5
#: A sweep has settled when what is left of its rise is e to minus this.
SETTLING = 25.0


@dataclass(frozen=True)
class Influence:
    """Laplace noise of the least scale at which max over secrets of c_i + R_i + L_i is at most epsilon.

    Source: docs/theory/influence.md, Theorems 1, 2 and 5; quilts and group are curves of the same profile.
    """

    name: str = "influence"
    source: str = "influence recursions over the profile of the noise (docs/theory/influence.md)"

    def cost(self, problem: Problem) -> Cost:
        """Predict the work from how fast the belief forgets."""
        return predicted(problem)

    def bound(self, problem: Problem) -> Bound | Refusal:
        refused = unknown(problem)
        if refused:
            return refused
        scale, witness = Fraction(0), Witness("any two values of any entry", "no secret moves the answer")
        for part in sorted(problem.parts, key=part_change, reverse=True):
            try:
                needed, forced_by = part_scale(part, problem.epsilon, scale)
            except Unsupported as error:
                return Refusal(error.message)
            if needed > scale:
                scale, witness = needed, forced_by
        noise = covering(problem, scale * problem.grid / problem.unit)
        return Bound(noise, problem.epsilon, Fraction(0), Composition.QUILT, witness)


def unknown(problem: Problem) -> Refusal | None:
    """Return why no curve is known for a problem."""
    if problem.is_pair:
        return Refusal("two distributions of an answer have no entries: use wasserstein or laplace-exact")
    for part in problem.parts:
        if CURVES.of(part.belief) is None or not isinstance(part.answer, Additive):
            return Refusal(
                f"no influence curve is known for {part.belief.describe()}: use quilt-exact, quilt-approx or group"
            )
    return None


def predicted(problem: Problem) -> Cost:
    """Predict the work of a search for a scale: two sweeps for each evaluation of the loss."""
    return Cost(2 * EVALUATIONS * sum(map(_sweep, problem.parts)))


def part_scale(part: Part, epsilon: Fraction, enough: Fraction) -> tuple[Fraction, Witness]:
    """Return the least scale in grid units that one part needs, and what forced it; `enough` where that serves."""
    answer = part.answer
    whole = part_change(part)
    if not whole:
        return enough, Witness("", "")

    def loss(scale: Fraction) -> float:
        return joint_loss(part, [Release(answer.entry_changes(), scale, answer)])[0]

    if enough and loss(enough) <= epsilon:
        return enough, Witness("", "")
    high = Fraction(whole) / epsilon
    low = max(enough, Fraction(max(int(answer.entry_changes().max()), 1), 10**6) / epsilon)
    scale = round_up(min(least_scale(loss, epsilon, min(low, high / 2), high), high))
    while scale < high and loss(scale) > epsilon:
        scale = round_up(scale * (1 + Fraction(1, 2**38)))
    _, witness = joint_loss(part, [Release(answer.entry_changes(), scale, answer)])
    return scale, witness


def _sweep(part: Part) -> float:
    """Return about how many operations one sweep takes until it has settled, by the slowest forgetting of a step."""
    states = len(part.belief.alphabet(0))
    each = next((operations for most, operations in PER_STEP if states <= most), PER_SORT * states)
    matrices = getattr(part.belief, "step_matrices", None)
    if matrices is None:
        return each * part.belief.size
    slowest = max(float(np.sort(np.abs(np.linalg.eigvals(matrix)))[-2]) if states > 1 else 0.0 for matrix in matrices)
    settled = SETTLING / -math.log(min(max(slowest, 1e-3), 1 - 1e-9)) * len(matrices)
    return each * min(part.belief.size, settled)


MECHANISM = Influence()
