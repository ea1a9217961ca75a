"""What steps of a chain do to two laws at once: products, the most that they can still differ, and where to jump to."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from takifugu.core.arrays import FloatArray, IntArray
from takifugu.influence.profiles.certified import Programs
from takifugu.influence.profiles.levels import Levels
from takifugu.influence.profiles.rays import MOST_STATES
from takifugu.influence.profiles.suprema import EXACT_STATES, star_suprema, suprema
from takifugu.numbers.outward_rounding import UNIT, up

#: Powers of matrices are formed up to this many steps; rounding adds (k + 1) units for each.
LONGEST_JUMP = 2**12


@dataclass(eq=False)
class Kernels:
    """Products of kernels by (phase, distance), with a memory for the suprema over the rows of each."""

    matrices: FloatArray  # by phase: from position j to position j - 1, j modulo the period
    relative_error: float
    _products: dict[tuple[int, int], FloatArray] = field(default_factory=dict)
    _memory: dict[tuple[int, int], tuple[Programs | None, Levels | None]] = field(default_factory=dict)

    def product(self, position: int, distance: int) -> FloatArray:
        """Return the kernel from a position to `distance` positions before it."""
        period = len(self.matrices)
        key = (position % period, distance)
        if key not in self._products:
            near = distance // 2
            self._products[key] = (
                self.matrices[key[0]] if distance == 1
                else self.product(position, near) @ self.product(position - near, distance - near)
            )  # fmt: skip
        return self._products[key]

    def fixed(self) -> tuple[FloatArray, float] | None:
        if len(self.matrices) == 1:
            return self.matrices[0], self.relative_error
        return None

    def step(self, position: int, distance: int, ratio: FloatArray, needed: np.ndarray | None = None) -> FloatArray:
        rows = self.product(position, distance)
        key, states = (position % len(self.matrices), distance), rows.shape[1]
        if key not in self._memory:
            programs = Programs() if states <= EXACT_STATES else None
            levels = Levels(rows) if states > MOST_STATES else None
            self._memory[key] = programs, levels
        error = distance * (self.relative_error + (states + 1) * UNIT * (distance > 1))
        return suprema(rows, ratio, error, *self._memory[key], needed)

    def at_least(self, position: int, distance: int, ratio: FloatArray) -> FloatArray:
        return star_suprema(self.product(position, distance), ratio)


def jumps(farthest: int) -> IntArray:
    """Return distances up to 16, then each a tenth more.

    >>> jumps(20).tolist()
    [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20]
    """
    distances = list(range(1, min(farthest, 16) + 1))
    while distances[-1] < (further := distances[-1] * 11 // 10) <= farthest:
        distances.append(further)
    return np.array(distances, dtype=np.int64)


def reversed_kernel(before: FloatArray, matrix: FloatArray, after: FloatArray) -> FloatArray:
    """Return B(s, u) = m_t(u) P_t(u, s) / m_{t+1}(s) from logs.

    Rows of impossible s copy a possible one.
    """
    states = len(matrix)
    rows = np.zeros((states, states))
    possible = np.isfinite(after)
    for s in np.flatnonzero(possible):
        reached = (matrix[:, s] > 0) & np.isfinite(before)
        rows[s, reached] = np.exp(before[reached] + np.log(matrix[reached, s]) - after[s])
        rows[s] /= rows[s].sum()
    rows[~possible] = rows[int(np.argmax(possible))]
    return rows


def spread(columns: FloatArray) -> FloatArray:
    """Return h(a, b), infinite beside a zero.

    h(a, b) = max over x, x' of log P(x, a) P(x', b) / (P(x, b) P(x', a)). `columns` is indexed [a, x]. Starts x from
    which neither a nor b can be reached say nothing.
    """
    states = len(columns)
    with np.errstate(divide="ignore", invalid="ignore"):
        logs = np.log(columns)
        height = np.zeros((states, states))
        for a in range(states):
            for b in range(states):
                ratio = logs[a] - logs[b]
                ratio = ratio[~np.isnan(ratio)]
                if a != b and len(ratio):
                    height[a, b] = ratio.max() - ratio.min()
    height[np.isnan(height)] = np.inf
    return np.asarray(up(height * (1 + 8 * UNIT)))


def contracted(height: FloatArray, size: float) -> FloatArray:
    """Return 4 artanh(tanh(h/4) tanh(s/4)), rounded up; h may be infinite.

    Computed as 2 log((e^((h+s)/2) + 1)/(e^(h/2) + e^(s/2))), from positive terms.
    """
    bound = np.minimum(contraction(height, size), size)
    np.fill_diagonal(bound, 0.0)
    return np.asarray(bound)


def contraction(height: FloatArray, size: float | FloatArray) -> FloatArray:
    """Return 4 artanh(tanh(h/4) tanh(s/4)) up to upward rounding."""
    half = np.minimum(height, size + 1400.0) / 2
    value = 2 * (np.logaddexp(half + size / 2, 0.0) - np.logaddexp(half, size / 2))
    return np.asarray(value + 16 * UNIT * (half + size + 1))
