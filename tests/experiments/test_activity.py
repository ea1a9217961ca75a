"""The real run: reads what the data's description says, fits on one half only, measures the noise that it states."""

from collections.abc import Sequence
from itertools import pairwise

import numpy as np
import pytest
from tests.support.research import research_file

import activity
import takifugu as tf


@pytest.fixture(scope="module")
def people() -> Sequence[activity.Participant]:
    return activity.participants(research_file(activity.FILE))


@pytest.mark.slow
def test_the_pieces_are_those_of_the_description(people: Sequence[activity.Participant]) -> None:
    lengths = [length for person in people for length in person.lengths]
    assert (len(people), len(lengths), sum(lengths), max(lengths)) == (37, 299, 124_947, 2346)
    assert min(lengths) >= activity.SHORTEST


@pytest.mark.mutants
def test_the_chain_is_that_of_the_transitions_inside_pieces_both_ways(people: Sequence[activity.Participant]) -> None:
    counts = np.ones((4, 4))
    for person in people[:5]:
        for piece in person.pieces:
            for before, after in pairwise(piece):
                counts[before, after] += 1
                counts[after, before] += 1
    fitted = activity.fitted(people[:5])
    np.testing.assert_allclose(fitted.matrix, counts / counts.sum(axis=1, keepdims=True), rtol=1e-12)
    assert "estimated" in fitted.source
    flow = fitted.stationary[:, None] * fitted.matrix
    np.testing.assert_allclose(flow, flow.T, rtol=1e-10)


@pytest.mark.mutants
def test_errors_are_those_of_the_stated_noise() -> None:
    chain = tf.MarkovChain([[0.6, 0.4], [0.5, 0.5]], length=1)
    trials = list(activity.trials(chain, [(5, 8)], lambda rows: tf.Histogram(total=rows), ["group-dp"]))
    assert [trial.epsilon for trial in trials] == list(activity.EPSILONS)
    for trial in trials:
        assert trial.scale == pytest.approx(2 * 8 / trial.epsilon / 13)
        assert trial.error == pytest.approx(trial.expected, rel=0.2)
