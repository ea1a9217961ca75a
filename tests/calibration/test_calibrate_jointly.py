"""Several queries under one epsilon: what they lose together by brute force, the closed form, an equal split."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from tests.support import influence_oracle as oracle

import takifugu as tf
from takifugu.calibration import problem_of
from takifugu.calibration.jointly import Split
from takifugu.core.errors import CalibrationRefused, InputError, TakifuguError

STAY = np.array([[0.9, 0.1], [0.4, 0.6]])
COUNT, LAST, TWICE = tf.Count(1), tf.Count(1, entries=(2, 3)), tf.Sum(codes={0: 0, 1: 2})


def chain(matrix=STAY, length=4, initial="stationary"):
    return tf.Pufferfish(tf.every_entry(), tf.MarkovChain(matrix, length, initial))


def split_of(framework, queries, epsilon=Fraction(1), weights=None):
    problems = tuple(problem_of(framework, query, epsilon, 0) for query in queries)
    return Split(framework, problems, tuple(weights or [1.0] * len(queries)), epsilon)


def total_error(calibrations, weights=None):
    each = [one.randomiser.expected_error() for one in calibrations]
    return math.fsum(w * e for w, e in zip(weights or [1.0] * len(each), each, strict=True))


@pytest.mark.parametrize("epsilon", [Fraction(1, 2), Fraction(2)])
@pytest.mark.parametrize(
    ("matrix", "queries"),
    [
        (STAY, [COUNT, LAST]),
        (STAY, [COUNT, tf.Histogram()]),
        ([[0.2, 0.8], [0.7, 0.3]], [COUNT, LAST, TWICE]),
        ([[0.8, 0.1, 0.1], [0.2, 0.7, 0.1], [0.1, 0.3, 0.6]], [tf.Count(2), tf.Histogram()]),
    ],
)
def test_what_they_lose_together_is_at_most_epsilon(matrix, queries, epsilon):
    matrix = np.array(matrix)
    start = np.linalg.matrix_power(matrix, 10**6)[0]
    calibrations = tf.calibrate_jointly(chain(matrix), queries, epsilon)
    charged = tf.compose(calibrations).epsilon
    assert epsilon * (1 - Fraction(1, 10**8)) <= charged <= epsilon
    law = oracle.chain_law(start, [matrix] * 3)
    releases = []
    for query, one in zip(queries, calibrations, strict=True):
        scale = float(one.scale)
        if isinstance(query, tf.Histogram):
            releases.append(oracle.histogram(law.shape, scale))
        elif query is TWICE:
            releases.append(oracle.weighted(law.shape, [[0, 2]] * 4, scale))
        else:
            releases.append(oracle.count(law.shape, [query.state], scale, query.entries))
    true = max(oracle.joint_losses(law, releases, entry).max() for entry in range(4))
    assert true <= charged + 1e-9


@pytest.mark.parametrize(
    ("queries", "weights"),
    [
        ([COUNT, LAST], None),
        ([COUNT, TWICE], [1, 100]),
        ([COUNT, tf.Histogram(), LAST], [3, 1, 1]),
        ([tf.Count(1, entries=range(10)), tf.Count(1, entries=range(10, 20)), tf.Sum(codes={0: 0, 1: 7})], None),
    ],
)
def test_the_total_error_is_never_above_that_of_an_equal_split(queries, weights):
    framework = chain(length=20)
    calibrations = tf.calibrate_jointly(framework, queries, 1, weights)
    split = split_of(framework, queries, weights=weights)
    equal = split.error(split.equal())
    assert total_error(calibrations, weights) <= equal * (1 + 1e-6)
    each = [tf.calibrate(framework, query, Fraction(1, len(queries)), mechanism="group") for query in queries]
    assert total_error(calibrations, weights) <= total_error(each, weights)


def test_one_shape_of_profile_has_a_closed_form():
    """Discrete noise of scale b errs by little less than b, so b_k ~ sqrt(D_k/w_k) up to that."""
    framework = chain(length=50)
    first, second = tf.calibrate_jointly(framework, [COUNT, tf.Sum(codes={0: 0, 1: 100})], Fraction(1, 20))
    assert second.scale / first.scale == pytest.approx(10, rel=0.03)
    alone = tf.calibrate(framework, COUNT, Fraction(1, 20), mechanism="influence").scale
    assert 1 / first.scale + 100 / second.scale == pytest.approx(1 / alone, rel=1e-6)
    best = (1 + 10) ** 2 * alone  # sum of w_k b_k at the least
    assert first.scale + second.scale == pytest.approx(best, rel=1e-4)


def test_one_query_needs_what_it_needs_alone():
    (one,) = tf.calibrate_jointly(chain(length=100), [COUNT], 1)
    assert one.scale == pytest.approx(tf.calibrate(chain(length=100), COUNT, 1, mechanism="influence").scale, rel=1e-8)


def test_other_beliefs_add_up_too():
    users = tf.Pufferfish(tf.every_entry(), tf.IndependentUsers([{0: 0.5, 1: 0.5}] * 5))
    first, second = tf.calibrate_jointly(users, [COUNT, tf.Histogram()], 1)
    assert tf.compose([first, second]).epsilon <= 1
    assert first.scale == pytest.approx(3, rel=0.02)
    assert second.scale == pytest.approx(3, rel=0.02)


@pytest.mark.parametrize(
    ("queries", "keys", "words"),
    [
        ([], {}, "nothing to calibrate"),
        ([COUNT, LAST], {"weights": [1]}, "weights"),
        ([COUNT, LAST], {"weights": [1, 0]}, "weights"),
        ([COUNT, tf.Sum(codes={0: 3, 1: 3})], {}, "no secret moves"),
        ([COUNT, tf.Mode()], {}, "publishes a choice"),
    ],
)
def test_bad_input(queries, keys, words):
    with pytest.raises(TakifuguError, match=words) as caught:
        tf.calibrate_jointly(chain(), queries, 1, **keys)
    assert isinstance(caught.value, InputError | CalibrationRefused)
    with pytest.raises(InputError, match="no entries"):
        tf.calibrate_jointly(tf.between(tf.Pmf([0], [1]), tf.Pmf([1], [1])), [tf.Identity()], 1)
