"""The extreme rays of the cone K(rho) for few states: all of them, by listing trees.

Constraints that are tight on an extreme ray connect all states, and after closure a tree of them can be chosen in which
each leads from a "top" to a "bottom": phi(u) = e^rho(u, v) phi(v) along an edge (u, v), u a top, v a bottom. So every
ray belongs to one of the spanning trees of the complete bipartite graphs on the states: 6 trees for three states, 32
for four, 250 for five, 2,592 for six. Trees whose phi leaves the cone are left out; one that leaves it by rounding
alone is kept, which can only raise the supremum.
"""

from __future__ import annotations

from functools import lru_cache
from itertools import combinations, product

import numpy as np

from takifugu.core.arrays import FloatArray, IntArray

#: Up to so many states all rays are listed.
MOST_STATES = 6
#: A ray that breaks a constraint by more than this, relative to the largest ratio, is none.
OUTSIDE = 1e-9
#: So many cones, or fewer, are tested at all states at once.
_FEW = 8


def extreme_rays(ratio: FloatArray) -> FloatArray:
    """Return vectors phi > 0 with every extreme ray of each cone, shape (..., k, rays)."""
    states, of_each = ratio.shape[-1], ratio.shape[:-2]
    edges, paths = bipartite_trees(states)
    cones = ratio.reshape(-1, states, states)
    along_trees = paths @ cones.reshape(-1, states * states).take(edges, axis=-1)[..., None]
    exponents, ratios, step = along_trees[..., 0].transpose(1, 2, 0), cones.transpose(1, 2, 0), states
    if len(cones) > _FEW:  # operations go along the cones, and most trees leave all of them by the first states
        exponents, ratios, step = np.ascontiguousarray(exponents), np.ascontiguousarray(ratios), 1
    least = -OUTSIDE * (1 + ratios.max(axis=(0, 1)))
    is_ray = np.ones((len(edges), len(cones)), dtype=bool)
    for u in range(0, states, step):
        slack = ratios[u : u + step] - (exponents[:, u : u + step, None] - exponents[:, None])
        is_ray &= slack.min(axis=(1, 2)) >= least
        of_some = is_ray.any(axis=-1)
        if not of_some.all():
            exponents, is_ray = exponents.compress(of_some, axis=0), is_ray.compress(of_some, axis=0)
    if not is_ray.all():  # of some cones, but not of all: in the others their first ray takes its place
        first = np.take_along_axis(exponents, is_ray.argmax(axis=0)[None, None], axis=0)
        exponents = np.where(is_ray[:, None], exponents, first)
    rays = np.exp(exponents - exponents.max(axis=1, keepdims=True))
    return np.ascontiguousarray(rays.T).reshape(*of_each, states, -1)


def star_rays(ratio: FloatArray) -> FloatArray:
    """Return the 2k rays e^rho(., v) and e^-rho(v, .), shape (k, 2k)."""
    return np.hstack([np.exp(ratio - ratio.max(axis=0)), np.exp(-ratio.T)])


@lru_cache(maxsize=MOST_STATES)
def bipartite_trees(states: int) -> tuple[IntArray, FloatArray]:
    """Return all trees' edges (trees, k - 1), (u, v) as k u + v, and paths (trees, k, k - 1)."""
    trees: list[tuple[tuple[int, int], ...]] = []
    for size in range(1, states):
        for tops in combinations(range(states), size):
            bottoms = [value for value in range(states) if value not in tops]
            for tree in combinations(product(tops, bottoms), states - 1):
                if _connects(tree, states):
                    trees.append(tree)
    edges = np.array(trees, dtype=np.int64)
    return edges @ np.array([states, 1]), tree_paths(edges)


def _connects(edges: tuple[tuple[int, int], ...], states: int) -> bool:
    """Whether so many edges, one fewer than states, connect all of them."""
    root: dict[int, int] = {}
    for u, v in edges:
        root.setdefault(u, u)
        root.setdefault(v, v)
    if len(root) < states:
        return False

    def top(state: int) -> int:
        while root[state] != state:
            state = root[state]
        return state

    for u, v in edges:
        first, second = top(u), top(v)
        if first == second:
            return False
        root[first] = second
    return True


def tree_paths(edges: IntArray) -> FloatArray:
    """Return the inverse incidence of trees, entries -1, 0, 1."""
    count, size, _ = edges.shape
    incidence = np.zeros((count, size, size + 1))
    numbers, edge = np.arange(count)[:, None], np.arange(size)[None, :]
    incidence[numbers, edge, edges[..., 0]] = 1.0
    incidence[numbers, edge, edges[..., 1]] = -1.0
    paths = np.zeros((count, size + 1, size))
    paths[:, 1:, :] = np.rint(np.linalg.inv(incidence[:, :, 1:]))
    return paths
