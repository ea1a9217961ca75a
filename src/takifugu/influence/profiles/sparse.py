"""The supremum over a cone of many states: a simplex method over trees of the few pairs that no third state implies.

K(rho) of a closed rho is given by the pairs with rho(u, v) < rho(u, w) + rho(w, v) for all w: where rho is a sum over
variables these are changes of one variable. A tree of tight pairs is a vertex phi. Where the flow along a pair is
negative, phi becomes better as the pair loosens, until another pair is tight: the next tree. So phi stays in the cone,
and its ratio rises. What is returned is proved by flows alone (`proved`), whatever the search did; it counts as the
supremum if a phi of the cone attains it. Source: Theorem 13 of docs/theory/influence.md.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from takifugu.core.arrays import FloatArray, IntArray
from takifugu.influence.profiles.rays import star_rays, tree_paths
from takifugu.numbers.outward_rounding import UNIT, closed, up

#: States with rho(u, v) + rho(v, u) at most this are joined: the search could not tell them from equal ones.
ALIKE = 1e-9
#: A bound so close to a ratio that is attained counts as solved.
SOLVED = 1e-9
#: What is added to rho while the search goes on, differently for each pair, so that no two trees are alike.
APART = 1e-11
#: Flow above minus this share of what flows on its side counts as not negative.
BACKWARD = 1e-11
#: Trees for each state, after which the search ends with what the last one proves.
PIVOTS = 20
#: Covers what floats lose to underflow: far below all that is weighed, e^-600 of it.
LEAST = 1e-300


@dataclass(frozen=True, eq=False)
class Cone:
    """K(rho) of a closed rho without equal states, and the pairs among which trees are searched."""

    ratio: FloatArray
    pairs: tuple[IntArray, IntArray]

    @cached_property
    def apart(self) -> FloatArray:
        """Return a slightly larger rho of the pairs, inf elsewhere."""
        first, second = self.pairs
        shares = np.modf((first * len(self.ratio) + second + 1) * 0.6180339887498949)[0]
        apart = np.full_like(self.ratio, np.inf)
        apart[first, second] = self.ratio[first, second] + APART * (0.5 + shares)
        return apart


def not_implied(ratio: FloatArray) -> tuple[IntArray, IntArray]:
    """Return the pairs that no third state implies."""
    first, second = np.nonzero(~np.eye(len(ratio), dtype=bool))
    for middle in range(len(ratio)):
        through = ratio[first, middle] + ratio[middle, second]
        is_end = (first == middle) | (second == middle)
        is_needed = is_end | (ratio[first, second] < through * (1 - 1e-14))
        first, second = first[is_needed], second[is_needed]
    return first, second


def joined_states(rows: FloatArray, ratio: FloatArray) -> tuple[FloatArray, FloatArray, float]:
    """Join states that are nearly equal; return rows, a lower rho, and how much lower it is at most."""
    alike = ratio + ratio.T <= ALIKE
    if alike.sum() == len(ratio):
        return rows, ratio, 0.0
    lower = closed(np.where(alike, 0.0, ratio))
    first_alike = (lower + lower.T <= LEAST).argmax(axis=1)  # sums of zeros are rounded up, too
    states, place = np.unique(first_alike, return_inverse=True)
    sums = np.zeros((len(states), len(rows)))
    np.add.at(sums, place, rows.T)
    lowered = float((ratio - lower[np.ix_(first_alike, first_alike)]).max())
    if lowered:
        lowered = float(up(lowered + 4 * len(ratio) * UNIT * ratio.max()))
    return sums.T, lower[np.ix_(states, states)], lowered


@dataclass(eq=False)
class Tree:
    """Tight pairs (k - 1, 2) that join all states, and paths (k, k - 1): log phi = paths @ rho along the pairs."""

    edges: IntArray
    paths: FloatArray
    root: int  # the one state without a path

    @staticmethod
    def of(edges: IntArray) -> Tree:
        """Return a tree by its pairs."""
        return Tree(edges, tree_paths(edges[None])[0], 0)

    def exponents(self, ratio: FloatArray) -> FloatArray:
        """Return log phi, at most 0, for this rho."""
        logs = self.paths @ ratio[self.edges[:, 0], self.edges[:, 1]]
        return np.asarray(logs - logs.max())

    def rooted(self, root: int) -> None:
        """Count paths from another root: best from the heaviest state, as small flows are then sums of few numbers."""
        if root != self.root:
            self.paths -= self.paths[root]
            self.root = root

    def first_side(self, edge: int) -> np.ndarray:
        """Return which states are on the side of a pair's first state."""
        along = self.paths[:, edge]
        return np.asarray(along - along[self.edges[edge, 1]] > 0.5)

    def exchange(self, edge: int, first: int, second: int) -> None:
        """Put another pair, between the sides of one, in its place."""
        around = self.paths[first] - self.paths[second]
        turn = around[edge]
        around[edge] -= 1
        columns, rows = np.flatnonzero(around), np.flatnonzero(self.paths[:, edge])
        self.paths[np.ix_(rows, columns)] -= np.outer(self.paths[rows, edge], around[columns] / turn)
        self.edges[edge] = first, second


