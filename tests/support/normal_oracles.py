"""Slow, obviously right: densities as functions, the hockey-stick integrated with many digits between its roots.

Nothing here imports takifugu.
"""

from collections.abc import Callable, Sequence
from fractions import Fraction
from itertools import pairwise
from typing import Any

import mpmath
import numpy as np

Density = Callable[[Any], Any]


def mpf(value: Any) -> mpmath.mpf:
    if isinstance(value, int | Fraction):
        exact = Fraction(value)
        return mpmath.mpf(exact.numerator) / exact.denominator
    return mpmath.mpf(value)


def normal_density(mean: Any, variance: Any) -> Density:
    """Return the density of a normal law."""
    m, v = mpf(mean), mpf(variance)
    return lambda y: mpmath.exp(-((y - m) ** 2) / (2 * v)) / mpmath.sqrt(2 * mpmath.pi * v)


def shifted_delta(move: Any, epsilon: Any) -> mpmath.mpf:
    """Return Phi(r/2 - e/r) - e^e Phi(-r/2 - e/r), to 60 digits and more of the difference; 0 far out."""
    small, large = max(0, -round(mpmath.log10(mpf(move)))), round(mpmath.log10(mpf(epsilon) + 1))
    with mpmath.workdps(120 + 2 * small + 2 * large):
        shift, budget = mpf(move), mpf(epsilon)
        if budget > 10**6 * max(shift, shift**2):
            return mpmath.mpf(0)
        near, far = (mpmath.erfc((budget / shift + sign * shift / 2) / mpmath.sqrt(2)) / 2 for sign in (-1, 1))
        return near - mpmath.exp(budget) * far


def largest_shift(epsilon: Any, delta: Any) -> mpmath.mpf:
    """Return the largest shift that keeps (epsilon, delta), in deviations, by plain bisection."""
    with mpmath.workdps(120):
        high = mpmath.mpf(1)
        while shifted_delta(high, epsilon) <= mpf(delta):
            high *= 2
        low = high / 2
        while shifted_delta(low, epsilon) > mpf(delta):
            low, high = low / 2, low
        for _ in range(120):
            middle = (low + high) / 2
            low, high = (middle, high) if shifted_delta(middle, epsilon) <= mpf(delta) else (low, middle)
        return low


def given_sets(sets: Sequence[tuple[Any, Any]], slope: Any, mean: Any, variance: Any, residual: Any) -> Density:
    """Return the density of slope * (g - mean) + N(0, residual) given that g ~ N(mean, variance) lies in intervals."""
    b, m, v, c = map(mpf, (slope, mean, variance, residual))
    total = b * b * v + c
    spread = mpmath.sqrt(v * c / total)  # of g given the sum

    def inside(centre: Any, deviation: Any) -> Any:
        return mpmath.fsum(_between(low, high, centre, deviation) for low, high in sets)

    weight = inside(m, mpmath.sqrt(v))
    whole = normal_density(0, total)
    return lambda y: whole(y) * inside(m + b * v / total * y, spread) / weight


def mixture(weights: Sequence[Any], means: Sequence[Any], variance: Any) -> Density:
    """Return the density of a mixture of normal laws of one variance."""
    parts = [normal_density(mean, variance) for mean in means]
    total = mpmath.fsum(map(mpf, weights))
    return lambda y: mpmath.fsum(mpf(w) * part(y) for w, part in zip(weights, parts, strict=True)) / total


def hockey_stick(p: Density, q: Density, epsilon: Any, low: Any, high: Any, cells: int = 400) -> float:
    """Return the integral of (p - e^epsilon q)_+ over [low, high], between the sign changes that `cells` cells show."""
    with mpmath.workdps(22):
        factor = mpmath.exp(mpf(epsilon))

        def excess(y: Any) -> Any:
            return p(y) - factor * q(y)

        places = [mpf(float(y)) for y in np.linspace(float(low), float(high), cells + 1)]
        signs = [excess(y) > 0 for y in places]
        edges = [places[0]]
        for (left, sign), (right, other) in pairwise(zip(places, signs, strict=True)):
            if sign != other:
                edges.append(_root(excess, left, right))
        edges.append(places[-1])
        total = mpmath.mpf(0)
        for left, right in pairwise(edges):
            if excess((left + right) / 2) > 0:
                steps = max(2, int(12 * (right - left) / (places[-1] - places[0])) + 1)
                total += mpmath.quad(excess, mpmath.linspace(left, right, steps))
        return float(total)


def _root(function: Density, left: Any, right: Any) -> Any:
    positive = function(left) > 0
    for _ in range(60):
        middle = (left + right) / 2
        left, right = (middle, right) if (function(middle) > 0) == positive else (left, middle)
    return left


def _between(low: Any, high: Any, centre: Any, deviation: Any) -> Any:
    below = mpmath.mpf(0) if low is None else mpmath.ncdf((mpf(low) - centre) / deviation)
    return (mpmath.mpf(1) if high is None else mpmath.ncdf((mpf(high) - centre) / deviation)) - below


def conditional(covariance: Any, left: Any, right: Any) -> tuple[Any, Any]:
    """Return the slope and the residual covariance of left'X given right'X, by pseudo-inverse in floats."""
    covariance, left, right = (np.asarray(matrix, dtype=float) for matrix in (covariance, left, right))
    inside = np.linalg.pinv(right @ covariance @ right.T)
    slope = left @ covariance @ right.T @ inside
    return slope, left @ covariance @ left.T - slope @ right @ covariance @ left.T


def of_all_records(covariance: Any, records: int, cells: Any, hidden: Any, single: bool = False) -> tuple[Any, Any]:
    """Return the slope and the residual covariance of the answer given what is hidden, from the law of all records.

    `cells` and `hidden` have one weight per column; every record is a block of one large normal vector, and what is
    hidden is of all records, or with `single` of the first one alone.
    """
    whole = np.kron(np.eye(records), np.asarray(covariance, dtype=float))
    answer = np.tile(np.asarray(cells, dtype=float), records)
    of = np.asarray(hidden, dtype=float)
    secret = np.hstack([of, np.zeros((len(of), of.shape[1] * (records - 1)))]) if single else np.tile(of, records)
    return conditional(whole, answer, secret)
