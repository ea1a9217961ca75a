"""The recursion along a chain, slow and plain: rays one by one in many digits, every position, no shortcut."""

from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import Any

import mpmath
import numpy as np
from tests.support.chain_oracles import as_mpf, stationary_vector

Matrix = Sequence[Sequence[Fraction]]
DIGITS = 60


def times(first: Matrix, second: Matrix) -> Matrix:
    columns = list(zip(*second, strict=True))
    return [[sum((a * b for a, b in zip(row, one, strict=True)), Fraction(0)) for one in columns] for row in first]


def identity(states: int) -> Matrix:
    return [[Fraction(a == b) for b in range(states)] for a in range(states)]


def product_of(matrices: Sequence[Matrix], first: int, last: int) -> Matrix:
    """The product of the matrices of the steps from entry `first` to entry `last`, which repeat: in Fractions."""
    product = identity(len(matrices[0]))
    for t in range(first, last):
        product = times(product, matrices[t % len(matrices)])
    return product


def backwards(matrices: Sequence[Matrix], start: Sequence[Fraction] | None, position: int, distance: int) -> Matrix:
    """The law of the entry `distance` steps before entry `position`, given that one, by Bayes.

    Rows of impossible values are empty. Without a start it is the one that is the same a period later.
    """
    states, period = len(matrices[0]), len(matrices)
    if start is None:
        start, position = stationary_vector(product_of(matrices, 0, period)), distance + (position - distance) % period
    law = [list(start)]
    for t in range(position - distance):
        law = times(law, matrices[t % period])
    product = product_of(matrices, position - distance, position)
    joint = [[law[0][u] * product[u][s] for u in range(states)] for s in range(states)]
    return [[mass / sum(row) for mass in row] if sum(row) else [] for row in joint]


def supremum(p: Sequence[Any], q: Sequence[Any], ratio: np.ndarray) -> mpmath.mpf:
    """log sup p.phi/q.phi over phi(u) <= e^ratio(u, v) phi(v), by its rays for up to three states.

    These are e^rho(., v) and e^-rho(v, .) of the closed ratio (docs/theory/influence.md#the-supremum).
    """
    states = range(len(p))
    with mpmath.workdps(DIGITS):
        rho = {(u, v): min(
            [as_mpf(float(ratio[u, v]))] + [as_mpf(float(ratio[u, w])) + as_mpf(float(ratio[w, v])) for w in states]
        ) if u != v else mpmath.mpf(0) for u in states for v in states}  # fmt: skip
        rays = [[mpmath.exp(rho[u, v]) for u in states] for v in states]
        rays += [[mpmath.exp(-rho[v, u]) for u in states] for v in states]
        return max(mpmath.log(_mean(p, ray) / _mean(q, ray)) for ray in rays)


def _mean(law: Sequence[Any], ray: Sequence[mpmath.mpf]) -> mpmath.mpf:
    return mpmath.fsum(as_mpf(mass) * value for mass, value in zip(law, ray, strict=True))


def by_tanh(factor: Any, size: float, parts: int) -> mpmath.mpf:
    """`parts` artanh(factor tanh(size/parts))."""
    with mpmath.workdps(DIGITS + 20):
        product = as_mpf(factor) * mpmath.tanh(as_mpf(size) / parts)
        return parts * mpmath.atanh(product) if product < 1 else as_mpf(size)


def float_suprema(rows: np.ndarray, ratio: np.ndarray) -> np.ndarray:
    """`supremum` of all pairs of rows, in floats, for a closed ratio."""
    means = rows @ np.hstack([np.exp(ratio), np.exp(-ratio.T)])
    return np.maximum((np.log(means)[:, None] - np.log(means)[None]).max(axis=2), 0.0) * (1 - np.eye(len(rows)))


def closed(ratio: np.ndarray) -> np.ndarray:
    """Shortest paths."""
    best = ratio * (1 - np.eye(len(ratio)))
    for w in range(len(best)):
        best = np.minimum(best, best[:, w, None] + best[None, w])
    return best


def losses(
    supremum_of: Callable[[int, int, np.ndarray], np.ndarray], tables: Sequence[np.ndarray], jumps: Sequence[int] = ()
) -> list[np.ndarray]:
    """R of each position by Theorem 2: the least over steps, these jumps and those over gaps, closed."""
    known, largest = [np.zeros_like(tables[0])], [float(table.max()) for table in tables]
    for position in range(1, len(tables)):
        over_gap = position - max((p for p in range(position) if largest[p]), default=0)
        best = np.full_like(tables[0], np.inf)
        for distance in {d for d in (1, *jumps, over_gap) if d <= position}:
            ratio = closed(tables[position - distance] + known[position - distance])
            between = sum(largest[position - distance + 1 : position])
            best = np.minimum(best, supremum_of(position, distance, ratio) + between)
        known.append(closed(best))
    return known
