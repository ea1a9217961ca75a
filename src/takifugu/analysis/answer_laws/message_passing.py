"""The law of a sum jointly with each wanted variable of a network, by two passes, and where each law is read.

The second pass goes from the root to the tables that hold a wanted variable. At a table over v with n coefficients the
law of v takes n times the length of the whole sum in products of numbers, so it is read where n is small, among the
tables over v that the second pass visits anyway or can reach at less cost.

Tables hold polynomials in z: the coefficient of z**j belongs to a sum of j. The first pass multiplies and sums out
from the leaves up (collect); the second goes from the root down and finds the outside of every table that is needed,
what multiplies it in the whole product (distribute). A table over v times its outside, summed over all other variables,
is the law of X_v and the sum. All terms are positive, and every table counts its roundings.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from takifugu.analysis.answer_laws.join_tree import Contraction, Join, Leaf, Sum, children
from takifugu.model.beliefs.networks.elimination import Factor
from takifugu.numbers.extended.convolution import convolve
from takifugu.numbers.extended.floats import Wide, shifted

#: Operations that a table costs, besides what its numbers do.
EACH_TABLE = 6e4
#: Polynomials of more coefficients have numbers beyond float64, as a rule: a number, and a product of two polynomials,
#: then cost so many operations, besides the products of numbers.
LONG, EACH_NUMBER, EACH_PRODUCT = 120, 30.0, 6e4


@dataclass(frozen=True, eq=False)
class Reading:
    """Which variables are read at which table, which outsides that takes, and which tables are needed again."""

    contraction: Contraction
    places: Mapping[int, tuple[int, ...]]
    needed: frozenset[int]
    retained: frozenset[int]
    #: Predicted, for both passes.
    operations: float
    bytes: float


def reading(plan: Contraction, wanted: Collection[int]) -> Reading:
    """Choose the cheapest table to read each wanted variable's law from."""
    tables = plan.tables
    parent = [-1] * len(tables)
    top: dict[int, int] = {}
    for number, table in enumerate(tables):
        if isinstance(table, Sum):
            parent[table.inner] = number
            top[table.variable] = table.inner
        elif isinstance(table, Join):
            parent[table.first] = parent[table.second] = number
    top.update(dict.fromkeys(tables[-1].scope, len(tables) - 1))
    needed: set[int] = set()

    def need(number: int) -> None:
        while number >= 0 and number not in needed:
            needed.add(number)
            number = parent[number]

    for v in wanted:
        need(top[v])
    places: dict[int, list[int]] = {}
    for v in wanted:
        chosen = _cheapest(plan, v, top[v], needed)
        need(chosen)
        places.setdefault(chosen, []).append(v)
    retained = _retained(plan, needed, places)
    operations = sum(_up(plan, n) for n in range(len(tables)))
    operations += sum(_down(plan, n, parent[n]) for n in needed if parent[n] >= 0)
    operations += sum(_read(plan, n) * len(variables_of) for n, variables_of in places.items())
    whole = float(tables[-1].width)
    largest = max(plan.cells(tables[n].scope) * whole for n in places)
    largest = max(largest, *(plan.cells(_on_the_way(plan, n, parent[n])) * plan.outer_width(n) for n in needed))
    variables_of = {n: tuple(variables) for n, variables in places.items()}
    sizes = [plan.cells(table.scope) * table.width for table in tables]
    waiting = max(plan.cells(plan.outer[n]) * plan.outer_width(n) for n in needed)
    numbers = sum(sizes[place] for place in retained) + waiting * math.log2(4 + 4 * len(sizes))
    size = 16.0 * (numbers + 4 * max(largest, *sizes))
    return Reading(plan, variables_of, frozenset(needed), frozenset(retained), operations, size)


