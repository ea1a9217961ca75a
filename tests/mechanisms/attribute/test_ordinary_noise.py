"""What noise for single records leaves of a property under a normal belief, against integrals of the densities."""

import math
from fractions import Fraction

import numpy as np
import numpy.typing as npt
import pytest
from scipy.integrate import simpson
from scipy.stats import norm

import takifugu as tf
from takifugu.analysis.problem import Problem
from takifugu.mechanisms.attribute.ordinary import ordinary_noise, shifted_total_variation


def by_integration(shift: float, deviation: float, scale: float) -> float:
    """Return half of the integral of |p - q|, p the density of N + Laplace noise by convolution, q the same moved."""
    noise = np.linspace(-40 * scale, 40 * scale, 16_001)
    weights = np.exp(-np.abs(noise) / scale) / (2 * scale)
    places = np.linspace(-12 * deviation - 40 * scale, 12 * deviation + 40 * scale + shift, 2_001)

    def density(y: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
        return np.array([simpson(weights * norm.pdf(one - noise, 0, deviation), x=noise) for one in y])

    return float(simpson(np.abs(density(places) - density(places - shift)), x=places)) / 2


@pytest.mark.mutants
@pytest.mark.parametrize(("shift", "deviation", "scale"), [(1, 1, 1), (3, 0.5, 0.3), (2, 0.3, 1)])
def test_the_variation_of_two_noised_normal_laws(shift: float, deviation: float, scale: float) -> None:
    expected = by_integration(shift, deviation, scale)
    assert shifted_total_variation(shift, deviation, scale) == pytest.approx(expected, abs=1e-4)


@pytest.mark.parametrize("size", [1e-6, 1.0, 1e6])
def test_the_variation_at_its_edges(size: float) -> None:
    assert shifted_total_variation(0, size, size) == 0
    assert shifted_total_variation(size, size, 1e-12 * size) == pytest.approx(2 * norm.cdf(0.5) - 1)
    assert shifted_total_variation(size, 1e-9 * size, size) == pytest.approx(-math.expm1(-0.5))
    assert shifted_total_variation(1e4 * size, size, size) == pytest.approx(1)


def students(correlation: Fraction, records: int = 500, **given: object) -> Problem:
    shared = correlation * 108
    belief = tf.MultivariateNormal([65, 50], [[144, shared], [shared, 81]], ["weight", "income"], records, **given)
    framework = tf.Pufferfish(tf.dataset_property("income", "mean", max_difference=5), belief)
    return Problem(framework, tf.Mean("weight"), Fraction(1))


def test_the_randomness_of_the_other_columns_hides_something() -> None:
    """One student in 500 moves the mean weight by 170/500 kg; the shift is 2/3 kg, the deviation of the mean 0.53."""
    ordinary = ordinary_noise(students(Fraction(1, 10), ranges={"weight": (30, 200)}))
    assert ordinary is not None
    assert ordinary.scale == pytest.approx(170 / 500)
    deviation = math.sqrt(0.99 * 144 / 500)
    assert ordinary.total_variation == pytest.approx(shifted_total_variation(2 / 3, deviation, ordinary.scale))
    assert 0.65 < ordinary.chance < 0.75


def test_nothing_is_said_where_one_record_has_no_bound() -> None:
    assert ordinary_noise(students(Fraction(1, 10))) is None


def test_a_column_of_no_correlation_is_guessed_by_nobody() -> None:
    ordinary = ordinary_noise(students(Fraction(0), ranges={"weight": (30, 200)}))
    assert ordinary is not None
    assert ordinary.chance == 0.5
