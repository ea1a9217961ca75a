"""Exact max-influence over all binary chains that stay with probabilities in [low, 1 - low] (Song17 §6).

Theorem (docs/theory/chain-classes.md). Let l = low, L = 1 - 2l and r_n = log((1 + L^n)/(1 - L^n)). For an entry i and a
quilt {X_{i-a}, X_{i+b}} the supremum of e over the class and over all initial laws is r_a + r_i + r_b; without a node
before it is r_b, without one after r_a + r_i. It is that of the one chain p0 = p1 = 1 - l with any initial
distribution. So the influences of this chain are those of the class.
"""

from __future__ import annotations

from collections.abc import Iterable

from takifugu.beliefs.chain_interval import BinaryChainInterval
from takifugu.quilts.chain.influence import ChainInfluence, chain_influence


def interval_influence(
    chains: BinaryChainInterval, pairs: Iterable[tuple[int, int]] | None = None
) -> ChainInfluence:
    """Return the influences of the class: suprema over all its chains and initial laws, rounded up.

    >>> influence = interval_influence(BinaryChainInterval(0.25, length=9))
    >>> influence.extend(3)
    >>> influence.right(3)[:, 0].round(6).tolist()
    [1.098612, 0.510826, 0.251314]
    """
    return chain_influence(chains.worst, pairs)
