"""What one step, or several at once, do to a loss on its way along a chain: forwards for R, backwards for L.

R_t(a, b) bounds what the steps behind t add to the loss of (X_t = a) against (X_t = b), L_t(a, b) what those before it
add (docs/theory/influence.md, Theorem 1). Both are found by sweeps from one end: position j of a sweep is entry
n - 1 - j for R, and entry j for L.
"""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass, field
from functools import cached_property
from typing import Protocol

import numpy as np

from takifugu.core.arrays import FloatArray, IntArray
from takifugu.influence.chains.remembered import law_of
from takifugu.influence.profiles.certified import Programs
from takifugu.influence.profiles.levels import Levels
from takifugu.influence.profiles.rays import MOST_STATES
from takifugu.influence.profiles.suprema import EXACT_STATES, star_suprema, suprema
from takifugu.model.beliefs.stochastic import WideLaw
from takifugu.numbers.outward_rounding import UNIT, up

#: Powers of matrices are formed up to this many steps; rounding adds (k + 1) units for each.
LONGEST_JUMP = 2**12
#: A given start is taken for settled where no mass is farther from the stationary one, relatively.
SETTLED = 1e-12
#: A start that has not settled after so many steps is followed to the end.
MOST_UNSETTLED = 200_000


class Side(Protocol):
    """One direction: a position's loss from earlier ones at distance d."""

    @property
    def period(self) -> int: ...

    @property
    def settled_from(self) -> int: ...

    @property
    def law(self) -> Hashable:
        """Return a key of everything deciding settled steps, by phase."""

    def step(
        self, position: int, distance: int, ratio: FloatArray, needed: np.ndarray | None = None
    ) -> FloatArray:
        """Return the loss at a position from `distance` before it."""

    def at_least(self, position: int, distance: int, ratio: FloatArray) -> FloatArray:
        """Return nearly a quick lower bound of `step`, or zeros."""

    def fixed_kernel(self) -> tuple[FloatArray, float] | None:
        """Return the one kernel of every settled step, with its relative error."""


@dataclass(eq=False)
class _Kernels:
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


@dataclass(frozen=True, eq=False)
class Forward:
    """R of a chain of `length` steps whose step t has the matrix step_matrices[t modulo the period]."""

    step_matrices: FloatArray
    length: int

    @property
    def period(self) -> int:
        return len(self.step_matrices)

    settled_from = 0

    @cached_property
    def law(self) -> Hashable:
        return "forward", self.length % self.period, law_of(self.step_matrices)

    @cached_property
    def _kernels(self) -> _Kernels:
        phases = (self.length - 1 - np.arange(self.period)) % self.period
        return _Kernels(self.step_matrices[phases], 0.0)

    def step(self, position: int, distance: int, ratio: FloatArray, needed: np.ndarray | None = None) -> FloatArray:
        return self._kernels.step(position, distance, ratio, needed)

    def at_least(self, position: int, distance: int, ratio: FloatArray) -> FloatArray:
        return self._kernels.at_least(position, distance, ratio)

    def fixed_kernel(self) -> tuple[FloatArray, float] | None:
        return self._kernels.fixed()


