"""Beliefs about parameters of columns: what they hold, how queries and data are read over them, what they refuse."""

import math
from fractions import Fraction
from itertools import product
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.support import column_oracles as oracle
from tests.support.chain_oracles import largest_laplace_loss

import takifugu as tf
from takifugu.analysis.questions.evaluating import evaluate, value_indices
from takifugu.analysis.questions.joint_states import all_states
from takifugu.core.errors import DataError, InputError
from takifugu.model.queries import resolved
from takifugu.numbers import Pmf

LEVELS = ["low", "high"]
NET = tf.BayesianNetwork([
    ("height", LEVELS, ["region"], [[0.7, 0.3], [0.4, 0.6]]),
    ("region", LEVELS, [], [0.5, 0.5]),
    ("income", LEVELS, ["region"], [[0.6, 0.4], [0.3, 0.7]]),
])  # fmt: skip
COINS = {"low": {"no": "0.8", "yes": "0.2"}, "high": {"no": "0.3", "yes": "0.7"}}
DICE = {"low": Pmf([0, 1, 2], [Fraction(1, 2), Fraction(1, 4), Fraction(1, 4)]), "high": {1: "1/2", 2: "1/2"}}
BELIEF = tf.Parameters(NET, {"height": DICE, "income": COINS}, 2)
STATES = {"height": (0, 1, 2), "income": ("no", "yes")}


def statistic_of(query: Any, record: Any) -> oracle.Statistic:
    """Return what a query adds up, in grid units, by evaluating it on one column of one record at a time."""
    if isinstance(query, tf.CountRows):

        def counted(data: oracle.Data) -> tuple[int, ...]:
            named = [{n: record.alphabets[c][v] for c, (n, v) in enumerate(zip(record.names, row, strict=True))}
                     for row in data]  # fmt: skip
            return (sum(query.holds(one) for one in named),)

        return counted
    answer = query.resolve(record)
    return lambda data: tuple(np.sum([answer.evaluate(np.array(row)) for row in data], axis=0).tolist())


QUERIES = st.one_of(
    st.builds(tf.Count, st.sampled_from(["yes", 1, [1, 2]]), st.sampled_from([None, ("income",), ("height",)])),
    st.builds(lambda where, any_of: tf.CountRows(where, any_of),
              st.dictionaries(st.sampled_from(["height", "income"]), st.just(None), min_size=1).map(
                  lambda names: {n: {"height": [1, 2], "income": ["yes"]}[n] for n in names}), st.booleans()),
    st.just(tf.Histogram(entries=["height"])), st.just(tf.Histogram()), st.just(tf.Sum("height")),
    st.builds(lambda a, b: tf.Linear([a, b], codes={0: 0, 1: 1, 2: "5/2", "no": -1, "yes": 1}),
              st.integers(-2, 2), st.integers(-2, 2)),
)  # fmt: skip


@settings(max_examples=60, deadline=None)
@given(QUERIES, st.sets(st.sampled_from(["height", "region", "income"])))
def test_d_of_whole_columns_is_the_largest_change_over_all_data_sets(query: Any, near: set[str]) -> None:
    answer: Any = resolved(query, BELIEF)
    columns = [BELIEF.columns.index(name) for name in near if name != "region"]
    expected = oracle.change(statistic_of(query, BELIEF.record), [3, 2], 2, columns)
    change = answer.change([BELIEF.position(name) for name in near])
    assert change == expected
    if len(near) == 1:
        assert answer.entry_changes()[BELIEF.position(next(iter(near)))] == expected


@settings(max_examples=40, deadline=None)
@given(QUERIES, st.lists(st.tuples(st.sampled_from([0, 1, 2]), st.sampled_from(["no", "yes"])), min_size=2, max_size=2))
def test_the_answer_is_that_of_its_words(query: Any, rows: list[tuple[int, str]]) -> None:
    answer, indices = resolved(query, BELIEF), [(h, ("no", "yes").index(i)) for h, i in rows]
    expected = statistic_of(query, BELIEF.record)(tuple(indices))
    assert evaluate(answer, value_indices(BELIEF, rows)) == expected
    named = [{"income": i, "height": h} for h, i in rows]
    assert evaluate(answer, value_indices(BELIEF, named)) == expected
    columns = {"income": [i for _, i in rows], "height": np.array([h for h, _ in rows])}
    assert evaluate(answer, value_indices(BELIEF, columns)) == expected


