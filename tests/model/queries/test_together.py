"""Several queries as one answer: its cells are those of the parts, under every kind of belief."""

from __future__ import annotations

from fractions import Fraction
from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import takifugu as tf
from takifugu.core.errors import InputError
from takifugu.model import queries
from takifugu.model.queries import resolved

PARTS = [tf.Count("b"), tf.Mean(codes={"a": 0, "b": 1, "c": 3}, entries=[0, 2]), tf.Histogram(),
         tf.Linear([1, 0, "1/2"], codes={"a": 1, "b": 2, "c": 0})]  # fmt: skip
CHAIN = tf.MarkovChain([[0.5, 0.3, 0.2]] * 3, 3, states=["a", "b", "c"])


@given(st.lists(st.sampled_from(PARTS), min_size=1, max_size=4), st.lists(st.integers(0, 2), min_size=3, max_size=3))
def test_cells_are_those_of_the_parts(parts, values):
    together = tf.Together(parts)
    answer = resolved(together, CHAIN)
    computed = [Fraction(cell) * answer.grid for cell in answer.evaluate(np.array(values))]
    alone = [resolved(part, CHAIN) for part in parts]
    assert computed == [Fraction(cell) * each.grid for each in alone for cell in each.evaluate(np.array(values))]
    assert len(set(answer.labels)) == len(answer.labels)
    assert queries.from_dict(together.to_dict()) == together


def test_columns_that_only_some_parts_read():
    table = tf.JointTable([(0, "x"), (1, "y"), (2, "x")], [0.5, 0.25, 0.25], ["n", "s"])
    answer = resolved(tf.Together([tf.Sum("n"), tf.Count("x", entries=["s"])]), table)
    assert answer.evaluate(np.array([2, 0])) == (2, 1)


@st.composite
def parts_of_columns(draw):
    sizes = draw(st.lists(st.integers(2, 4), min_size=2, max_size=3))
    columns = [tuple(range(10 * place, 10 * place + size)) for place, size in enumerate(sizes)]
    rows = list(product(*columns))
    names = list("abc"[: len(sizes)])
    table = tf.JointTable(rows, [Fraction(1, len(rows))] * len(rows), names)
    read = st.lists(st.sampled_from(names), min_size=1, unique=True)
    part = st.one_of(
        st.sampled_from(names).map(tf.Sum), st.sampled_from(names).map(tf.Identity),
        read.map(lambda of: tf.Mean(entries=of)), read.map(lambda of: tf.Histogram(entries=of)),
        st.sampled_from(rows[-1]).map(tf.Count),
        st.lists(st.integers(-2, 2), min_size=len(sizes), max_size=len(sizes)).map(tf.Linear),
    )
    return table, draw(st.lists(part, min_size=2, max_size=4))


def test_columns_that_no_part_reads_may_have_any_value():
    table = tf.JointTable(list(product([0, 1], range(3), range(4))), [Fraction(1, 24)] * 24, list("abc"))
    for parts in ([tf.Sum("a"), tf.Sum("a")], [tf.Sum("c"), tf.Identity("a")], [tf.Linear([0, 2, 0]), tf.Sum("b")]):
        answer, alone = resolved(tf.Together(parts), table), [resolved(part, table) for part in parts]
        for values in map(np.array, product(range(2), range(3), range(4))):
            computed = [cell * answer.grid for cell in answer.evaluate(values)]
            assert computed == [cell * each.grid for each in alone for cell in each.evaluate(values)]
        read = {place for one in alone for place in np.flatnonzero(one.weights)}
        assert np.flatnonzero(answer.weights).tolist() == sorted(read)


@settings(max_examples=40, deadline=None)
@given(parts_of_columns(), st.data())
def test_columns_of_any_sizes_are_read_and_moved_as_by_the_parts(case, data):
    table, parts = case
    answer, alone = resolved(tf.Together(parts), table), [resolved(part, table) for part in parts]
    values = np.array([data.draw(st.integers(0, len(table.alphabet(place)) - 1)) for place in range(table.size)])
    computed = [cell * answer.grid for cell in answer.evaluate(values)]
    assert computed == [cell * each.grid for each in alone for cell in each.evaluate(values)]
    for entry in range(table.size):
        changes = [each.change([entry]) * each.grid for each in alone]
        assert max(changes) <= answer.change([entry]) * answer.grid <= sum(changes)


def test_records_and_parameters_add_up_the_parts():
    table = tf.JointTable([("a", 0), ("b", 1)], [Fraction(1, 2)] * 2, names=["group", "ill"])
    people = tf.Records(table, 4)
    both = tf.Together([tf.Mean("ill"), tf.CountRows({"group": "b", "ill": 1})])
    answer = resolved(both, people)
    assert answer.grid == Fraction(1, 4)
    assert answer.evaluate(np.array([1, 1, 0, 1])) == (3, 12)
    prior = tf.JointTable([("low", "low"), ("high", "high")], [Fraction(1, 2)] * 2, names=["group", "ill"])
    laws = {"group": {"low": {"a": Fraction(1)}, "high": {"b": Fraction(1)}},
            "ill": {"low": {0: Fraction(1)}, "high": {1: Fraction(1)}}}  # fmt: skip
    columns = tf.Parameters(prior, laws, 4)
    answer = resolved(both, columns)
    alone = [resolved(part, columns) for part in both.queries]
    assert answer.cells == 2
    for near in ([0], [1], [0, 1]):
        parts = [Fraction(each.change(near)) * each.grid for each in alone]
        assert max(parts) <= answer.change(near) * answer.grid <= sum(parts)


@pytest.mark.parametrize("wrong", [[], [tf.Together([tf.Count(1)])], ["count"]])
def test_what_cannot_be_told_together(wrong):
    with pytest.raises(InputError):
        tf.Together(wrong)
