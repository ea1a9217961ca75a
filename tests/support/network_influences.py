"""The influence of a quilt of a network, as one table over all pairs of values of an entry."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from takifugu.influence.quilts.network.influence import influences_of
from takifugu.model.beliefs.networks.network import BayesianNetwork
from takifugu.numbers.log_ratios import NEVER, FloatArray


def influences(network: BayesianNetwork, entry: int, quilt: Iterable[int]) -> FloatArray:
    """Return e[a, b] >= max over x_Q of log P(X_Q = x_Q | X_i = a)/P(X_Q = x_Q | X_i = b), shape (k, k)."""
    known, k = influences_of(network), len(network.alphabet(entry))
    total = np.zeros((k, k))
    for cluster in known.clusters(entry, quilt):
        total = total + known.cluster(entry, cluster)
    return np.minimum(total, NEVER)
