"""Noise on one side: of numbers (Takagi21 Definitions V.3 and VIII.1, corrected), and "safe" for free (Algorithm 1).

The signs of the exponential noise are those of errata E5, the normaliser of the geometric one that of N5.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction

from takifugu.analysis.bounds import Bound, Cost, Refusal
from takifugu.analysis.problem import Problem
from takifugu.analysis.randomisers import Direction, Exact, Randomiser
from takifugu.analysis.randomisers.one_sided import OneSidedGeometric, OneSidedTruncated
from takifugu.analysis.randomisers.one_sided_real import OneSidedExponential
from takifugu.core.errors import Unsupported
from takifugu.mechanisms.one_sided.asymmetric_moves import check_falls, moves_of, public_end
from takifugu.mechanisms.one_sided.safe_cells import SafeCells
from takifugu.model.queries import AtMost
from takifugu.numbers.rationals import round_up


@dataclass(frozen=True)
class AsymmetricNumbers:
    """Noise of scale D/epsilon in every cell, D the largest L1 change of the answer along an allowed move."""

    name: str
    source: str
    noise: Callable[[Problem, Fraction, tuple[Direction, ...]], Randomiser]  # by a scale above 0, in steps of the grid

    def cost(self, problem: Problem) -> Cost:
        return Cost(1e3 + 10.0 * problem.cells, 100.0 * problem.cells)

    def bound(self, problem: Problem) -> Bound | Refusal:
        if isinstance(problem.query, AtMost):
            raise Unsupported("the query compares counts with thresholds: asymmetric-sparse answers it")
        moves = moves_of(problem)
        noise: Randomiser = Exact(problem.grid, problem.cells, problem.on_grid)
        if most := moves.units(problem):
            noise = self.noise(problem, round_up(most / problem.epsilon), moves.directions)
        return Bound(noise, problem.epsilon, Fraction(0), moves.covers, moves.witness(problem))


def geometric(problem: Problem, units: Fraction, directions: tuple[Direction, ...]) -> Randomiser:
    """Return geometric noise that only adds where no cell can rise, only subtracts where none can fall."""
    most = None if Direction.EITHER in directions else public_end(problem)
    if most is None:
        return OneSidedGeometric(units, problem.grid, problem.cells, directions)
    # No count exceeds a public number of records: noisy counts are cut off there (AGeo's n).
    return OneSidedTruncated(units, problem.grid, problem.cells, directions, most)


def exponential(problem: Problem, units: Fraction, directions: tuple[Direction, ...]) -> Randomiser:
    """Return exponential noise, the noisy value rounded once, away from the danger, to the answer's grid."""
    # On a grid that holds every answer the geometric mechanism promises the same and is a step nearer.
    return OneSidedExponential(units, problem.grid, problem.cells, directions, problem.on_grid)


@dataclass(frozen=True)
class AsymmetricSparse:
    """Geometric noise of scale min(c, m)/epsilon on each count; "safe" where that is at most the threshold."""

    name: str = "asymmetric-sparse"
    source: str = "Takagi, Kato, Cao and Yoshikawa 2021, Algorithm 1 and Theorem V.7, corrected"

    def cost(self, problem: Problem) -> Cost:
        return Cost(1e3 + 10.0 * problem.cells, 200.0 * problem.cells)

    def bound(self, problem: Problem) -> Bound | Refusal:
        if not isinstance(problem.query, AtMost):
            return Refusal("the query publishes numbers: AtMost(query, threshold) compares them with thresholds")
        moves = moves_of(problem)
        check_falls(moves)
        if any(change.amount > problem.grid for change in moves.sensitivity.changes):
            return Refusal("one record moves a cell by more than one step of its grid: count people, each once")
        most, limit = moves.units(problem), problem.query.limit
        if not most:
            return Refusal("no allowed move changes the answer: publish it without noise")
        # c limits noisy values, m the counts that one move takes down; the whole of epsilon is spent on any output.
        price = most if limit is None else min(most, Fraction(limit))
        steps = problem.query.steps(problem.answers[0])
        thresholds = steps[:1] if len({*steps}) == 1 else steps
        units, alpha = round_up(price / problem.epsilon), problem.query.alpha
        noise = SafeCells(units, problem.grid, problem.cells, thresholds, limit, most, alpha)
        return Bound(noise, problem.epsilon, Fraction(0), moves.covers, moves.witness(problem))


GEOMETRIC = AsymmetricNumbers(
    "asymmetric-geometric",
    "Takagi, Kato, Cao and Yoshikawa 2021, Definition VIII.1 and Theorem VIII.2, corrected", geometric,
)  # fmt: skip
LAPLACE = AsymmetricNumbers(
    "asymmetric-laplace",
    "Takagi, Kato, Cao and Yoshikawa 2021, Definition V.3 and Theorem V.4, corrected", exponential,
)  # fmt: skip
SPARSE = AsymmetricSparse()
