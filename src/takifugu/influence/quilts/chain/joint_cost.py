"""What releases of additive noise on a sequence cost together (docs/decisions.md#joint-accounting-of-quilts)."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from fractions import Fraction

import numpy as np

from takifugu.analysis.bounds import Witness
from takifugu.analysis.problem import Part
from takifugu.analysis.questions.influence import Charges, quilts
from takifugu.core.arrays import FloatArray, IntArray
from takifugu.influence.quilts.chain.sides import FIRST_REACH, ChainSides, Quilt, quilt_witness, shorter
from takifugu.influence.quilts.near_sets import joint_change
from takifugu.influence.quilts.scores import Side, settle
from takifugu.model.secrets.families import Family
from takifugu.numbers.outward_rounding import NEVER
from takifugu.numbers.rationals import float_above


@dataclass(frozen=True)
class Group:
    """A quilt, its best pairs' numbers, D(N) in steps, and largest e."""

    quilt: Quilt
    pairs: IntArray
    steps: int
    influence: float


@dataclass(frozen=True)
class JointQuilts:
    """Quilts for all pairs at one entry, and its costliest pair.

    No quilt costs more than that pair's best one, which is the first group's.
    """

    entry: int
    groups: tuple[Group, ...]
    pair: int


def joint_cost(part: Part, charges: Charges) -> tuple[float, Witness]:
    """Return the joint cost of releases on a sequence.

    See `questions.influence.joint_cost`. A belief that tells no influence along it has the trivial quilt: all entries
    change.
    """
    change, along = joint_change(charges), quilts(part.belief).along
    if along is None:
        if math.isinf(change.total()):
            total = math.inf
        else:
            total = float_above(change.each.total * change.unit)
        return total, Witness("any values against any others", "the near set is everything", (("cost", total),))
    influence = along(part.belief, part.family.pairs)
    sides = ChainSides(influence, change)
    for short in shorter(sides, part.family):
        cost, worst = _settled(short.sides, short.family)
        if short.stands_for_longer(cost / float(change.unit)):
            entry = short.in_longer(worst.entry)
            break
    else:
        cost, worst = _settled(sides, part.family)
        entry = worst.entry
    return cost, quilt_witness(part, sides, entry, worst.groups[0].quilt, worst.pair, (("cost", cost),))


def _settled(sides: ChainSides, family: Family) -> tuple[float, JointQuilts]:
    """Return the worst entry's cost, and its quilts."""
    pairs, change = sides.influence.pairs, sides.change
    columns = 1 if pairs is None else len(pairs)
    every = np.arange(columns)
    trivial = JointQuilts(-1, (Group(Quilt(), every, change.each.total, 0.0),), 0)

    def spread(best: JointQuilts, entries: IntArray) -> FloatArray:
        largest = np.zeros(len(entries))
        for group in best.groups:
            costs = sides.moved(group.quilt, entries) + sides.influences(group.quilt, entries, group.pairs)
            np.maximum(largest, costs, out=largest)
        return _finite(largest)

    settled = settle(
        sides.secret(family), trivial, change.total(), lambda entry: best_joint(sides, entry), spread
    )
    cost = math.inf
    if math.isfinite(settled.bound):
        cost = float_above(max(_exact(sides, best, entries) for best, entries in settled.ties))
    return cost, settled.worst


def best_joint(sides: ChainSides, entry: int) -> tuple[JointQuilts, float]:
    """Return one entry's best quilts and its largest least cost.

    The largest is over ordered pairs of values. For one pair both e and D are sums over the two sides of a quilt, so
    each side takes its own least.
    """
    influence_here, farthest = sides.entry_change(entry), FIRST_REACH
    sides.start()
    while True:
        left, right = sides.left(entry, farthest), sides.right(entry, farthest)
        (a, before), (b, after) = _least(left), _least(right)
        further = sides.grow(farthest, sides.farthest_useful(entry, float(max(before.max(), after.max()))))
        if further == farthest:
            break
        farthest = further
    costs = _finite(influence_here + before + after)
    value = float(costs.max())
    alive = np.flatnonzero(sides.influence.alive(entry))
    groups: list[Group] = []
    remaining = np.argsort(-costs)
    while len(remaining):
        # The quilt of the costliest pair also serves every pair that costs no more with it than that pair does.
        x, y = int(a[remaining[0]]), int(b[remaining[0]])
        influence = left.influence[x] + right.influence[y]
        covered = influence_here + left.moved[x] + right.moved[y] + influence[remaining] <= value
        covered[0] = True
        similar, remaining = remaining[covered], remaining[~covered]
        quilt = sides.quilt(entry, left.distance(x), right.distance(y))
        steps = int(sides.steps(quilt, np.array([entry]))[0])
        groups.append(Group(quilt, alive[similar], steps, max(float(influence[similar].max()), 0.0)))
    # Pairs that are impossible here may be possible elsewhere: a quilt for them too keeps the bound of others sound.
    dead = np.flatnonzero(~sides.influence.alive(entry))
    first = replace(groups[0], pairs=np.concatenate([groups[0].pairs, dead]))
    return JointQuilts(entry, (first, *groups[1:]), int(first.pairs[0])), value


def _exact(sides: ChainSides, best: JointQuilts, entries: IntArray) -> Fraction:
    """Return the entries' largest cost with one entry's quilts, without rounding."""
    largest = Fraction(0)
    if best.entry in entries:
        largest = max(Fraction(group.influence) + group.steps * sides.change.unit for group in best.groups)
        entries = entries[entries != best.entry]
    if not len(entries):
        return largest
    for group in best.groups:
        steps = sides.steps(group.quilt, entries)
        influence = sides.influences(group.quilt, entries, group.pairs)
        for d, e in set(zip(steps.tolist(), influence.tolist(), strict=True)):
            largest = max(largest, Fraction(e) + d * sides.change.unit)
    return largest


def _least(side: Side) -> tuple[IntArray, FloatArray]:
    """Return each pair's choice of least influence plus change, and the sum."""
    sums = side.influence + side.moved[:, None]
    choice = np.argmin(sums, axis=0)
    return choice, np.asarray(sums[choice, np.arange(sums.shape[1])])


def _finite(costs: FloatArray) -> FloatArray:
    return np.where(costs > NEVER / 2, np.inf, costs)
