"""The quilts of chains and of classes of chains: what each search costs, and what the worst entry needs.

For all binary chains that stay with probabilities in [low, 1 - low] influences are exact (Song17 §5). Theorem
(docs/theory/chain-classes.md). Let l = low, L = 1 - 2l and r_n = log((1 + L^n)/(1 - L^n)). For an entry i and a quilt
{X_{i-a}, X_{i+b}} the supremum of e over the class and over all initial laws is r_a + r_i + r_b; without a node before
it is r_b, without one after r_a + r_i. It is that of the one chain p0 = p1 = 1 - l with any initial distribution. So
the influences of this chain are those of the class (`interval_influence`).
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction
from functools import lru_cache, partial
from typing import Any

import numpy as np

from takifugu.analysis.bounds import Cost, Witness
from takifugu.analysis.problem import Part
from takifugu.analysis.questions.influence import InfluenceOf, Pairs, Quilts, Search, Worst, no_search
from takifugu.core.errors import InputError, Unsupported
from takifugu.influence.quilts.chain.class_influence import ClassInfluence, reversible_constants
from takifugu.influence.quilts.chain.influence import MOST_HELD, ChainInfluence, chain_influence
from takifugu.influence.quilts.chain.region import RegionInfluence, region_influence
from takifugu.influence.quilts.chain.scale import Needed, fast_scale, needed_scale
from takifugu.influence.quilts.chain.sides import ChainSides, entries_searched, quilt_witness, worst_pair
from takifugu.influence.quilts.near_sets import query_change
from takifugu.model.beliefs.chains.chain import BinaryChainInterval, MarkovChain, MarkovChainClass
from takifugu.model.beliefs.chains.chain_region import ChainRegion
from takifugu.model.beliefs.chains.periodic_chain import PeriodicChain
from takifugu.numbers.runs import Runs

#: Operations for each entry: with exact influence every quilt that was found is tried on all of them; with bounds a
#: search looks at most once at every distance, and tries it on all entries.
PER_ENTRY, PER_BOUNDED_ENTRY = 200.0, 400.0


@dataclass(frozen=True, eq=False)
class ExactSearch(Search):
    """Quilts of a chain of a stationary, given or unknown initial distribution, with exact influence."""

    def cost(self, epsilon: Fraction) -> Cost:
        """Predict the work: tables up to the widest useful quilt, and entries."""
        chain: Any = self.part.belief
        pairs = float(len(chain.states)) ** 2
        distance = _distance(chain, float(epsilon))
        tabled = distance * len(chain.step_matrices)
        entries = entries_searched(chain.length, Runs.of(self.part.answer.entry_changes()), distance)
        operations = tabled * (6 * pairs**1.5 + 40 * pairs) + PER_ENTRY * entries
        return Cost(operations, 24 * tabled * pairs + 80 * entries)

    def worst(self, epsilon: Fraction) -> Worst:
        sides = _sides(self.part, chain_influence)
        return _worst(self.part, sides, needed_scale(sides, self.part.family, epsilon))


def _distance(chain: PeriodicChain, epsilon: float) -> float:
    """Guess the farthest searched node from the second eigenvalue."""
    k, period = len(chain.states), len(chain.step_matrices)
    gap = -np.log(max(_second_modulus(chain.step_matrices.tobytes(), k), 1e-3)) if k > 1 else 1.0
    start = 0.0 if chain.initial == "stationary" else np.log(1e12)
    distance = 2 * (np.log(16 * k / min(epsilon, 1.0)) + start) / max(gap, 1e-12)
    return float(min(32 + distance, chain.length, MOST_HELD / max(1, period * k * (k - 1))))


@dataclass(frozen=True, eq=False)
class BoundedSearch(Search):
    """Quilts with a proved bound on the influence of a belief's pairs."""

    influence: InfluenceOf = chain_influence

    def cost(self, epsilon: Fraction) -> Cost:
        """Predict the work: tables and searches at most a sequence long."""
        return Cost(PER_BOUNDED_ENTRY * self.part.belief.size, 200.0 * self.part.belief.size)

    def worst(self, epsilon: Fraction) -> Worst:
        """Return the need by Algorithm 5, else by the full search."""
        sides, family = _sides(self.part, self.influence), self.part.family
        by_distance, fast = not isinstance(sides.influence, ChainInfluence), None
        if by_distance and len(family.entries) == sides.length and len(sides.change.each.values) == 1:
            fast = fast_scale(sides, epsilon)
        return _worst(self.part, sides, fast or needed_scale(sides, family, epsilon))


