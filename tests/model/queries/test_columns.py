"""Answers over columns of records, against all data sets: what they are, and how far records and columns move them."""

from __future__ import annotations

from fractions import Fraction
from itertools import combinations, product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import takifugu as tf
from takifugu.core.errors import DataError, InputError, Unsupported
from takifugu.model.queries import columns
from takifugu.model.queries.additive import LARGEST_ANSWER
from takifugu.model.queries.columns import ColumnAnswer, Record, Term, over_columns

SIZES = (2, 3, 2)
NUMBERS, ONE_OR_TWO = st.integers(-3, 3), st.integers(1, 2)


@st.composite
def answers(draw, terms=ONE_OR_TWO):
    """An answer over two records of three columns; column k is moved by entry k."""
    cells, parts = draw(st.integers(1, 2)), []
    for _ in range(draw(terms)):
        of = tuple(draw(st.permutations(range(3)))[: draw(st.integers(1, 3))])
        shape = (*(SIZES[column] for column in of), cells)
        count = int(np.prod(shape))
        parts.append(Term(of, np.array(draw(st.lists(NUMBERS, min_size=count, max_size=count))).reshape(shape)))
    return ColumnAnswer(Fraction(1), tuple("ab"[:cells]), tuple(parts), 2, (0, 1, 2), 3, ("x", "y", "z"))


ROWS = list(product(*map(range, SIZES)))


def row_adds(answer, row):
    """Return what one record adds to each cell."""
    return [
        sum(int(term.table[tuple(row[column] for column in term.columns)][cell]) for term in answer.terms)
        for cell in range(len(answer.labels))
    ]


def moves(answer, near):
    """Yield how far each cell moves when one record changes in some columns only."""
    for one, other in product(ROWS, repeat=2):
        if all(a == b for column, (a, b) in enumerate(zip(one, other, strict=True)) if column not in near):
            yield [abs(a - b) for a, b in zip(row_adds(answer, one), row_adds(answer, other), strict=True)]


@settings(max_examples=25)
@given(answers(), st.lists(st.sampled_from(ROWS), min_size=2, max_size=2))
def test_what_it_is(answer, rows):
    sums = [sum(cell) for cell in zip(*(row_adds(answer, row) for row in rows), strict=True)]
    assert list(answer.evaluate(np.array(rows))) == sums
    states = np.array([[0, 0, 0, *rows[0], *rows[1]]])  # the entries, then the records
    assert answer.totals(states).tolist() == [sums]


@settings(max_examples=25)
@given(answers(terms=st.just(1)))
def test_how_far_columns_move_it(answer):
    for near in [near for size in (1, 2, 3) for near in combinations(range(3), size)]:
        assert answer.change(near) == 2 * max(map(sum, moves(answer, near)))
    for near in combinations(range(3), 2):
        assert answer.coordinate_change(near) == max(2 * max(map(max, moves(answer, {column}))) for column in near)
    cells = list(zip(*moves(answer, {0, 1, 2}), strict=True))
    assert answer.cell_ranges() == tuple(2 * max(cell) for cell in cells)
    assert answer.change([]) == answer.coordinate_change([]) == 0


@settings(max_examples=15)
@given(answers(terms=st.just(2)))
def test_several_terms_move_it_no_further(answer):
    for near in [near for size in (1, 2, 3) for near in combinations(range(3), size)]:
        assert answer.change(near) >= 2 * max(map(sum, moves(answer, near)))


@pytest.mark.parametrize("wrong", [[[2, 0, 0]], [[0, 3, 0]], [[0, -1, 0]], [[0, 0, 2]], [[0, 0, 0], [-1, 9, 0]]])
def test_values_that_the_belief_does_not_know_are_refused_without_being_told(wrong):
    table = np.zeros((*SIZES, 1), dtype=np.int64)
    answer = ColumnAnswer(Fraction(1), ("a",), (Term((0, 1, 2), table),), len(wrong), (0, 1, 2), 3, ("x", "y", "z"))
    with pytest.raises(DataError, match="not among the states"):
        answer.evaluate(np.array(wrong))
    with pytest.raises(DataError, match="other records or columns"):
        answer.evaluate(np.zeros((len(wrong) + 1, 3), dtype=np.int64))
    with pytest.raises(DataError, match="other records or columns"):
        answer.evaluate(np.zeros((len(wrong), 2), dtype=np.int64))


def test_the_largest_answer_is_twice_below_what_integers_hold():
    half = int(LARGEST_ANSWER) // 8
    table = np.array([[0, 0], [half, -half]])

    def answer(more):
        return ColumnAnswer(Fraction(1), ("a", "b"), (Term((0,), table - more),), 2, (0,), 1, ("x",))

    assert answer(0).change([0]) == 4 * half
    with pytest.raises(InputError, match=r"can exceed 2\*\*61 steps"):
        answer(np.array([[0, 0], [0, 1024]]))


def test_a_term_of_many_combinations_is_refused(monkeypatch):
    record = Record(("x", "y"), (("a", "b"), ("c", "d", "e")))
    query = tf.CountRows({"x": "a", "y": ["c", "d"]})
    monkeypatch.setattr(columns, "LARGEST_TERM", 6)
    assert over_columns(query, record, 1, (0, 1), 2).change([0, 1]) == 1
    monkeypatch.setattr(columns, "LARGEST_TERM", 5)
    with pytest.raises(Unsupported, match=r"6\.0e.00 combinations"):
        over_columns(query, record, 1, (0, 1), 2)
    with pytest.raises(InputError, match="chooses entries"):
        over_columns(tf.By(tf.Count("a"), {"all": ["x"]}), record, 1, (0, 1), 2)
    with pytest.raises(InputError, match="is one number, and there are 3 records"):
        over_columns(tf.Identity("x"), record, 3, (0, 1), 2)


def test_a_mean_is_the_sum_over_the_number_of_records():
    record = Record(("x",), ((0, 5, 7),))
    mean, total = (over_columns(query("x"), record, 4, (0,), 1) for query in (tf.Mean, tf.Sum))
    assert [answer.change([0]) * answer.grid for answer in (mean, total)] == [7, 28]
    assert mean.evaluate(np.array([[1]] * 4))[0] * mean.grid == 5


@pytest.mark.parametrize("other", [(0, 1), (0, 5), (5, 0, 2)])
def test_each_column_has_its_own_values(other):
    record = Record(("x", "y"), ((0, 1), other))
    assert record.one_alphabet is (other == (0, 1))
    answer = over_columns(tf.Sum(), record, 2, (0, 1), 2)
    assert [answer.change([column]) * answer.grid for column in (0, 1)] == [2, 2 * (max(other) - min(other))]
    data = np.array([[1, 1], [0, len(other) - 1]])
    assert answer.evaluate(data)[0] * answer.grid == 1 + other[1] + other[-1]
    with pytest.raises(InputError):
        over_columns(tf.Sum("z"), record, 2, (0, 1), 2)
    with pytest.raises(InputError):
        record.position("z")


def test_answers_that_are_joined_have_the_cells_of_each():
    record = Record(("x", "y"), ((0, 5, 7), ("c", "d")))
    parts = (tf.Sum("x"), tf.Mean("x"), tf.CountRows({"y": "d"}))
    joined = over_columns(tf.Together(parts), record, 2, (0, 1), 2)
    data = np.array([[1, 1], [2, 0]])
    assert [cell * joined.grid for cell in joined.evaluate(data)] == [12, 6, 1]
    assert joined.change([0]) * joined.grid == 14 + 7
    assert joined.change([1]) * joined.grid == 2
