"""What would be taken for something else, and hide or add up less: names, columns and functions that are read alike."""

from functools import partial
from typing import Any

import pytest

import takifugu as tf
from takifugu.core.errors import InputError

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


#: How many values `test_a_property_that_reads_something_else` adds up.
COUNT = [1]


def test_a_property_that_reads_something_else_has_noise_of_its_own() -> None:
    """What it calls was edited, and it ran again: it had the noise of before, 1 in place of 6."""
    belief, scales = tf.Records(tf.JointTable([(0,), (1,)], [0.5, 0.5], names=["ill"]), 6), []
    for COUNT[0] in (1, 6):
        hidden = tf.dataset_property("ill", tf.Named("counted", 1, lambda values: sum(values[: COUNT[0]])))
        scales.append(tf.calibrate(tf.Pufferfish(hidden, belief), tf.Sum("ill"), 1, mechanism="wasserstein").scale)
    assert scales == [1, 6]


def of_first(count: int) -> Any:
    """Return a function that is written as all of these are."""
    return lambda values: sum(values[:count])


def test_another_function_of_one_name_and_version_is_refused() -> None:
    """An edited property had the noise of the one before it, and an edited statistic that one's value."""
    makers: list[Any] = [partial(tf.Named, "edited", 1), partial(tf.Statistic, "edited", 1, "ill", grid=1)]
    for make, rest in zip(makers, ({}, {"column_sensitivity": 1}), strict=True):
        make(function=lambda values: values[0], **rest)
        make(function=lambda numbers: numbers[0], **rest)  # the same one, written again
        for other in (lambda values: values[1], lambda values: sum(values), sum, of_first(1)):
            with pytest.raises(InputError, match="'edited', version 1, is defined already: give it a new version"):
                make(function=other, **rest)
    once = of_first(1)
    tf.Named("of first", 1, once)
    tf.Named("of first", 1, once)
    with pytest.raises(InputError, match="defined already"):
        tf.Named("of first", 1, of_first(2))
