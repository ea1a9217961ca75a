"""All cells lie between the ends of a likely range, but for the probability that may be missed: by joint states."""

import math

import numpy as np
import pytest
from tests.analysis.questions.test_expected_answer import pairs
from tests.conformance.corpus import Case, corpus
from tests.support import members

import takifugu as tf
from takifugu.analysis.expectations import moments_of_chains
from takifugu.analysis.expectations.moments_of_chains import memory
from takifugu.analysis.expectations.reversible_chains import sum_of_least
from takifugu.analysis.questions.expected_answer import expected_answer, expected_range
from takifugu.analysis.questions.joint_states import all_states
from takifugu.analysis.questions.likely_range import TILTS, likely_range, log_moments, of_components
from takifugu.core.errors import Unsupported

MATRICES = ([[0.9, 0.1], [0.4, 0.6]], [[0.2, 0.8], [0.9, 0.1]], [[0.99, 0.01, 0], [0, 0.5, 0.5], [0.3, 0, 0.7]])


def outside(belief, answer, low: np.ndarray, high: np.ndarray) -> float:
    """Return the largest probability, of all starts, that a cell lies outside."""
    states, largest = all_states(belief), 0.0
    cells = answer.totals(states.values) * float(answer.grid)
    is_out = ((cells < low - 1e-9) | (cells > high + 1e-9)).any(axis=1)
    for weights in states.weights:
        masses = np.array([float(weight) for weight in weights])
        largest = max(largest, float(masses[is_out].sum() / masses.sum()))
    return largest


@pytest.mark.sampled(5)
@pytest.mark.parametrize("case", corpus(), ids=lambda case: case.name)
@pytest.mark.parametrize("most_runs", [1_000, 0])
def test_what_is_missed_is_rare(case: Case, most_runs: int, monkeypatch) -> None:
    monkeypatch.setattr(moments_of_chains, "MOST_RUNS", most_runs)
    for belief, answer in pairs(case):
        try:
            if all_states(belief).nothing:
                continue  # they list no value of who is absent
        except Unsupported:
            continue  # a class, whose members are looked at below
        for miss in (0.3, 0.05, 0.001):
            low, high = likely_range(belief, answer, miss)
            assert outside(belief, answer, low, high) <= miss


@pytest.mark.sampled(2)
@pytest.mark.parametrize("matrix", MATRICES)
def test_memory_bounds_the_sum_of_distances(matrix) -> None:
    total, power = 0.0, np.eye(len(matrix))
    for _ in range(5_000):
        total += max(np.abs(power - row).sum(axis=1).max() / 2 for row in power)
        power = power @ np.array(matrix)
    assert total <= memory(tf.MarkovChain(matrix, 9)) * (1 + 1e-9)


def test_what_never_forgets_has_no_memory_bound() -> None:
    assert math.isinf(memory(tf.MarkovChain([[0, 1], [1, 0]], 9, [1, 0])))


@pytest.mark.parametrize("initial", ["stationary", [0.2, 0.8], "any"])
def test_many_runs_are_bounded_wider_and_not_by_far(initial, monkeypatch) -> None:
    chain = tf.MarkovChain([[0.95, 0.05], [0.2, 0.8]], 5_000, initial)
    answer = tf.Histogram().resolve(chain)
    exact = likely_range(chain, answer, 0.001)
    monkeypatch.setattr(moments_of_chains, "MOST_RUNS", 0)
    low, high = likely_range(chain, answer, 0.001)
    assert (low <= exact[0]).all()
    assert (high >= exact[1]).all()
    assert ((high - low) <= 3.5 * (exact[1] - exact[0])).all()


