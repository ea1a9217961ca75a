"""Statistics with a declared change: D of whole columns, rounding, the ledger's text, what they refuse."""

import itertools
import json
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

import takifugu as tf
from takifugu.core.errors import DataError, InputError
from takifugu.model import queries

NET = tf.BayesianNetwork([("x", ["a", "b"], [], [0.5, 0.5]), ("y", ["a", "b"], ["x"], [[0.6, 0.4], [0.4, 0.6]])])
COINS = {"a": {0: "0.7", 1: "0.3"}, "b": {0: "0.2", 1: "0.8"}}
BELIEF = tf.Parameters(NET, {"x": COINS, "y": COINS}, 3)


def covariance(x: list[int], y: list[int]) -> Fraction:
    n = len(x)
    return Fraction(sum(a * b for a, b in zip(x, y, strict=True)), n) - Fraction(sum(x) * sum(y), n * n)


COVARIANCE = tf.Statistic("covariance", 1, ["x", "y"], covariance, "1/2", grid="1/10")


def test_d_is_never_below_the_change_of_what_is_rounded() -> None:
    answer: Any = BELIEF.resolve(COVARIANCE)
    rows = [np.array(r).reshape(3, 2) for r in itertools.product((0, 1), repeat=6)]
    assert {answer.change(n) for n in ([0], [1], [0, 1])} == {6}  # 5 steps of 1/10, and one for rounding
    assert answer.change([]) == 0
    for column in (0, 1):
        rest = 1 - column
        for one, other in itertools.combinations(rows, 2):
            if (one[:, rest] == other[:, rest]).all():
                moved = abs(answer.evaluate(one)[0] - answer.evaluate(other)[0])
                assert moved <= answer.change([column])


def test_changes_by_column_add_up() -> None:
    by_column = tf.Statistic("by column", 1, ["x", "y"], covariance, {"x": "1/4", "y": "1/5"}, grid="1/10")
    answer: Any = BELIEF.resolve(by_column)
    x, y = BELIEF.position("x"), BELIEF.position("y")
    assert (answer.change([x]), answer.change([y]), answer.change([x, y])) == (3, 3, 5)


def test_it_is_published_with_quilts_of_parameters(tmp_path: Any) -> None:
    framework = tf.Pufferfish(tf.distribution_parameter("x"), BELIEF)
    alone = tf.Statistic("mean of y", 1, ["y"], lambda y: Fraction(sum(y), len(y)), 1, grid="1/10")
    calibration = tf.calibrate(framework, alone, 1, mechanism="attribute-quilt", allow_zero_noise=True)
    assert calibration.scale == 0  # phi_y tells log 3/2 of phi_x
    calibration = tf.calibrate(framework, COVARIANCE, 1)
    assert calibration.scale == pytest.approx(0.6)
    assert tf.exact_loss(calibration).loss <= 1
    release = tf.release(calibration, {"x": [0, 1, 1], "y": [1, 1, 0]},
        entries="v", ledger=str(tmp_path / "l.db"), source="people")  # fmt: skip
    assert "declared to change by at most 0.5" in release.certificate.statistic
    with pytest.raises(tf.errors.CalibrationRefused, match="only its largest change is declared"):
        tf.calibrate(framework, COVARIANCE, 1, mechanism="wasserstein")


def test_it_reads_back_with_the_function_of_its_name_and_version() -> None:
    again = queries.from_dict(json.loads(json.dumps(COVARIANCE.to_dict())))
    assert again == COVARIANCE
    assert again.function is COVARIANCE.function  # type: ignore[attr-defined]
    unknown: Any = queries.from_dict({**COVARIANCE.to_dict(), "name": "nobody's"})
    with pytest.raises(InputError, match="defined by nobody"):
        unknown.value([[0], [1]])


@pytest.mark.parametrize(("wrong", "message"), [
    ({"column_sensitivity": {"x": 1}}, "no change for the column 'y'"), ({"column_sensitivity": -1}, "negative"),
    ({"grid": 0}, "above 0"), ({"columns": []}, "columns"), ({"columns": ["x", "x"]}, "columns"),
    ({"name": "covariance", "function": max}, "defined already"),
])  # fmt: skip
def test_what_it_refuses(wrong: dict[str, Any], message: str) -> None:
    given: dict[str, Any] = {"name": "new", "version": 1, "columns": ["x", "y"], "function": covariance,
                             "column_sensitivity": 1, "grid": 1}  # fmt: skip
    with pytest.raises(InputError, match=message):
        tf.Statistic(**{**given, **wrong})


def test_columns_that_a_belief_lacks_and_functions_that_fail_are_told_without_the_data() -> None:
    with pytest.raises(InputError, match="no column 'z'"):
        BELIEF.resolve(tf.Statistic("of z", 1, ["z"], len, 1, grid=1))
    failing = tf.Statistic("failing", 1, ["x"], lambda x: 1 / (sum(x) - 3), 1, grid=1)
    with pytest.raises(DataError, match="failed on these data") as error:
        BELIEF.resolve(failing).evaluate(np.ones((3, 2), dtype=np.int64))
    assert error.value.__cause__ is None
