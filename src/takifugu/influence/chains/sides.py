"""What one step, or several at once, do to a loss on its way along a chain: forwards for R, backwards for L.

R_t(a, b) bounds what the steps behind t add to the loss of (X_t = a) against (X_t = b), L_t(a, b) what those before it
add (docs/theory/influence.md, Theorem 1). Both are found by sweeps from one end: position j of a sweep is entry
n - 1 - j for R, and entry j for L.
"""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass
from functools import cached_property
from math import inf
from typing import Protocol

import numpy as np

from takifugu.core.arrays import BoolArray, FloatArray
from takifugu.core.errors import Unsupported
from takifugu.influence.chains.kernels import Kernels, reversed_kernel
from takifugu.influence.chains.remembered import law_of
from takifugu.influence.profiles.suprema import EXACT_STATES, suprema
from takifugu.model.beliefs.stochastic import law_after, leads, relative_distance
from takifugu.numbers.extended.floats import Wide
from takifugu.numbers.outward_rounding import UNIT

#: A given start is taken for settled where no mass is farther from the stationary one, relatively.
SETTLED = 1e-12
#: A start is followed for so many steps. Later laws are those that repeat, and as far from them as the last one is;
#: where that is beyond FAR nothing is said of them.
MOST_UNSETTLED, FAR = 200_000, 1e-6


class Side(Protocol):
    """One direction: a position's loss from earlier ones at distance d."""

    step_matrices: FloatArray  # step t has the one of t modulo the period

    @property
    def period(self) -> int:
        return len(self.step_matrices)

    @property
    def settled_from(self) -> int: ...

    @cached_property
    def has_zeros(self) -> bool:
        """Whether some step is impossible."""
        return not self.step_matrices.all()

    @cached_property
    def jumps(self) -> tuple[int, ...]:
        """Return the jumps that are tried besides steps and gaps."""
        states = self.step_matrices.shape[1]
        # Suprema are then those over [m, e^s m]: these are quick, and products of matrices are nearer to what they see.
        if states > EXACT_STATES:
            return (2, 4, 8)
        # Where some steps are impossible one step sees nothing of them: there 4 helps.
        if states == 3 or (states > 3 and self.has_zeros):
            return (2, 3, 4)
        # A jump costs as much as all steps; without any 6 of 10,000 chains lose more than by quilts, by up to 12 %.
        return (2, 3) if states > 3 else ()

    @property
    def law(self) -> Hashable:
        """Return a key of everything deciding settled steps, by phase."""

    def step(
        self, position: int, distance: int, ratio: FloatArray, needed: np.ndarray | None = None
    ) -> FloatArray:
        """Return the loss at a position from the ratios (..., k, k) `distance` before it."""

    def at_least(self, position: int, distance: int, ratio: FloatArray) -> FloatArray:
        """Return nearly a quick lower bound of `step`, or zeros."""
        return np.zeros_like(ratio)

    def settled_kernels(self) -> tuple[FloatArray, float] | None:
        """Return the kernels of settled steps by position modulo the period, with their relative error."""
        return None


@dataclass(frozen=True, eq=False)
class Forward(Side):
    """R of a chain of `length` steps."""

    step_matrices: FloatArray
    length: int

    settled_from = 0

    @cached_property
    def law(self) -> Hashable:
        return "forward", self.length % self.period, law_of(self.step_matrices)

    @cached_property
    def _kernels(self) -> Kernels:
        phases = (self.length - 1 - np.arange(self.period)) % self.period
        return Kernels(self.step_matrices[phases], 0.0, self.step_matrices[phases] > 0, (1, *self.jumps))

    def step(self, position: int, distance: int, ratio: FloatArray, needed: np.ndarray | None = None) -> FloatArray:
        return self._kernels.step(position, distance, ratio, needed)

    def at_least(self, position: int, distance: int, ratio: FloatArray) -> FloatArray:
        return self._kernels.at_least(position, distance, ratio)

    def settled_kernels(self) -> tuple[FloatArray, float] | None:
        return self._kernels.matrices, self._kernels.relative_error


