"""Data becomes an exact answer; data that a belief does not know is refused without revealing any of it."""

import math
import random
from collections import namedtuple
from fractions import Fraction
from typing import Any

import numpy as np
import pandas as pd
import pytest
from tests.support.answers import stand_in, true_answer
from tests.support.counting import counts_of

import takifugu as tf
from takifugu.analysis.guarantee import Covers
from takifugu.core.errors import DataError, InputError
from takifugu.numbers import Pmf

CHAIN = tf.MarkovChain([[0.9, 0.1], [0.4, 0.6]], length=5, states=["still", "walking"])
PIECES = tf.IndependentPieces(CHAIN, (3, 2))
TABLE = tf.JointTable([("f", 30), ("f", 40), ("m", 30)], [0.5, 0.25, 0.25], names=["sex", "age"])
PATIENTS = tf.IndependentUsers([{"ill": 0.1, "well": 0.9}] * 4, 0.9, "removed", names=["a", "b", "c", "d"])
MIXED = tf.IndependentUsers([{0: 0.5, 1: 0.5}, {10: 0.5, 20: 0.5}, {0: 0.5, 1: 0.5}], [1, 0.5, 0.5], "removed")
NAMELESS = stand_in(tf.IndependentUsers([{"ill": 0.1, "well": 0.9}] * 4), tf.Count("ill"))
CERTAIN = tf.IndependentUsers([{"ill": 0.1, "well": 0.9}] * 2, [1, 0.5], "removed")
BODIES = stand_in(
    tf.Pufferfish(tf.dataset_property("income", "mean", max_difference=30), tf.MultivariateNormal(
        [70, 40], [[144, -12], [-12, 81]], ["weight", "income"], 4, {"weight": (40, 140)}, resolution="0.1")),
    tf.JointQuery([tf.Mean("income"), tf.Sum("weight", grid="0.5")]),
)  # fmt: skip
PAIR = tf.distribution_pair(Pmf([0], [1]), Pmf([4], [1]))
HISTOGRAM = stand_in(CHAIN, tf.Histogram())
SINGLE = stand_in(CHAIN, tf.Count("walking"), Covers.OUTPUT)


@pytest.mark.parametrize(("calibration", "data", "answer"), [
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
    (stand_in(tf.distribution_pair(Pmf([0, 2], [0.5, 0.5]), Pmf([4], [1])), tf.Identity()), 4, (2,)),
    (stand_in(PATIENTS, tf.Count("ill")), ["ill", "absent", "well", "ill"], (2,)),
    (stand_in(PATIENTS, tf.Count("ill")), np.array(["ill", "well", "well", "well"]), (1,)),
    (stand_in(PATIENTS, tf.Count("ill")), {"d": "ill", "a": "ill", "c": "ill", "b": "absent"}, (3,)),
    (stand_in(MIXED, tf.Sum()), [1, 20, "absent"], (21,)),
    (BODIES, {"weight": [61.5, 70.25, 80, 66.1], "income": [31, 44, 52.5, 30]},  # 70.25 is 70.2 in tenths, half to even
     (2 * Fraction("157.5") / 4, 2 * Fraction("277.8"))),
])  # fmt: skip
def test_answers(calibration: Any, data: Any, answer: tuple[int, ...]) -> None:
    assert true_answer(calibration, data) == answer


