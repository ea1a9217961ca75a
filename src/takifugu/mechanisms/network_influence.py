"""Max-influence on a Bayesian network: exact, by elimination, cluster by cluster (004 Definition 4.1).

Quilt nodes that are d-separated given X_i are independent given X_i (as sets: d-separation is closed under unions), so
log P(x_Q | a)/P(x_Q | b) is a sum over clusters of d-connected quilt nodes, and so is its maximum over x_Q. On a chain
the clusters are the two sides; on a tree the branches.
"""

from __future__ import annotations

from collections.abc import Iterable
from weakref import WeakKeyDictionary

import numpy as np

from takifugu.beliefs.network import BayesianNetwork
from takifugu.errors import Unsupported
from takifugu.mechanisms.log_ratios import NEVER, FloatArray, largest_differences, log_bounds, log_rounding

#: Joint tables of a cluster beyond this many numbers are not made: the quilt counts as useless.
LARGEST_CLUSTER = 2e5

_Cluster = tuple[int, frozenset[int]]
_KNOWN: WeakKeyDictionary[BayesianNetwork, dict[_Cluster, FloatArray]] = WeakKeyDictionary()


def influences(network: BayesianNetwork, entry: int, quilt: Iterable[int]) -> FloatArray:
    """Return e[a, b] >= max over x_Q of log P(X_Q = x_Q | X_i = a)/P(X_Q = x_Q | X_i = b), shape (k, k).

    Rounding errors are charged upwards. NEVER where x_Q is possible given a only, or where the tables would be too
    large. Rows and columns of impossible values are meaningless.

    >>> net = BayesianNetwork([("x", [0, 1], [], [0.5, 0.5]), ("y", [0, 1], ["x"], [[0.8, 0.2], [0.2, 0.8]])])
    >>> round(float(influences(net, 0, [1])[0, 1]), 6)  # log 4
    1.386294
    """
    known = _KNOWN.setdefault(network, {})
    k = len(network.alphabet(entry))
    total = np.zeros((k, k))
    for cluster in clusters(network, entry, quilt):
        key = (entry, cluster)
        if key not in known:
            known[key] = _cluster_influence(network, entry, tuple(sorted(cluster)))
        total = total + known[key]
    return np.minimum(total, NEVER)


def clusters(network: BayesianNetwork, entry: int, quilt: Iterable[int]) -> list[frozenset[int]]:
    """Return the quilt's nodes in groups that are independent of each other given X_entry."""
    left = set(quilt)
    if network.depths is not None and len(left) > 1:
        return _branches(network, network.depths, entry, left)
    groups = []
    while left:
        start = left.pop()
        group, stack = {start}, [start]
        while stack:
            joined = network.near_set(stack.pop(), [entry]) & left
            left -= joined
            group |= joined
            stack += joined
        groups.append(frozenset(group))
    return groups


def _branches(network: BayesianNetwork, depths: tuple[int, ...], entry: int, quilt: set[int]) -> list[frozenset[int]]:
    """Return the quilt by branches of a tree: below each child of the entry, and everything else."""
    found: dict[int, set[int]] = {}
    for node in quilt:
        branch = node
        while depths[branch] > depths[entry] + 1:
            branch = network.parents[branch][0]
        below = network.parents[branch] == (entry,)
        found.setdefault(branch if below else entry, set()).add(node)
    return [frozenset(group) for group in found.values()]


def _cluster_influence(network: BayesianNetwork, entry: int, cluster: tuple[int, ...]) -> FloatArray:
    k = len(network.alphabet(entry))
    if network.law_plan([*cluster, entry]).largest > LARGEST_CLUSTER:
        return np.full((k, k), NEVER)
    try:
        table, error = network.law([*cluster, entry])
    except Unsupported:
        return np.full((k, k), NEVER)
    cells = table.reshape(-1, k)
    positive = cells > 0 if (cells > 0).all() else network.support([*cluster, entry]).reshape(-1, k)
    upper, lower = log_bounds(cells, positive)
    with np.errstate(divide="ignore"):
        own = np.log(cells.sum(axis=0))
    finite = own[np.isfinite(own)]
    own = np.where(np.isfinite(own), own, 0.0)
    raw = largest_differences(upper.T, lower.T)
    margin = 4 * error + log_rounding(upper, lower, finite)
    return np.where(raw >= NEVER / 2, NEVER, np.maximum(raw + own[None, :] - own[:, None], 0.0) + margin)
