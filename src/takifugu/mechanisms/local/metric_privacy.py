"""Metric privacy as a promise of a linear program: no output tells values at distance d apart by more than epsilon d.

K_xy <= e^(epsilon d(x, x') / s) K_x'y along `edges`, s their stretch. Multiplied along a shortest path of edges, which
is at most s d long, it implies every pair. With s = 1 nothing is lost: for l1 distance on a full rectangle that holds
for its grid edges.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from takifugu.core.errors import InputError
from takifugu.mechanisms.common.channel_program import Limits, ratio_limits
from takifugu.mechanisms.local.measuring import Floats, metric_loss
from takifugu.mechanisms.local.promises import budget
from takifugu.numbers.distributions.channel import Channel
from takifugu.numbers.rationals import Number
from takifugu.numbers.transport.bottleneck import Metric, checked_distances


@dataclass(frozen=True)
class MetricPrivacy:
    """No output tells two values at distance d apart by more than epsilon d.

    `edges` are pairs of input numbers: with them the program is small, and where their stretch s is above 1 it keeps
    epsilon / s along them, so that its channel is not the best for all pairs. Without edges all pairs are constrained.
    """

    epsilon: Fraction
    metric: Metric
    edges: tuple[tuple[int, int], ...] | None = None

    def numbers(self, inputs: int, outputs: int) -> int:
        return 4 * outputs * (len(self.edges) if self.edges else inputs * (inputs - 1) // 2)

    def rows(self, inputs: Sequence[Hashable], outputs: int, inside: float) -> Limits:
        return ratio_limits(self.columns(inputs, inside), outputs)

    def columns(self, inputs: Sequence[Hashable], inside: float) -> Any:
        distances = checked_distances(list(inputs), list(inputs), self.metric).astype(float)
        pairs = self.edges or [(i, j) for i in range(len(inputs)) for j in range(i)]
        return distance_ratios(distances, pairs, inside * float(self.epsilon) / self.necessary(inputs))

    def necessary(self, inputs: Sequence[Hashable]) -> float:
        return stretch(inputs, self.metric, self.edges) if self.edges else 1.0

    def measured(self, channel: Channel) -> float:
        return metric_loss(channel, self.metric)

    def keeps(self, channel: Channel) -> bool:
        return self.measured(channel) <= self.epsilon

    def describe(self) -> str:
        return f"metric privacy {float(self.epsilon):g} per unit of distance"


def hides_distance(epsilon: Number, metric: Metric, edges: Iterable[tuple[int, int]] | None = None) -> MetricPrivacy:
    """Return the promise of metric privacy; for `edges` see `MetricPrivacy`, `grid_edges` and `spanner`."""
    return MetricPrivacy(budget(epsilon), metric, None if edges is None else tuple(edges))


def distance_ratios(distances: Floats, pairs: Sequence[tuple[int, int]], rate: float) -> Any:
    """Return the constraints x_i <= e^(rate d_ij) x_j of pairs of numbers, both ways, each divided by its factor."""
    from scipy.sparse import csr_array

    both = np.array([*pairs, *((j, i) for i, j in pairs)])
    steps = np.arange(len(both))
    places = (np.concatenate([steps, steps]), np.concatenate([both[:, 0], both[:, 1]]))
    # Divided by the larger factor: no number of the program is above 1.
    values = np.concatenate([np.exp(-rate * distances[both[:, 0], both[:, 1]]), -np.ones(len(both))])
    return csr_array((values, places), shape=(len(both), len(distances)))


def grid_edges(columns: int, rows: int) -> tuple[tuple[int, int], ...]:
    """Return the neighbours on a full rectangle whose places are listed row by row: paths as long as l1 distances.

    >>> grid_edges(2, 2)
    ((0, 1), (0, 2), (1, 3), (2, 3))
    """
    at = [(row, column) for row in range(rows) for column in range(columns)]
    right = [(r * columns + c, r * columns + c + 1) for r, c in at if c + 1 < columns]
    down = [(r * columns + c, (r + 1) * columns + c) for r, c in at if r + 1 < rows]
    return tuple(sorted([*right, *down]))


def stretch(points: Sequence[Hashable], metric: Metric, edges: Sequence[tuple[int, int]]) -> float:
    """Return the largest ratio of a shortest path along edges to the distance: 1 where edges imply all pairs.

    A channel that keeps epsilon along the edges keeps epsilon times this for all pairs. Infinite where edges do not
    connect the points.
    """
    from scipy.sparse import csr_array
    from scipy.sparse.csgraph import shortest_path

    distances = checked_distances(list(points), list(points), metric).astype(float)
    pairs = np.array(edges)
    lengths = csr_array((distances[pairs[:, 0], pairs[:, 1]], (pairs[:, 0], pairs[:, 1])), shape=distances.shape)
    paths = shortest_path(lengths, directed=False)
    apart = ~np.eye(len(points), dtype=bool)
    return float((paths[apart] / distances[apart]).max(initial=1.0))


def spanner(points: Sequence[Hashable], metric: Metric, most: float) -> tuple[tuple[int, int], ...]:
    """Return edges along which no pair is farther than `most` times its distance: the greedy spanner (Althöfer 1993).

    Raises InputError unless `most` is at least 1.
    """
    if most < 1:
        raise InputError(f"the stretch is {most!r}", rule="it is at least 1").at("most")
    distances = checked_distances(list(points), list(points), metric).astype(float)
    count = len(points)
    along = np.where(np.eye(count, dtype=bool), 0.0, math.inf)
    chosen = []
    pairs = [(int(i), int(j)) for i, j in zip(*np.triu_indices(count, 1), strict=True)]
    for i, j in sorted(pairs, key=lambda pair: (distances[pair], pair)):
        distance = distances[i, j]
        if along[i, j] > most * distance * (1 + 1e-12):
            chosen.append((i, j))
            through = np.minimum(along[:, [i]] + distance + along[[j], :], along[:, [j]] + distance + along[[i], :])
            along = np.minimum(along, through)
    return tuple(chosen)
