"""Influences that depend on distances only, for classes of chains, from the constants (pi, g) (Song17 §4.1).

Song17 Lemma B.4 bounds max-influence for all reversible chains with constants (pi, g), whatever their initial law.

    right_b <= E(b),  left_{i,a} <= 2 E(a),  E(n) = log((pi + e^{-gn})/(pi - e^{-gn})) = 2 artanh(e^{-gn}/pi),

for real nodes at distances n > log(1/pi)/g, strictly (errata E3); nearer nodes are not bounded. A chain that is only
within a relative `defect` d of a reversible one (Constants) has every P^n(x, y) within n d of it, to first order: that
adds 2 b d to the first bound and 4 a d to the second, whose proof uses four such factors.
"""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass

import numpy as np

from takifugu.core.arrays import BoolArray, FloatArray, IntArray
from takifugu.model.beliefs.chains.chain import MarkovChain
from takifugu.numbers.outward_rounding import NEVER, TRUSTED, UNIT

#: Largest number of distances that are tabulated; E(n) is below 1e-16 long before, unless g is below 1e-6.
MOST_DISTANCES = 2**23
#: Influences below this cannot be told from rounding: farther nodes do not help.
NEGLIGIBLE = 1e-17


class DistanceInfluence:
    """Tables `_right` and `_left` of bounds by distance 1, 2, ... (rows) and pair of values (columns)."""

    _right: FloatArray
    _left: FloatArray

    def alive(self, entry: int) -> BoolArray:
        """Mark every column: each value is possible under some chain."""
        return np.ones(self._right.shape[1], dtype=bool)

    def secret(self, length: int) -> BoolArray:
        """Mark every entry secret if there is any column."""
        return np.full(length, self._right.shape[1] > 0)

    def prepare(self, length: int) -> None:
        """Do nothing: the bounds hold for every start."""

    def right(self, count: int, entry: int = 0) -> FloatArray:
        """Return bounds on right_b for b up to count, (count, columns)."""
        return self._right[:count]

    def left(self, entry: int, count: int) -> FloatArray:
        """Return bounds on left_{entry,a} for a up to count, (count, columns)."""
        return self._left[:count]

    def largest(
        self, entries: IntArray, left: int | None, right: int | None, pairs: IntArray | None = None
    ) -> FloatArray:
        """Bound the quilt at the given distances; None is no node."""
        raise NotImplementedError

    def special(self, time: int) -> bool:
        """Mark no entry as bounded separately."""
        return False

    def anchored(
        self, entries: IntArray, node: int, right: int | None, pairs: IntArray | None = None
    ) -> FloatArray:
        """Bound the quilt of an earlier entry and a node at `right`."""
        return np.array(
            [self.largest(entries[n : n + 1], int(i - node), right, pairs)[0] for n, i in enumerate(entries)]
        )


class ClassInfluence(DistanceInfluence):
    """Influences of an entry on nodes at distances 1, 2, ..., `reach`: one column, for whatever pair of values."""

    def __init__(self, pi: float, g: float, defect: float = 0.0) -> None:
        self.pi, self.g, self.defect = pi, g, defect
        self.pairs: tuple[tuple[int, int], ...] | None = None
        self.exhausted = False
        self.capped = False
        self.reach = 0
        self._right = self._left = np.empty((0, 1))
        self.extend(1)

    def extend(self, distance: int) -> None:
        """Fill the tables up to `distance`, or as far as useful."""
        if distance <= self.reach or self.exhausted:
            return
        self.reach = min(distance, MOST_DISTANCES)
        n = np.arange(1, self.reach + 1)
        bound = lemma_b4(n, self.pi, self.g)
        self._right = np.minimum.accumulate(bound + 2.02 * n * self.defect)[:, None]
        self._left = np.minimum.accumulate(2 * bound + 4.04 * n * self.defect)[:, None]
        self.capped = self.reach == MOST_DISTANCES
        self.exhausted = self.capped or bool(bound[-1] <= max(NEGLIGIBLE, self.reach * self.defect))

    def largest(
        self, entries: IntArray, left: int | None, right: int | None, pairs: IntArray | None = None
    ) -> FloatArray:
        """Bound the quilt at the given distances; None is no node."""
        from_left = 0.0 if left is None else self._left[left - 1, 0]
        from_right = 0.0 if right is None else self._right[right - 1, 0]
        return np.full(len(entries), from_left + from_right)


def lemma_b4(distance: IntArray, pi: float, g: float) -> FloatArray:
    """Return E(n) = log((pi + e^{-gn})/(pi - e^{-gn})), rounded up.

    >>> lemma_b4(np.array([1, 3]), 0.4, 0.8).round(6).tolist()
    [1e+100, 0.461616]
    """
    exponent = -g * distance
    ratio = np.exp(exponent) / pi
    ratio = ratio * (1 + (8 - 3 * exponent) * UNIT)
    bounded = ratio < 1
    bounded_ratio = np.where(bounded, ratio, 0.0)
    return np.where(bounded, (np.log1p(bounded_ratio) - np.log1p(-bounded_ratio)) * (1 + 8 * UNIT), NEVER)


