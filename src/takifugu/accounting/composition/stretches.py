"""A recording as its stretches of steps that cost the same: between the ends of windows every step does."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from takifugu.model.queries import Additive, IntArray


@dataclass(frozen=True, eq=False)
class Stretches:
    """A recording by what its steps cost: `lengths[n]` steps in a row cost `values[n]` times `unit` each.

    >>> Stretches(np.array([2, 1]), np.array([1, 5]), Fraction(1, 2)).total
    Fraction(7, 2)
    """

    lengths: IntArray
    values: IntArray
    unit: Fraction

    @property
    def size(self) -> int:
        return int(self.lengths.sum())

    @property
    def total(self) -> Fraction:
        return int((self.lengths * self.values).sum()) * self.unit

    def each(self) -> IntArray:
        """Return what every step costs, in units."""
        return np.repeat(self.values, self.lengths)


def standing_in(size: int) -> Additive:
    """Return any answer over so many entries: a search asks a part for its entries and secrets only."""
    return Additive(Fraction(1), ("change",), (np.zeros((1, 1), dtype=np.int64),), np.zeros(size, dtype=np.int64))
