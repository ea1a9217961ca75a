"""What would be taken for something else, and hide or add up less: names, columns and functions that are read alike."""

from typing import Any

import numpy as np
import pytest

import takifugu as tf
from takifugu.core.errors import InputError
from takifugu.model.queries import resolved

PAIR: dict[Any, Any] = {"home": {"a": "0.9", "b": "0.1"}, "out": {"a": "0.1", "b": "0.9"}}


def test_a_population_is_never_lost_to_another_one_that_is_written_alike() -> None:
    laws: dict[Any, Any] = {1: PAIR["home"], "1": PAIR["out"], "other": {"a": "0.2", "b": "0.8"}}
    with pytest.raises(InputError, match="populations 1 and '1': they are written alike"):
        tf.FromPopulations(laws)


def test_parameters_and_columns_are_never_lost_to_others_that_are_written_alike() -> None:
    box: Any = {1: (0, "0.1"), "1": ("0.5", "0.9")}
    column: Any = {"yes": tf.Affine(0, {"p": 1}), "no": None}
    with pytest.raises(InputError, match="intervals of 1 and '1': they are written alike"):
        tf.ParameterBox(box, {"smokes": column}, 10)
    with pytest.raises(InputError, match="columns of 1 and '1': they are written alike"):
        tf.ParameterBox({"p": (0, "0.1")}, {1: column, "1": column}, 10)  # type: ignore[dict-item]
    prior, law = tf.JointTable([(0, 0), (1, 1)], [0.5, 0.5], names=[1, "1"]), {0: {"yes": 1}, 1: {"no": 1}}
    with pytest.raises(InputError, match="columns 1 and '1': they are written alike"):
        tf.Parameters(prior, {1: law, "1": law}, 10)  # type: ignore[dict-item]


def test_the_columns_of_sent_rows_are_a_list_that_nobody_changes() -> None:
    """A text was read back as the list of its letters: "ab" and ("a", "b") cost as one column, 2.2 in place of 9.6."""
    with pytest.raises(InputError, match="the columns: this is a text"):
        tf.EachValue(columns="ab")  # type: ignore[arg-type]
    with pytest.raises(InputError, match="not the name of a batch"):
        tf.EachValue(batch=5)  # type: ignore[arg-type]
    columns: Any = ["a", "b"]
    query = tf.EachValue(columns=columns)
    columns[:] = ["c"]
    assert query == tf.EachValue(columns=("a", "b"))


def test_another_function_of_one_name_and_version_is_refused() -> None:
    """A ledger has the name and the version, and would take both functions for one."""
    tf.Named("changed", 1, lambda values: values[0])
    tf.Named("changed", 1, lambda numbers: numbers[0])  # the same one, written again
    with pytest.raises(InputError, match="'changed', version 1, is defined already: give it a new version"):
        tf.Named("changed", 1, lambda values: sum(values))


def of_first(count: int) -> Any:
    """Return a function that is written as all of these are."""
    return lambda values: sum(values[:count])


def test_a_hidden_property_is_that_of_its_own_function() -> None:
    """A function that was made anew had the noise of the one before it: 1 in place of 6."""
    belief = tf.Records(tf.JointTable([(0,), (1,)], [0.5, 0.5], names=["ill"]), 6)

    def scale(count: int) -> float:
        hidden = tf.dataset_property("ill", tf.Named("of first", 1, of_first(count)))
        return tf.calibrate(tf.Pufferfish(hidden, belief), tf.Sum("ill"), 1, mechanism="wasserstein").scale

    assert [scale(1), scale(6)] == [1, 6]


def test_a_statistic_is_computed_by_the_function_that_its_change_was_declared_for() -> None:
    prior = tf.JointTable([("low",), ("high",)], [0.5, 0.5], names=["ill"])
    belief = tf.Parameters(prior, {"ill": {"low": {1: "0.2", 0: "0.8"}, "high": {1: "0.6", 0: "0.4"}}}, 3)
    changes = {3: 3, 1: 2, 2: 2}
    queries = [tf.Statistic("of first", 1, ["ill"], of_first(n), change, 1) for n, change in changes.items()]
    data = np.array([[0], [1], [1]])
    assert [resolved(query, belief).evaluate(data) for query in queries] == [(2,), (0,), (1,)]
