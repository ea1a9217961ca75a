"""Slow, obviously right: laws as dictionaries {atom: probability}, every subset, every threshold, many digits.

Probabilities are Fractions or floats (read as the binary fractions that they are); nothing here imports takifugu.
"""

import math
from collections.abc import Callable, Iterable, Mapping
from fractions import Fraction
from itertools import chain, combinations, pairwise
from typing import Any

import mpmath

Law = Mapping[Any, Any]


def as_mpf(number: Any) -> mpmath.mpf:
    if isinstance(number, mpmath.mpf):
        return number
    if isinstance(number, float | int):
        return mpmath.mpf(number)
    exact = Fraction(number)
    return mpmath.mpf(exact.numerator) / exact.denominator


def unmatched(p: Law, q: Law, is_near: Callable[[Any, Any], bool]) -> Fraction:
    """Return the mass of p that cannot move into q to what is near: max over sets A of p(A) - q(near A)."""
    unit = math.lcm(*(Fraction(mass).denominator for mass in (*p.values(), *q.values())))
    of_p, of_q = ({x: int(Fraction(mass) * unit) for x, mass in law.items()} for law in (p, q))
    near = {x: {y for y in q if is_near(x, y)} for x in p}
    sets: Iterable[tuple[Any, ...]] = chain.from_iterable(combinations(p, size) for size in range(len(p) + 1))
    worst = 0
    for chosen in sets:
        reached = set[Any]().union(*(near[x] for x in chosen))
        worst = max(worst, sum(of_p[x] for x in chosen) - sum(of_q[y] for y in reached))
    return Fraction(worst, unit)


def unmatched_by_hall(p: Law, q: Law, distance: Any) -> Fraction:
    """Return the mass of p that cannot move into q by at most `distance`."""
    return unmatched(p, q, lambda x, y: abs(Fraction(x) - Fraction(y)) <= distance)


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
            return max(abs(mpmath.log(noised_mass(p, y, scale) / noised_mass(q, y, scale))) for y in atoms)

        high = as_mpf(max(atoms) - min(atoms)) / budget
        low = high
        while loss(low) <= budget:
            high, low = low, low / 2
        for _ in range(80):
            middle = (low + high) / 2
            low, high = (low, middle) if loss(middle) <= budget else (middle, high)
        return high


def bottleneck_by_hall(p: Law, q: Law, metric: Callable[[Any, Any], Any]) -> Any:
    """Return the least distance at which all of p can move into q."""
    for level in sorted({metric(x, y) for x in p for y in q}):
        if not unmatched(p, q, lambda x, y, level=level: metric(x, y) <= level):  # type: ignore[misc]
            return level
    raise AssertionError("every value is within the largest distance")


def laplace_divergence(p: Law, q: Law, scale: Any, epsilon: Any) -> mpmath.mpf:
    """Return the integral of (p*Lap - e^epsilon q*Lap)_+: bisect its sign changes, add up differences of the CDFs."""
    with mpmath.workdps(60):
        b, factor = as_mpf(scale), mpmath.exp(as_mpf(epsilon))
        atoms = [as_mpf(x) for x in sorted({*p, *q})]

        def excess(y: Any) -> mpmath.mpf:
            return noised_mass(p, y, b) - factor * noised_mass(q, y, b)

        def below(law: Law, y: Any) -> mpmath.mpf:
            return mpmath.fsum(as_mpf(m) * laplace_below((y - as_mpf(x)) / b) for x, m in law.items())

        cuts = [atoms[0] - 200 * b, atoms[0]]
        for start, end in pairwise(atoms):
            cuts += [_root(excess, start, end)] if excess(start) * excess(end) < 0 else []
            cuts.append(end)
        cuts.append(atoms[-1] + 200 * b)
        pieces = [(start, end) for start, end in pairwise(cuts) if excess((start + end) / 2) > 0]
        return mpmath.fsum(below(p, v) - below(p, u) - factor * (below(q, v) - below(q, u)) for u, v in pieces)


def laplace_below(z: Any) -> mpmath.mpf:
    """Return P(Z <= z) of Laplace noise of scale 1."""
    return mpmath.exp(z) / 2 if z < 0 else 1 - mpmath.exp(-z) / 2


def _root(function: Any, start: Any, end: Any) -> Any:
    """Return a zero to 90 bits of the interval: an integral that ends there is right to twice as many."""
    sign = function(start)
    for _ in range(90):
        middle = (start + end) / 2
        start, end = (middle, end) if function(middle) * sign > 0 else (start, middle)
    return (start + end) / 2


def gaussian_divergence(p: Law, q: Law, sigma: Any, epsilon: Any) -> mpmath.mpf:
    """Return the integral of (p*N - e^epsilon q*N)_+, N = N(0, sigma^2), from sign changes and exact normal tails.

    A sum of exponentials with k sign changes of its coefficients has at most k zeros: all are found by recursion on
    the derivative of f(y) = sum c_x e^{xy}, whose zeros separate those of f once f is divided by one exponential.
    """
    with mpmath.workdps(60):
        s, factor = as_mpf(sigma), mpmath.exp(as_mpf(epsilon))
        atoms = sorted({*p, *q})
        signed = [as_mpf(p.get(x, 0)) - factor * as_mpf(q.get(x, 0)) for x in atoms]
        places = [as_mpf(x) / s for x in atoms]
        coefficients = [(m, x, mpmath.log(abs(m)) - x * x / 2) for m, x in zip(signed, places, strict=True) if m]
        terms = [(mpmath.sign(m), x, size) for m, x, size in coefficients]
        zeros = _zeros(terms, places[0] - 60, places[-1] + 60)
        edges = [-mpmath.inf, *zeros, mpmath.inf]
        total = mpmath.mpf(0)
        for start, end in pairwise(edges):
            middle = (max(start, places[0] - 80) + min(end, places[-1] + 80)) / 2
            if _exponential_sum(terms, middle) > 0:
                total += sum(m * _normal_between(start - x, end - x) for m, x, _ in coefficients)
        return total


def _exponential_sum(terms: list[Any], y: Any) -> mpmath.mpf:
    """Return the sum of sign * e^{size + x y}, divided by its largest term."""
    top = max(size + x * y for _, x, size in terms)
    return mpmath.fsum(sign * mpmath.exp(size + x * y - top) for sign, x, size in terms)


def _zeros(terms: list[Any], low: Any, high: Any) -> list[Any]:
    """Return the zeros of sum sign e^{size + x y} on an interval: between neighbours of them the derivative has one."""
    if len({sign for sign, _, _ in terms}) < 2:
        return []
    pivot = next(k for k in range(1, len(terms)) if terms[k][0] != terms[k - 1][0])
    centre = (terms[pivot - 1][1] + terms[pivot][1]) / 2
    derived = [(sign * mpmath.sign(x - centre), x, size + mpmath.log(abs(x - centre))) for sign, x, size in terms]
    edges = [low, *_zeros(derived, low, high), high]
    roots = []
    for start, end in pairwise(edges):
        if _exponential_sum(terms, start) * _exponential_sum(terms, end) < 0:
            roots.append(_root(lambda y: _exponential_sum(terms, y), start, end))
    return roots


def _normal_between(low: Any, high: Any) -> mpmath.mpf:
    if low > 0:
        low, high = -high, -low
    return mpmath.ncdf(high) - mpmath.ncdf(low)
