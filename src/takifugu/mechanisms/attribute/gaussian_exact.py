"""The least normal noise for an answer that is normal given the property, or a mixture of normals: any epsilon.

For every comparison the least s^2 for which both laws with N(0, s^2 I) added keep (epsilon, delta) in both directions
is found by itself (`normal`): jointly over properties, values and beliefs, never by mixing one belief's shift with
another's variance. It falls in s^2, as more noise is post-processing, so the largest of them serves all:

    one covariance C, mean shift v:   s^2 >= lambda_max(v v'/r^2 - C),   delta(epsilon; r) = delta
    two variances (one number):       by the two roots of the log-ratio, both directions
    sets of intervals (one number):   by where one mixture exceeds e^epsilon times the other
    finite sets (one number):         by the mixtures, or value by value, whichever needs less

What the belief's own randomness hides is credited, so that the promise is about this output alone.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from takifugu.analysis.bounds import Bound, Cost, Refusal, Witness
from takifugu.analysis.guarantee import Covers
from takifugu.analysis.problem import Problem
from takifugu.analysis.questions.normal_law import deviation_up
from takifugu.mechanisms.attribute.gaussian import (
    INDEPENDENT,
    NOTHING_NEEDED,
    accurate,
    compared,
    predicted,
    unanswerable,
)
from takifugu.mechanisms.common.answer_noise import normal_noise
from takifugu.mechanisms.common.largest_need import refusing


@dataclass(frozen=True)
class AttributeGaussianExact:
    """The least isotropic normal noise, its deviation rounded up by at most 1e-10 relative."""

    name: str = "attribute-gaussian-exact"
    source: str = "exact delta of two normals (Balle and Wang 2018, Theorem 8) in place of Zhang 2022, Theorem 1"

    def cost(self, problem: Problem) -> Cost:
        return predicted(problem)

    @refusing
    def bound(self, problem: Problem) -> Bound | Refusal:
        """Return the rounded normal noise, or a refusal."""
        return unanswerable(problem) or least_noise(problem, Covers.OUTPUT)


def least_noise(problem: Problem, covers: Covers) -> Bound:
    """Return the least noise that keeps every comparison's exact delta."""
    variance, worst, comparisons = Fraction(0), "", list(compared(problem))
    for comparison in comparisons:
        needed = comparison.laws.least_variance(problem.epsilon, problem.delta)
        if needed > variance:
            variance, worst = needed, comparison.comparison
    noise = normal_noise(problem, deviation_up(variance) / problem.unit)
    drawn = Fraction(noise.scale) ** 2
    exact, closest = 0.0, INDEPENDENT
    for comparison in comparisons:
        delta = comparison.laws.delta(drawn, problem.epsilon)
        if delta > exact:
            exact, closest = delta, comparison.comparison
    detail = f"delta is reached here; {accurate(drawn)}" if variance else NOTHING_NEEDED
    witness = Witness(worst or closest, detail, (("added_variance", float(drawn)), ("exact_delta", exact)))
    return Bound(noise, problem.epsilon, problem.delta, covers, witness)


MECHANISM = AttributeGaussianExact()
