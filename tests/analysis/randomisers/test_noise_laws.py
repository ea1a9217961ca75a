"""Moments and quantiles of the noise against sums of the laws themselves."""

from fractions import Fraction
from math import erfc, exp, sqrt, tanh
from typing import Any

import numpy as np
import pytest
from tests.support.goodness_of_fit import rounded_laplace_cdf, rounded_normal_cdf

from takifugu.analysis.randomisers import DiscreteLaplace, RoundedLaplace, RoundedNormal
from takifugu.core.errors import InputError

ROUNDED: list[tuple[Any, Any]] = [(RoundedLaplace, rounded_laplace_cdf), (RoundedNormal, rounded_normal_cdf)]


@pytest.mark.parametrize("scale", [Fraction(1, 20), Fraction(1, 3), Fraction(33, 10), Fraction(200)])
def test_discrete_laplace_moments_and_half_widths_are_sums(scale: Fraction) -> None:
    k = np.arange(1, int(60 * scale) + 60)
    masses = 2 * tanh(float(1 / scale) / 2) * np.exp(-k / float(scale))
    moments = DiscreteLaplace(scale, Fraction(1)).moments()
    assert moments.absolute == pytest.approx((k * masses).sum(), rel=1e-12)
    assert moments.square == pytest.approx((k * k * masses).sum(), rel=1e-12)
    for level in (0.01, 0.5, 0.95, 1 - 1e-9, Fraction(999, 1000)):
        h = DiscreteLaplace(scale, Fraction(1)).steps_within(level)
        assert masses[k > h].sum() <= (1 - level) * (1 + 1e-6)
        assert h == 0 or masses[k >= h].sum() > (1 - level) * (1 - 1e-6)


def noise_moments(cdf: Any, center: Fraction, ratio: Fraction) -> tuple[float, float]:
    reach = int(45 * ratio) + 3
    masses = np.diff([cdf(k) for k in range(-reach - 1, reach + 1)])
    noise = np.arange(-reach, reach + 1) - float(center)
    return float((np.abs(noise) * masses).sum()), float((noise**2 * masses).sum())


@pytest.mark.sampled(7)
@pytest.mark.parametrize(("noise", "law"), ROUNDED)
@pytest.mark.parametrize("ratio", [Fraction(1, 5), Fraction(1), Fraction(7, 3)])
def test_rounded_moments_on_the_grid_and_on_average(noise: Any, law: Any, ratio: Fraction) -> None:
    grid = Fraction(1, 4)
    on_grid = noise_moments(law(Fraction(0), ratio, Fraction(1)), Fraction(0), ratio)
    assert noise(ratio * grid, grid).moments() == pytest.approx((on_grid[0] / 4, on_grid[1] / 16), rel=1e-9)
    centers = [Fraction(2 * i + 1, 400) - Fraction(1, 2) for i in range(200)]
    average = np.mean([noise_moments(law(c, ratio, Fraction(1)), c, ratio) for c in centers], axis=0)
    anywhere = noise(ratio * grid, grid, on_grid=False).moments()
    assert anywhere == pytest.approx((average[0] / 4, average[1] / 16), rel=2e-4)


def test_normal_moments_join_where_the_sum_ends() -> None:
    below = RoundedNormal(Fraction(99999, 1000), Fraction(1)).moments()
    above = RoundedNormal(Fraction(100), Fraction(1)).moments()
    assert below.absolute / 99.999 == pytest.approx(above.absolute / 100, rel=1e-9)
    exact = sum(erfc((k - 0.5) / (100 * sqrt(2))) for k in range(1, 4001))
    assert above.absolute == pytest.approx(exact, rel=1e-10)
    wide = RoundedLaplace(Fraction(10**6), Fraction(1), on_grid=False)
    assert wide.moments().absolute == pytest.approx(10**6, rel=1e-9)


@pytest.mark.parametrize(("noise", "law"), ROUNDED)
@pytest.mark.parametrize("ratio", [Fraction(1, 5), Fraction(1), Fraction(50, 3)])
@pytest.mark.parametrize("level", [0.05, 0.5, 0.95, 0.999999])
def test_half_widths_are_the_least_that_hold(
    noise: Any, law: Any, ratio: Fraction, level: float
) -> None:
    def coverage(center: Fraction, h: int) -> float:
        cdf = law(center, ratio, Fraction(1))
        inside = [n for n in range(-h - 2, h + 3) if abs(n - center) <= h]
        return cdf(inside[-1]) - cdf(inside[0] - 1) if inside else 0.0

    grid = Fraction(1, 10)
    centers = [Fraction(i, 40) - Fraction(1, 2) for i in range(41)]
    barely_off = Fraction(1, 10**9)
    h = noise(ratio * grid, grid, on_grid=False).steps_within(level)
    assert all(coverage(center, h) >= level - 1e-7 for center in [*centers, barely_off, -barely_off])
    assert coverage(barely_off, h - 1) < level
    on_grid = noise(ratio * grid, grid).steps_within(level)
    assert coverage(Fraction(0), on_grid) >= level
    assert on_grid == 0 or coverage(Fraction(0), on_grid - 1) < level
    assert on_grid <= h <= on_grid + 1


@pytest.mark.mutants
def test_half_widths_of_extreme_levels() -> None:
    rare = 1 - Fraction(1, 10**300)
    h = DiscreteLaplace(Fraction(5), Fraction(1)).steps_within(rare)
    assert 2 * exp(-(h + 1) / 5) < 1e-299 < 2 * exp(-(h - 15) / 5)
    normal = RoundedNormal(Fraction(100), Fraction(1), on_grid=False)
    assert normal.steps_within(rare) == pytest.approx(3706.6, rel=1e-3)


@pytest.mark.parametrize("level", [0, 1, -0.1, 1.5, float("nan")])
def test_a_level_lies_between_zero_and_one(level: float) -> None:
    with pytest.raises(InputError, match="level"):
        DiscreteLaplace(Fraction(1), Fraction(1)).steps_within(level)
    with pytest.raises(InputError, match="level"):
        RoundedLaplace(Fraction(1), Fraction(1)).steps_within(level)
