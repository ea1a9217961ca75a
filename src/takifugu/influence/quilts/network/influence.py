"""Max-influence on a Bayesian network: exact, by elimination, cluster by cluster (Song17 Definition 4.1).

Quilt nodes that are d-separated given X_i are independent given X_i (as sets: d-separation is closed under unions), so
log P(x_Q | a)/P(x_Q | b) is a sum over clusters of d-connected quilt nodes, and so is its maximum over x_Q. On a chain
the clusters are the two sides; on a tree the branches.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from functools import cached_property
from weakref import ref

import numpy as np

from takifugu.core.arrays import BoolArray, FloatArray
from takifugu.core.cache import memoised
from takifugu.core.errors import Unsupported
from takifugu.model.beliefs.networks.elimination import UNIT, Factor, eliminate, plan, support
from takifugu.model.beliefs.networks.network import BayesianNetwork
from takifugu.numbers.outward_rounding import NEVER, TRUSTED, largest_differences, log_bounds, log_rounding

#: Joint tables of a cluster beyond this many numbers are not made: the quilt counts as useless.
LARGEST_CLUSTER = 2e5
#: Numbers in joint tables that are kept, because every node of a table may be the entry.
MOST_CACHED = 1e7

_Law = tuple[FloatArray, BoolArray, float]


def influences(network: BayesianNetwork, entry: int, quilt: Iterable[int]) -> FloatArray:
    """Return e[a, b] >= max over x_Q of log P(X_Q = x_Q | X_i = a)/P(X_Q = x_Q | X_i = b), shape (k, k)."""
    # NEVER where x_Q is possible given a only, or tables are too large; rows of impossible values are meaningless.
    stored = influences_of(network)
    k = len(network.alphabet(entry))
    total = np.zeros((k, k))
    for cluster in stored.clusters(entry, quilt):
        total = total + stored.cluster(entry, cluster)
    return np.minimum(total, NEVER)


@memoised
def influences_of(network: BayesianNetwork) -> Influences:
    """Return a network's influences, with earlier results."""
    return Influences(network)


