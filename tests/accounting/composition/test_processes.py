"""Normal releases about one Gaussian process: squares of moves add up, value by value, whatever was chosen when."""

from fractions import Fraction

import pytest

import takifugu as tf
from takifugu.core.errors import CompositionRefused

SERIES = tf.AutoregressiveNormal("0.8", 1, 20)
FRAMEWORK = tf.Pufferfish(tf.every_entry(max_difference=1), SERIES)
TINY = Fraction(1, 10**6)


def week(first):
    return tf.calibrate(FRAMEWORK, tf.Sum(entries=range(first, first + 5)), 1, TINY)


@pytest.fixture(scope="module")
def weeks():
    return [week(first) for first in range(0, 20, 5)]


def test_noise_of_another_kind_or_framework_is_not_added_up(weeks):
    laplace = tf.calibrate(FRAMEWORK, tf.Sum(), 1, mechanism="wasserstein")
    with pytest.raises(CompositionRefused, match="or has normal noise, has no joint promise"):
        tf.compose([weeks[0], laplace])
    other = tf.Pufferfish(tf.every_entry(max_difference=2), SERIES)
    foreign = tf.calibrate(other, tf.Sum(), 1, TINY, mechanism="process-gaussian")
    with pytest.raises(CompositionRefused):
        tf.compose([weeks[0], foreign])
