"""The worst secret entry of a network by a best-first search, and the quilts of one entry in small batches.

What can do better: D(N) is at least what the entry itself adds, and e(Q) at least that of every part of Q, because
fewer variables tell no more; clusters that are independent given the entry add up.

Every entry holds the best quilts that it has found, the trivial one to begin with, and an iterator over those that it
has not tried. The entry whose best is the largest always goes next. Once that one has tried everything its best is the
answer, because no other entry is above it, and no entry can be above what it has found. For the same reason the search
may be ended at any moment: the largest of what was found is sound, and never below the answer.
"""

from __future__ import annotations

import heapq
import itertools
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from takifugu.analysis.bounds import Cost
from takifugu.analysis.problem import Part
from takifugu.analysis.questions.influence import Quilts, Search, Worst
from takifugu.core import searches
from takifugu.core.arrays import FloatArray
from takifugu.influence.quilts.network import candidates as family
from takifugu.influence.quilts.network.best import Best, trivial_scales
from takifugu.influence.quilts.network.candidates import Candidate, count_quilts, network_of, share, witness
from takifugu.influence.quilts.network.influence import influences_of
from takifugu.influence.quilts.network.near import NearSets
from takifugu.model.beliefs.networks.network import BayesianNetwork

#: Quilts of one size are looked at this many at a time, or fewer: at most so many numbers are held for them.
AT_ONCE, HELD = 2_000, 2**18


class Tries:
    """The quilts to try for an entry, about `most` of each size."""

    def __init__(self, network: BayesianNetwork, near: NearSets, best: Best, most: int) -> None:
        self._network, self._near, self._best, self._most = network, near, best, most
        self._entry = best.costliest.entry
        self._alone = near.alone(self._entry)
        self._influences = influences_of(network)
        self._rows, self._columns = map(np.array, zip(*best.pairs, strict=True))

    def batches(self) -> Iterator[int]:
        """Try layers, then growing sets among the nearest; yield counts."""
        nearest: list[int] = []
        for layer in family.layers(self._network, self._entry):
            if len(nearest) < family.NEAREST:
                nearest += layer
            if self._network.size > family.ALL_SUBSETS:
                moved, needed = self._near.moved(self._entry, layer, self._best.below)
                is_wide = moved >= self._best.below
                if not is_wide:
                    self._try(needed, moved)
                yield 1
                if self._settled():
                    return
                if is_wide and len(nearest) >= family.NEAREST and self._influences.is_tree:
                    break  # near sets grow with the distance
        moved, _ = self._near.moved(self._entry, (), self._best.below)  # what depends on the entry at all
        if moved < self._best.below:
            self._best.take((), moved, np.zeros(len(self._rows)))
        for size, count in family.choices(self._network, len(nearest), self._most):
            yield from self._choose(nearest[:count], size)
            if self._settled():
                return

    def _settled(self) -> bool:
        """Return whether nothing can do better."""
        return self._alone >= self._best.below

    def _choose(self, nearest: Sequence[int], size: int) -> Iterator[int]:
        """Try all sets of a size, each batch's most promising first."""
        singles = np.array([self._of_cluster((v,)) for v in nearest])
        useful = np.flatnonzero(np.isfinite(self._best.hopes(self._alone, singles)))
        yield math.comb(len(nearest), size) - math.comb(len(useful), size)
        sets = itertools.combinations(useful.tolist(), size)
        while batch := list(itertools.islice(sets, min(AT_ONCE, 1 + HELD // singles.shape[1]))):
            floors = singles[np.array(batch)].max(axis=1)
            promising = []
            for number in np.flatnonzero(np.isfinite(self._best.hopes(self._alone, floors))).tolist():
                nodes = tuple(nearest[place] for place in batch[number])
                moved, needed = self._near.moved(self._entry, nodes, self._best.below)
                if moved < self._best.below and len(needed) == size:
                    promising.append((float(self._best.hopes(moved, floors[number])), number, moved, nodes))
            for hope, _, moved, nodes in sorted(promising):
                if math.isfinite(hope):
                    self._try(nodes, moved)
            yield len(batch)

    def _try(self, nodes: tuple[int, ...], moved: int) -> None:
        """Compute a quilt's influence, cluster by cluster, until it is no better than the best."""
        clusters = self._influences.clusters(self._entry, nodes)
        if not all(self._influences.fits(self._entry, cluster) for cluster in clusters):
            return
        influence = np.zeros(len(self._rows))
        for cluster in sorted(clusters, key=len):
            influence = influence + self._of_cluster(cluster)
            if np.isinf(self._best.hopes(moved, influence)):
                return
        self._best.take(nodes, moved, influence)

    def _of_cluster(self, cluster: tuple[int, ...]) -> FloatArray:
        table = self._influences.cluster(self._entry, cluster)
        return np.asarray(table[self._rows, self._columns])


#: Seconds that one quilt takes, roughly: most are left out before their influence is found.
PER_QUILT = 2e-5
#: Operations that one quilt takes: its near set, and the influence of its clusters.
COST_OF_A_QUILT = 1e4
#: In networks of more nodes that are no forests a quilt's laws take most of the time: for each node of the network so
#: many operations, and about one quilt in twelve is looked at.
MANY_NODES, COST_OF_A_NODE = 100, 1e3


@dataclass(frozen=True, eq=False)
class NetworkSearch(Search):
    """Quilts of a network, with exact influence."""

    def cost(self, epsilon: Fraction) -> Cost:
        network, cost = network_of(self.part), COST_OF_A_QUILT
        is_forest = all(len(above) <= 1 for above in network.parents)
        if network.size > MANY_NODES and not is_forest:
            cost += COST_OF_A_NODE * network.size
        return Cost(cost * count_quilts(self.part))

    def worst(self, epsilon: Fraction) -> Worst:
        # The largest over entries of the least D(N)/(epsilon - e(Q)), e(Q) over all pairs (errata E14).
        steps = self.part.answer.entry_changes().tolist()
        near, entries = NearSets(network_of(self.part), steps), trivial_scales(self.part, sum(steps), epsilon, epsilon)
        quilt, note = search_quilts(self.part, near, entries)
        numbers = (("influence", quilt.influence), ("D", float(quilt.steps)))
        return Worst(Fraction(quilt.value), lambda: witness(self.part, quilt, numbers), note)


def search_quilts(part: Part, near: NearSets, entries: Sequence[Best]) -> tuple[Candidate, str]:
    """Return the worst entry's best, and a note of an early end; the currently worst entry goes next."""
    most = count_quilts(part)
    tries = [Tries(network_of(part), near, best, share(part)).batches() for best in entries]
    waiting: list[tuple[Fraction | float, bool, int]] = [(-math.inf, True, number) for number in range(len(tries))]
    with searches.running(len(entries), most, most * PER_QUILT) as search:
        while waiting[0][1]:
            number = waiting[0][2]
            dealt = next(tries[number], None)
            heapq.heapreplace(waiting, (-entries[number].costliest.value, dealt is not None, number))
            search.tell(dealt or 0)
    return max((best.costliest for best in entries), key=lambda quilt: quilt.value), search.note


NETWORK = Quilts(exact=NetworkSearch)
