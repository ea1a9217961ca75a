"""The search for quilts of a network, entry by entry over a list of quilts, with nothing left out: slow and plain."""

import itertools
import math
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from tests.support.network_oracles import Law

Parents = Sequence[Sequence[int]]
Quilt = tuple[int, ...]


def near_set(parents: Parents, entry: int, quilt: Quilt) -> set[int]:
    """Return what is not d-separated from an entry: a path in the moral graph of the three's ancestors (Lauritzen)."""
    near = {entry}
    for v in set(range(len(parents))) - {entry, *quilt}:
        alive = _ancestors(parents, {entry, v, *quilt})
        edges: dict[int, set[int]] = {u: set() for u in alive}
        for child in alive:
            family = {child, *parents[child]}
            for u in family:
                edges[u] |= family - {u}
        reached, stack = {entry}, [entry]
        while stack:
            for u in edges[stack.pop()] - reached - set(quilt):
                reached.add(u)
                stack.append(u)
        if v in reached:
            near.add(v)
    return near


def needed_nodes(parents: Parents, entry: int, quilt: Quilt) -> Quilt:
    """Return the nodes of a quilt that are not d-separated from the entry given the other nodes."""
    return tuple(v for v in quilt if v in near_set(parents, entry, tuple(u for u in quilt if u != v)))


def _ancestors(parents: Parents, nodes: set[int]) -> set[int]:
    ancestors, stack = set(nodes), list(nodes)
    while stack:
        for p in parents[stack.pop()]:
            if p not in ancestors:
                ancestors.add(p)
                stack.append(p)
    return ancestors


def choices(
    law: Law, parents: Parents, sizes: Sequence[int], entry: int, family: Sequence[Quilt], steps: Sequence[int]
) -> Iterator[tuple[int, dict[tuple[int, int], float]]]:
    """Yield (D(N), e(Q) of each ordered pair) of the trivial quilt and of every quilt of a family."""
    joint = np.zeros(sizes)
    for x, mass in law.items():
        joint[x] = float(mass)
    prior = joint.sum(axis=tuple(v for v in range(len(sizes)) if v != entry))
    pairs = list(itertools.permutations(np.flatnonzero(prior).tolist(), 2))
    yield sum(steps), dict.fromkeys(pairs, 0.0)
    for quilt in family:
        moved = sum(steps[v] for v in near_set(parents, entry, quilt))
        table = joint.sum(axis=tuple(v for v in range(len(sizes)) if v not in (entry, *quilt)), keepdims=True)
        given = np.moveaxis(table, entry, 0).reshape(sizes[entry], -1) / prior[:, None]
        yield moved, {(a, b): _influence(given[a], given[b]) for a, b in pairs}


def _influence(p: Any, q: Any) -> float:
    """Return the largest log-ratio of two laws, infinite where only the first allows a value."""
    if ((p > 0) & (q == 0)).any():
        return math.inf
    return max(0.0, float(np.log(p[p > 0] / q[p > 0]).max()))


def scale(near_sets: Sequence[tuple[int, dict[Any, float]]], epsilon: float) -> float:
    """Return the least D(N)/(epsilon - e(Q)) of one entry."""
    best = math.inf
    for moved, influences in near_sets:
        room = epsilon - max(influences.values())
        if room > 0 or (room == 0 and moved == 0):
            best = min(best, moved / room if moved else 0.0)
    return best
