"""Secrets about whole columns: what they compare, how they are written, and what they refuse."""

from fractions import Fraction
from itertools import combinations

import pytest
from hypothesis import given
from hypothesis import strategies as st

import takifugu as tf
from takifugu.model import secrets
from takifugu.model.secrets.value_sets import Between, Intervals, near

SECRETS = [
    tf.dataset_property(["a", "b"], "mean", max_difference=[1, 2]),
    tf.dataset_property(["a", "b"], [1, "1/2"], pairs=[(0, "1/3")]),
    tf.dataset_property("race", "share", of=["B", "C"]),
    tf.dataset_property("r", "sum", sets=[[0, 1], [2], (3, None)]),
    tf.dataset_property("x", "mean", sets=[[(None, 20), (80, None)], (20, 80)]),
    tf.dataset_property("x", tf.NamedFunction("range", 1, lambda values: max(values) - min(values))),
    tf.distribution_parameter("h", interval=(0.1, 0.4)),
    tf.distribution_parameter("h", values=["a", "b"]),
    tf.every_entry("income", max_difference="5/2"),
]


@pytest.mark.parametrize("secret", SECRETS, ids=lambda secret: secret.describe())
def test_a_secret_reads_back_as_itself(secret):
    assert secrets.from_dict(secret.to_dict()) == secret


@pytest.mark.parametrize(("wrong", "key"), [
    ({"function": "median"}, "function"),
    ({"function": max}, "function"),
    ({"function": [1, 2]}, "function"),
    ({"function": [0]}, "function"),
    ({"function": "mean", "sets": [(None, 3), (2, None)]}, "sets"),
    ({"function": "mean", "sets": [[1, 2], (2, 3)]}, "sets"),
    ({"function": "mean", "sets": [[1, 2], [2, 3]]}, "sets"),
    ({"function": "mean", "sets": [(3, 3), (5, None)]}, "sets"),
    ({"function": "mean", "sets": [[(None, 3), (2, None)], (5, 6)]}, "sets"),
    ({"function": "mean", "sets": [[(None, 3), (5, None)], [5]]}, "sets"),
    ({"function": "mean", "sets": [[(None, 3), (5, None)], [(4, 6), (1, 2, 3)]]}, "sets"),
    ({"function": "mean", "sets": [(None, 3)]}, "sets"),
    ({"function": "mean", "max_difference": 0}, "max_difference"),
    ({"function": "mean", "max_difference": [1, 2]}, "max_difference"),
    ({"function": "mean", "max_difference": 1, "pairs": [(1, 2)]}, "pairs"),
    ({"function": "mean", "pairs": [(1, 1)]}, "pairs"),
    ({"function": "mean", "of": "x"}, "of"),
])  # fmt: skip
def test_what_a_property_refuses(wrong, key):
    with pytest.raises(tf.errors.InputError) as refusal:
        tf.dataset_property("a", **wrong)
    assert key in refusal.value.where


COIN = tf.JointTable([(0,), (1,)], [0.5, 0.5])
UNKNOWN = {"kind": "dataset-property", "columns": ["x"], "function": {"name": "?", "version": 1}}


@pytest.mark.parametrize(("wrong", "words"), [
    (lambda: tf.distribution_parameter("a", interval=(1, 1)), "interval"),
    (lambda: tf.distribution_parameter("a", values=[1]), "values"),
    (lambda: tf.distribution_parameter("a", values=[1, 2], interval=(0, 1)), "values"),
    (lambda: tf.Pufferfish(tf.dataset_property("x1", "mean"), COIN), "requires a belief over records"),
    (lambda: secrets.from_dict(UNKNOWN), "defined by nobody"),
])  # fmt: skip
def test_what_else_is_refused(wrong, words):
    with pytest.raises(tf.errors.InputError, match=words):
        wrong()


@given(st.sets(st.fractions(0, 10, max_denominator=4), max_size=9), st.fractions(0, 5, max_denominator=4))
def test_near_values_by_enumeration(values, difference):
    listed = sorted(values)
    expected = [pair for pair in combinations(range(len(listed)), 2) if listed[pair[1]] - listed[pair[0]] <= difference]
    assert sorted(near(listed, difference)) == expected


def test_a_set_of_several_intervals_holds_what_some_part_holds():
    tails, middle = tf.dataset_property("x", "mean", sets=[[(8, None), (None, 2)], (2, 8)]).sets
    assert tails.describe() == "below 2 or at least 8"
    assert [tails.holds(Fraction(v)) for v in (1, 2, 7, 8)] == [True, False, False, True]
    assert not tails.meets(middle)
    assert not middle.meets(tails)
    assert tails.meets((Fraction(9),))
    one = Intervals((Between(Fraction(0), Fraction(1)),))
    assert tf.dataset_property("x", "mean", sets=[[(0, 1)], [(1, 2)]]).sets[0] == one


_ENDS = st.none() | st.integers(0, 4).map(Fraction)


@given(_ENDS, _ENDS, _ENDS, _ENDS)
def test_intervals_meet_where_some_value_is_in_both(a, b, c, d):
    one, other = Between(a, b), Between(c, d)
    if any(x is not None and y is not None and x >= y for x, y in ((a, b), (c, d))):
        return
    among = [Fraction(k, 2) for k in range(-2, 12)]
    assert one.meets(other) == any(one.holds(value) and other.holds(value) for value in among)
