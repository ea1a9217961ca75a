"""Ways to move one population into another, and the least largest move (Kawamoto19 Definitions 5 and 6).

A coupling of p and q is a law on pairs of values whose marginals are p and q: it moves p into q. A maximum flow in
integer masses decides whether some pairs suffice: exactly for exact masses, and floats count as the binary fractions
that they are, divided by their sum.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from fractions import Fraction
from typing import Any

import numpy as np

from takifugu.core.arrays import BoolArray
from takifugu.core.lists import take
from takifugu.numbers.atoms import Atom, tabulated
from takifugu.numbers.rationals import both_in_common_unit
from takifugu.numbers.search import between, halved, next_to
from takifugu.numbers.transport.bottleneck import Metric, bottleneck, max_flow, moves_of, normalised

Population = Mapping[Hashable, Atom]
Related = Callable[[Hashable, Hashable], bool]
Coupling = dict[tuple[Hashable, Hashable], Fraction]


def w_infinity(p: Population, q: Population, metric: Metric) -> Atom:
    """Return the least largest move of any coupling (Definition 6)."""
    left, right = support(p), support(q)
    return bottleneck(left, take(p, left), right, take(q, right), metric).distance


def least_largest(p: Population, q: Population, cost: Callable[[Any, Any], float]) -> tuple[float, Coupling]:
    """Return the least largest cost of a coupling, and the coupling.

    Costs may be infinite; W-infinity is the case of a metric. A bisection over the costs.

    >>> least_largest({0: 1}, {0: Fraction(9, 10), 1: Fraction(1, 10)}, lambda x, y: 0.5 * (x != y))[0]
    0.5
    """
    left, right = support(p), support(q)
    table = tabulated(cost, left, right)
    levels = np.unique(table)
    couplings: dict[int, Coupling | None] = {}

    def couples(number: int) -> bool:
        couplings[number] = _flow(p, q, table <= levels[number])
        return couplings[number] is not None

    enough = halved(couples, len(levels), -1, next_to, between)
    coupling = couplings[enough]
    assert coupling is not None, "with every pair allowed there is a coupling"
    return float(levels[enough]), coupling


def support(p: Population) -> list[Hashable]:
    """Return the values with a positive mass."""
    return [x for x, mass in p.items() if mass > 0]


def exact(p: Population, points: Sequence[Hashable]) -> list[Fraction]:
    """Return the masses of points as fractions divided by their sum."""
    return normalised(p[x] for x in points)


def _flow(p: Population, q: Population, allowed: BoolArray) -> Coupling | None:
    left, right = support(p), support(q)
    supply, demand, total = both_in_common_unit(exact(p, left), exact(q, right))
    flow = max_flow(supply, demand, allowed)
    if sum(map(sum, flow)) < total:
        return None
    coupling: Coupling = {}
    for x, y, mass in moves_of(left, right, flow, total):
        coupling[x, y] = mass
    return coupling
