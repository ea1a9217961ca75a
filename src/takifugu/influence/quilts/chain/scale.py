"""The noise that the worst entry of a sequence needs with its best Markov quilt (Song17 Algorithms 2 to 5)."""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction

import numpy as np

from takifugu.core.arrays import FloatArray, IntArray
from takifugu.influence.quilts.chain.sides import FIRST_REACH, ChainSides, Quilt, shorter
from takifugu.influence.quilts.scores import SAME, best_choice, exact_scale, scores, settle
from takifugu.model.secrets.families import Family
from takifugu.numbers.rationals import float_below

#: Entries that Algorithm 5 may walk over before the search that tries each quilt on all entries is the faster one.
MOST_STEPS = 64


@dataclass(frozen=True)
class Needed:
    """The scale, in grid units, of the worst entry's best quilt."""

    scale: Fraction
    entry: int
    quilt: Quilt
    influence: float
    change: int


@dataclass(frozen=True)
class BestQuilt:
    """The best quilt of one entry, with its change and influence there."""

    entry: int
    quilt: Quilt
    change: float
    influence: float


def needed_scale(sides: ChainSides, family: Family, epsilon: Fraction) -> Needed:
    """Return the entries' largest least D(N)/(epsilon - e(Q)) (Song17 Algorithms 2, 3)."""
    for short in shorter(sides, family):
        needed = _needed(short.sides, short.family, epsilon)
        if short.stands_for_longer(float(needed.scale * epsilon)):
            return replace(needed, entry=short.in_longer(needed.entry))
    return _needed(sides, family, epsilon)


def _needed(sides: ChainSides, family: Family, epsilon: Fraction) -> Needed:
    limit = float_below(epsilon)
    total = sides.change.total()

    def examine(entry: int) -> tuple[BestQuilt, float]:
        return best_quilt(sides, entry, limit)

    def spread(best: BestQuilt, entries: IntArray) -> FloatArray:
        return scores(sides.moved(best.quilt, entries), sides.influences(best.quilt, entries), limit)

    trivial = BestQuilt(-1, Quilt(), total, 0.0)
    settled = settle(sides.secret(family), trivial, total / limit, examine, spread)
    ties = [_largest(sides, best, entries, epsilon) for best, entries in settled.ties]
    # An entry whose float bound is not among the ties requires no more than this, whatever epsilon - e has cancelled.
    floor = Fraction(settled.bound) * (1 - 9 * Fraction(SAME))
    worst = max(ties, key=lambda n: n.scale)
    return worst if worst.scale >= floor else replace(worst, scale=floor)


def best_quilt(sides: ChainSides, entry: int, epsilon: float) -> tuple[BestQuilt, float]:
    """Return one entry's quilt of least scale, and this scale.

    Source: Song17 Algorithm 4.
    """
    start_influence, farthest = sides.entry_change(entry), FIRST_REACH
    sides.start()
    while True:
        left, right = sides.left(entry, farthest), sides.right(entry, farthest)
        best = best_choice(start_influence, left, right, epsilon)
        further = sides.grow(farthest, sides.farthest_useful(entry, epsilon * best.score - start_influence))
        if further == farthest:
            break
        farthest = further
    change = start_influence + float(left.moved[best.left] + right.moved[best.right])
    influence = float((left.influence[best.left] + right.influence[best.right]).max(initial=0.0))
    quilt = sides.quilt(entry, left.distance(best.left), right.distance(best.right))
    return BestQuilt(entry, quilt, change, influence), best.score


def fast_scale(sides: ChainSides, epsilon: Fraction) -> Needed | None:
    """Return `best_quilt` of all entries by Song17 Algorithm 5, or None.

    None where the algorithm fails. The entries are all secret and weigh the same. Influences must depend on the
    distance only. From the middle the search follows the missing node: if an entry's best quilt has no node before it
    only, the next entry is tried, if after it only, the one before. A quilt with both nodes protects every entry (Claim
    B.11: whatever sticks out only lowers its score), and no quilt requires more than the trivial one. A step back onto
    an explored entry proves nothing (errata E10).
    """
    limit = float_below(epsilon)
    entry = max(1, sides.length // 2) - 1
    explored: dict[int, Needed] = {}
    while entry not in explored and len(explored) < MOST_STEPS:
        best, _ = best_quilt(sides, entry, limit)
        scale = exact_scale(best.change, best.influence, epsilon)
        explored[entry] = Needed(scale, entry, best.quilt, best.influence, int(best.change))
        if (best.quilt.before(entry) is None) == (best.quilt.right is None):
            return max(explored.values(), key=lambda n: n.scale)
        step = 1 if best.quilt.before(entry) is None else -1
        entry += step
    return None


def _largest(sides: ChainSides, best: BestQuilt, entries: IntArray, epsilon: Fraction) -> Needed:
    """Return one quilt's largest scale over some entries, exactly."""
    change, influence = sides.moved(best.quilt, entries), sides.influences(best.quilt, entries)
    itself = entries == best.entry
    change[itself], influence[itself] = best.change, best.influence
    different, first_places = np.unique(np.stack([change, influence], axis=1), axis=0, return_index=True)
    needed = [
        Needed(exact_scale(d, e, epsilon), int(entries[at]), best.quilt, e, int(d))
        for (d, e), at in zip(different.tolist(), first_places, strict=True)
    ]
    return max(needed, key=lambda n: n.scale)
