"""The moments of a count are those over the list of joint states, and Chernoff's bound is above the probability."""

import math

import numpy as np
import pytest
from tests.analysis.questions.test_expected_answer import pairs
from tests.conformance.corpus import Case, corpus

import takifugu as tf
from takifugu.analysis.questions.joint_states import all_states
from takifugu.analysis.questions.tail import LOG_MOMENTS, log_chance_of_reaching, unknown

TILTS = np.array([0.01, 0.3, 1.0, 2.5])


def is_known(belief) -> bool:
    parts = [belief, *(belief.component(number) for number in range(len(belief.components())))]
    return any(LOG_MOMENTS.of(part) is not unknown for part in parts)


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
                assert LOG_MOMENTS.of(belief)(belief, answer, TILTS) == pytest.approx(moments, rel=1e-9)


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
