"""Rows P(some variables of a network | others), and which of them depend on which: what bags and elimination read."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from takifugu.core.arrays import FloatArray, IntArray
from takifugu.core.errors import Unsupported
from takifugu.model.beliefs.networks.elimination import UNIT
from takifugu.model.beliefs.networks.network import BayesianNetwork

#: Joint tables of more numbers are not made: the way that needs them counts as too wide.
LARGEST_TABLE = 50_000
#: The same for tables on the way to them.
LARGEST_STEP = 5e6
#: Smaller masses may have lost digits to underflow.
TRUSTED = 1e-250


def too_wide() -> Unsupported:
    """Return the error of a way with too large tables."""
    return Unsupported(
        "this bound would need tables of too many numbers", fix="the sum over all entries still holds"
    )


@dataclass(frozen=True, eq=False)
class Rows:
    """P(variables = states[y] | given = contexts[z]) = rows[z, y], unless impossible.

    `error` bounds the relative error of each number; `trusted` is false where underflow may have eaten digits.
    """

    contexts: IntArray  # (m, variables given)
    states: IntArray  # (n, variables)
    rows: FloatArray  # (m, n)
    error: float
    trusted: bool


def joint_size(network: BayesianNetwork, variables: Iterable[int]) -> int:
    """Count the joint values of some variables."""
    return math.prod(len(network.alphabet(v)) for v in variables)


def conditional_rows(network: BayesianNetwork, condition: Sequence[int], variables: Sequence[int]) -> Rows:
    """Return P(variables | given) for all possible values.

    Raises Unsupported for tables that are too large.
    """
    sizes = [len(network.alphabet(v)) for v in (*condition, *variables)]
    scope = (*condition, *variables)
    if math.prod(sizes) > LARGEST_TABLE or network.law_plan(scope).largest > LARGEST_STEP:
        raise too_wide()
    law, error = network.law(scope)
    possible = law > 0 if (law > 0).all() else network.support(scope)
    first, second = sizes[: len(condition)], sizes[len(condition) :]
    shape = math.prod(first), math.prod(second)
    law, possible = law.reshape(shape), possible.reshape(shape)
    contexts, states = possible.any(axis=1), possible.any(axis=0)
    law = np.where(possible, law, 0.0)[np.ix_(contexts, states)]
    trusted = bool((law[possible[np.ix_(contexts, states)]] >= TRUSTED).all())
    with np.errstate(invalid="ignore"):
        rows = np.nan_to_num(law / law.sum(axis=1, keepdims=True))
    return Rows(
        _tuples(first)[contexts], _tuples(second)[states], rows, 2 * error + (law.shape[1] + 3) * UNIT, trusted
    )


def _tuples(sizes: Sequence[int]) -> IntArray:
    """Return all tuples of values, shape (product, variables)."""
    if sizes:
        return np.indices(sizes).reshape(len(sizes), -1).T
    return np.zeros((1, 0), dtype=np.int64)


def taken_from_neighbours(index: IntArray) -> IntArray:
    """Fill negative places from places differing in one variable.

    >>> taken_from_neighbours(np.array([[3, -1], [-1, -1]])).tolist()
    [[3, 3], [3, 3]]
    """
    index = index.copy()
    while (index < 0).any():
        for axis in range(index.ndim):
            lines = np.moveaxis(index, axis, -1)
            some = lines.max(axis=-1, keepdims=True)
            lines[...] = np.where(lines < 0, np.broadcast_to(some, lines.shape), lines)
    return index


def moral_graph(network: BayesianNetwork, entries: Iterable[int]) -> dict[int, set[int]]:
    """Return the moral graph of some entries and their ancestors.

    >>> net = BayesianNetwork([("x", [0, 1], [], [0.5, 0.5]), ("y", [0, 1], [], [0.8, 0.2]),
    ...                        ("z", [0, 1], ["x", "y"], [[[0.5, 0.5], [0.1, 0.9]], [[0.2, 0.8], [0.4, 0.6]]])])
    >>> moral_graph(net, [0, 1]), moral_graph(net, [2])
    ({0: set(), 1: set()}, {0: {1, 2}, 1: {0, 2}, 2: {0, 1}})
    """
    alive = network.ancestral(entries)
    near: dict[int, set[int]] = {v: set() for v in alive}
    for child in alive:
        family = {child, *network.parents[child]}
        for v in family:
            near[v] |= family - {v}
    return near


def boundary(near: dict[int, set[int]], variable: int, left: Collection[int]) -> tuple[int, ...]:
    """Return the shield of a variable within `left`."""
    visited, stack, met = {variable}, [variable], set()
    while stack:
        for u in near[stack.pop()] - visited:
            visited.add(u)
            if u in left:
                met.add(u)
            else:
                stack.append(u)
    return tuple(sorted(met))
