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
from functools import reduce
from heapq import heapify, heappop, heappush
from typing import NamedTuple

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
    """Tables, each after those below it; the last is the sum over all variables but those to keep."""

    tables: tuple[Table, ...]
    #: The scopes of what multiplies each table.
    outer: tuple[Scope, ...]
    #: How many values each variable has.
    sizes: Mapping[int, int]

    def cells(self, scope: Collection[int]) -> float:
        return math.prod(float(self.sizes[v]) for v in scope)

    def outer_width(self, number: int) -> int:
        """Return how many coefficients the outside of a table has."""
        return self.tables[-1].width - self.tables[number].width + 1


def contraction(
    scopes: Mapping[int, Scope], sizes: Mapping[int, int], spans: Mapping[int, int], keep: Collection[int] = ()
) -> Contraction:
    """Plan the product of tables, summed over all variables but `keep`."""
    # spans: the largest number that each variable adds to the sum, the least being 0
    order = elimination_order(scopes.values(), sizes, keep)
    place = {value: place for place, value in enumerate(order)}
    plan = _Plan(sizes)
    waiting: list[list[int]] = [[] for _ in range(len(order) + 1)]

    def wait(number: int) -> None:
        variables = place.keys() & set(plan.tables[number].scope)
        waiting[min(map(place.__getitem__, variables), default=len(order))].append(number)

    for entry, scope in scopes.items():
        wait(plan.add(Leaf(scope, 1, entry)))
    for number, variable in enumerate(order):
        inner = plan.joined(waiting[number])
        table = plan.tables[inner]
        scope = tuple(v for v in table.scope if v != variable)
        wait(plan.add(Sum(scope, table.width + spans[variable], inner, variable)))
    plan.joined(waiting[-1])
    return Contraction(tuple(plan.tables), _outer(plan.tables, spans), sizes)


class _Plan:
    """The tables so far, and how to join some of them."""

    def __init__(self, sizes: Mapping[int, int]) -> None:
        self.sizes = sizes
        self.tables: list[Table] = []

    def add(self, table: Table) -> int:
        """Return the number of a new table."""
        self.tables.append(table)
        return len(self.tables) - 1

    def joined(self, numbers: list[int]) -> int:
        """Return the number of the product of tables, small ones first."""
        groups: dict[Scope, list[int]] = {}
        for number in numbers:
            groups.setdefault(tuple(sorted(self.tables[number].scope)), []).append(number)
        products = sorted(map(self._joined_alike, groups.values()), key=lambda n: (self._coefficients(n), n))
        return reduce(self._pair, products)

    def _joined_alike(self, numbers: list[int]) -> int:
        """Join tables over the same variables, as in Huffman's code."""
        heap = [(self.tables[number].width, number) for number in numbers]
        heapify(heap)
        while len(heap) > 1:
            pair = self._pair(heappop(heap)[1], heappop(heap)[1])
            heappush(heap, (self.tables[pair].width, pair))
        return heap[0][1]

    def _pair(self, first: int, second: int) -> int:
        left, right = self.tables[first], self.tables[second]
        scope = tuple(dict.fromkeys((*left.scope, *right.scope)))
        return self.add(Join(scope, left.width + right.width - 1, first, second))

    def _coefficients(self, number: int) -> int:
        table = self.tables[number]
        return math.prod(map(self.sizes.__getitem__, table.scope)) * table.width


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
                outer[child] = tuple(variable for variable in tables[child].scope if variable in variables)
    return tuple(outer)


def children(table: Table) -> tuple[int, ...]:
    """Return the tables below a table."""
    if isinstance(table, Join):
        return table.first, table.second
    return (table.inner,) if isinstance(table, Sum) else ()
