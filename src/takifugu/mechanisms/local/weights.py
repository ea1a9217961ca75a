"""Planar noise on the cells of a declared box, remapped into it: what falls outside goes to the nearest cell.

Noise on the whole plane, rounded to equal cells and clamped to the box, is post-processing of the ideal mechanism, so
that planar Laplace noise keeps metric privacy epsilon exactly between the middles of cells (Andrés et al. 2013), where
dividing rows by their sums can cost twice that.

Normal noise falls into a cell with the product of two masses of intervals. Planar Laplace noise of density
epsilon^2 / (2 pi) e^(-epsilon r) is a mixture of normal noises: its variance is chi-squared with three degrees of
freedom, divided by epsilon^2 (both have the characteristic function (1 + |w|^2/epsilon^2)^(-3/2)). So a cell's mass
is an integral over one number, by the trapezoidal rule in the logarithm of the variance: all terms are positive, and
masses far away keep their relative accuracy.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Sequence
from dataclasses import dataclass

import numpy as np

from takifugu.core.arrays import IntArray
from takifugu.numbers.atoms import Floats

#: Logarithms of weights below this are raised to it: exact masses keep 2**-90 for any positive weight.
FARTHEST = -600.0
#: Logarithms of epsilon^2 times the variance over which the mixture is summed: what lies outside is below 1e-17 of
#: the mass of any cell, down to masses of e^-600.
_LOGS = np.arange(-32 * 32, 8 * 32) / 32
#: Relative differences of coordinates that are rounding.
_ROUNDING = 1e-9
#: Intervals narrower than this, in deviations, are integrated; for others both ends are subtracted.
_NARROW = 0.5


@dataclass(frozen=True, eq=False)
class Cells:
    """Equal cells that fill a box: the middles along both axes, and where each place is among them."""

    along: tuple[Floats, Floats]
    index: tuple[IntArray, IntArray]


def cells_of(places: Sequence[Hashable]) -> Cells | None:
    """Return the equal cells with these places as middles, if any."""
    try:
        points = np.array(places, dtype=float)
    except (TypeError, ValueError):
        return None
    if points.ndim != 2 or points.shape[1] != 2 or not np.isfinite(points).all():
        return None
    first, second = _axis(points[:, 0]), _axis(points[:, 1])
    if first is None or second is None:
        return None
    (x, column), (y, row) = first, second
    is_full = len(set(zip(column.tolist(), row.tolist(), strict=True))) == len(points) == len(x) * len(y)
    return Cells((x, y), (column, row)) if is_full else None


def laplace_masses(cells: Cells, rate: float) -> Floats:
    """Return the masses of remapped planar Laplace noise e^(-rate d)."""
    variances = np.exp(_LOGS)
    weights = variances**1.5 * np.exp(-variances / 2)
    return mixed_masses(cells, np.sqrt(variances) / rate, weights / weights.sum())


def mixed_masses(cells: Cells, deviations: Floats, weights: Floats) -> Floats:
    """Return the masses of a mixture of normal noises, remapped."""
    across, up = (_interval_masses(middles, deviations) for middles in cells.along)
    (columns, rows), count = map(len, cells.along), len(weights)
    table = (weights[:, None] * across.reshape(count, -1)).T @ up.reshape(count, -1)
    masses = table.reshape(columns, columns, rows, rows)
    x, y = cells.index
    return np.maximum(masses[x[:, None], x[None, :], y[:, None], y[None, :]], math.exp(FARTHEST))


def _interval_masses(middles: Floats, deviations: Floats) -> Floats:
    """Return P(x + Z in interval k), shape (deviations, middles, middles)."""
    from scipy.special import ndtr

    # The intervals end half way between middles; the first and the last reach to infinity.
    ends = np.concatenate([[-np.inf], (middles[1:] + middles[:-1]) / 2, [np.inf]])
    z = (ends[None, None, :] - middles[None, :, None]) / deviations[:, None, None]
    low, high = z[:, :, :-1], z[:, :, 1:]
    turned = low > -high  # more of it lies where masses are small
    low, high = np.where(turned, -high, low), np.where(turned, -low, high)
    masses: Floats = ndtr(high) - ndtr(low)
    narrow = high - low < _NARROW
    nodes, weights = np.polynomial.legendre.leggauss(16)
    centre, half = (high[narrow] + low[narrow]) / 2, (high[narrow] - low[narrow]) / 2
    density = np.exp(-((centre[:, None] + half[:, None] * nodes) ** 2) / 2) / math.sqrt(2 * math.pi)
    masses[narrow] = half * (density @ weights)
    return masses


def _axis(values: Floats) -> tuple[Floats, IntArray] | None:
    """Return the coordinates along an axis, if equally spaced, and places' numbers."""
    different, index = np.unique(values, return_inverse=True)
    steps = np.diff(different)
    if steps.size and float(np.ptp(steps)) > _ROUNDING * float(np.abs(different).max() + steps.max()):
        return None
    return different, index


def decaying(distances: Floats, rate: float) -> Floats:
    """Return e^(-rate d), the weights of planar Laplace noise."""
    return np.exp(np.maximum(-rate * distances, FARTHEST))


def same_or_other(count: int, epsilon: float) -> Floats:
    """Return randomised response: 1 for the value, e^-epsilon for others."""
    return decaying(1.0 - np.eye(count), epsilon)


def restricted(distances: Floats, rate: float, radius: float) -> Floats:
    """Return e^(-rate d) within `radius`, and 0 beyond (Kawamoto19 §6.4)."""
    return np.where(distances <= radius, decaying(distances, rate), 0.0)
