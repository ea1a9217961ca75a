"""From the worst entry of every component to enough noise: what the quilt mechanisms on chains share."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction

from takifugu.errors import Unsupported
from takifugu.guarantee import Composition
from takifugu.laws.rationals import round_up
from takifugu.problem import Bound, Part, Problem, Refusal, Witness
from takifugu.quilts.chain.scale import Needed
from takifugu.quilts.chain.sides import ChainSides, Influence
from takifugu.quilts.chain.witness import quilt_witness, worst_pair
from takifugu.quilts.near_sets import query_change
from takifugu.randomisers import laplace_or_exact
from takifugu.secrets import Family

Search = Callable[[ChainSides, Family, Fraction], Needed]


@dataclass(frozen=True)
class _Worst:
    part: Part
    sides: ChainSides
    needed: Needed


def chain_bound(
    problem: Problem, influence_of: Callable[[Part], Influence | Refusal], search: Search
) -> Bound | Refusal:
    """Return Laplace noise of the scale that the worst component needs, or the first reason why one has no influence.

    Vector answers get the same scale in every cell: D(N) is an L1 change (Song17 Appendix B.2).
    """
    if problem.is_pair:
        return Refusal("two distributions of an answer have no entries, so no quilts: use wasserstein or laplace-exact")
    found = []
    for part in problem.parts:
        influence = influence_of(part)
        if isinstance(influence, Refusal):
            return influence
        try:
            sides = ChainSides(influence, query_change(part.answer.entry_changes()))
        except Unsupported as error:
            return Refusal(str(error))
        found.append(_Worst(part, sides, search(sides, part.family, problem.epsilon)))
    worst = max(found, key=lambda w: w.needed.scale)
    noise = laplace_or_exact(round_up(worst.needed.scale), problem.grid, problem.cells)
    return Bound(noise, problem.epsilon, Fraction(0), Composition.QUILT, _witness(worst))


def _witness(worst: _Worst) -> Witness:
    needed, sides = worst.needed, worst.sides
    pair = worst_pair(sides, needed.entry, needed.quilt)
    numbers = (("influence", needed.influence), ("D", float(needed.change)))
    witness = quilt_witness(worst.part, sides, needed.entry, needed.quilt, pair, numbers)
    if not sides.influence.capped:
        return witness
    detail = f"{witness.detail}; nodes farther than {sides.influence.reach} entries were not searched"
    return Witness(witness.comparison, detail, witness.numbers)
