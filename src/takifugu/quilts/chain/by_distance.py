"""What bounds on influences share that depend on distances only, and hold for every start and at every entry."""

from __future__ import annotations

import numpy as np

from takifugu.laws.log_ratios import BoolArray, FloatArray
from takifugu.queries import IntArray


class DistanceInfluence:
    """Tables `_right` and `_left` of bounds by distance 1, 2, ... (rows) and pair of values (columns)."""

    _right: FloatArray
    _left: FloatArray

    def alive(self, entry: int) -> BoolArray:
        """Return that all columns count: every value is possible under some chain of the class."""
        return np.ones(self._right.shape[1], dtype=bool)

    def secret(self, length: int) -> BoolArray:
        """Return that every entry has values to hide where there is a column for them."""
        return np.full(length, self._right.shape[1] > 0)

    def prepare(self, length: int) -> None:
        """Do nothing: the bounds hold for every start."""

    def right(self, count: int) -> FloatArray:
        """Return the bounds on right_b for b = 1 .. count, shape (count, columns)."""
        return self._right[:count]

    def left(self, entry: int, count: int) -> FloatArray:
        """Return the bounds on left_{entry,a} for a = 1 .. count, shape (count, columns)."""
        return self._left[:count]

    def largest(
        self, entries: IntArray, left: int | None, right: int | None, pairs: IntArray | None = None
    ) -> FloatArray:
        """Return the bound for the quilt at the given distances from each entry; None is a missing node."""
        raise NotImplementedError

    def special(self, time: int) -> bool:
        """Return that no entry is bounded in a way of its own."""
        return False

    def anchored(
        self, entries: IntArray, node: int, right: int | None, pairs: IntArray | None = None
    ) -> FloatArray:
        """Return the bound for the quilt of one entry before and the node at distance `right` of each entry."""
        return np.array(
            [self.largest(entries[n : n + 1], int(i - node), right, pairs)[0] for n, i in enumerate(entries)]
        )
