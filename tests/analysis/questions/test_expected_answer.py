"""The mean and the tail of an answer are those over the list of its joint states."""

import math
from itertools import product
from math import prod

import numpy as np
import pytest
from tests.conformance.corpus import Case, corpus

import takifugu as tf
from takifugu.analysis.problem import Problem
from takifugu.analysis.questions.evaluating import evaluate, value_indices
from takifugu.analysis.questions.expected_answer import expected_answer, of_components
from takifugu.analysis.questions.joint_states import all_states
from takifugu.analysis.questions.likely_range import LOG_MOMENTS, log_chance_of_reaching, unknown
from takifugu.core.errors import TakifuguError, Unsupported
from takifugu.model.queries.answer import Additive


def mean_by_enumeration(belief, answer: Additive) -> np.ndarray:
    states = all_states(belief)
    (weights,) = states.weights
    masses = np.array([float(w) for w in weights]) / float(sum(weights))
    return masses @ answer.totals(states.values) * float(answer.grid)


def pairs(case: Case):
    try:
        answers = Problem(case.framework, case.query, 1).answers
    except TakifuguError:
        return
    for belief, answer in zip(case.framework.beliefs, answers, strict=False):
        if type(answer) is Additive:
            yield belief, answer


@pytest.mark.sampled(3)
@pytest.mark.parametrize("case", corpus(), ids=lambda case: case.name)
def test_the_mean_is_that_over_all_joint_states(case: Case) -> None:
    for belief, answer in pairs(case):
        try:
            mean = expected_answer(belief, answer)
        except Unsupported:
            continue
        if not all_states(belief).nothing:  # the states list no value of who is absent
            assert mean == pytest.approx(mean_by_enumeration(belief, answer), rel=1e-9, abs=1e-12)


def test_a_mean_is_known_for_most_kinds_of_beliefs() -> None:
    known = set()
    for case in corpus():
        for belief, answer in pairs(case):
            try:
                expected_answer(belief, answer)
            except Unsupported:
                continue
            known.add(type(belief).__name__)
    assert known >= {"MarkovChain", "BayesianNetwork", "JointTable", "IndependentUsers", "IndependentPieces", "Records"}


@pytest.mark.parametrize("initial", ["stationary", [0.2, 0.8]])
def test_pieces_at_once_have_the_mean_of_their_classes(initial) -> None:
    chain = tf.MarkovChain([[0.9, 0.1], [0.4, 0.6]], length=9, initial=initial)
    pieces = tf.IndependentPieces(chain, [2, 3, 9, 2])
    for query in (tf.Histogram(), tf.Count(1), tf.Count(1, entries=[0, 3, 4, 9])):
        answer = query.resolve(pieces)
        expected = of_components(pieces, answer) * float(answer.grid)
        assert expected_answer(pieces, answer) == pytest.approx(expected, rel=1e-12)


def test_a_long_chain_that_starts_somewhere_settles() -> None:
    far = tf.MarkovChain([[0.9, 0.1], [0.4, 0.6]], length=10**6, initial=[1, 0])
    near = tf.MarkovChain([[0.9, 0.1], [0.4, 0.6]], length=1000, initial=[1, 0])
    count = tf.Count(1)
    more = expected_answer(far, count.resolve(far)) - expected_answer(near, count.resolve(near))
    assert more == pytest.approx([0.2 * (10**6 - 1000)], rel=1e-12)


def test_users_whose_value_nobody_knows_count_all_the_same() -> None:
    users = tf.IndependentUsers([{0: 0.25, 1: 0.75}] * 8, presence=0.5, absence="unknown")
    assert expected_answer(users, tf.Sum().resolve(users)) == pytest.approx([6.0])
    removed = tf.IndependentUsers([{0: 0.25, 1: 0.75}] * 8, presence=0.5, absence="removed")
    assert expected_answer(removed, tf.Sum().resolve(removed)) == pytest.approx([3.0])


def test_an_unknown_start_has_no_mean() -> None:
    chain = tf.MarkovChain([[0.9, 0.1], [0.4, 0.6]], length=5, initial="any")
    with pytest.raises(Unsupported, match="expect"):
        expected_answer(chain, tf.Count(1).resolve(chain))


@pytest.mark.parametrize("matrix", [
    [[0.9, 0.1, 0, 0], [0.3, 0.7, 0, 0], [0, 0, 1, 0], [0, 0.5, 0.2, 0.3]],  # two closed classes
    [[0, 1, 0, 0], [1, 0, 0, 0], [0, 0, 1, 0], [0, 0.5, 0.2, 0.3]],  # one of them goes round in a circle
])  # fmt: skip
def test_several_closed_classes_have_the_mean_of_a_given_start(matrix: list[list[float]]) -> None:
    start = [0.1, 0.2, 0.3, 0.4]
    chain = tf.MarkovChain(matrix, length=300, initial=start)
    law, total = np.array(start), np.zeros(4)
    for _ in range(300):
        total, law = total + law, law @ np.array(matrix)
    assert expected_answer(chain, tf.Histogram().resolve(chain)) == pytest.approx(total, rel=1e-9)


