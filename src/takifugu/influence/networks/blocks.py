"""Trees of bags around a secret entry: layers of the moral graph, orders of elimination, everything in one bag."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence

from takifugu.core.lists import places_of, take, with_keys
from takifugu.influence.networks.bags import Bag
from takifugu.model.beliefs.networks.elimination import elimination_order

Graph = Mapping[int, set[int]]


def reached(near: Graph, entry: int) -> dict[int, int]:
    """Return the distances of all variables joined with an entry.

    >>> reached({0: {1}, 1: {0, 2}, 2: {1}, 3: set()}, 1)
    {1: 0, 0: 1, 2: 1}
    """
    distance = {entry: 0}
    queue = [entry]
    for v in queue:
        for u in sorted(near[v]):
            if u not in distance:
                distance[u] = distance[v] + 1
                queue.append(u)
    return distance


def layered(near: Graph, entry: int) -> list[Bag]:
    """Return a tree of blocks of equal distance from an entry.

    >>> layered({0: {1, 2}, 1: {0, 3}, 2: {0, 3}, 3: {1, 2, 4}, 4: {3}, 5: set()}, 0)
    [Bag(variables=(4,), separator=(3,)), Bag(variables=(3,), separator=(1, 2)), Bag(variables=(1, 2), separator=(0,))]
    """
    distance = reached(near, entry)
    top = {v: v for v in distance}  # a member of its block, found by following

    def block(v: int) -> int:
        while top[v] != v:
            top[v] = top[top[v]]
            v = top[v]
        return v

    bags: list[Bag] = []
    by_distance: dict[int, list[int]] = {}
    for v, d in distance.items():
        by_distance.setdefault(d, []).append(v)
    below: list[list[int]] = []  # blocks one step farther
    for d in range(max(by_distance), 0, -1):
        layer = set(by_distance[d])
        for v in by_distance[d]:
            for u in near[v] & layer:
                top[block(u)] = block(v)
        for members in below:
            first, *further = sorted(_neighbours(near, members) & layer)
            for u in further:
                top[block(u)] = block(first)
        groups: dict[int, list[int]] = {}
        for v in by_distance[d]:
            groups.setdefault(block(v), []).append(v)
        for members in below:
            bags.append(_hung(near, members, layer))
        below = list(groups.values())
    return [*bags, *(_hung(near, members, {entry}) for members in below)]


def _hung(near: Graph, members: Sequence[int], above: set[int]) -> Bag:
    return Bag(tuple(sorted(members)), tuple(sorted(_neighbours(near, members) & above)))


def _neighbours(near: Graph, members: Sequence[int]) -> set[int]:
    return set().union(*(near[v] for v in members))


def eliminated(near: Graph, entry: int, order: Sequence[int], sizes: Mapping[int, int], most: int) -> list[Bag]:
    """Return the bags of an order of elimination.

    A bag that only hangs on the next is joined to it, up to `most` states.

    >>> eliminated({0: {1}, 1: {0, 2}, 2: {1}}, 0, [2, 1], {0: 2, 1: 2, 2: 2}, 16)
    [Bag(variables=(2,), separator=(1,)), Bag(variables=(1,), separator=(0,))]
    """
    left = {v: set(near[v]) for v in (*order, entry)}
    place = places_of([*order, entry])
    variables: dict[int, list[int]] = {}
    separators: dict[int, set[int]] = {}
    for v in order:
        around = left.pop(v)
        for u in around:
            left[u] |= around - {u}
            left[u].discard(v)
        variables[v], separators[v] = [v], around
    for v in order:
        above = min(separators[v], key=place.__getitem__, default=entry)
        if above != entry and separators[v] - {above} == separators[above] and len(variables[above]) == 1:
            joined = [*variables[v], *variables[above]]
            if math.prod(take(sizes, joined)) <= most:
                variables[above] = joined
                del variables[v], separators[v]
    return [Bag(tuple(sorted(variables[v])), tuple(sorted(separators[v]))) for v in order if v in variables]


def orders(near: Graph, entry: int, sizes: Mapping[int, int]) -> Iterator[list[int]]:
    """Yield orders of all other reached variables."""
    distance = reached(near, entry)
    arcs: list[tuple[int, int]] = []
    for v in distance:
        arcs += [(v, u) for u in near[v] if v < u]
    yield elimination_order(arcs, with_keys(sizes, distance), [entry])
    yield from by_place(near, entry)


def by_place(near: Graph, entry: int) -> Iterator[list[int]]:
    """Yield children before parents, the farthest first.

    >>> list(by_place({0: {1, 2}, 1: {0}, 2: {0, 3}, 3: {2}}, 0))
    [[3, 2, 1], [3, 2, 1]]
    """
    distance = reached(near, entry)
    variables = [v for v in distance if v != entry]
    yield sorted(variables, reverse=True)
    yield sorted(variables, key=lambda v: (-distance[v], -v))


def whole(near: Graph, entry: int) -> list[Bag]:
    """Return one bag of all reached variables: exact, if small."""
    variables = tuple(sorted(v for v in reached(near, entry) if v != entry))
    return [Bag(variables, (entry,))] if variables else []
