"""The loss of a secret entry by taking the other variables out one by one: each is charged to all its neighbours.

Taking v out adds to each variable u that is left the maximum over z, the other ones, of
S(P(v | z, u = a), P(v | z, u = b); c_v). Where (z, u) is impossible the row of a possible neighbour is taken: one table
for all u. Because v is charged to every neighbour, the sum can be above that of all c_t: it is one bound of several. It
needs one supremum for each row of a table, where bags need one for each pair. Source: Theorem 6 of
docs/theory/influence.md.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from takifugu.core.arrays import FloatArray, IntArray
from takifugu.core.cache import cached
from takifugu.core.errors import Unsupported
from takifugu.influence.networks.conditionals import (
    boundary,
    conditional_rows,
    moral_graph,
    taken_from_neighbours,
    too_wide,
)
from takifugu.influence.profiles.suprema import suprema
from takifugu.model.beliefs.networks.network import BayesianNetwork
from takifugu.numbers.outward_rounding import sum_up

#: Rows of a table that are compared with each other.
MOST_ROWS = 256


@dataclass(frozen=True, eq=False)
class Step:
    """One variable taken out: its different rows given its shield.

    `row_of` says which row each value of the shield takes.
    """

    variable: int
    shield: tuple[int, ...]
    values: IntArray
    table: FloatArray
    row_of: IntArray  # one axis for each variable of the shield
    error: float | None  # None where digits may be lost


def loss_by_elimination(
    network: BayesianNetwork, tables: Mapping[int, FloatArray], entry: int, order: Sequence[int]
) -> FloatArray:
    """Return the loss (k, k) of pairs of values by one order.

    The order has all other variables with losses. `tables` are c_t of the order's variables and of the entry. Raises
    Unsupported for tables that are too large.
    """
    charged = {v: np.array(tables[v], dtype=float) for v in (*order, entry)}
    for step in steps_of(network, entry, order):
        if charged[step.variable].any():
            for u, added in zip(step.shield, _added(step, charged[step.variable]), strict=True):
                charged[u] = sum_up(charged[u], added)
    return charged[entry]


def steps_of(network: BayesianNetwork, entry: int, order: Sequence[int]) -> tuple[Step, ...]:
    """Return the laws of an order, unless too large."""
    plans: dict[tuple[int, ...], tuple[Step, ...] | Unsupported] = cached(network, "orders of elimination", dict)
    key = (entry, *order)
    if key not in plans:
        try:
            plans[key] = tuple(_steps(network, entry, order))
        except Unsupported as error:
            plans[key] = error
    plan = plans[key]
    if isinstance(plan, Unsupported):
        raise plan
    return plan


def _steps(network: BayesianNetwork, entry: int, order: Sequence[int]) -> Iterator[Step]:
    cached_steps: dict[tuple[int, ...], Step] = cached(network, "steps of elimination", dict)
    left = {*order, entry}
    for v in order:
        left.discard(v)
        shield = boundary(moral_graph(network, (*left, v)), v, left)
        if not shield:
            continue
        key = (v, *shield)
        if key not in cached_steps:
            cached_steps[key] = _step(network, v, shield)
        yield cached_steps[key]


def _step(network: BayesianNetwork, variable: int, shield: tuple[int, ...]) -> Step:
    rows = conditional_rows(network, shield, (variable,))
    table, inverse = rows.rows, np.arange(len(rows.rows))
    if rows.trusted:  # else rows that look alike need not be
        table, inverse = np.unique(table, axis=0, return_inverse=True)
    if len(table) > MOST_ROWS:
        raise too_wide()
    row_of = np.full([len(network.alphabet(u)) for u in shield], -1)
    row_of[tuple(rows.contexts.T)] = inverse.ravel()
    row_of = taken_from_neighbours(row_of)
    error = rows.error if rows.trusted else None
    return Step(variable, shield, rows.states[:, 0], table, row_of, error)


def _added(step: Step, ratio: FloatArray) -> Iterator[FloatArray]:
    """Yield each neighbour's charge: the largest supremum over the others' values."""
    within = ratio[np.ix_(step.values, step.values)]
    if step.error is not None:
        between = suprema(step.table, within, step.error)
    else:
        between = within.max() * (1 - np.eye(len(step.table)))
    for axis, size in enumerate(step.row_of.shape):
        of_value = np.moveaxis(step.row_of, axis, 0).reshape(size, -1)
        yield between[of_value[:, None, :], of_value[None, :, :]].max(axis=2)
