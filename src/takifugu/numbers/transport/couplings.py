"""Ways to move one population into another, and the least largest move (Kawamoto19 Definitions 5 and 6).

A coupling of p and q is a law on pairs of values whose marginals are p and q: it moves p into q. A maximum flow in
integer masses decides whether some pairs suffice: exactly for exact masses, and floats count as the binary fractions
that they are, divided by their sum.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
import numpy.typing as npt

from takifugu.numbers.atoms import Atom
from takifugu.numbers.transport.bottleneck import Metric, bottleneck, checked_distances, max_flow

Population = Mapping[Hashable, Atom]
Related = Callable[[Any, Any], bool]
Coupling = dict[tuple[Hashable, Hashable], Fraction]
Floats = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Distances:
    """How far two populations are apart: the least largest move, the least mean move, and the diameter of both.

    Only W-infinity enters a bound: (.9, .1 at distance 10) against a point has mean move 1 and loss 7.7.
    """

    w_infinity: float
    w_1: float
    diameter: float

    def __str__(self) -> str:
        mean = f"mean move {self.w_1:g}, which bounds nothing"
        return f"W-infinity {self.w_infinity:g} (diameter {self.diameter:g}; {mean})"


def distances(p: Population, q: Population, metric: Metric) -> Distances:
    """Return the distances of two populations under a metric on their values.

    >>> point, spread = {0: 1}, {0: Fraction(9, 10), 10: Fraction(1, 10)}
    >>> print(distances(point, spread, lambda x, y: abs(x - y)))
    W-infinity 10 (diameter 10; mean move 1, which bounds nothing)
    """
    left, right = support(p), support(q)
    table = checked_distances(left, right, metric).astype(float)
    return Distances(float(w_infinity(p, q, metric)), _mean_move(p, q, left, right, table), float(table.max()))


def w_infinity(p: Population, q: Population, metric: Metric) -> Atom:
    """Return the least largest move of any coupling (Definition 6)."""
    left, right = support(p), support(q)
    return bottleneck(left, [p[x] for x in left], right, [q[y] for y in right], metric).distance


def least_largest(p: Population, q: Population, cost: Callable[[Any, Any], float]) -> tuple[float, Coupling]:
    """Return the least c such that some coupling has no pair of larger cost, and that coupling.

    Any costs, infinite ones too; W-infinity is the case of a metric. A bisection over the costs.

    >>> least_largest({0: 1}, {0: Fraction(9, 10), 1: Fraction(1, 10)}, lambda x, y: 0.5 * (x != y))[0]
    0.5
    """
    left, right = support(p), support(q)
    table = np.array([[float(cost(x, y)) for y in right] for x in left])
    levels = np.unique(table)
    short, enough = -1, len(levels) - 1
    coupling = _flow(p, q, table <= levels[enough])
    while enough - short > 1:
        middle = (short + enough) // 2
        trial = _flow(p, q, table <= levels[middle])
        short, enough, coupling = (short, middle, trial) if trial is not None else (middle, enough, coupling)
    assert coupling is not None, "with every pair allowed there is a coupling"
    return float(levels[enough]), coupling


def support(p: Population) -> list[Any]:
    """Return the values with a positive mass."""
    return [x for x, mass in p.items() if mass > 0]


def exact(p: Population, points: Sequence[Any]) -> list[Fraction]:
    """Return the masses of points as fractions divided by their sum."""
    masses = [Fraction(p[x]) for x in points]
    return [mass / sum(masses) for mass in masses]


def _flow(p: Population, q: Population, allowed: npt.NDArray[np.bool_]) -> Coupling | None:
    left, right = support(p), support(q)
    one, other = exact(p, left), exact(q, right)
    total = math.lcm(*(mass.denominator for mass in (*one, *other)))
    supply, demand = ([int(mass * total) for mass in masses] for masses in (one, other))
    flow = max_flow(supply, demand, allowed)
    if sum(map(sum, flow)) < total:
        return None
    return {
        (x, y): Fraction(mass, total) for x, row in zip(left, flow, strict=True)
        for y, mass in zip(right, row, strict=True) if mass
    }  # fmt: skip


def _mean_move(p: Population, q: Population, left: list[Any], right: list[Any], table: Floats) -> float:
    """Return W-1 by a linear program: it is reported, and enters no bound."""
    from scipy.optimize import linprog
    from scipy.sparse import eye_array, kron, vstack

    rows, columns = len(left), len(right)
    sums = kron(eye_array(rows), np.ones((1, columns)), format="csr")
    totals = kron(np.ones((1, rows)), eye_array(columns), format="csr")
    masses = np.array([float(m) for m in (*exact(p, left), *exact(q, right))])
    solution = linprog(table.ravel(), A_eq=vstack([sums, totals]), b_eq=masses, bounds=(0, None), method="highs")
    return float(solution.fun)
