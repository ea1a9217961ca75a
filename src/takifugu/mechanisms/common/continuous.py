"""The densities of a real-valued answer that are compared, and the largest need over them.

A belief that states the density of one published number has no law of finitely many answers. Mechanisms that need no
more than W-infinity of two laws, or their divergence after noise, take these instead.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING

from takifugu.analysis.bounds import Cost
from takifugu.analysis.problem import Problem
from takifugu.analysis.questions.answer_density import answer_densities
from takifugu.core.cache import memoised
from takifugu.core.errors import Unsupported
from takifugu.model.secrets.hypotheses import against

if TYPE_CHECKING:
    from takifugu.numbers.densities import Continuous

#: Operations for W-infinity of two densities, and for the least normal noise.
OF_MOVE, OF_NOISE = 6e8, 3e8


@dataclass(frozen=True)
class ComparedDensities:
    """Two densities of the answer that nobody may tell apart, in answer units, and the words for what they compare."""

    p: Continuous
    q: Continuous
    comparison: str
    rounding: Fraction  # what is read lies within this of a number with one of them


@memoised
def compared_densities(problem: Problem) -> tuple[ComparedDensities, ...] | None:
    """Return every unordered comparison of densities; None where the belief states none."""
    if problem.is_pair:
        return None
    densities_of_parts = list(map(answer_densities, problem.law_parts))
    if all(densities is None for densities in densities_of_parts):
        return None
    comparisons: list[ComparedDensities] = []
    for part, densities in zip(problem.law_parts, densities_of_parts, strict=True):
        if densities is None:
            raise Unsupported("one belief states the density of the answer, and another does not")
        for a, b in part.family.value_pairs(part.belief, 0):
            if a < b:
                words = against(*map(part.belief.describe_hypothesis, (a, b)))  # type: ignore[attr-defined]
                p, q = densities[a], densities[b]
                comparisons.append(ComparedDensities(p.density, q.density, words, p.rounding))
    return tuple(comparisons)


def density_cost(problem: Problem, operations: float) -> Cost | None:
    """Predict the work on all comparisons of densities; None where there are none."""
    comparisons = compared_densities(problem)
    if comparisons is None:
        return None
    return Cost(1.0 + operations * len(comparisons))


def largest_of_densities(
    comparisons: tuple[ComparedDensities, ...], need: Callable[[ComparedDensities], Fraction], nothing: str
) -> tuple[Fraction, str]:
    """Return the largest need of a comparison, in answer units, and the comparison, or `nothing`."""
    most, worst = Fraction(0), nothing
    for compared in comparisons:
        needed = need(compared)
        if needed > most:
            most, worst = needed, compared.comparison
    return most, worst


@memoised
def farthest_of_densities(problem: Problem) -> tuple[Fraction, str] | None:
    """Return the largest W-infinity of densities, in answer units; Unsupported where it is infinite."""
    # None where there are no densities.
    comparisons = compared_densities(problem)
    if comparisons is None:
        return None
    from takifugu.numbers.densities.moves import farthest_move

    def move(compared: ComparedDensities) -> Fraction:
        return Fraction(farthest_move(compared.p, compared.q)) + 2 * compared.rounding

    nothing = "no comparison: no answer has to move"
    return largest_of_densities(comparisons, move, nothing)