@pytest.mark.parametrize(
    "query",
    [tf.CountRows({"ill": "yes"}), tf.CountRows({"sex": "f", "ill": "no"}), tf.CrossTable(["sex", "ill"])],
    ids=lambda query: query.describe(),
)
def test_parameters_of_columns_are_averaged_over(query) -> None:
    """Against all parameters and all records of two people."""
    rows, chances = [("many", "few"), ("few", "many"), ("few", "few")], [0.2, 0.5, 0.3]
    laws = {
        "sex": {"many": {"f": 0.8, "m": 0.2}, "few": {"f": 0.1, "m": 0.9}},
        "ill": {"many": {"yes": 0.6, "no": 0.4}, "few": {"yes": 0.05, "no": 0.95}},
    }
    belief = tf.Parameters(tf.JointTable(rows, chances, names=list(laws)), laws, 2)
    answer = belief.resolve(query)
    mean = np.zeros(len(answer.labels))
    for (sex, ill), chance in zip(rows, chances, strict=True):
        for people in product(product(["f", "m"], ["yes", "no"]), repeat=2):
            mass = chance * prod(laws["sex"][sex][one] * laws["ill"][ill][other] for one, other in people)
            mean += mass * np.array(evaluate(answer, value_indices(belief, list(people))))
    assert expected_answer(belief, answer) == pytest.approx(mean * float(answer.grid), rel=1e-9)


TILTS = np.array([-3.0, -0.2, 0.01, 0.3, 1.0, 2.5])
#: The beliefs whose moments are those of the law, and no bounds.
EXACT = ("MarkovChain", "PeriodicChain", "IndependentUsers", "Records", "JointTable")


def is_known(belief) -> bool:
    parts = [belief, *(belief.component(number) for number in range(len(belief.components())))]
    return any(LOG_MOMENTS.of(part) is not unknown for part in parts)


@pytest.mark.sampled(3)
@pytest.mark.parametrize("case", corpus(), ids=lambda case: case.name)
def test_moments_and_tails_are_those_over_all_joint_states(case: Case) -> None:
    for belief, answer in pairs(case):
        if not answer.is_count or not is_known(belief) or getattr(belief, "starts_anyhow", False):
            continue
        states = all_states(belief)
        if states.nothing:
            continue  # they list no value of who is absent
        masses = np.array([float(w) for w in states.weights[0]])
        masses /= masses.sum()
        counts = answer.totals(states.values)
        for cell, column in enumerate(counts.T):
            for value in sorted({*column.tolist()}):
                chance = masses[column >= value].sum()
                bound = log_chance_of_reaching(belief, answer, cell, value)
                assert bound >= math.log(chance) - 1e-9 if chance else bound <= 0
            if LOG_MOMENTS.of(belief) is not unknown and answer.cells == 1:
                moments = np.log(masses @ np.exp(np.multiply.outer(column, TILTS)))
                bounds = LOG_MOMENTS.of(belief)(belief, answer, TILTS)
                assert (bounds >= moments - 1e-9 * np.abs(moments)).all()
                if type(belief).__name__ in EXACT and getattr(belief, "within", None) is None:
                    assert bounds == pytest.approx(moments, rel=1e-9)


def test_moments_are_known_for_chains_pieces_users_and_records() -> None:
    known = {
        type(belief).__name__
        for case in corpus() for belief, answer in pairs(case)
        if is_known(belief) and log_chance_of_reaching(belief, answer, 0, answer.size + 1.0) < 0
    }  # fmt: skip
    assert known >= {"MarkovChain", "PeriodicChain", "IndependentPieces", "IndependentUsers", "Records"}


def test_of_any_start_it_is_the_worst_one() -> None:
    matrix, length = [[0.9, 0.1], [0.4, 0.6]], 12
    query = tf.Count(1)
    starts = [tf.MarkovChain(matrix, length, start) for start in ([1, 0], [0, 1], "any")]
    one, other, any_start = (log_chance_of_reaching(c, query.resolve(c), 0, 9) for c in starts)
    assert any_start == pytest.approx(max(one, other))


def test_a_long_slow_chain_keeps_its_chances() -> None:
    slow = tf.MarkovChain([[1 - 1e-4, 1e-4], [1e-4, 1 - 1e-4]], 10_000)
    quick = tf.MarkovChain([[0.5, 0.5], [0.5, 0.5]], 10_000)
    chances = [log_chance_of_reaching(chain, tf.Count(1).resolve(chain), 0, 9_990) for chain in (slow, quick)]
    assert chances[0] > math.log(0.1)
    assert chances[1] == pytest.approx(-9_990 * math.log(2), rel=0.02)
