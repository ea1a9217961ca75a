"""Normal records that are rounded, clipped or replaced: promises against sums over the lattice, for few records."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from itertools import pairwise
from typing import Any

import numpy as np
import pytest

import takifugu as tf
from takifugu.core.errors import CalibrationRefused, InputError
from takifugu.numbers.normal.rounded import unevenness

EXACT = "attribute-gaussian-exact"


def below(z: float) -> float:
    return math.erfc(-z / math.sqrt(2)) / 2


def belief(correlation: str = "1", records: int = 2, **read: Any) -> tf.MultivariateNormal:
    return tf.MultivariateNormal([0, 0], [[1, correlation], [correlation, 1]], ["x", "y"], records, **read)


def calibrated(secret: Any, people: tf.MultivariateNormal, **more: Any) -> Any:
    promise = {"epsilon": 1, "delta": "0.001", "mechanism": EXACT, **more}
    return tf.calibrate(tf.Pufferfish(secret, people), tf.Mean("x"), only_release=True, **promise)


def mean(difference: str) -> Any:
    return tf.dataset_property("y", "mean", max_difference=difference)


def of_two(read: Callable[[float], float], cuts: list[float], middle: float, deviation: float) -> dict[float, float]:
    """The law of the mean of read(middle + d), read(middle - d), d normal; `cuts`: where `read` jumps or bends."""
    places = sorted({place for cut in cuts for place in (cut - middle, middle - cut)})
    masses = dict[float, float]()
    for low, high in zip([-40, *places], [*places, 40], strict=True):
        d = (low + high) / 2
        value = (read(middle + d) + read(middle - d)) / 2
        masses[value] = masses.get(value, 0.0) + below(high / deviation) - below(low / deviation)
    return masses


def divergence(p: dict[float, float], q: dict[float, float], deviation: float, epsilon: float = 1.0) -> float:
    values = [*p, *q]
    line = np.linspace(min(values) - 12 * deviation, max(values) + 12 * deviation, 8001)
    one, other = (
        sum(mass * np.exp(-(((line - value) / deviation) ** 2) / 2) for value, mass in law.items()) for law in (p, q)
    )
    excess = np.maximum(one - math.exp(epsilon) * other, 0).sum() * (line[1] - line[0])
    return float(excess / deviation / math.sqrt(2 * math.pi))


def rounded(step: float) -> tuple[Callable[[float], float], list[float]]:
    return lambda x: math.floor(x / step + 0.5) * step, [(k + 0.5) * step for k in range(-20, 20)]


def mixed(laws: list[tuple[float, dict[float, float]]]) -> dict[float, float]:
    masses = dict[float, float]()
    for weight, law in laws:
        for value, mass in law.items():
            masses[value] = masses.get(value, 0.0) + weight * mass
    return masses


def given_mean(where: float, deviation: float, step: float) -> dict[float, float]:
    """The law of the rounded mean of two records when that of what is hidden is fixed; `deviation` is their own."""
    read, cuts = rounded(step)
    across = math.sqrt(1 / 2)
    if not deviation:
        return of_two(read, cuts, where, across)
    nodes, weights = np.polynomial.hermite_e.hermegauss(60)
    shares = weights / weights.sum()
    together = deviation / math.sqrt(2)
    return mixed([
        (float(w), of_two(read, cuts, where + together * float(z), across))
        for z, w in zip(nodes, shares, strict=True)
    ])  # fmt: skip


@pytest.mark.parametrize(
    ("correlation", "step", "difference"),
    [("1", "1", "0.1"), ("1", "0.9", "1"), ("1", "0.5", "0.3"), ("0.8", "1", "0.5"), ("0.8", "0.5", "2")],
)
def test_a_rounded_mean_of_two_keeps_its_promise(correlation: str, step: str, difference: str) -> None:
    noise = float(calibrated(mean(difference), belief(correlation, resolution=step)).scale)
    deviation = math.sqrt(1 - float(correlation) ** 2)
    move = float(correlation) * float(difference)
    for place in np.linspace(0, float(step), 9):
        p, q = (given_mean(float(place) + shift, deviation, float(step)) for shift in (0.0, move))
        for one, other in ((p, q), (q, p)):
            assert divergence(one, other, noise) <= 0.001 * (1 + 1e-6)


def test_the_exact_numbers_noise_is_too_little_for_rounded_ones() -> None:
    """Enlarging the move by 1 + 2 sum of exp(-2 pi^2 k^2) would not help: .053 in place of .001."""
    noise = float(calibrated(mean("0.1"), belief()).scale)
    factor = 1 + 2 * math.exp(-2 * math.pi**2)
    p, q = (given_mean(move, 0.0, 1.0) for move in (0.0, 0.1))
    assert divergence(q, p, noise * factor) > 0.02
    assert float(calibrated(mean("0.1"), belief(resolution="1")).scale) > 5 * noise


def test_one_record_is_rounded_apart_from_the_others() -> None:
    """The value of one of two records, equal to what is hidden, jumps by a whole step."""
    secret = tf.every_entry("y", max_difference="0.1")
    noise = float(calibrated(secret, belief(resolution="1")).scale)
    read, cuts = rounded(1.0)
    other = {read((a + b) / 2): below(b) - below(a) for a, b in pairwise(cuts)}
    for first in (0.45, 0.499, 0.2):
        p, q = ({(read(x) + v) / 2: m for v, m in other.items()} for x in (first, first + 0.1))
        assert max(divergence(p, q, noise), divergence(q, p, noise)) <= 0.001


@pytest.mark.parametrize("count", [2, 3])
def test_rounding_errors_given_the_total_are_nearly_uniform(count: int) -> None:
    """By exact sums over the lattice: the density modulo the step, of all records but one, given the total."""
    step, size = 0.9, count - 1
    covariance = np.eye(size) - np.ones((size, size)) / count
    inverse, height = np.linalg.inv(covariance), 1 / math.sqrt((2 * math.pi) ** size * np.linalg.det(covariance))
    shifts = np.stack(np.meshgrid(*[np.arange(-12, 13) * step] * size), -1).reshape(-1, size)
    error = float(unevenness([Fraction(1)], Fraction("0.9"), count))
    seen = 0.0
    for place in np.stack(np.meshgrid(*[np.linspace(0, step, 7)] * size), -1).reshape(-1, size):
        points = shifts + place
        density = height * np.exp(-np.einsum("ij,jk,ik->i", points, inverse, points) / 2).sum() * step**size
        seen = max(seen, abs(density - 1))
    assert seen <= error
    assert count > 2 or seen > error / 4


@pytest.mark.parametrize("deviation", ["0.6", "1"])
def test_a_clipped_mean_of_two_keeps_its_promise(deviation: str) -> None:
    correlation = str((1 - Fraction(deviation) ** 2) if deviation == "1" else Fraction("0.8"))
    people = belief(correlation, ranges={"x": (-1, 1)}, outside="clip")
    move = float(Fraction(correlation))
    noise = float(calibrated(mean("1"), people, allow_zero_noise=not move).scale)
    if not move:
        assert noise == 0
        return
    nodes, weights = np.polynomial.hermite_e.hermegauss(40)
    pairs = [(y, z, v * w) for y, v in zip(nodes, weights, strict=True) for z, w in zip(nodes, weights, strict=True)]
    total = sum(weight for _, _, weight in pairs)
    for place in (-1.0, -0.5, 0.3):
        p, q = (
            {
                (max(-1, min(1, at + 0.6 * y / math.sqrt(2) + z / math.sqrt(2)))
                 + max(-1, min(1, at + 0.6 * y / math.sqrt(2) - z / math.sqrt(2)))) / 2 + 1e-12 * k: weight / total
                for k, (y, z, weight) in enumerate(pairs)
            }
            for at in (place, place + move)
        )  # fmt: skip
        assert max(divergence(p, q, noise), divergence(q, p, noise)) <= 0.001


def test_no_credit_where_values_are_replaced() -> None:
    """A column that hardly follows what is hidden needs no noise, unless its own randomness may be missing."""
    free, filled = belief("0.1", 400), belief("0.1", 400, replaced=["x"])
    assert calibrated(mean("0.1"), free, allow_zero_noise=True).scale == 0
    noise = float(calibrated(mean("0.1"), filled).scale)
    known = {0.0: 1.0}, {0.01: 1.0}  # all but what moves is known
    assert divergence(*known, noise) <= 0.001 * (1 + 1e-4) < divergence(*known, noise * 0.98)
    assert calibrated(mean("0.1"), belief("0.1", 400, replaced=["y"]), allow_zero_noise=True).scale == 0
    assert tf.MultivariateNormal.from_dict(filled.to_dict()).replaced == ("x",)


def test_sums_of_columns_that_are_clipped_or_replaced_do_not_cancel() -> None:
    query = tf.Linear([1, -1])
    for read in ({"replaced": ["x"]}, {"ranges": {"x": (-1, 1)}, "outside": "clip"}):
        people = tf.MultivariateNormal([0] * 3, [[1, 0, ".5"], [0, 1, ".5"], [".5", ".5", 1]], list("xyg"), 9, **read)
        for mechanism, delta in ((EXACT, "0.001"), ("wasserstein", 0)):
            secret = tf.Pufferfish(tf.dataset_property("g", "mean", max_difference=1), people)
            calibration = tf.calibrate(
                secret, tf.Linear([*query.weights, 0]), 1, delta, mechanism=mechanism, only_release=True
            )
            assert calibration.scale > 5


def test_a_resolution_above_the_deviation_is_refused() -> None:
    for mechanism in (EXACT, "wasserstein"):
        with pytest.raises(InputError, match=r"resolution is 1.5, and the column 'x' has a standard deviation of 1"):
            calibrated(mean("1"), belief("0.5", resolution="1.5"), mechanism=mechanism)
    people = tf.MultivariateNormal([0, 0], [[1, "0.99"], ["0.99", 1]], ["x", "y"], 9, resolution="0.5")
    calibrated(mean("1"), people)  # each by itself varies enough
    with pytest.raises(InputError, match="given the others"):
        tf.calibrate(tf.Pufferfish(mean("1"), people), tf.Linear([1, 1]), 1, "0.001", mechanism=EXACT)


def test_laplace_noise_for_rounded_records_covers_a_step_of_each() -> None:
    calibration = calibrated(mean("0.1"), belief(resolution="0.5"), mechanism="wasserstein", delta=0)
    assert float(calibration.scale) == pytest.approx(0.6)
    p, q = (given_mean(0.25 - move / 2, 0.0, 0.5) for move in (0.1, -0.1))
    line = np.linspace(-9, 9, 2001)
    one, other = (sum(m * np.exp(-abs(line - v) / 0.6) for v, m in law.items()) for law in (p, q))
    assert np.abs(np.log(one / other)).max() <= 1


@pytest.mark.slow
@pytest.mark.mutants
@pytest.mark.parametrize(
    "secret",
    [
        tf.dataset_property("y", "mean", sets=[(None, 0), (0, None)]),
        tf.distribution_parameter("x", values=[1, 2], map="variance"),
    ],
)
def test_other_laws_than_translates(secret: Any) -> None:
    """Rounded they need a little more noise; clipped or replaced they are refused."""
    exact = calibrated(secret, belief("0.7", 400)).scale
    fine = calibrated(secret, belief("0.7", 400, resolution="0.001")).scale
    assert exact <= fine < exact * 1.2
    with pytest.raises(CalibrationRefused, match="clipped or replaced"):
        calibrated(secret, belief("0.7", 400, replaced=["x"]))


def test_a_vector_of_rounded_means_needs_a_little_more() -> None:
    def scale(resolution: str | None) -> float:
        people = tf.MultivariateNormal(
            [0] * 3, [[1, 0, ".5"], [0, 1, ".5"], [".5", ".5", 1]], list("xyg"), 400, resolution=resolution
        )
        secret = tf.Pufferfish(tf.dataset_property("g", "mean", max_difference=1), people)
        both = tf.Together([tf.Mean("x"), tf.Mean("y")])
        return float(tf.calibrate(secret, both, 1, "0.001", mechanism=EXACT, only_release=True).scale)

    assert scale(None) < scale("0.001") < scale("0.5") < 1.3 * scale(None)


def test_a_range_reaches_as_far_as_its_rounded_ends() -> None:
    people = belief("0.5", ranges={"x": ("1.4", "10.6")}, resolution="1")
    assert people.read.reaches[0] == Fraction(10)
