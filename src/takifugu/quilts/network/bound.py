"""Enough noise for networks, from the worst entry over the quilts that are tried (Song17 Algorithm 2)."""

from __future__ import annotations

from fractions import Fraction

from takifugu.guarantee import Composition
from takifugu.laws.rationals import round_up
from takifugu.problem import Bound, Part, Problem
from takifugu.quilts.network.candidates import count_quilts, witness
from takifugu.quilts.network.search import needed_scale
from takifugu.randomisers import laplace_or_exact

#: Operations that one quilt takes: its near set, and the influence of its clusters.
PER_QUILT = 1e4


def network_bound(problem: Problem) -> Bound:
    """Return Laplace noise of the worst component's scale; vector answers get it in each cell (Song17 Appendix B.2)."""
    found = [(part, *needed_scale(part, problem.epsilon)) for part in problem.parts]
    part, worst, _ = max(found, key=lambda one: one[1].value)
    note = next((note for *_, note in found if note), "")
    noise = laplace_or_exact(round_up(Fraction(worst.value)), problem.grid, problem.cells)
    numbers = (("influence", worst.influence), ("D", float(worst.quilt.steps)))
    return Bound(noise, problem.epsilon, Fraction(0), Composition.QUILT, witness(part, worst, numbers, note))


def network_cost(part: Part) -> float:
    """Predict the operations of `network_bound` for one part."""
    return PER_QUILT * count_quilts(part)
