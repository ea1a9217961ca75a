"""Geometric noise on one side of a vector of counts or sums (Takagi21 Definition VIII.1, corrected by E5 and N5)."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from takifugu.analysis.problem import Bound, Cost, Problem, Refusal
from takifugu.analysis.randomisers import Direction, Exact, Randomiser
from takifugu.analysis.randomisers.one_sided import OneSidedGeometric, OneSidedTruncated
from takifugu.mechanisms.one_sided.asymmetric_moves import Moves, numbers_moved, predicted, public_end


@dataclass(frozen=True)
class AsymmetricGeometric:
    """Geometric noise of scale D/epsilon in every cell, D the largest L1 change of the answer along an allowed move.

    It only adds where a cell cannot rise along an allowed move, so what is published is never below the true count; it
    only subtracts where a cell cannot fall, and is two-sided discrete Laplace noise where a cell can do both. Where the
    number of records is public no count exceeds it, and noisy counts are cut off there (AGeo's n). Along a move the log
    of the ratio of masses is at most the sum of |change|/scale over cells (Takagi21 Theorem VIII.2).
    """

    name: str = "asymmetric-geometric"
    source: str = "Takagi, Kato, Cao and Yoshikawa 2021, Definition VIII.1 and Theorem VIII.2, corrected"

    def cost(self, problem: Problem) -> Cost:
        return predicted(problem)

    def bound(self, problem: Problem) -> Bound | Refusal:
        moves, units = numbers_moved(problem)
        noise = self._noise(problem, moves, units)
        return Bound(noise, problem.epsilon, Fraction(0), moves.covers, moves.witness(problem))

    def _noise(self, problem: Problem, moves: Moves, units: Fraction) -> Randomiser:
        if not units:
            return Exact(problem.grid, problem.cells)
        most = None if Direction.EITHER in moves.directions else public_end(problem)
        if most is None:
            return OneSidedGeometric(units, problem.grid, problem.cells, moves.directions)
        return OneSidedTruncated(units, problem.grid, problem.cells, moves.directions, most)


MECHANISM = AsymmetricGeometric()
