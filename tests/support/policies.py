"""Data sets of a few records under a relation, by enumeration: neighbours, distances, and the best mechanism by LP.

A relation says which record may become which. Slow and as defined; nothing here knows takifugu.
"""

import itertools
import math
from collections import deque
from collections.abc import Callable, Hashable, Iterator, Sequence
from typing import Any

import numpy as np
from scipy.optimize import linprog

Record = Hashable
Data = tuple[Record, ...]
Relation = Callable[[Any, Any], bool]


def policy(*predicates: Callable[[Any], bool]) -> Relation:
    """Return the relation of a set of predicates: p(x) -> p(y) = True for all of them."""
    return lambda x, y: all((not p(x)) or p(y) for p in predicates)


def anything(x: Any, y: Any) -> bool:
    return True


def datasets(records: Sequence[Record], size: int) -> list[Data]:
    return list(itertools.product(records, repeat=size))


def subsets(places: Sequence[Hashable], most: int) -> list[frozenset[Any]]:
    """Return all sets of at most so many places."""
    return [frozenset(chosen) for size in range(most + 1) for chosen in itertools.combinations(places, size)]


def moves(data: Sequence[Data], related: Relation) -> Iterator[tuple[Data, Data]]:
    """Yield X, Y where Y is X with one record replaced, as the relation allows."""
    known = set(data)
    values = {x for one in data for x in one}
    for one in data:
        for place, x in enumerate(one):
            for y in values:
                other = (*one[:place], y, *one[place + 1 :])
                if y != x and other in known and related(x, y):
                    yield one, other


def distances(start: Data, data: Sequence[Data], related: Relation) -> dict[Data, int]:
    """Return the length of the shortest path from `start` to every data set that is reached (Definition IV.6)."""
    onward: dict[Data, list[Data]] = {one: [] for one in data}
    for one, other in moves(data, related):
        onward[one].append(other)
    steps, queue = {start: 0}, deque([start])
    while queue:
        one = queue.popleft()
        for other in onward[one]:
            if other not in steps:
                steps[other] = steps[one] + 1
                queue.append(other)
    return steps


def reaches(
    related: Relation, records: Sequence[Record], people: int, answer: Callable[[Data], Sequence[Any]]
) -> tuple[list[Any], list[Any], Any]:
    """Return how far each cell rises, and falls, along one move of any data set, and the largest L1 change."""
    data = datasets(records, people)
    cells = len(answer(data[0]))
    changes = [[b - a for a, b in zip(answer(x), answer(y), strict=True)] for x, y in moves(data, related)]
    up = [max(0, *(change[cell] for change in changes), 0) for cell in range(cells)]
    down = [max(0, *(-change[cell] for change in changes), 0) for cell in range(cells)]
    return up, down, max((sum(map(abs, change)) for change in changes), default=0)


def best_yes(
    data: Sequence[Data],
    related: Relation,
    false: Callable[[Data], bool],
    target: Data,
    alpha: float,
    epsilon: float,
    delta: float = 0.0,
) -> float:
    """Return the largest P(yes) at `target` of mechanisms with (eps, delta), and P(yes) <= alpha where false.

    Whatever a mechanism publishes, "its sanitiser says yes" is one bit, and post-processing keeps (eps, delta): so a
    linear program over one probability for each data set is all mechanisms.
    """
    place = {one: number for number, one in enumerate(data)}
    rows, limits, factor = [], [], math.exp(epsilon)
    for one, other in moves(data, related):
        row = np.zeros(len(data))
        row[place[one]], row[place[other]] = 1.0, -factor
        rows += [row, np.where(row != 0, -row, 0.0)]
        limits += [delta, delta + factor - 1.0]
    cost = np.zeros(len(data))
    cost[place[target]] = -1.0
    bounds = [(0.0, alpha if false(one) else 1.0) for one in data]
    matrix = np.array(rows) if rows else None
    solution = linprog(cost, A_ub=matrix, b_ub=limits or None, bounds=bounds, method="highs")
    assert solution.status == 0, solution.message
    return float(-solution.fun)


def risk(
    chances: dict[Data, list[float]], rest: Data, prior: dict[Record, float], secret: Callable[[Any], bool]
) -> float:
    """Return the Risk (Section III-C): chances[X] is the law of the output, the first record follows the prior."""
    having = {x: p for x, p in prior.items() if p > 0 and secret(x)}
    lacking = {x: p for x, p in prior.items() if p > 0 and not secret(x)}
    if not having or not lacking:
        return 0.0
    worst = 0.0
    for z in range(len(chances[(next(iter(prior)), *rest)])):
        yes, no = (
            sum(p * chances[(x, *rest)][z] for x, p in part.items()) / sum(part.values()) for part in (having, lacking)
        )
        if yes > 0:
            worst = max(worst, yes / no if no > 0 else math.inf)
    return worst


def losses(law: Callable[[Data], dict[Any, float]], data: Sequence[Data], related: Relation) -> float:
    """Return the largest log-ratio of the law of the output along all allowed moves."""
    worst = 0.0
    for one, other in moves(data, related):
        p, q = law(one), law(other)
        for z, mass in p.items():
            if mass > 0:
                worst = max(worst, math.log(mass / q[z]) if q.get(z, 0) > 0 else math.inf)
    return worst
