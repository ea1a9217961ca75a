"""The loss of secrets about steps of any chain of a class: the recursion by sizes, and what each step does to it.

Let phi lie in [m, e^s m]. For every chain of the class `after` bounds log p.phi/q.phi, p and q the laws of the entry d
steps on given the values a and b (R), or d steps back, whatever the law of the start (L). Proofs: "Classes" of
docs/theory/influence.md, by Lemmas 1 and 2 of docs/theory/chain-classes.md.

As `sweeps`, but what a step does depends on the loss behind it only by the largest number s of c + R: all jumps are
tried at once. Source: Theorem 2 and "Classes" of docs/theory/influence.md.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from itertools import permutations
from typing import Any, Protocol

import numpy as np

from takifugu.core.arrays import FloatArray, IntArray
from takifugu.core.cache import cached
from takifugu.core.errors import Unsupported
from takifugu.core.registry import Question
from takifugu.influence.chains.chains import reversed_runs, steps_until_settled, worst
from takifugu.influence.chains.kernels import LONGEST_JUMP, bounded, contracted, jumps
from takifugu.influence.chains.region_bounds import RegionInfluence, longer, odds, total_variation
from takifugu.influence.chains.sweeps import Track
from takifugu.influence.profiles.patience import CLASSES, MOST_RISING
from takifugu.influence.profiles.profile import Loss, Profile
from takifugu.model.beliefs.chains.chain import ReversibleChains
from takifugu.model.beliefs.chains.interval_chain import IntervalMarkovChain
from takifugu.model.beliefs.one_sequence import OneSequence
from takifugu.model.secrets.families import Family
from takifugu.numbers.outward_rounding import UNIT, up

#: Operations of one step of a sweep over a class, and of each pair of values there.
PER_STEP, PER_PAIR = 1.2e4, 1.4e2
#: Products of up to so many matrices of a region are looked at row by row.
ROW_BY_ROW = 16


class ClassSide(Protocol):
    """One direction of a class of chains, with its jumps, 1 first."""

    @property
    def states(self) -> int: ...

    @property
    def distances(self) -> IntArray: ...

    def after(self, sizes: FloatArray) -> FloatArray:
        """Return the bounds for the first distances, shape (sizes, k, k)."""
        ...


@dataclass(frozen=True, eq=False)
class RowsOfRegion:
    """R of a region: Lemma 1 on the boxes of products, and Birkhoff's contraction."""

    distances: IntArray
    most: FloatArray  # (n, k, k): whatever phi is
    tanh: FloatArray  # (n,): of a quarter of the projective diameter
    odds: FloatArray  # (row by row, k, k)
    spread: FloatArray

    @property
    def states(self) -> int:
        return int(self.most.shape[1])

    def after(self, sizes: FloatArray) -> FloatArray:
        n, size = len(sizes), sizes[:, None, None]
        bound = np.minimum(self.most[:n], _by_tanh(self.tanh[:n, None, None], size / 4, 4.0))
        near = min(n, len(self.odds))
        ratio = np.full((near, self.states, self.states), np.inf)
        with np.errstate(divide="ignore", over="ignore"):
            np.divide(1 / np.expm1(size[:near]), self.spread[:near], out=ratio, where=self.spread[:near] > 0)
            weights = (ratio + self.odds[:near]) * (1 - 8 * UNIT)
            averages = np.where(weights > 0, np.log1p(1 / weights), np.inf) * (1 + 8 * UNIT)
        bound[:near] = np.minimum(bound[:near], averages)
        return bounded(bound, size)


@dataclass(frozen=True, eq=False)
class StartsOfRegion:
    """L of a region under any start: Lemma 2 with the cross ratios of products."""

    distances: IntArray
    height: FloatArray  # (n, k, k)

    @property
    def states(self) -> int:
        return int(self.height.shape[1])

    def after(self, sizes: FloatArray) -> FloatArray:
        return contracted(self.height[: len(sizes)], sizes[:, None, None])


@dataclass(frozen=True, eq=False)
class OfReversible:
    """Both directions of all reversible chains with stationary masses >= pi and an eigengap >= g."""

    states: int
    distances: IntArray
    deviation: FloatArray  # D_d, at most 1
    parts: float  # 2 for R, 4 for L under any start

    def after(self, sizes: FloatArray) -> FloatArray:
        # |P^d(x, y)/pi(y) - 1| <= D_d = (1 - g)^d (1/pi - 1), so tanh of the loss over `parts` is <= D_d tanh(s/parts).
        bound = _by_tanh(self.deviation[: len(sizes)], sizes / self.parts, self.parts)
        bounds = np.broadcast_to(bound[:, None, None], (len(sizes), self.states, self.states)).copy()
        return bounded(bounds, sizes[:, None, None])


