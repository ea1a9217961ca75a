"""Slow, obviously right: which normal laws a public sample supports, and what normal noise keeps under one law.

Nothing here imports takifugu.
"""

from collections.abc import Iterator
from fractions import Fraction
from itertools import product
from typing import Any

import mpmath
from tests.support.laws_oracles import as_mpf

Matrix = tuple[tuple[Fraction, ...], ...]


def misses(rows: int, products: Matrix, ends: Any) -> Iterator[mpmath.mpf]:
    """Yield, with 40 digits, how likely each end of a region misses its number: exact laws of normal samples.

    `products` are the sums of squares and products about the means, `ends` the region.
    """
    with mpmath.workdps(40):
        for x, row in enumerate(products):
            yield chi_square_above(rows - 1, as_mpf(row[x] / ends.variances[x]))
            for y, shared in enumerate(row):
                if x == y:
                    continue
                left = products[y][y] - shared**2 / row[x]
                yield chi_square_above(rows - 2, as_mpf(left / ends.residuals[x][y]))
                slope, unit = shared / row[x], as_mpf(left / row[x]) / (rows - 2)
                for end in ends.slopes[x][y]:
                    yield student_beyond(rows - 2, as_mpf(abs(end - slope)) / mpmath.sqrt(unit)) / 2


def chi_square_above(degrees: int, bound: mpmath.mpf) -> mpmath.mpf:
    return mpmath.gammainc(mpmath.mpf(degrees) / 2, bound / 2, mpmath.inf, regularized=True)


def student_beyond(degrees: int, bound: mpmath.mpf) -> mpmath.mpf:
    """Return how likely |T| exceeds a bound."""
    share = degrees / (degrees + bound**2)
    return mpmath.betainc(mpmath.mpf(degrees) / 2, mpmath.mpf(1) / 2, 0, share, regularized=True)


def samples(rows: int, covariance: tuple[tuple[float, float], tuple[float, float]], steps: int) -> Iterator[Matrix]:
    """Yield the scatter of two columns at equally likely places of its law (Bartlett's decomposition).

    The scatter is L A A' L', L L' the covariance, with A = [[a, 0], [z, b]]: a^2 and b^2 are chi-square with rows - 1
    and rows - 2 degrees, z is a standard normal number, and all are independent. Each is put at the middles of `steps`
    parts of one probability, so that a share of the samples is a Riemann sum of a probability.
    """
    from scipy.special import gammaincinv, ndtri

    (first, shared), (_, second) = covariance
    low = shared / first**0.5
    last = (second - low**2) ** 0.5
    middles = [(step + 0.5) / steps for step in range(steps)]
    for p, q, r in product(middles, repeat=3):
        a = (2 * gammaincinv((rows - 1) / 2, p)) ** 0.5
        b = (2 * gammaincinv((rows - 2) / 2, q)) ** 0.5
        x = (first**0.5 * a, 0.0)
        y = (low * a + last * ndtri(r), last * b)
        columns = (tuple(map(Fraction, x)), tuple(map(Fraction, y)))
        scatter: Matrix = ()
        for u in columns:
            scatter += (tuple(sum((s * t for s, t in zip(u, v, strict=True)), Fraction(0)) for v in columns),)
        yield scatter


def is_inside(covariance: tuple[tuple[float, float], tuple[float, float]], ends: Any) -> bool:
    """Return whether a region has the law with this covariance."""
    for x, y in ((0, 1), (1, 0)):
        alone, shared, other = covariance[x][x], covariance[x][y], covariance[y][y]
        low, high = ends.slopes[x][y]
        residual = other - shared**2 / alone
        if not (low <= shared / alone <= high and residual >= ends.residuals[x][y] and alone >= ends.variances[x]):
            return False
    return True


def delta(slope: Any, residual: Any, move: Any, added: Any, epsilon: Any, records: int = 1, least: Any = 0) -> Any:
    """Return the delta of N(0, added) beside the mean of `records` rows, when what is hidden moves the mean by `move`.

    The rest of the mean has the variance residual/records. With `least` (the variance of what is hidden) it is the
    value of one record that moves, and the other records' count as well.
    """
    rest = as_mpf(residual) / records
    shift = as_mpf(slope) * as_mpf(move)
    if least:
        rest += as_mpf(slope) ** 2 * as_mpf(least) * (records - 1) / records**2
        shift /= records
    ratio = abs(shift) / mpmath.sqrt(rest + as_mpf(added))
    if not ratio:
        return mpmath.mpf(0)
    e = as_mpf(epsilon)
    return mpmath.ncdf(ratio / 2 - e / ratio) - mpmath.exp(e) * mpmath.ncdf(-ratio / 2 - e / ratio)


def delta_of_cells(
    kind: str, cells: Any, law: tuple[Any, Any, Any], move: Any, added: Any, epsilon: Any, records: int
) -> Any:
    """Return the delta of N(0, added) on each cell, a sum over records of w x + u y for (w, u) of `cells`.

    `law` has the slope of y on x, the variance of y given x, and that of x. What is hidden moves by `move`: the mean or
    the sum of x, its value in one record, or its mean in the population, where the mean of y stays.
    """
    with mpmath.workdps(40):
        slope, residual, variance = map(as_mpf, law)
        along = mpmath.matrix([as_mpf(w) + slope * as_mpf(u) for w, u in cells])
        across = mpmath.matrix([as_mpf(u) for _, u in cells])
        others = {"mean": 0, "sum": 0, "one": records - 1, "population": records}[kind]
        covariance = records * residual * across * across.T + others * variance * along * along.T
        covariance += as_mpf(added) * mpmath.eye(len(cells))
        times = {"mean": records, "sum": 1, "one": 1, "population": records}[kind] * as_mpf(move)
        shift = times * (mpmath.matrix([as_mpf(w) for w, _ in cells]) if kind == "population" else along)
        ratio = mpmath.sqrt((shift.T * mpmath.lu_solve(covariance, shift))[0])
        return delta(ratio, 1, 1, 0, epsilon)
