"""The quilts of one entry of a sequence, tried on many entries; and when a shorter sequence needs the same.

The quilts of entry i are {X_{i-a}, X_{i+b}} with near set {i-a+1, ..., i+b-1}, those with one node, and the trivial one
(Song17 Lemma B.2). No other set does better: of whatever lies outside a near set only the nearest node on each side
matters to X_i, and cutting the near set down to the run around i only lowers D.

Theorem. Let every entry of a sequence of T move the answer by the same c, and all be secret. Let influences depend on
the distance of the nodes alone from an entry h on, but for the phase of the entry; T' = T modulo the period, 4h <= T',
and the period at most h. If every entry of the first T' requires at most s, and s epsilon < ch, so does every one of T.

Proof: docs/theory/quilts.md, Theorem 4.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np

from takifugu.analysis.bounds import Witness
from takifugu.analysis.problem import Part
from takifugu.analysis.questions.influence import Influence
from takifugu.core.arrays import BoolArray, FloatArray, IntArray
from takifugu.influence.quilts.chain.influence import ChainInfluence
from takifugu.influence.quilts.near_sets import RunningChange
from takifugu.influence.quilts.scores import Side
from takifugu.model.secrets.families import Family
from takifugu.model.secrets.hypotheses import compared
from takifugu.numbers.runs import Runs

#: Distance up to which quilts are searched first.
FIRST_REACH = 32


@dataclass(frozen=True)
class Quilt:
    """Nodes at distance `left` before and `right` after an entry, or None.

    With an `anchor` the node before is that entry of the sequence instead, whatever its distance.
    """

    left: int | None = None
    right: int | None = None
    anchor: int | None = None

    def before(self, entry: int) -> int | None:
        """Return the distance of the node before an entry, if any."""
        distance = self.left if self.anchor is None else entry - self.anchor
        if distance is not None and 1 <= distance <= entry:
            return distance
        return None


@dataclass(frozen=True, eq=False)
class ChainSides:
    """A sequence's influences, and the answer's changes along it."""

    influence: Influence
    change: RunningChange

    @property
    def length(self) -> int:
        return self.change.size

    def secret(self, family: Family) -> BoolArray:
        """Return the entries with a pair of values to hide."""
        is_secret = np.zeros(self.length, dtype=bool)
        entries = family.entries
        if isinstance(entries, range):
            is_secret[entries.start : entries.stop] = True
        else:
            is_secret[list(entries)] = True
        return is_secret & self.influence.secret(self.length)

    def start(self) -> None:
        """Fill the influences as far as every search needs them."""
        self.influence.prepare(self.length)
        self.influence.extend(min(FIRST_REACH, self.length))

    def left(self, entry: int, farthest: int) -> Side:
        """Return the choices before an entry, up to `farthest`, or none."""
        count = max(0, min(entry, farthest, self.influence.reach))
        lows = np.append(entry - np.arange(count), 0)
        moved = self.change.between(lows, entry)
        alive = self.influence.alive(entry)
        rows = self.influence.left(entry, count) if count else np.empty((0, len(alive)))
        return Side(moved, _with_none(rows, alive))

    def right(self, entry: int, farthest: int) -> Side:
        """Return the choices after an entry, up to `farthest`, or none."""
        count = max(0, min(self.length - 1 - entry, farthest, self.influence.reach))
        highs = np.append(entry + 1 + np.arange(count), self.length)
        moved = self.change.between(np.full(count + 1, entry + 1), highs)
        return Side(moved, _with_none(self.influence.right(count, entry), self.influence.alive(entry)))

    def quilt(self, entry: int, left: int | None, right: int | None) -> Quilt:
        """Return the quilt at these distances, for other entries, too."""
        if left is not None and self.influence.special(entry - left):
            return Quilt(None, right, entry - left)
        return Quilt(left, right)

    def entry_change(self, entry: int) -> float:
        """Return D({entry})."""
        return float(self.change.between(np.array([entry]), entry + 1)[0])

    def near(self, quilt: Quilt, entries: IntArray) -> tuple[IntArray, IntArray]:
        """Return the near runs low .. high - 1."""
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
        """Return D(N) of a quilt at each entry, in whole steps."""
        return self.change.steps(*self.near(quilt, entries))

    def influences(self, quilt: Quilt, entries: IntArray, pairs: IntArray | None = None) -> FloatArray:
        """Bound e over pairs for a quilt at each entry."""
        result = np.zeros(len(entries))
        before = self.near(quilt, entries)[0] > 0
        if quilt.right is None:
            after = np.zeros(len(entries), bool)
        else:
            after = entries + quilt.right < self.length
        for has_left in (False, True):
            for has_right in (False, True):
                of_kind = (before == has_left) & (after == has_right)
                if not (has_left or has_right) or not of_kind.any():
                    continue
                left, right = quilt.left if has_left else None, quilt.right if has_right else None
                if has_left and quilt.anchor is not None:
                    result[of_kind] = self.influence.anchored(entries[of_kind], quilt.anchor, right, pairs)
                else:
                    result[of_kind] = self.influence.largest(entries[of_kind], left, right, pairs)
        return np.maximum(result, 0.0)

    def farthest_useful(self, entry: int, most: float) -> int:
        """Return the largest distance of a node with little change."""
        changes, steps = self.change.each, most / self.change.step
        at, behind = changes.sum_before(np.array([entry, entry + 1])).tolist()
        before = entry - changes.first_above(at - steps) + 1
        after = changes.first_above(behind + steps, or_at=True) - entry - 1
        return max(1, min(before, entry), min(after, self.length - 1 - entry))

    def grow(self, farthest: int, useful: int) -> int:
        """Return the next distance to search, its influences filled in."""
        distance = min(useful, 2 * farthest)
        if distance <= farthest:
            return farthest
        self.influence.extend(distance)
        return max(farthest, min(distance, self.influence.reach))


def _with_none(rows: FloatArray, alive: BoolArray) -> FloatArray:
    """Append the choice of no node; select the entry's possible pairs."""
    table = np.concatenate([rows, np.zeros((1, len(alive)))])
    return table if alive.all() else table[:, alive]