#: Two flows pi_x P(x, y) and pi_y P(y, x) that differ by more than this, relatively, are different.
SAME_FLOW = 1e-12


@dataclass(frozen=True)
class Constants:
    """A reversible chain near the given one, with bounded pi and g.

    Its stationary masses are >= pi, its eigengap >= g. Each transition probability of the given chain differs from its
    own by a relative `defect` at most (rounding).
    """

    pi: float
    g: float
    defect: float


def reversible_constants(chain: MarkovChain) -> Constants | str:
    """Return pi and g rounded down, or the reason against Lemma B.4.

    The lemma is Song17's, and requires a reversible chain. With flows C(x, y) = (pi_x P(x, y) + pi_y P(y, x))/2 for the
    computed pi, the chain C(x, y)/C(x, .) is reversible with stationary masses proportional to C(x, .), exactly, and
    close to P. Its second largest eigenvalue modulus is the norm of S - v v', S(x, y) = C(x, y)/sqrt(C(x, .) C(y, .)),
    v = sqrt(C(x, .)/C(., .)). A bound t on that norm is proved by the Cholesky factors of t I -+ (S - v v'), shifted by
    what rounding can hide (Rump 2006).

    >>> patterns = reversible_constants(MarkovChain([[0.9, 0.1], [0.4, 0.6]], 10))
    >>> isinstance(patterns, Constants) and (round(patterns.pi, 9), round(patterns.g, 9))
    (0.2, 0.5)
    """
    if not _primitive(chain.matrix > 0):  # a chain that is not may have no one stationary law
        return (
            "the chain is not irreducible and aperiodic (some state is not reached, or only at every other step), and "
            'the bound requires both; use mechanism="quilt-exact"'
        )
    k, flows = len(chain.states), chain.stationary[:, None] * chain.matrix
    if reason := _one_way(chain.matrix, flows):
        return reason
    used = flows > 0
    gap = float((np.abs(flows - flows.T)[used] / np.minimum(flows, flows.T)[used]).max())
    if gap > SAME_FLOW:
        return (
            f"the chain is not reversible: the flow between two states differs by a relative {gap:.2g} in its two "
            f"directions (at most {SAME_FLOW:g} is taken as rounding), and the bound requires it; "
            'use mechanism="quilt-exact"'
        )
    symmetric = (flows + flows.T) / 2
    mass = symmetric.sum(axis=1)
    norm = _norm_bound(symmetric / np.sqrt(np.outer(mass, mass)) - np.sqrt(np.outer(mass, mass)) / mass.sum())
    g = 1 - norm - 4 * UNIT
    if g <= 0:
        return "the chain's eigengap is not above 0 in floats, and the bound requires it; use mechanism=\"quilt-exact\""
    pi = float(mass.min() / mass.sum()) * (1 - (k**2 + 4 * k + 16) * UNIT)
    return Constants(pi, g, gap + (4 * k + 16) * UNIT)


def _one_way(p: FloatArray, flows: FloatArray) -> str:
    """Return why flows cannot be compared with those back, or ""."""
    if (flows[p > 0] < TRUSTED).any():
        return (
            "the flow between two states (stationary mass times transition probability) is below 1e-270, too small for "
            'its constants in floats; use mechanism="quilt-exact"'
        )
    if ((flows > 0) != (flows.T > 0)).any():
        return "the chain is not reversible (a step is possible in one direction only), and the bound requires it"
    return ""


def _norm_bound(matrix: FloatArray) -> float:
    """Bound the spectral norm of the exact symmetric matrix behind `matrix`."""
    k = len(matrix)
    rounding = (3 * k + 20) * UNIT
    hidden = 2 * (k + 2) * (k + 4) * UNIT
    slack = hidden + 8 * k * UNIT
    largest = float(np.abs(np.linalg.eigvalsh(matrix)).max())
    while largest + slack < 1:
        shifted = (largest + slack - hidden) * np.eye(k)
        with suppress(np.linalg.LinAlgError):
            np.linalg.cholesky(shifted - matrix)
            np.linalg.cholesky(shifted + matrix)
            return largest + slack + rounding
        slack *= 2
    return 1.0


def _primitive(steps: np.ndarray[tuple[int, ...], np.dtype[np.bool_]]) -> bool:
    """Return whether some power of a zero pattern is positive."""
    power, reach = steps, 1
    while reach <= (len(steps) - 1) ** 2:
        power = (power.astype(np.float32) @ power) > 0
        reach *= 2
    return bool(power.all())
