"""L of a chain whose first entry may have any law: the lesser of two bounds of every jump.

The law of X_j is a mixture of the rows of W, the product of the matrices before j. Lemma 2 of chain classes needs no W.
Theorem 12 of docs/theory/influence.md reverses a jump under the mean m of these rows, and pays for the distance of any
other law from m: S(B(a, .), B(b, .); rho + eta) plus what the choice of a start adds. That is never above the jump of
a quilt, and a step of a stationary chain where the rows agree.
"""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from takifugu.core.arrays import BoolArray, FloatArray
from takifugu.influence.chains.kernels import Kernels, contracted, spread
from takifugu.influence.chains.remembered import law_of
from takifugu.influence.chains.sides import Side
from takifugu.influence.profiles.certified import Programs
from takifugu.influence.profiles.levels import Levels
from takifugu.influence.profiles.rays import MOST_STATES
from takifugu.influence.profiles.suprema import EXACT_STATES, suprema
from takifugu.numbers.outward_rounding import UNIT, sum_up, up

#: The rows of W agree where no two of them differ more, relatively.
AGREEING = 1e-12
#: W is the product of all matrices before an entry, or of the last so many: those before them mix its rows.
MOST_FOLLOWED = 64
#: Masses below this may come from floats that lost digits: where one is possible Lemma 2 alone counts.
CERTAIN = 2.0**-400
#: Jumps back to any start.
TO_ANY_START = (2, 3, 4, 6, 8, 12, 16)


@dataclass(frozen=True, eq=False)
class Reached:
    """The laws of an entry from every start, over the states that some start reaches."""

    states: BoolArray
    laws: FloatArray  # (starts, states that are reached)
    apart: FloatArray  # eta(x, y), of these states
    error: float  # of the laws, relatively
    is_certain: bool

    @cached_property
    def mean(self) -> FloatArray:
        return np.asarray(self.laws.mean(axis=0))


@dataclass(frozen=True, eq=False)
class Jump:
    """A jump reversed under the mean law, and what the choice of a start adds."""

    kernel: FloatArray  # [a, x], of the states x that are reached
    added: FloatArray  # [a, b]
    error: float
    programs: Programs | None
    levels: Levels | None


@dataclass(frozen=True, eq=False)
class BackwardFromAnyStart(Side):
    """L of a chain whose first entry has any law, or any entry of which may be the first one (`is_anywhere`)."""

    step_matrices: FloatArray
    #: A recording may start anew before any step, and a chain stand for a class: then Lemma 2 alone is proved.
    is_anywhere: bool = False

    jumps = TO_ANY_START

    @cached_property
    def settled_from(self) -> int:
        """Return from which entry on W is a product of so many matrices only."""
        if self.is_anywhere:
            return 0
        for entry in range(1, MOST_FOLLOWED):
            if self._from_starts(entry, entry).apart.max() <= AGREEING:
                return entry
        return MOST_FOLLOWED

    @cached_property
    def law(self) -> Hashable:
        return "backward from any start", self.is_anywhere, law_of(self.step_matrices)

    @cached_property
    def _kernels(self) -> Kernels:
        phases = (np.arange(self.period) - 1) % self.period
        turned = self.step_matrices[phases].transpose(0, 2, 1)
        return Kernels(turned, 0.0, turned > 0)

    @cached_property
    def _is_forgotten(self) -> BoolArray:
        """Whether the step into an entry forgets all before it, by phase: its rows are the same."""
        alike = (self.step_matrices == self.step_matrices[:, :1]).all(axis=(1, 2))
        return np.asarray(np.roll(alike, 1))

    @cached_property
    def _spreads(self) -> dict[tuple[int, int], FloatArray]:
        return {}

    @cached_property
    def _reached(self) -> dict[tuple[int, int], Reached]:
        return {}

    @cached_property
    def _jumps(self) -> dict[tuple[int, int, int], Jump | None]:
        return {}

    def step(self, position: int, distance: int, ratio: FloatArray, needed: np.ndarray | None = None) -> FloatArray:
        if self._is_forgotten[position % self.period]:
            return np.zeros_like(ratio)
        bound = contracted(self._spread(position, distance), ratio.max(axis=(-2, -1), keepdims=True, initial=0.0))
        if self.is_anywhere or not bound.any():
            return bound
        reached, jump = self.reached(position - distance), self.jump(position, distance)
        if jump is None or not (jump.added < bound).any():
            return bound
        # What is impossible leaves the cone before it is closed.
        possible = np.asarray(ratio, dtype=float)[..., reached.states, :][..., reached.states]
        tilted = sum_up(possible, reached.apart)
        supremum = suprema(jump.kernel, tilted, jump.error, jump.programs, jump.levels)
        return np.asarray(np.minimum(bound, up(supremum + jump.added)))

    def _spread(self, position: int, distance: int) -> FloatArray:
        key = (position % self.period, distance)
        if key not in self._spreads:
            columns, possible = self._kernels.product(position, distance)  # [a, x]: from x, `distance` before, to a
            error = 4 * distance * (len(columns) + 1) * UNIT * (distance > 1)
            self._spreads[key] = up(spread(columns, possible if distance > 1 else None) + error)
        return self._spreads[key]

    def reached(self, entry: int) -> Reached:
        """Return the laws of an entry from every start, or from every law some steps before it."""
        steps = min(entry, self.settled_from)
        key = (entry % self.period, steps)
        if key not in self._reached:
            self._reached[key] = self._from_starts(entry, steps)
        return self._reached[key]

    def _from_starts(self, entry: int, steps: int) -> Reached:
        count = self.step_matrices.shape[1]
        columns, possible = np.eye(count), np.eye(count, dtype=bool)
        if steps:
            columns, possible = self._kernels.product(entry, steps)
        states = np.asarray(possible.any(axis=1))
        laws, error = columns[states].T, steps * (count + 1) * UNIT
        is_certain = bool((laws[possible[states].T] >= CERTAIN).all())
        return Reached(states, laws, _apart(laws, error), error, is_certain)

    def jump(self, position: int, distance: int) -> Jump | None:
        """Return a jump to a position; None where floats do not know it."""
        entry = position - distance
        key = (position % self.period, min(entry, self.settled_from), distance)
        if key not in self._jumps:
            columns, possible = self._kernels.product(position, distance)
            reached = self.reached(entry)
            columns, possible = columns[:, reached.states], possible[:, reached.states]
            is_certain = reached.is_certain and bool((columns[possible] >= CERTAIN).all())
            error = distance * (self.step_matrices.shape[1] + 1) * UNIT * (distance > 1)
            self._jumps[key] = _reversed(columns, reached, error) if is_certain else None
        return self._jumps[key]


