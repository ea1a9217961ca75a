"""Markov quilts of a chain with a proved influence bound, for classes of chains (Song17 Algorithms 3 to 5)."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache

import numpy as np

from takifugu.beliefs.chain import MarkovChain, MarkovChainClass
from takifugu.beliefs.chain_interval import BinaryChainInterval
from takifugu.beliefs.chain_region import ChainRegion
from takifugu.beliefs.contacts import Clique
from takifugu.mechanisms.quilt_exact import IN_A_CLIQUE
from takifugu.problem import Bound, Cost, Part, Problem, Refusal
from takifugu.quilts.chain.binary_interval import interval_influence
from takifugu.quilts.chain.bound import chain_bound
from takifugu.quilts.chain.constants import reversible_constants
from takifugu.quilts.chain.influence import ChainInfluence
from takifugu.quilts.chain.region import region_influence
from takifugu.quilts.chain.reversible_class import ClassInfluence
from takifugu.quilts.chain.scale import Needed, fast_scale, needed_scale
from takifugu.quilts.chain.sides import ChainSides, Influence
from takifugu.secrets import Family

#: Operations for each entry of a sequence: a search looks at most once at every distance, and tries it on all entries.
PER_ENTRY = 400.0


@dataclass(frozen=True)
class QuiltApprox:
    """Laplace noise of scale max over entries of min over quilts of D(N)/(epsilon - e(Q)), e(Q) bounded.

    By Lemma B.4 for the class of all reversible chains with stationary masses >= pi and eigengap >= g with any initial
    distribution, or for one such chain with its own constants. Corrected by errata E3: the bound requires real nodes to
    be farther than log(1/pi)/g, the node after an entry is missing where i + b = T + 1, and e = epsilon is not enough.
    By contraction for a region of transition matrices (region_influence), and exactly for all binary chains with stays
    in an interval (interval_influence); where nothing contracts the trivial quilt remains, as for group.
    """

    name: str = "quilt-approx"
    source: str = "Song, Wang and Chaudhuri 2017, Algorithms 3 to 5 and Lemma B.4, corrected; docs/theory/chain-classes"

    def cost(self, problem: Problem) -> Cost:
        """Predict the work: tables and searches as long as the sequence, at most."""
        entries = [float(part.belief.size) for part in problem.parts]
        return Cost(PER_ENTRY * sum(entries), 200 * max(entries, default=0.0))

    def bound(self, problem: Problem) -> Bound | Refusal:
        return chain_bound(problem, _influence, _needed)


MECHANISM = QuiltApprox()


def _influence(part: Part) -> Influence | Refusal:
    if isinstance(part.belief, MarkovChainClass):
        return _table(part.belief.pi, part.belief.g, 0.0)
    if isinstance(part.belief, ChainRegion):
        return region_influence(part.belief, part.family.pairs)
    if isinstance(part.belief, BinaryChainInterval):
        return interval_influence(part.belief, part.family.pairs)
    if isinstance(part.belief, Clique):
        return Refusal(IN_A_CLIQUE)
    if not isinstance(part.belief, MarkovChain):
        return Refusal("the bound is known for Markov chains only (and independent pieces of them): use wasserstein")
    constants = reversible_constants(part.belief)
    if isinstance(constants, str):
        return Refusal(constants)
    return _table(constants.pi, constants.g, constants.defect)


@lru_cache(maxsize=4)
def _table(pi: float, g: float, defect: float) -> ClassInfluence:
    return ClassInfluence(pi, g, defect)


def _needed(sides: ChainSides, family: Family, epsilon: Fraction) -> Needed:
    """Return the needed scale by Algorithm 5 where it applies and ends, else by the search over all entries."""
    changes = np.diff(sides.change.sums)
    by_distance = not isinstance(sides.influence, ChainInfluence)
    if by_distance and len(family.entries) == sides.length and (changes == changes[0]).all():
        fast = fast_scale(sides, epsilon)
        if fast is not None:
            return fast
    return needed_scale(sides, family, epsilon)