@pytest.mark.sampled(3)
@pytest.mark.parametrize("initial", ["stationary", [0.2, 0.8], "any"])
def test_recordings_of_many_lengths_are_followed_at_once(initial) -> None:
    """A table of recordings of 326 lengths was never doubted: beyond 64 lengths a wide bound took their place."""
    lengths = [1 + 7 * n % 90 for n in range(200)]
    pieces = tf.IndependentPieces(tf.MarkovChain([[0.9, 0.1], [0.3, 0.7]], 1, initial), lengths)
    count, tilts = tf.Count(1).resolve(pieces), np.concatenate([TILTS, -TILTS])
    exact = of_components(pieces, count, tilts)
    assert log_moments(pieces, count, tilts) == pytest.approx(exact, rel=1e-7)
    seen = tf.Linear([int(entry % 9 > 0) for entry in range(pieces.size)]).resolve(pieces)  # a ninth is not observed
    bound, exact = log_moments(pieces, seen, tilts), of_components(pieces, seen, tilts)
    assert (bound >= exact - 1e-9 * np.abs(exact)).all()
    highest = [((moments + 8) / tilts)[: len(TILTS)].min() for moments in (bound, exact)]
    assert highest[1] <= highest[0] < 1.5 * highest[1]


def test_an_unknown_start_has_a_range_of_means_and_of_answers() -> None:
    matrix, query = [[0.9, 0.1], [0.4, 0.6]], tf.Count(1)
    chains = [tf.MarkovChain(matrix, 30, start) for start in ([1, 0], [0, 1], [0.5, 0.5])]
    loose = tf.MarkovChain(matrix, 30, "any")
    low, high = expected_range(loose, query.resolve(loose))
    means = [expected_answer(chain, query.resolve(chain))[0] for chain in chains]
    assert (low[0], high[0]) == pytest.approx((min(means), max(means)))
    pieces = tf.IndependentPieces(loose, [30, 30, 30])
    assert expected_range(pieces, query.resolve(pieces))[1] == pytest.approx(3 * high)


def test_a_class_of_records_holds_all_of_its_members() -> None:
    chance = np.random.default_rng(3)
    table = tf.JointTable([("a",), ("b",), ("c",)], [0.5, 0.3, 0.2], names=["group"])
    loose = tf.Records(table, 400, within=[(0.4, 0.6), (0.2, 0.4), (0.1, 0.3)])
    query = tf.CrossTable(["group"])
    least, most = expected_range(loose, loose.resolve(query))
    low, high = likely_range(loose, loose.resolve(query), 0.01)
    for _ in range(20):
        law = np.clip(np.array([0.5, 0.3, 0.2]) + chance.uniform(-0.05, 0.05, 3), 0, 1)
        law /= law.sum()
        member = tf.Records(tf.JointTable([("a",), ("b",), ("c",)], law, names=["group"]), 400)
        mean = expected_answer(member, member.resolve(query))
        ends = likely_range(member, member.resolve(query), 0.01)
        assert (least - 1e-9 <= mean).all()
        assert (mean <= most + 1e-9).all()
        assert (low <= ends[0] + 1e-6).all()
        assert (ends[1] <= high + 1e-6).all()


@pytest.mark.sampled(3)
@pytest.mark.parametrize("lengths", [[40], [1], [30, 5, 12]])
def test_a_region_holds_all_of_its_members(lengths: list[int]) -> None:
    """Members are chains of its matrices, of any start, whose means and exact ranges lie within those of the region."""
    chance, total = np.random.default_rng(4), max(lengths)
    lower, upper = np.array([[0.7, 0.1], [0.2, 0.4]]), np.array([[0.9, 0.3], [0.6, 0.8]])
    region = tf.IndependentPieces(tf.IntervalMarkovChain(lower, upper, total), lengths)
    for query in (tf.Count(1), tf.Sum(codes={0: -2, 1: 5}), tf.Histogram()):
        least, most = expected_range(region, query.resolve(region))
        low, high = likely_range(region, query.resolve(region), 0.01)
        for _ in range(15):
            stay = chance.uniform([0.7, 0.4], [0.9, 0.8])
            first = chance.choice([0.0, 1.0, chance.random()])
            matrix = [[stay[0], 1 - stay[0]], [1 - stay[1], stay[1]]]
            member = tf.IndependentPieces(tf.MarkovChain(matrix, total, [first, 1 - first]), lengths)
            answer = query.resolve(member)
            mean, ends = expected_answer(member, answer), likely_range(member, answer, 0.01)
            assert (least - 1e-6 <= mean).all()
            assert (mean <= most + 1e-6).all()
            assert (low <= ends[0] + 1e-6).all()
            assert (ends[1] <= high + 1e-6).all()


