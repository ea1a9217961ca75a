"""What counts entries says itself that it may be told as time; all else stays as it is."""

from fractions import Fraction

import numpy as np
import pytest

import takifugu as tf
from takifugu.model.queries import from_dict

HOUR = Fraction(1, 4)


@pytest.mark.parametrize(("query", "lasting"), [
    (tf.Count("a"), tf.Count("a", duration=HOUR)),
    (tf.Histogram(["a"]), tf.Histogram(["a"], duration=HOUR)),
    (tf.Histogram(total=4), tf.Histogram(total=4)),
    (tf.Sum(), tf.Sum()),
    (tf.CountAbove(3), tf.CountAbove(3, duration=HOUR)),
])  # fmt: skip
def test_a_query_says_whether_it_is_told_as_time(query: tf.Query, lasting: tf.Query) -> None:
    assert query.lasting(HOUR) == lasting


def test_counts_above_thresholds_are_times_where_an_entry_has_one() -> None:
    query, chain = tf.CountAbove([0, 2], duration=HOUR), tf.MarkovChain([[0.5] * 2] * 2, length=3, states=[1, 3])
    answer = query.resolve(chain)
    assert [value * answer.grid for value in answer.evaluate(np.array([0, 1, 1]))] == [3 * HOUR, 2 * HOUR]
    assert query.describe() == "the time in which values are above 0 and above 2"
    assert from_dict(query.to_dict()) == query
