"""The least normal noise for an answer that is normal given the property, or a mixture of normals: any epsilon.

For every comparison the least s^2 for which both laws with N(0, s^2 I) added keep (epsilon, delta) in both directions
is found by itself (`normal`): jointly over properties, values and beliefs, never by mixing one belief's shift with
another's variance. It falls in s^2, as more noise is post-processing, so the largest of them serves all:

    one covariance C, mean shift v:   s^2 >= lambda_max(v v'/r^2 - C),   delta(epsilon; r) = delta
    two variances (one number):       by the two roots of the log-ratio, both directions
    sets of intervals (one number):   by where one mixture exceeds e^epsilon times the other
    finite sets (one number):         by the mixtures, or value by value, whichever needs less

What the belief's own randomness hides is credited, so that the promise is about this output alone.

Of a Gaussian process the moves of each value are hidden, which add up by their squares. They are bounded whatever is
left of the other values beside a hidden one, with no credit for the belief's own randomness
(docs/theory/attributes.md, Theorem 16). So each release is as one normal release with a known shift, and later ones may
be chosen after its output (`accounting.composition.processes`).
"""

from __future__ import annotations

from collections.abc import Callable
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
    are_processes,
    compared,
    predicted,
    unanswerable,
)
from takifugu.mechanisms.common.answer_noise import normal_noise
from takifugu.mechanisms.common.largest_need import refusing
from takifugu.mechanisms.normal_by_rule import refusal


@dataclass(frozen=True)
class LeastNormal:
    """The least isotropic normal noise, its deviation rounded up by at most 1e-10 relative."""

    name: str
    source: str
    refused: Callable[[Problem], Refusal | None]
    covers: Covers
    conditions: tuple[str, ...] = ()

    def cost(self, problem: Problem) -> Cost:
        return predicted(problem)

    @refusing
    def bound(self, problem: Problem) -> Bound | Refusal:
        """Return the rounded normal noise, or a refusal."""
        return self.refused(problem) or least_noise(problem, self.covers, self.conditions)


def no_process(problem: Problem) -> Refusal | None:
    """Return the reason against normal noise for values of a process, if any."""
    if refused := refusal(problem):
        return refused
    if problem.is_pair or not are_processes(problem):
        return Refusal("it hides values of one Gaussian process, and the belief is none")
    return None


def least_noise(problem: Problem, covers: Covers, conditions: tuple[str, ...]) -> Bound:
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
    return Bound(noise, problem.epsilon, problem.delta, covers, witness, conditions)


MECHANISM = LeastNormal(
    "attribute-gaussian-exact",
    "exact delta of two normals (Balle and Wang 2018, Theorem 8) in place of Zhang 2022, Theorem 1",
    unanswerable, Covers.OUTPUT,
)  # fmt: skip
PROCESS = LeastNormal(
    "process-gaussian",
    "docs/theory/attributes.md, Theorem 16, with the exact delta of Balle and Wang 2018, Theorem 8",
    no_process, Covers.ENTRIES, ("it adds up with other normal noise about the same values, and with no other noise",),
)  # fmt: skip
