"""All cells lie between the ends of a likely range, but for the probability that may be missed: by joint states."""

import math

import numpy as np
import pytest
from tests.analysis.questions.test_expected_answer import pairs
from tests.conformance.corpus import Case, corpus

import takifugu as tf
from takifugu.analysis.answer_laws import moments_of_chains
from takifugu.analysis.answer_laws.moments_of_chains import memory
from takifugu.analysis.questions.expected_answer import expected_answer, expected_range
from takifugu.analysis.questions.joint_states import all_states
from takifugu.analysis.questions.likely_range import likely_range
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


def test_half_as_wide_a_range_misses_more() -> None:
    """The mutant: the check above can fail."""
    coin = tf.MarkovChain([[0.5, 0.5], [0.5, 0.5]], 10)
    answer = tf.Count(1).resolve(coin)
    low, high = likely_range(coin, answer, 0.05)
    middle, half = (low + high) / 2, (high - low) / 4
    assert outside(coin, answer, middle - half, middle + half) > 0.05


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


@pytest.mark.parametrize("lengths", [[40], [1], [30, 5, 12]])
def test_a_region_holds_all_of_its_members(lengths: list[int]) -> None:
    """Members are chains of its matrices, of any start, whose means and exact ranges lie within those of the region."""
    chance, total = np.random.default_rng(4), max(lengths)
    lower, upper = np.array([[0.7, 0.1], [0.2, 0.4]]), np.array([[0.9, 0.3], [0.6, 0.8]])
    region = tf.IndependentPieces(tf.ChainRegion(lower, upper, total), lengths)
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


def test_a_class_without_a_mean_says_nothing() -> None:
    loose = tf.MarkovChainClass(pi=0.2, g=0.4, length=50)
    answer = tf.Count(1).resolve(loose)
    assert [float(end[0]) for end in likely_range(loose, answer, 0.01)] == [-math.inf, math.inf]
    with pytest.raises(Unsupported):
        expected_range(loose, answer)