def star(p: FloatArray, q: FloatArray, cone: Cone) -> Tree:
    """Return the best of the rays e^rho(., v) and e^-rho(v, .) as a tree of shortest paths."""
    from scipy.sparse import csr_array
    from scipy.sparse.csgraph import dijkstra

    states, rays = len(cone.ratio), star_rays(cone.ratio)
    best = int((np.log(p @ rays) - np.log(q @ rays)).argmax())
    first, second = cone.pairs
    ends = np.array([second, first] if best < states else [first, second], dtype=np.int32)  # as SciPy wants them
    lengths = csr_array((cone.apart[first, second], tuple(ends)), shape=cone.ratio.shape)
    _, before = dijkstra(lengths, indices=best % states, return_predecessors=True)
    others = np.delete(np.arange(states), best % states)
    edges = [others, before[others]] if best < states else [before[others], others]
    return Tree.of(np.stack(edges, axis=1).astype(np.int64))


def best_tree(p: FloatArray, q: FloatArray, cone: Cone, start: Tree | None = None) -> Tree:
    """Return a tree whose phi is the best, nearly; the search starts at `start` where that is in the cone."""
    first, second = cone.pairs
    apart = cone.apart[first, second]
    tree = start if start is not None and _is_inside(start, cone) else star(p, q, cone)
    x = tree.exponents(cone.apart)
    for pivot in range(PIVOTS * len(p)):
        phi = np.exp(x)
        weights = phi * q
        supplies = phi * p - float(p @ phi / weights.sum()) * weights
        tree.rooted(int(weights.argmax()))
        leaving = _leaving(tree, supplies)
        if leaving is None:
            break
        falls = tree.first_side(leaving)
        crossing = np.flatnonzero(falls[second] & ~falls[first])  # some: all pairs together lead from any state to any
        slack = apart[crossing] - x[first[crossing]] + x[second[crossing]]
        nearest = int(slack.argmin())
        tree.exchange(leaving, int(first[crossing[nearest]]), int(second[crossing[nearest]]))
        if pivot % 64 == 63:  # rounding does not add up
            x = tree.exponents(cone.apart)
        else:
            x[falls] -= max(slack[nearest], 0.0)
            x -= x.max()
    return tree


def _is_inside(tree: Tree, cone: Cone) -> bool:
    first, second = cone.pairs
    if len(tree.paths) != len(cone.ratio) or not np.isfinite(cone.apart[tree.edges[:, 0], tree.edges[:, 1]]).all():
        return False
    x = tree.exponents(cone.apart)
    return bool((cone.apart[first, second] - x[first] + x[second] >= -APART / 100).all())


def _leaving(tree: Tree, supplies: FloatArray) -> int | None:
    """Return the pair of the most negative flow, at last relative to its side, or None."""
    flows, sizes = supplies @ tree.paths, np.abs(supplies)
    leaving = int(flows.argmin())
    if flows[leaving] < -1e-3 * sizes.sum():
        return leaving
    shares = flows / np.maximum(sizes @ np.abs(tree.paths), LEAST)
    leaving = int(shares.argmin())
    return leaving if shares[leaving] < -BACKWARD else None


