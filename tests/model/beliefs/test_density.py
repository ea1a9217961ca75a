"""Density beliefs: what they are about, what they refuse, and releases about them."""

from fractions import Fraction

import pytest

import takifugu as tf
from takifugu.core.errors import BudgetExceeded, CompositionRefused, DataError, InputError
from takifugu.numbers import Bates

HIDDEN = tf.dataset_property("income", "mean")
GIVEN = {a: Bates(3, a, a + 6) for a in (0, 1, 2)}
BELIEF = tf.Density("income", "mean", GIVEN)


def test_the_default_references_have_the_means_and_one_deviation():
    belief = tf.Density("income", "mean", {0: tf.Normal(1, 1), 1: tf.Normal(4, 7)})
    assert [reference.mean for reference in belief.references] == [1, 4]
    assert {reference.deviation for reference in belief.references} == {5}
    assert belief.resolution == Fraction(1, 10**6)


def test_values_are_read_as_decimals_in_any_order():
    belief = tf.Density("income", "mean", {"0.5": tf.Normal(1, 1), 0.1: tf.Normal(0, 1)})
    assert belief.values == (Fraction(1, 10), Fraction(1, 2))


@pytest.mark.parametrize(("change", "key"), [
    ({"given": {0: tf.Normal(0, 1)}}, "given"),
    ({"given": {0: tf.Normal(0, 1), "0": tf.Normal(1, 1)}}, "given"),
    ({"given": [tf.Normal(0, 1)]}, "given"),
    ({"given": {0: tf.Normal(0, 1), 1: "normal"}}, "given"),
    ({"references": {0: tf.Normal(0, 1)}}, "references"),
    ({"references": {0: tf.Normal(0, 1), 1: tf.Normal(0, 1), 2: tf.Normal(0, 2)}}, "references"),
    ({"references": GIVEN}, "references"),
    ({"resolution": 0}, "resolution"),
    ({"reach": 0}, "reach"),
    ({"reach": -1}, "reach"),
    ({"given": {0: tf.Normal(0, 1), 1: tf.Normal(100, 1)}, "reach": 5}, "reach"),
    ({"given": {0: tf.Normal(0, 100), 1: tf.Normal(5, 1)}, "reach": 5}, "reach"),
    ({"given": {0: tf.Normal(0, 3), 1: tf.Normal(4, 1)}, "reach": "6.1"}, "reach"),
    ({"function": "median"}, "function"),
])  # fmt: skip
def test_what_it_refuses(change, key):
    with pytest.raises(InputError) as refusal:
        tf.Density(**{"attribute": "income", "function": "mean", "given": GIVEN, **change})
    assert key in refusal.value.where


@pytest.mark.parametrize(("given", "reach", "rounding"), [
    ({0: tf.Normal(0, 3), 1: tf.Normal(4, 1)}, 10, 0), ({0: tf.Normal(0, 3), 1: tf.Normal(4, 1)}, "8.9", "0.6"),
    ({0: Bates(1, 0, 1), 1: Bates(2, 3, 7)}, 7, 0), ({0: tf.Normal(0, 2), 1: tf.Normal(0, 1)}, 4, 0),
])  # fmt: skip
@pytest.mark.parametrize("epsilon", [Fraction(1, 2), 4])
def test_noise_that_hides_the_reach_keeps_what_it_promises(given, reach, rounding, epsilon):
    belief = tf.Density("income", "mean", given, reach=reach, rounding=rounding)
    framework = tf.Pufferfish(tf.dataset_property("income", "mean"), belief)
    calibration = tf.calibrate(framework, tf.Identity(), epsilon, mechanism="group")
    assert tf.exact_loss(calibration).loss <= float(epsilon) * (1 + 1e-9)
    assert tf.compose([calibration, calibration]).epsilon == 2 * epsilon


@pytest.mark.parametrize("secret", [
    tf.dataset_property("age", "mean"), tf.dataset_property("income", "sum"), tf.distribution_parameter("income"),
    tf.dataset_property("income", "mean", pairs=[(0, 5)]), tf.dataset_property("income", "mean", sets=[[0], [7]]),
    tf.every_entry("income"),
])  # fmt: skip
def test_secrets_that_it_does_not_know(secret):
    with pytest.raises(InputError):
        tf.Pufferfish(secret, BELIEF)


def test_parameters_are_named_by_their_values():
    belief = tf.Density("rate", "parameter", {"0.2": tf.Normal(0, 1), "0.8": tf.Normal(1, 1)})
    framework = tf.Pufferfish(tf.distribution_parameter("rate", values=[0.2, 0.8]), belief)
    (one, other) = framework.comparisons()
    assert one.label == (
        "the parameter of 'rate' in the population is 0.2 against the parameter of 'rate' in the population is 0.8"
    )
    assert other.left == one.right
    for wrong in (tf.distribution_parameter("rate", interval=(0, 1)), tf.distribution_parameter("rate", values=[1, 2])):
        with pytest.raises(InputError):
            tf.Pufferfish(wrong, belief)


@pytest.mark.parametrize(("sets", "pairs"), [
    ([(None, 1), (1, None)], {("0", "1"), ("0", "2"), ("1", "0"), ("2", "0")}),
    ([[(None, 1), (2, None)], (1, 2)], {("0", "1"), ("1", "0"), ("2", "1"), ("1", "2")}),
])  # fmt: skip
def test_sets_are_compared_value_by_value_with_what_lies_between(sets, pairs):
    framework = tf.Pufferfish(tf.dataset_property("income", "mean", sets=sets), BELIEF)
    assert {(c.left.describe()[-1], c.right.describe()[-1]) for c in framework.comparisons()} == pairs


@pytest.mark.parametrize("query", [tf.Identity("income"), tf.Mean("income"), tf.Count(1)])
def test_only_the_number_itself_is_published(query):
    with pytest.raises(InputError, match="publish Identity"):
        tf.calibrate(tf.Pufferfish(HIDDEN, BELIEF), query, 1, "0.05")


@pytest.mark.slow
def test_a_release_pays_once(tmp_path):
    account = {"entries": "values", "ledger": tmp_path / "ledger.db", "source": "survey"}
    calibration = tf.calibrate(tf.Pufferfish(HIDDEN, BELIEF), tf.Identity(grid="0.01"), 1, "0.05")
    for wrong in ("much", float("nan"), 8.5, None):
        with pytest.raises(DataError):
            tf.release(calibration, wrong, **account)
    release = tf.release(calibration, 2.345, **account)
    assert (Fraction(str(release.value)) * 100).denominator == 1
    assert "Single rows are not protected." in " ".join(str(release.certificate).split())
    with pytest.raises((CompositionRefused, BudgetExceeded)):
        tf.release(calibration, 2.345, **account)
