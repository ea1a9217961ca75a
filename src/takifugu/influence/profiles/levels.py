"""The supremum over all likelihoods in [m, e^s m]: sound for every cone of largest pair s, and often far above.

Of these the best one has two values, e^s where p/q is large: a prefix in the order of p/q, which does not depend on s.
So all sums over prefixes are made once for a matrix of rows, and each s takes a search among them.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from takifugu.numbers.outward_rounding import FloatArray, IntArray, padded

#: Sums for so many numbers are held at once; beyond them each row's are made when they are needed.
MOST_HELD = 2_000_000


@dataclass(frozen=True, eq=False)
class Prefixes:
    """p/q in falling order, sums of p and q over each prefix of it, and over what is left: (rows, divisors, states)."""

    likelihood_ratio: FloatArray
    high_p: FloatArray
    high_q: FloatArray
    low_p: FloatArray
    low_q: FloatArray

    @staticmethod
    def of(rows: FloatArray, divisors: FloatArray) -> Prefixes:
        """Return the sums for all pairs of a row p and a divisor q."""
        p, q = np.broadcast_arrays(rows[:, None, :], divisors[None, :, :])
        with np.errstate(divide="ignore", invalid="ignore"):
            ratio = np.where(q > 0, p / q, np.where(p > 0, np.inf, -1.0))
        order = np.argsort(-ratio, axis=2, kind="stable")
        ratio, p, q = (np.take_along_axis(table, order, axis=2) for table in (ratio, p, q))
        return Prefixes(ratio, np.cumsum(p, axis=2), np.cumsum(q, axis=2), _rests(p), _rests(q))

    def best(self, largest: float) -> FloatArray:
        """Return the log of the largest ratio of a prefix, not rounded.

        The next state makes a prefix better if and only if its p/q is above the ratio: first always, then never again.
        """
        shape, states = self.high_p.shape[:2], self.high_p.shape[2]
        starts = np.arange(shape[0] * shape[1]).reshape(shape) * states
        low = np.exp(-largest)

        def ratio_at(place: IntArray) -> FloatArray:
            at = starts + place
            high = self.high_p.take(at) + low * self.low_p.take(at)
            return np.asarray(high / (self.high_q.take(at) + low * self.low_q.take(at)))

        first, last = np.zeros(shape, dtype=np.int64), np.full(shape, states - 1)
        while (first < last).any():
            middle = (first + last) // 2
            rises = self.likelihood_ratio.take(starts + np.minimum(middle + 1, states - 1)) > ratio_at(middle)
            rises &= middle < last
            first, last = np.where(rises, middle + 1, first), np.where(rises, last, middle)
        near = [ratio_at(np.clip(first + step, 0, states - 1)) for step in (-1, 0, 1)]  # ties may be decided wrongly
        with np.errstate(divide="ignore"):
            return np.asarray(np.log(np.maximum.reduce(near)))


def _rests(ordered: FloatArray) -> FloatArray:
    """Return what is left behind each prefix: sums of positive terms, no difference."""
    behind = np.cumsum(ordered[..., ::-1], axis=2)[..., ::-1]
    return np.concatenate([behind[..., 1:], np.zeros_like(behind[..., :1])], axis=2)


class Levels:
    """The bounds of all pairs of rows, for one number s after another."""

    def __init__(self, rows: FloatArray) -> None:
        self.rows = rows
        self._held = Prefixes.of(rows, rows) if len(rows) ** 2 * rows.shape[1] <= MOST_HELD else None

    def bound(self, largest: float) -> FloatArray:
        """Return R[a, b] >= log sup p.phi / q.phi, p = rows[a], q = rows[b], over phi in [m, e^largest m], (m, m).

        >>> Levels(np.array([[0.9, 0.1], [0.4, 0.6]])).bound(1.0).round(6).tolist()
        [[0.0, 0.411565], [0.549948, 0.0]]
        """
        if self._held is not None:
            best = self._held.best(largest)
        else:
            best = np.hstack([Prefixes.of(self.rows, row[None]).best(largest) for row in self.rows])
        return padded(best, 2 * self.rows.shape[1], largest)
