"""Zhang22's Algorithm 1: normal noise for an answer that is normal given the property, as printed.

Given g = a the answer is N(mean(a), C). Adding N(0, s^2) makes the variance C + s^2, and the classical rule asks for
(c D / epsilon)^2 of it, c = sqrt(2 log(1.25/delta)), D the largest |mean(a) - mean(b)|: s^2 = (c D/epsilon)^2 - C, at
least 0 (Theorem 1). The belief's own randomness is credited, so that the promise is about this output alone.

  * Theorem 1 is stated for every epsilon, and its constant is proved for epsilon up to 1. So the exact delta of what is
    drawn is computed, and noise is returned where it is at most delta, up to epsilon 5.74 where delta is 0.1 (E8a).
  * Printed: D and C are the largest and the least over a class of beliefs, separately. A comparison has one belief, so
    s^2 is taken belief by belief; the printed variance stands beside it.
  * Vectors: s^2 = (c |v| / epsilon)^2 - lambda_min(C) for a shift v of the mean, our reading of the remark after
    Algorithm 1. Along v the variance is at least lambda_min(C) + s^2 >= (c |v| / epsilon)^2, and v' (C + s^2 I)^-1 v is
    at most |v|^2 / (lambda_min(C) + s^2).
  * Sets of values are compared value by value, by joint convexity (errata X1), never by their means.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction

from takifugu.analysis.bounds import Bound, Cost, Refusal, Witness
from takifugu.analysis.guarantee import Covers
from takifugu.analysis.problem import Problem
from takifugu.analysis.questions.normal_law import ComparedNormals, deviation_up, normal_law
from takifugu.core.escaping import at_least, at_most, number
from takifugu.mechanisms.common.answer_noise import normal_noise
from takifugu.mechanisms.common.largest_need import refusing
from takifugu.mechanisms.normal_by_rule import refusal
from takifugu.model.secrets.families import View
from takifugu.numbers.normal.comparisons import Shifted
from takifugu.numbers.normal.matrices import least_eigenvalue
from takifugu.numbers.normal.printed import accuracy, printed_per_shift
from takifugu.numbers.normal.rounded import Rounded

INDEPENDENT = "no comparison: the distribution of the answer is the same under every hypothesis"
NOTHING_NEEDED = "the answer's own variance keeps epsilon and delta: no noise is needed"


def compared(problem: Problem) -> Iterator[ComparedNormals]:
    """Yield a problem's comparisons of normal laws, or raise Unsupported."""
    for part in problem.parts:
        yield from normal_law(part).comparisons()


def predicted(problem: Problem) -> Cost:
    """Predict the work of one look at every comparison."""
    if problem.is_pair:
        return Cost(0.0)
    return Cost(sum(normal_law(part).work() for part in problem.parts))


def unanswerable(problem: Problem) -> Refusal | None:
    """Return the reason against normal noise for a property, if any."""
    if refused := refusal(problem):
        return refused
    if problem.is_pair:
        return Refusal('two distributions are compared directly: use mechanism="gaussian-exact"')
    if are_processes(problem):
        return Refusal('values of one Gaussian process are hidden: use mechanism="process-gaussian"')
    return None


def are_processes(problem: Problem) -> bool:
    """Return whether the secrets are values of Gaussian processes, so that squares of moves add up."""
    return all(isinstance(part.belief, View) and part.belief.stacks for part in problem.parts)


def accurate(variance: Fraction) -> str:
    """Describe the accuracy of the noise that is drawn (Zhang22 Theorem 2)."""
    reach = accuracy(variance, Fraction(1, 20))
    return f"in each number the noise stays below {at_most(reach, digits=4)} with probability 95 % (Zhang22 Theorem 2)"


@dataclass(frozen=True)
class AttributeGaussian:
    """Normal noise of the printed variance, where its exact delta is at most delta."""

    name: str = "attribute-gaussian"
    source: str = "Zhang, Ohrimenko and Cummings 2022, Algorithm 1 and Theorem 1"

    def cost(self, problem: Problem) -> Cost:
        return predicted(problem)

    @refusing
    def bound(self, problem: Problem) -> Bound | Refusal:
        """Return the rounded normal noise, or a refusal."""
        if refused := unanswerable(problem):
            return refused
        rule = printed_per_shift(problem.epsilon, problem.delta)
        variance, worst, shifts = Fraction(0), INDEPENDENT, dict[str, list[tuple[Fraction, Fraction]]]()
        comparisons = list(compared(problem))
        for comparison in comparisons:
            if comparison.laws.shift is None:
                return Refusal(
                    "Algorithm 1 compares normal distributions of one variance, and under these hypotheses they are "
                    'others: use mechanism="attribute-gaussian-exact"'
                )
            move, credit = sum(x * x for x in comparison.laws.shift), least_eigenvalue(comparison.laws.covariance)
            shifts.setdefault(comparison.about, []).append((Fraction(move), credit))
            if rule * move - credit > variance:
                variance, worst = rule * move - credit, comparison.comparison
            elif move and worst == INDEPENDENT:
                worst = comparison.comparison
        noise = normal_noise(problem, deviation_up(variance) / problem.unit)
        drawn = Fraction(noise.scale) ** 2
        over = [comparison for comparison in comparisons if not _is_covered(comparison, drawn, problem)]
        if over:
            delta = max(comparison.laws.delta(drawn, problem.epsilon) for comparison in over)
            return Refusal(
                f"the printed variance {number(variance)} keeps delta {at_most(delta, digits=4)} at this epsilon, more "
                f"than {at_least(problem.delta)} (its constant is proved for epsilon up to 1, errata E8a): use "
                'mechanism="attribute-gaussian-exact"'
            )
        variances = []
        for terms in shifts.values():
            variances.append(rule * max(move for move, _ in terms) - min(credit for _, credit in terms))
        printed = max(variances)
        exact = max(comparison.laws.delta(drawn, problem.epsilon) for comparison in comparisons)
        numbers = (("added_variance", float(drawn)), ("printed_variance", float(printed)), ("exact_delta", exact))
        detail = NOTHING_NEEDED
        if variance:
            detail = f"exact delta {at_most(exact, digits=4)}; variance {number(drawn)}, printed for the class as a "
            detail += f"whole {number(printed)}; {accurate(drawn)}"
        return Bound(noise, problem.epsilon, problem.delta, Covers.OUTPUT, Witness(worst, detail, numbers))


def _is_covered(comparison: ComparedNormals, drawn: Fraction, problem: Problem) -> bool:
    """Whether a variance keeps (epsilon, delta) exactly, sets by their largest shift."""
    laws = comparison.laws
    if isinstance(laws, Shifted | Rounded):
        shifted = laws
    else:
        shifted = Shifted(laws.shift or (), laws.covariance)
    return drawn >= shifted.least_variance(problem.epsilon, problem.delta)


MECHANISM = AttributeGaussian()