def _cheapest(plan: Contraction, variable: int, top: int, needed: Collection[int]) -> int:
    """Return the cheapest table at or below `top` for a variable's law."""
    best, cheapest = math.inf, top
    stack = [(top, 0.0)]
    while stack:
        number, spent = stack.pop()
        if spent >= best:
            continue
        cost = spent + _read(plan, number)
        if cost < best:
            best, cheapest = cost, number
        for below in children(plan.tables[number]):
            if variable in plan.tables[below].scope:
                more = 0.0 if below in needed else _down(plan, below, number)
                stack.append((below, spent + more))
    return cheapest


def _retained(plan: Contraction, needed: Collection[int], places: Collection[int]) -> set[int]:
    """Return the second pass's tables: those read and needed ones' neighbours."""
    retained = set(places)
    for table in plan.tables:
        if isinstance(table, Join):
            if table.first in needed:
                retained.add(table.second)
            if table.second in needed:
                retained.add(table.first)
    return retained


def _up(plan: Contraction, number: int) -> float:
    table = plan.tables[number]
    if isinstance(table, Leaf):
        return 0.0
    if isinstance(table, Sum):
        return EACH_TABLE + plan.cells((*table.scope, table.variable)) * _each(table.width)
    return _product(plan, table.scope, plan.tables[table.first].width, plan.tables[table.second].width)


def _down(plan: Contraction, number: int, parent: int) -> float:
    """Return the cost of a table's outside from its parent's."""
    above = plan.tables[parent]
    if not isinstance(above, Join):
        return EACH_TABLE + plan.cells(plan.outer[number]) * _each(plan.outer_width(number))
    other = plan.tables[above.other(number)]
    return _product(plan, _on_the_way(plan, number, parent), other.width, plan.outer_width(parent))


def _on_the_way(plan: Contraction, number: int, parent: int) -> Collection[int]:
    """Return the largest table's scope on the way to an outside."""
    if parent < 0 or not isinstance(above := plan.tables[parent], Join):
        return plan.outer[number]
    other = plan.tables[above.other(number)]
    return {*plan.outer[parent], *(v for v in other.scope if v in plan.tables[number].scope)}


def _read(plan: Contraction, number: int) -> float:
    table = plan.tables[number]
    return _product(plan, table.scope, table.width, plan.outer_width(number))


def _product(plan: Contraction, scope: Collection[int], first: int, second: int) -> float:
    width = first + second - 1
    products = 0.0 if min(first, second) == 1 else float(first) * second
    if width > LONG and products:
        products = products / 3 + EACH_PRODUCT
    return EACH_TABLE + plan.cells(scope) * (products + _each(width))


def _each(width: int) -> float:
    """Return the cost of the numbers of one polynomial."""
    each = EACH_NUMBER if width > LONG else EACH_NUMBER / 6
    return width * each


@dataclass(frozen=True, eq=False)
class ShareTable:
    """Polynomials, one for each state of the variables in `scope`, each coefficient rounded `rounded` times or less."""

    scope: tuple[int, ...]
    polynomials: Wide
    rounded: int


ONE = ShareTable((), Wide.of(np.ones(1)), 0)


@dataclass(frozen=True, eq=False)
class VariableLaw:
    """P(X_variable = s, sum = j) up to a factor, shape (s, j); each number rounded `rounded` times or less."""

    variable: int
    weights: Wide
    rounded: int


def laws(plan: Reading, factors: Sequence[Factor], offsets: Sequence[Sequence[int]]) -> Iterator[VariableLaw]:
    """Yield the law of every wanted variable once, in second-pass order."""
    # offsets[v]: what each value of v adds to the sum, the least 0; leaf `entry` stands for factors[entry]
    tables = collect(plan.contraction, factors, offsets, plan.retained)
    weight: list[int] = []  # how many tables each one is made of, itself included
    for table in plan.contraction.tables:
        weight.append(1 + sum(weight[child] for child in children(table)))
    start = ONE
    for v in plan.contraction.tables[-1].scope:
        start = moved(start, v, offsets[v])
    stack = [(len(tables) - 1, -1, start)]  # a table, the one above it, and the outside of that
    while stack:
        number, above, outer = stack.pop()
        if above >= 0:
            outer = outside(plan.contraction, number, above, outer, tables, offsets)
        if number in plan.places:
            joint = joined(tables[number], outer)
            for v in plan.places[number]:
                law = without(joint, {*joint.scope} - {v})
                yield VariableLaw(v, law.polynomials, law.rounded)
        # The largest goes last, with nothing else waiting: never more than log2 of the number of tables wait.
        below = [child for child in children(plan.contraction.tables[number]) if child in plan.needed]
        stack += [(n, number, outer) for n in sorted(below, key=lambda n: -weight[n])]


