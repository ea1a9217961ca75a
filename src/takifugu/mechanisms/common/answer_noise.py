"""Noise of a size in the unit of laws of the answer, in the form that the answer's grid allows.

Answers on a grid get discrete Laplace noise. Given laws whose atoms have no common grid get the continuous noise,
rounded once to the declared grid, or else to a power of ten at most 1e-6 of the range of the laws.
"""

from __future__ import annotations

from fractions import Fraction

from takifugu.analysis.problem import Problem
from takifugu.analysis.randomisers import Exact, Randomiser, RoundedNormal, laplace
from takifugu.core.errors import Unsupported
from takifugu.numbers.rationals import round_up


def covering(problem: Problem, scale: Fraction) -> Randomiser:
    """Return the noise or choice with loss D/scale for a change D, in the problem's unit."""
    # Only for mechanisms that rely on changes of the answer alone.
    choice = problem.candidates
    if choice is None:
        return laplace_noise(problem, scale)
    if not scale:
        raise Unsupported(
            f"nothing that is hidden moves {problem.query.describe()}, so there would be no noise",
            fix="publish a query of it that needs none, such as a histogram",
        )
    from takifugu.analysis.randomisers.selection import PermuteAndFlip

    units = round_up(scale * problem.unit / problem.grid)
    return PermuteAndFlip(units, choice.outcomes, choice.goal, choice.groups)


def laplace_noise(problem: Problem, scale: Fraction) -> Randomiser:
    """Return Laplace noise of a scale in problem units, none for 0.

    Raises Unsupported when two laws are compared and the query is not Identity(), and where a choice is published.
    """
    problem.check_adds()
    if not scale:
        return Exact(problem.grid, problem.cells, problem.on_grid)
    unit = problem.grid if problem.on_grid else Fraction(1)  # in which the scale is rounded up
    return laplace(round_up(scale * problem.unit / unit) * unit, problem.grid, problem.cells, problem.on_grid)


def normal_noise(problem: Problem, sigma: Fraction) -> Exact | RoundedNormal:
    """Return normal noise of a deviation in problem units, rounded once to the answer's grid; none for 0."""
    problem.check_adds()
    if not sigma:
        return Exact(problem.grid, problem.cells, problem.on_grid)
    # Rounding is post-processing, so what is proved for the continuous noise holds.
    return RoundedNormal(round_up(sigma * problem.unit), problem.grid, problem.cells, problem.on_grid)