def _apart(laws: FloatArray, error: float) -> FloatArray:
    """Return eta(x, y) = max over starts u of log r_u(x)/r_u(y), r_u = W(u, .)/m; infinite beside a zero."""
    with np.errstate(divide="ignore", invalid="ignore"):
        logs = np.log(laws / laws.mean(axis=0))
        apart = logs[:, :, None] - logs[:, None, :]
    apart = np.where(laws[:, :, None] > 0, apart, -np.inf).max(axis=0)
    # Rounded are a division, two logs and a difference; the laws are `error` off, relatively.
    rounded = 8 * float(np.abs(logs[laws > 0]).max(initial=1.0))
    apart = up(np.maximum(apart, 0.0) * (1 + 4 * UNIT) + rounded * UNIT + 2 * error)
    np.fill_diagonal(apart, 0.0)
    return np.asarray(apart)


def _reversed(columns: FloatArray, reached: Reached, error: float) -> Jump:
    """Return a jump under the mean law, by columns [a, x] that are `error` off, relatively."""
    joint = columns * reached.mean
    total, count = joint.sum(axis=1), columns.shape[1]
    met = total > 0
    # `added` multiplies by what divides row a: rounding of `total` matters to the bound by the largest ratio alone.
    kernel = np.where(met[:, None], joint / np.where(met, total, 1.0)[:, None], 0.0)
    kernel[~met] = kernel[int(np.argmax(met))]
    ends = reached.laws @ columns.T  # [u, a]
    with np.errstate(divide="ignore", invalid="ignore"):
        logs = np.log(ends) - np.log(total)
        added = np.where(ends[:, None, :] > 0, logs[:, None, :] - logs[:, :, None], -np.inf).max(axis=0)  # [a, b]
    added[~met], added[:, ~met] = np.inf, np.inf
    largest = float(np.abs(np.log(ends[ends > 0])).max(initial=1.0) + np.abs(np.log(total[met])).max(initial=1.0))
    rounded = (16 * largest + 2 * (count + 2)) * UNIT + 2 * (error + reached.error)
    added = up(np.maximum(added, 0.0) + rounded)
    np.fill_diagonal(added, 0.0)
    programs = Programs() if count <= EXACT_STATES else None
    levels = Levels(kernel) if count > MOST_STATES else None
    return Jump(kernel, added, error + (count + 4) * UNIT, programs, levels)
