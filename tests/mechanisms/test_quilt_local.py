"""Quilts with the laws of their near sets: against enumeration, the exact audit, the other mechanisms, and mutants."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.support import local_oracles, network_oracles
from tests.support.steps import calls

from takifugu.analysis.answer_laws.chain import steps
from takifugu.analysis.guarantee import Covers
from takifugu.analysis.problem import Problem, Refusal
from takifugu.analysis.randomisers import DiscreteLaplace
from takifugu.audit.exact import true_loss
from takifugu.calibration import calibrate
from takifugu.calibration.result import Calibration
from takifugu.core.errors import CalibrationRefused
from takifugu.influence.quilts.near_laws import chain as local_chain
from takifugu.influence.quilts.near_laws import chain_laws as local_near_laws
from takifugu.influence.quilts.near_laws import needed_scales as local_scales
from takifugu.influence.quilts.near_laws import network as local_network
from takifugu.influence.quilts.near_laws import scores as local_scores
from takifugu.influence.quilts.near_laws.chain_laws import LocalChain, Side
from takifugu.mechanisms import quilt_local
from takifugu.model.beliefs.chains.chain import MarkovChain
from takifugu.model.beliefs.networks.network import BayesianNetwork
from takifugu.model.beliefs.table import JointTable
from takifugu.model.frameworks import Pufferfish
from takifugu.model.queries import Count, Histogram, Linear, Query
from takifugu.model.secrets import Secret
from takifugu.model.secrets.of_entries import entry, every_entry

LOCAL = "quilt-local-exact"
Belief = MarkovChain | BayesianNetwork


def needed(belief: Belief, query: Query, epsilon: float, mechanism: str, secret: Secret | None = None) -> Calibration:
    framework = Pufferfish(secret or every_entry(), belief)
    return calibrate(framework, query, epsilon, mechanism=mechanism, allow_zero_noise=True)


def random_case(seed: int, size: int, zeros: bool = False) -> tuple[BayesianNetwork, network_oracles.Law]:
    spec = network_oracles.random_network(np.random.default_rng(seed), size, zeros=zeros)
    net = BayesianNetwork(spec)
    return net, network_oracles.joint_law(spec, [str(n) for n in net.names])


def as_network(matrix: list[list[float]], start: list[float], length: int) -> BayesianNetwork:
    states = list(range(len(start)))
    nodes = [("x0", states, [], start)]
    return BayesianNetwork([*nodes, *((f"x{t}", states, [f"x{t - 1}"], matrix) for t in range(1, length))])


def law_of(net: BayesianNetwork) -> network_oracles.Law:
    spec = [(n.name, list(range(len(n.states))), list(n.parents), n.table.tolist()) for n in net.nodes]
    return network_oracles.joint_law(spec, [str(name) for name in net.names])


def xor_collider() -> BayesianNetwork:
    bit = [0.5, 0.5]
    xor = [[[1, 0], [0, 1]], [[0, 1], [1, 0]]]
    return BayesianNetwork([("x", [0, 1], [], bit), ("r", [0, 1], [], bit), ("n", [0, 1], ["x", "r"], xor)])


@pytest.mark.slow
@pytest.mark.mutants
@settings(max_examples=25, deadline=None)
@given(st.integers(0, 10**6), st.integers(1, 4), st.sampled_from([0.5, 2.0, 5.0]))
def test_every_quilt_by_enumeration(seed: int, size: int, epsilon: float) -> None:
    net, law = random_case(seed, size)
    sizes = [len(net.alphabet(i)) for i in range(size)]
    weights = np.random.default_rng(seed).integers(0, 3, size=size).tolist()
    tables = [[w * v for v in range(k)] for w, k in zip(weights, sizes, strict=True)]
    changes = [w * (k - 1) for w, k in zip(weights, sizes, strict=True)]
    entries = list(range(size))
    local = local_oracles.needed_scale(law, tables, entries, epsilon)
    expected = min(local, network_oracles.needed_scale(law, sizes, changes, entries, epsilon))
    query = Linear(network_oracles.as_listed(weights, net.names, net.listed), grid=1)
    computed = needed(net, query, epsilon, LOCAL).scale
    assert computed == pytest.approx(expected, rel=1e-7, abs=1e-12)


@settings(max_examples=15, deadline=None)
@given(st.integers(1, 999), st.integers(1, 999), st.integers(1, 999), st.integers(1, 5), st.sampled_from([0.7, 3.0]))
def test_quilts_with_nodes_by_enumeration(a: int, b: int, c: int, length: int, epsilon: float) -> None:
    """Without the trivial quilt, on a chain and on the same network."""
    matrix, start = [[a / 1000, 1 - a / 1000], [b / 1000, 1 - b / 1000]], [c / 1000, 1 - c / 1000]
    law = law_of(as_network(matrix, start, length))
    weights = [1, 3, 1, 0, 2][:length]
    tables = [[0, w] for w in weights]
    entries = list(range(length))
    local = local_oracles.needed_scale(law, tables, entries, epsilon, least_nodes=1)
    expected = min(local, network_oracles.needed_scale(law, [2] * length, weights, entries, epsilon))
    query, by_size = Linear(weights, grid=1), local_chain._by_size
    with pytest.MonkeyPatch.context() as changed:
        changed.setattr(local_scales, "TRIVIAL_WORK", -1)
        changed.setattr(
            local_chain, "_by_size", lambda *sides: [q for q in by_size(*sides) if {s.distance for s in q} != {None}]
        )
        for belief in (MarkovChain(matrix, length, start), as_network(matrix, start, length)):
            assert needed(belief, query, epsilon, LOCAL).scale == pytest.approx(expected, rel=1e-7, abs=1e-12)


@settings(max_examples=12, deadline=None)
@given(st.integers(0, 10**6), st.integers(2, 6), st.sampled_from([0.5, 1.5, 4.0]), st.booleans())
def test_the_true_loss_is_at_most_epsilon_and_no_other_mechanism_is_beaten(
    seed: int, size: int, epsilon: float, zeros: bool
) -> None:
    net, _ = random_case(seed, size, zeros)
    if not any(sum(net.possible(i)) > 1 for i in range(size)):
        return
    weights = np.random.default_rng(seed).integers(0, 3, size=size).tolist()
    query = Linear(weights, grid=1)
    others = ("quilt-exact", "wasserstein", "laplace-exact")
    need = needed(net, query, epsilon, LOCAL)
    assert need.scale <= min(needed(net, query, epsilon, name).scale for name in others) * (1 + 2e-9)
    assert true_loss(need).upper <= epsilon * (1 + 1e-9)
    assert need.guarantee.covers is Covers.OUTPUT


@settings(max_examples=15, deadline=None)
@given(
    st.lists(st.integers(0, 10), min_size=9, max_size=9),
    st.integers(1, 6),
    st.sampled_from([0.3, 1.0, 4.0]),
    st.sampled_from(["given", "stationary"]),
)
def test_chains_of_three_states_with_zeros_keep_their_promise(
    numbers: list[int], length: int, epsilon: float, how: str
) -> None:
    rows = np.array(numbers, dtype=float).reshape(3, 3) + np.eye(3)[[1, 2, 0]]  # irreducible: the law is unique
    matrix = rows / rows.sum(axis=1, keepdims=True)
    belief = MarkovChain(matrix, length, [0.5, 0.0, 0.5] if how == "given" else "stationary")
    query = Linear([1, 2, 1, 3, 0, 1][:length], grid=1)
    need = needed(belief, query, epsilon, LOCAL)
    assert true_loss(need).upper <= epsilon * (1 + 1e-9)
    assert need.scale <= needed(belief, query, epsilon, "laplace-exact").scale * (1 + 2e-9)
    assert need.scale <= needed(belief, query, epsilon, "quilt-exact").scale * (1 + 2e-9)


def test_a_chain_and_the_same_network_need_the_same() -> None:
    matrix, start = [[0.9, 0.1], [0.4, 0.6]], [0.7, 0.3]
    for epsilon in (1, 4):
        chain = needed(MarkovChain(matrix, 7, start), Count(1), epsilon, LOCAL).scale
        assert chain == pytest.approx(needed(as_network(matrix, start, 7), Count(1), epsilon, LOCAL).scale, rel=1e-8)


def test_near_sets_need_less_than_influence_where_neighbours_differ(monkeypatch: pytest.MonkeyPatch) -> None:
    """On a sequence too long for the law of its count: here that law is put out of reach, and bounds from below."""
    monkeypatch.setattr(local_scales, "TRIVIAL_WORK", -1)
    chain = MarkovChain([[0.1, 0.9], [0.65, 0.35]], 100)
    scale = needed(chain, Count(1), 1, LOCAL).scale
    assert needed(chain, Count(1), 1, "laplace-exact").scale <= scale * (1 + 1e-9)
    assert scale < 0.3 * needed(chain, Count(1), 1, "influence").scale


def test_a_negative_denominator_makes_a_quilt_inadmissible(monkeypatch: pytest.MonkeyPatch) -> None:
    # F = X_2, secret X_1, Q = {X_2}: the near sum is 0, so W = 0, but r = log 9 > epsilon.
    net = as_network([[0.9, 0.1], [0.1, 0.9]], [0.5, 0.5], 2)
    query, secret = Linear([0, 1], grid=1), entry(0, 0, 1)
    honest = needed(net, query, 1, LOCAL, secret)
    assert honest.scale > 0
    assert true_loss(honest).upper <= 1 + 1e-9
    assert true_loss(Pufferfish(secret, net), query, DiscreteLaplace(Fraction(1, 50), Fraction(1))).loss == (
        pytest.approx(math.log(9), abs=1e-6)
    )
    assert local_scores.quilt_scale(
        np.array([math.log(9)]), lambda x: pytest.fail("not asked"), Fraction(1), Fraction(10)
    ) is None  # fmt: skip
    monkeypatch.setattr(local_scales, "TRIVIAL_WORK", -1)  # else the law of the whole answer does it alone
    monkeypatch.setattr(local_network, "_ratios", lambda cells, possible, error: np.zeros((*possible.shape, 2)))
    broken = needed(net, query, 1, LOCAL, secret)
    assert broken.scale == 0
    assert true_loss(broken).lower > 2.19


def test_a_collider_belongs_to_the_near_set_with_its_other_parent(monkeypatch: pytest.MonkeyPatch) -> None:
    # X, R fair bits, N = X xor R, F = N + R: N alone says nothing about X, N and R together say all.
    net = xor_collider()
    query = Linear([int(name != "x") for name in net.names], grid=1)
    secret = entry(net.position("x"), 0, 1)
    honest = needed(net, query, 1, LOCAL, secret)
    assert 0 < honest.scale <= 1 + 1e-9
    assert true_loss(honest).upper <= 1 + 1e-9
    # The mutant takes the d-separated near set {X, N} of the empty quilt, with R left as remote.
    monkeypatch.setattr(local_scales, "TRIVIAL_WORK", -1)  # else the law of the whole answer does it alone
    monkeypatch.setattr(local_network, "_near_sets", lambda part, i: [(net.near_set(i, []), frozenset())])
    broken = needed(net, query, 1, LOCAL, secret)
    assert broken.scale == 0
    assert math.isinf(true_loss(broken).loss)


def test_half_the_scale_breaks_the_promise() -> None:
    chain = MarkovChain([[0.5, 0.5], [0.5, 0.5]], 1)
    need = needed(chain, Count(1), 1, LOCAL)
    halved = DiscreteLaplace(need.randomiser.scale / 2, Fraction(1))
    assert true_loss(need).upper <= 1 + 1e-9
    assert true_loss(need.framework, need.query, halved).lower > 1.9


def test_special_cases() -> None:
    copy = BayesianNetwork([("x", [0, 1], [], [0.5, 0.5]), ("y", [0, 1], ["x"], [[1, 0], [0, 1]])])
    free = BayesianNetwork([(f"x{i}", [0, 1], [], [0.3, 0.7]) for i in range(5)])
    assert needed(copy, Count(1), 2, LOCAL).scale == pytest.approx(1)
    assert needed(free, Count(1), 2, LOCAL).scale == pytest.approx(0.5)
    assert needed(MarkovChain([[0.9, 0.1], [0.1, 0.9]], 1), Count(1), 2, LOCAL).scale == pytest.approx(0.5)
    for stuck in ([[1.0, 0.0], [0.3, 0.7]], [[0.0, 1.0], [0.5, 0.5]]):
        need = needed(MarkovChain(stuck, 5, [0.5, 0.5]), Count(1), 1, LOCAL)
        assert true_loss(need).upper <= 1 + 1e-9


def test_what_is_refused_says_why() -> None:
    chain = MarkovChain([[0.9, 0.1], [0.4, 0.6]], 5)
    loose = MarkovChain([[0.9, 0.1], [0.4, 0.6]], 5, "any")
    with pytest.raises(CalibrationRefused, match="2 cells"):
        needed(chain, Histogram(), 1, LOCAL)
    with pytest.raises(CalibrationRefused, match="unknown initial distribution"):
        needed(loose, Count(1), 1, LOCAL)


def test_nothing_is_searched_where_one_belief_has_no_quilts(monkeypatch: pytest.MonkeyPatch) -> None:
    network = BayesianNetwork([("a", [0, 1], [], [0.5, 0.5]), ("b", [0, 1], ["a"], [[0.75, 0.25], [0.25, 0.75]])])
    table = JointTable([(0, 0), (1, 1)], [Fraction(1, 2), Fraction(1, 2)], ["a", "b"])
    problem = Problem(Pufferfish(every_entry(), [network, table]), Count(1), Fraction(1))
    monkeypatch.setattr(local_network.LocalSearch, "worst", lambda *_: pytest.fail("it was searched"))
    assert quilt_local.MECHANISM.cost(problem).operations == 0
    refusal = quilt_local.MECHANISM.bound(problem)
    assert isinstance(refusal, Refusal)
    assert "and a joint table of 2 columns and 2 rows (assumed) is neither" in refusal.reason


@pytest.mark.slow
@pytest.mark.mutants
def test_a_hundred_steps_take_seconds(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(local_scales, "TRIVIAL_WORK", -1)
    scales = []
    chain = MarkovChain([[0.9, 0.1], [0.4, 0.6]], 100)
    assert calls(lambda: scales.append(needed(chain, Count(1), 1, LOCAL).scale)) < 60_000_000
    assert 0 < scales[0] < 4


@pytest.mark.slow
@pytest.mark.mutants
def test_nodes_far_away_are_tried_where_all_entries_share_them(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(local_scales, "TRIVIAL_WORK", -1)
    chain = MarkovChain([[0.8, 0.2], [0.3, 0.7]], length=100)
    need = needed(chain, Count(1), 0.5, LOCAL)
    assert 6.0799 < need.scale < 6.0801  # 6.0804 with near nodes alone
    assert need.scale >= needed(chain, Count(1), 0.5, "laplace-exact").scale
    given_start = MarkovChain([[0.8, 0.2], [0.3, 0.7]], length=100, initial=[0.6, 0.4])
    assert needed(given_start, Count(1), 0.5, LOCAL).scale >= need.scale
    monkeypatch.setattr(local_near_laws, "WIDEST", local_near_laws.REACH)
    assert needed(chain, Count(1), 0.5, LOCAL).scale > need.scale


@pytest.mark.parametrize("distance", [17, 40, 120])
@pytest.mark.parametrize("after", [False, True])
def test_the_share_up_to_a_node_far_away_is_that_of_a_bridge(distance, after):
    """Against a dynamic program over (state, count) in rationals."""
    rows = [[Fraction(4, 5), Fraction(1, 5)], [Fraction(3, 10), Fraction(7, 10)]]
    chain = MarkovChain([[0.8, 0.2], [0.3, 0.7]], length=400)
    model = LocalChain(chain, steps(Count(1).resolve(chain)))
    share = model.share(200, Side(distance, distance - 1), after)
    for begin in (0, 1):
        walk = {(begin, 0): Fraction(1)}
        for step in range(distance):
            walked: dict[tuple[int, int], Fraction] = {}
            for (state, count), mass in walk.items():
                for new in (0, 1):
                    key = (new, count + (new if step < distance - 1 else 0))
                    walked[key] = walked.get(key, Fraction(0)) + mass * rows[state][new]
            walk = walked
        for end in (0, 1):
            total = sum(mass for (state, _), mass in walk.items() if state == end)
            x, s = (end, begin) if after else (begin, end)
            for count in range(distance):
                exact = walk.get((end, count), Fraction(0)) / total
                assert abs(Fraction(float(share.laws[x, s, count])) - exact) <= Fraction(share.error) * exact