def sides_of_region(region: IntervalMarkovChain) -> tuple[RowsOfRegion, StartsOfRegion]:
    """Return R and L of all chains of a region."""
    low, high = region.reachable
    k = len(low)
    pairs = list(permutations(range(k), 2))
    influence = RegionInfluence(region, pairs)
    influence.extend(LONGEST_JUMP)
    distances = jumps(influence.reach)
    most, height = np.zeros((2, len(distances), k, k))
    for column, (a, b) in enumerate(influence.pairs):
        most[:, a, b] = influence.right(influence.reach)[distances - 1, column]
        height[:, a, b] = influence.left(influence.reach)[distances - 1, column]
    lower, upper = np.eye(k), np.eye(k)
    by_row = []
    for _ in range(min(ROW_BY_ROW, influence.reach)):
        lower, upper = longer(low, high, lower, largest=False), longer(low, high, upper, largest=True)
        turned = odds(lower, upper)
        distance = np.minimum(total_variation(lower, upper), (1 + 8 * UNIT) / (1 + turned + turned.T))
        by_row.append((turned, distance))
    tables = np.array(by_row)
    tanh = np.minimum(np.tanh(height.max(axis=(1, 2)) / 4) * (1 + 8 * UNIT), 1.0)
    return RowsOfRegion(distances, most, tanh, tables[:, 0], tables[:, 1]), StartsOfRegion(distances, height)


def sides_of_class(chains: ReversibleChains) -> tuple[OfReversible, OfReversible]:
    """Return R and L of all reversible chains with constants (pi, g)."""
    distances = jumps(LONGEST_JUMP)
    log_rate = np.log1p(-chains.g) if chains.g < 1 else -np.inf
    logs = distances * log_rate * (1 - 4 * UNIT) + np.log(1 / chains.pi - 1) + 16 * UNIT * abs(np.log(chains.pi))
    deviation = np.minimum(np.exp(logs) * (1 + (16 + 4 * np.abs(np.maximum(logs, -800.0))) * UNIT), 1.0)
    states = len(chains.states)
    return OfReversible(states, distances, deviation, 2.0), OfReversible(states, distances, deviation, 4.0)


def _by_tanh(factor: FloatArray, share: FloatArray, parts: float) -> FloatArray:
    """Return parts * artanh(factor * tanh(share)), rounded up; it may be infinite."""
    product = np.minimum(factor * np.tanh(share) * (1 + 16 * UNIT), 1.0)
    with np.errstate(divide="ignore"):
        return np.asarray(parts * np.arctanh(product) * (1 + 8 * UNIT))


#: How often a run is tested for a bound of all that follows.
EVERY = 16


def class_loss(belief: OneSequence, profile: Profile, family: Family, is_anywhere: bool = False) -> Loss:
    """Bound a family's loss under every chain of a class, any start."""
    # `is_anywhere` says that the recording may start anew before any step.
    ahead, behind = cached(belief, "influence of a class", lambda: SIDES.of(belief)(belief))
    # Raises Unsupported where losses still rise after MOST_RISING steps, as they do where a state may stay.
    right, left = class_sweep(ahead, reversed_runs(profile)), class_sweep(behind, profile)
    return worst(belief, profile, family, right, left, starts_anew=is_anywhere)


def class_work(belief: OneSequence) -> float:
    """Predict the operations of `class_loss`: two sweeps, until each has settled."""
    steps = min(float(belief.size), 2.0 * CLASSES.positions, SETTLED.of(belief)(belief))
    return 2.0 * steps * (PER_STEP + PER_PAIR * len(belief.states) ** 2)


def settled_of_class(chains: ReversibleChains) -> float:
    """Return how many steps forget what was before them, for an eigengap of g."""
    return steps_until_settled(1 - chains.g)


def settled_of_region(region: IntervalMarkovChain) -> float:
    """Return how many steps forget what was before them, by what all rows of all matrices share."""
    return steps_until_settled(1 - float(region.reachable[0].min(axis=0).sum()))


#: After how many steps losses over all chains of a class have settled, by its type.
SETTLED: Question[Callable[[Any], float]] = Question("steps until a class of chains forgets", settled_of_region)
#: R and L of all chains of a class, by its type.
SIDES: Question[Callable[[Any], tuple[ClassSide, ClassSide]]] = Question(
    "sweeps over all chains of a class", sides_of_region
)


