"""Influences that depend on distances only and hold for every start and entry: those of classes of chains.

Song17 Lemma B.4 bounds max-influence for all reversible chains with constants (pi, g), whatever their initial law.

    right_b <= E(b),  left_{i,a} <= 2 E(a),  E(n) = log((pi + e^{-gn})/(pi - e^{-gn})) = 2 artanh(e^{-gn}/pi),

for real nodes at distances n > log(1/pi)/g, strictly (errata E3); nearer nodes are not bounded. A chain that is only
within a relative `defect` d of a reversible one (Constants) has every P^n(x, y) within n d of it, to first order: that
adds 2 b d to the first bound and 4 a d to the second, whose proof uses four such factors.
"""

from __future__ import annotations

import numpy as np

from takifugu.core.arrays import BoolArray, FloatArray, IntArray
from takifugu.numbers.log_ratios import NEVER, UNIT

#: Largest number of distances that are tabulated; E(n) is below 1e-16 long before, unless g is below 1e-6.
MOST_DISTANCES = 2**23
#: Influences below this cannot be told from rounding: farther nodes do not help.
NEGLIGIBLE = 1e-17


class DistanceInfluence:
    """Tables `_right` and `_left` of bounds by distance 1, 2, ... (rows) and pair of values (columns)."""

    _right: FloatArray
    _left: FloatArray

    def alive(self, entry: int) -> BoolArray:
        """Mark every column: each value is possible under some chain."""
        return np.ones(self._right.shape[1], dtype=bool)

    def secret(self, length: int) -> BoolArray:
        """Mark every entry secret if there is any column."""
        return np.full(length, self._right.shape[1] > 0)

    def prepare(self, length: int) -> None:
        """Do nothing: the bounds hold for every start."""

    def right(self, count: int, entry: int = 0) -> FloatArray:
        """Return bounds on right_b for b up to count, (count, columns)."""
        return self._right[:count]

    def left(self, entry: int, count: int) -> FloatArray:
        """Return bounds on left_{entry,a} for a up to count, (count, columns)."""
        return self._left[:count]

    def largest(
        self, entries: IntArray, left: int | None, right: int | None, pairs: IntArray | None = None
    ) -> FloatArray:
        """Bound the quilt at the given distances; None is no node."""
        raise NotImplementedError

    def special(self, time: int) -> bool:
        """Mark no entry as bounded separately."""
        return False

    def anchored(
        self, entries: IntArray, node: int, right: int | None, pairs: IntArray | None = None
    ) -> FloatArray:
        """Bound the quilt of an earlier entry and a node at `right`."""
        return np.array(
            [self.largest(entries[n : n + 1], int(i - node), right, pairs)[0] for n, i in enumerate(entries)]
        )


class ClassInfluence(DistanceInfluence):
    """Influences of an entry on nodes at distances 1, 2, ..., `reach`: one column, for whatever pair of values."""

    def __init__(self, pi: float, g: float, defect: float = 0.0) -> None:
        self.pi, self.g, self.defect = pi, g, defect
        self.pairs: tuple[tuple[int, int], ...] | None = None
        self.exhausted = False
        self.capped = False
        self.reach = 0
        self._right = self._left = np.empty((0, 1))
        self.extend(1)

    def extend(self, distance: int) -> None:
        """Fill the tables up to `distance`, or as far as useful."""
        if distance <= self.reach or self.exhausted:
            return
        self.reach = min(distance, MOST_DISTANCES)
        n = np.arange(1, self.reach + 1)
        bound = lemma_b4(n, self.pi, self.g)
        self._right = np.minimum.accumulate(bound + 2.02 * n * self.defect)[:, None]
        self._left = np.minimum.accumulate(2 * bound + 4.04 * n * self.defect)[:, None]
        self.capped = self.reach == MOST_DISTANCES
        self.exhausted = self.capped or bool(bound[-1] <= max(NEGLIGIBLE, self.reach * self.defect))

    def largest(
        self, entries: IntArray, left: int | None, right: int | None, pairs: IntArray | None = None
    ) -> FloatArray:
        """Bound the quilt at the given distances; None is no node."""
        from_left = 0.0 if left is None else self._left[left - 1, 0]
        from_right = 0.0 if right is None else self._right[right - 1, 0]
        return np.full(len(entries), from_left + from_right)


def lemma_b4(distance: IntArray, pi: float, g: float) -> FloatArray:
    """Return E(n) = log((pi + e^{-gn})/(pi - e^{-gn})), rounded up.

    >>> lemma_b4(np.array([1, 3]), 0.4, 0.8).round(6).tolist()
    [1e+100, 0.461616]
    """
    exponent = -g * distance
    ratio = np.exp(exponent) / pi
    ratio = ratio * (1 + (8 - 3 * exponent) * UNIT)
    bounded = ratio < 1
    bounded_ratio = np.where(bounded, ratio, 0.0)
    return np.where(bounded, (np.log1p(bounded_ratio) - np.log1p(-bounded_ratio)) * (1 + 8 * UNIT), NEVER)
