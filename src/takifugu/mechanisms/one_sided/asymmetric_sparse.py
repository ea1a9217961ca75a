"""Which counts are at most their thresholds: "safe" is free, other answers cost (Takagi21 Algorithm 1, SALap)."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from takifugu.analysis.problem import Bound, Cost, Problem, Refusal
from takifugu.mechanisms.one_sided.asymmetric_moves import check_falls, moves_of
from takifugu.mechanisms.one_sided.safe_cells import SafeCells
from takifugu.model.queries import AtMost
from takifugu.numbers.rationals import round_up


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
        noise = SafeCells(round_up(price / problem.epsilon), problem.grid, problem.cells, thresholds, limit, most)
        return Bound(noise, problem.epsilon, Fraction(0), moves.covers, moves.witness(problem))


MECHANISM = AsymmetricSparse()
