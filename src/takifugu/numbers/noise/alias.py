"""Exact draws from many finite laws at once: alias tables on integers (Walker 1977, Vose 1991).

Every row of masses has sum 2**BITS. With n outputs a row is cut into n columns of height 2**BITS, each shared by two
outputs at most: outputs with less than a column lend the rest of theirs to outputs with more. A uniform column and a
uniform height below 2**BITS then give output y with probability exactly mass(y) / 2**BITS, and every draw costs the
same.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from takifugu.core.arrays import IntArray
from takifugu.numbers.noise.entropy import Entropy
from takifugu.numbers.noise.integers import uniform_below, words

#: Masses of a row add up to 2**BITS. A height is compared by its upper bits, and by its lower ones in a tie.
BITS = 90
TOTAL = 2**BITS
_UPPER, _LOWER = 60, 30
#: So many values are drawn at once, for the memory that takes.
_BLOCK = 1 << 20


@dataclass(frozen=True, eq=False)
class AliasTables:
    """Tables of shape (rows, outputs): the height up to which a column is its own, and whose it is above."""

    upper: npt.NDArray[np.uint64]
    lower: npt.NDArray[np.uint64]
    others: npt.NDArray[np.int32]

    @staticmethod
    def of(masses: Sequence[Sequence[int]]) -> AliasTables:
        """Return the tables of rows of integer masses, each of sum 2**BITS."""
        tables = list(map(_table, masses))
        heights = np.array([row for row, _ in tables], dtype=object)  # integers beyond 64 bits
        upper, lower = (heights >> _LOWER).astype(np.uint64), (heights % 2**_LOWER).astype(np.uint64)
        return AliasTables(upper, lower, np.array([owners for _, owners in tables], dtype=np.int32))

    def height(self, row: int, column: int) -> int:
        """Return how much of a column is its own, of 2**90."""
        return int(self.upper[row, column]) << _LOWER | int(self.lower[row, column])

    def draw(self, rows: IntArray, entropy: Entropy) -> IntArray:
        """Draw one output per entry of `rows`, independently."""
        drawn = np.empty(len(rows), dtype=np.int64)
        for start in range(0, len(rows), _BLOCK):
            of = rows[start : start + _BLOCK]
            columns = uniform_below(self.upper.shape[1], len(of), entropy).astype(np.int64)
            heights, at = words(len(of), entropy) >> np.uint64(64 - _UPPER), self.upper[of, columns]
            is_column = heights < at
            tied = np.flatnonzero(heights == at)
            if tied.size:
                low = words(tied.size, entropy) >> np.uint64(64 - _LOWER)
                is_column[tied] = low < self.lower[of[tied], columns[tied]]
            drawn[start : start + _BLOCK] = np.where(is_column, columns, self.others[of, columns])
        return drawn


def _table(masses: Sequence[int]) -> tuple[list[int], list[int]]:
    count = len(masses)
    if sum(masses) != TOTAL or min(masses) < 0:
        raise ValueError("the masses of a row do not add up to 2**90")
    left = [mass * count for mass in masses]
    heights, owners = [TOTAL] * count, list(range(count))
    small = [y for y in range(count) if left[y] < TOTAL]
    large = [y for y in range(count) if left[y] > TOTAL]
    while small:
        poor, rich = small.pop(), large[-1]
        heights[poor], owners[poor] = left[poor], rich
        left[rich] -= TOTAL - left[poor]
        if left[rich] <= TOTAL:
            large.pop()
            if left[rich] < TOTAL:
                small.append(rich)
    return heights, owners
