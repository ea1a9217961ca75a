"""Bounds on one step and on products of a few steps of chains whose rows lie in boxes.

For products P_1 ... P_n of matrices that may each be any in the box, the largest and least probabilities of going from
x to y are exact by backward induction, because every row is chosen by itself: U_{n+1}(x, y) is the largest
p . U_n(., y) over laws p in the box of row x (imprecise Markov chains; de Cooman, Hermans and Quaeghebeur 2009).
"""

from __future__ import annotations

import numpy as np

from takifugu.numbers.log_ratios import UNIT, FloatArray, clip, largest_differences, log_bounds


def longer(lower: FloatArray, upper: FloatArray, after: FloatArray, largest: bool) -> FloatArray:
    """Return max (or min) over laws p in the box of each row x of p . after[:, y], rounded to the safe side.

    `lower` and `upper` are the box's ends and `after` a table of numbers in [0, 1], shape (k, k) each.
    """
    k = len(lower)
    order = np.argsort(-after if largest else after, axis=0)
    values = np.take_along_axis(after, order, axis=0)
    room = (upper - lower)[:, order]
    free = np.maximum(1 - lower.sum(axis=1), 0.0)[:, None, None]
    before = np.cumsum(room, axis=1) - room
    filled = np.clip(free - before, 0.0, room)
    masses: FloatArray = ((lower[:, order] + filled) * values[None]).sum(axis=1)
    slack = 32 * (k + 1) * UNIT * after.max(axis=0)[None, :]
    return np.asarray(np.minimum(masses + slack, 1.0) if largest else np.maximum(masses - slack, 0.0))


def row_ratios(lower: FloatArray, upper: FloatArray) -> FloatArray:
    """Return max_y log upper[s, y]/lower[s', y], rounded up, shape (k, k); NEVER where infinite."""
    return _rounded_up(largest_differences(log_bounds(upper, upper > 0)[0], log_bounds(lower, lower > 0)[1]))


def cross_ratios(lower: FloatArray, upper: FloatArray) -> FloatArray:
    """Return max over x != x' of log upper[x,s] upper[x',s']/(lower[x,s'] lower[x',s]), rounded up and at least 0.

    Shape (k, k) for s, s'; NEVER where infinite.
    """
    high, low = log_bounds(upper, upper > 0)[0], log_bounds(lower, lower > 0)[1]
    ratios = clip(high[:, :, None] - low[:, None, :])
    others = np.swapaxes(ratios, 1, 2)
    if len(ratios) == 1:
        return np.zeros(ratios.shape[1:])
    largest = np.full(ratios.shape[1:], 0.0)
    for x in range(len(ratios)):
        rest = np.delete(others, x, axis=0).max(axis=0)
        np.maximum(largest, ratios[x] + rest, out=largest)
    return _rounded_up(clip(largest))


def odds(lower: FloatArray, upper: FloatArray) -> FloatArray:
    """Return 1/(C - 1), rounded down, for C = max_y p(y)/q(y) over laws p of row s and q of row s'; inf if C <= 1.

    Shape (k, k); 0 where C is infinite.
    """
    wide = upper[:, None, :] - lower[None, :, :]
    ratio = np.full(wide.shape, np.inf)
    np.divide(np.broadcast_to(lower[None, :, :], wide.shape), wide, out=ratio, where=wide > 0)
    return np.asarray(ratio.min(axis=2) * (1 - 8 * UNIT))


def total_variation(lower: FloatArray, upper: FloatArray) -> FloatArray:
    """Return an upper bound, at most 1, on the total variation between laws of rows s and s', shape (k, k)."""
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
    """Return logs of ratios with what rounding can have taken from them: logs of single floats are below 745."""
    return np.where(np.abs(logs) < 1e10, logs + 16 * 745 * UNIT, logs)
