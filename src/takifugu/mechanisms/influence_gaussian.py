"""Influence noise with a delta: the least normal noise whose profile at kappa keeps epsilon, by all known curves.

P(S | x) + kappa, with kappa = delta/(e^epsilon - 1), changes by a factor of at most e^c(u, v) when one entry changes
from u to v, so it has a profile like any likelihood, and what the curves say of it is the promise (epsilon, delta)
(docs/theory/influence.md, Theorem 4). A change counts by its L2 length, so answers of many cells gain most.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import cache, partial

from takifugu.analysis.bounds import Bound, Cost, Refusal, Witness
from takifugu.analysis.guarantee import Covers
from takifugu.analysis.problem import Part, Problem
from takifugu.core.errors import Unsupported
from takifugu.influence.curves import profile_loss
from takifugu.influence.profiles.normal import NormalRelease, log_share, normal_profile
from takifugu.mechanisms.common.answer_noise import normal_noise
from takifugu.mechanisms.influence import (
    NEXT_TO_NOTHING,
    Needed,
    largest_of_parts,
    predicted_cost,
    unknown_curve,
)
from takifugu.mechanisms.normal_by_rule import refusal
from takifugu.model.queries import Additive
from takifugu.numbers.after_noise.gaussian import gaussian_analytic_sigma
from takifugu.numbers.rationals import root_up
from takifugu.numbers.search import smallest_scale


@dataclass(frozen=True)
class InfluenceGaussian:
    """Normal noise of the least deviation at which the loss of the profile at kappa is at most epsilon."""

    name: str = "influence-gaussian"
    source: str = "influence recursions over the profile of normal noise at delta (docs/theory/influence.md, Theorem 4)"

    def cost(self, problem: Problem) -> Cost:
        """Predict the work of Laplace noise."""
        return predicted_cost(problem)

    def bound(self, problem: Problem) -> Bound | Refusal:
        """Return the rounded normal noise, or a refusal."""
        problem.check_adds()
        refused = refusal(problem) or unknown_curve(problem)
        if refused:
            return refused
        try:
            sigma, witness = largest_of_parts(
                problem, self.name, lambda part: longest_change(part.answer),
                partial(_part_sigmas, delta=problem.delta),
            )  # fmt: skip
        except Unsupported as error:
            return Refusal(error.message)
        noise = normal_noise(problem, sigma)
        return Bound(noise, problem.epsilon, problem.delta, Covers.OUTPUT, witness)


MECHANISM = InfluenceGaussian()


def longest_change(answer: Additive) -> Fraction:
    """Return the answer's largest L2 change, rounded up, in grid units."""
    return root_up(sum(reach * reach for reach in answer.cell_ranges()))


def _part_sigmas(part: Part, enough: Mapping[Fraction, Fraction], delta: Fraction) -> Mapping[Fraction, Needed]:
    """Return the least deviation for one part, or `enough` if that serves, at each epsilon, and its cause."""
    return {epsilon: _part_sigma(part, epsilon, delta, serving) for epsilon, serving in enough.items()}


def _part_sigma(part: Part, epsilon: Fraction, delta: Fraction, enough: Fraction) -> Needed:
    """Return the least deviation for one part, or `enough` if that serves, and its cause."""
    answer, largest_change = part.answer, longest_change(part.answer)
    if not largest_change:
        return enough, Witness("", "")
    log_kappa = log_share(epsilon, delta)

    @cache  # the last that is tried is asked for its cause, too
    def loss(sigma: Fraction) -> tuple[float, Witness]:
        return profile_loss(part, normal_profile([NormalRelease(answer, sigma)], log_kappa))

    # Never more than the noise for a change of the whole component (Balle and Wang 2018).
    high = Fraction(gaussian_analytic_sigma(largest_change, epsilon, delta))
    if enough and (enough >= high or loss(enough)[0] <= epsilon):
        return enough, Witness("", "")
    low = max(enough, answer.farthest(range(answer.size), norm=2) / NEXT_TO_NOTHING)
    sigma = smallest_scale(lambda sigma: loss(sigma)[0], epsilon, high, low)
    if sigma >= high:
        return high, Witness("any values of the component against any others", "they move the answer farthest")
    return sigma, loss(sigma)[1]
