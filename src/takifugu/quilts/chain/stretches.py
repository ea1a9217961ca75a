"""What releases about windows of one recording cost together, without looking at every step of it.

Between the ends of windows every step costs the same: the recording is a list of *stretches*. Theorem
(docs/theory/composition.md). Let a stretch have n steps that cost c each, and keep m steps at each end of it, with one
step of cost (n - 2m)c in place of the others. For a kept step every quilt of the shorter recording is a quilt of the
true one with the same cost of its near set and nodes that are no nearer, so its influence is no larger. A step at least
r steps from both ends has the quilts of nodes at distances a, b <= r. So the joint cost is at most the larger of

    the cost of the kept steps in the shorter recording,
    the maximum over stretches of the minimum over a, b <= r of e(a, b) + (a + b - 1)c        (m > r),

and it is that where r steps of a stretch cost as much as the best quilt, or r is as far as influences are known, and
m > 2r. Influences must depend on distances alone: steps before those of a start have settled are all kept. Where they
depend on the phase of a step, too, whole periods are cut out, and the second maximum is over the phases as well.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from takifugu.beliefs import Belief
from takifugu.capabilities.influence import Influence, Pairs, quilts
from takifugu.laws.log_ratios import NEVER, FloatArray
from takifugu.laws.rationals import float_above
from takifugu.problem import Part, Witness
from takifugu.queries import Additive, IntArray
from takifugu.quilts.chain.influence import ChainInfluence
from takifugu.quilts.chain.sides import FIRST_REACH
from takifugu.quilts.joint_cost import joint_cost
from takifugu.secrets import Family

#: Costs that differ by less, relatively, are told by the place that is easier to name.
AS_GOOD = Fraction(1, 10**9)


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

    def split(self, step: int) -> Stretches:
        """Return the same recording with a boundary at a step."""
        ends = np.cumsum(self.lengths)
        number = int(np.searchsorted(ends, step, side="right"))
        if number == len(ends) or (inside := step - int(ends[number] - self.lengths[number])) == 0:
            return self
        lengths = np.insert(self.lengths, number, inside)
        lengths[number + 1] -= inside
        return Stretches(lengths, np.insert(self.values, number, self.values[number]), self.unit)


@dataclass(frozen=True)
class Deep:
    """The cost of steps far inside a stretch with their best quilt, whose near set has `near` steps."""

    cost: Fraction
    near: int


def stretched_cost(
    belief: Belief, pairs: Pairs, whole: Stretches, anywhere: bool = False
) -> tuple[Fraction, Witness]:
    """Return the joint cost of releases about windows of a recording, of which every step is secret.

    `belief` is about all of it; with `anywhere` one with an unknown start may start anew before any step.
    Source: docs/theory/composition.md.

    >>> from takifugu import MarkovChain
    >>> chain = MarkovChain([[0.9, 0.1], [0.4, 0.6]], length=10**6)
    >>> weeks = Stretches(np.array([10**6]), np.array([1]), Fraction(1, 24))
    >>> round(float(stretched_cost(chain, None, weeks)[0]), 6)
    0.611079
    """
    influences = quilts(belief)
    along = influences.anywhere if anywhere and influences.anywhere else influences.along
    influence = None if along is None else along(belief, pairs)
    kept = None if influence is None else _kept(influence, whole)
    if influence is None or kept is None:
        part = Part(belief, standing_in(whole.size), Family(range(whole.size), pairs), 0)
        cost, witness = joint_cost(part, [(whole.each(), 1 / whole.unit)], influence)
        return Fraction(cost), witness
    steps, chosen, deep = kept
    part = Part(belief.with_length(len(steps)), standing_in(len(steps)), Family(chosen, pairs), 0)  # type: ignore[attr-defined]
    found = Fraction(joint_cost(part, [(steps, 1 / whole.unit)], influence)[0])
    worst, near = found, 0
    for one in deep:
        if one.cost >= worst * (1 - AS_GOOD):
            worst, near = max(worst, one.cost), one.near
    if worst >= whole.total:
        worst, what = whole.total, "everything"
    else:
        what = f"{near} steps in a row" if near else "the steps around it, near the end of a window"
    return worst, Witness("one step of the recording", f"near set: {what}", (("cost", float_above(worst)),))


def _kept(influence: Influence, whole: Stretches) -> tuple[IntArray, tuple[int, ...], list[Deep]] | None:
    """Return the shorter recording, which of its steps to look at, and the costs deep inside stretches.

    None where nothing can be left out.
    """
    first = _settled(influence, whole.size)
    longest, period = int(whole.lengths.max(initial=0)), _period(influence)
    if first is None or longest <= 4 * FIRST_REACH:
        return None
    whole = whole.split(first)
    far = max(1, longest // 4)
    top = int(whole.values.max())
    bound = whole.total if top == 0 else _grown(influence, first, top, whole, far)
    steps, chosen, deep, size, start, shorter = [], [], dict[int, Deep](), 0, 0, False
    for length, value in zip(whole.lengths.tolist(), whole.values.tolist(), strict=True):
        radius = _radius(influence, value, whole, bound, far) if start >= first else None
        if radius is None or length <= 4 * radius + 2 + period:
            steps.append(np.full(length, value, dtype=np.int64))
            chosen.append(np.arange(size, size + length))
        else:
            shorter, end = True, 2 * radius + 1
            inside = length - 2 * end
            middle = 1 + (inside - 1) % period  # what is cut out are whole periods
            row = np.full(2 * end + middle, value, dtype=np.int64)
            row[end] = value * (inside - middle + 1)
            steps.append(row)
            chosen += [size + np.arange(radius + 1), size + len(row) - 1 - np.arange(radius + 1)[::-1]]
            if value not in deep:
                deep[value] = _deep(influence, first, value, whole, radius)
        size += len(steps[-1])
        start += length
    if not shorter:
        return None
    return np.concatenate(steps), tuple(np.concatenate(chosen).tolist()), list(deep.values())


def _period(influence: Influence) -> int:
    return influence.period if isinstance(influence, ChainInfluence) else 1


def _settled(influence: Influence, size: int) -> int | None:
    """Return from which step on influences depend on distances and phases alone; None where that is not known."""
    if not isinstance(influence, ChainInfluence):
        return 0
    influence.prepare(size)
    settled = influence.settled
    return None if settled is None or any(map(influence.special, range(settled))) else settled


def _grown(influence: Influence, first: int, value: int, whole: Stretches, far: int) -> Fraction:
    """Return what a step costs at most where every step costs as much as the dearest one."""
    rate, reach, least = value * whole.unit, FIRST_REACH, whole.total
    while True:
        influence.extend(reach)
        known = min(reach, influence.reach)
        least = min(least, _deep(influence, first, value, whole, known).cost)
        if known * rate >= least or influence.reach < reach or reach >= far:
            return least
        reach = min(2 * reach, far)


def _radius(influence: Influence, value: int, whole: Stretches, bound: Fraction, far: int) -> int | None:
    """Return the distance beyond which no node is of use in a stretch; None where it is more than `far`."""
    needed = far + 1 if value == 0 else math.ceil(bound / (value * whole.unit)) + 1
    influence.extend(min(needed, far))
    radius = min(needed, influence.reach)
    return radius if radius < far or influence.reach < far else None


def _deep(influence: Influence, first: int, value: int, whole: Stretches, radius: int) -> Deep:
    """Return the cost of a step with `radius` steps of a stretch on both sides, for its costliest pair and phase."""
    entries = range(first + radius, first + radius + _period(influence))
    found = [_deepest(influence, entry, value, whole, radius) for entry in entries]
    influences, near = (np.concatenate(rows) for rows in zip(*found, strict=True))
    told = influences + near * float_above(value * whole.unit)
    dear = told >= told.max(initial=0.0) * (1 - float(AS_GOOD))
    return max(_costs(influences[dear].tolist(), near[dear].tolist(), value, whole), key=lambda deep: deep.cost)


def _deepest(
    influence: Influence, entry: int, value: int, whole: Stretches, radius: int
) -> tuple[FloatArray, IntArray]:
    """Return the influence and near set of the best quilt of each pair of values at the phase of an entry."""
    alive = np.flatnonzero(influence.alive(entry))
    left, right = influence.left(entry, radius)[:, alive], influence.right(radius, entry)[:, alive]
    moved = np.arange(radius)[:, None] * float_above(value * whole.unit)
    before, after = np.argmin(left + moved, axis=0), np.argmin(right + moved, axis=0)
    every = np.arange(len(alive))
    influences = np.maximum(np.nextafter(left[before, every] + right[after, every], np.inf), 0.0)
    return influences, 1 + before + after


def _costs(influences: list[float], near: list[int], value: int, whole: Stretches) -> Iterator[Deep]:
    yield Deep(Fraction(0), 0)
    for e, steps in set(zip(influences, near, strict=True)):
        cost = whole.total if e > NEVER / 2 else Fraction(e) + steps * value * whole.unit
        yield Deep(min(cost, whole.total), steps)


def standing_in(size: int) -> Additive:
    """Return any answer over so many entries: a search asks a part for its entries and secrets only."""
    return Additive(Fraction(1), ("change",), (np.zeros((1, 1), dtype=np.int64),), np.zeros(size, dtype=np.int64))