def test_a_frame_is_read_by_its_columns() -> None:
    pd = pytest.importorskip("pandas")
    frame = pd.DataFrame({"income": ["no", "yes"], "height": [2, 0]})
    assert value_indices(BELIEF, frame).tolist() == [[2, 0], [0, 1]]


def test_a_mean_divides_by_the_number_of_records() -> None:
    answer = resolved(tf.Mean("height"), BELIEF)
    assert answer.grid == Fraction(1, 2)
    assert evaluate(answer, value_indices(BELIEF, [(1, "no"), (2, "no")])) == (3,)


def test_joint_states_are_those_of_the_definition() -> None:
    states = all_states(BELIEF)
    (weights,) = states.weights
    total = sum(weights.tolist())
    by_row = {tuple(row): Fraction(int(w), total) for row, w in zip(states.values.tolist(), weights, strict=True)}
    names = [str(n) for n in BELIEF.names]
    for phi in product(range(2), repeat=3):
        at = dict(zip(names, phi, strict=True))
        prior = [0.5, [0.7, 0.3, 0.4, 0.6][2 * at["region"] + at["height"]],
                 [0.6, 0.4, 0.3, 0.7][2 * at["region"] + at["income"]]]  # fmt: skip
        for cells in product(range(3), range(2), repeat=2):
            chance = math.prod(prior)
            for h, i in (cells[:2], cells[2:]):
                chance *= float(BELIEF.described[0].laws[at["height"]][h] * BELIEF.described[1].laws[at["income"]][i])
            assert float(by_row.get((*phi, *cells), 0)) == pytest.approx(chance, rel=1e-12)


def test_a_table_is_read_as_a_network_of_its_distribution() -> None:
    rows = [("a", "x", 0), ("a", "y", 1), ("b", "x", 1), ("b", "x", 0)]
    chances = [Fraction(1, 3), Fraction(1, 6), Fraction(1, 8), Fraction(3, 8)]
    table = tf.JointTable(rows, chances, ["one", "two", "three"])
    known = tf.Parameters(table, {"three": {0: {0: 1}, 1: {1: 1}}}, 1)
    joint = known.network.joint(["one", "two", "three"])
    for at in np.ndindex(*joint.shape):
        row = tuple(table.alphabet(e)[v] for e, v in enumerate(at))
        assert joint[at] == pytest.approx(float(dict(zip(rows, chances, strict=True)).get(row, 0)), abs=1e-15)
    assert 0 < known.network_error < 1e-12
    assert BELIEF.network_error == 0


@pytest.mark.parametrize(("wrong", "message"), [
    ({"prior": {"a": 1}}, "not a finite prior"),
    ({"columns": {}}, "no columns"),
    ({"records": 0}, "whole number from 1"),
    ({"records": True}, "whole number from 1"),
    ({"records": 2.5}, "whole number from 1"),
    ({"columns": {"heigth": COINS}}, "did you mean 'height'"),
    ({"columns": {"height": {"low": {"no": 1}}}}, "no distribution for the value 'high'"),
    ({"columns": {"height": {**COINS, "middle": {"no": 1}}}}, "its own parameter only"),
    ({"columns": {"height": {"low": {"no": "0.9"}, "high": {"no": 1}}}}, "sum to 1"),
    ({"columns": {"height": {"low": {"no": -1, "yes": 2}, "high": {"no": 1}}}}, "not negative"),
    ({"columns": {"height": {"low": {}, "high": {"no": 1}}}}, "one draw of it"),
    ({"columns": {"height": {"low": {"x": 0.5, None: 0.5}, "high": {"x": 1}}}}, "not observed"),
])  # fmt: skip
def test_what_it_refuses(wrong: dict[str, Any], message: str) -> None:
    given_ = {"prior": NET, "columns": {"height": COINS}, "records": 3, **wrong}
    with pytest.raises(InputError, match=message):
        tf.Parameters(**given_)


