"""The constants (pi, g) of one reversible chain, as bounds that hold in spite of rounding (Song17 §4.1)."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass

import numpy as np

from takifugu.core.arrays import FloatArray
from takifugu.model.beliefs.chains.chain import MarkovChain
from takifugu.numbers.log_ratios import TRUSTED, UNIT

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
            "the bound requires both; use quilt-exact"
        )
    k, flows = len(chain.states), chain.stationary[:, None] * chain.matrix
    if reason := _one_way(chain.matrix, flows):
        return reason
    used = flows > 0
    gap = float((np.abs(flows - flows.T)[used] / np.minimum(flows, flows.T)[used]).max())
    if gap > SAME_FLOW:
        return (
            f"the chain is not reversible: the flow between two states differs by a relative {gap:.2g} in its two "
            f"directions (at most {SAME_FLOW:g} is taken as rounding), and the bound requires it; use quilt-exact"
        )
    symmetric = (flows + flows.T) / 2
    mass = symmetric.sum(axis=1)
    norm = _norm_bound(symmetric / np.sqrt(np.outer(mass, mass)) - np.sqrt(np.outer(mass, mass)) / mass.sum())
    g = 1 - norm - 4 * UNIT
    if g <= 0:
        return "the chain's eigengap is not above 0 in floats, and the bound requires it; use quilt-exact"
    pi = float(mass.min() / mass.sum()) * (1 - (k**2 + 4 * k + 16) * UNIT)
    return Constants(pi, g, gap + (4 * k + 16) * UNIT)


def _one_way(p: FloatArray, flows: FloatArray) -> str:
    """Return why flows cannot be compared with those back, or ""."""
    if (flows[p > 0] < TRUSTED).any():
        return (
            "the flow between two states (stationary mass times transition probability) is below 1e-270, too small for "
            "its constants in floats; use quilt-exact"
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
