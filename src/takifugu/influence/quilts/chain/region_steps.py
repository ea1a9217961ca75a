"""Bounds on one step and on products of a few steps of chains whose rows lie in boxes.

For products P_1 ... P_n of matrices that may each be any in the box, the largest and least probabilities of going from
x to y are exact by backward induction, because every row is chosen by itself: U_{n+1}(x, y) is the largest
p . U_n(., y) over laws p in the box of row x (imprecise Markov chains; de Cooman, Hermans and Quaeghebeur 2009).
"""

from __future__ import annotations

import numpy as np

from takifugu.core.arrays import FloatArray
from takifugu.numbers.log_ratios import UNIT, clip, largest_differences, log_bounds


def longer(lower: FloatArray, upper: FloatArray, after: FloatArray, largest: bool) -> FloatArray:
    """Return rows' max (or min) of p . after[:, y] over boxes.

    Results are rounded to the safe side. `lower` and `upper` are the box's ends and `after` a table of numbers in [0,
    1], shape (k, k) each.
    """
    k = len(lower)
    ranked = -after if largest else after
    order = np.argsort(ranked, axis=0)
    values = np.take_along_axis(after, order, axis=0)
    room = (upper - lower)[:, order]
    free = np.maximum(1 - lower.sum(axis=1), 0.0)[:, None, None]
    before = np.cumsum(room, axis=1) - room
    filled = np.clip(free - before, 0.0, room)
    masses: FloatArray = ((lower[:, order] + filled) * values[None]).sum(axis=1)
    slack = 32 * (k + 1) * UNIT * after.max(axis=0)[None, :]
    if largest:
        return np.asarray(np.minimum(masses + slack, 1.0))
    return np.asarray(np.maximum(masses - slack, 0.0))


def row_ratios(lower: FloatArray, upper: FloatArray) -> FloatArray:
    """Return max_y log upper[s, y]/lower[s', y], rounded up, (k, k)."""
    return _rounded_up(largest_differences(log_bounds(upper, upper > 0)[0], log_bounds(lower, lower > 0)[1]))


def cross_ratios(lower: FloatArray, upper: FloatArray) -> FloatArray:
    """Return the largest log cross ratio, rounded up, at least 0.

    max over x != x' of log upper[x,s] upper[x',s']/(lower[x,s'] lower[x',s]), shape (k, k) for s, s'; NEVER where
    infinite.
    """
    high, low = log_bounds(upper, upper > 0)[0], log_bounds(lower, lower > 0)[1]
    ratios = clip(high[:, :, None] - low[:, None, :])
    swapped = np.swapaxes(ratios, 1, 2)
    if len(ratios) == 1:
        return np.zeros(ratios.shape[1:])
    largest = np.full(ratios.shape[1:], 0.0)
    for x in range(len(ratios)):
        of_others = np.delete(swapped, x, axis=0).max(axis=0)
        np.maximum(largest, ratios[x] + of_others, out=largest)
    return _rounded_up(clip(largest))


def odds(lower: FloatArray, upper: FloatArray) -> FloatArray:
    """Return 1/(C - 1), rounded down; inf if C <= 1.

    C = max_y p(y)/q(y) over laws p of row s and q of row s'. Shape (k, k); 0 where C is infinite.
    """
    wide = upper[:, None, :] - lower[None, :, :]
    ratio = np.full(wide.shape, np.inf)
    np.divide(np.broadcast_to(lower[None, :, :], wide.shape), wide, out=ratio, where=wide > 0)
    return np.asarray(ratio.min(axis=2) * (1 - 8 * UNIT))


def total_variation(lower: FloatArray, upper: FloatArray) -> FloatArray:
    """Bound the total variation between rows' laws by 1, shape (k, k)."""
    low, high = lower[:, None, :], upper[:, None, :]
    other_low, other_high = lower[None, :, :], upper[None, :, :]
    bounds = [
        np.maximum(high - other_low, 0).sum(axis=2),
        np.maximum(other_high - low, 0).sum(axis=2),
        1 - np.minimum(low, other_low).sum(axis=2),
        np.maximum(high, other_high).sum(axis=2) - 1,
    ]
    slack = 8 * (len(lower) + 2) * UNIT
    return np.asarray(np.clip(np.minimum.reduce(bounds) + slack, 0.0, 1.0))


def _rounded_up(logs: FloatArray) -> FloatArray:
    """Return logs of ratios with their possible rounding added."""
    return np.where(np.abs(logs) < 1e10, logs + 16 * 745 * UNIT, logs)
