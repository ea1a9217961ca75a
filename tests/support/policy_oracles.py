"""Policies the slow way: predicates as functions, every data set, every move, paths by breadth-first search."""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Callable, Hashable, Iterator, Sequence
from itertools import combinations, product
from typing import Any

Record = Hashable
Predicates = Sequence[Callable[[Any], bool]]


def allowed(predicates: Predicates, before: Record, after: Record) -> bool:
    """x -> x' iff p(x) -> p(x') for every predicate."""
    return all(p(after) or not p(before) for p in predicates)


def subsets(places: Sequence[Hashable], most: int) -> list[frozenset[Any]]:
    """All sets of at most so many places."""
    return [frozenset(chosen) for size in range(most + 1) for chosen in combinations(places, size)]


def moves(predicates: Predicates, records: Sequence[Record]) -> Iterator[tuple[Record, Record]]:
    """Every allowed move of one record to another one."""
    for before, after in product(records, records):
        if before != after and allowed(predicates, before, after):
            yield before, after


def neighbours(predicates: Predicates, records: Sequence[Record], data: tuple[Any, ...]) -> Iterator[tuple[Any, ...]]:
    """The data sets that one allowed move leads to."""
    for place, before in enumerate(data):
        for after in records:
            if after != before and allowed(predicates, before, after):
                yield (*data[:place], after, *data[place + 1 :])


def distance(
    predicates: Predicates, records: Sequence[Record], start: tuple[Any, ...], end: tuple[Any, ...]
) -> int | float:
    """The least number of moves from one data set to another one, by breadth-first search."""
    seen, waiting = {start: 0}, deque([start])
    while waiting:
        data = waiting.popleft()
        for other in neighbours(predicates, records, data):
            if other not in seen:
                seen[other] = seen[data] + 1
                waiting.append(other)
    return seen.get(end, math.inf)


def reaches(
    predicates: Predicates, records: Sequence[Record], people: int, answer: Callable[[tuple[Any, ...]], Sequence[Any]]
) -> tuple[list[Any], list[Any], Any]:
    """How far each cell rises, and falls, along one move between any two data sets, and the largest L1 change."""
    up: list[Any] = []
    down: list[Any] = []
    total: Any = 0
    for data in product(records, repeat=people):
        before = answer(data)
        up, down = up or [0] * len(before), down or [0] * len(before)
        for other in neighbours(predicates, records, data):
            change = [b - a for a, b in zip(before, answer(other), strict=True)]
            up = [max(u, c) for u, c in zip(up, change, strict=True)]
            down = [max(d, -c) for d, c in zip(down, change, strict=True)]
            total = max(total, sum(map(abs, change)))
    return up, down, total
