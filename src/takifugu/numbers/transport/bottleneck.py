"""The largest move between two laws, or two populations, made as small as possible (Kawamoto19 Definitions 5, 6).

A coupling of p and q is a law on pairs of values whose marginals are p and q: it moves p into q. A maximum flow in
integer masses decides whether some pairs suffice: exactly for exact masses, and floats count as the binary fractions
that they are, divided by their sum.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import product, starmap
from typing import Any

import numpy as np

from takifugu.core.errors import InputError
from takifugu.numbers.atoms import Array, Atom, as_numbers, tabulated, to_python
from takifugu.numbers.distributions.pmf import Pmf
from takifugu.numbers.rationals import both_in_common_unit
from takifugu.numbers.search import between, halved, next_to

Point = Hashable
Metric = Callable[[Hashable, Hashable], Atom]

#: Relative rounding that a metric computed in floats may show in the triangle inequality.
_ROUNDING = 2.0**-40


@dataclass(frozen=True)
class BottleneckPlan:
    """W-infinity of two laws in a metric, and its (from, to, mass)."""

    distance: Atom
    moves: tuple[tuple[Point, Point, Fraction], ...]


def bottleneck(
    left: Sequence[Point], p: Sequence[Atom] | Array, right: Sequence[Point], q: Sequence[Atom] | Array, metric: Metric
) -> BottleneckPlan:
    """Return the least longest move of a plan, and the plan (Song17 Definition 3.1 in a metric space)."""
    # Flows in integer masses decide ties exactly: never an LP solver's plan (docs/decisions.md#numbers, errata E13).
    x, a = _masses(left, p, "left")
    y, b = _masses(right, q, "right")
    distance, moves = _least(x, a, y, b, checked_distances(x, y, metric))
    return BottleneckPlan(to_python(distance), tuple(moves))


def _least(
    x: list[Hashable], a: list[Fraction], y: list[Hashable], b: list[Fraction], costs: Array
) -> tuple[Atom, list[tuple[Hashable, Hashable, Fraction]]]:
    """Return the least cost up to which moves take masses a at x to b at y, and the moves."""
    supply, demand, total = both_in_common_unit(a, b)
    levels, flows = np.unique(costs), dict[int, list[list[int]]]()

    def moves_all(number: int) -> bool:
        flows[number] = max_flow(supply, demand, costs <= levels[number])
        return sum(map(sum, flows[number])) == total

    enough = halved(moves_all, len(levels), -1, next_to, between)  # with every pair allowed there is a plan
    moves = []
    for source, row in zip(x, flows[enough], strict=True):
        for sink, mass in zip(y, row, strict=True):
            if mass:
                moves.append((source, sink, Fraction(mass, total)))
    return levels[enough], moves


def normalised(masses: Iterable[Atom]) -> list[Fraction]:
    """Return masses as fractions of their sum."""
    exact = [Fraction(mass) for mass in masses]
    total = sum(exact)
    return [mass / total for mass in exact]


def max_flow(supply: Sequence[int], demand: Sequence[int], allowed: Array) -> list[list[int]]:
    """Return the largest flow from `supply` to `demand` along allowed pairs, in integers of any size (Dinic)."""
    # Shortest augmenting paths, layer by layer, forward along allowed pairs and back along pairs that carry flow.
    forward = [np.flatnonzero(row).tolist() for row in allowed]
    flow = [dict.fromkeys(row, 0) for row in forward]
    carriers: list[set[int]] = [set() for _ in demand]
    left, room = list(supply), list(demand)
    while True:
        depth, reached = _layers(left, room, forward, carriers)
        if not reached:
            rows = []
            for row in flow:
                rows.append([row.get(j, 0) for j in range(len(demand))])
            return rows
        cursor = [0] * len(left)
        for start in range(len(left)):
            while left[start]:
                path = _path(start, depth, cursor, forward, room, carriers)
                if path is None:
                    break
                _push(path, left, room, flow, carriers)


def _layers(
    left: list[int], room: list[int], forward: list[list[int]], carriers: list[set[int]]
) -> tuple[list[int], bool]:
    """Return each source's distance from a source with mass, and the room."""
    depth = [-1] * len(left)
    layer, reached = [i for i, mass in enumerate(left) if mass], [False] * len(room)
    for i in layer:
        depth[i] = 0
    while layer:
        following: list[int] = []
        has_room = False
        for i in layer:
            for j in forward[i]:
                if not reached[j]:
                    reached[j] = True
                    has_room = has_room or room[j] > 0
                    for k in carriers[j]:
                        if depth[k] < 0:
                            depth[k] = depth[i] + 1
                            following.append(k)
        if has_room:
            return depth, True
        layer = following
    return depth, False


