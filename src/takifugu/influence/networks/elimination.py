"""The loss of a secret entry by taking the other variables out one by one: each is charged to all its neighbours.

Taking v out adds to each variable u that is left the maximum over z, the other ones, of
S(P(v | z, u = a), P(v | z, u = b); c_v). Where (z, u) is impossible the row of a possible neighbour is taken: one table
for all u. Because v is charged to every neighbour, the sum can be above that of all c_t: it is one bound of several. It
needs one supremum for each row of a table, where bags need one for each pair. Source: Theorem 6 of
docs/theory/influence.md.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from takifugu.core.arrays import FloatArray
from takifugu.core.cache import cached
from takifugu.core.errors import Unsupported
from takifugu.influence.networks.conditionals import Clique, Rows, boundary, conditional, moral_graph
from takifugu.influence.profiles.suprema import suprema
from takifugu.model.beliefs.networks.network import BayesianNetwork
from takifugu.numbers.outward_rounding import sum_up

#: Rows of a table that are compared with each other.
MOST_ROWS = 256


@dataclass(frozen=True, eq=False)
class Step:
    """One variable taken out, and its rows given its shield."""

    variable: int
    shield: tuple[int, ...]
    rows: Rows


def loss_by_elimination(
    network: BayesianNetwork, tables: Mapping[int, FloatArray], entry: int, order: Sequence[int]
) -> FloatArray:
    """Return the loss (k, k) of pairs of an entry's values by one order of all others with losses."""
    # `tables` are c_t of the order's variables and of the entry.
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
            plans[key] = error.with_traceback(None)  # which would keep all frames, and what they have read
    plan = plans[key]
    if isinstance(plan, Unsupported):
        raise Unsupported(plan.message, rule=plan.rule, fix=plan.fix)
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
    scope = (*shield, variable)
    clique = Clique(network, scope, tuple(len(network.alphabet(v)) for v in scope))
    rows = conditional(clique, shield, math.inf, MOST_ROWS, math.inf)
    if rows is None:
        raise Unsupported(
            "this bound would need tables of too many numbers", fix="the sum over all entries still holds"
        )
    return Step(variable, shield, rows)


def _added(step: Step, ratio: FloatArray) -> Iterator[FloatArray]:
    """Yield each neighbour's charge: the largest supremum over the others' values."""
    rows = step.rows
    between = suprema(rows.table, ratio[np.ix_(rows.columns, rows.columns)], rows.error)
    row_of = rows.row_of.reshape(rows.contexts)
    for axis, size in enumerate(rows.contexts):
        of_value = np.moveaxis(row_of, axis, 0).reshape(size, -1)
        yield between[of_value[:, None, :], of_value[None, :, :]].max(axis=2)
