"""D(N) of many quilts of one network: how far the answer moves when only what a quilt leaves near an entry changes.

Nodes of a quilt that the entry does not reach (by an active path, given the quilt) are not needed. Without them the
influence is the same, because they are independent of the entry given the others; and the near set is the same, because
no active path led through them. So in a family that holds every part of its quilts, nothing included, only those matter
whose nodes are all reached.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from functools import cache

from takifugu.model.beliefs.networks.network import BayesianNetwork

#: More steps than any answer has: what a node adds that may not be near.
BLOCKED = 2**80

#: D(N) of some entries together, in steps of the answer: monotone.
Change = Callable[[Iterable[int]], int]


class NearSets:
    """Near sets of a network by active paths, as bits of ints; each node adds its steps to D(N)."""

    def __init__(self, network: BayesianNetwork, steps: Sequence[int]) -> None:
        self.steps = list(map(int, steps))
        self.parents = list(map(_bits, network.parents))
        self.children = list(map(_bits, network.children))
        self.lineage: list[int] = []  # a node and its ancestors; parents come first
        for v, above in enumerate(network.parents):
            self.lineage.append((1 << v) | _union([self.lineage[place] for place in above]))

    def alone(self, entry: int) -> int:
        """Return D of the entry alone, the least of near sets."""
        return self.steps[entry]

    def moved(self, entry: int, nodes: Sequence[int], below: float) -> tuple[int, tuple[int, ...]]:
        """Return D(N) and the nodes that are needed, or some number that is not below."""
        change, reached = self._walk(entry, nodes, below)
        return change, tuple(v for v in nodes if reached >> v & 1)

    def _walk(self, entry: int, nodes: Sequence[int], below: float) -> tuple[int, int]:
        """Return the sum of steps and the reached nodes, up to a number."""
        observed, above = _bits(nodes), _union([self.lineage[node] for node in nodes])
        parents, children, steps = self.parents, self.children, self.steps
        moved = near = 0
        up, down = 1 << entry, 0  # nodes still to visit: arrived from a child, from a parent
        seen_up = seen_down = 0
        while up or down:
            if up:
                bit = up & -up
                seen_up |= bit
                up ^= bit
                if bit & observed:
                    continue
                v = bit.bit_length() - 1
                up |= parents[v] & ~seen_up
            else:
                bit = down & -down
                seen_down |= bit
                down ^= bit
                v = bit.bit_length() - 1
                if bit & above:
                    up |= parents[v] & ~seen_up
                if bit & observed:
                    continue
            down |= children[v] & ~seen_down
            if not bit & near:
                near |= bit
                moved += steps[v]
                if moved >= below:
                    break
        return moved, (seen_up | seen_down) & observed


class ColumnSets(NearSets):
    """The same with a D(N) that is no sum over N."""

    def __init__(self, network: BayesianNetwork, change: Change) -> None:
        # A column that moves nothing alone moves nothing with others: each read one has a bit, and a sum of bits is N.
        super().__init__(network, [bool(change((v,))) << v for v in range(network.size)])
        self._change = cache(lambda near: change([v for v in range(network.size) if near >> v & 1]))

    def alone(self, entry: int) -> int:
        return self._change(self.steps[entry])

    def moved(self, entry: int, nodes: Sequence[int], below: float) -> tuple[int, tuple[int, ...]]:
        near, needed = super().moved(entry, nodes, math.inf)
        return self._change(near), needed


def _bits(nodes: Iterable[int]) -> int:
    return _union(1 << v for v in nodes)


def _union(masks: Iterable[int]) -> int:
    union = 0
    for mask in masks:
        union |= mask
    return union
