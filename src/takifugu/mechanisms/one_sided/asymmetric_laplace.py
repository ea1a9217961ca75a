"""Exponential noise on one side of a vector of counts or sums (Takagi21 Definition V.3, with the signs of E5)."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from takifugu.analysis.problem import Bound, Cost, Problem, Refusal
from takifugu.analysis.randomisers import Exact
from takifugu.analysis.randomisers.one_sided_real import OneSidedExponential
from takifugu.mechanisms.one_sided.asymmetric_moves import numbers_moved, predicted


@dataclass(frozen=True)
class AsymmetricLaplace:
    """Exponential noise of mean D/epsilon, the noisy value rounded once, away from the danger, to the answer's grid.

    D is the largest L1 change along an allowed move. Two-sided Laplace noise where a cell can rise and fall. On a grid
    that holds every answer the geometric mechanism promises the same and is a step nearer (Takagi21 Theorem V.4).
    """

    name: str = "asymmetric-laplace"
    source: str = "Takagi, Kato, Cao and Yoshikawa 2021, Definition V.3 and Theorem V.4, corrected"

    def cost(self, problem: Problem) -> Cost:
        return predicted(problem)

    def bound(self, problem: Problem) -> Bound | Refusal:
        moves, units = numbers_moved(problem)
        noise = (
            OneSidedExponential(units, problem.grid, problem.cells, moves.directions, problem.on_grid)
            if units
            else Exact(problem.grid, problem.cells, problem.on_grid)
        )
        return Bound(noise, problem.epsilon, Fraction(0), moves.covers, moves.witness(problem))


MECHANISM = AsymmetricLaplace()
