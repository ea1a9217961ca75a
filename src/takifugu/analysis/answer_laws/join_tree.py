"""How to multiply the tables of a network and sum out all variables: a tree of joins and sums.

Each step eliminates the variable that makes the smallest table. The tables that share it are joined in pairs, those
over the same variables and of the fewest coefficients first (as in Huffman's code), so that a node with many neighbours
becomes a balanced tree and small shares meet large ones early. On trees and polytrees the tables are over single
families; elsewhere they grow with the network's width.

Every table is a function of the tables below it, so what multiplies it in the whole product (its outside) follows from
the root down: two passes serve all nodes (Darwiche 2003, "A differential approach to inference in Bayesian networks";
Shenoy 1997, "Binary join trees"). A contribution z**c(x_v) enters at the sum over v, and there only: once.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from heapq import heapify, heappop, heappush
from typing import NamedTuple

from takifugu.core.lists import places_of
from takifugu.model.beliefs.networks.elimination import elimination_order

Scope = tuple[int, ...]


class Leaf(NamedTuple):
    """The conditional table of an entry: numbers, polynomials of one coefficient."""

    scope: Scope
    width: int
    entry: int


class Join(NamedTuple):
    """The product of two tables."""

    scope: Scope
    width: int
    first: int
    second: int

    def other(self, number: int) -> int:
        """Return the number of the table beside one of the two."""
        return self.second if number == self.first else self.first


class Sum(NamedTuple):
    """A table times z**c(x_v), summed over v = `variable`."""

    scope: Scope
    width: int
    inner: int
    variable: int


Table = Leaf | Join | Sum


@dataclass(frozen=True, eq=False)
class Contraction:
    """Tables, each after those below it; the last is the sum over all variables but those to keep.

    `outer` are the scopes of what multiplies each, and `sizes` how many values each variable has.
    """

    tables: tuple[Table, ...]
    outer: tuple[Scope, ...]
    sizes: Mapping[int, int]

    def cells(self, scope: Collection[int]) -> float:
        return math.prod(float(self.sizes[v]) for v in scope)

    def outer_width(self, number: int) -> int:
        """Return how many coefficients the outside of a table has."""
        return self.tables[-1].width - self.tables[number].width + 1


def contraction(
    scopes: Mapping[int, Scope], sizes: Mapping[int, int], spans: Mapping[int, int], keep: Collection[int] = ()
) -> Contraction:
    """Plan the product of tables, summed over all variables but `keep`.

    `spans[v]` is the largest number that v adds to the sum, the least being 0.

    >>> plan = contraction({0: (0,), 1: (0, 1), 2: (1, 2)}, {0: 2, 1: 2, 2: 2}, {0: 1, 1: 1, 2: 1})
    >>> [t.variable for t in plan.tables if isinstance(t, Sum)], plan.tables[-1].width
    ([0, 1, 2], 4)
    """
    order = elimination_order(scopes.values(), sizes, keep)
    place = places_of(order)
    tables: list[Table] = []
    waiting: list[list[int]] = [[] for _ in range(len(order) + 1)]

    def add(table: Table) -> int:
        tables.append(table)
        return len(tables) - 1

    def wait(number: int) -> None:
        waiting[min((place[v] for v in tables[number].scope if v in place), default=len(order))].append(number)

    def joined(numbers: list[int]) -> int:
        groups: dict[Scope, list[tuple[int, int]]] = {}
        for number in numbers:
            groups.setdefault(tuple(sorted(tables[number].scope)), []).append((tables[number].width, number))
        new_tables = []
        for heap in groups.values():
            heapify(heap)
            while len(heap) > 1:
                heappush(heap, pair(heappop(heap)[1], heappop(heap)[1]))
            new_tables.append(heap[0][1])
        new_tables.sort(key=lambda n: (math.prod(sizes[v] for v in tables[n].scope) * tables[n].width, n))
        result = new_tables[0]
        for number in new_tables[1:]:
            result = pair(result, number)[1]
        return result

    def pair(first: int, second: int) -> tuple[int, int]:
        left, right = tables[first], tables[second]
        scope = tuple(dict.fromkeys((*left.scope, *right.scope)))
        width = left.width + right.width - 1
        return width, add(Join(scope, width, first, second))

    for entry, scope in scopes.items():
        wait(add(Leaf(scope, 1, entry)))
    for number, variable in enumerate(order):
        inner = joined(waiting[number])
        scope = tuple(v for v in tables[inner].scope if v != variable)
        wait(add(Sum(scope, tables[inner].width + spans[variable], inner, variable)))
    joined(waiting[-1])
    return Contraction(tuple(tables), _outer(tables, spans), sizes)


def _outer(tables: Sequence[Table], spans: Mapping[int, int]) -> tuple[Scope, ...]:
    outer: list[Scope] = [()] * len(tables)
    outer[-1] = tables[-1].scope
    for number in range(len(tables) - 1, -1, -1):
        table = tables[number]
        if isinstance(table, Sum):
            if spans[table.variable]:
                outer[table.inner] = (*outer[number], table.variable)
            else:
                outer[table.inner] = outer[number]
        elif isinstance(table, Join):
            for child, sibling in ((table.first, table.second), (table.second, table.first)):
                variables = {*outer[number], *tables[sibling].scope}
                outer[child] = tuple(v for v in tables[child].scope if v in variables)
    return tuple(outer)


def children(table: Table) -> tuple[int, ...]:
    """Return the tables below a table."""
    if isinstance(table, Join):
        return table.first, table.second
    return (table.inner,) if isinstance(table, Sum) else ()
