"""Quilts of networks against all quilts by enumeration, the true loss of their noise, and answer laws."""

import math
from fractions import Fraction
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.support import column_oracles, quilt_oracles
from tests.support import network_oracles as oracle
from tests.support.chain_oracles import largest_laplace_loss
from tests.support.research import research_file

import takifugu as tf
from takifugu.analysis.questions.answer_law import answer_law
from takifugu.audit.exact import exact_loss, joint_loss
from takifugu.calibration import Calibration, calibrate, compare
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


def chain_network(matrix: list[list[float]], start: list[float], length: int) -> tf.BayesianNetwork:
    states = list(range(len(start)))
    nodes = [("x0", states, [], start)]
    return tf.BayesianNetwork([*nodes, *((f"x{t}", states, [f"x{t - 1}"], matrix) for t in range(1, length))])


@pytest.mark.mutants
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


@pytest.mark.mutants
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


@settings(max_examples=20, deadline=None)
@given(st.integers(0, 10**6), st.integers(1, 6), st.booleans())
def test_answer_laws_are_those_of_enumeration(seed: int, size: int, zeros: bool) -> None:
    net, law, _ = made(seed, size, zeros)
    rng = np.random.default_rng(seed)
    weights = rng.integers(-2, 3, size=size).tolist()
    answer = Linear(oracle.as_listed(weights, net.names, net.listed), grid=1).resolve(net)
    tables = [[w * value for value in range(len(net.alphabet(i)))] for i, w in enumerate(weights)]
    share = SimpleNamespace(belief=net, answer=answer, family=tf.every_entry().family(net))
    for family in answer_law(share).families():
        truth = oracle.answer_laws(law, tables, family.entry)
        for value, (hull,) in family.hulls.items():
            expected = truth[value]
            got = {int(v): float(p) for v, p in hull.items()}
            assert got.keys() == expected.keys()
            for v, p in got.items():
                assert p == pytest.approx(float(expected[v]), rel=1e-12)


def test_special_networks() -> None:
    one = tf.BayesianNetwork([("x", [0, 1], [], [0.5, 0.5])])
    assert calibrate(Pufferfish(tf.every_entry(), one), Count(1), 2, mechanism="quilt-exact").scale == 0.5
    free = tf.BayesianNetwork([(f"x{i}", [0, 1], [], [0.3, 0.7]) for i in range(6)])
    assert calibrate(Pufferfish(tf.every_entry(), free), Count(1), 2, mechanism="quilt-exact").scale == 0.5
    copy = tf.BayesianNetwork([("x", [0, 1], [], [0.5, 0.5]), ("y", [0, 1], ["x"], [[1, 0], [0, 1]])])
    scales = [
        calibrate(Pufferfish(tf.every_entry(), copy), Count(1), 2, mechanism=name).scale
        for name in ("quilt-exact", "group-dp")
    ]
    assert scales == [1, 1]
    stuck = chain_network([[1.0, 0.0], [0.3, 0.7]], [0.5, 0.5], 5)
    assert calibrate(Pufferfish(tf.every_entry(), stuck), Count(1), 1, mechanism="quilt-exact").scale <= 5


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


def test_one_release_costs_no_more_than_it_was_calibrated_for() -> None:
    net = chain_network([[0.8, 0.2], [0.3, 0.7]], [0.5, 0.5], 7)
    calibration = calibrate(Pufferfish(tf.every_entry(), net), Count(1), 3, mechanism="quilt-exact")
    assert "near set" in calibration.witness.detail
    assert tf.compose([calibration]).epsilon < 2.5


def test_separators_are_found_in_large_networks() -> None:
    net = chain_network([[0.6, 0.4], [0.4, 0.6]], [0.5, 0.5], 40)
    chain = tf.MarkovChain([[0.6, 0.4], [0.4, 0.6]], 40, [0.5, 0.5])
    secret = tf.entry(20, 0, 1)
    one = calibrate(Pufferfish(secret, net), Count(1), 2, mechanism="quilt-exact").scale
    other = calibrate(Pufferfish(secret, chain), Count(1), 2, mechanism="quilt-exact").scale
    assert one == pytest.approx(other, rel=1e-9)


@pytest.mark.mutants
def test_a_published_network_end_to_end() -> None:
    from takifugu.model.beliefs.networks.network_files import read_network

    net = read_network(research_file("bif/asia.bif"))
    table = compare(Pufferfish(tf.every_entry("smoke"), net), Count("yes"), 3)
    scales = {row.name: row.scale for row in table if row.scale is not None}
    assert scales["laplace-exact"] < scales["wasserstein"] < scales["group-dp"]


EXACT = ("group-dp", "quilt-exact", "wasserstein", "laplace-exact")
EPSILONS = (0.5, 1.5, 4.0)


