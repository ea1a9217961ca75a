"""Continuous noise whose noisy answer is rounded once to the grid: Laplace and normal."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from fractions import Fraction
from typing import TYPE_CHECKING

from takifugu.analysis.randomisers.additive import Noise, check_scale, check_shape
from takifugu.analysis.randomisers.base import Kind
from takifugu.core.plain import LEFT_OUT
from takifugu.numbers import noise_laws
from takifugu.numbers.atoms import Array
from takifugu.numbers.rationals import exact

if TYPE_CHECKING:
    from takifugu.numbers.noise import Entropy


class Rounded(Noise):
    """What both laws share, given their moments and quantiles; `_size` is the scale."""

    on_grid: bool
    _moments: Callable[..., noise_laws.Moments]
    _quantile: Callable[..., int]
    _beyond: Callable[[Fraction], Fraction]

    @property
    def _size(self) -> Fraction:
        raise NotImplementedError

    def __post_init__(self) -> None:
        check_scale(self._size)
        check_shape(self.grid, self.cells)

    def _steps(self, answers: Array, entropy: Entropy) -> Array:
        from takifugu.numbers import noise

        draw = noise.rounded_laplace if self.laplace_scale else noise.rounded_normal
        return draw(answers, self._size / self.grid, 1, len(answers), entropy)

    def unseen(self, change: Fraction) -> Fraction:
        """Return P(|noise| >= change/2) from below, wherever the answer lies.

        Between multiples of the grid an open interval of length `change` holds up to n = ceil(change/grid) of them, and
        the noise falls into their cells most often where these lie around 0. Of several cells no more is known than of
        the noise before rounding, along the change.
        """
        if change <= 0:
            return Fraction(1)
        steps = change / self.grid
        within = 2 * math.ceil(steps / 2) - 1 if self.on_grid else math.ceil(steps)
        seen = within * self.grid / 2
        if self.cells > 1:
            seen = max(seen, change / 2)
        return self._beyond(seen / self._size)

    def expected_error(self) -> float:
        """Return the expected L1 error of all cells, in answer units."""
        return float(self.cells * self._moments(self._size, self.grid, on_grid=self.on_grid).absolute)

    def variance(self) -> float:
        """Return the expected squared error of one cell, in squared answer units."""
        return float(self._moments(self._size, self.grid, on_grid=self.on_grid).square)

    def _steps_within(self, level: Fraction) -> int:
        return int(self._quantile(self._size, self.grid, level, on_grid=self.on_grid))


@dataclass(frozen=True)
class RoundedLaplace(Rounded, kind="rounded-laplace"):
    """Continuous Laplace noise, density exp(-|z|/scale)/(2 scale), the noisy answer rounded once to the grid.

    >>> noise = RoundedLaplace(Fraction(2), Fraction(1), 1)
    >>> round(math.exp(noise.log_mass(0)), 4), round(noise.expected_error(), 4)
    (0.2212, 1.9793)
    """

    scale: Fraction = field(metadata=exact("scale"))
    grid: Fraction = field(metadata=exact("the grid"))
    cells: int = 1
    on_grid: bool = field(default=True, metadata=LEFT_OUT)

    _moments = staticmethod(noise_laws.rounded_laplace_moments)
    _quantile = staticmethod(noise_laws.rounded_laplace_half_width)
    _beyond = staticmethod(noise_laws.laplace_beyond)

    @property
    def laplace_scale(self) -> Fraction:
        return self.scale

    _size = laplace_scale

    def log_mass(self, difference: int | Fraction) -> float:
        """Return log P(output - answer = difference) of one cell.

        The difference is in grid units, a Fraction off the grid.
        """
        units = self.scale / self.grid
        near, far = abs(Fraction(difference)) - Fraction(1, 2), abs(Fraction(difference)) + Fraction(1, 2)
        if near >= 0:
            return math.log(-math.expm1(-1 / units) / 2) - float(near / units)
        return math.log(-(math.expm1(near / units) + math.expm1(-far / units)) / 2)

    def log_reach(self, distance: Fraction) -> float:
        """Return log P(|noise| >= distance) of one cell before rounding: -distance/scale."""
        return -max(0.0, float(distance / self.scale))


@dataclass(frozen=True)
class RoundedNormal(Rounded, kind="rounded-normal"):
    """Continuous normal noise with standard deviation `sigma`, the noisy answer rounded once to the grid.

    >>> noise = RoundedNormal(Fraction(2), Fraction(1), 1)
    >>> round(math.exp(noise.log_mass(0)), 4), round(noise.expected_error(), 4)
    (0.1974, 1.579)
    """

    sigma: Fraction = field(metadata=exact("sigma"))
    grid: Fraction = field(metadata=exact("the grid"))
    cells: int = 1
    on_grid: bool = field(default=True, metadata=LEFT_OUT)

    _moments = staticmethod(noise_laws.rounded_normal_moments)
    _quantile = staticmethod(noise_laws.rounded_normal_half_width)
    _beyond = staticmethod(noise_laws.normal_beyond)

    norm = 2

    @property
    def scale(self) -> Fraction:
        return self.sigma

    _size = scale

    def hides(self, change: Fraction, epsilon: Fraction, delta: Fraction) -> bool:
        from takifugu.numbers.after_noise.gaussian import gaussian_delta

        return change == 0 or gaussian_delta(change, self.sigma, epsilon) <= delta

    def log_mass(self, difference: int | Fraction) -> float:
        """Return log P(output - answer = difference) of one cell.

        The difference is in grid units, a Fraction off the grid.
        """
        units = self.sigma / self.grid
        near, far = abs(Fraction(difference)) - Fraction(1, 2), abs(Fraction(difference)) + Fraction(1, 2)
        if near >= 0:
            first, second = _log_upper_normal(float(near / units)), _log_upper_normal(float(far / units))
            return first + math.log(-math.expm1(second - first))
        mass = math.erf(float(-near / units) / math.sqrt(2)) + math.erf(float(far / units) / math.sqrt(2))
        return math.log(mass / 2)

    def log_reach(self, distance: Fraction) -> float:
        """Return log P(|noise| >= distance) of one cell before rounding."""
        if distance <= 0:
            return 0.0
        return math.log(2) + _log_upper_normal(float(distance / self.sigma))


ROUNDED_LAPLACE = Kind(
    RoundedLaplace.from_dict, "rounded Laplace noise",
    "Laplace noise, the noisy value rounded exactly once to the grid",
)  # fmt: skip
ROUNDED_NORMAL = Kind(
    RoundedNormal.from_dict, "rounded normal noise",
    "normal noise, the noisy value rounded exactly once to the grid",
)  # fmt: skip


def _log_upper_normal(x: float) -> float:
    """Return log P(Z > x), Z standard normal and x >= 0."""
    if x < 25:
        return math.log(math.erfc(x / math.sqrt(2)) / 2)
    from scipy.special import log_ndtr

    return float(log_ndtr(-x))
