"""The (epsilon, delta)-Wasserstein mechanism: Laplace noise of scale w / epsilon, w a move that serves all but delta.

For each comparison w is the least distance such that all but mass delta of mu can be moved into nu with no move longer
than w (Song17 Appendix A.4; trimmed fractionally, because atoms have no subsets of mass exactly delta: errata E11).
What moves costs a factor e^{w/b} = e^epsilon, what does not is paid by delta. w = 0 means no noise.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import partial

from takifugu.analysis.bounds import Bound, Cost, Refusal, Witness
from takifugu.analysis.guarantee import Covers
from takifugu.analysis.problem import Problem
from takifugu.analysis.questions.compared import Compared
from takifugu.mechanisms.common.answer_families import predicted
from takifugu.mechanisms.common.answer_noise import laplace_noise
from takifugu.mechanisms.common.continuous import (
    OF_MOVE,
    ComparedDensities,
    compared_densities,
    density_cost,
    largest_of_densities,
)
from takifugu.mechanisms.common.largest_need import largest_need, of_each, refusing
from takifugu.numbers.rationals import round_up
from takifugu.numbers.transport.on_the_line import unmatched_mass, w_infinity

NO_DELTA = 'delta is 0: then no mass may stay where it is; use mechanism="wasserstein", or give a delta above 0'


@dataclass(frozen=True)
class WassersteinDelta:
    """Song17 Appendix A.4 as corrected in errata E11, for one number or one line with a law or a density."""

    name: str = "wasserstein-delta"
    source: str = "Song, Wang and Chaudhuri (arXiv 1603.03977v1), Appendix A.4, trimmed fractionally"

    def cost(self, problem: Problem) -> Cost:
        """Predict the work: all laws, and 30,000 operations per atom and comparison."""
        return density_cost(problem, OF_MOVE) or predicted(problem, 30_000.0, lines=True)

    @refusing
    def bound(self, problem: Problem) -> Bound | Refusal:
        """Return noise of the largest scale any comparison needs, or a refusal."""
        if not problem.delta:
            return Refusal(NO_DELTA)
        nothing = "no comparison: all but delta of every distribution may stay where it is"
        if (comparisons := compared_densities(problem)) is not None:
            move, worst = largest_of_densities(comparisons, partial(_move, delta=problem.delta), nothing)
            scale = move / (problem.unit * problem.epsilon)
        else:
            needs = of_each(partial(_needed, epsilon=problem.epsilon, delta=problem.delta))
            scale, worst = largest_need(problem, needs, nothing, lines=True)
        noise = laplace_noise(problem, scale)
        detail = "all but delta of the mass must move farthest between these two"
        witness = Witness(worst, detail, (("w", float(noise.scale * problem.epsilon)),))
        return Bound(noise, problem.epsilon, problem.delta, Covers.OUTPUT, witness)


MECHANISM = WassersteinDelta()


def _move(compared: ComparedDensities, delta: Fraction) -> Fraction:
    """Return how far all but delta of what is read must move."""
    from takifugu.numbers.transport.partial_moves import farthest_but

    return Fraction(farthest_but(compared.p, compared.q, delta)) + 2 * compared.rounding


def _needed(compared: Compared, scale: Fraction, epsilon: Fraction, delta: Fraction) -> Fraction:
    """Return a scale for the comparison: `scale` itself if it serves."""
    laws = compared.laws()
    # A law and its rounded form differ by mass at most the relative error.
    share = delta - 2 * Fraction(laws.error)
    if share <= 0:
        return compared.wasserstein(epsilon)[1]
    if Fraction(unmatched_mass(laws.p, laws.q, scale * epsilon)) * (1 + Fraction(1, 2**50)) <= share:
        return scale
    return round_up(Fraction(w_infinity(laws.p, laws.q, share)) / epsilon)
