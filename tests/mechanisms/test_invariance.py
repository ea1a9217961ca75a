"""What must not matter to any mechanism: names, direction, units, company; and the smallest cases."""

from fractions import Fraction
from itertools import permutations
from typing import Any

import numpy as np
import pytest
from tests.support.network_oracles import random_network
from tests.support.pair_cases import bound_by, pair_of, random_pair

from takifugu.analysis.randomisers import Exact
from takifugu.analysis.randomisers.choices import Choice
from takifugu.audit.exact import exact_loss
from takifugu.calibration import Calibration, calibrate
from takifugu.calibration.registry import find
from takifugu.core.errors import InputError
from takifugu.model.beliefs.chains.chain import MarkovChain
from takifugu.model.beliefs.networks.network import BayesianNetwork
from takifugu.model.beliefs.networks.nodes import Node
from takifugu.model.frameworks import Pufferfish
from takifugu.model.queries import Count, Linear, Query
from takifugu.model.secrets.of_entries import entry, every_entry

EXACT = ("group-dp", "quilt-exact", "wasserstein", "laplace-exact")
Belief = MarkovChain | BayesianNetwork


def needed(belief: Belief, query: Query, epsilon: float, mechanism: str) -> Calibration:
    return calibrate(Pufferfish(every_entry(), belief), query, epsilon, mechanism=mechanism, allow_zero_noise=True)


def scale(belief: Belief, query: Query, epsilon: float, mechanism: str) -> float:
    return float(needed(belief, query, epsilon, mechanism).scale)


def alike(*scales: float) -> bool:
    """Whether all are the same."""
    return scales == pytest.approx([scales[0]] * len(scales), rel=1e-8)


def as_network(matrix: Any, start: Any, length: int, names: str = "x") -> BayesianNetwork:
    states = list(range(len(start)))
    nodes = [(f"{names}0", states, [], start)]
    return BayesianNetwork([*nodes, *((f"{names}{t}", states, [f"{names}{t - 1}"], matrix) for t in range(1, length))])


def with_arrows_reversed(matrix: Any, start: Any, length: int) -> BayesianNetwork:
    """Return the same law with every arrow turned by Bayes' rule: x_{t-1} depends on x_t."""
    p = np.array(matrix, dtype=float)
    laws = [np.array(start, dtype=float)]
    for _ in range(length - 1):
        laws.append(laws[-1] @ p)
    states = list(range(len(p)))
    nodes: list[Any] = [(f"x{length - 1}", states, [], laws[-1])]
    for t in range(length - 1, 0, -1):
        nodes.append((f"x{t - 1}", states, [f"x{t}"], (laws[t - 1][:, None] * p / laws[t]).T))
    return BayesianNetwork(nodes)


def relabelled(net: BayesianNetwork) -> BayesianNetwork:
    """Return the network with other names for its states, listed in the opposite order."""
    return BayesianNetwork([
        Node(n.name, tuple(f"state {s}" for s in n.states[::-1]), n.parents, np.flip(n.table).copy())
        for n in net.nodes
    ])  # fmt: skip


@pytest.mark.sampled(2)
@pytest.mark.parametrize("mechanism", EXACT)
def test_relabelling_states_together_with_their_codes(mechanism: str) -> None:
    codes = {0: 0, 1: 1, 2: 3}
    for seed in range(4):
        net = BayesianNetwork(random_network(np.random.default_rng(seed), 4))
        weights = np.random.default_rng(seed).integers(0, 3, size=4).tolist()
        here = scale(net, Linear(weights, codes, grid=1), 2, mechanism)
        renamed = Linear(weights, {f"state {s}": code for s, code in codes.items()}, grid=1)
        assert alike(here, scale(relabelled(net), renamed, 2, mechanism))


@pytest.mark.parametrize("mechanism", EXACT)
@pytest.mark.parametrize("epsilon", [0.5, 3.0])
def test_reversing_a_stationary_chain(mechanism: str, epsilon: float) -> None:
    """As a chain, as a network, and as the network whose arrows point the other way."""
    matrix = np.array([[0.6, 0.3, 0.1], [0.2, 0.5, 0.3], [0.3, 0.3, 0.4]])
    chain = MarkovChain(matrix, 6)
    start = chain.stationary
    backward = MarkovChain(matrix.T * start / start[:, None], 6)
    weights, turned = [1, 0, 2, 1, 1, 3], [3, 1, 1, 2, 0, 1]
    scales = [
        scale(chain, Linear(weights, grid=1), epsilon, mechanism),
        scale(backward, Linear(turned, grid=1), epsilon, mechanism),
        scale(as_network(matrix, start, 6), Linear(weights, grid=1), epsilon, mechanism),
        scale(with_arrows_reversed(matrix, start, 6), Linear(turned, grid=1), epsilon, mechanism),
    ]
    assert alike(*scales)


@pytest.mark.sampled(2)
@pytest.mark.parametrize("mechanism", EXACT)
def test_an_independent_component_beside_it(mechanism: str) -> None:
    """Two independent parts in one network need what the needier one needs alone."""
    first = as_network([[0.7, 0.3], [0.4, 0.6]], [0.5, 0.5], 4)
    second = as_network([[0.6, 0.4], [0.5, 0.5]], [0.2, 0.8], 3, "y")
    for epsilon in (0.7, 3.0):
        alone = [scale(part, Count(1), epsilon, mechanism) for part in (first, second)]
        together = scale(BayesianNetwork([*first.nodes, *second.nodes]), Count(1), epsilon, mechanism)
        assert alike(together, max(alone))


