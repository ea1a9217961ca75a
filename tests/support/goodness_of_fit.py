"""Goodness of fit for integer samples, and the laws to fit: independent of takifugu, in plain floating point.

Every test says how it can fail: `misfit` is small when the samples do not come from the law.
"""

from bisect import bisect_right
from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from math import erfc, exp, sqrt
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import chdtrc, kolmogorov

Cdf = Callable[[int], float]

LADDER = [x / 8 for x in range(-64, 65)]


def discrete_laplace_cdf(scale: Fraction) -> Cdf:
    """P(X <= k) for P(X = k) proportional to exp(-|k| / scale)."""
    a = exp(-1 / scale)

    def cdf(k: int) -> float:
        return exp(-float(-k / scale)) / (1 + a) if k < 0 else 1 - exp(-float((k + 1) / scale)) / (1 + a)

    return cdf


def rounded_laplace_cdf(center: Fraction, scale: Fraction, grid: Fraction) -> Cdf:
    """P(round((center + Z) / grid) <= k), Z Laplace."""

    def cdf(k: int) -> float:
        z = float(((k + Fraction(1, 2)) * grid - center) / scale)
        return exp(z) / 2 if z < 0 else 1 - exp(-z) / 2

    return cdf


def rounded_normal_cdf(center: Fraction, sigma: Fraction, grid: Fraction) -> Cdf:
    """P(round((center + Z) / grid) <= k), Z normal."""

    def cdf(k: int) -> float:
        return erfc(-float(((k + Fraction(1, 2)) * grid - center) / sigma) / sqrt(2)) / 2

    return cdf


def misfit(samples: NDArray[Any] | Sequence[int], cdf: Cdf, center: Fraction, spread: Fraction) -> float:
    """Return a p-value for "these integers have this law": twice the smaller of chi-squared's and Kolmogorov-Smirnov's.

    Cells end at the integers nearest to center + spread * LADDER (centre and spread in units of the integers), so they
    do not depend on the samples.
    """
    ends = sorted({round(center + spread * Fraction(x)) for x in LADDER})
    values = sorted(map(int, samples))
    below = np.array([bisect_right(values, end) for end in ends])
    levels = np.array([cdf(end) for end in ends])
    counts = np.diff(np.concatenate([[0], below, [len(values)]]))
    probabilities = np.diff(np.concatenate([[0.0], levels, [1.0]]))
    distance = np.abs(below / len(values) - levels).max()
    return 2 * min(chi_squared_p(counts, probabilities), float(kolmogorov(distance * sqrt(len(values)))))


def chi_squared_p(counts: NDArray[Any], probabilities: NDArray[np.float64]) -> float:
    """Return Pearson's p-value; neighbouring cells are merged until each expects at least ten."""
    total = counts.sum()
    observed, expected = [0.0], [0.0]
    for count, probability in zip(counts, probabilities, strict=True):
        if expected[-1] >= 10:
            observed.append(0.0)
            expected.append(0.0)
        observed[-1] += count
        expected[-1] += total * probability
    if expected[-1] < 10 and len(expected) > 1:
        observed[-2:], expected[-2:] = [sum(observed[-2:])], [sum(expected[-2:])]
    statistic = sum((o - e) ** 2 / e for o, e in zip(observed, expected, strict=True))
    return float(chdtrc(len(observed) - 1, statistic)) if len(observed) > 1 else 1.0


def fits(seen: Mapping[Any, int], masses: Mapping[Any, float], draws: int, least: float = 20) -> bool:
    """Whether chi-squared of the outputs expected more than `least` times is within six deviations of its mean."""
    expected = {output: draws * mass for output, mass in masses.items() if draws * mass > least}
    chi = sum((seen.get(output, 0) - number) ** 2 / number for output, number in expected.items())
    assert expected
    return chi < len(expected) + 6 * sqrt(2 * len(expected))


def two_sample_p(first: NDArray[Any], second: NDArray[Any]) -> float:
    """Return the chi-squared p-value for "both integer samples have one law"; values rarer than twenty are pooled."""
    values, inverse = np.unique(np.concatenate([first, second]), return_inverse=True)
    table = np.array([np.bincount(part, minlength=values.size) for part in np.split(inverse, [first.size])])
    rare = table.sum(axis=0) < 20
    table = np.column_stack([table[:, ~rare], table[:, rare].sum(axis=1)])
    table = table[:, table.sum(axis=0) > 0]
    expected = table.sum(axis=1, keepdims=True) * table.sum(axis=0) / table.sum()
    return float(chdtrc(table.shape[1] - 1, ((table - expected) ** 2 / expected).sum()))


def coin_p(successes: int, trials: int, probability: float) -> float:
    """Return the two-sided normal p-value of a count of coins."""
    deviation = abs(successes - trials * probability) / sqrt(trials * probability * (1 - probability))
    return erfc(deviation / sqrt(2))