@pytest.mark.parametrize("lengths", [[400], [20] * 30])
@pytest.mark.parametrize(("pi", "g"), [(0.2, 0.4), (0.05, 0.1), (0.5, 1.0)])
def test_a_class_of_reversible_chains_holds_all_of_its_members(pi: float, g: float, lengths: list[int]) -> None:
    """Members of two states, of any start, whose count has the law that its definition gives it."""
    chance, query = np.random.default_rng(6), tf.Count(1)
    loose = tf.IndependentPieces(tf.ReversibleChains(pi=pi, g=g, length=max(lengths)), lengths)
    low, high = likely_range(loose, query.resolve(loose), 0.01)
    least, most = expected_range(loose, query.resolve(loose))
    for _ in range(30):
        matrix, start = members.reversible(chance, pi, g), chance.choice([0.0, 1.0, chance.random()])
        law = members.count_law([(matrix, [1 - start, start], length) for length in lengths])
        counts = np.arange(len(law))
        assert law[(counts < low[0]) | (counts > high[0])].sum() <= 0.01
        assert least[0] - 1e-6 <= law @ counts <= most[0] + 1e-6


def resolved(belief, query):
    return belief.resolve(query) if hasattr(belief, "resolve") else query.resolve(belief)


def check_holds(loose, member, query) -> None:
    """Check that each cell's means and likely range of a member lie within those of its class."""
    answer, of_member = resolved(loose, query), resolved(member, query)
    places = [of_member.labels.index(label) for label in answer.labels]
    least, most = expected_range(loose, answer)
    low, high = likely_range(loose, answer, 0.01)
    mean = expected_answer(member, of_member)[places]
    ends = [end[places] for end in likely_range(member, of_member, 0.01)]
    assert (least - 1e-6 <= mean).all()
    assert (mean <= most + 1e-6).all()
    assert (low <= ends[0] + 1e-6).all()
    assert (ends[1] <= high + 1e-6).all()


@pytest.mark.mutants
@pytest.mark.parametrize("lengths", [[2_000], [1], [30, 5, 12]])
def test_a_class_of_reversible_chains_with_three_states_holds_its_members(lengths: list[int]) -> None:
    chance, pi, g = np.random.default_rng(7), 0.1, 0.2
    loose = tf.IndependentPieces(tf.ReversibleChains(pi, g, max(lengths), (0, 1, 2)), lengths)
    for query in (tf.Count(1), tf.Sum(codes={0: -2, 1: 5, 2: 0}), tf.Histogram()):
        for _ in range(10):
            matrix, start = members.reversible(chance, pi, g, states=3), np.eye(3)[chance.integers(3)]
            chain = tf.MarkovChain(matrix, max(lengths), list(start))
            check_holds(loose, tf.IndependentPieces(chain, lengths), query)


@pytest.mark.parametrize("gap", [0.05, 0.4, 1.0])
@pytest.mark.parametrize("first", [0.0, 0.3, 1.0, 7.0])
def test_least_terms_are_added_up(first: float, gap: float) -> None:
    for most in (0.0, 0.2, 1.0, 9.0):
        total = sum(min(most, first * (1 - gap) ** step) for step in range(3_000))
        assert total - 1e-9 <= sum_of_least(most, first, gap) <= first / gap + most + 1e-9


def test_a_class_of_two_states_is_a_region() -> None:
    chains, query = tf.BinaryChains(0.2, 5_000), tf.Count(1)
    region = tf.IntervalMarkovChain([[0.2, 0.2], [0.2, 0.2]], [[0.8, 0.8], [0.8, 0.8]], 5_000)
    for ends in (expected_range, lambda belief, answer: likely_range(belief, answer, 0.01)):
        of_class, of_region = ends(chains, query.resolve(chains)), ends(region, query.resolve(region))
        assert np.allclose(of_class, of_region)
        pieces, more = tf.IndependentPieces(chains, [50] * 100), tf.IndependentPieces(region, [50] * 100)
        assert np.allclose(ends(pieces, query.resolve(pieces)), ends(more, query.resolve(more)))