def _path(
    start: int, depth: list[int], cursor: list[int], forward: list[list[int]], room: list[int], carriers: list[set[int]]
) -> list[int] | None:
    """Return a path source, sink, ..., sink with room, every source one layer deeper, or None."""
    # `cursor[i]` passes over the sinks from which source i has found nothing in this phase.
    path, ways_back = [start], []
    while path:
        i = path[-1]
        if cursor[i] == len(forward[i]):
            path.pop()
            if not path:
                return None
        else:
            j = forward[i][cursor[i]]
            path.append(j)
            if room[j]:
                return path
            ways_back.append(iter([k for k in carriers[j] if depth[k] == depth[i] + 1]))
        following = next(ways_back[-1], None)
        if following is None:
            ways_back.pop()
            path.pop()
            cursor[path[-1]] += 1
        else:
            path.append(following)
    return None


def _push(
    path: list[int], left: list[int], room: list[int], flow: list[dict[int, int]], carriers: list[set[int]]
) -> None:
    """Move as much as the path allows, first source to last sink."""
    back = list(zip(path[2::2], path[1:-1:2], strict=True))
    amount = min(left[path[0]], room[path[-1]], *(flow[k][j] for k, j in back))
    left[path[0]] -= amount
    room[path[-1]] -= amount
    for i, j in zip(path[::2], path[1::2], strict=True):
        flow[i][j] += amount
        carriers[j].add(i)
    for k, j in back:
        flow[k][j] -= amount
        if not flow[k][j]:
            carriers[j].discard(k)


def _masses(
    points: Sequence[Point], probabilities: Sequence[Atom] | Array, side: str
) -> tuple[list[Hashable], list[Fraction]]:  # fmt: skip
    """Return the points with mass, and exact masses of sum one."""
    hashable: list[Hashable] = []
    for point in points:
        hashable.append(tuple(point) if isinstance(point, np.ndarray) else point)
    if len(set(hashable)) < len(hashable):
        raise InputError(f"the {side} points repeat one", fix="list each point once and add its masses")
    law = Pmf(range(len(hashable)), as_numbers(probabilities, f"the {side} probabilities"))
    return [hashable[place] for place in law.values.tolist()], normalised(law.masses.tolist())


def checked_distances(x: list[Hashable], y: list[Hashable], metric: Metric) -> Array:
    """Return the distances from x to y; InputError where `metric` is none on all these points."""
    points = list(dict.fromkeys((*x, *y)))
    size = len(points)
    distances = list(starmap(metric, product(points, points)))
    table = as_numbers(distances, "distances").reshape(size, size)
    if (table < 0).any() or (table.diagonal() != 0).any():
        raise InputError("the metric is negative, or not 0 from a point to itself", fix="give a distance").at("metric")
    slack = table * _ROUNDING if table.dtype == np.float64 else table * 0
    if (abs(table - table.T) > slack).any():
        raise InputError("the metric is not symmetric", fix="metric(x, y) must equal metric(y, x)").at("metric")
    for middle in range(size):
        if (table - slack > table[:, middle, None] + table[None, middle, :]).any():
            raise InputError(
                f"the metric breaks the triangle inequality through {points[middle]}", rule="a detour is shorter"
            ).at("metric")
    place = {value: place for place, value in enumerate(points)}
    return table[np.ix_(list(map(place.__getitem__, x)), list(map(place.__getitem__, y)))]


Population = Mapping[Hashable, Atom]
Related = Callable[[Hashable, Hashable], bool]
Coupling = dict[tuple[Hashable, Hashable], Fraction]


def w_infinity(p: Population, q: Population, metric: Metric) -> Atom:
    """Return the least largest move of any coupling (Definition 6)."""
    left, right = support(p), support(q)
    return bottleneck(left, [p[place] for place in left], right, [q[place] for place in right], metric).distance


def least_largest(p: Population, q: Population, cost: Callable[[Any, Any], float]) -> tuple[float, Coupling]:
    """Return the least largest cost of a coupling, and the coupling; costs may be infinite."""
    left, right = support(p), support(q)
    least, moves = _least(left, exact(p, left), right, exact(q, right), tabulated(cost, left, right))
    return float(least), {(x, y): mass for x, y, mass in moves}


def support(p: Population) -> list[Hashable]:
    """Return the values with a positive mass."""
    return [x for x, mass in p.items() if mass > 0]


def exact(p: Population, points: Sequence[Hashable]) -> list[Fraction]:
    """Return the masses of points as fractions divided by their sum."""
    return normalised(p[x] for x in points)
