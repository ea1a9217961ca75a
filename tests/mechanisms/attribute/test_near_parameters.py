"""A parameter of the population, hidden only among values that are near: by the closed form, pair by pair."""

import json
import math
from fractions import Fraction

import pytest
from mpmath import mp
from tests.releasing.attribute_files import written
from tests.support.commands import succeed, words_of

import takifugu as tf
from takifugu.core.errors import InputError
from takifugu.model import secrets
from takifugu.model.secrets.families import view_of

BODY = tf.MultivariateNormal([170, 70], [[49, 40], [40, 144]], names=["height", "weight"], records=10)
#: Given the mean of heights the mean of ten is normal with this variance.
VARIANCE = Fraction(49, 10)


def delta_of(shift, variance, epsilon):
    """Return the least delta of N(0, variance) and N(shift, variance) at epsilon (Balle and Wang 2018, Theorem 8)."""
    ratio = mp.mpf(abs(shift)) / mp.sqrt(variance)
    if not ratio:
        return mp.mpf(0)
    return mp.ncdf(ratio / 2 - epsilon / ratio) - mp.exp(epsilon) * mp.ncdf(-ratio / 2 - epsilon / ratio)


def calibrated(mechanism, secret, belief=BODY, **promise):
    framework = tf.Pufferfish(secret, belief)
    promise = {"epsilon": 1, "delta": "0.001", **promise}
    return tf.calibrate(framework, tf.Mean("height"), mechanism=mechanism, single_release=True, **promise)


@pytest.mark.sampled(11)
@pytest.mark.parametrize("mechanism", ["attribute-gaussian", "attribute-gaussian-exact"])
@pytest.mark.parametrize("about", [{}, {"interval": (150, 190)}, {"values": range(150, 191, 4)}], ids=len)
def test_all_pairs_that_are_near_are_hidden_and_hardly_more(mechanism, about):
    """Of means 150, 151, ... all pairs up to 8 apart keep delta, and farther ones do not."""
    noise = calibrated(mechanism, tf.distribution_parameter("height", map="mean", max_difference=8, **about))
    variance = Fraction(noise.randomiser.scale) ** 2 + VARIANCE
    deltas = {far: delta_of(far, mp.mpf(variance.numerator) / variance.denominator, 1) for far in range(0, 41, 4)}
    assert all(delta <= 0.001 * (1 + 1e-9) for far, delta in deltas.items() if far <= 8)
    assert all(delta > 0.001 for far, delta in deltas.items() if far > 12)
    audit = tf.exact_delta(noise)
    assert audit.lower <= float(deltas[8]) <= audit.upper
    if mechanism.endswith("exact"):
        assert float(deltas[8]) == pytest.approx(0.001, rel=1e-6)


def test_an_interval_that_is_shorter_than_the_difference_decides():
    near, whole = (
        calibrated("attribute-gaussian-exact", tf.distribution_parameter("height", None, (150, 155), "mean", most))
        for most in (8, None)
    )
    assert near.scale == whole.scale
    assert tf.exact_delta(near).upper <= 0.001 * (1 + 1e-9)


def test_laplace_noise_hides_a_difference_whatever_the_mean():
    noise = calibrated("wasserstein", tf.distribution_parameter("height", map="mean", max_difference=8), delta=0)
    audit = tf.exact_loss(noise)
    assert noise.scale == 8
    assert audit.lower == pytest.approx(1, abs=1e-9)
    assert audit.upper <= 1 + 1e-9


def test_variances_and_finite_parameters_are_compared_where_they_are_near():
    variances = tf.distribution_parameter("height", values=[40, 49, 100], map="variance", max_difference=10)
    assert view_of(BODY, variances).pairs == ((0, 1),)
    network = tf.BayesianNetwork([("x", [1, 2, 4], [], [0.4, 0.3, 0.3])])
    given = {1: {0: "0.9", 1: "0.1"}, 2: {0: "0.5", 1: "0.5"}, 4: {0: "0.1", 1: "0.9"}}
    belief = tf.Parameters(network, {"x": given}, 2)
    for about in ({}, {"values": [1, 2, 4]}, {"interval": (1, 4)}):
        near = tf.distribution_parameter("x", max_difference=1, **about)
        assert set(map(frozenset, near.family(belief).pairs)) == {frozenset((0, 1))}
    scales = {}
    for most in (1, 2, 3):
        framework = tf.Pufferfish(tf.distribution_parameter("x", max_difference=most), belief)
        noise = tf.calibrate(framework, tf.Sum("x"), 1, mechanism="laplace-exact", single_release=True)
        scales[most] = noise.scale
        assert tf.exact_loss(noise).upper <= 1 + 1e-9
    assert scales[1] <= scales[2] <= scales[3]
    assert scales[1] < scales[3]


def test_a_density_of_a_parameter():
    given = {a: tf.Normal(a, 1) for a in (0, 1, 3)}
    belief = tf.Density("rate", "parameter", given)
    near = view_of(belief, tf.distribution_parameter("rate", max_difference=2))
    assert near.pairs == ((0, 1), (1, 2))


def test_it_reads_back_and_old_secrets_are_written_as_before():
    near = tf.distribution_parameter("x", interval=(0, 3), map="mean", max_difference="0.5")
    assert secrets.from_dict(json.loads(json.dumps(near.to_dict()))) == near
    assert near.describe() == "the parameter of 'x' in the population, from 0 to 3, up to a difference of 0.5"
    assert "max_difference" not in tf.distribution_parameter("x", values=[0, 3]).to_dict()


@pytest.mark.parametrize(("about", "words"), [
    ({"max_difference": 0}, "above 0"), ({"max_difference": math.inf}, "finite"),
    ({"values": [150, 160], "max_difference": 5}, "are that near"),
    ({"map": "variance", "max_difference": 5}, "compares all variances"),
])  # fmt: skip
def test_what_compares_nothing_is_refused(about, words):
    with pytest.raises(InputError, match=words):
        tf.Pufferfish(tf.distribution_parameter("height", **{"map": "mean", **about}), BODY)


NEAR = {
    'property = { attribute = "income", function = "mean", max_difference = 2 }':
    'parameter = { attribute = "income", map = "mean", max_difference = 2 }',
    'query = "mean"': 'query = "mean"', 'attribute = "weight"\nepsilon': 'attribute = "income"\nepsilon',
    'name = "mean-weight"': 'name = "mean-income"',
}  # fmt: skip


def test_from_a_file(tmp_path):
    path = written(tmp_path, "normal", NEAR)
    succeed("release", path)
    certificate = (tmp_path / "out" / "mean-income.certificate.txt").read_text(encoding="utf-8")
    assert "up to a difference of 2" in " ".join(certificate.split())
    assert ": kept" in words_of(succeed("audit", path))
