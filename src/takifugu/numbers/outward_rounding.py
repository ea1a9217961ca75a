"""Floating-point numbers that are never below the exact ones: sums, exponentials, and logs of probabilities.

Infinite log-ratios are kept as the number NEVER and impossible cases as DEAD, so that sums of influences never meet
inf - inf; both are far outside what logs of floats can reach.
"""

from __future__ import annotations

import math
from fractions import Fraction
from typing import TypeVar

import numpy as np

from takifugu.core.arrays import BoolArray, FloatArray, IntArray
from takifugu.numbers.rationals import float_above

Rounded = TypeVar("Rounded", float, FloatArray)
Error = TypeVar("Error", float, Fraction, FloatArray)

#: The unit roundoff of a double.
UNIT = 2.0**-53
#: Up to so many states one sum over all triples, which mostly finds nothing shorter, is quicker than one per state.
CLOSED_AT_ONCE = 16


def up(number: Rounded) -> Rounded:
    """Return the next larger floats: above one rounded operation's exact result."""
    larger: Rounded = np.nextafter(number, np.inf)
    return larger


def exp_up(exponent: float | Fraction) -> Fraction:
    """Return a rational at least e^exponent, for exponents up to 600."""
    return Fraction(math.exp(exponent)) * (1 + Fraction(1, 2**42))


def sum_up(first: Rounded, second: Rounded) -> Rounded:
    """Return a float at least the exact sum; zeros change nothing."""
    total = first + second
    if isinstance(total, np.ndarray):
        return np.nextafter(total, np.inf, out=total, where=np.logical_and(first, second))
    return total if first == 0 or second == 0 else float(up(total))


def floats_above(values: IntArray, unit: Fraction) -> FloatArray:
    """Return the least floats not below integers times a unit."""
    if unit.numerator != 1 or unit.denominator & (unit.denominator - 1):
        different, place = np.unique(values, return_inverse=True)
        return np.array([float_above(value * unit) for value in different.tolist()])[place.ravel()]
    nearest = np.asarray(values, dtype=float)
    above = np.where(nearest.astype(np.int64) < values, np.nextafter(nearest, np.inf), nearest)
    return np.asarray(np.ldexp(above, 1 - unit.denominator.bit_length()))


def padded(logs: FloatArray, states: int, size: float | FloatArray) -> FloatArray:
    """Return logs of ratios of means plus their possible rounding."""
    return np.asarray(up(logs + (2 * states + 24 + 4 * np.maximum(size, 1.0)) * UNIT))


def along_most(arrays: FloatArray) -> FloatArray:
    """Return several arrays so stored that operations go along the longer of their first axis and their last."""
    return np.asarray(arrays, order="F" if len(arrays) > arrays.shape[-1] else "C")


def closed(ratio: FloatArray) -> FloatArray:
    """Return the largest matrices below `ratio` with all triangle inequalities: shortest paths, rounded up."""
    # The cone {phi: phi(u) <= e^rho(u, v) phi(v)} stays the same.
    distance = np.array(ratio, dtype=float, order="C")
    states = distance.shape[-1]
    distance.reshape(-1, states * states)[:, :: states + 1] = 0.0
    if states <= CLOSED_AT_ONCE:
        along = along_most(distance)
        if not ((along[..., None] + along[..., None, :, :]).min(axis=-2) < along).any():
            return distance
    for middle in range(states if states > 2 else 0):
        through = distance[..., :, middle, None] + distance[..., None, middle, :]
        shorter = through < distance
        if shorter.any():
            distance[shorter] = np.minimum(up(through[shorter]), distance[shorter])
    return distance


#: An infinite log-ratio.
NEVER = 1e100
#: The log of an impossible case; it stays impossible whatever is added to it.
DEAD = -1e200
#: Positive masses below this may have lost digits to underflow: they are never divided by.
TRUSTED = 2.0**-900


def log_bounds(values: FloatArray, positive: BoolArray) -> tuple[FloatArray, FloatArray]:
    """Return (upper, lower) logs of computed masses, before their relative error."""
    # `positive` says which true masses are above zero; masses too small to be trusted have no lower log.
    safe = values >= TRUSTED
    if safe.all():
        logs = np.log(values)
        return logs, logs
    logs = np.log(np.where(safe, values, TRUSTED))
    return np.where(positive, logs, DEAD), np.where(safe, logs, -NEVER)


def largest_differences(upper: FloatArray, lower: FloatArray) -> FloatArray:
    """Return rows' largest upper minus lower logs, shape (..., k, k): NEVER if infinite, DEAD if empty."""
    left, right = upper[..., :, None, :], lower[..., None, :, :]
    largest: FloatArray = left[..., 0] - right[..., 0]
    for y in range(1, upper.shape[-1]):
        np.maximum(largest, left[..., y] - right[..., y], out=largest)
    return clip(largest)


def clip(log_ratios: FloatArray) -> FloatArray:
    """Set infinite log-ratios to NEVER and impossible ones to DEAD, in place."""
    log_ratios[log_ratios > NEVER / 2] = NEVER
    log_ratios[log_ratios < -NEVER / 2] = DEAD
    return log_ratios


def log_rounding(*logs: FloatArray) -> float:
    """Bound the rounding of logs of these sizes and their sums."""
    sizes = [np.abs(x[np.abs(x) < NEVER / 2]).max(initial=0.0) for x in logs]
    return 16 * UNIT * float(max(sizes, default=0.0))


def log_ratio_error(error: Error) -> Error:
    """Bound the error of a log-ratio of two masses, each right up to a factor 1 ± `error`."""
    return 2 * error * (1 + error)


def product_error(steps: IntArray, k: int) -> FloatArray:
    """Bound a log-ratio's error after products with so many matrices of k rows."""
    # An entry is off by 2k + 4 units and a sum of k products by k more: both logs by 3k + 4 a step, and a percent.
    return np.asarray(1.01 * UNIT * (6 * k + 8) * steps)
