"""Quilts of counted parameters: the worst influence of a class of joint distributions (docs/theory/attributes.md).

Any set Q of parameters without phi_i is a quilt of phi_i, with everything else near: nothing need be independent. With
P(phi_Q = x | phi_i = a) in [l_a(x), h_a(x)] for every distribution of the class, e(Q) is at most the largest of
log h_a(x)/l_b(x), so that Theorem 4 of Zhang22 holds for all with e(Q) + D(N)/b. One quilt serves the whole class.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from takifugu.analysis.bounds import Cost, Witness
from takifugu.analysis.problem import Part
from takifugu.analysis.questions.influence import Quilts, Release, Search, Worst
from takifugu.core.arrays import FloatArray
from takifugu.core.cache import memoised
from takifugu.influence.quilts.network.best import BestCosts, BestScale, trivial_scales
from takifugu.influence.quilts.network.candidates import Candidate
from takifugu.influence.quilts.network.columns import costs_of
from takifugu.influence.quilts.network.near import Change
from takifugu.model.beliefs.records.counted_parameters import MOST_INTERVALS, CountedParameters
from takifugu.model.secrets.hypotheses import compared
from takifugu.numbers.outward_rounding import NEVER
from takifugu.numbers.rationals import float_above

#: Operations for one interval, and what is looked up for it.
_WORK = 200.0
#: Logs, their difference and the ends' own rounding are off by less, per unit of their size.
_ROUNDED = 2.0**-48


@memoised
def influences_over(belief: CountedParameters, entry: int) -> Mapping[tuple[int, ...], FloatArray]:
    """Return the largest log-ratios over the class by quilt (k, k); NEVER for what no value was counted beside."""
    influences = {}
    for nodes, (low, high) in belief.chances(entry).items():
        with np.errstate(divide="ignore"):
            above, below = np.log(high), np.log(low)
        ratios = (above[:, None, :] - below[None, :, :]).max(axis=2)
        sizes = 1 + np.abs(above).max() + np.abs(np.where(np.isfinite(below), below, 0.0)).max()
        influences[nodes] = np.where(np.isfinite(ratios), np.maximum(ratios, 0.0) + sizes * _ROUNDED, NEVER)
    return influences


@dataclass(frozen=True, eq=False)
class CountedSearch(Search):
    """Quilts of counted parameters, with D(N) of whole columns and the class's e(Q)."""

    def cost(self, epsilon: Fraction) -> Cost:
        return Cost(_WORK * MOST_INTERVALS)

    def worst(self, epsilon: Fraction) -> Worst:
        part, change = self.part, self.part.answer.change
        every = change(range(part.belief.size))
        worst = _searched(part, trivial_scales(part, every, epsilon, epsilon), change)
        numbers = (("influence", worst.influence), ("D", float(worst.steps)))
        return Worst(Fraction(worst.value), lambda: _witness(part, worst, numbers))


def counted_joint_cost(part: Part, releases: Sequence[Release]) -> tuple[float, Witness]:
    """Return the least joint cost by quilts over the class, rounded up."""
    change, entries = costs_of(part, releases)
    worst = _searched(part, entries, change)
    rounded = math.inf if math.isinf(worst.value) else float_above(Fraction(worst.value))
    return rounded, _witness(part, worst, (("cost", rounded),))


def _searched(part: Part, entries: list[BestScale] | list[BestCosts], change: Change) -> Candidate:
    """Try every quilt for every entry, and return the costliest best."""
    belief: Any = part.belief
    everything = frozenset(range(belief.size))
    for best in entries:
        rows, columns = np.array(best.pairs).T
        for nodes, table in influences_over(belief, best.costliest.entry).items():
            best.take(nodes, change(sorted(everything - set(nodes))), table[rows, columns])
    return max((best.costliest for best in entries), key=lambda quilt: quilt.value)


def _witness(part: Part, worst: Candidate, numbers: tuple[tuple[str, float], ...]) -> Witness:
    """Describe the comparison and the quilt, which serves the whole class."""
    belief: Any = part.belief
    nodes = worst.nodes or ()
    names = ", ".join(str(belief.names[v]) for v in nodes) or "nothing"
    near = ", ".join(str(belief.names[v]) for v in range(belief.size) if v not in nodes)
    detail = f"the best quilt is {names}; the near set is {near} ({belief.size - len(nodes)} parameters)"
    sides = compared(belief, worst.entry, worst.pair, name=str(belief.names[worst.entry]))
    return Witness(sides.label, detail, numbers)

COUNTED = Quilts(exact=CountedSearch, joint_cost=counted_joint_cost, of_columns=True)
