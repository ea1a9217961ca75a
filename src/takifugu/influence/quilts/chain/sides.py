"""The quilts of one entry of a sequence, and one quilt tried on many entries.

The quilts of entry i are {X_{i-a}, X_{i+b}} with near set {i-a+1, ..., i+b-1}, those with one node, and the trivial one
(Song17 Lemma B.2). No other set does better: of whatever lies outside a near set only the nearest node on each side
matters to X_i, and cutting the near set down to the run around i only lowers D.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from takifugu.analysis.questions.influence import Influence
from takifugu.influence.quilts.near_sets import RunningChange
from takifugu.influence.quilts.scores import Side
from takifugu.model.queries import IntArray
from takifugu.model.secrets.families import Family
from takifugu.numbers.log_ratios import BoolArray, FloatArray

#: Distance up to which quilts are searched first.
FIRST_REACH = 32


@dataclass(frozen=True)
class Quilt:
    """Nodes at distance `left` before and `right` after an entry; None where there is none.

    With an `anchor` the node before is that entry of the sequence instead, whatever its distance.
    """

    left: int | None = None
    right: int | None = None
    anchor: int | None = None

    def before(self, entry: int) -> int | None:
        """Return the distance of the node before an entry, or None where it has none."""
        distance = self.left if self.anchor is None else entry - self.anchor
        return distance if distance is not None and 1 <= distance <= entry else None


@dataclass(frozen=True, eq=False)
class ChainSides:
    """A sequence whose entries have these influences, and whose answer moves by these changes."""

    influence: Influence
    change: RunningChange

    @property
    def length(self) -> int:
        return self.change.size

    def secret(self, family: Family) -> BoolArray:
        """Return which entries have a pair of values to hide."""
        wanted = np.zeros(self.length, dtype=bool)
        entries = family.entries
        wanted[slice(entries.start, entries.stop) if isinstance(entries, range) else list(entries)] = True
        return wanted & self.influence.secret(self.length)

    def start(self) -> None:
        """Fill the influences as far as every search needs them."""
        self.influence.prepare(self.length)
        self.influence.extend(min(FIRST_REACH, self.length))

    def left(self, entry: int, farthest: int) -> Side:
        """Return the choices before an entry: nodes up to the distance `farthest`, where they exist, or none."""
        count = max(0, min(entry, farthest, self.influence.reach))
        lows = np.append(entry - np.arange(count), 0)
        moved = self.change.between(lows, entry)
        alive = self.influence.alive(entry)
        rows = self.influence.left(entry, count) if count else np.empty((0, len(alive)))
        return Side(moved, _with_none(rows, alive))

    def right(self, entry: int, farthest: int) -> Side:
        """Return the choices after an entry: nodes up to the distance `farthest`, where they exist, or none."""
        count = max(0, min(self.length - 1 - entry, farthest, self.influence.reach))
        highs = np.append(entry + 1 + np.arange(count), self.length)
        moved = self.change.between(np.full(count + 1, entry + 1), highs)
        return Side(moved, _with_none(self.influence.right(count, entry), self.influence.alive(entry)))

    def quilt(self, entry: int, left: int | None, right: int | None) -> Quilt:
        """Return the quilt with nodes at these distances from an entry, in the form that suits other entries too."""
        if left is not None and self.influence.special(entry - left):
            return Quilt(None, right, entry - left)
        return Quilt(left, right)

    def entry_change(self, entry: int) -> float:
        """Return D({entry})."""
        return float(self.change.between(np.array([entry]), entry + 1)[0])

    def near(self, quilt: Quilt, entries: IntArray) -> tuple[IntArray, IntArray]:
        """Return the runs low .. high - 1 that are near; a node that falls outside the sequence is left out."""
        low = np.zeros_like(entries)
        if quilt.anchor is not None:
            low = np.where(entries > quilt.anchor, quilt.anchor + 1, 0)
        elif quilt.left is not None:
            low = np.maximum(entries - quilt.left + 1, 0)
        reach = self.length if quilt.right is None else quilt.right
        return low, np.minimum(entries + reach, self.length)

    def moved(self, quilt: Quilt, entries: IntArray) -> FloatArray:
        """Return the cost D(N) of a quilt at each entry."""
        return self.change.between(*self.near(quilt, entries))

    def steps(self, quilt: Quilt, entries: IntArray) -> IntArray:
        """Return D(N) of a quilt at each entry as a whole number of steps."""
        return self.change.steps(*self.near(quilt, entries))

    def influences(self, quilt: Quilt, entries: IntArray, pairs: IntArray | None = None) -> FloatArray:
        """Return bounds on max over pairs of e for a quilt at each (sorted) entry, nodes outside left out."""
        result = np.zeros(len(entries))
        before = self.near(quilt, entries)[0] > 0
        after = np.zeros(len(entries), bool) if quilt.right is None else entries + quilt.right < self.length
        for has_left in (False, True):
            for has_right in (False, True):
                mine = (before == has_left) & (after == has_right)
                if not (has_left or has_right) or not mine.any():
                    continue
                right = quilt.right if has_right else None
                if has_left and quilt.anchor is not None:
                    result[mine] = self.influence.anchored(entries[mine], quilt.anchor, right, pairs)
                else:
                    result[mine] = self.influence.largest(entries[mine], quilt.left if has_left else None, right, pairs)
        return np.maximum(result, 0.0)

    def farthest_useful(self, entry: int, most: float) -> int:
        """Return the largest distance of a node whose own side's near set moves the answer by less than `most`."""
        each, steps = self.change.each, most / self.change.step
        at, behind = each.sum_before(np.array([entry, entry + 1])).tolist()
        before = entry - each.first_above(at - steps) + 1
        after = each.first_above(behind + steps, or_at=True) - entry - 1
        return max(1, min(before, entry), min(after, self.length - 1 - entry))

    def grow(self, farthest: int, useful: int) -> int:
        """Return the distance to search up to next, its influences filled in; `farthest` where no more can help."""
        wanted = min(useful, 2 * farthest)
        if wanted <= farthest:
            return farthest
        self.influence.extend(wanted)
        return max(farthest, min(wanted, self.influence.reach))


def _with_none(rows: FloatArray, alive: BoolArray) -> FloatArray:
    """Append the choice of no node, and keep the pairs of values that are possible at the entry."""
    table = np.concatenate([rows, np.zeros((1, len(alive)))])
    return table if alive.all() else table[:, alive]