def worst_pair(sides: ChainSides, entry: int, quilt: Quilt) -> int:
    """Return the ordered pair best told apart by a quilt's nodes."""
    alive = np.flatnonzero(sides.influence.alive(entry))
    total = np.zeros(len(alive))
    before = quilt.before(entry)
    if before is not None:
        total = total + sides.influence.left(entry, before)[-1][alive]
    if quilt.right is not None and entry + quilt.right < sides.length:
        total = total + sides.influence.right(quilt.right, entry)[-1][alive]
    return int(alive[np.argmax(total)])


def quilt_witness(
    part: Part, sides: ChainSides, entry: int, quilt: Quilt, pair: int, numbers: tuple[tuple[str, float], ...]
) -> Witness:
    """Return the comparison at an entry and its protecting quilt."""
    pairs = sides.influence.pairs
    if pairs is None:
        comparison = f"any two values of step {part.start + entry}"
    else:
        comparison = compared(part.belief, entry, pairs[pair], part.start).label
    return Witness(comparison, quilt_words(quilt, entry, sides.length, part.start), numbers)


def quilt_words(quilt: Quilt, entry: int, length: int, start: int = 0) -> str:
    """Describe the entries of the quilt and the near ones.

    >>> quilt_words(Quilt(2, 3), 10, 100)
    'quilt: steps 8 and 13; near set: steps 9 to 12'
    """
    low, high, nodes = 0, length - 1, []
    before = quilt.before(entry)
    if before is not None:
        low = entry - before + 1
        nodes.append(start + entry - before)
    if quilt.right is not None and entry + quilt.right < length:
        high = entry + quilt.right - 1
        nodes.append(start + entry + quilt.right)
    if low < high:
        near = f"near set: steps {start + low} to {start + high}"
    else:
        near = f"near set: step {start + low}"
    if not nodes:
        return f"trivial quilt; {near}"
    if len(nodes) == 1:
        return f"quilt: step {nodes[0]}; {near}"
    return f"quilt: steps {nodes[0]} and {nodes[1]}; {near}"


#: Sequences that are tried have about so many entries, and so many times more where quilts reach too far.
FIRST, LONGER = 2**12, 8


@dataclass(frozen=True, eq=False)
class Shorter:
    """The first entries, all secret, standing for a longer sequence."""

    sides: ChainSides
    family: Family
    longer: int

    def stands_for_longer(self, most: float) -> bool:
        """Whether entries needing `most` steps need them in the longer sequence."""
        influence, far, settled = self.sides.influence, self.sides.length // 4, 0
        if isinstance(influence, ChainInfluence):
            if influence.settled is None:
                return False
            settled = max(influence.settled, influence.supports.first, _period(self.sides))
        return settled <= far and int(self.sides.change.each.values[0]) * far > most

    def in_longer(self, entry: int) -> int:
        """Return the longer sequence's entry like one of this."""
        more, far = self.longer - self.sides.length, self.sides.length // 4
        if entry < far:
            return entry
        if entry < self.sides.length - far:
            return entry + more // 2
        return entry + more


def shorter(sides: ChainSides, family: Family) -> Iterator[Shorter]:
    """Yield ever longer substitutes for a sequence of like entries."""
    changes = sides.change.each
    is_even = len(changes.values) == 1 and changes.values[0] > 0 and not sides.change.is_blocked
    if not is_even or family.entries != range(sides.length):
        return
    size, step = FIRST, 2 * _period(sides)
    while 2 * size <= sides.length:
        length = size + (sides.length - size) % step
        change = RunningChange(Runs.alike(int(changes.values[0]), length), sides.change.unit)
        yield Shorter(replace(sides, change=change), replace(family, entries=range(length)), sides.length)
        size *= LONGER


def entries_searched(length: int, changes: Runs, distance: float) -> float:
    """Predict the number of searched entries from useful quilts' reach."""
    if len(changes.values) > 1:
        return float(length)
    return min(length, FIRST + 4 * LONGER * distance)


def _period(sides: ChainSides) -> int:
    influence = sides.influence
    if not isinstance(influence, ChainInfluence):
        return 1
    supports = influence.supports
    return math.lcm(influence.period, len(supports.patterns) - supports.first)
