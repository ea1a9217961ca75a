"""Quilts of parameters: noise for whole columns, influence between the parameters (Zhang22 Algorithm 3).

Let phi be a Bayesian network, and let column X_j depend on phi_j alone: given phi all columns are independent. For a
quilt Q of phi_i with near set N and remote set R, given phi_i = a the published number has the density

    sum over v of P(phi_{Q and R} = v | a) E[ p(y | X_{Q and R}, a) | v ],

where X_{Q and R} given v does not depend on a, because it depends on its own parameters only, and given the columns of
Q and R the answer moves by at most D(N) when the columns of N change, all records of them. So the expectation changes
by a factor of at most e^{D(N)/b} between a and b, and P(v | a)/P(v | b) = P(v_Q | a)/P(v_Q | b) <= e^{e(Q)} because
phi_R is independent of phi_i given phi_Q. Together e(Q) + D(N)/b, for each output y: several releases add up their
D_k(N)/b_k under one quilt. With D(N) = 0 and e(Q) <= epsilon no noise is needed (errata E14).

D(N) of whole columns is no sum over N: a count of rows that are tall and rich moves by n when either column changes,
and by n when both do.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

import numpy as np

from takifugu.analysis.bounds import Cost, Witness
from takifugu.analysis.problem import Part
from takifugu.analysis.questions.influence import Quilts, Release, Search, Worst
from takifugu.influence.quilts.network.best import BestCosts, trivial_costs, trivial_scales
from takifugu.influence.quilts.network.candidates import count_quilts, witness
from takifugu.influence.quilts.network.near import BLOCKED, Change, ColumnSets
from takifugu.influence.quilts.network.search import COST_OF_A_QUILT, search_quilts
from takifugu.numbers.rationals import float_above


def _over_network(part: Part) -> Part:
    """Return a part about the parameters as one about their network."""
    belief: Any = part.belief
    return replace(part, belief=belief.network)


def _margin(part: Part) -> Fraction:
    """Return the rounding error of an influence in a table's network."""
    belief: Any = part.belief
    return Fraction(4 * belief.network_error)


@dataclass(frozen=True, eq=False)
class ColumnSearch(Search):
    """Quilts of parameters, with D(N) of whole columns (Zhang22 Algorithm 3)."""

    def cost(self, epsilon: Fraction) -> Cost:
        return Cost(COST_OF_A_QUILT * (1 + count_quilts(_over_network(self.part))))

    def worst(self, epsilon: Fraction) -> Worst:
        part, budget = _over_network(self.part), epsilon - _margin(self.part)
        every = self.part.answer.change(range(self.part.belief.size))
        near = ColumnSets(part.belief, self.part.answer.change)  # type: ignore[arg-type]
        quilt, note = search_quilts(part, near, trivial_scales(part, every, epsilon, budget))
        numbers = (("influence", quilt.influence), ("D", float(quilt.steps)))
        return Worst(Fraction(quilt.value), lambda: witness(part, quilt, numbers), note)


def column_joint_cost(part: Part, releases: Sequence[Release]) -> tuple[float, Witness]:
    """Return max over parameters and pairs of min over quilts of e(Q) + sum_k D_k(N)/b_k, rounded up."""
    of_network = _over_network(part)
    change, entries = costs_of(of_network, releases)
    quilt, note = search_quilts(of_network, ColumnSets(of_network.belief, change), entries)  # type: ignore[arg-type]
    if math.isinf(quilt.value):
        rounded = math.inf
    else:
        rounded = float_above(Fraction(quilt.value) + _margin(part))
    return rounded, witness(of_network, quilt, (("cost", rounded),), note)


def costs_of(part: Part, releases: Sequence[Release]) -> tuple[Change, list[BestCosts]]:
    """Return the cost of near sets in units of 2^-60, and the trivial costs."""
    unit = Fraction(1, 2**60)

    def change(entries: Iterable[int]) -> int:
        near = list(entries)
        costs = Fraction(0)
        for release in releases:
            moved = int(np.asarray(release.changes)[near].sum())
            if release.together is not None:
                moved = min(release.together(near), moved)
            if moved and release.scale == 0:
                return BLOCKED
            if moved:
                costs += Fraction(moved) / release.scale
        return min(math.ceil(costs / unit), BLOCKED)

    every = change(range(part.belief.size))
    return change, trivial_costs(part, math.inf if every >= BLOCKED else every * unit, every, unit)


PARAMETERS = Quilts(exact=ColumnSearch, joint_cost=column_joint_cost, of_columns=True)