TOWNS = [("few", "few"), ("few", "many"), ("many", "few"), ("many", "many")]
COINS = {"few": {1: "0.1", 0: "0.9"}, "many": {1: "0.4", 0: "0.6"}}


def test_counted_parameters_hold_all_of_their_members() -> None:
    """A member's count is a mixture of binomials, whatever prior the counts support."""
    chance, query = np.random.default_rng(10), tf.Sum("cough")
    names = ["smokers", "cough"]
    counted = tf.CountedParameters(TOWNS, [60, 40, 40, 60], names, {"cough": COINS}, 400, source="towns")
    answer, counts = counted.resolve(query), np.arange(401)
    (least, most), (low, high) = expected_range(counted, answer), likely_range(counted, answer, 0.01)
    assert (least[0], most[0]) == pytest.approx((40, 160))
    assert (low[0], high[0]) == pytest.approx((40, 160), abs=45)
    drawn = 0
    for shares in chance.dirichlet([2.0] * 4, 300):
        member = tf.Parameters(tf.JointTable(TOWNS, list(shares), names=names), {"cough": COINS}, 400)
        if counted.contains(member):
            drawn += 1
            many = shares[1] + shares[3]
            law = (1 - many) * members.binomial(400, 0.1) + many * members.binomial(400, 0.4)
            assert law[(counts < low[0]) | (counts > high[0])].sum() <= 0.01
            assert least[0] <= law @ counts <= most[0]
    assert drawn > 20


def test_parameters_in_a_network_are_any_that_are_possible() -> None:
    net = tf.BayesianNetwork([
        ("region", ["few", "many", "all"], [], [0.5, 0.5, 0]),
        ("cough", ["few", "many"], ["region"], [[0.9, 0.1], [0.2, 0.8], [0.5, 0.5]]),
    ])  # fmt: skip
    belief = tf.Parameters(net, {"cough": COINS, "region": {**COINS, "all": {1: 1, 0: 0}}}, 400)
    answer = belief.resolve(tf.JointQuery([tf.Sum("cough"), tf.Sum("region")]))
    assert np.allclose(expected_range(belief, answer), [[40, 40], [160, 160]])
    low, high = likely_range(belief, answer, 0.001)
    assert (low > 0).all()
    assert (high < 230).all()


def test_of_a_fitted_normal_law_no_mean_is_unlikely() -> None:
    """The class bounds slopes and variances from below, and no mean."""
    sample = {"height": [160, 165, 171, 174, 180, 183], "weight": [61, 60, 75, 68, 79, 92]}
    fitted = tf.MultivariateNormal.fit(sample, source="a public survey", records=400, confidence=0.99)
    assert likely_range(fitted, fitted.resolve(tf.Mean("height")), 0.01) == (-math.inf, math.inf)


def test_a_week_of_weekdays_is_followed_by_its_stretches_of_one_matrix(monkeypatch) -> None:
    """Counts by the hour took minutes: every run of an hour multiplied all 2,016 steps of the week."""
    week = [day for day in (0, 0, 0, 0, 0, 1, 1) for _ in range(288)]
    chain = tf.PeriodicChain([[[0.99, 0.01], [0.2, 0.8]], [[0.9, 0.1], [0.3, 0.7]]], 2_016 + 700, week, 1_152)
    weights = [int(step % 288 < 12) for step in range(chain.length)]
    count, tilts = tf.Linear(weights).resolve(chain), np.array([-0.1, 0.0, 0.05])
    products, means = [0], np.ones((len(tilts), 2))
    for step in reversed(range(chain.length)):
        gain = np.exp(np.multiply.outer(tilts, [0, weights[step]]))
        means = gain * (means @ np.array(chain.matrices[week[(1_152 + step) % 2_016]]).T)
    times = moments_of_chains._times

    def counted(*matrices):
        products[0] += 1
        return times(*matrices)

    monkeypatch.setattr(moments_of_chains, "_times", counted)
    assert log_moments(chain, count, tilts) == pytest.approx(np.log(means @ chain.marginal(0)), rel=1e-9, abs=1e-9)
    assert products[0] < 500
    assert memory(chain) < 6_000