@pytest.mark.parametrize(("calibration", "data", "words"), [
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
    (stand_in(TABLE, tf.Identity("age")), {"age": "SENTINEL", "sex": "f"}, r"values are \[30, 40\]"),
    (stand_in(TABLE, tf.Identity("age")), {"age": 30}, "exactly the columns"),
    (stand_in(TABLE, tf.Identity("age")), (30,), "one value for each"),
    (stand_in(PAIR, tf.Identity()), 2, "probability zero"),
    (stand_in(PAIR, tf.Identity()), "SENTINEL", "finite number"),
    (stand_in(PAIR, tf.Identity()), float("nan"), "finite number"),
    (HISTOGRAM, None, "not a sequence"),
    *((users, data, "") for users in (stand_in(PATIENTS, tf.Count("ill")), NAMELESS) for data in (
        ["ill", "well"], ["ill"] * 3 + ["SENTINEL"], ["ill"] * 3 + [None], ["ill"] * 3 + [["well"]], "SENTINEL", [], 3,
        {"a": "ill"},
    )),
    (NAMELESS, ["ill", "absent", "ill", "ill"], "counted too"),
    (stand_in(CERTAIN, tf.Count("ill")), ["absent", "ill"], "does not know"),
    *((BODIES, data, "") for data in (
        {"weight": [1, 2, 3, 4]}, {"weight": [61, 70, 80, 66], "income": [1, 2, 3]}, [(1, 2)], "SENTINEL", 7,
        *({"weight": [61, 70, 80, 66], "income": [1, 2, 3, odd]} for odd in (None, math.inf, 1e305, -1e280)))),
])  # fmt: skip
def test_refusals_never_repeat_the_data(calibration: Any, data: Any, words: str) -> None:
    with pytest.raises(DataError, match=words or None) as caught:
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
    """Data that one belief alone would refuse never come up: such beliefs form no framework."""
    short = tf.MarkovChain([[0.5, 0.5], [0.5, 0.5]], length=3, states=["still", "walking"])
    with pytest.raises(InputError, match="have 5 and 3 entries"):
        tf.Pufferfish(tf.every_entry(), [CHAIN, short])
    running = tf.MarkovChain([[0.5, 0.5], [0.5, 0.5]], length=5, states=["still", "running"])
    with pytest.raises(InputError, match=r"differ in the values that step 0 can take \(running, walking\)"):
        tf.Pufferfish(tf.every_entry(), [CHAIN, running])


@pytest.mark.sampled(3)
@pytest.mark.parametrize("seed", range(100))
def test_counts_answer_as_the_entries_do(seed: int) -> None:
    """Or they are refused, exactly where entries that were counted together are weighed differently."""
    c = random.Random(seed)
    is_by_cell = c.random() < 0.5
    lengths = [c.randint(1, 5) for _ in range(c.randint(1, 4))]
    if is_by_cell:  # all are one window
        lengths = [lengths[0]] * len(lengths)
    chain = tf.MarkovChain([[0.9, 0.1], [0.4, 0.6]], length=5)
    size = sum(lengths)
    cells = [c.randrange(3) for _ in range(lengths[0])] * len(lengths) if is_by_cell else [0] * size
    weights = {cell: c.choice((0, 1, 1, 2)) for cell in range(3)}
    each = [c.randrange(3) if c.random() < 0.05 else weights[cell] for cell in cells]
    belief = tf.IndependentPieces(chain, lengths)
    choices: list[Any] = [tf.Linear(each), tf.Count(1), tf.Histogram()]
    parts = {str(cell): [t for t in range(size) if cells[t] == cell] for cell in sorted(set(cells))}
    choices += [tf.GroupBy(tf.Count(1), parts, by="cell")]
    query = c.choice(choices)
    values = [c.choice((0, 1)) if c.random() < 0.8 else None for _ in range(size)]
    values[0] = 1
    first = np.cumsum([0, *lengths]).tolist()
    runs = [slice(a, a + n) for a, n in zip(first, lengths, strict=False)]
    counts = counts_of([values[run] for run in runs], 2, cells[: lengths[0]] if is_by_cell else None)
    calibration = stand_in(belief, query)
    answer = calibration.problem.answers[0]
    ways = {
        (number, cells[t] if is_by_cell else 0, int(answer.weights[t]), int(answer.table_numbers[t]))
        for number, run in enumerate(runs) for t in range(run.start, run.stop) if values[t] is not None
    }  # fmt: skip
    read = {way[:2] for way in ways if way[2]}
    if sum(way[:2] in read for way in ways) > len(read):
        with pytest.raises(DataError, match="counts do not"):
            true_answer(calibration, counts)
    else:
        assert true_answer(calibration, counts) == true_answer(
            calibration, [values[run] for run in runs]
        )


@pytest.mark.parametrize(("entries", "is_read"), [((0, 1), False), ((1, 2), True), (None, True)])
def test_a_gap_counts_where_the_query_reads_it(entries: tuple[int, ...] | None, is_read: bool) -> None:
    calibration = stand_in(tf.MarkovChain([[0.9, 0.1], [0.4, 0.6]], length=3), tf.Count(1, entries), Covers.OUTPUT)
    whole, data = counts_of([[1, 1, 0]], 2), counts_of([[1, 1, None]], 2)
    if entries is None:
        assert true_answer(calibration, whole) == (2,)
    if is_read:
        with pytest.raises(DataError, match="has gaps"):
            true_answer(calibration, data)
    else:
        assert true_answer(calibration, data) == (2,)
