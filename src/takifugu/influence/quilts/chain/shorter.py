"""A long sequence needs what a shorter one does, where each entry moves the answer alike and the chain forgets.

Theorem. Let every entry of a sequence of T move the answer by the same c, and all be secret. Let influences depend on
the distance of the nodes alone from an entry h on, but for the phase of the entry; T' = T modulo the period, 4h <= T',
and the period at most h. If every entry of the first T' requires at most s, and s epsilon < ch, so does every one of T.

Proof: docs/theory/quilts.md, Theorem 4.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace

from takifugu.influence.quilts.chain.influence import ChainInfluence
from takifugu.influence.quilts.chain.sides import ChainSides
from takifugu.influence.quilts.near_sets import RunningChange
from takifugu.model.secrets.families import Family
from takifugu.numbers.runs import Runs

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