class Influences:
    """What clusters of nodes say about an entry, each found once; clusters are sorted tuples of nodes."""

    def __init__(self, network: BayesianNetwork) -> None:
        self._network = ref(network)  # kept with the network, so it must not keep it alive
        self._tables: dict[tuple[int, tuple[int, ...]], FloatArray] = {}
        self._laws: dict[tuple[int, ...], _Law | None] = {}
        self._cached_cells = 0
        self._joined: dict[tuple[int, int], frozenset[int]] = {}

    @property
    def network(self) -> BayesianNetwork:
        network = self._network()
        if network is None:
            raise ReferenceError("the network is gone")
        return network

    @cached_property
    def is_tree(self) -> bool:
        """Return whether every node except one root has one parent."""
        return list(map(len, self.network.parents)) == [0] + [1] * (self.network.size - 1)

    def clusters(self, entry: int, quilt: Iterable[int]) -> list[tuple[int, ...]]:
        """Return a quilt's nodes in conditionally independent groups."""
        left = set(quilt)
        if self.is_tree:
            branches: dict[int, list[int]] = {}
            for node in sorted(left):
                branches.setdefault(self._branch(entry, node), []).append(node)
            return list(map(tuple, branches.values()))
        groups = []
        while left:
            start = left.pop()
            group, stack = [start], [start]
            while stack:
                node = stack.pop()
                if (entry, node) not in self._joined:
                    self._joined[entry, node] = self.network.near_set(node, [entry])
                joined = self._joined[entry, node] & left
                left -= joined
                group += joined
                stack += joined
            groups.append(tuple(sorted(group)))
        return groups

    def _branch(self, entry: int, node: int) -> int:
        """Return an entry's child above a node of a tree, or the entry itself."""
        parents = self.network.parents
        while parents[node] and parents[node][0] > entry:  # parents come first
            node = parents[node][0]
        return node if parents[node] == (entry,) else entry

    def fits(self, entry: int, cluster: tuple[int, ...]) -> bool:
        """Return whether a cluster's joint table is small enough."""
        return math.prod(len(self.network.alphabet(v)) for v in (*cluster, entry)) <= LARGEST_CLUSTER

    def cluster(self, entry: int, cluster: tuple[int, ...]) -> FloatArray:
        """Return the table of `influences` of one cluster."""
        key = (entry, cluster)
        if key not in self._tables:
            self._tables[key] = self._computed(entry, cluster)
        return self._tables[key]

    def _computed(self, entry: int, cluster: tuple[int, ...]) -> FloatArray:
        k = len(self.network.alphabet(entry))
        nodes = tuple(sorted((*cluster, entry)))
        law = self._law(nodes)
        if law is None:
            return np.full((k, k), NEVER)
        table, possible, error = law
        cells = np.moveaxis(table, nodes.index(entry), -1).reshape(-1, k)
        positive = np.moveaxis(possible, nodes.index(entry), -1).reshape(-1, k)
        upper, lower = log_bounds(cells, positive)
        totals, is_possible = cells.sum(axis=0), np.asarray(positive.any(axis=0))
        tiny = is_possible & (totals < TRUSTED)
        totals = np.log(np.where(is_possible & ~tiny, totals, 1.0))
        raw = largest_differences(upper.T, lower.T)
        raw = np.where(tiny[:, None] & is_possible[None, :] | is_possible[:, None] & tiny[None, :], NEVER, raw)
        margin = 4 * error + log_rounding(upper, lower, totals)
        return np.where(raw >= NEVER / 2, NEVER, np.maximum(raw + totals[None, :] - totals[:, None], 0.0) + margin)

    def _law(self, nodes: tuple[int, ...]) -> _Law | None:
        """Return nodes' joint law, its possible cells, and its error."""
        if nodes not in self._laws:
            size = math.prod(len(self.network.alphabet(v)) for v in nodes)
            law = self._eliminated(nodes) if size <= LARGEST_CLUSTER else None
            if law is None or self._cached_cells + size <= MOST_CACHED:
                self._laws[nodes] = law
                self._cached_cells += size * (law is not None)
            return law
        return self._laws[nodes]

    def _eliminated(self, nodes: tuple[int, ...]) -> _Law | None:
        network = self.network
        if self.is_tree:
            return self._on_tree(nodes)
        if network.law_plan(nodes).largest > LARGEST_CLUSTER:
            return None
        try:
            table, error = network.law(nodes)
        except Unsupported:
            return None
        positive = table > 0
        if not positive.all():
            positive = network.support(nodes)
        return table, positive, error

    def _on_tree(self, nodes: tuple[int, ...]) -> _Law | None:
        """Return the same from the paths between the nodes alone."""
        network, within, tips = self.network, set(nodes), set(nodes)
        while len(tips) > 1:
            lowest = max(tips)  # it is above no other
            tips.discard(lowest)
            tips.add(network.parents[lowest][0])
            within.add(network.parents[lowest][0])
        (top,) = tips
        sizes = {v: len(network.alphabet(v)) for v in within}
        factors = [network.factors[v] for v in within if v != top]
        if plan([(top,), *(f.scope for f in factors)], sizes, nodes).largest > LARGEST_CLUSTER:
            return None
        marginal, units = self._marginals[top]
        table, error = eliminate([Factor((top,), marginal), *factors], sizes, nodes)
        positive = table > 0
        if not positive.all():
            can = np.array(network.possible(top), dtype=np.float64)
            positive = support([Factor((top,), can), *factors], sizes, nodes)
        return table, positive, error + 2 * UNIT * units

    @cached_property
    def _marginals(self) -> list[tuple[FloatArray, int]]:
        """Return each tree node's law, and its number of roundings."""
        marginals: list[tuple[FloatArray, int]] = []
        for node, above in zip(self.network.nodes, self.network.parents, strict=True):  # parents come first
            if above:
                law, units = marginals[above[0]]
                marginals.append((law @ node.table, units + len(law) + 1))
            else:
                marginals.append((node.table, 1))
        return marginals
