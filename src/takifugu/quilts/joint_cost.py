"""What releases of additive noise on a sequence cost together (docs/architecture.md#joint-accounting-of-quilts)."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

import numpy as np

from takifugu.beliefs import Belief
from takifugu.beliefs.chain import MarkovChain, MarkovChainClass
from takifugu.beliefs.chain_interval import BinaryChainInterval
from takifugu.beliefs.chain_region import ChainRegion
from takifugu.beliefs.network import BayesianNetwork
from takifugu.laws.log_ratios import NEVER, FloatArray
from takifugu.problem import Part, Witness
from takifugu.queries import IntArray
from takifugu.quilts.chain.binary_interval import interval_influence
from takifugu.quilts.chain.influence import chain_influence
from takifugu.quilts.chain.region import region_influence
from takifugu.quilts.chain.reversible_class import ClassInfluence
from takifugu.quilts.chain.sides import FIRST_REACH, ChainSides, Influence, Quilt
from takifugu.quilts.chain.witness import quilt_witness
from takifugu.quilts.near_sets import float_above, joint_change
from takifugu.quilts.network.search import network_joint_cost
from takifugu.quilts.scores import Side
from takifugu.quilts.worst_entry import settle


@dataclass(frozen=True)
class Group:
    """A quilt and the pairs of values (their numbers) that it is best for, with D(N) in steps and the largest e."""

    quilt: Quilt
    pairs: IntArray
    steps: int
    influence: float


@dataclass(frozen=True)
class JointQuilts:
    """Quilts for all pairs of values at one entry that cost no more than the costliest pair's best, and that pair.

    The first group's quilt is the best one of that pair.
    """

    entry: int
    groups: tuple[Group, ...]
    pair: int


def joint_cost(part: Part, charges: Sequence[tuple[IntArray, Fraction]]) -> tuple[float, Witness]:
    """Return what several releases of additive Laplace noise on one part cost together, rounded up.

    The cost is the largest over secret entries and ordered pairs of values of the least over quilts of
    e(Q) + sum_k D_k(N)/b_k; it holds pointwise in transcripts. `charges` are (entry changes, scale b_k), one per
    release, both in grid units; a release of scale 0 costs infinitely much where it reads the near set. A belief
    without quilts pays for the trivial one. For classes e(Q) is quilt-approx's bound, or a supremum over initial laws.
    """
    if isinstance(part.belief, BayesianNetwork):
        return network_joint_cost(part, charges)
    change, influence = joint_change(charges), influence_of(part.belief, part.family.pairs)
    if influence is None:
        total = math.inf if math.isinf(change.total()) else float_above(int(change.sums[-1]) * change.unit)
        return total, Witness("any values against any others", "the near set is everything", (("cost", total),))
    sides = ChainSides(influence, change)
    every = np.arange(1 if influence.pairs is None else len(influence.pairs))
    trivial = JointQuilts(-1, (Group(Quilt(), every, int(change.sums[-1]), 0.0),), 0)

    def spread(best: JointQuilts, entries: IntArray) -> FloatArray:
        largest = np.zeros(len(entries))
        for group in best.groups:
            costs = sides.moved(group.quilt, entries) + sides.influences(group.quilt, entries, group.pairs)
            np.maximum(largest, costs, out=largest)
        return _finite(largest)

    settled = settle(
        sides.secret(part.family), trivial, change.total(), lambda entry: best_joint(sides, entry), spread
    )
    worst = settled.worst
    cost = math.inf
    if math.isfinite(settled.bound):
        cost = float_above(max(_exact(sides, best, entries) for best, entries in settled.ties))
    return cost, quilt_witness(part, sides, worst.entry, worst.groups[0].quilt, worst.pair, (("cost", cost),))


def influence_of(belief: Belief, pairs: tuple[tuple[int, int], ...] | None) -> Influence | None:
    """Return the influences of a chain or a class of chains for pairs of values (all without any); None for others."""
    if isinstance(belief, MarkovChain):
        return chain_influence(belief, pairs)
    if isinstance(belief, MarkovChainClass):
        return ClassInfluence(belief.pi, belief.g)
    if isinstance(belief, ChainRegion):
        return region_influence(belief, pairs)
    if isinstance(belief, BinaryChainInterval):
        return interval_influence(belief, pairs)
    return None


def best_joint(sides: ChainSides, entry: int) -> tuple[JointQuilts, float]:
    """Return the best quilts of one entry, and the largest over ordered pairs of values of the least cost.

    For one pair both e and D are sums over the two sides of a quilt, so each side takes its own least.
    """
    own, farthest = sides.own(entry), FIRST_REACH
    sides.start()
    while True:
        left, right = sides.left(entry, farthest), sides.right(entry, farthest)
        (a, before), (b, after) = _least(left), _least(right)
        further = sides.grow(farthest, sides.farthest_useful(entry, float(max(before.max(), after.max()))))
        if further == farthest:
            break
        farthest = further
    costs = _finite(own + before + after)
    value = float(costs.max())
    alive = np.flatnonzero(sides.influence.alive(entry))
    groups: list[Group] = []
    remaining = np.argsort(-costs)
    while len(remaining):
        # The quilt of the costliest pair also serves every pair that costs no more with it than that pair does.
        x, y = int(a[remaining[0]]), int(b[remaining[0]])
        influence = left.influence[x] + right.influence[y]
        covered = own + left.moved[x] + right.moved[y] + influence[remaining] <= value
        covered[0] = True
        mine, remaining = remaining[covered], remaining[~covered]
        quilt = sides.quilt(entry, left.distance(x), right.distance(y))
        steps = int(sides.steps(quilt, np.array([entry]))[0])
        groups.append(Group(quilt, alive[mine], steps, max(float(influence[mine].max()), 0.0)))
    # Pairs that are impossible here may be possible elsewhere: a quilt for them too keeps the bound of others sound.
    others = np.flatnonzero(~sides.influence.alive(entry))
    first = replace(groups[0], pairs=np.concatenate([groups[0].pairs, others]))
    return JointQuilts(entry, (first, *groups[1:]), int(first.pairs[0])), value


def _exact(sides: ChainSides, best: JointQuilts, entries: IntArray) -> Fraction:
    """Return the largest cost of some entries with the quilts found for one, without rounding."""
    largest = Fraction(0)
    if best.entry in entries:
        largest = max(Fraction(group.influence) + group.steps * sides.change.unit for group in best.groups)
        entries = entries[entries != best.entry]
    for group in best.groups if len(entries) else ():
        steps = sides.steps(group.quilt, entries)
        influence = sides.influences(group.quilt, entries, group.pairs)
        for d, e in set(zip(steps.tolist(), influence.tolist(), strict=True)):
            largest = max(largest, Fraction(e) + d * sides.change.unit)
    return largest


def _least(side: Side) -> tuple[IntArray, FloatArray]:
    """Return for each pair the choice with the least influence plus change, and that sum."""
    sums = side.influence + side.moved[:, None]
    choice = np.argmin(sums, axis=0)
    return choice, np.asarray(sums[choice, np.arange(sums.shape[1])])


def _finite(costs: FloatArray) -> FloatArray:
    return np.where(costs > NEVER / 2, np.inf, costs)
