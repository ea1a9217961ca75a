"""What steps of a class of chains do to a loss, by bounds that see only how much the likelihood behind them varies.

Let phi lie in [m, e^s m]. For every chain of the class `after` bounds log p.phi/q.phi, p and q the laws of the entry d
steps on given the values a and b (R), or d steps back, whatever the law of the start (L). Proofs: "Classes" of
docs/theory/influence.md, by Lemmas 1 and 2 of docs/theory/chain-classes.md.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import permutations
from typing import Protocol

import numpy as np

from takifugu.core.arrays import FloatArray, IntArray
from takifugu.influence.chains.kernels import LONGEST_JUMP, contraction, jumps
from takifugu.influence.quilts.chain.region import RegionInfluence, longer, odds, total_variation
from takifugu.model.beliefs.chains.chain import MarkovChainClass
from takifugu.model.beliefs.chains.chain_region import ChainRegion
from takifugu.numbers.outward_rounding import UNIT

#: Products of up to so many matrices of a region are looked at row by row.
ROW_BY_ROW = 16


class ClassSide(Protocol):
    """One direction of a class of chains, with its jumps, 1 first."""

    @property
    def states(self) -> int: ...

    @property
    def distances(self) -> IntArray: ...

    def after(self, sizes: FloatArray) -> FloatArray:
        """Return the bounds for the first distances, shape (sizes, k, k)."""
        ...


@dataclass(frozen=True, eq=False)
class RowsOfRegion:
    """R of a region: Lemma 1 on the boxes of products, and Birkhoff's contraction."""

    distances: IntArray
    most: FloatArray  # (n, k, k): whatever phi is
    tanh: FloatArray  # (n,): of a quarter of the projective diameter
    odds: FloatArray  # (row by row, k, k)
    spread: FloatArray

    @property
    def states(self) -> int:
        return int(self.most.shape[1])

    def after(self, sizes: FloatArray) -> FloatArray:
        n, size = len(sizes), sizes[:, None, None]
        bound = np.minimum(self.most[:n], _by_tanh(self.tanh[:n, None, None], size / 4, 4.0))
        near = min(n, len(self.odds))
        ratio = np.full((near, self.states, self.states), np.inf)
        with np.errstate(divide="ignore", over="ignore"):
            np.divide(1 / np.expm1(size[:near]), self.spread[:near], out=ratio, where=self.spread[:near] > 0)
            weights = (ratio + self.odds[:near]) * (1 - 8 * UNIT)
            averages = np.where(weights > 0, np.log1p(1 / weights), np.inf) * (1 + 8 * UNIT)
        bound[:near] = np.minimum(bound[:near], averages)
        return _bounded(bound, size)


@dataclass(frozen=True, eq=False)
class StartsOfRegion:
    """L of a region under any start: Lemma 2 with the cross ratios of products."""

    distances: IntArray
    height: FloatArray  # (n, k, k)

    @property
    def states(self) -> int:
        return int(self.height.shape[1])

    def after(self, sizes: FloatArray) -> FloatArray:
        size = sizes[:, None, None]
        return _bounded(contraction(self.height[: len(sizes)], size), size)


@dataclass(frozen=True, eq=False)
class OfReversible:
    """Both directions of all reversible chains with given pi and g.

    Stationary masses are >= pi, the eigengap >= g. |P^d(x, y)/pi(y) - 1| <= D_d = (1 - g)^d (1/pi - 1), so that tanh of
    the loss over `parts` is at most D_d tanh(s/parts): 2 for R, 4 for L under any start.
    """

    states: int
    distances: IntArray
    deviation: FloatArray  # D_d, at most 1
    parts: float

    def after(self, sizes: FloatArray) -> FloatArray:
        bound = _by_tanh(self.deviation[: len(sizes)], sizes / self.parts, self.parts)
        bounds = np.broadcast_to(bound[:, None, None], (len(sizes), self.states, self.states)).copy()
        return _bounded(bounds, sizes[:, None, None])


def sides_of_region(region: ChainRegion) -> tuple[RowsOfRegion, StartsOfRegion]:
    """Return R and L of all chains of a region.

    >>> region = ChainRegion([[0.7, 0.2], [0.3, 0.6]], [[0.8, 0.3], [0.4, 0.7]], length=100)
    >>> ahead, behind = sides_of_region(region)
    >>> [round(float(side.after(np.array([1.0]))[0, 0, 1]), 6) for side in (ahead, behind)]
    [0.449105, 0.499061]
    """
    low, high = region.reachable
    k = len(low)
    pairs = list(permutations(range(k), 2))
    influence = RegionInfluence(region, pairs)
    influence.extend(LONGEST_JUMP)
    distances = jumps(influence.reach)
    most, height = np.zeros((2, len(distances), k, k))
    for column, (a, b) in enumerate(influence.pairs or ()):
        most[:, a, b] = influence.right(influence.reach)[distances - 1, column]
        height[:, a, b] = influence.left(0, influence.reach)[distances - 1, column]
    lower, upper = np.eye(k), np.eye(k)
    by_row = []
    for _ in range(min(ROW_BY_ROW, influence.reach)):
        lower, upper = longer(low, high, lower, largest=False), longer(low, high, upper, largest=True)
        turned = odds(lower, upper)
        distance = np.minimum(total_variation(lower, upper), (1 + 8 * UNIT) / (1 + turned + turned.T))
        by_row.append((turned, distance))
    tables = np.array(by_row)
    tanh = np.minimum(np.tanh(height.max(axis=(1, 2)) / 4) * (1 + 8 * UNIT), 1.0)
    return RowsOfRegion(distances, most, tanh, tables[:, 0], tables[:, 1]), StartsOfRegion(distances, height)


def sides_of_class(chains: MarkovChainClass) -> tuple[OfReversible, OfReversible]:
    """Return R and L of all reversible chains with constants (pi, g)."""
    distances = jumps(LONGEST_JUMP)
    log_rate = np.log1p(-chains.g) if chains.g < 1 else -np.inf
    logs = distances * log_rate * (1 - 4 * UNIT) + np.log(1 / chains.pi - 1) + 16 * UNIT * abs(np.log(chains.pi))
    deviation = np.minimum(np.exp(logs) * (1 + (16 + 4 * np.abs(np.maximum(logs, -800.0))) * UNIT), 1.0)
    states = len(chains.states)
    return OfReversible(states, distances, deviation, 2.0), OfReversible(states, distances, deviation, 4.0)


def _by_tanh(factor: FloatArray, share: FloatArray, parts: float) -> FloatArray:
    """Return parts * artanh(factor * tanh(share)), rounded up; it may be infinite."""
    product = np.minimum(factor * np.tanh(share) * (1 + 16 * UNIT), 1.0)
    with np.errstate(divide="ignore"):
        return np.asarray(parts * np.arctanh(product) * (1 + 8 * UNIT))


def _bounded(bound: FloatArray, size: FloatArray) -> FloatArray:
    """Return bounds between 0 and s, of diagonal 0."""
    bound = np.clip(bound, 0.0, size)
    places = np.arange(bound.shape[1])
    bound[:, places, places] = 0.0
    return np.asarray(bound)
