"""Slow, obviously right: laws as dictionaries {atom: probability}, every subset, every threshold, many digits.

Probabilities are Fractions or floats (read as the binary fractions that they are); nothing here imports takifugu.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from fractions import Fraction
from itertools import chain, combinations
from typing import Any

import mpmath

Law = Mapping[Any, Any]


def as_mpf(number: Any) -> mpmath.mpf:
    exact = Fraction(number)
    return mpmath.mpf(exact.numerator) / exact.denominator


def unmatched_by_hall(p: Law, q: Law, distance: Any) -> Fraction:
    """Return the mass of p that cannot move into q by at most `distance`: max over sets A of p(A) - q(near A)."""
    atoms = list(p)
    sets: Iterable[tuple[Any, ...]] = chain.from_iterable(combinations(atoms, size) for size in range(len(atoms) + 1))
    worst = Fraction(0)
    for chosen in sets:
        near = [y for y in q if any(abs(Fraction(x) - Fraction(y)) <= distance for x in chosen)]
        worst = max(worst, sum(Fraction(p[x]) for x in chosen) - sum(Fraction(q[y]) for y in near))
    return worst


def least_distance(p: Law, q: Law, delta: Any = 0) -> Fraction:
    """Return the least |x - y| at which at most `delta` stays unmatched, trying every threshold."""
    thresholds = sorted({Fraction(0)} | {abs(Fraction(x) - Fraction(y)) for x in p for y in q})
    return next(w for w in thresholds if unmatched_by_hall(p, q, w) <= delta)


def transport_cost(p: Law, q: Law, power: int) -> float:
    """Return the least expected |x - y|**power over all plans, by linear programming."""
    import numpy as np
    from scipy.optimize import linprog

    x, y = list(p), list(q)
    cost = [float(abs(a - b)) ** power for a in x for b in y]
    rows = [[float(i == k) for i in range(len(x)) for _ in y] for k in range(len(x))]
    columns = [[float(j == k) for _ in x for j in range(len(y))] for k in range(len(y))]
    masses = [float(m) for m in (*p.values(), *q.values())]
    return float(linprog(cost, A_eq=np.array(rows + columns), b_eq=np.array(masses), method="highs").fun)


def noised_mass(law: Law, y: Any, scale: Any) -> mpmath.mpf:
    """Return sum of p e^{-|y - x| / scale}: twice the scale times the density of the noised law at y."""
    return mpmath.fsum(as_mpf(m) * mpmath.exp(-abs(as_mpf(y) - as_mpf(x)) / as_mpf(scale)) for x, m in law.items())


def laplace_loss_on(points: Iterable[Any], p: Law, q: Law, scale: Any, digits: int = 50) -> mpmath.mpf:
    """Return the largest log-ratio, either way, of the laws after Laplace noise at the given points."""
    with mpmath.workdps(digits):
        return max(abs(mpmath.log(noised_mass(p, y, scale) / noised_mass(q, y, scale))) for y in points)


def laplace_loss_everywhere(p: Law, q: Law, scale: Any, steps: int = 400) -> mpmath.mpf:
    """Return the largest log-ratio on a dense grid that reaches beyond both supports, atoms included."""
    atoms = sorted({*map(Fraction, p), *map(Fraction, q)})
    low, high = atoms[0] - 3 * Fraction(scale), atoms[-1] + 3 * Fraction(scale)
    grid = [low + (high - low) * k / steps for k in range(steps + 1)]
    return laplace_loss_on([*grid, *atoms], p, q, scale)


def smallest_laplace_scale(p: Law, q: Law, epsilon: Any, digits: int = 40) -> mpmath.mpf:
    """Return the least scale with loss at most epsilon by plain bisection; 0 when the masses need no noise."""
    with mpmath.workdps(digits):
        budget = as_mpf(epsilon)
        if set(p) == set(q) and all(abs(mpmath.log(as_mpf(p[x]) / as_mpf(q[x]))) <= budget for x in p):
            return mpmath.mpf(0)
        atoms = sorted({*p, *q})

        def loss(scale: mpmath.mpf) -> mpmath.mpf:
            return max(
                abs(mpmath.log(_noised(p, y, scale) / _noised(q, y, scale))) for y in atoms
            )

        high = as_mpf(max(atoms) - min(atoms)) / budget
        low = high
        while loss(low) <= budget:
            high, low = low, low / 2
        for _ in range(80):
            middle = (low + high) / 2
            low, high = (low, middle) if loss(middle) <= budget else (middle, high)
        return high


def _noised(law: Law, y: Any, scale: mpmath.mpf) -> mpmath.mpf:
    return mpmath.fsum(as_mpf(m) * mpmath.exp(-as_mpf(abs(y - x)) / scale) for x, m in law.items())