@pytest.mark.parametrize("laws", [
    NET, tf.JointTable([(0, 0), (1, 1)], [0.5, 0.5]), {("low", "no"): {"no": 1}, ("high", "yes"): {"yes": 1}},
    {"low": {"no": {"no": 1}, "yes": {"yes": 1}}, "high": {"no": {"no": 1}, "yes": {"yes": 1}}},
])  # fmt: skip
def test_columns_that_depend_on_each_other_within_a_record_are_refused(laws: Any) -> None:
    with pytest.raises(InputError, match="its own parameter only") as refusal:
        tf.Parameters(NET, {"height": laws, "income": COINS}, 3)
    assert refusal.value.where == ("columns", "height")


def test_what_would_be_promised_for_columns_that_are_equal_within_records() -> None:
    """h = i in every record and phi_h constant: the quilts see no influence, and the loss is n log 9."""
    records, chance = 4, {0: Fraction(1, 10), 1: Fraction(9, 10)}
    laws = [
        {k: math.comb(records, k) * p**k * (1 - p) ** (records - k) for k in range(records + 1)}
        for p in chance.values()
    ]
    assert float(largest_laplace_loss(*laws, 0)) == pytest.approx(records * math.log(9))
    apart = tf.BayesianNetwork([("h", ["c"], [], [1.0]), ("i", [0, 1], [], [0.5, 0.5])])
    coins = {v: {1: p, 0: 1 - p} for v, p in chance.items()}
    said = tf.Parameters(apart, {"h": {"c": {1: "1/2", 0: "1/2"}}, "i": coins}, records)
    framework = tf.Pufferfish(tf.distribution_parameter("i"), said)
    calibration = tf.calibrate(framework, tf.Count(1, ["h"]), 1, mechanism="attribute-quilt", allow_zero_noise=True)
    assert calibration.scale == 0  # as printed, for columns that are independent given the parameters
    assert any("so are the columns of a record" in assumption for assumption in map(str, said.assumptions()))


@pytest.mark.parametrize(("belief", "secret"), [
    (BELIEF, tf.dataset_property("height", "mean")), (BELIEF, tf.distribution_parameter("height", interval=(0, 1))),
    (BELIEF, tf.distribution_parameter("height", values=["low", "middle"])),
    (BELIEF, tf.distribution_parameter("weight")),
])  # fmt: skip
def test_secrets_that_it_does_not_know_are_refused(belief: Any, secret: Any) -> None:
    with pytest.raises(InputError):
        tf.Pufferfish(secret, belief)


def test_an_interval_compares_the_numbers_that_lie_in_it() -> None:
    prior = tf.JointTable([("0.1",), ("0.2",), ("0.5",)], [Fraction(1, 3)] * 3, ["x"])
    coins = {p: {1: p, 0: 1 - Fraction(p)} for p in ("0.1", "0.2", "0.5")}
    belief = tf.Parameters(prior, {"x": coins}, 2)
    framework = tf.Pufferfish(tf.distribution_parameter("x", interval=("0.1", "0.2")), belief)
    assert {(c.left.value, c.right.value) for c in framework.comparisons()} == {("0.1", "0.2"), ("0.2", "0.1")}


def test_a_parameter_that_takes_one_value_hides_nothing() -> None:
    sure = tf.BayesianNetwork([("h", ["c"], [], [1.0])])
    with pytest.raises(InputError, match="takes one value under every belief"):
        tf.Pufferfish(tf.distribution_parameter("h"), tf.Parameters(sure, {"h": {"c": {1: 1}}}, 3))


@pytest.mark.parametrize("data", [
    [(0, "no")], [(0, "no")] * 3, [(0, "no"), (7, "no")], [(0, "no"), (0,)], [{"height": 0}] * 2, "ab",
    {"height": [0, 1]},
    {"height": [0, 1], "income": ["no", "no"], "more": [1, 1]}, [(0, "no"), (0, None)], [(0, "no"), (0, ["no"])],
])  # fmt: skip
def test_data_that_it_does_not_know_are_refused_without_quoting_them(data: Any) -> None:
    with pytest.raises(DataError) as refusal:
        value_indices(BELIEF, data)
    assert "7" not in str(refusal.value)


@pytest.mark.parametrize("query", [tf.Identity("height"), tf.Count("maybe"), tf.CountRows({"age": 1}), tf.Linear([1])])
def test_queries_that_it_does_not_read_are_refused(query: Any) -> None:
    with pytest.raises(InputError):
        resolved(query, BELIEF)