@dataclass(frozen=True, eq=False)
class Backward(Side):
    """L of a chain of which the law of the first entry is given, or the one that repeats after a period."""

    step_matrices: FloatArray
    start: FloatArray | None  # None: the law that repeats
    repeating: tuple[Wide, ...] | None

    @cached_property
    def law(self) -> Hashable:
        if self.repeating is None:
            return None
        logs = [law.logs for law in self.repeating]
        if self.start is not None and self.settled_from == MOST_UNSETTLED:
            logs.append(self.start)  # how far from these laws the later ones are
        return "backward", bool(self.settled_from), law_of(self.step_matrices, *logs)

    @cached_property
    def _settled(self) -> Kernels | None:
        """Return the repeating kernels back from an entry, by phase."""
        if self.repeating is None:
            return None
        states = self.step_matrices.shape[1]
        kernels, possible = zip(
            *(reversed_kernel(self.repeating[j - 1], self.step_matrices[j - 1]) for j in range(self.period)),
            strict=True,
        )  # the one before the first is the last of the period
        error = (states**3 + 15 * states**2 + 10) * UNIT + self._off
        return Kernels(np.array(kernels), error, np.array(possible), (1, *self.jumps))

    @cached_property
    def _laws(self) -> list[Wide]:
        """The laws of the first entries, as far as they have been followed."""
        return [] if self.start is None else [Wide.of(self.start)]

    @cached_property
    def settled_from(self) -> int:
        """Return how many laws are followed before that which repeats, if any, takes their place."""
        if self.start is None:
            return 0
        t, states = 0, self.step_matrices.shape[1]
        while self.repeating is not None and t < MOST_UNSETTLED and t * (states + 1) * UNIT < SETTLED / 8:
            if relative_distance(self._followed(t), self.repeating[0]) <= SETTLED / 4:
                return t + 1
            t += self.period
        return MOST_UNSETTLED

    @cached_property
    def _off(self) -> float:
        """Return how far B of the law that repeats is from that of all later laws, relatively."""
        if self.settled_from < MOST_UNSETTLED:
            return SETTLED * bool(self.settled_from)
        # A law comes no farther from the one that repeats: its ratios to it are means of those a step before.
        off, last = inf, MOST_UNSETTLED - 1
        if self.repeating is not None:
            rounded = last * (len(self.step_matrices[0]) + 1) * UNIT
            off = SETTLED + 2 * (relative_distance(self._followed(last), self.repeating[last % self.period]) + rounded)
        if off > FAR:
            raise Unsupported(f"the distribution of a step has not settled after {MOST_UNSETTLED} steps")
        return off

    @cached_property
    def _first(self) -> dict[int, tuple[FloatArray, BoolArray]]:
        return {}

    def step(self, position: int, distance: int, ratio: FloatArray, needed: np.ndarray | None = None) -> FloatArray:
        if position - distance >= self.settled_from and self._settled is not None:
            return self._settled.step(position, distance, ratio, needed)
        off = self._off if position >= self.settled_from else 0.0
        rows, possible = self._kernel(position)
        for j in range(position - 1, position - distance, -1):
            following, can = self._kernel(j)
            rows, possible = rows @ following, leads(possible, can)
        states = len(rows)
        error = (2 * (position + 2) * (states + 1) + distance * (states + 4)) * UNIT
        return suprema(rows, ratio, error + (2 * distance + 2) * off, possible=possible)

    def at_least(self, position: int, distance: int, ratio: FloatArray) -> FloatArray:
        if position - distance >= self.settled_from and self._settled is not None:
            return self._settled.at_least(position, distance, ratio)
        return np.zeros_like(ratio)

    def settled_kernels(self) -> tuple[FloatArray, float] | None:
        return None if self._settled is None else (self._settled.matrices, self._settled.relative_error)

    def _kernel(self, j: int) -> tuple[FloatArray, BoolArray]:
        if j not in self._first:
            self._first[j] = reversed_kernel(self._law(j - 1), self.step_matrices[(j - 1) % self.period])
        return self._first[j]

    def _law(self, j: int) -> Wide:
        if j < self.settled_from:
            return self._followed(j)
        assert self.repeating is not None, "without one `step` refuses what is later"
        return self.repeating[j % self.period]

    def _followed(self, j: int) -> Wide:
        for t in range(len(self._laws) - 1, j):
            self._laws.append(law_after(self._laws[t], self.step_matrices[t % self.period]))
        return self._laws[j]