def reversible_influence(chain: MarkovChain, pairs: Pairs = None) -> ClassInfluence:
    """Return Lemma B.4's bounds for a chain; raises Unsupported unless reversible."""
    constants = reversible_constants(chain)
    if isinstance(constants, str):
        raise Unsupported(constants)
    return _table(constants.pi, constants.g, constants.defect)


def class_influence(chains: MarkovChainClass, pairs: Pairs = None) -> ClassInfluence:
    """Return Lemma B.4's bounds for all reversible chains with these constants."""
    return _table(chains.pi, chains.g, 0.0)


def around_influence(chain: PeriodicChain, pairs: Pairs = None) -> RegionInfluence:
    """Return bounds for all chains within a box around a periodic chain.

    Every step has a matrix of its own in the box. The bounds hold for every start.
    """
    low, high = chain.step_matrices.min(axis=0), chain.step_matrices.max(axis=0)
    try:
        region = ChainRegion(low, high, chain.length, chain.states)
    except InputError:
        raise Unsupported(
            "some state is never entered under any of the matrices, and the bound requires that each is; "
            'use mechanism="quilt-exact"'
        ) from None
    return region_influence(region, pairs)


def interval_influence(chains: BinaryChainInterval, pairs: Pairs = None) -> ChainInfluence:
    """Return suprema of the class's influences, rounded up.

    >>> influence = interval_influence(BinaryChainInterval(0.25, length=9))
    >>> influence.extend(3)
    >>> influence.right(3)[:, 0].round(6).tolist()
    [1.098612, 0.510826, 0.251314]
    """
    return chain_influence(chains.worst, pairs)


@lru_cache(maxsize=4)
def _table(pi: float, g: float, defect: float) -> ClassInfluence:
    return ClassInfluence(pi, g, defect)


def _sides(part: Part, influence: InfluenceOf) -> ChainSides:
    return ChainSides(influence(part.belief, part.family.pairs), query_change(part.answer.entry_changes()))


def _worst(part: Part, sides: ChainSides, needed: Needed) -> Worst:
    def witness() -> Witness:
        pair = worst_pair(sides, needed.entry, needed.quilt)
        numbers = (("influence", needed.influence), ("D", float(needed.change)))
        witnessed = quilt_witness(part, sides, needed.entry, needed.quilt, pair, numbers)
        far = f"; nodes farther than {sides.influence.reach} steps were not searched"
        if sides.influence.capped:
            return replace(witnessed, detail=witnessed.detail + far)
        return witnessed

    return Worst(needed.scale, witness)


@lru_cache(maxsize=16)
def _second_modulus(steps: bytes, k: int) -> float:
    """Return the second largest eigenvalue's modulus per step, cached."""
    matrices = np.frombuffer(steps).reshape(-1, k, k)
    product = matrices[0]
    for matrix in matrices[1:]:
        product = product @ matrix
    return float(np.sort(np.abs(np.linalg.eigvals(product)))[-2] ** (1 / len(matrices)))


def _of_class(influence: InfluenceOf) -> Quilts:
    """Return the quilts of a class by bounds for all of it."""
    return Quilts(
        exact=no_search(
            'for a class of chains, such as one given by (pi, g), use mechanism="quilt-approx", or one chain'
        ),
        bounded=partial(BoundedSearch, influence=influence),
    )


CHAIN = Quilts(exact=ExactSearch, bounded=partial(BoundedSearch, influence=reversible_influence))
PERIODIC = Quilts(exact=ExactSearch, bounded=partial(BoundedSearch, influence=around_influence))
REVERSIBLE_CLASS = _of_class(class_influence)
REGION = _of_class(region_influence)
INTERVAL = _of_class(interval_influence)
