"""Data becomes an exact answer; data that a belief does not know is refused without revealing any of it."""

from __future__ import annotations

from collections import namedtuple
from fractions import Fraction
from types import SimpleNamespace
from typing import Any

import numpy as np
import pandas as pd
import pytest
from tests.support.answers import true_answer

import takifugu as tf
from takifugu.analysis.guarantee import Covers
from takifugu.analysis.problem import Problem
from takifugu.core.errors import DataError, InputError
from takifugu.model.frameworks import Framework

CHAIN = tf.MarkovChain([[0.9, 0.1], [0.4, 0.6]], length=5, states=["still", "walking"])
PIECES = tf.IndependentPieces(CHAIN, (3, 2))
TABLE = tf.JointTable([("f", 30), ("f", 40), ("m", 30)], [0.5, 0.25, 0.25], names=["sex", "age"])


def stand_in(belief: Any, query: Any, covers: Covers = Covers.ENTRIES) -> Any:
    """What a calibration knows of its problem, without the mechanism."""
    framework = belief if isinstance(belief, Framework) else tf.Pufferfish(tf.every_entry(), belief)
    guarantee = SimpleNamespace(covers=covers, epsilon=Fraction(1))
    problem = Problem(framework, query, Fraction(1), Fraction(0))
    return SimpleNamespace(
        framework=framework, query=query, guarantee=guarantee, mechanism="a mechanism", problem=problem
    )


HISTOGRAM = stand_in(CHAIN, tf.Histogram())
SINGLE = stand_in(CHAIN, tf.Count("walking"), Covers.OUTPUT)


@pytest.mark.parametrize(
    ("calibration", "data", "answer"),
    [
        (HISTOGRAM, ["still", "walking", "walking", "still", "still"], (3, 2)),
        (HISTOGRAM, np.array(["still"] * 5), (5, 0)),
        (HISTOGRAM, ("walking", "still"), (1, 1)),
        (HISTOGRAM, ["walking", None, "still", None, None], (1, 1)),
        (SINGLE, ["walking"] * 5, (5,)),
        (stand_in(PIECES, tf.Histogram()), [["still"] * 3, ["walking"] * 2], (3, 2)),
        (stand_in(PIECES, tf.Histogram()), [["still"], []], (1, 0)),
        (stand_in(CHAIN, tf.Count("walking", entries=(0, 1)), Covers.OUTPUT), ["walking"] * 2, (2,)),
        (stand_in(CHAIN, tf.Mean(codes={"still": 0, "walking": 1})), ["walking"] * 5, (5,)),
        (stand_in(TABLE, tf.Identity("age")), {"age": 40, "sex": "f"}, (4,)),
        (stand_in(TABLE, tf.Identity("age")), ("m", 30), (3,)),
        (stand_in(tf.between(tf.Pmf([0, 2], [0.5, 0.5]), tf.Pmf([4], [1])), tf.Identity()), 4, (2,)),
    ],
)
def test_answers(calibration: Any, data: Any, answer: tuple[int, ...]) -> None:
    assert true_answer(calibration, data) == answer


@pytest.mark.parametrize(
    ("calibration", "data", "words"),
    [
        (HISTOGRAM, ["still", "SENTINEL"], r"not a state of the belief: its states are \['still', 'walking'\]"),
        (HISTOGRAM, [["SENTINEL"]], "not a state of the belief"),
        (HISTOGRAM, [], "the data is empty"),
        (HISTOGRAM, [None, None], "the data is empty"),
        (HISTOGRAM, ["still"] * 6, "longer than the 5 steps"),
        (HISTOGRAM, "SENTINEL", "not a sequence"),
        (HISTOGRAM, 3, "not a sequence"),
        (SINGLE, ["still"] * 4, "calibrate at the actual length"),
        (SINGLE, ["still"] * 4 + [None], "calibrate at the actual length"),
        (stand_in(CHAIN, tf.Mean(codes={"still": 0, "walking": 1})), ["still"], "a mean divides by"),
        (stand_in(PIECES, tf.Histogram()), [["still"] * 3], "2 pieces"),
        (stand_in(PIECES, tf.Histogram()), [["still"] * 2, ["SENTINEL"]], "not a state"),
        (stand_in(PIECES, tf.Histogram()), [["still"] * 3, ["still"] * 3], "longer than the 2 steps"),
        (stand_in(TABLE, tf.Identity("age")), {"age": "SENTINEL", "sex": "f"}, r"values are \['30', '40'\]"),
        (stand_in(TABLE, tf.Identity("age")), {"age": 30}, "exactly the columns"),
        (stand_in(TABLE, tf.Identity("age")), (30,), "one value for each"),
        (stand_in(tf.between(tf.Pmf([0], [1]), tf.Pmf([4], [1])), tf.Identity()), 2, "probability zero"),
        (stand_in(tf.between(tf.Pmf([0], [1]), tf.Pmf([4], [1])), tf.Identity()), "SENTINEL", "finite number"),
        (stand_in(tf.between(tf.Pmf([0], [1]), tf.Pmf([4], [1])), tf.Identity()), float("nan"), "finite number"),
    ],
)
def test_refusals_never_repeat_the_data(calibration: Any, data: Any, words: str) -> None:
    with pytest.raises(DataError, match=words) as caught:
        true_answer(calibration, data)
    assert "SENTINEL" not in str(caught.value)
    assert caught.value.__suppress_context__ or caught.value.__context__ is None


def test_a_row_with_labels_is_read_by_them() -> None:
    """A row of a frame lists its columns in the frame's order: another entry would be published than is paid for."""
    age, row = stand_in(TABLE, tf.Identity("age")), namedtuple("Row", ["age", "sex"])
    assert true_answer(age, row(40, "f")) == true_answer(age, pd.Series({"age": 40, "sex": "f"})) == (4,)
    users = tf.IndependentUsers([{0: 0.5, 1: 0.5}] * 2, names=["ana", "bob"])
    ana = stand_in(users, tf.Linear([1, 0]))
    assert true_answer(ana, pd.Series({"bob": 0, "ana": 1})) == true_answer(ana, pd.Series([1, 0])) == (1,)
    with pytest.raises(DataError, match="name exactly the users"):
        true_answer(ana, pd.Series({"bob": 0, "Ana": 1}))


def test_every_belief_of_a_framework_knows_the_data() -> None:
    """Data that one belief alone would refuse never come up: such beliefs form no framework (finding U7)."""
    short = tf.MarkovChain([[0.5, 0.5], [0.5, 0.5]], length=3, states=["still", "walking"])
    with pytest.raises(InputError, match="have 5 and 3 entries"):
        tf.Pufferfish(tf.every_entry(), [CHAIN, short])
    running = tf.MarkovChain([[0.5, 0.5], [0.5, 0.5]], length=5, states=["still", "running"])
    with pytest.raises(InputError, match=r"differ in the values that step 0 can take \(running, walking\)"):
        tf.Pufferfish(tf.every_entry(), [CHAIN, running])
