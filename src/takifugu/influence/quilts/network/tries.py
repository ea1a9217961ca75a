"""The quilts of one entry, tried in small batches as far as they can do better.

What can do better: D(N) is at least what the entry itself adds, and e(Q) at least that of every part of Q, because
fewer variables tell no more; clusters that are independent given the entry add up.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Sequence

import numpy as np

from takifugu.core.arrays import FloatArray
from takifugu.core.lists import take
from takifugu.influence.quilts.network import candidates as family
from takifugu.influence.quilts.network.best import Best
from takifugu.influence.quilts.network.influence import influences_of
from takifugu.influence.quilts.network.near import NearSets, TreeSets
from takifugu.model.beliefs.networks.network import BayesianNetwork

#: Quilts of one size are looked at this many at a time, or fewer: at most so many numbers are held for them.
AT_ONCE, HELD = 2_000, 2**18
#: The influence of clusters of so few nodes is found without asking for that of each node before.
SMALL = 3


class Tries:
    """The quilts to try for an entry, about `most` of each size."""

    def __init__(self, network: BayesianNetwork, near: NearSets, best: Best, most: int) -> None:
        self._network, self._near, self._best, self._most = network, near, best, most
        self._entry = best.costliest.entry
        self._entry_change = near.entry_change(self._entry)
        self._influences = influences_of(network)
        self._rows, self._columns = map(np.array, zip(*best.pairs, strict=True))

    def batches(self) -> Iterator[int]:
        """Try layers, then growing sets among the nearest; yield counts."""
        nearest: list[int] = []
        for layer in family.layers(self._network, self._entry):
            if len(nearest) < family.NEAREST:
                nearest += layer
            if self._network.size > family.ALL_SUBSETS:
                nodes, moved_by_layer = self._near.trimmed(self._entry, layer)
                wide = moved_by_layer >= self._best.below
                if not wide:
                    self._try(nodes, moved_by_layer)
                yield 1
                if self._settled():
                    return
                if wide and len(nearest) >= family.NEAREST and isinstance(self._near, TreeSets):
                    break  # near sets grow with the distance
        moved = self._near.moved(self._entry, (), self._best.below)  # what depends on the entry at all
        if moved is not None:
            self._try((), moved)
        for size, count in family.choices(self._network, len(nearest), self._most):
            yield from self._choose(nearest[:count], size)
            if self._settled():
                return

    def _settled(self) -> bool:
        """Return whether nothing can do better."""
        return self._entry_change >= self._best.below

    def _choose(self, nearest: Sequence[int], size: int) -> Iterator[int]:
        """Try all sets of a size, each batch's most promising first."""
        singles = np.array([self._influence((v,)) for v in nearest])
        useful = np.flatnonzero(np.isfinite(self._best.hopes(self._entry_change, singles)))
        yield math.comb(len(nearest), size) - math.comb(len(useful), size)
        sets = itertools.combinations(useful.tolist(), size)
        while batch := list(itertools.islice(sets, min(AT_ONCE, 1 + HELD // singles.shape[1]))):
            floors = singles[np.array(batch)].max(axis=1)
            promising = []
            for number in np.flatnonzero(np.isfinite(self._best.hopes(self._entry_change, floors))).tolist():
                nodes = take(nearest, batch[number])
                moved = self._near.moved(self._entry, nodes, self._best.below)
                if moved is not None:
                    hope = float(self._best.hopes(moved, floors[number]))
                    promising.append((hope, number, moved, nodes))
            for hope, _, moved, nodes in sorted(promising):
                if math.isfinite(hope):
                    self._try(nodes, moved, by_parts=True)
            yield len(batch)

    def _try(self, nodes: Sequence[int], moved: int, by_parts: bool = False) -> None:
        """Compute a quilt's influence until it is no better than the best.

        Clusters follow one by one, or first parts of three. Other quilts of a search by size share those parts, so that
        finding them is no loss.
        """
        clusters = self._influences.clusters(self._entry, nodes)
        if not all(self._influences.fits(self._entry, cluster) for cluster in clusters):
            return
        floors = []
        for cluster in clusters:  # of a small one what is known of single nodes
            floor = np.zeros(len(self._rows))
            for v in cluster:
                if len(cluster) > SMALL or self._influences.knows(self._entry, (v,)):
                    floor = np.maximum(floor, self._of_cluster((v,)))
            floors.append(floor)
        for number, cluster in enumerate(clusters):
            for parts in (itertools.combinations(cluster, 2) if by_parts and len(cluster) == 3 else ()):
                if self._hopeless(moved, floors):
                    return
                floors[number] = np.maximum(floors[number], self._influence(parts))
            if self._hopeless(moved, floors):
                return
            floors[number] = self._of_cluster(cluster)
        self._best.take(tuple(nodes), moved, self._sum(floors))

    def _hopeless(self, moved: int, floors: Sequence[FloatArray]) -> bool:
        return bool(np.isinf(self._best.hopes(moved, self._sum(floors))))

    def _influence(self, nodes: tuple[int, ...]) -> FloatArray:
        """Return the influence of some nodes for each pair."""
        return self._sum(list(map(self._of_cluster, self._influences.clusters(self._entry, nodes))))

    def _of_cluster(self, cluster: tuple[int, ...]) -> FloatArray:
        table = self._influences.cluster(self._entry, cluster)
        return np.asarray(table[self._rows, self._columns])

    def _sum(self, floors: Sequence[FloatArray]) -> FloatArray:
        return np.maximum(sum(floors, np.zeros(len(self._rows))), 0.0)
