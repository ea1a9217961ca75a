"""The losses of all entries of a tree at once: one message along each arc, both ways (Theorem 5, single variables).

For two rows over two states the cone of rho has the two rays (1, e^rho(1, 0)) and (e^rho(0, 1), 1), so that S is in
closed form. Numbers instead of arrays: arrays of four numbers would take ten times as long.

The message from w to its neighbour v says how far the law of all beyond w moves what is published when X_v changes:
R(a, b) = S(P(w | v = a), P(w | v = b); c_w + all messages to w but v's). An entry loses c plus all messages to it.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TypeVar

import numpy as np

from takifugu.core.arrays import FloatArray
from takifugu.core.cache import memoised
from takifugu.influence.chains.two_states import Rows, step
from takifugu.influence.networks.conditionals import TRUSTED
from takifugu.influence.profiles.certified import Programs
from takifugu.influence.profiles.suprema import suprema
from takifugu.model.beliefs.networks.network import BayesianNetwork
from takifugu.numbers.outward_rounding import UNIT, sum_up

#: (R(0, 1), R(1, 0)) of a variable, or its two probabilities.
Pair = tuple[float, float]
Moved = TypeVar("Moved", Pair, FloatArray)
NONE: Pair = (0.0, 0.0)


def plus(first: Pair, second: Pair) -> Pair:
    """Return at least the sum of two messages."""
    if first == NONE:
        return second
    if second == NONE:
        return first
    return math.nextafter(first[0] + second[0], math.inf), math.nextafter(first[1] + second[1], math.inf)


def supremum(rows: Rows, ratio: Pair, error: float) -> Pair:
    """Return S of two rows, both ways, rounded up."""
    if ratio == NONE:
        return NONE
    rise, fall = step(rows, error, ratio[1], ratio[0])
    return fall, rise


@dataclass(frozen=True, eq=False)
class BinaryForest:
    """A forest of binary variables, parents before children, for any profile."""

    parents: list[int | None]
    children: list[list[int]]
    inward: list[Rows]  # P(variable | parent), two equal rows where there is none
    outward: list[Rows | None]  # P(parent | variable), None where digits may be lost
    errors: list[float]  # of the numbers of `outward`, relatively

    @staticmethod
    def of(parents: list[int | None], tables: list[Rows], possible: list[tuple[bool, ...]]) -> BinaryForest:
        """Return a forest from P(variable | parent) and the possible values."""
        children: list[list[int]] = [[] for _ in parents]
        laws: list[Pair] = []
        units, errors = [1] * len(parents), [0.0] * len(parents)
        outward: list[Rows | None] = [None] * len(parents)
        for v, (parent, ((p0, p1), (q0, q1))) in enumerate(zip(parents, tables, strict=True)):
            a, b = (1.0, 0.0) if parent is None else laws[parent]
            laws.append((a * p0 + b * q0, a * p1 + b * q1))
            if parent is not None:
                units[v] = units[parent] + 3
                errors[v] = (2 * units[parent] + 6) * UNIT
                outward[v] = reversed_rows(laws[parent], tables[v], possible[parent])
                children[parent].append(v)
        return BinaryForest(parents, children, tables, outward, errors)

    def losses(self, moves: Sequence[Pair]) -> list[Pair]:
        """Return each variable's losses of 0 against 1 and back."""

        def to_parent(v: int, ratio: Pair) -> Pair:
            return supremum(self.inward[v], ratio, 2 * UNIT)

        def to_child(v: int, ratio: Pair) -> Pair:
            rows = self.outward[v]
            return (max(ratio), max(ratio)) if rows is None else supremum(rows, ratio, self.errors[v])

        return passed(self.parents, self.children, moves, NONE, plus, to_parent, to_child)


def passed(
    parents: Sequence[int | None], children: Sequence[Sequence[int]], moves: Sequence[Moved], nothing: Moved,
    plus: Callable[[Moved, Moved], Moved], to_parent: Callable[[int, Moved], Moved],
    to_child: Callable[[int, Moved], Moved],
) -> list[Moved]:  # fmt: skip
    """Return c plus all messages to each variable of a forest, in which parents come before children."""
    upward, below = [nothing] * len(moves), list(moves)
    for v in reversed(range(len(moves))):
        parent = parents[v]
        if parent is not None:
            upward[v] = to_parent(v, below[v])
            below[parent] = plus(below[parent], upward[v])
    from_parent, losses = [nothing] * len(moves), []
    for u in range(len(moves)):
        message = plus(moves[u], from_parent[u])  # c, the parent's message, and those of the children before
        after = [nothing]  # the messages of the children behind the last, the last two, ...
        for v in children[u][:0:-1]:
            after.append(plus(after[-1], upward[v]))
        for v in children[u]:
            from_parent[v] = to_child(v, plus(message, after.pop()))
            message = plus(message, upward[v])
        losses.append(message)
    return losses


def reversed_rows(law: Pair, table: Rows, possible: tuple[bool, ...]) -> Rows | None:
    """Return P(parent | child), or None for lost digits."""
    rows: list[Pair] = []
    for value in (0, 1):
        joint = law[0] * table[0][value], law[1] * table[1][value]
        for u in (0, 1):
            if joint[u] < TRUSTED and possible[u] and table[u][value] > 0:
                return None
        total = joint[0] + joint[1]
        if total > 0:
            rows.append((joint[0] / total, joint[1] / total))
    return (rows[0], rows[-1]) if rows else None


def is_forest(network: BayesianNetwork) -> bool:
    """Return whether no variable has two parents."""
    return all(len(above) <= 1 for above in network.parents)


def losses_on_tree(network: BayesianNetwork, tables: Sequence[FloatArray]) -> list[FloatArray]:
    """Return each entry's pairwise losses on a forest, shape (k, k) (Theorem 5 of docs/theory/influence.md)."""
    # Pairs with an impossible value have no meaning. On binary trees no function of the profile is smaller.
    if all(table.shape == (2, 2) for table in tables):
        return _binary(network, tables)
    step, marginals = _Step(), _Marginals(network)
    parents = [next(iter(above), None) for above in network.parents]

    def to_parent(v: int, ratio: FloatArray) -> FloatArray:
        return step(network.nodes[v].table, ratio, 2 * UNIT)

    def to_child(v: int, ratio: FloatArray) -> FloatArray:
        rows, error = marginals.reversed(network.parents[v][0], v)
        return ratio.max() * (1 - np.eye(len(rows))) if error is None else step(rows, ratio, error)

    return passed(parents, network.children, tables, np.zeros((1, 1)), sum_up, to_parent, to_child)


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
