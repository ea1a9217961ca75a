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
    ({"value_range": 5}, "value_range"),
    ({"value_range": (3, 3)}, "value_range"),
    ({"given": {0: tf.Normal(0, 1), 1: tf.Normal(100, 1)}, "value_range": (-2, 3)}, "given"),
    ({"given": {0: Bates(2, 0, 1), 1: Bates(2, 1, 2)}, "value_range": (-1, 1)}, "given"),
    ({"function": "median"}, "function"),
])  # fmt: skip
def test_what_it_refuses(change, key):
    with pytest.raises(InputError) as refusal:
        tf.Density(**{"attribute": "income", "function": "mean", "given": GIVEN, **change})
    assert key in refusal.value.where


@pytest.mark.parametrize("given", [
    {0: tf.Normal(0, 3), 1: tf.Normal(4, 1)},
    {0: tf.Normal(0, 10), 1: tf.NormalMixture([0.5, 0.5], [-4, 5], ["0.1", "0.1"])},
    {0: Bates(1, 0, 1), 1: Bates(2, 3, 5)},
    {0: tf.Truncated(tf.Normal(0, 2), low=-1), 1: tf.Normal(40, 9)},
])  # fmt: skip
@pytest.mark.parametrize("epsilon", [Fraction(1, 2), 8])
def test_noise_that_hides_the_range_keeps_what_it_promises(given, epsilon):
    """Tails beyond the range would tell more than that noise hides: at epsilon 8 they did, 1.3 times."""
    belief = tf.Density("income", "mean", given, value_range=(-4, 5), rounding="0.5")
    framework = tf.Pufferfish(tf.dataset_property("income", "mean"), belief)
    calibration = tf.calibrate(framework, tf.Identity(), epsilon, mechanism="group-dp")
    assert calibration.scale == 9 / Fraction(epsilon)
    assert tf.exact_loss(calibration).loss <= float(epsilon) * (1 + 1e-9)
    assert tf.compose([calibration, calibration]).epsilon == 2 * epsilon


def test_densities_are_cut_to_the_range_and_read_back():
    given = {0: tf.Normal(0, 1), 1: [tf.Truncated(tf.Normal(1, 1), high=9), Bates(2, 0, 1)]}
    belief = tf.Density("income", "mean", given, value_range=(-2, 3))
    assert belief.curves == (
        tf.Truncated(tf.Normal(0, 1), -2, 3), tf.Truncated(tf.Normal(1, 1), -2, 3), Bates(2, 0, 1),
    )  # fmt: skip
    assert belief.references[0].mean == 0
    assert tf.Density.from_dict(belief.to_dict()) == belief
    (assumption,) = belief.assumptions()
    assert "one of the stated densities, cut to numbers from -2 to 3, or a mixture of them" in assumption.text


@pytest.mark.parametrize("value", [Fraction(-21, 10), "3.0001"])
def test_a_number_outside_the_range_is_refused_without_telling_it(value, tmp_path):
    given = {0: tf.Normal(0, 1), 1: tf.Normal(1, 1)}
    framework = tf.Pufferfish(HIDDEN, tf.Density("income", "mean", given, value_range=(-2, 3), rounding=1))
    with pytest.raises(DataError, match="outside the declared range") as refusal:
        tf.release(tf.calibrate(framework, tf.Identity(), 1, mechanism="group-dp"), value)
    assert "2.1" not in str(refusal.value)
    assert "0001" not in str(refusal.value)


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
