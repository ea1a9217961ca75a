"""The loss of a secret entry by taking the other variables out one by one: each is charged to all its neighbours.

Taking v out adds to each variable u that is left the maximum over z, the other ones, of
S(P(v | z, u = a), P(v | z, u = b); c_v). Where (z, u) is impossible the row of a possible neighbour is taken: one table
for all u. Because v is charged to every neighbour, the sum can be above that of all c_t: it is one bound of several. It
needs one supremum for each row of a table, where bags need one for each pair. Source: Theorem 6 of
docs/theory/influence.md.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from takifugu.beliefs.network import BayesianNetwork
from takifugu.influence.conditionals import Rows, boundary, conditional_rows, moral_graph, too_wide
from takifugu.influence.rounding import FloatArray, sum_up
from takifugu.influence.suprema import suprema

#: Rows of a table that are compared with each other.
MOST_ROWS = 256


def loss_by_elimination(
    network: BayesianNetwork, tables: Mapping[int, FloatArray], entry: int, order: Sequence[int]
) -> FloatArray:
    """Return the loss of each pair of an entry's values, shape (k, k), by one order of all other variables with losses.

    `tables` are c_t of the order's variables and of the entry. Raises Unsupported for tables that are too large.
    """
    charged = {v: np.array(tables[v], dtype=float) for v in (*order, entry)}
    left = {*order, entry}
    for v in order:
        left.discard(v)
        near = moral_graph(network, (*left, v))
        shield = boundary(near, v, left)
        if not shield or not charged[v].any():
            continue
        rows = conditional_rows(network, shield, (v,))
        sizes = [len(network.alphabet(u)) for u in shield]
        for u, added in zip(shield, _added(rows, sizes, charged[v]), strict=True):
            charged[u] = sum_up(charged[u], added)
    return charged[entry]


def _added(rows: Rows, sizes: Sequence[int], ratio: FloatArray) -> list[FloatArray]:
    """Return what each neighbour is charged: the maximum over the others' values of the supremum of its pairs."""
    values = rows.states[:, 0]
    within = ratio[np.ix_(values, values)]
    table, inverse = np.unique(rows.rows, axis=0, return_inverse=True)
    if len(table) > MOST_ROWS:
        raise too_wide(float(len(table)) ** 2)
    if len(table) < 2:
        between = np.zeros((1, 1))
    elif rows.trusted:
        between = suprema(table, within, rows.error)
    else:
        between = np.full((len(table), len(table)), within.max(initial=0.0))
        np.fill_diagonal(between, 0.0)
    index = np.full(sizes, -1)
    index[tuple(rows.contexts.T)] = inverse.ravel()
    index = _copied(index)
    charges = []
    for axis, size in enumerate(sizes):
        of_value = np.moveaxis(index, axis, 0).reshape(size, -1)
        charges.append(between[of_value[:, None, :], of_value[None, :, :]].max(axis=2))
    return charges


def _copied(index: np.ndarray) -> np.ndarray:
    """Return the table with each impossible place taken from a possible neighbour, which differs in one variable."""
    while (index < 0).any():
        for axis in range(index.ndim):
            lines = np.moveaxis(index, axis, -1)
            some = lines.max(axis=-1, keepdims=True)
            lines[...] = np.where(lines < 0, np.broadcast_to(some, lines.shape), lines)
    return index
