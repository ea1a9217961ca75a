"""Boxes of parameters: Example 3 of the paper, points of the box against the bounds, what they refuse, a release."""

from __future__ import annotations

import itertools
import json
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st
from tests.numbers.transport.test_draws import law, loss, w_infinity

import takifugu as tf
from takifugu.audit import true_loss
from takifugu.core.errors import InputError
from takifugu.model import beliefs

EXAMPLE_3 = tf.ParameterBox({"x2": ("0.2", "0.8")}, {"x1": {1: tf.Affine("0.6", x2="-0.2"), 0: None}}, 4)


def hidden(box: Any, name: str = "x2", **how: Any) -> Any:
    return tf.Pufferfish(tf.distribution_parameter(name, **how), box)


def scale(box: Any, query: Any, mechanism: str, epsilon: Any = 1, **how: Any) -> Fraction:
    options = {"mechanism": mechanism, "only_release": True, "allow_zero_noise": True}
    noise: Any = tf.calibrate(hidden(box, **how), query, epsilon, **options).randomiser
    return Fraction(noise.scale)


def test_example_3_for_all_numbers_of_the_interval() -> None:
    assert scale(EXAMPLE_3, tf.Sum("x1"), "wasserstein") == 1
    assert scale(EXAMPLE_3, tf.Count(0), "wasserstein") == 1
    assert scale(EXAMPLE_3, tf.Mean("x1"), "wasserstein") == 0.25
    assert scale(EXAMPLE_3, tf.Sum("x1"), "group") == 4


@settings(max_examples=5, deadline=None, phases=(Phase.explicit, Phase.reuse, Phase.generate))
@given(st.integers(1, 4), st.sampled_from(["1/3", "1", "3"]), st.integers(-4, 4), st.integers(-4, 4), st.integers(0, 2))
def test_the_noise_hides_any_two_numbers_while_the_others_lie_anywhere(
    records: int, epsilon: str, one: int, two: int, other: int
) -> None:
    forms = {"a": tf.Affine("1/2", p=Fraction(one, 10), q=Fraction(other, 10)),
             "b": tf.Affine("1/2", p=Fraction(two, 10))}  # fmt: skip
    box = tf.ParameterBox({"p": (0, 1), "q": ("-1/2", "1/2")}, {n: {1: f, 0: None} for n, f in forms.items()}, records)
    names = ("wasserstein", "laplace-exact")
    scales = {mechanism: scale(box, tf.Count(1), mechanism, epsilon, name="p") for mechanism in names}
    assert scales["laplace-exact"] <= scales["wasserstein"] * (1 + Fraction(1, 10**9))
    for p, r, q in itertools.product((0, Fraction(1, 3), 1), (0, 1), (Fraction(-1, 2), Fraction(1, 2))):
        laws = []
        for number in (p, r):
            at = {"p": (Fraction(number),) * 2, "q": (q, q)}
            laws.append(law([form.between(at)[0] for form in forms.values() for _ in range(records)]))
        assert w_infinity(*laws) / Fraction(epsilon) <= scales["wasserstein"]
        assert loss(laws[0], laws[1], scales["laplace-exact"]) <= float(Fraction(epsilon)) * (1 + 1e-9)


def test_members_of_a_box_lose_no_more_than_promised_and_one_nearly_that() -> None:
    columns: Any = {"x": {1: tf.Affine(0, x=1), 0: None}}
    box = tf.ParameterBox({"x": ("1/5", "4/5")}, columns, 4)
    calibration = tf.calibrate(hidden(box, "x"), tf.Sum("x"), 1, mechanism="laplace-exact", only_release=True)
    values = ("1/5", "3/10", "4/5")
    prior = tf.JointTable([(v,) for v in values], [Fraction(1, 3)] * 3, ["x"])
    member: Any = tf.Parameters(prior, {"x": {v: {1: v, 0: 1 - Fraction(v)} for v in values}}, 4)
    audit = true_loss(calibration, chains=[member])
    assert audit.loss == pytest.approx(1, rel=1e-6)
    assert audit.upper == float("inf")  # a member is no proof for the class
    assert true_loss(calibration).upper == float("inf")
    elsewhere: Any = tf.Parameters(prior, {"x": {v: {1: "1/2", 0: "1/2"} for v in values}}, 4)
    for wrong in (elsewhere, tf.MarkovChain([[0.5, 0.5], [0.5, 0.5]], 4)):
        with pytest.raises(InputError):
            true_loss(calibration, chains=[wrong])


