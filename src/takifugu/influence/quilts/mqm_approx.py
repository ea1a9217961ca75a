"""MQMApprox: influences that depend on distances only, by the constants (pi, g) (Song17 Algorithms 3 to 5).

Song17 Lemma B.4 bounds max-influence for all reversible chains with constants (pi, g), whatever their initial law.

    right_b <= E(b),  left_{i,a} <= 2 E(a),  E(n) = log((pi + e^{-gn})/(pi - e^{-gn})) = 2 artanh(e^{-gn}/pi),

for real nodes at distances n > log(1/pi)/g, strictly (errata E3); nearer nodes are not bounded. A chain that is only
within a relative `defect` d of a reversible one (Constants) has every P^n(x, y) within n d of it, to first order: that
adds 2 b d to the first bound and 4 a d to the second, whose proof uses four such factors.

Algorithm 5 examines the entry in the middle alone where its best quilt has two nodes (Claim B.11), and may fail
(errata E10). Here the quilt of the middle is tried at every entry, which settles all of them just as soon.
"""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from takifugu.analysis.bounds import Cost
from takifugu.analysis.questions.influence import Search, Worst
from takifugu.core.arrays import BoolArray, FloatArray, IntArray
from takifugu.core.errors import Unsupported
from takifugu.influence.quilts.sequences import needed
from takifugu.model.beliefs.chains.chain import MarkovChain
from takifugu.numbers.outward_rounding import NEVER, TRUSTED, UNIT

#: Largest number of distances that are looked at; E(n) is below 1e-16 long before, unless g is below 1e-6.
MOST_DISTANCES = 2**23
#: Operations for each entry: a quilt is looked for at most once at every distance, and tried on all entries.
PER_ENTRY = 400.0


@dataclass(frozen=True)
class ClassInfluence:
    """Influences of an entry on nodes of all reversible chains with constants (pi, g): one column, for any pair."""

    pi: float
    g: float
    defect: float = 0.0
    pairs: None = None
    farthest: int = MOST_DISTANCES

    def alive(self, entries: IntArray) -> BoolArray:
        """Mark every entry: each value is possible under some chain."""
        return np.ones((len(entries), 1), dtype=bool)

    def after(self, entry: int, count: int) -> FloatArray:
        """Bound right_b for b up to count, (count, 1)."""
        return self._bounds(np.arange(1, count + 1), 1)

    def before(self, entry: int, count: int) -> FloatArray:
        """Bound left_a for a up to count, (count, 1)."""
        return self._bounds(np.arange(1, count + 1), 2)

    def largest(self, entries: IntArray, left: int | None, right: int | None) -> FloatArray:
        """Bound the quilt at the given distances; None is no node."""
        total = 0.0
        for distance, times in ((left, 2), (right, 1)):
            if distance is not None:
                total += float(self._bounds(np.arange(1, distance + 1), times)[-1, 0])
        return np.full(len(entries), total)

    def _bounds(self, distances: IntArray, times: int) -> FloatArray:
        bound = times * lemma_b4(distances, self.pi, self.g) + 2.02 * times * distances * self.defect
        return np.asarray(np.minimum.accumulate(bound)[:, None])


def lemma_b4(distance: IntArray, pi: float, g: float) -> FloatArray:
    """Return E(n) = log((pi + e^{-gn})/(pi - e^{-gn})), rounded up."""
    exponent = -g * distance
    ratio = np.exp(exponent) / pi
    ratio = ratio * (1 + (8 - 3 * exponent) * UNIT)
    bounded = ratio < 1
    bounded_ratio = np.where(bounded, ratio, 0.0)
    return np.where(bounded, (np.log1p(bounded_ratio) - np.log1p(-bounded_ratio)) * (1 + 8 * UNIT), NEVER)


@dataclass(frozen=True, eq=False)
class ClassSearch(Search):
    """Quilts of all reversible chains with the constants of a class, of any start."""

    def cost(self, epsilon: Fraction) -> Cost:
        """Predict the work: searches at most a sequence long."""
        return Cost(PER_ENTRY * self.part.belief.size, 200.0 * self.part.belief.size)

    def worst(self, epsilon: Fraction) -> Worst:
        chains: Any = self.part.belief
        return needed(self.part, ClassInfluence(chains.pi, chains.g), epsilon)


@dataclass(frozen=True, eq=False)
class OneChainSearch(ClassSearch):
    """Quilts of one reversible chain, by its own constants."""

    def worst(self, epsilon: Fraction) -> Worst:
        chain: Any = self.part.belief
        constants = reversible_constants(chain)
        if isinstance(constants, str):
            raise Unsupported(constants)
        return needed(self.part, ClassInfluence(constants.pi, constants.g, constants.defect), epsilon)


#: Two flows pi_x P(x, y) and pi_y P(y, x) that differ by more than this, relatively, are different.
SAME_FLOW = 1e-12


@dataclass(frozen=True)
class Constants:
    """A reversible chain near the given one, with bounded pi and g."""

    pi: float  # its stationary masses are at least this
    g: float  # and its eigengap
    defect: float  # how far its transition probabilities are from the given ones at most, relatively (rounding)


def reversible_constants(chain: MarkovChain) -> Constants | str:
    """Return pi and g rounded down, or the reason against Lemma B.4 (Song17), which requires a reversible chain."""
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
    # C(x, y)/C(x, .) is reversible, with stationary masses proportional to C(x, .), exactly, and close to P.
    symmetric = (flows + flows.T) / 2
    mass = symmetric.sum(axis=1)
    # Its second eigenvalue modulus is the norm of C(x, y)/sqrt(C(x, .) C(y, .)) - v v', v = sqrt(C(x, .)/C(., .)).
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
    # A bound t is proved by Cholesky factors of t I -+ the matrix, shifted by what rounding can hide (Rump 2006).
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
