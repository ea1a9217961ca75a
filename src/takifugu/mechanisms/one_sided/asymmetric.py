"""Noise on one side: of numbers (Takagi21 Definitions V.3 and VIII.1, corrected), and "safe" for free (Algorithm 1).

The signs of the exponential noise are those of errata E5, the normaliser of the geometric one that of N5.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from takifugu.analysis.bounds import Bound, Cost, Refusal
from takifugu.analysis.problem import Problem
from takifugu.analysis.randomisers import Direction, Exact, Randomiser
from takifugu.analysis.randomisers.one_sided import OneSidedGeometric, OneSidedTruncated
from takifugu.analysis.randomisers.one_sided_real import OneSidedExponential
from takifugu.mechanisms.one_sided.asymmetric_moves import (
    check_falls,
    moves_of,
    numbers_moved,
    predicted,
    public_end,
)
from takifugu.mechanisms.one_sided.safe_cells import SafeCells
from takifugu.model.queries import AtMost
from takifugu.numbers.rationals import round_up


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
        most: int | None = None
        if units and Direction.EITHER not in moves.directions:
            most = public_end(problem)
        noise: Randomiser = Exact(problem.grid, problem.cells)
        if most is not None:
            noise = OneSidedTruncated(units, problem.grid, problem.cells, moves.directions, most)
        elif units:
            noise = OneSidedGeometric(units, problem.grid, problem.cells, moves.directions)
        return Bound(noise, problem.epsilon, Fraction(0), moves.covers, moves.witness(problem))


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
        noise: Randomiser = Exact(problem.grid, problem.cells, problem.on_grid)
        if units:
            noise = OneSidedExponential(units, problem.grid, problem.cells, moves.directions, problem.on_grid)
        return Bound(noise, problem.epsilon, Fraction(0), moves.covers, moves.witness(problem))


@dataclass(frozen=True)
class AsymmetricSparse:
    """Geometric noise of scale min(c, m)/epsilon on every count: "safe" where that is at most the threshold.

    Else the noisy value is published. c is the limit of such values, m the largest number of counts that one allowed
    move takes down; the whole of epsilon is spent, whatever comes out. "Safe" is never false, because noise only adds.
    Counts fall by one step of the grid at most, and none may rise (Takagi21 Algorithm 1 and Theorem V.7).
    """

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
        price = most if limit is None else min(most, Fraction(limit))
        steps = problem.query.steps(problem.answers[0])
        thresholds = steps[:1] if len({*steps}) == 1 else steps
        units, alpha = round_up(price / problem.epsilon), problem.query.alpha
        noise = SafeCells(units, problem.grid, problem.cells, thresholds, limit, most, alpha)
        return Bound(noise, problem.epsilon, Fraction(0), moves.covers, moves.witness(problem))


GEOMETRIC, LAPLACE, SPARSE = AsymmetricGeometric(), AsymmetricLaplace(), AsymmetricSparse()
