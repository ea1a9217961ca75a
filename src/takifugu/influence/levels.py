"""The supremum over all likelihoods in [m, e^s m]: sound for every cone of largest pair s, up to 12 times too much.

Of these the best one has two values, e^s where p/q is large: a prefix in the order of p/q, which does not depend on s.
So all sums over prefixes are made once for a matrix of rows, and each s takes one quotient for each prefix.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from takifugu.influence.rounding import FloatArray, padded

#: Sums for so many numbers are held at once; beyond them each row's are made when they are needed.
MOST_HELD = 2_000_000


@dataclass(frozen=True, eq=False)
class Prefixes:
    """Sums of p and q over each prefix of the order of p/q and over what is left, shape (pairs, ..., states)."""

    high_p: FloatArray
    high_q: FloatArray
    low_p: FloatArray
    low_q: FloatArray

    @staticmethod
    def of(rows: FloatArray, divisors: FloatArray) -> Prefixes:
        """Return the sums for all pairs of a row p and a divisor q: (rows, divisors, states)."""
        p, q = np.broadcast_arrays(rows[:, None, :], divisors[None, :, :])
        with np.errstate(divide="ignore", invalid="ignore"):
            likelihood_ratio = np.where(q > 0, p / q, np.where(p > 0, np.inf, -1.0))
        order = np.argsort(-likelihood_ratio, axis=2, kind="stable")
        p, q = np.take_along_axis(p, order, axis=2), np.take_along_axis(q, order, axis=2)
        return Prefixes(np.cumsum(p, axis=2), np.cumsum(q, axis=2), _rests(p), _rests(q))

    def best(self, largest: float) -> FloatArray:
        """Return the log of the largest ratio of a prefix, not rounded."""
        low = np.exp(-largest)
        with np.errstate(divide="ignore"):
            ratios = (self.high_p + low * self.low_p) / (self.high_q + low * self.low_q)
        return np.asarray(np.log(ratios.max(axis=2)))


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
        return padded(best, self.rows.shape[1], largest)
