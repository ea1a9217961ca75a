"""Markov quilts of chains and networks with exact max-influence (Song17 Algorithms 2 and 3)."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from takifugu.beliefs.chain import MarkovChain
from takifugu.beliefs.contacts import Clique
from takifugu.beliefs.network import BayesianNetwork
from takifugu.beliefs.pieces import ChainClass
from takifugu.problem import Bound, Cost, Part, Problem, Refusal
from takifugu.quilts.chain.bound import chain_bound
from takifugu.quilts.chain.influence import MOST_HELD, chain_influence
from takifugu.quilts.chain.scale import needed_scale
from takifugu.quilts.chain.sides import Influence
from takifugu.quilts.network.bound import network_bound, network_cost

#: Operations for each entry of a sequence: every quilt that was found is tried on all of them.
PER_ENTRY = 200.0


@dataclass(frozen=True)
class QuiltExact:
    """Laplace noise of scale max over entries of min over quilts of D(N)/(epsilon - e(Q)), e(Q) exact.

    For chains with a stationary, a given or any initial distribution, and for Bayesian networks. Never more than group
    noise, whose quilt is the trivial one. Source: docs/architecture.md#exact-max-influence.
    """

    name: str = "quilt-exact"
    source: str = "Song, Wang and Chaudhuri 2017, Algorithms 2 and 3, with exact max-influence"

    def cost(self, problem: Problem) -> Cost:
        """Predict the work from how fast each chain forgets: tables up to the widest useful quilt, then the entries."""
        operations = memory = 0.0
        for part in problem.parts:
            if isinstance(part.belief, MarkovChain):
                distance, pairs = _distance(part.belief, float(problem.epsilon)), float(len(part.belief.states)) ** 2
                operations += distance * (6 * pairs**1.5 + 40 * pairs) + PER_ENTRY * part.belief.length
                memory = max(memory, 24 * distance * pairs + 80 * part.belief.length)
            elif isinstance(part.belief, BayesianNetwork):
                operations += network_cost(part)
        return Cost(operations, memory)

    def bound(self, problem: Problem) -> Bound | Refusal:
        networks = [isinstance(part.belief, BayesianNetwork) for part in problem.parts]
        if any(networks):
            return network_bound(problem) if all(networks) else Refusal(_MIXED)
        return chain_bound(problem, _influence, needed_scale)


MECHANISM = QuiltExact()


_MIXED = "the beliefs mix sequences and networks: calibrate for each belief on its own, and take the larger scale"

IN_A_CLIQUE = (
    "in a clique everybody is close to everybody, so no quilt shields anyone, and the trivial one needs as much noise "
    'as mechanism="group"; "laplace-exact" may need less'
)


def _influence(part: Part) -> Influence | Refusal:
    if isinstance(part.belief, MarkovChain):
        return chain_influence(part.belief, part.family.pairs)
    if isinstance(part.belief, Clique):
        return Refusal(IN_A_CLIQUE)
    if isinstance(part.belief, ChainClass):
        return Refusal("for a class of chains, such as one given by (pi, g), use quilt-approx, or one chain")
    return Refusal(
        "quilts are known for sequences (a MarkovChain, or independent pieces of one) and for a BayesianNetwork: "
        "use wasserstein"
    )


def _distance(chain: MarkovChain, epsilon: float) -> float:
    """Guess the farthest node that is searched: influence falls like the second largest eigenvalue's power."""
    k = len(chain.states)
    gap = -np.log(max(_second_modulus(chain.matrix.tobytes(), k), 1e-3)) if k > 1 else 1.0
    start = 0.0 if chain.initial == "stationary" else np.log(1e12)
    wanted = 2 * (np.log(16 * k / min(epsilon, 1.0)) + start) / max(gap, 1e-12)
    return float(min(32 + wanted, chain.length, MOST_HELD / max(1, k * (k - 1))))


@lru_cache(maxsize=16)
def _second_modulus(matrix: bytes, k: int) -> float:
    """Return the second largest modulus of an eigenvalue; cached, because every quilt mechanism uses it."""
    return float(np.sort(np.abs(np.linalg.eigvals(np.frombuffer(matrix).reshape(k, k))))[-2])
