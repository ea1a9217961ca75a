"""A bound on max-influence for all chains in a region of transition matrices, with any initial distribution.

All bounds hold even if every step has its own matrix of the region (docs/theory/chain-classes.md). Let N be a product
of n such matrices, and

    rho_n(s, s') >= log N(s, y)/N(s', y) for all y,
    h_n(s, s') >= log N(x, s) N(x', s')/(N(x, s') N(x', s)) for all x, x',    t_n = tanh(max h_n/4).

Then e <= rho_b(s, s') + h_a(s, s'): the nodes on both sides of an entry, whatever the start. Both are bounded by steps
(section 3 there), products (Birkhoff), the entries of products of up to WATCHED steps, which are exact by backward
induction because every row is chosen by itself (de Cooman, Hermans and Quaeghebeur 2009), and by each other.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from takifugu.core.arrays import FloatArray
from takifugu.model.beliefs.chains.interval_chain import IntervalMarkovChain, largest_means
from takifugu.numbers.outward_rounding import NEVER, UNIT, clip, largest_differences, log_bounds

#: Products of up to this many steps are looked at entry by entry.
WATCHED = 64
#: Largest number of distances that are tabulated, and of influences held at once for each side.
MOST_DISTANCES = 2**15
MOST_HELD = 2**24
#: Influences below this cannot be told from rounding: farther nodes do not help.
NEGLIGIBLE = 1e-17


class RegionInfluence:
    """Influences of an entry on nodes at distances 1, 2, ..., `reach`, for ordered pairs of values."""

    def __init__(self, region: IntervalMarkovChain, pairs: Sequence[tuple[int, int]]) -> None:
        self.pairs = tuple(pairs)
        self._first, self._second = np.array(pairs, dtype=np.int64).reshape(-1, 2).T
        self._low, self._high = region.reachable
        k = len(self._low)
        self._apart = ~np.eye(k, dtype=bool)
        self._odds = odds(self._low, self._high)
        turned = 1 / (1 + self._odds + self._odds.T)
        self._spread = np.minimum(total_variation(self._low, self._high), turned * (1 + 8 * UNIT))
        self._lowest, self._highest = np.eye(k), np.eye(k)
        self._inverse = 0.0
        self.reach = 0
        self._most = max(1, min(MOST_DISTANCES, MOST_HELD // max(1, len(pairs))))
        self._tanh, self._tanh_pairs = np.ones(self._most + 1), np.ones((WATCHED + 1, len(pairs)))
        self._right, self._left = np.empty((2, self._most, len(pairs)))
        self.exhausted = False
        self.extend(1)

    def extend(self, distance: int) -> None:
        """Fill the tables up to `distance`, or as far as useful."""
        while self.reach < min(distance, self._most) and not self.exhausted:
            self._step()
            right, none_yet = 1 / max(self._inverse, 1e-300), self.reach >= WATCHED
            right_done = right <= NEGLIGIBLE or (self._inverse == 0 and none_yet)
            left_done = self._tanh[self.reach] <= NEGLIGIBLE or (self._tanh[self.reach] >= 1 and none_yet)
            self.exhausted = self.reach == self._most or (right_done and left_done)

    def right(self, count: int) -> FloatArray:
        """Return bounds on right_b for b up to count, (count, pairs)."""
        return self._right[:count]

    def left(self, count: int) -> FloatArray:
        """Return bounds on left_a for a up to count, (count, pairs)."""
        return self._left[:count]

    def _step(self) -> None:
        """Add the bounds for products with one more step."""
        n = self.reach + 1
        watched, variation = n <= WATCHED, 1.0
        if watched:
            self._highest = longer(self._low, self._high, self._highest, largest=True)
            self._lowest = longer(self._low, self._high, self._lowest, largest=False)
            crossed = _tanh_quarter(cross_ratios(self._lowest, self._highest))
            self._tanh_pairs[n] = crossed[self._first, self._second]
            variation = min(float(crossed.max()), variation)
        block = np.arange(1, min(n - 1, WATCHED) + 1)
        parted = (self._tanh[block] * self._tanh[n - block]).min(initial=1.0) * (1 + 4 * UNIT)
        variation = min(variation, float(parted))
        right = self._rows_after(n, watched, _artanh4(np.array(variation)))
        ways = right + right.T
        variation = min(variation, float(_tanh_quarter(ways[self._apart]).max(initial=0.0)), float(self._tanh[n - 1]))
        self._tanh[n] = variation
        self._store(n, right, variation)

    def _rows_after(self, n: int, watched: bool, most: FloatArray) -> FloatArray:
        """Return rho_n by pair, (k, k), and keep the least odds."""
        ratio = np.full(self._spread.shape, np.inf)
        np.divide(self._inverse, self._spread, out=ratio, where=self._spread > 0)
        weights = (ratio + self._odds) * (1 - 4 * UNIT)
        with np.errstate(divide="ignore", over="ignore"):
            right = np.where(weights > 0, np.log1p(1 / weights), np.inf) * (1 + 8 * UNIT)
        if watched:
            right = np.minimum(right, np.maximum(row_ratios(self._lowest, self._highest), 0.0))
        right = np.minimum(np.minimum(right, most), NEVER)
        np.fill_diagonal(right, 0.0)
        with np.errstate(over="ignore", divide="ignore"):
            inverse = 1 / np.expm1(right[self._apart]) * (1 - 8 * UNIT)
        self._inverse = max(self._inverse, float(inverse.min(initial=np.inf)))
        return np.asarray(right)

    def _store(self, n: int, right: FloatArray, variation: float) -> None:
        reach = min(n, WATCHED)
        ahead = self._tanh[n - np.arange(1, reach + 1)]
        ends = (self._tanh_pairs[1 : reach + 1] * ahead[:, None]).min(axis=0) * (1 + 4 * UNIT)
        left = _artanh4(np.minimum(ends, variation))
        row = right[self._first, self._second]
        if n > 1:
            row, left = np.minimum(row, self._right[n - 2]), np.minimum(left, self._left[n - 2])
        self._right[n - 1], self._left[n - 1] = row, left
        self.reach = n


def _tanh_quarter(logs: FloatArray) -> FloatArray:
    """Return tanh(h/4), rounded up, at most 1."""
    return np.minimum(np.tanh(logs / 4) * (1 + 8 * UNIT), 1.0)


def _artanh4(values: FloatArray) -> FloatArray:
    """Return 4 artanh(t), rounded up; NEVER for t rounded to 1."""
    is_below_1 = values < 1 - 16 * UNIT
    return np.where(is_below_1, 4 * np.arctanh(np.where(is_below_1, values, 0.0)) * (1 + 8 * UNIT), NEVER)


def longer(lower: FloatArray, upper: FloatArray, after: FloatArray, largest: bool) -> FloatArray:
    """Return rows' max (or min) of p . after[:, y] over boxes, rounded to the safe side, shape (k, k)."""
    # The numbers of `after` lie in [0, 1].
    slack = 32 * (len(lower) + 1) * UNIT * after.max(axis=0)[None, :]
    if largest:
        return np.asarray(np.minimum(largest_means(lower, upper, after) + slack, 1.0))
    return np.asarray(np.maximum(-largest_means(lower, upper, -after) - slack, 0.0))


def row_ratios(lower: FloatArray, upper: FloatArray) -> FloatArray:
    """Return max_y log upper[s, y]/lower[s', y], rounded up, (k, k)."""
    return _rounded_up(largest_differences(log_bounds(upper, upper > 0)[0], log_bounds(lower, lower > 0)[1]))


def cross_ratios(lower: FloatArray, upper: FloatArray) -> FloatArray:
    """Return the largest log cross ratio by (s, s'), rounded up, at least 0; NEVER where infinite."""
    # max over x != x' of log upper[x,s] upper[x',s']/(lower[x,s'] lower[x',s])
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
    """Return 1/(C - 1), C = max_y p(y)/q(y) over laws p of row s and q of row s', rounded down; inf if C <= 1."""
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
