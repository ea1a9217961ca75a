"""The noise of mechanisms that look at the law of the answer: its grid, also where two laws are compared directly."""

from __future__ import annotations

from fractions import Fraction

from takifugu.laws.rationals import round_up
from takifugu.problem import Problem, pair_grid
from takifugu.randomisers import Exact, Randomiser, RoundedLaplace, laplace_or_exact


def laplace_noise(problem: Problem, scale: Fraction) -> Randomiser:
    """Return Laplace noise of a scale in the units of the answer families (grid units; answer units for two laws).

    Answers on a grid get discrete Laplace noise. Two laws whose atoms have no common grid get the continuous noise,
    rounded once to the declared grid, or else to a power of ten at most 1e-6 of the range of the laws.

    Raises Unsupported when two laws are compared and the query is not Identity().
    """
    if not problem.is_pair:
        return laplace_or_exact(round_up(scale), problem.grid, problem.cells)
    grid, common = pair_grid(problem)
    if common:
        return laplace_or_exact(round_up(scale / grid), grid, 1)
    return RoundedLaplace(round_up(scale), grid, 1, on_grid=False) if scale else Exact(grid, 1, on_grid=False)
