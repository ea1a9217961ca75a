"""Logs of probabilities that were computed in floats, as rigorous bounds, and their largest differences.

Infinite log-ratios are kept as the number NEVER and impossible cases as DEAD, so that sums of influences never meet
inf - inf; both are far outside what logs of floats can reach.
"""

from __future__ import annotations

import numpy as np

from takifugu.core.arrays import BoolArray, FloatArray, IntArray

#: Half the distance from 1 to the next float: the relative error of one rounded operation.
UNIT = 2.0**-53
#: An infinite log-ratio.
NEVER = 1e100
#: The log of an impossible case; it stays impossible whatever is added to it.
DEAD = -1e200
#: Positive masses below this may have lost digits to underflow: they are never divided by.
TRUSTED = 2.0**-900


def log_bounds(values: FloatArray, positive: BoolArray) -> tuple[FloatArray, FloatArray]:
    """Return (upper, lower) logs of computed masses, before their relative error.

    `positive` says which true masses are above zero. Zero masses have upper DEAD and lower -NEVER; masses too small to
    be trusted have upper log(TRUSTED) and lower -NEVER.
    """
    safe = values >= TRUSTED
    if safe.all():
        logs = np.log(values)
        return logs, logs
    logs = np.log(np.where(safe, values, TRUSTED))
    return np.where(positive, logs, DEAD), np.where(safe, logs, -NEVER)


def largest_differences(upper: FloatArray, lower: FloatArray) -> FloatArray:
    """Return rows' largest upper minus lower logs, shape (..., k, k).

    NEVER if infinite, DEAD if empty.
    """
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


def product_error(steps: IntArray, k: int) -> FloatArray:
    """Bound a log-ratio's error after products with matrices of k rows.

    `steps` counts the matrices. An entry of a normalised matrix has at most 2k + 4 units of relative error, and a sum
    of k products of positive terms adds at most k: both logs are off by at most 3k + 4 units per step, first order and
    a percent.
    """
    return np.asarray(1.01 * UNIT * (6 * k + 8) * steps)


def stack_power(matrix: FloatArray, rows: FloatArray, count: int) -> FloatArray:
    """Return rows, rows P, rows P^2, ..., shape (count, k), by doubling."""
    laws = rows[None, :]
    power = matrix
    while len(laws) < count:
        laws = np.concatenate([laws, laws @ power])
        power = power @ power
    return np.asarray(laws[:count], dtype=np.float64)
