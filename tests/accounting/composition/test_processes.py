"""Normal releases about one Gaussian process: squares of moves add up, value by value, whatever was chosen when."""

from fractions import Fraction

import numpy as np
import pytest
from tests.support import process_oracles as oracle

import takifugu as tf
from takifugu.core.errors import CompositionRefused

SERIES = tf.AutoregressiveNormal("0.8", 1, 20)
FRAMEWORK = tf.Pufferfish(tf.every_entry(max_difference=1), SERIES)
TINY = Fraction(1, 10**6)


def week(first):
    return tf.calibrate(FRAMEWORK, tf.Sum(entries=range(first, first + 5)), 1, TINY)


def stacked_move(scales):
    weights = np.kron(np.eye(20 // 5), np.ones((1, 5)))[: len(scales)]
    variances = np.array([float(scale) ** 2 for scale in scales])
    return oracle.moves(oracle.autoregressive(0.8, 20), weights, variances, 1, own=False).max()


@pytest.fixture(scope="module")
def weeks():
    return [week(first) for first in range(0, 20, 5)]


@pytest.mark.parametrize("count", [2, 3, 4])
def test_weekly_sums_lose_what_one_release_of_all_of_them_would(weeks, count):
    published = weeks[:count]
    together = tf.compose(published)
    move = stacked_move([one.scale for one in published])
    delta = float(together.delta)
    assert delta == pytest.approx(count * 1e-6)
    assert oracle.profile(move, float(together.epsilon)) <= delta * (1 + 1e-6)
    if together.epsilon > 1:
        assert oracle.profile(move, float(together.epsilon) * (1 - 1e-6)) > delta


def test_the_worst_of_several_beliefs_counts(weeks):
    wilder = tf.AutoregressiveNormal("0.9", 1, 20)
    both = tf.Pufferfish(tf.every_entry(max_difference=1), [SERIES, wilder])
    one = tf.calibrate(both, tf.Sum(entries=range(5)), 1, TINY, mechanism="process-gaussian")
    assert one.scale > weeks[0].scale
    assert tf.compose([one, one]).epsilon > 1


def test_noise_of_another_kind_or_framework_is_not_added_up(weeks):
    laplace = tf.calibrate(FRAMEWORK, tf.Sum(), 1, mechanism="wasserstein")
    with pytest.raises(CompositionRefused, match="or has normal noise, has no joint promise"):
        tf.compose([weeks[0], laplace])
    other = tf.Pufferfish(tf.every_entry(max_difference=2), SERIES)
    foreign = tf.calibrate(other, tf.Sum(), 1, TINY, mechanism="process-gaussian")
    with pytest.raises(CompositionRefused):
        tf.compose([weeks[0], foreign])
