"""The mean of an answer is that over the list of its joint states."""

import numpy as np
import pytest
from tests.conformance.corpus import Case, corpus

import takifugu as tf
from takifugu.analysis.problem import Problem
from takifugu.analysis.questions.expected_answer import expected_answer
from takifugu.analysis.questions.joint_states import all_states
from takifugu.core.errors import TakifuguError, Unsupported
from takifugu.model.queries.additive import Additive


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
    assert known >= {"MarkovChain", "BayesianNetwork", "JointTable", "IndependentUsers", "IndependentPieces"}


def test_a_long_chain_that_starts_somewhere_settles() -> None:
    far = tf.MarkovChain([[0.9, 0.1], [0.4, 0.6]], length=10**6, initial=[1, 0])
    near = tf.MarkovChain([[0.9, 0.1], [0.4, 0.6]], length=1000, initial=[1, 0])
    count = tf.Count(1)
    more = expected_answer(far, count.resolve(far)) - expected_answer(near, count.resolve(near))
    assert more == pytest.approx([0.2 * (10**6 - 1000)], rel=1e-12)


@pytest.mark.parametrize("initial", ["any"])
def test_an_unknown_start_has_no_mean(initial: str) -> None:
    chain = tf.MarkovChain([[0.9, 0.1], [0.4, 0.6]], length=5, initial=initial)
    with pytest.raises(Unsupported, match="expect"):
        expected_answer(chain, tf.Count(1).resolve(chain))