def test_an_answer_that_does_not_depend_on_the_parameter_needs_no_noise() -> None:
    forms = {"a": {1: tf.Affine("0.2", q=1), 0: None}, "x": {1: tf.Affine(0, p=1), 0: None}}
    box = tf.ParameterBox({"p": (0, 1), "q": ("0.1", "0.3")}, forms, 50)
    for mechanism in ("wasserstein", "laplace-exact"):
        assert scale(box, tf.Count(1, ["a"]), mechanism, name="p") == 0
        assert scale(box, tf.Count(1, ["x"]), mechanism, name="p") == 50


def test_many_records_are_no_trouble() -> None:
    box = tf.ParameterBox({"p": ("0.3", "0.4")}, {"x": {1: tf.Affine(0, p=1), 0: None}}, 5000)
    moved = scale(box, tf.Sum("x"), "wasserstein", name="p")
    assert 500 <= moved <= 900
    assert scale(box, tf.Sum("x"), "laplace-exact", name="p") <= moved


@pytest.mark.parametrize("query", [tf.CountRows({"a": 1, "b": 1}), tf.Histogram(), tf.Linear([1, 2])])
def test_what_is_no_count_is_refused_by_name(query: Any) -> None:
    columns = {name: {1: tf.Affine(0, p=1), 0: None} for name in "ab"}
    framework = hidden(tf.ParameterBox({"p": (0, 1)}, columns, 3), "p")
    with pytest.raises(tf.errors.CalibrationRefused):
        tf.calibrate(framework, query, 1, mechanism="wasserstein")
    assert tf.calibrate(framework, query, 1, mechanism="group").scale > 0


def test_it_reads_back() -> None:
    again = beliefs.from_dict(json.loads(json.dumps(beliefs.to_dict(EXAMPLE_3))))
    assert beliefs.to_dict(again) == beliefs.to_dict(EXAMPLE_3)
    assert again.describe() == EXAMPLE_3.describe()


def test_a_release_says_what_is_hidden_and_under_which_belief(tmp_path: Any) -> None:
    calibration = tf.calibrate(hidden(EXAMPLE_3), tf.Sum("x1"), 1, mechanism="wasserstein", only_release=True)
    release = tf.release(calibration, {"x1": [0, 1, 1, 0]}, ledger=str(tmp_path / "l.db"), source="people")
    assert "'x2' lies" not in str(release.certificate.to_dict())
    assert any("a number in the stated interval" in words for words in release.certificate.assumptions)
    with pytest.raises(tf.errors.BudgetExceeded):
        tf.release(calibration, {"x1": [0, 1, 1, 0]}, ledger=str(tmp_path / "l.db"), source="people")


COLUMN: Any = {"x1": {1: tf.Affine("0.6", x2="-0.2"), 0: None}}


@pytest.mark.parametrize(("wrong", "message"), [
    ({"intervals": {}}, "lacks"), ({"columns": {}}, "lacks"),
    ({"records": 0}, "above 0"), ({"records": "4"}, "above 0"),
    ({"intervals": {"x2": ("0.8", "0.2")}}, "must have an inside"), ({"intervals": {"x2": 0.5}}, "low, high"),
    ({"columns": {"x1": {1: tf.Affine("0.6", x3="-0.2"), 0: None}}}, "has no interval"),
    ({"columns": {"x1": {1: tf.Affine("0.6", x2="-0.8"), 0: None}}}, "must stay in"),
    ({"columns": {"x1": {1: tf.Affine("0.6"), 0: tf.Affine("0.4")}}}, "one of them with the rest"),
    ({"columns": {"x1": {1: 0.5}}}, "two states"),
])  # fmt: skip
def test_what_it_refuses(wrong: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError, match=message):
        tf.ParameterBox(**{"intervals": {"x2": ("0.2", "0.8")}, "columns": COLUMN, "records": 4, **wrong})


@pytest.mark.parametrize("secret", [
    tf.dataset_property("x1", "mean"), tf.distribution_parameter("x2", values=["0.2", "0.8"]),
    tf.distribution_parameter("x2", interval=("0.1", "0.5")), tf.distribution_parameter("x9"),
    tf.distribution_parameter("x2", interval=("0.2", "0.5"), map="line"),
])  # fmt: skip
def test_secrets_that_it_does_not_know_are_refused(secret: Any) -> None:
    with pytest.raises(InputError):
        tf.Pufferfish(secret, EXAMPLE_3)
