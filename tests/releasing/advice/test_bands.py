"""Bands of errors, set against sums over the noise's law and against draws."""

import math
from fractions import Fraction

import numpy as np
import pytest

from takifugu.analysis.randomisers import DiscreteLaplace, RoundedLaplace, RoundedNormal
from takifugu.analysis.randomisers.additive import Exact
from takifugu.numbers.noise import InsecureSeededEntropyForTests
from takifugu.releasing.advice.bands import LEVEL, cell_band, difference_band, masses

SCALES = [Fraction(1, 2), Fraction(1), Fraction(10, 3), Fraction(40)]


def difference_by_sums(scale: Fraction, grid: Fraction) -> tuple[float, float]:
    """The least multiple of the grid that holds the difference of two discrete Laplace noises, by a double sum."""
    q, most = math.exp(-grid / scale), math.ceil(60 * scale / grid)
    masses = [(1 - q) / (1 + q) * q ** abs(j) for j in range(-most, most + 1)]
    law = np.convolve(masses, masses)
    middle = len(law) // 2
    reach = next(k for k in range(middle) if law[middle - k : middle + k + 1].sum() >= LEVEL)
    return float(reach * grid), float(law[middle - reach : middle + reach + 1].sum())


@pytest.mark.parametrize("scale", SCALES, ids=str)
@pytest.mark.parametrize("grid", [Fraction(1), Fraction(1, 4), Fraction(5)], ids=str)
def test_discrete_laplace_noise(scale: Fraction, grid: Fraction) -> None:
    noise = DiscreteLaplace(scale / grid, grid)
    cell, difference = cell_band(noise), difference_band(noise)
    q = math.exp(-grid / scale)
    steps = round(cell.width / grid)
    assert cell.coverage == pytest.approx(1 - 2 * q ** (steps + 1) / (1 + q), rel=1e-12)
    assert cell.coverage >= LEVEL > (1 - 2 * q**steps / (1 + q) if steps else 0)
    width, coverage = difference_by_sums(scale, grid)
    assert (difference.width, difference.coverage) == (width, pytest.approx(coverage, abs=1e-7))


@pytest.mark.parametrize(
    ("law", "one", "two"), [(RoundedLaplace, 2.9957, 4.1133), (RoundedNormal, 1.96, 2.7718)], ids=["laplace", "normal"]
)
@pytest.mark.parametrize("fineness", [1000, 10**6, 10**9])
def test_fine_grids_have_the_bands_of_the_continuous_law(law: type, one: float, two: float, fineness: int) -> None:
    noise = law(Fraction(3), Fraction(1, fineness))
    assert cell_band(noise).width == pytest.approx(3 * one, rel=1e-3)
    assert difference_band(noise).width == pytest.approx(3 * two, rel=2e-3)


def test_no_noise_has_no_band() -> None:
    assert cell_band(Exact(Fraction(1), 2)).width == difference_band(Exact(Fraction(1), 2)).width == 0


@pytest.mark.parametrize("law", [DiscreteLaplace, RoundedLaplace, RoundedNormal])
def test_draws_lie_inside_as_often_as_stated(law: type) -> None:
    noise = law(Fraction(7), Fraction(1), 2)
    entropy, runs = InsecureSeededEntropyForTests(23), 4000
    drawn = np.array([noise.draw((0, 0), entropy) for _ in range(runs)], dtype=float)
    for errors, band in ((drawn[:, 0], cell_band(noise)), (drawn[:, 0] - drawn[:, 1], difference_band(noise))):
        inside = int((np.abs(errors) <= band.width).sum())
        deviation = math.sqrt(runs * band.coverage * (1 - band.coverage))
        assert abs(inside - runs * band.coverage) < 4 * deviation


def test_equal_noises_have_one_law_that_nobody_changes() -> None:
    law, step = masses(DiscreteLaplace(Fraction(30), Fraction(1)))
    assert masses(DiscreteLaplace(Fraction(30), Fraction(1)))[0] is law
    assert (law.sum(), step) == (pytest.approx(1.0), 1)
    with pytest.raises(ValueError, match="read-only"):
        law[0] = 1.0
