"""A long sequence needs what a shorter one does, where each entry moves the answer alike and the chain forgets.

Theorem. Let every entry of a sequence of T move the answer by the same, and all be secret. Let influences depend on the
distance of the nodes alone from an entry h on, but for the phase of the entry, and T' = T modulo the period, 4h <= T'.
If every entry of the first T' has a quilt with both nodes at most h away (less those that fall outside), or before T'/2
with one after it at most h away, that requires at most s, so has every entry of T.

Proof. The entries before T'/2 are those of T, and so are their nodes; none after them falls outside of either. Those
from T - T'/2 on are the last ones of T', moved by T - T': their nodes are at or behind h in both. Any other is moved to
one of a period from T'/2 on with the same phase, where no node falls outside, and every node is at or behind h.

The worst entry of T' does not require less in T: nodes farther than h, and missing ones that were not missing before,
move the answer by h times as much as an entry, and where that alone requires more than s no such quilt is better.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace

from takifugu.influence.quilts.chain.influence import ChainInfluence
from takifugu.influence.quilts.chain.sides import ChainSides, Quilt
from takifugu.influence.quilts.near_sets import RunningChange
from takifugu.model.queries import IntArray
from takifugu.model.secrets.families import Family
from takifugu.numbers.runs import Runs

#: Sequences that are tried have about so many entries, and so many times more where quilts reach too far.
FIRST, LONGER = 2**12, 8


@dataclass(frozen=True, eq=False)
class Shorter:
    """The first entries of a longer sequence, all secret, which it may stand for."""

    sides: ChainSides
    family: Family
    longer: int

    def stands_for_longer(self, quilts: Iterable[tuple[Quilt, int]], most: float) -> bool:
        """Whether quilts that protect all entries, each up to a last one, do so in the longer sequence.

        Better ones would move the answer by less than `most` steps.
        """
        influence, far, settled = self.sides.influence, self.sides.length // 4, 0
        if isinstance(influence, ChainInfluence):
            if influence.settled is None:
                return False
            settled = max(influence.settled, influence.supports.first, _period(self.sides))
        is_near = all(
            0 < (quilt.right or 0) <= far
            and (last < self.sides.length // 2 or (quilt.anchor is None and 0 < (quilt.left or 0) <= far))
            for quilt, last in quilts
        )
        return is_near and settled <= far and float(self.sides.change.steps(_places(0), _places(far))[0]) > most

    def in_longer(self, entry: int) -> int:
        """Return the entry of the longer sequence that is like one of this: near the same end, or in the middle."""
        more, far = self.longer - self.sides.length, self.sides.length // 4
        return entry + (0 if entry < far else more // 2 if entry < self.sides.length - far else more)


def shorter(sides: ChainSides, family: Family) -> Iterator[Shorter]:
    """Yield sequences that may stand for one, each longer than the one before; none where entries are not alike."""
    each = sides.change.each
    is_even = len(each.values) == 1 and each.values[0] > 0 and not sides.change.is_blocked
    if not is_even or family.entries != range(sides.length):
        return
    size, step = FIRST, 2 * _period(sides)
    while 2 * size <= sides.length:
        length = size + (sides.length - size) % step
        change = RunningChange(Runs.alike(int(each.values[0]), length), sides.change.unit)
        yield Shorter(replace(sides, change=change), replace(family, entries=range(length)), sides.length)
        size *= LONGER


def entries_searched(length: int, changes: Runs, distance: float) -> float:
    """Predict how many entries a search looks at, where useful quilts reach so far."""
    return float(length) if len(changes.values) > 1 else min(length, FIRST + 4 * LONGER * distance)


def _period(sides: ChainSides) -> int:
    influence = sides.influence
    if not isinstance(influence, ChainInfluence):
        return 1
    supports = influence.supports
    return math.lcm(influence.period, len(supports.patterns) - supports.first)


def _places(place: int) -> IntArray:
    return Runs.alike(place, 1).values