def class_sweep(side: ClassSide, profile: Profile) -> list[Track]:
    """Return all positions' losses, one track for each run."""
    tracks: list[Track] = []
    behind = _Behind(int(side.distances[-1]))
    start = 0
    for length, number in zip(profile.lengths.tolist(), profile.table_of.tolist(), strict=True):
        tracks.append(_run(side, profile.tables[number], start, start + length, behind))
        start += length
    return tracks


class _Behind:
    """The last positions' largest c and c + R, the nearest last."""

    def __init__(self, reach: int) -> None:
        self._reach, self._next = reach, 0
        self._moved, self._sizes = np.zeros(2 * reach), np.zeros(2 * reach)
        self.everything = 0.0

    def add(self, table: FloatArray, loss: FloatArray, times: int = 1) -> None:
        """Remember positions of one kind."""
        largest = float(table.max())
        size = float(up(table + loss).max()) if loss.any() else largest
        self.everything = float(up(self.everything + up(largest * times)))
        count = min(times, self._reach)
        if self._next + count > len(self._moved):
            for memory in (self._moved, self._sizes):
                memory[: self._reach] = memory[self._next - self._reach : self._next].copy()
            self._next = self._reach
        self._moved[self._next : self._next + count] = largest
        self._sizes[self._next : self._next + count] = size
        self._next += count

    def reached(self, side: ClassSide) -> tuple[FloatArray, FloatArray]:
        """Return the largest c jumped over and the size, by distance inside."""
        count = min(self._next, self._reach)
        near = side.distances[: int(np.searchsorted(side.distances, count, side="right"))]
        between = np.concatenate([[0.0], np.cumsum(self._moved[self._next - count : self._next][::-1])])
        return between[near - 1] * (1 + (near + 2) * UNIT), self._sizes[self._next - near]


def _run(side: ClassSide, table: FloatArray, start: int, stop: int, behind: _Behind) -> Track:
    """Follow one run of equal profiles up to a proved bound."""
    explicit: list[FloatArray] = []
    most = np.zeros((side.states, side.states))
    for position in range(start, stop):
        explicit.append(_least(side, *behind.reached(side), behind.everything))
        behind.add(table, explicit[-1])
        most = np.maximum(most, explicit[-1])
        if len(explicit) % EVERY or stop - position < 2 * EVERY:
            continue
        repeated = _bound_of_all(side, table, explicit, most)
        if repeated is None and len(explicit) >= MOST_RISING:
            raise Unsupported(f"the losses still rise after {MOST_RISING} steps")
        if repeated is not None:
            behind.add(table, repeated, stop - position - 1)
            return Track(start, np.array(explicit), repeated[None], stop)
    k = side.states
    return Track(start, np.array(explicit).reshape(-1, k, k), np.zeros((0, k, k)), stop)


def _least(side: ClassSide, between: FloatArray, sizes: FloatArray, everything: float) -> FloatArray:
    """Return the least over jumps of their cost and the rest behind."""
    if not len(sizes) or not everything:
        return np.zeros((side.states, side.states))
    bounds = side.after(sizes)
    jumped = np.where(between[:, None, None] > 0, up(bounds + between[:, None, None]), bounds)
    return np.asarray(np.minimum(jumped.min(axis=0), everything))


def _bound_of_all(
    side: ClassSide, table: FloatArray, explicit: list[FloatArray], most: FloatArray
) -> FloatArray | None:
    """Return losses above all of the run without a rising step."""
    largest = float(table.max())
    near = side.distances[: int(np.searchsorted(side.distances, len(explicit), side="right"))]
    between = np.asarray((near - 1) * largest * (1 + 4 * UNIT), dtype=np.float64)
    rise = float((explicit[-1] - explicit[-EVERY // 2]).max())
    before = float((explicit[-EVERY // 2] - explicit[-EVERY]).max())
    left = rise * rise / (before - rise) if 0 < rise < before else max(rise, 0.0)
    enough = CLASSES.enough(len(explicit)) * (1 + float(most.max()))
    for slack in (0.0, 2 * left + 8 * UNIT, 8 * left + 1e-13, enough):
        if slack > enough:
            continue
        bound = np.asarray(up(most + slack * (1 + most)))
        np.fill_diagonal(bound, 0.0)
        size = float(up(table + bound).max())
        step = _least(side, between, np.full(len(near), size), np.inf)
        if (step <= bound).all():
            return bound
    return None
