"""Components that look alike stand for each other, and no others do."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.support.unit_oracles import looks, mean_piece_by_piece

import takifugu as tf
from takifugu.analysis.problem import Problem
from takifugu.analysis.questions.expected_answer import expected_answer
from takifugu.model.beliefs.chains.alike import alike
from takifugu.model.queries.additive import Additive
from takifugu.numbers.runs import Runs

CHAIN = tf.MarkovChain([[0.9, 0.1], [0.4, 0.6]], length=9)
COUNT = np.array([[0], [1]])


@st.composite
def answers(draw: st.DrawFn) -> tuple[tf.IndependentPieces, Additive, Runs]:
    """Return pieces, an answer about them, and marks of some entries, each of few runs or of many."""
    lengths = draw(st.lists(st.integers(1, 4), min_size=1, max_size=8))
    size = sum(lengths)

    def row(most: int) -> np.ndarray:
        if draw(st.booleans()):
            return np.array(draw(st.lists(st.integers(0, most), min_size=size, max_size=size)))
        place = draw(st.integers(0, size))
        return np.repeat(draw(st.tuples(st.integers(0, most), st.integers(0, most))), [place, size - place])

    numbers = row(1) if draw(st.booleans()) else None
    answer = Additive(Fraction(1), ("a",), (COUNT, 2 * COUNT), row(3), numbers)
    return tf.IndependentPieces(CHAIN, lengths), answer, Runs.of(row(1))


@given(answers())
def test_classes_part_the_components_and_what_is_in_one_looks_the_same(drawn):
    belief, answer, marks = drawn
    appearances = looks(belief.lengths, answer.weights, answer.table_numbers, marks.numbers)
    classes = list(alike(belief, answer, marks))
    assert sorted(int(n) for one in classes for n in one.numbers) == list(range(len(belief.lengths)))
    for one in classes:
        assert {appearances[int(number)] for number in one.numbers} == {appearances[one.number]}
        assert one.run == belief.components()[one.number]
        assert one.number == min(one.numbers)
        assert one.count == len(one.numbers)
    assert [one.number for one in classes] == sorted(one.number for one in classes)
    assert len(classes) == len(set(appearances))


@given(answers())
def test_the_mean_is_that_of_all_pieces_one_by_one(drawn):
    belief, answer, _ = drawn
    assert expected_answer(belief, answer) == pytest.approx(mean_piece_by_piece(expected_answer, belief, answer))


@given(answers())
def test_a_count_of_pieces_needs_the_noise_of_their_different_ones(drawn):
    belief, answer, _ = drawn
    framework = tf.Pufferfish(tf.every_entry(), belief)
    weights = tf.Linear([Fraction(int(w)) for w in answer.weights], codes={0: 0, 1: 1})
    parts = Problem(framework, weights, Fraction(1)).parts
    appearances = looks(belief.lengths, answer.weights)
    starts = dict(zip([run.start for run in belief.components()], appearances, strict=True))
    assert sorted(map(str, (starts[part.start] for part in parts))) == sorted(map(str, set(appearances)))


def test_ranges_of_pieces_are_a_list_of_them():
    runs = tf.IndependentPieces(CHAIN, [2, 3, 1]).components()
    assert list(runs) == [range(2), range(2, 5), range(5, 6)] == [runs[n] for n in range(3)]
    assert (len(runs), runs[-1], list(runs[1:])) == (3, range(5, 6), [range(2, 5), range(5, 6)])
    with pytest.raises(IndexError):
        runs[3]
