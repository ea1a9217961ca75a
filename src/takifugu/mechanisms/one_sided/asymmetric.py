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
    """Geometric noise of scale D/epsilon in every cell, D the largest L1 change of the answer along an allowed move."""

    name: str = "asymmetric-geometric"
    source: str = "Takagi, Kato, Cao and Yoshikawa 2021, Definition VIII.1 and Theorem VIII.2, corrected"

    def cost(self, problem: Problem) -> Cost:
        return predicted(problem)

    def bound(self, problem: Problem) -> Bound | Refusal:
        # It only adds where a cell cannot rise along a move, only subtracts where it cannot fall, else it is two-sided.
        moves, units = numbers_moved(problem)
        most: int | None = None
        if units and Direction.EITHER not in moves.directions:
            # No count exceeds a public number of records: noisy counts are cut off there (AGeo's n).
            most = public_end(problem)
        noise: Randomiser = Exact(problem.grid, problem.cells)
        if most is not None:
            noise = OneSidedTruncated(units, problem.grid, problem.cells, moves.directions, most)
        elif units:
            noise = OneSidedGeometric(units, problem.grid, problem.cells, moves.directions)
        return Bound(noise, problem.epsilon, Fraction(0), moves.covers, moves.witness(problem))


@dataclass(frozen=True)
class AsymmetricLaplace:
    """Exponential noise of mean D/epsilon, the noisy value rounded once, away from the danger, to the answer's grid."""

    name: str = "asymmetric-laplace"
    source: str = "Takagi, Kato, Cao and Yoshikawa 2021, Definition V.3 and Theorem V.4, corrected"

    def cost(self, problem: Problem) -> Cost:
        return predicted(problem)

    def bound(self, problem: Problem) -> Bound | Refusal:
        # Two-sided where a cell can rise and fall. On a grid of all answers the geometric noise is a step nearer.
        moves, units = numbers_moved(problem)
        noise: Randomiser = Exact(problem.grid, problem.cells, problem.on_grid)
        if units:
            noise = OneSidedExponential(units, problem.grid, problem.cells, moves.directions, problem.on_grid)
        return Bound(noise, problem.epsilon, Fraction(0), moves.covers, moves.witness(problem))


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


GEOMETRIC, LAPLACE, SPARSE = AsymmetricGeometric(), AsymmetricLaplace(), AsymmetricSparse()
