"""Noise of a size in the unit of laws of the answer, in the form that the answer's grid allows.

Answers on a grid get discrete Laplace noise. Given laws whose atoms have no common grid get the continuous noise,
rounded once to the declared grid, or else to a power of ten at most 1e-6 of the range of the laws.
"""

from __future__ import annotations

from fractions import Fraction

from takifugu.laws.rationals import round_up
from takifugu.problem import Problem
from takifugu.randomisers import Exact, Randomiser, RoundedLaplace, RoundedNormal, laplace_or_exact


def laplace_noise(problem: Problem, scale: Fraction) -> Randomiser:
    """Return Laplace noise of a scale in the problem's unit; none for scale 0.

    Raises Unsupported when two laws are compared and the query is not Identity().
    """
    if problem.on_grid:
        return laplace_or_exact(round_up(scale * problem.unit / problem.grid), problem.grid, problem.cells)
    if not scale:
        return Exact(problem.grid, problem.cells, on_grid=False)
    return RoundedLaplace(round_up(scale * problem.unit), problem.grid, problem.cells, on_grid=False)


def normal_noise(problem: Problem, sigma: Fraction) -> Exact | RoundedNormal:
    """Return normal noise of a deviation in the problem's unit, rounded once to the answer's grid; none for sigma 0.

    Rounding is post-processing, so what is proved for the continuous noise holds. Raises as `laplace_noise`.
    """
    if not sigma:
        return Exact(problem.grid, problem.cells, problem.on_grid)
    return RoundedNormal(round_up(sigma * problem.unit), problem.grid, problem.cells, problem.on_grid)
