"""What steps of a chain do to two laws at once: products, the most that they can still differ, and where to jump to."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from takifugu.core.arrays import BoolArray, FloatArray, IntArray, read_only
from takifugu.influence.profiles.certified import Programs
from takifugu.influence.profiles.levels import Levels
from takifugu.influence.profiles.rays import MOST_STATES
from takifugu.influence.profiles.suprema import CONES, EXACT_STATES, star_suprema, suprema, suprema_together
from takifugu.model.beliefs.stochastic import leads
from takifugu.numbers.extended.floats import Wide
from takifugu.numbers.outward_rounding import TRUSTED, UNIT, up

#: Powers of matrices are formed up to this many steps; rounding adds (k + 1) units for each.
LONGEST_JUMP = 2**12


@dataclass(eq=False)
class Kernels:
    """Products of kernels by (phase, distance), with a memory for the suprema over the rows of each."""

    matrices: FloatArray  # by phase: from position j to position j - 1, j modulo the period
    relative_error: float
    possible: BoolArray  # of the same shape; what is possible may be 0 in floats
    together: tuple[int, ...] = ()  # distances that are asked for one after the other
    _products: dict[tuple[int, int], tuple[FloatArray, BoolArray]] = field(default_factory=dict)
    _memory: dict[tuple[int, int], tuple[Programs | None, Levels | None]] = field(default_factory=dict)
    _stacks: dict[int, tuple[FloatArray, FloatArray, list[BoolArray | None]]] = field(default_factory=dict)
    _stepped: dict[tuple[int, tuple[int, ...], bytes], FloatArray] = field(default_factory=dict)

    def product(self, position: int, distance: int) -> tuple[FloatArray, BoolArray]:
        """Return the kernel from a position to `distance` positions before it, and what is possible."""
        phase = position % len(self.matrices)
        if distance == 1:
            return self.matrices[phase], self.possible[phase]
        if (phase, distance) not in self._products:
            near = distance // 2
            first, far = self.product(position, near), self.product(position - near, distance - near)
            self._products[phase, distance] = first[0] @ far[0], leads(first[1], far[1])
        return self._products[phase, distance]

    def step(self, position: int, distance: int, ratio: FloatArray, needed: np.ndarray | None = None) -> FloatArray:
        if distance in self.together and self.matrices.shape[1] <= MOST_STATES:
            return np.asarray(self._at_once(position - distance, ratio)[..., self.together.index(distance), :, :])
        rows, error, possible = self._row(position, distance)
        key, states = (position % len(self.matrices), distance), rows.shape[1]
        if key not in self._memory:
            programs = Programs() if states <= EXACT_STATES else None
            levels = Levels(rows) if states > MOST_STATES else None
            self._memory[key] = programs, levels
        return suprema(rows, ratio, error, *self._memory[key], needed, possible)

    def _row(self, position: int, distance: int) -> tuple[FloatArray, float, BoolArray | None]:
        """Return a product, its relative error, and what is possible, unless its zeros are given."""
        rows, possible = self.product(position, distance)
        is_given = distance == 1 and not self.relative_error
        error = distance * (self.relative_error + (rows.shape[1] + 1) * UNIT * (distance > 1))
        return rows, error, None if is_given else possible

    def _at_once(self, behind: int, ratio: FloatArray) -> FloatArray:
        """Return what losses do `together` many steps on, of few states: the cones are the same."""
        phase = behind % len(self.matrices)
        key = phase, ratio.shape, ratio.tobytes()
        stepped = self._stepped.get(key)
        if stepped is None:
            if phase not in self._stacks:
                stack = [self._row(phase + distance, distance) for distance in self.together]
                errors = np.array([error for _, error, _ in stack])
                self._stacks[phase] = np.array([rows for rows, _, _ in stack]), errors, [can for *_, can in stack]
            rows, errors, possible = self._stacks[phase]
            stepped = read_only(suprema_together(rows, ratio, errors, possible))
            if len(self._stepped) >= CONES:
                self._stepped.clear()
            self._stepped[key] = stepped
        return stepped

    def at_least(self, position: int, distance: int, ratio: FloatArray) -> FloatArray:
        if ratio.shape[-1] <= MOST_STATES:  # a step itself is as quick
            return np.zeros_like(ratio)
        rows = self.product(position, distance)[0]
        return np.array([star_suprema(rows, one) for one in ratio])


def jumps(farthest: int) -> IntArray:
    """Return distances up to 16, then each a tenth more."""
    distances = list(range(1, min(farthest, 16) + 1))
    while distances[-1] < (further := distances[-1] * 11 // 10) <= farthest:
        distances.append(further)
    return np.array(distances, dtype=np.int64)


def reversed_kernel(before: Wide, matrix: FloatArray) -> tuple[FloatArray, BoolArray]:
    """Return B(s, u) = m_t(u) P_t(u, s) / m_{t+1}(s), and what is possible."""
    joint = (before[:, None] * Wide.of(matrix)).each(np.transpose)
    rows, possible = joint.floats(joint.exponents.max(axis=1, keepdims=True)), joint.support
    met = possible.any(axis=1)
    # Off by k + 2 units, beside what m_t is.
    rows[met] /= rows[met].sum(axis=1, keepdims=True)
    # Rows of impossible s copy a possible one.
    first = int(np.argmax(met))
    rows[~met], possible[~met] = rows[first], possible[first]
    return rows, possible


def spread(columns: FloatArray, possible: BoolArray | None = None) -> FloatArray:
    """Return h(a, b) = max over x, x' of log P(x, a) P(x', b)/(P(x, b) P(x', a)), infinite beside a zero."""
    # `columns` is indexed [a, x].
    states = len(columns)
    with np.errstate(divide="ignore", invalid="ignore"):
        logs = np.log(columns)
        height = np.zeros((states, states))
        for a in range(states):
            for b in range(states):
                ratio = logs[a] - logs[b]
                ratio = ratio[~np.isnan(ratio)]  # starts that reach neither say nothing
                if a != b and len(ratio) and (columns[a] != columns[b]).any():
                    apart, largest = ratio.max() - ratio.min(), np.abs(logs[[a, b]][np.isfinite(logs[[a, b]])]).max()
                    rounded = max(8 * apart, 8 * largest + 4 * apart)  # of four logs and three differences
                    height[a, b] = apart + rounded * UNIT
    height[np.isnan(height)] = np.inf
    # In products of floats some possible entries may be too small to be known.
    if possible is not None:
        unknown = np.any(possible & (columns < TRUSTED), axis=1)
        height[(unknown[:, None] | unknown) & ~np.eye(states, dtype=bool)] = np.inf
    return np.asarray(up(height))


def contracted(height: FloatArray, size: float | FloatArray) -> FloatArray:
    """Return 4 artanh(tanh(h/4) tanh(s/4)), rounded up, of diagonal 0, shape (..., k, k); h may be infinite."""
    # As 2 log((e^((h+s)/2) + 1)/(e^(h/2) + e^(s/2))): from positive terms.
    half = np.minimum(height, size + 1400.0) / 2
    value = 2 * (np.logaddexp(half + size / 2, 0.0) - np.logaddexp(half, size / 2))
    return bounded(value + 16 * UNIT * (half + size + 1), size)


def bounded(bound: FloatArray, size: float | FloatArray) -> FloatArray:
    """Return bounds between 0 and s, of diagonal 0."""
    bound = np.clip(bound, 0.0, size)
    places = np.arange(bound.shape[-1])
    bound[..., places, places] = 0.0
    return np.asarray(bound)