@dataclass(frozen=True, eq=False)
class Backward:
    """L of a chain of which the law of the first entry is given, or the one that repeats after a period."""

    step_matrices: FloatArray
    start: FloatArray | None  # None: the law that repeats
    repeating: tuple[WideLaw, ...] | None

    @property
    def period(self) -> int:
        return len(self.step_matrices)

    @cached_property
    def law(self) -> Hashable:
        if self.repeating is None:
            return None
        return "backward", bool(self._laws), law_of(self.step_matrices, *(law.logs for law in self.repeating))

    @cached_property
    def _settled(self) -> _Kernels | None:
        """Return the repeating kernels back from an entry, by phase."""
        if self.repeating is None:
            return None
        states = self.step_matrices.shape[1]
        logs = np.array([law.logs for law in self.repeating])
        kernels = [
            reversed_kernel(logs[j - 1], self.step_matrices[j - 1], logs[j]) for j in range(self.period)
        ]  # the one before the first is the last of the period
        error = (states**3 + 15 * states**2 + 10) * UNIT
        if self._laws:
            error += SETTLED
        return _Kernels(np.array(kernels), error)

    @cached_property
    def _laws(self) -> list[FloatArray]:
        """Return the laws of the first entries until they have settled."""
        if self.start is None:
            return []
        laws = [np.asarray(self.start, dtype=float)]
        limit = None if self.repeating is None else self.repeating[0].floats()
        while len(laws) < MOST_UNSETTLED:
            now, t = laws[-1], len(laws) - 1
            if limit is not None and t % self.period == 0:
                off = np.abs(now - limit) > (SETTLED / 4) * limit
                if not off.any() and t * (len(now) + 1) * UNIT < SETTLED / 8:
                    break
            laws.append(now @ self.step_matrices[t % self.period])
        return laws

    @cached_property
    def _first(self) -> dict[int, FloatArray]:
        return {}

    @property
    def settled_from(self) -> int:
        return len(self._laws)

    def step(self, position: int, distance: int, ratio: FloatArray, needed: np.ndarray | None = None) -> FloatArray:
        if self._settled is not None and position - distance >= self.settled_from:
            return self._settled.step(position, distance, ratio, needed)
        rows, states = None, self.step_matrices.shape[1]
        for j in range(position, position - distance, -1):
            rows = self._kernel(j) if rows is None else rows @ self._kernel(j)
        assert rows is not None
        error = (2 * (position + 2) * (states + 1) + distance * (states + 4)) * UNIT
        if position > len(self._laws) - 1:
            error += (2 * distance + 2) * SETTLED
        return suprema(rows, ratio, error)

    def at_least(self, position: int, distance: int, ratio: FloatArray) -> FloatArray:
        if self._settled is not None and position - distance >= self.settled_from:
            return self._settled.at_least(position, distance, ratio)
        return np.zeros_like(ratio)

    def fixed_kernel(self) -> tuple[FloatArray, float] | None:
        return None if self._settled is None else self._settled.fixed()

    def _kernel(self, j: int) -> FloatArray:
        if j not in self._first:
            with np.errstate(divide="ignore"):
                before, after = np.log(self._law(j - 1)), np.log(self._law(j))
            self._first[j] = reversed_kernel(before, self.step_matrices[(j - 1) % self.period], after)
        return self._first[j]

    def _law(self, j: int) -> FloatArray:
        if j < len(self._laws):
            return self._laws[j]
        assert self.repeating is not None
        return self.repeating[j % self.period].floats()


@dataclass(frozen=True, eq=False)
class BackwardFromAnyStart:
    """L of a chain with any law of the first entry: 4 artanh(tanh(h/4) tanh(s/4)), by Lemma 2 of chain classes."""

    step_matrices: FloatArray

    @property
    def period(self) -> int:
        return len(self.step_matrices)

    settled_from = 0

    @cached_property
    def law(self) -> Hashable:
        return "backward from any start", law_of(self.step_matrices)

    @cached_property
    def has_zeros(self) -> bool:
        return not self.step_matrices.all()

    @cached_property
    def _spreads(self) -> dict[tuple[int, int], FloatArray]:
        return {}

    @cached_property
    def _kernels(self) -> _Kernels:
        phases = (np.arange(self.period) - 1) % self.period
        return _Kernels(self.step_matrices[phases].transpose(0, 2, 1), 0.0)

    def step(self, position: int, distance: int, ratio: FloatArray, needed: np.ndarray | None = None) -> FloatArray:
        key = (position % self.period, distance)
        if key not in self._spreads:
            columns = self._kernels.product(position, distance)  # [a, x]: from x, `distance` entries before, to a
            error = 4 * distance * (len(columns) + 1) * UNIT * (distance > 1)
            self._spreads[key] = up(spread(columns) + error)
        return contracted(self._spreads[key], float(ratio.max(initial=0.0)))

    def at_least(self, position: int, distance: int, ratio: FloatArray) -> FloatArray:
        return np.zeros_like(ratio)

    def fixed_kernel(self) -> None:
        return None


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
