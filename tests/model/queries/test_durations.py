"""What counts entries says itself that it may be told as time; all else stays as it is."""

from fractions import Fraction

import pytest

import takifugu as tf

HOUR = Fraction(1, 4)


@pytest.mark.parametrize(("query", "lasting"), [
    (tf.Count("a"), tf.Count("a", duration=HOUR)),
    (tf.Histogram(["a"]), tf.Histogram(["a"], duration=HOUR)),
    (tf.Histogram(total=4), tf.Histogram(total=4)),
    (tf.Sum(), tf.Sum()),
    (tf.CountAbove(3), tf.CountAbove(3)),
])  # fmt: skip
def test_a_query_says_whether_it_is_told_as_time(query: tf.Query, lasting: tf.Query) -> None:
    assert query.lasting(HOUR) == lasting
