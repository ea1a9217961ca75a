"""Continuous noise whose noisy answer is rounded once to the grid: Laplace and normal."""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import lru_cache, partial
from typing import TYPE_CHECKING, Self

import numpy as np

from takifugu.analysis.randomisers.additive import DiscreteLaplace, Noise, check_scale, check_shape
from takifugu.analysis.randomisers.base import Kind, Moments
from takifugu.core.plain import LEFT_OUT, Plain, arguments, form
from takifugu.numbers.atoms import Array
from takifugu.numbers.noise_quantiles import (
    BITS,
    Survival,
    exceeds,
    first_not_exceeded,
    laplace_survival,
    missed,
    normal_survival,
)
from takifugu.numbers.rationals import as_fraction, exact

if TYPE_CHECKING:
    from takifugu.numbers.noise import Entropy


class Rounded(Noise):
    """What both laws share, given the tail of |Z| of the unit law."""

    scale: Fraction
    on_grid: bool
    _survival: Survival

    def __post_init__(self) -> None:
        check_scale(self.scale)
        check_shape(self.grid, self.cells)

    def of_scale(self, scale: Fraction) -> Self:
        return replace(self, scale=scale)  # type: ignore[type-var]

    def added(self, answers: Array, entropy: Entropy) -> Array:
        from takifugu.numbers import noise

        draw = noise.rounded_laplace if self.laplace_scale else noise.rounded_normal
        return draw(answers, self.scale / self.grid, 1, len(answers), entropy)

    def unseen(self, change: Fraction) -> Fraction:
        """Return P(|noise| >= change/2) from below, wherever the answer lies."""
        if change <= 0:
            return Fraction(1)
        steps = change / self.grid
        # an open interval of length `change` holds so many multiples, whose cells are hit most often around 0
        within = 2 * math.ceil(steps / 2) - 1 if self.on_grid else math.ceil(steps)
        seen = within * self.grid / 2
        if self.cells > 1:
            # of several cells no more is known than of the noise before rounding, along the change
            seen = max(seen, change / 2)
        return Fraction(self._survival(seen / self.scale, BITS)[0], 1 << BITS)

    def steps_within(self, level: Fraction) -> int:
        return _steps_within(self._survival, self.scale / self.grid, level, self.on_grid)


@dataclass(frozen=True)
class RoundedLaplace(Rounded, kind="rounded-laplace"):
    """Continuous Laplace noise, density exp(-|z|/scale)/(2 scale), the noisy answer rounded once to the grid."""

    scale: Fraction = field(metadata=exact("scale"))
    grid: Fraction = field(metadata=exact("the grid"))
    cells: int = 1
    on_grid: bool = field(default=True, metadata=LEFT_OUT)

    _survival = staticmethod(laplace_survival)

    @property
    def laplace_scale(self) -> Fraction:
        return self.scale

    def log_mass(self, difference: int | Fraction) -> float:
        """Return log P(output - answer = difference) of one cell, in grid units, a Fraction off the grid."""
        units = self.scale / self.grid
        near, far = abs(Fraction(difference)) - Fraction(1, 2), abs(Fraction(difference)) + Fraction(1, 2)
        if near >= 0:
            return math.log(-math.expm1(-1 / units) / 2) - float(near / units)
        return math.log(-(math.expm1(near / units) + math.expm1(-far / units)) / 2)

    def log_reach(self, distance: Fraction) -> float:
        """Return log P(|noise| >= distance) of one cell before rounding: -distance/scale."""
        return -max(0.0, float(distance / self.scale))

    def moments(self) -> Moments:
        b, g = float(self.scale), float(self.grid)
        if self.on_grid:
            root, gap = math.exp(-g / (2 * b)), -math.expm1(-g / b)
            return Moments(g * root / gap, g * g * root * (1 + root * root) / gap**2)
        return Moments(g / 4 + 2 * b * b / g * -math.expm1(-g / (2 * b)), 2 * b * b + g * g / 12)


def laplace(scale: Fraction, grid: Fraction, cells: int, on_grid: bool) -> DiscreteLaplace | RoundedLaplace:
    """Return Laplace noise of a scale in answer units, for answers on the grid or between its multiples."""
    if on_grid:
        return DiscreteLaplace(scale / grid, grid, cells)
    return RoundedLaplace(scale, grid, cells, on_grid=False)


@dataclass(frozen=True)
class RoundedNormal(Rounded, kind="rounded-normal"):
    """Continuous normal noise with standard deviation `scale`, the noisy answer rounded once to the grid."""

    scale: Fraction = field(metadata=form(read=partial(as_fraction, name="sigma"), key="sigma"))
    grid: Fraction = field(metadata=exact("the grid"))
    cells: int = 1
    on_grid: bool = field(default=True, metadata=LEFT_OUT)

    _survival = staticmethod(normal_survival)

    norm = 2

    @classmethod
    def from_dict(cls, data: Plain) -> Self:
        values = arguments(cls, data)
        return cls(values.pop("sigma"), **values)

    def hides(self, change: Fraction, epsilon: Fraction, delta: Fraction) -> bool:
        from takifugu.numbers.after_noise.gaussian import gaussian_delta

        return change == 0 or gaussian_delta(change, self.scale, epsilon) <= delta

    def log_mass(self, difference: int | Fraction) -> float:
        """Return log P(output - answer = difference) of one cell, in grid units, a Fraction off the grid."""
        units = self.scale / self.grid
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
        return math.log(2) + _log_upper_normal(float(distance / self.scale))

    def moments(self) -> Moments:
        s, g = float(self.scale), float(self.grid)
        if self.on_grid:
            return _normal_moments_on_grid(s, g)
        h, root = g / 2, math.sqrt(2)
        central = (h * h + s * s) / 2 * math.erf(h / (s * root))
        central += h * s / math.sqrt(2 * math.pi) * math.exp(-(h * h) / (2 * s * s))
        return Moments(central / h, s * s + g * g / 12)


def _normal_moments_on_grid(s: float, g: float) -> Moments:
    """Sum the tails of |n|, and those of n^2."""
    r = s / g
    if r >= 100:
        return Moments(g * math.sqrt(2 / math.pi) * (r - 1 / (24 * r)), s * s + g * g / 12)
    from scipy.special import erfc

    k = np.arange(1.0, 40 * r + 2)
    tails = erfc((k - 0.5) / (r * math.sqrt(2)))
    return Moments(float(g * tails.sum()), float(g * g * ((2 * k - 1) * tails).sum()))


@lru_cache(maxsize=256)
def _steps_within(survival: Survival, ratio: Fraction, level: Fraction, on_grid: bool) -> int:
    """Return the least h with P(|noise| <= h steps) >= level, for ratio = scale / grid."""
    (miss, depth), half = missed(level), Fraction(1, 2)

    def is_exceeded(h: int) -> bool:
        if h < 0 or (h == 0 and not on_grid):
            return True
        # |ratio Z| < h + 1/2; off the grid a centre at f in (0, 1/2] of its cell keeps |noise| <= h if
        # 1/2 - h < f + ratio Z < 1/2 + h, most rarely for f just above 0
        if on_grid:
            return exceeds(survival, [(1, (h + half) / ratio)], miss)
        return exceeds(survival, [(1, (h - half) / ratio), (1, (h + half) / ratio)], 2 * miss)

    z = math.sqrt(2 * depth) if survival is normal_survival else depth
    return first_not_exceeded(is_exceeded, round(ratio * Fraction(z)))


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
