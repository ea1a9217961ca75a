"""The supremum over all likelihoods in [m, e^s m]: sound for every cone of largest pair s, and often far above.

Of these the best one has two values, e^s where p/q is large: a prefix in the order of p/q, which does not depend on s.
So all sums over prefixes are made once for a matrix of rows, and each s takes a search among them: for the pairs alone
whose prefix of the last s is no longer the best.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from takifugu.core.arrays import FloatArray, IntArray
from takifugu.numbers.outward_rounding import padded

#: Sums for so many numbers are held; beyond them those of a pair are made when they are needed, for few pairs at once.
MOST_HELD, AT_ONCE = 2_000_000, 50_000


@dataclass(frozen=True, eq=False)
class Prefixes:
    """p/q in falling order, sums of p and q over each prefix of it, and over what is left: (pairs, states)."""

    likelihood_ratio: FloatArray
    high_p: FloatArray
    high_q: FloatArray
    low_p: FloatArray
    low_q: FloatArray

    @staticmethod
    def of(p: FloatArray, q: FloatArray) -> Prefixes:
        """Return the sums of pairs, each a row of p and one of q."""
        with np.errstate(divide="ignore", invalid="ignore"):
            ratio = np.where(q > 0, p / q, np.where(p > 0, np.inf, -1.0))
        order = np.argsort(-ratio, axis=1, kind="stable")
        ratio, p, q = (np.take_along_axis(table, order, axis=1) for table in (ratio, p, q))
        return Prefixes(ratio, np.cumsum(p, axis=1), np.cumsum(q, axis=1), _rests(p), _rests(q))

    def around_best(self, low: float, pairs: IntArray) -> FloatArray:
        """Return `Near` of these pairs (flat indices); states behind a prefix have `low`."""
        states = self.high_p.shape[1]
        starts = pairs * states
        first, last = np.zeros(len(pairs), dtype=np.int64), np.full(len(pairs), states - 1)
        # The next state betters a prefix if and only if its p/q is above the ratio: first always, then never again.
        while (first < last).any():
            middle = (first + last) // 2
            at = starts + middle
            high = self.high_p.take(at) + low * self.low_p.take(at)
            ratio = high / (self.high_q.take(at) + low * self.low_q.take(at))
            rises = self.likelihood_ratio.take(starts + np.minimum(middle + 1, states - 1)) > ratio
            rises &= middle < last
            first, last = np.where(rises, middle + 1, first), np.where(rises, last, middle)
        at = starts + np.clip(first + np.array([[-1], [0], [1]]), 0, states - 1)
        entering = np.where(first > 0, self.likelihood_ratio.take(at[1]), np.inf)
        following = np.where(first < states - 1, self.likelihood_ratio.take(at[2]), -np.inf)
        sums = (self.high_p, self.low_p, self.high_q, self.low_q)
        return np.concatenate([*(sum_of_prefix.take(at) for sum_of_prefix in sums), entering[None], following[None]])


@dataclass(frozen=True, eq=False)
class Near:
    """Sums over each pair's best prefix for one s, and over those one state shorter and longer."""

    #: (14, pairs): three rows of each sum, p/q of the last state (inf: the only one) and of the next (-inf: none left)
    tables: FloatArray

    def ratios(self, low: float) -> FloatArray:
        """Return p.phi / q.phi of the three prefixes, (3, pairs)."""
        tables = self.tables
        return np.asarray((tables[0:3] + low * tables[3:6]) / (tables[6:9] + low * tables[9:12]))

    def no_longer_best(self, ratios: FloatArray) -> IntArray:
        """Return the pairs with a better prefix one state away."""
        return np.flatnonzero(~((self.tables[12] > ratios[0]) & (self.tables[13] <= ratios[1])))

    def with_pairs(self, pairs: IntArray, tables: FloatArray) -> Near:
        """Return a copy with other prefixes for some pairs."""
        changed = self.tables.copy()
        changed[:, pairs] = tables
        return Near(changed)


def _rests(ordered: FloatArray) -> FloatArray:
    """Return the sums behind each prefix, of positive terms."""
    behind = np.cumsum(ordered[..., ::-1], axis=1)[..., ::-1]
    return np.concatenate([behind[..., 1:], np.zeros_like(behind[..., :1])], axis=1)


class Levels:
    """The bounds of all pairs of rows, for one s after another; each pair's best prefix is remembered."""

    def __init__(self, rows: FloatArray) -> None:
        self.rows = rows
        # For many states sums are made again, for the pairs alone whose prefix of the last s is no longer the best.
        self._held: Prefixes | None = None
        if len(rows) ** 2 * rows.shape[1] <= MOST_HELD:
            self._held = self._prefixes(np.arange(len(rows) ** 2))
        self._near: Near | None = None

    def bound(self, largest: float) -> FloatArray:
        """Return R[a, b] >= log sup p.phi / q.phi, p = rows[a], q = rows[b], phi in [m, e^largest m]."""
        count, low = len(self.rows), float(np.exp(-largest))
        near = self._near
        if near is None:
            near = Near(self._around_best(low, np.arange(count**2)))
        else:
            pairs = near.no_longer_best(near.ratios(low))
            if len(pairs):
                near = near.with_pairs(pairs, self._around_best(low, pairs))
        self._near, ratios = near, near.ratios(low)
        with np.errstate(divide="ignore"):
            best = np.log(ratios.max(axis=0))  # the largest of three: ties may be decided wrongly
        return padded(best.reshape(count, count), 2 * self.rows.shape[1], largest)

    def _prefixes(self, pairs: IntArray) -> Prefixes:
        count = len(self.rows)
        return Prefixes.of(self.rows[pairs // count], self.rows[pairs % count])

    def _around_best(self, low: float, pairs: IntArray) -> FloatArray:
        """Return `Near` of these pairs, some at a time if nothing is held."""
        if self._held is not None:
            return self._held.around_best(low, pairs)
        several = max(1, AT_ONCE // self.rows.shape[1])
        tables = []
        for first in range(0, len(pairs), several):
            some = pairs[first : first + several]
            tables.append(self._prefixes(some).around_best(low, np.arange(len(some))))
        return np.concatenate(tables, axis=1)
