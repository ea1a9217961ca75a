"""Which populations a relation lifts to, and how far two are apart (Kawamoto19 Definitions 5 and 7, Section 5.2).

The lifting of a relation Phi holds the pairs of populations with a coupling whose support lies in Phi (`is_lifted`);
its smaller form for W-infinity asks that no move of it is longer than the least largest one (`is_nearest_lifted`).
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from takifugu.numbers.transport.bottleneck import (
    Coupling,
    Metric,
    Population,
    Related,
    checked_distances,
    exact,
    least_largest,
    support,
    w_infinity,
)

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

    >>> from fractions import Fraction
    >>> point, spread = {0: 1}, {0: Fraction(9, 10), 10: Fraction(1, 10)}
    >>> print(distances(point, spread, lambda x, y: abs(x - y)))
    W-infinity 10 (diameter 10; mean move 1, which bounds nothing)
    """
    left, right = support(p), support(q)
    table = checked_distances(left, right, metric).astype(float)
    return Distances(float(w_infinity(p, q, metric)), _mean_move(p, q, left, right, table), float(table.max()))


def coupling(p: Population, q: Population, related: Related) -> Coupling | None:
    """Return a coupling of p and q with its support in a relation, or None where there is none (Definition 5).

    >>> from fractions import Fraction
    >>> half = {0: Fraction(1, 2), 1: Fraction(1, 2)}
    >>> coupling(half, {1: Fraction(1, 2), 2: Fraction(1, 2)}, lambda x, y: y == x + 1)
    {(0, 1): Fraction(1, 2), (1, 2): Fraction(1, 2)}
    """
    unrelated, plan = least_largest(p, q, lambda x, y: float(not related(x, y)))
    return None if unrelated else plan


def is_lifted(p: Population, q: Population, related: Related) -> bool:
    """Decide whether (p, q) is in the lifting of a relation: some coupling has its support in it (Definition 7).

    >>> from fractions import Fraction
    >>> half = {0: Fraction(1, 2), 1: Fraction(1, 2)}
    >>> is_lifted(half, {1: Fraction(1, 2), 2: Fraction(1, 2)}, lambda x, y: y == x + 1)
    True
    """
    return coupling(p, q, related) is not None


def is_nearest_lifted(p: Population, q: Population, related: Related, metric: Metric) -> bool:
    """Decide whether (p, q) is in the lifting for W-infinity: a coupling in the relation with no move above W-infinity.

    A part of the lifting (Kawamoto19 Section 5.2.2).
    """
    reach = w_infinity(p, q, metric)
    return is_lifted(p, q, lambda x, y: bool(related(x, y)) and bool(metric(x, y) <= reach))


def is_lifted_relation(pairs: Iterable[tuple[Population, Population]], related: Related) -> bool:
    """Decide whether every pair of populations is in the lifting of a relation.

    That alone adds nothing up: the two bits of errata E9a are in the lifting of "differ". What does is in
    `local.composing`.
    """
    return all(is_lifted(p, q, related) for p, q in pairs)


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
