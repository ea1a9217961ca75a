"""Gaussian processes by conditioning and one-dimensional integrals. Imports no takifugu."""

import math
from collections.abc import Callable

import numpy as np
import numpy.typing as npt
from scipy.optimize import brentq
from scipy.stats import norm

Array = npt.NDArray[np.float64]


def autoregressive(correlation: float, length: int, deviation: float = 1.0) -> Array:
    """Return deviation^2 * correlation^|i - j|."""
    places = np.arange(length)
    return np.asarray(deviation**2 * correlation ** np.abs(places[:, None] - places))


def profile(move: float, epsilon: float) -> float:
    """Return delta of two normal laws of deviation 1 that are `move` apart (Balle and Wang 2018)."""
    if not move:
        return 0.0
    return float(norm.cdf(move / 2 - epsilon / move) - math.exp(epsilon) * norm.cdf(-move / 2 - epsilon / move))


def largest_move(epsilon: float, delta: float) -> float:
    """Return the move at which the profile is delta."""
    return float(brentq(lambda move: profile(move, epsilon) - delta, 1e-9, 60))


def moves(covariance: Array, weights: Array, variances: Array, difference: float, own: bool) -> Array:
    """Return mu of each value: difference * root of g'(S^-1)g, S with the process's `own` randomness, or V alone."""
    found = []
    for value in range(len(covariance)):
        of_value = covariance[:, value]
        slope = weights @ of_value / covariance[value, value]
        rest = covariance - np.outer(of_value, of_value) / covariance[value, value]
        spread = np.diag(variances) + (weights @ rest @ weights.T if own else 0)
        found.append(difference * math.sqrt(slope @ np.linalg.solve(spread, slope)))
    return np.array(found)


def least_deviation(
    covariance: Array, weights: Array, epsilon: float, delta: float, difference: float, own: bool
) -> float:
    """Return the least deviation of noise in each cell, the process's own randomness counted or not."""
    target, cells = largest_move(epsilon, delta), len(weights)

    def excess(deviation: float) -> float:
        return float(moves(covariance, weights, np.full(cells, deviation**2), difference, own).max()) - target

    return 0.0 if excess(1e-6) <= 0 else float(brentq(excess, 1e-6, 1e5))


def delta_by_integral(left: Callable[[Array], Array], right: Callable[[Array], Array], epsilon: float) -> float:
    """Return the integral of (left - e^epsilon right)_+ over a fine grid of outputs."""
    outputs = np.linspace(-30, 30, 8001)
    return float(np.trapezoid(np.maximum(left(outputs) - math.exp(epsilon) * right(outputs), 0), outputs))


def density_of_sum(
    correlation: float, length: int, hidden: int, value: float, read: Callable[[Array], Array], deviation: float
) -> Callable[[Array], Array]:
    """Return the density of the noisy sum of read values of an AR(1) series of deviation 1, given one at an end of it.

    The values beside the hidden one are walked over on a grid: `length` up to 3, and the first or last is hidden.
    """
    assert length <= 3
    assert hidden in (0, length - 1)
    steps = np.linspace(-8, 8, 801)
    masses = norm.pdf(steps) / norm.pdf(steps).sum()
    points, chances = np.array([value]), np.array([1.0])
    sums = read(points)
    for _ in range(length - 1):
        points = (correlation * points[:, None] + math.sqrt(1 - correlation**2) * steps).ravel()
        sums = (sums[:, None] + read(points).reshape(len(sums), -1)).ravel()
        points, sums, chances = _merged(points, sums, (chances[:, None] * masses).ravel())
    different, place = np.unique(sums.round(6), return_inverse=True)
    weights = np.bincount(place.ravel(), chances)

    def density(outputs: Array) -> Array:
        total = np.zeros(len(outputs))
        for centre, weight in zip(different, weights, strict=True):
            total += weight * norm.pdf(outputs, centre, deviation)
        return total

    return density


def _merged(points: Array, sums: Array, chances: Array) -> tuple[Array, Array, Array]:
    """Return points on a grid of hundredths and sums of ten-thousandths, equal pairs as one."""
    keys = np.rint(points * 100).astype(np.int64) * 10**7 + np.rint(sums * 10**4).astype(np.int64) + 5 * 10**6
    different, place = np.unique(keys, return_inverse=True)
    on_grid, rest = np.divmod(different, 10**7)
    return on_grid / 100, (rest - 5 * 10**6) / 10**4, np.bincount(place.ravel(), chances)


def simulated(
    correlation: float, length: int, hidden: int, value: float, read: Callable[[Array], Array], runs: int, seed: int
) -> Array:
    """Return sums of read values of an AR(1) series of deviation 1, given one of them."""
    random, own = np.random.default_rng(seed), math.sqrt(1 - correlation**2)
    total = np.full(runs, float(read(np.array([value]))[0]))
    for count in (length - 1 - hidden, hidden):
        at = np.full(runs, value)
        for _ in range(count):
            at = correlation * at + own * random.standard_normal(runs)
            total += read(at)
    return total


def rounded(step: float) -> Callable[[Array], Array]:
    """Return reading to multiples of a step, halves to even ones."""
    return lambda values: np.round(np.asarray(values) / step) * step


def clipped(low: float, high: float) -> Callable[[Array], Array]:
    """Return reading of values within a range."""
    return lambda values: np.clip(values, low, high)
