"""What one step, or several at once, do to a loss on its way along a chain: forwards for R, backwards for L.

R_t(a, b) bounds what the steps behind t add to the loss of (X_t = a) against (X_t = b), L_t(a, b) what those before it
add (docs/theory/influence.md, Theorem 1). Both are found by sweeps from one end: position j of a sweep is entry
n - 1 - j for R, and entry j for L.
"""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass
from functools import cached_property
from typing import Protocol

import numpy as np

from takifugu.core.arrays import FloatArray
from takifugu.influence.chains.kernels import Kernels, contracted, reversed_kernel, spread
from takifugu.influence.chains.remembered import law_of
from takifugu.influence.profiles.suprema import suprema
from takifugu.model.beliefs.stochastic import WideLaw
from takifugu.numbers.outward_rounding import UNIT, up

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
    def _kernels(self) -> Kernels:
        phases = (self.length - 1 - np.arange(self.period)) % self.period
        return Kernels(self.step_matrices[phases], 0.0)

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
    def _settled(self) -> Kernels | None:
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
        return Kernels(np.array(kernels), error)

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
    def _kernels(self) -> Kernels:
        phases = (np.arange(self.period) - 1) % self.period
        return Kernels(self.step_matrices[phases].transpose(0, 2, 1), 0.0)

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