def proved(tree: Tree, p: FloatArray, q: FloatArray, ratio: FloatArray) -> tuple[float, bool]:
    """Bound log p.phi / q.phi over the cone (Theorem 13), rounded up; say whether it is attained, nearly."""
    states, x = len(p), tree.exponents(ratio)
    phi = np.exp(x)
    value = float(p @ phi) / float(q @ phi)
    reach = (np.exp(-ratio) @ q * (1 - (states + 8) * UNIT) * phi * (1 - 4 * UNIT)).tolist()
    needs = (phi * p * (1 + 8 * UNIT) + LEAST).tolist()
    takes = (value * (phi * q) * (1 - 8 * UNIT)).tolist()
    gains = np.exp(ratio[tree.edges[:, 0], tree.edges[:, 1]]) * (phi[tree.edges[:, 1]] / phi[tree.edges[:, 0]])
    excess, gains = 0.0, (gains * (1 + 16 * UNIT)).tolist()
    # From the leaves to the heaviest state each pair carries what its state lacks or can take, in units of 1 / phi.
    for state, edge, towards, is_first in _from_leaves(tree, int((phi * q).argmax())):
        lack = needs[state] - takes[state] + 8 * UNIT * (needs[state] + takes[state])
        if lack > 0 and is_first:
            needs[towards] = (needs[towards] + lack * gains[edge]) * (1 + 4 * UNIT)
        elif lack > 0:
            excess += lack / reach[state] if reach[state] else math.inf
        elif not is_first and towards >= 0:
            takes[towards] = (takes[towards] - lack / gains[edge]) * (1 - 8 * UNIT)
    bound = value + excess * (1 + (states + 16) * UNIT)
    inside = np.exp((ratio + x).min(axis=1))
    attained = float(p @ inside) / float(q @ inside)
    return float(up(math.log(bound) * (1 + 4 * UNIT) + 16 * UNIT)), bound <= attained * (1 + SOLVED)


def _from_leaves(tree: Tree, root: int) -> list[tuple[int, int, int, bool]]:
    """Return all states, leaves first: (state, its pair, the state towards the root, whether it is the first)."""
    near: list[list[tuple[int, int, bool]]] = [[] for _ in range(len(tree.paths))]
    for edge, (first, second) in enumerate(tree.edges.tolist()):
        near[first].append((second, edge, False))
        near[second].append((first, edge, True))
    order = [(root, -1, -1, False)]
    for state, _, towards, _ in order:
        order += [(other, edge, state, is_first) for other, edge, is_first in near[state] if other != towards]
    return order[::-1]


@dataclass(frozen=True, eq=False)
class SparsePrograms:
    """One program for each ordered pair of rows, with its last tree; `pairs` are the last ones by number of states."""

    trees: dict[tuple[int, int], Tree] = field(default_factory=dict)
    pairs: dict[int, tuple[IntArray, IntArray]] = field(default_factory=dict)

    def bound(self, rows: FloatArray, ratio: FloatArray, compared: IntArray) -> tuple[FloatArray, np.ndarray]:
        """Return bounds on log p.phi / q.phi of some pairs (n, 2) of rows, and which are the suprema, nearly."""
        joined, lower, lowered = joined_states(rows, ratio)
        bounds, solved, states = np.zeros(len(compared)), np.ones(len(compared), dtype=bool), len(lower)
        if states > 1:
            if states in self.pairs:  # those of the last rho mostly serve: what is attained needs no others
                bounds, solved = self._by_trees(joined, lower, compared)
            if states not in self.pairs or not solved.all():
                self.pairs[states] = not_implied(lower)
                bounds, solved = self._by_trees(joined, lower, compared)
        if states < len(ratio):
            bounds = up(bounds + lowered + 2 * (len(ratio) + 4) * UNIT)
        return bounds, solved

    def _by_trees(self, rows: FloatArray, ratio: FloatArray, compared: IntArray) -> tuple[FloatArray, np.ndarray]:
        cone = Cone(ratio, self.pairs[len(ratio)])
        bounds, solved = np.zeros(len(compared)), np.zeros(len(compared), dtype=bool)
        for place, (a, b) in enumerate(compared.tolist()):
            tree = self.trees[a, b] = best_tree(rows[a], rows[b], cone, self.trees.get((a, b)))
            bounds[place], solved[place] = proved(tree, rows[a], rows[b], ratio)
        return bounds, solved
