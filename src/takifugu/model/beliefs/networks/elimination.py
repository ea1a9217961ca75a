"""Variable elimination on tables of non-negative numbers: the size is predicted before anything is multiplied.

Only positive terms are multiplied and added, so every entry of the result keeps its relative accuracy, and an entry is
zero only where every term is zero. Tables are rescaled as they are made, so that deep networks do not underflow.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from heapq import heapify, heappop, heappush
from itertools import chain
from typing import Any

import numpy as np

from takifugu.core.arrays import BoolArray, FloatArray
from takifugu.core.rules import too_large

Scope = tuple[int, ...]

#: The largest table, in numbers, that elimination may build (about 400 MB).
LARGEST_TABLE = 5e7
#: A network with a table of more numbers is not planned any further: it will be refused.
HOPELESS = 10**12
#: Half the spacing of float64 at one.
UNIT = 2.0**-53


@dataclass(frozen=True)
class Factor:
    """A table over variables: axis k of `table` runs over the values of variable `scope[k]`."""

    scope: Scope
    table: FloatArray


@dataclass(frozen=True)
class Plan:
    """In which order variables go, how large the largest table gets, and how many numbers are touched in all."""

    order: tuple[int, ...]
    largest: float
    operations: float


def elimination_order(scopes: Iterable[Scope], sizes: Mapping[int, int], keep: Collection[int] = ()) -> list[int]:
    """Order all variables but `keep`, always the smallest table next."""
    near: dict[int, set[int]] = {v: set() for v in sizes}
    for scope in scopes:
        for v in scope:
            near[v].update(scope)
            near[v].discard(v)
    weight = {}
    for v, size in sizes.items():
        weight[v] = size * math.prod(sizes[place] for place in near[v])
    heap = [(weight[v], v) for v in sizes if v not in keep]
    heapify(heap)
    order: list[int] = []
    while heap:
        size, v = heappop(heap)
        if v not in near or size != weight[v]:
            continue
        if size > HOPELESS:
            return order + [value for value in near if value not in keep]
        order.append(v)
        around = near.pop(v)
        for u in around:
            near[u].discard(v)
            weight[u] //= sizes[v]
            for new in around - near[u] - {u}:
                near[u].add(new)
                weight[u] *= sizes[new]
            if u not in keep:
                heappush(heap, (weight[u], u))
    return order


def plan(scopes: Sequence[Scope], sizes: Mapping[int, int], keep: Sequence[int]) -> Plan:
    """Plan the elimination of all variables but `keep`, smallest table first."""
    order = elimination_order(scopes, {key: sizes[key] for key in chain.from_iterable(scopes)}, keep)
    place = {value: place for place, value in enumerate(order)}
    waiting: list[list[set[int]]] = [[] for _ in range(len(order) + 1)]

    def wait(scope: set[int]) -> None:
        waiting[min((place[v] for v in scope if v in place), default=len(order))].append(scope)

    for scope in scopes:
        wait(set(scope))
    largest = operations = 0.0
    for number, variable in enumerate(order):
        joined = set().union(*waiting[number])
        weight = math.prod(float(sizes[v]) for v in joined)
        largest, operations = max(largest, weight), operations + weight * len(waiting[number])
        wait(joined - {variable})
    final = math.prod(float(sizes[v]) for v in keep)
    return Plan(tuple(order), max(largest, final), operations + final)


def eliminate(factors: Sequence[Factor], sizes: Mapping[int, int], keep: Sequence[int]) -> tuple[FloatArray, float]:
    """Sum the product of all factors over everything but `keep`, and bound the relative error of its entries."""
    steps = plan([f.scope for f in factors], sizes, keep)
    if steps.largest > LARGEST_TABLE:
        fix = "ask about fewer variables at once, or cut the network's largest families"
        raise too_large("a table for exact inference", steps.largest, LARGEST_TABLE, "numbers", fix)
    rounding = 0
    pool = list(factors)
    for variable in steps.order:
        pool, summed, multiplied = _summed_out(pool, variable)
        pool.append(_scaled(summed))
        rounding += multiplied + sizes[variable] + 1
    # axes in the order of `keep`; a law where the factors are the conditional laws of an ancestral set
    table = _product([*pool, *_missing(pool, sizes, keep)], tuple(keep))
    rounding += len(pool) + table.size
    # the bound is of entries that did not underflow
    return table / table.sum(), (rounding + 2) * 2 * UNIT


def support(factors: Sequence[Factor], sizes: Mapping[int, int], keep: Sequence[int]) -> BoolArray:
    """Return exactly where the table of `eliminate` is positive, despite underflow."""
    pool = list(map(_positive, factors))
    for variable in plan([f.scope for f in factors], sizes, keep).order:
        pool, summed, _ = _summed_out(pool, variable)
        pool.append(_positive(summed))
    return np.asarray(_product([*pool, *_missing(pool, sizes, keep)], tuple(keep)) > 0)


def _positive(factor: Factor) -> Factor:
    return Factor(factor.scope, (factor.table > 0).astype(np.float64))


def _summed_out(factors: Sequence[Factor], variable: int) -> tuple[list[Factor], Factor, int]:
    """Return the factors without a variable, the sum over it of the product of all others, and their number."""
    touching, others = list[Factor](), list[Factor]()
    for factor in factors:
        if variable in factor.scope:
            touching.append(factor)
        else:
            others.append(factor)
    scope = tuple(v for v in _variables(touching) if v != variable)
    return others, Factor(scope, _product(touching, scope)), len(touching)


def _variables(factors: Iterable[Factor]) -> Scope:
    return tuple(dict.fromkeys(chain.from_iterable(factor.scope for factor in factors)))


def _missing(factors: Sequence[Factor], sizes: Mapping[int, int], keep: Sequence[int]) -> list[Factor]:
    present = set(_variables(factors))
    return [Factor((v,), np.ones(sizes[v])) for v in keep if v not in present]


def _product(factors: Sequence[Factor], scope: Scope) -> FloatArray:
    """Multiply factors pairwise and sum out variables beyond the scope."""
    letters = {value: place for place, value in enumerate(dict.fromkeys([*scope, *_variables(factors)]))}
    terms: list[Any] = []
    for factor in factors:
        terms += [factor.table, [letters[variable] for variable in factor.scope]]
    terms.append([letters[variable] for variable in scope])
    return np.asarray(np.einsum(*terms, optimize=len(factors) > 2), dtype=np.float64)


def _scaled(factor: Factor) -> Factor:
    largest = float(factor.table.max())
    if largest <= 0:
        return factor
    exponent = -math.frexp(largest)[1]
    return Factor(factor.scope, np.ldexp(factor.table, exponent))  # a power of two: exact
