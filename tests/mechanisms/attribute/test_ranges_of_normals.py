"""Numbers outside their range are refused: what hides the range then hides the secret, which moves none farther."""

import random
from fractions import Fraction

import pytest

import takifugu as tf
from takifugu.core.errors import InputError

WIDE = [[1, 10], [10, 101]]


def belief(**more):
    return tf.MultivariateNormal([0, 0], WIDE, ["x", "y"], **{"records": 5, "ranges": {"y": (0, 1)}, **more})


@pytest.mark.parametrize("secret", [
    tf.dataset_property("x", "mean", max_difference=1), tf.dataset_property("x", "mean", pairs=[(0, "0.11")]),
    tf.dataset_property("x", "sum", sets=[[0], [1, 2]]), tf.every_entry("x", max_difference="0.2"),
    tf.dataset_property(["x", "y"], "mean", max_difference=["0.1", "1.1"]),
    tf.distribution_parameter("y", values=[0, 2]), tf.distribution_parameter("y", max_difference="1.5"),
])  # fmt: skip
def test_a_secret_that_moves_a_number_beyond_its_range_is_refused(secret):
    """Noise of the range's width lost 10 where epsilon 1 was promised."""
    with pytest.raises(InputError, match="range of that column is 1 wide") as refusal:
        tf.Pufferfish(secret, belief())
    assert 'outside="clip"' in str(refusal.value)


def test_a_process_is_asked_the_same():
    for bound, refused in (("0.1", False), ("0.11", True)):
        secret = tf.every_entry("x", max_difference=bound)
        if refused:
            with pytest.raises(InputError, match=r"by up to 1\.1"):
                tf.Pufferfish(secret, belief(records=1))
        else:
            tf.Pufferfish(secret, belief(records=1))
    series = tf.AutoregressiveNormal("0.9", 5, 4, value_range=(0, 3))
    tf.Pufferfish(tf.every_entry(max_difference=3), series)
    with pytest.raises(InputError, match="range of that column is 3 wide"):
        tf.Pufferfish(tf.every_entry(max_difference=4), series)


@pytest.mark.parametrize(("step", "difference", "is_refused"), [
    ("0.5", "1", False), ("0.5", "1.1", True), ("0.4", "0.8", False), ("0.4", "0.9", True), (None, "0.9", False),
])  # fmt: skip
def test_rounded_numbers_move_by_whole_steps(step, difference, is_refused):
    alone = tf.MultivariateNormal([0], [[1]], ["x"], 3, {"x": (0, 1)}, step)
    secret = tf.every_entry("x", max_difference=difference)
    if is_refused:
        with pytest.raises(InputError):
            tf.Pufferfish(secret, alone)
    else:
        tf.Pufferfish(secret, alone)


def test_clipped_numbers_move_no_farther_and_halves_of_the_line_have_no_largest_move():
    tf.Pufferfish(tf.dataset_property("x", "mean", max_difference=1), belief(outside="clip"))
    tf.Pufferfish(tf.dataset_property("x", "mean", sets=[(None, 0), (0, None)]), belief())


@pytest.mark.parametrize("seed", range(12))
def test_what_hides_the_range_hides_what_is_not_refused(seed):
    draw = random.Random(seed)
    slope, left = Fraction(draw.randint(-40, 40), 10), Fraction(draw.randint(1, 40), 10)
    covariance = [[1, slope], [slope, slope**2 + left]]
    normal = tf.MultivariateNormal([0, 0], covariance, ["x", "y"], records=draw.randint(2, 9), ranges={"y": (-1, 1)})
    most = Fraction(2) / max(abs(slope), Fraction(1, 2))
    secrets = [tf.dataset_property("x", "mean", max_difference=most), tf.every_entry("x", max_difference=most)]
    framework = tf.Pufferfish(draw.choice(secrets), normal)
    calibration = tf.calibrate(framework, tf.Sum("y"), draw.choice([Fraction(1, 2), 1, 4]), mechanism="group-dp")
    assert tf.exact_loss(calibration).loss <= float(calibration.epsilon) * (1 + 1e-9)
