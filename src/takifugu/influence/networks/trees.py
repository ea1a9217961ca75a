"""The losses of all entries of a tree at once: one message along each arc, both ways (Theorem 5, single variables).

The message from w to its neighbour v says how far the law of all beyond w moves what is published when X_v changes:
R(a, b) = S(P(w | v = a), P(w | v = b); c_w + all messages to w but v's). An entry loses c plus all messages to it.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from takifugu.core.arrays import FloatArray
from takifugu.core.cache import memoised
from takifugu.influence.networks.binary_trees import BinaryForest
from takifugu.influence.networks.conditionals import TRUSTED
from takifugu.influence.profiles.certified import Programs
from takifugu.influence.profiles.suprema import suprema
from takifugu.model.beliefs.networks.network import BayesianNetwork
from takifugu.numbers.outward_rounding import UNIT, sum_up


def is_forest(network: BayesianNetwork) -> bool:
    """Return whether no variable has two parents."""
    return all(len(above) <= 1 for above in network.parents)


def losses_on_tree(network: BayesianNetwork, tables: Sequence[FloatArray]) -> list[FloatArray]:
    """Return each entry's pairwise losses on a forest, shape (k, k).

    `tables` are c_t of all entries. Pairs with an impossible value have no meaning. Source: Theorem 5 of
    docs/theory/influence.md; on binary trees no function of the profile is smaller.

    >>> net = BayesianNetwork([("x", [0, 1], [], [0.8, 0.2]), ("y", [0, 1], ["x"], [[0.9, 0.1], [0.4, 0.6]])])
    >>> count = np.array([[0.0, 1.0], [1.0, 0.0]])
    >>> [round(float(loss[1, 0]), 6) for loss in losses_on_tree(net, [count, count])]
    [1.549948, 1.549948]
    """
    if all(table.shape == (2, 2) for table in tables):
        return _binary(network, tables)
    step = _Step()
    upward: list[FloatArray] = [np.zeros((0, 0))] * network.size  # from each entry to its parent
    below: list[FloatArray] = list(tables)  # c plus the messages of all children
    for v in reversed(range(network.size)):  # children before parents
        for parent in network.parents[v]:
            upward[v] = step(network.nodes[v].table, below[v], 2 * UNIT)
            below[parent] = sum_up(below[parent], upward[v])
    losses: list[FloatArray] = []
    marginals = _Marginals(network)
    from_parent: list[FloatArray] = list(map(np.zeros_like, tables))
    for u in range(network.size):  # parents before children
        children = network.children[u]
        message = sum_up(tables[u], from_parent[u])  # c, the parent's message, and those of the children before
        after = [np.zeros_like(message)]  # the messages of the children behind the last, the last two, ...
        for v in reversed(children[1:]):
            after.append(sum_up(after[-1], upward[v]))
        for v in children:
            ratio = sum_up(message, after.pop())
            rows, error = marginals.reversed(u, v)
            if error is None:
                from_parent[v] = ratio.max() * (1 - np.eye(len(rows)))
            else:
                from_parent[v] = step(rows, ratio, error)
            message = sum_up(message, upward[v])
        losses.append(message)
    return losses


def _binary(network: BayesianNetwork, tables: Sequence[FloatArray]) -> list[FloatArray]:
    pairs = {id(table): (float(table[0, 1]), float(table[1, 0])) for table in tables}
    losses = np.zeros((network.size, 2, 2))
    losses[:, (0, 1), (1, 0)] = _forest(network).losses([pairs[id(table)] for table in tables])
    return list(losses)


@memoised
def _forest(network: BayesianNetwork) -> BinaryForest:
    parents, rows = [], []
    for node, above in zip(network.nodes, network.parents, strict=True):
        parents.append(next(iter(above), None))
        first, second = node.table.tolist() if above else [node.table.tolist()] * 2
        rows.append((tuple(first), tuple(second)))
    return BinaryForest.of(parents, rows, list(map(network.possible, range(network.size))))


class _Marginals:
    """The law of each entry, how many roundings it has seen."""

    def __init__(self, network: BayesianNetwork) -> None:
        self.network = network
        self._laws: list[tuple[FloatArray, int]] = []
        for node, above in zip(network.nodes, network.parents, strict=True):
            law, units = self._laws[above[0]] if above else (np.ones(1), 0)
            table = node.table if above else node.table[None, :]
            self._laws.append((law @ table, units + len(law) + 1))

    def reversed(self, parent: int, child: int) -> tuple[FloatArray, float | None]:
        """Return P(parent | child) and its error, if no digits are lost."""
        law, units = self._laws[parent]
        table = self.network.nodes[child].table
        joint = (law[:, None] * table).T
        sums = joint.sum(axis=1)
        if joint.min() < TRUSTED:
            possible = np.array(self.network.possible(parent))[:, None] & (table > 0)
            if (joint.T[possible] < TRUSTED).any():
                return joint, None
            joint[sums <= 0], sums[sums <= 0] = joint[sums.argmax()], sums.max()
        return joint / sums[:, None], (2 * units + len(law) + 4) * UNIT


class _Step:
    """S of all pairs of rows; equal tables are computed once."""

    def __init__(self) -> None:
        self._known: dict[tuple[bytes, bytes, float, int], FloatArray] = {}
        self._programs: dict[tuple[int, int], Programs] = {}

    def __call__(self, rows: FloatArray, ratio: FloatArray, error: float) -> FloatArray:
        key = rows.tobytes(), ratio.tobytes(), error, len(rows)
        if key not in self._known:
            programs = self._programs.setdefault(rows.shape, Programs())
            self._known[key] = suprema(rows, ratio, error, programs)
        return self._known[key]

