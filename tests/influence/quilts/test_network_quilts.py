"""Quilts of networks against all quilts by enumeration, the true loss of their noise, and answer laws."""

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.support import column_oracles
from tests.support import network_oracles as oracle
from tests.support.chain_oracles import largest_laplace_loss

import takifugu as tf
from takifugu.audit.exact import joint_loss
from takifugu.calibration import calibrate, compare
from takifugu.core.errors import CalibrationRefused
from takifugu.influence.quilts.network.influence import influences, influences_of
from takifugu.model.frameworks import Framework, Pufferfish
from takifugu.model.queries import Count, Histogram, Linear, Query
from takifugu.numbers.outward_rounding import NEVER


def made(seed: int, size: int, zeros: bool = False) -> tuple[tf.BayesianNetwork, oracle.Law, list[int]]:
    spec = oracle.random_network(np.random.default_rng(seed), size, zeros=zeros)
    net = tf.BayesianNetwork(spec)
    law = oracle.joint_law(spec, [str(n) for n in net.names])
    return net, law, [len(net.alphabet(i)) for i in range(size)]


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 10**6), st.integers(1, 5), st.sampled_from([0.5, 2.0, 5.0]), st.booleans())
def test_all_subsets_give_algorithm_2_over_every_quilt(seed: int, size: int, epsilon: float, zeros: bool) -> None:
    net, law, sizes = made(seed, size, zeros)
    if not any(sum(net.possible(i)) > 1 for i in range(size)):
        return
    framework = Pufferfish(tf.every_entry(), net)
    weights = np.random.default_rng(seed).integers(0, 3, size=size).tolist()
    query = Linear(oracle.as_listed(weights, net.names, net.listed), grid=1)
    changes = [w * (k - 1) for w, k in zip(weights, sizes, strict=True)]

    def moved(near):
        return sum(changes[v] for v in near)

    # Algorithm 2 works component by component: the trivial quilt of a component leaves the others remote.
    secret = [entry for entry in range(size) if sum(net.possible(entry)) > 1]
    expected = max(column_oracles.quilt_scale(law, size, entry, moved, epsilon) for entry in secret)
    try:
        calibration = calibrate(framework, query, epsilon, mechanism="quilt-exact", allow_zero_noise=True)
    except CalibrationRefused as refusal:
        pytest.fail(str(refusal))
    # Zero entries make independencies that the graph does not show; without them the search is complete.
    if zeros:
        assert calibration.scale >= expected * (1 - 1e-9)
    else:
        assert calibration.scale == pytest.approx(expected, rel=1e-9, abs=1e-12)


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 10**6), st.integers(2, 6), st.booleans())
def test_influence_is_that_of_enumeration_and_splits_over_clusters(seed: int, size: int, zeros: bool) -> None:
    net, law, _ = made(seed, size, zeros)
    rng = np.random.default_rng(seed)
    node = int(rng.integers(size))
    quilt = [v for v in range(size) if v != node and rng.random() < 0.6]
    table = influences(net, node, quilt)
    possible = [v for v, can in enumerate(net.possible(node)) if can]
    for a in possible:
        for b in possible:
            true = oracle.influence(law, node, tuple(quilt), (a, b))
            assert table[a, b] >= true or math.isinf(true)
            if math.isinf(true):
                assert table[a, b] >= NEVER
            else:
                assert table[a, b] == pytest.approx(true, abs=1e-10)
    groups = influences_of(net).clusters(node, quilt)
    assert sorted(v for g in groups for v in g) == sorted(quilt)


@settings(max_examples=12, deadline=None)
@given(st.integers(0, 10**6), st.integers(2, 5), st.sampled_from([1.0, 3.0]))
def test_the_true_loss_of_every_mechanism_is_at_most_epsilon(seed: int, size: int, epsilon: float) -> None:
    net, law, _ = made(seed, size)
    framework = Pufferfish(tf.every_entry(), net)
    query = Count([1, 2]) if any(len(net.alphabet(i)) > 2 for i in range(size)) else Count(1)
    table = compare(framework, query, epsilon)
    scales = {row.name: row.scale for row in table if row.scale is not None}
    assert scales["laplace-exact"] <= scales["wasserstein"] * (1 + 1e-9)
    assert scales["wasserstein"] <= scales["group-dp"] * (1 + 1e-9)
    assert scales["quilt-exact"] <= scales["group-dp"] * (1 + 1e-9)
    tables = [[int(s in (1, 2)) for s in net.alphabet(i)] for i in range(size)]
    for name in ("quilt-exact", "wasserstein", "laplace-exact"):
        scale = scales[name]
        for node in range(size):
            laws = oracle.answer_laws(law, tables, node)
            for a in laws:
                for b in laws:
                    if scale:
                        assert largest_laplace_loss(laws[a], laws[b], scale) <= epsilon * (1 + 1e-9), name


def questions(net: tf.BayesianNetwork) -> tuple[Framework, list[Query]]:
    return Pufferfish(tf.every_entry(), net), [Count(1), Histogram(), Linear([3, 1, 0, 2, 1][: net.size])]


@settings(max_examples=6, deadline=None)
@given(st.integers(0, 10**6), st.integers(2, 4))
def test_joint_cost_covers_the_true_joint_loss(seed: int, size: int) -> None:
    spec = [n for n in oracle.random_network(np.random.default_rng(seed), size) if len(n[1]) == 2]
    names = {n[0] for n in spec}
    if any(p not in names for n in spec for p in n[2]) or not spec:
        return
    net = tf.BayesianNetwork(spec)
    framework, queries = questions(net)
    made = [calibrate(framework, q, 2, mechanism="quilt-exact", allow_zero_noise=True) for q in queries[:2]]
    together = tf.compose(made)
    true = joint_loss(framework, [(c.query, c.randomiser) for c in made]).upper
    assert true <= float(together.epsilon) * (1 + 1e-9)
    assert float(together.epsilon) <= 4 * (1 + 1e-9) or together.epsilon <= sum(
        Fraction(int(q.resolve(net).entry_changes().sum())) * q.resolve(net).grid / c.randomiser.scale
        for q, c in zip(queries, made, strict=False)
    )
