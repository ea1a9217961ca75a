"""The (epsilon, delta)-Wasserstein mechanism: Laplace noise of scale w / epsilon, w a move that serves all but delta.

For each comparison w is the least distance such that all but mass delta of mu can be moved into nu with no move longer
than w (Song17 Appendix A.4; trimmed fractionally, because atoms have no subsets of mass exactly delta: errata E11).
What moves costs a factor e^{w/b} = e^epsilon, what does not is paid by delta. w = 0 means no noise.
"""

from __future__ import annotations

from fractions import Fraction
from functools import partial

from takifugu.analysis.bounds import Refusal
from takifugu.analysis.problem import Problem
from takifugu.analysis.questions.compared import Compared
from takifugu.mechanisms.common.answer_noise import laplace_noise
from takifugu.mechanisms.common.continuous import OF_MOVE, ComparedDensities
from takifugu.mechanisms.common.largest_need import of_each
from takifugu.mechanisms.common.noise_by_laws import NoiseByLaws, OfDensities
from takifugu.numbers.rationals import round_up
from takifugu.numbers.transport.on_the_line import unmatched_mass, w_infinity

NO_DELTA = 'delta is 0: then no mass may stay where it is; use mechanism="wasserstein", or give a delta above 0'
_DETAIL = "all but delta of the mass must move farthest between these two"


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


def _needed_of_densities(problem: Problem, compared: ComparedDensities) -> Fraction:
    """Return the scale at which all but delta of what is read moves far enough."""
    from takifugu.numbers.transport.partial_moves import farthest_but

    return (Fraction(farthest_but(compared.p, compared.q, problem.delta)) + 2 * compared.rounding) / problem.epsilon


MECHANISM = NoiseByLaws(
    "wasserstein-delta",
    "Song, Wang and Chaudhuri (arXiv 1603.03977v1), Appendix A.4, trimmed fractionally",
    laplace_noise, lambda problem: of_each(partial(_needed, epsilon=problem.epsilon, delta=problem.delta)),
    scans=30_000.0,
    nothing="no comparison: all but delta of every distribution may stay where it is",
    detail=_DETAIL, size="w", is_move=True,
    densities=OfDensities(_needed_of_densities, OF_MOVE, _DETAIL),
    refused=lambda problem: None if problem.delta else Refusal(NO_DELTA),
)  # fmt: skip
