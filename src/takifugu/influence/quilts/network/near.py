"""D(N) of many quilts of one network: how far the answer moves when only what a quilt leaves near an entry changes.

Nodes of a quilt that the entry does not reach (by an active path, given the quilt) are not needed. Without them the
influence is the same, because they are independent of the entry given the others; and nothing is near that was not
before, because no active path led through them. So in a family that holds every part of its quilts, nothing included,
only those matter whose nodes are all reached.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Sequence
from typing import Protocol

from takifugu.model.beliefs.networks.network import BayesianNetwork

#: More steps than any answer has: what a node adds that may not be near.
BLOCKED = 2**80


class NearSets(Protocol):
    """A network's near sets for a search, in steps of the answer."""

    def entry_change(self, entry: int) -> int:
        """Return D of the entry alone, the least of near sets."""
        ...

    def moved(self, entry: int, nodes: Sequence[int], below: float) -> int | None:
        """Return D(N) below a number, if every node is needed."""
        ...

    def trimmed(self, entry: int, nodes: Sequence[int]) -> tuple[tuple[int, ...], int]:
        """Return the needed nodes, and D(N)."""
        ...


def near_sets(network: BayesianNetwork, steps: Sequence[int]) -> NearSets:
    """Return the near sets of a network with steps by node."""
    if is_tree(network):
        return TreeSets(network, steps)
    return GraphSets(network, steps)


def is_tree(network: BayesianNetwork) -> bool:
    """Return whether every node except one root has one parent."""
    return sorted(map(len, network.parents[:2])) in ([0], [0, 1]) and set(map(len, network.parents[2:])) <= {1}


class GraphSets:
    """Near sets of any network by active paths, as bits of ints."""

    def __init__(self, network: BayesianNetwork, steps: Sequence[int]) -> None:
        self.steps = list(map(int, steps))
        self.parents = list(map(_bits, network.parents))
        self.children = list(map(_bits, network.children))
        self.lineage: list[int] = []  # a node and its ancestors; parents come first
        for v, above in enumerate(network.parents):
            self.lineage.append((1 << v) | _union([self.lineage[place] for place in above]))

    def entry_change(self, entry: int) -> int:
        return self.steps[entry]

    def moved(self, entry: int, nodes: Sequence[int], below: float) -> int | None:
        change, reached = self._walk(entry, nodes, below)
        return change if change < below and reached == _bits(nodes) else None

    def trimmed(self, entry: int, nodes: Sequence[int]) -> tuple[tuple[int, ...], int]:
        _, reached = self._walk(entry, nodes, float("inf"))
        needed = tuple(v for v in nodes if reached >> v & 1)
        return needed, self._walk(entry, needed, float("inf"))[0]

    def _walk(self, entry: int, nodes: Sequence[int], below: float) -> tuple[int, int]:
        """Return D(N) and the reached nodes, up to a number."""
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


class TreeSets:
    """Near sets of a tree, without the branches cut off by quilts."""

    def __init__(self, network: BayesianNetwork, steps: Sequence[int]) -> None:
        # Nodes are numbered as a walk from the top meets them: a branch is a run of numbers, a difference of two sums.
        size = network.size
        self.first, self.order = [0] * size, list[int]()
        stack = [0]  # parents come first
        while stack:
            v = stack.pop()
            self.first[v] = len(self.order)
            self.order.append(v)
            stack += network.children[v]
        below = [1] * size
        for v in reversed(range(size)):  # children come last
            for parent in network.parents[v]:
                below[parent] += below[v]
        self.end = [first + count for first, count in zip(self.first, below, strict=True)]
        self.branches = [sorted(map(self.first.__getitem__, children)) for children in network.children]
        self.sums = [0]
        for v in self.order:
            self.sums.append(self.sums[-1] + int(steps[v]))

    def entry_change(self, entry: int) -> int:
        at = self.first[entry]
        return self.sums[at + 1] - self.sums[at]

    def moved(self, entry: int, nodes: Sequence[int], below: float) -> int | None:
        change, runs = self._cut(entry, nodes)
        for number, (low, high, is_held) in enumerate(runs):
            for other, v in enumerate(nodes):
                if other != number and (low <= self.first[v] < high) != is_held:
                    return None
        return change if change < below else None

    def trimmed(self, entry: int, nodes: Sequence[int]) -> tuple[tuple[int, ...], int]:
        """Return all nodes of one distance, each needed, and D(N)."""
        return tuple(nodes), self._cut(entry, nodes)[0]

    def branch(self, entry: int, node: int) -> int:
        """Return an entry's child above a node, or the entry itself."""
        at = self.first[node]
        if not self.first[entry] < at < self.end[entry]:
            return entry
        starts = self.branches[entry]
        return self.order[starts[bisect_right(starts, at) - 1]]

    def _cut(self, entry: int, nodes: Sequence[int]) -> tuple[int, list[tuple[int, int, bool]]]:
        """Return the steps the nodes leave, and a run for each."""
        sums, runs = self.sums, []
        moved = everything = sums[-1]
        for v in nodes:
            branch = self.branch(v, entry)
            is_held = branch != v
            low, high = self.first[branch], self.end[branch]
            cut_off = sums[high] - sums[low]
            if is_held:
                cut_off = everything - cut_off
            moved -= cut_off
            runs.append((low, high, is_held))
        return moved, runs


def _bits(nodes: Sequence[int]) -> int:
    return _union(1 << v for v in nodes)


def _union(masks: Iterable[int]) -> int:
    union = 0
    for mask in masks:
        union |= mask
    return union
