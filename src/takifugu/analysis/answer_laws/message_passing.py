"""The law of a sum jointly with each wanted variable of a network, by two passes over a plan of products.

Tables hold polynomials in z: the coefficient of z**j belongs to a sum of j. The first pass multiplies and sums out
from the leaves up (collect); the second goes from the root down and finds the outside of every table that is needed,
what multiplies it in the whole product (distribute). A table over v times its outside, summed over all other variables,
is the law of X_v and the sum. All terms are positive, and every table counts its roundings.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from takifugu.analysis.answer_laws.join_tree import Contraction, Join, Leaf, Sum, children
from takifugu.analysis.answer_laws.readouts import Reading
from takifugu.core.lists import among, places_of, take
from takifugu.model.beliefs.networks.elimination import Factor
from takifugu.numbers.extended.floats import Wide
from takifugu.numbers.extended.polynomials import Numbers, arranged, as_wide, numbers, product, shape, shifted, summed


@dataclass(frozen=True, eq=False)
class ShareTable:
    """Polynomials, one for each state of the variables in `scope`, each coefficient rounded `rounded` times or less."""

    scope: tuple[int, ...]
    polynomials: Numbers
    rounded: int


ONE = ShareTable((), numbers(np.ones(1)), 0)


@dataclass(frozen=True, eq=False)
class VariableLaw:
    """P(X_variable = s, sum = j) up to a factor, shape (s, j); each number rounded `rounded` times or less."""

    variable: int
    weights: Wide
    rounded: int


def laws(plan: Reading, factors: Sequence[Factor], offsets: Sequence[Sequence[int]]) -> Iterator[VariableLaw]:
    """Yield the law of every wanted variable once, in second-pass order.

    `offsets[v]` is what each value of v adds to the sum, the least 0; leaf `entry` stands for the table factors[entry].
    """
    tables = collect(plan.contraction, factors, offsets, plan.retained)
    weight: list[int] = []  # how many tables each one is made of, itself included
    for table in plan.contraction.tables:
        weight.append(1 + sum(take(weight, children(table))))
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
                yield VariableLaw(v, as_wide(law.polynomials), law.rounded)
        # The largest goes last, with nothing else waiting: never more than log2 of the number of tables wait.
        below = among(children(plan.contraction.tables[number]), plan.needed)
        stack += [(n, number, outer) for n in sorted(below, key=lambda n: -weight[n])]


def collect(
    plan: Contraction, factors: Sequence[Factor], offsets: Sequence[Sequence[int]], retained: Collection[int]
) -> list[ShareTable]:
    """Return the tables, ONE for spent ones neither retained nor last."""
    tables: list[ShareTable] = []
    for table in plan.tables:
        if isinstance(table, Leaf):
            factor = factors[table.entry]
            tables.append(ShareTable(factor.scope, numbers(factor.table[..., None]), 1 + factor.table.shape[-1]))
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
    few = min(shape(first.polynomials)[-1], shape(second.polynomials)[-1])
    roundings = 1 if few == 1 else 2 * few + 4
    rounded = first.rounded + second.rounded + roundings
    return ShareTable(scope, product(arranged_as(first, scope), arranged_as(second, scope)), rounded)


def without(table: ShareTable, variables: Collection[int]) -> ShareTable:
    """Return the sum over some variables."""
    if not variables:
        return table
    axes = tuple(n for n, v in enumerate(table.scope) if v in variables)
    terms = math.prod(take(shape(table.polynomials), axes))
    scope = tuple(v for v in table.scope if v not in variables)
    return ShareTable(scope, summed(table.polynomials, axes), table.rounded + (terms if axes else 0))


def moved(table: ShareTable, variable: int, offsets: Sequence[int]) -> ShareTable:
    """Return a table times z**offsets[x_variable]."""
    if not max(offsets):
        return table
    scope = table.scope if variable in table.scope else (*table.scope, variable)
    polynomials = shifted(arranged_as(table, scope), scope.index(variable), offsets)
    return ShareTable(scope, polynomials, table.rounded)


def arranged_as(table: ShareTable, scope: Sequence[int]) -> Numbers:
    """Return polynomials with an axis per variable, length 1 if absent."""
    if tuple(scope) == table.scope:
        return table.polynomials
    axis_of = places_of(table.scope)
    return arranged(table.polynomials, list(map(axis_of.get, scope)))