def collect(
    plan: Contraction, factors: Sequence[Factor], offsets: Sequence[Sequence[int]], retained: Collection[int]
) -> list[ShareTable]:
    """Return the tables, ONE for spent ones neither retained nor last."""
    tables: list[ShareTable] = []
    for table in plan.tables:
        if isinstance(table, Leaf):
            factor = factors[table.entry]
            tables.append(ShareTable(factor.scope, Wide.of(factor.table[..., None]), 1 + factor.table.shape[-1]))
        elif isinstance(table, Join):
            tables.append(joined(tables[table.first], tables[table.second]))
        else:
            inner = moved(tables[table.inner], table.variable, offsets[table.variable])
            tables.append(without(inner, {table.variable}))
        for number in children(table):
            if number not in retained:
                tables[number] = ONE
    return tables


def outside(
    plan: Contraction,
    number: int,
    above: int,
    outer: ShareTable,
    tables: Sequence[ShareTable],
    offsets: Sequence[Sequence[int]],
) -> ShareTable:
    """Return a table's outside from its parent's."""
    table, scope = plan.tables[above], plan.tables[number].scope
    if isinstance(table, Sum):
        return moved(outer, table.variable, offsets[table.variable])
    assert isinstance(table, Join)
    other = tables[table.other(number)]
    alone = {*other.scope}.difference(scope, outer.scope)
    around = joined(without(other, alone), outer)
    return without(around, {*around.scope}.difference(scope))


def joined(first: ShareTable, second: ShareTable) -> ShareTable:
    """Return the product of two tables."""
    scope = tuple(dict.fromkeys((*first.scope, *second.scope)))
    few = min(first.polynomials.shape[-1], second.polynomials.shape[-1])
    roundings = 1 if few == 1 else 2 * few + 4
    rounded = first.rounded + second.rounded + roundings
    return ShareTable(scope, convolve(arranged_as(first, scope), arranged_as(second, scope)), rounded)


def without(table: ShareTable, variables: Collection[int]) -> ShareTable:
    """Return the sum over some variables."""
    axes = tuple(n for n, v in enumerate(table.scope) if v in variables)
    if not axes:
        return table
    terms = math.prod(table.polynomials.shape[axis] for axis in axes)
    scope = tuple(v for v in table.scope if v not in variables)
    return ShareTable(scope, table.polynomials.sum(axes), table.rounded + terms)


def moved(table: ShareTable, variable: int, offsets: Sequence[int]) -> ShareTable:
    """Return a table times z**offsets[x_variable]."""
    if not max(offsets):
        return table
    scope = table.scope if variable in table.scope else (*table.scope, variable)
    polynomials = shifted(arranged_as(table, scope), offsets, scope.index(variable))
    return ShareTable(scope, polynomials, table.rounded)


def arranged_as(table: ShareTable, scope: Sequence[int]) -> Wide:
    """Return polynomials with an axis per variable, length 1 if absent."""
    if tuple(scope) == table.scope:
        return table.polynomials
    order = [table.scope.index(variable) for variable in scope if variable in table.scope]
    absent = [axis for axis, variable in enumerate(scope) if variable not in table.scope]
    return table.polynomials.each(lambda array: np.expand_dims(array.transpose([*order, -1]), absent))