class Case:
    """A random network with its joint law by enumeration, and a weighted sum over it."""

    def __init__(self, seed: int, size: int, zeros: bool = False) -> None:
        rng = np.random.default_rng(seed)
        spec = oracle.random_network(rng, size, zeros=zeros)
        self.network = tf.BayesianNetwork(spec)
        self.law = oracle.joint_law(spec, [str(name) for name in self.network.names])
        self.sizes = [len(self.network.alphabet(i)) for i in range(size)]
        self.weights = rng.integers(0, 4, size=size).tolist()
        self.changes = [w * (k - 1) for w, k in zip(self.weights, self.sizes, strict=True)]
        self.entries = list(range(size))
        self.joint = np.zeros(self.sizes)
        for x, mass in self.law.items():
            self.joint[x] = float(mass)

    @property
    def query(self) -> Linear:
        return Linear(oracle.as_listed(self.weights, self.network.names, self.network.listed), grid=1)

    @property
    def has_secrets(self) -> bool:
        return any(sum(self.network.possible(i)) > 1 for i in self.entries)

    def sum(self, path: tuple[int, ...]) -> list[int]:
        return [sum(w * v for w, v in zip(self.weights, path, strict=True))]

    def scale_over_all_quilts(self, epsilon: float) -> float:
        return quilt_oracles.quilt_scale(self.joint, self.changes, epsilon, quilt_oracles.all_quilts)

    def needed(self, query: Query, epsilon: float, mechanism: str) -> Calibration:
        framework = Pufferfish(tf.every_entry(), self.network)
        return calibrate(framework, query, epsilon, mechanism=mechanism, allow_zero_noise=True)

    def loss(self, scale: Fraction | float) -> float:
        return quilt_oracles.exact_loss(self.joint, self.sum, [scale])


def check_every_mechanism(case: Case, epsilon: float) -> dict[str, Calibration]:
    """Check each mechanism's true loss twice, by enumeration and by the audit, and the order of the scales."""
    query = case.query
    calibrations = {name: case.needed(query, epsilon, name) for name in EXACT}
    for name, calibration in calibrations.items():
        assert exact_loss(calibration).upper <= epsilon * (1 + 1e-9), name
        if calibration.scale:
            assert case.loss(calibration.randomiser.scale) <= epsilon * (1 + 1e-9), name
    scales = {name: calibration.scale for name, calibration in calibrations.items()}
    slack = 1 + 2e-9
    assert scales["quilt-exact"] <= scales["group-dp"] * slack
    assert scales["laplace-exact"] <= scales["wasserstein"] * slack <= scales["group-dp"] * slack**2
    return calibrations


def check_other_queries(case: Case, epsilon: float) -> None:
    binary = all(size == 2 for size in case.sizes)
    for name in ("group-dp", "quilt-exact"):
        calibration = case.needed(Histogram() if binary else Count([1, 2]), epsilon, name)
        assert exact_loss(calibration).upper <= epsilon * (1 + 1e-9), name


@pytest.mark.sampled(9)
@pytest.mark.parametrize("seed", range(6))
def test_up_to_five_variables(seed: int) -> None:
    case = Case(seed, 2 + seed % 4)
    epsilon = EPSILONS[seed % 3]
    calibrations = check_every_mechanism(case, epsilon)
    assert calibrations["quilt-exact"].scale == pytest.approx(case.scale_over_all_quilts(epsilon), rel=1e-9, abs=1e-12)
    check_other_queries(case, epsilon)


@pytest.mark.slow
@pytest.mark.parametrize("size", [6, 7])
@pytest.mark.parametrize("epsilon", EPSILONS)
def test_up_to_seven_variables(size: int, epsilon: float) -> None:
    for seed in range(7):
        case = Case(1000 * size + seed, size)
        calibrations = check_every_mechanism(case, epsilon)
        assert calibrations["quilt-exact"].scale == pytest.approx(
            case.scale_over_all_quilts(epsilon), rel=1e-9, abs=1e-12
        )
        check_other_queries(case, epsilon)


@pytest.mark.slow
@pytest.mark.parametrize("size", [6, 7])
def test_up_to_seven_variables_with_zeros(size: int) -> None:
    """Zeros make independencies that the graph does not show: enumeration may find better quilts, never worse ones."""
    checked = 0
    for seed in range(9):
        case = Case(2000 * size + seed, size, zeros=True)
        if case.has_secrets:
            epsilon = EPSILONS[seed % 3]
            calibrations = check_every_mechanism(case, epsilon)
            assert calibrations["quilt-exact"].scale >= case.scale_over_all_quilts(epsilon) * (1 - 1e-9)
            checked += 1
    assert checked >= 5