@pytest.mark.sampled(3)
@pytest.mark.parametrize(
    ("mechanism", "delta"), [*((name, 0) for name in (*EXACT, "influence")), ("influence-gaussian", 1e-6)]
)
def test_several_beliefs_need_what_the_neediest_one_needs(mechanism: str, delta: float) -> None:
    chains = [MarkovChain([[1 - p, p], [q, 1 - q]], 6) for p, q in ((0.4, 0.3), (0.1, 0.3), (0.2, 0.1))]

    def least(*beliefs: MarkovChain) -> float:
        return float(calibrate(Pufferfish(every_entry(), beliefs), Count(1), 1, delta, mechanism=mechanism).scale)

    alone = {chain: least(chain) for chain in chains}
    for some in (*permutations(chains, 2), chains):
        assert least(*some) == pytest.approx(max(alone[chain] for chain in some), rel=1e-8)


@pytest.mark.parametrize("mechanism", ["influence", "wasserstein", "laplace-exact", "record-dp"])
def test_a_secret_that_is_small_beside_the_rest_needs_noise_for_itself_only(mechanism: str) -> None:
    """Independent entries, one of which moves the answer by 1, another by 200: no search ends too early."""
    framework = Pufferfish(entry(0, 0, 1), MarkovChain([[0.5, 0.5], [0.5, 0.5]], 2))
    noise = calibrate(framework, Linear([1, 200], grid=1), Fraction(1, 10), mechanism=mechanism)
    assert float(noise.scale) == pytest.approx(10, rel=1e-8)


@pytest.mark.sampled(17)
@pytest.mark.parametrize("mechanism", EXACT)
@pytest.mark.parametrize("length", [1, 2, 5])
@pytest.mark.parametrize(("matrix", "start"), [
    ([[0.7, 0.3], [0.4, 0.6]], [0.5, 0.5]),
    ([[0.0, 1.0], [0.5, 0.5]], [0.5, 0.5]),
    ([[1.0, 0.0], [0.3, 0.7]], [0.5, 0.5]),
    ([[0.5, 0.5], [0.5, 0.5]], [1.0, 0.0]),
    ([[0.2, 0.8, 0.0], [0.0, 0.2, 0.8], [0.8, 0.0, 0.2]], [0.2, 0.3, 0.5]),
    ([[1.0, 0.0, 0.0], [0.4, 0.2, 0.4], [0.0, 0.0, 1.0]], [0.0, 1.0, 0.0]),
], ids=["plain", "zero", "absorbing", "one start", "cycle", "two ends"])  # fmt: skip
def test_short_chains_with_zeros(mechanism: str, length: int, matrix: Any, start: Any) -> None:
    """The promise holds, and a chain and the same network need the same."""
    chain, net = MarkovChain(matrix, length, start), as_network(matrix, start, length)
    if not any(sum(chain.possible(i)) > 1 for i in range(length)):
        for belief in (chain, net):
            with pytest.raises(InputError, match="every secret has probability zero"):
                needed(belief, Count(1), 1, mechanism)
        return
    scales = [scale(belief, Count(1), 1, mechanism) for belief in (chain, net)]
    for belief in (chain, net):
        assert exact_loss(needed(belief, Count(1), 1, mechanism)).upper <= 1 + 1e-9
    assert alike(*scales)


#: Of mechanisms for two laws: the delta that they are asked with, and how alike numbers are that should be equal.
OF_TWO_LAWS = {
    "wasserstein": ("0", 0.0), "wasserstein-delta": ("1/30", 0.0),
    "laplace-exact": ("0", 1e-9), "kantorovich-relaxed": ("0", 1e-9), "gaussian-exact": ("1/1000", 1e-9),
    "gaussian-analytic": ("1/1000", 1e-9), "kantorovich-gaussian-a": ("1/1000", 1e-9),
    "kantorovich-gaussian-b": ("1/1000", 1e-9), "optimal": ("0", 1e-6), "kantorovich-exponential": ("0", 1e-6),
}  # fmt: skip


@pytest.mark.sampled(3)
@pytest.mark.parametrize("name", OF_TWO_LAWS)
def test_swapping_and_scaling_two_laws_and_two_that_are_one(name: str) -> None:
    (delta, near), mechanism = OF_TWO_LAWS[name], find(name).load()
    for seed in range(4 if near == 1e-6 else 12):
        p, q = random_pair(seed)
        tripled = {3 * x: m for x, m in p.items()}, {3 * x: m for x, m in q.items()}
        promises = [bound_by(mechanism, pair_of(laws), delta=delta) for laws in ((p, q), (q, p), tripled)]
        here, swapped, there = (size_of(promise.randomiser) for promise in promises)
        assert [swapped, there] == pytest.approx([here, 3 * here], rel=near, abs=0), seed
        moves = [dict(promise.witness.numbers).get("largest_move", 0) for promise in promises]
        assert moves[1:] == pytest.approx([moves[0], 3 * moves[0]]), seed
    law = {0: Fraction(1, 3), 4: Fraction(2, 3)}
    assert bound_by(mechanism, pair_of((law, law)), delta=delta).randomiser == Exact(Fraction(4))


def size_of(noise: Any) -> float:
    """Return the scale of noise, and of what has none the error under the prior."""
    if isinstance(noise, Choice):
        return float(noise.mean_error())
    return float(noise.scale)
