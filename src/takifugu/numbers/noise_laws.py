"""The laws of the noise that `takifugu.numbers.noise` draws, as numbers: masses, tails, half-widths, expected errors.

X is discrete Laplace: P(X = k) = tanh(1 / (2 scale)) exp(-|k| / scale). K is geometric: P(K >= k) = exp(-k / scale),
k >= 0. For the rounded laws the noise is output minus centre, where output = grid * round((centre + Z) / grid): Z plus
a rounding of at most grid / 2, or of less than a step of the grid where E >= 0 is rounded up. What the rounding does
depends on where the centre lies between two multiples of the grid: `on_grid=True` means that the centre is a multiple;
otherwise half-widths hold at every real centre, and moments are averages over the position of the centre in its cell.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction
from functools import lru_cache
from math import erf, exp, expm1, log, pi, sqrt
from typing import NamedTuple

import numpy as np

from takifugu.core.errors import InputError
from takifugu.numbers.noise_quantiles import Enclosure, first_not_exceeded, laplace_survival, normal_survival

#: Digits of enclosed tails: what is below 2^-BITS counts as nothing.
BITS = 128

Survival = Callable[[Fraction, int], Enclosure]


class Moments(NamedTuple):
    """A noise's expected absolute value and square, in units of its scale."""

    absolute: float
    square: float


@lru_cache(maxsize=256)
def discrete_laplace_half_width(scale: Fraction, level: Fraction | float) -> int:
    """Return the smallest integer h with P(|X| <= h) >= level.

    >>> discrete_laplace_half_width(Fraction(10), 0.95)
    30
    """
    miss = _miss(level)

    def exceeds(h: int) -> bool:  # P(|X| > h) = 2 a^(h+1) / (1 + a) > miss
        return h < 0 or _exceeds(laplace_survival, [(2, (h + 1) / scale), (-miss, 1 / scale)], miss)

    return first_not_exceeded(exceeds, round(scale * Fraction(_depth(miss))))


def rounded_laplace_half_width(
    scale: Fraction, grid: Fraction, level: Fraction | float, *, on_grid: bool = False
) -> int:
    """Return the smallest h with P(|noise| <= h grid) >= level.

    >>> rounded_laplace_half_width(Fraction(10), Fraction(1, 100), 0.95)
    2996
    """
    return _rounded_half_width(laplace_survival, scale / grid, level, on_grid)


def rounded_normal_half_width(
    sigma: Fraction, grid: Fraction, level: Fraction | float, *, on_grid: bool = False
) -> int:
    """Return the smallest h with P(|noise| <= h grid) >= level.

    >>> rounded_normal_half_width(Fraction(1), Fraction(1, 1000), 0.95)
    1960
    """
    return _rounded_half_width(normal_survival, sigma / grid, level, on_grid)


def discrete_laplace_beyond(scale: Fraction, steps: int) -> Fraction:
    """Return P(|X| >= steps) from below, for steps above 0.

    >>> round(float(discrete_laplace_beyond(Fraction(1), 1)), 9)
    0.537882843
    """
    (low, _), (_, high) = laplace_survival(steps / scale, BITS), laplace_survival(1 / scale, BITS)
    return Fraction(2 * low, (1 << BITS) + high)


def laplace_beyond(distance: Fraction) -> Fraction:
    """Return P(|Z| > distance) of the unit Laplace law, from below."""
    return Fraction(laplace_survival(distance, BITS)[0], 1 << BITS)


def laplace_above(distance: Fraction) -> Fraction:
    """Return e^-distance from above.

    >>> 0.3678 < laplace_above(Fraction(1)) < 0.3679
    True
    """
    return Fraction(laplace_survival(distance, BITS)[1], 1 << BITS)


def normal_beyond(distance: Fraction) -> Fraction:
    """Return P(|Z| > distance) of the standard normal law, from below.

    >>> round(float(normal_beyond(Fraction(196, 100))), 9)
    0.04999579
    """
    return Fraction(normal_survival(distance, BITS)[0], 1 << BITS)


def geometric_half_width(scale: Fraction, level: Fraction | float) -> int:
    """Return the smallest integer h with P(K <= h) >= level.

    >>> geometric_half_width(Fraction(10), 0.95)
    29
    """
    return rounded_up_exponential_half_width(scale, Fraction(1), level, on_grid=True) - 1  # ceil(E) is K + 1


def rounded_up_exponential_half_width(
    scale: Fraction, grid: Fraction, level: Fraction | float, *, on_grid: bool = False
) -> int:
    """Return the smallest h with P(noise <= h grid) >= level, exactly.

    Raises InputError unless 0 < level < 1. The noise is ceil((centre + E) / grid) grid - centre. On the grid it exceeds
    h steps with probability exp(-h grid / scale); elsewhere with less than exp(-(h - 1) grid / scale), which it comes
    near just below a multiple.

    >>> rounded_up_exponential_half_width(Fraction(10), Fraction(1), 0.95)
    31
    """
    miss, first = _miss(level), 0 if on_grid else 1

    def exceeds(h: int) -> bool:
        return h <= first or _exceeds(laplace_survival, [(1, (h - first) * grid / scale)], miss)

    return first_not_exceeded(exceeds, round(scale / grid * Fraction(_depth(miss))) + first)


def geometric_moments(scale: Fraction) -> Moments:
    """Return E K and E K^2 of geometric noise.

    a / (1 - a) and a (1 + a) / (1 - a)^2, a = exp(-1 / scale).

    >>> [round(moment, 6) for moment in geometric_moments(Fraction(10))]
    [9.508332, 190.325085]
    """
    inverse = float(1 / scale)
    a, complement = exp(-inverse), -expm1(-inverse)
    return Moments(a / complement, a * (1 + a) / complement**2)


def rounded_up_exponential_moments(scale: Fraction, grid: Fraction, *, on_grid: bool = False) -> Moments:
    """Return the expected noise and its square of rounded exponentials.

    The noise is ceil((centre + E) / grid) grid - centre. On the grid that is a step more than geometric noise;
    elsewhere E plus a uniform part of a step.

    >>> rounded_up_exponential_moments(Fraction(1), Fraction(1, 10)).absolute
    1.05
    """
    b, g = float(scale), float(grid)
    if on_grid:
        a, complement = exp(-g / b), -expm1(-g / b)
        return Moments(g / complement, g * g * (1 + a) / complement**2)
    return Moments(b + g / 2, 2 * b * b + b * g + g * g / 3)


def discrete_laplace_moments(scale: Fraction) -> Moments:
    """Return E|X| and E X^2 of discrete Laplace noise.

    1 / sinh(1 / scale) and 1 / (2 sinh^2(1 / (2 scale))).

    >>> [round(moment, 6) for moment in discrete_laplace_moments(Fraction(10))]
    [9.983353, 199.833417]
    """
    inverse = float(1 / scale)
    a = exp(-inverse)
    return Moments(2 * a / -expm1(-2 * inverse), 2 * a / expm1(-inverse) ** 2)


def rounded_laplace_moments(scale: Fraction, grid: Fraction, *, on_grid: bool = False) -> Moments:
    """Return the expected |noise| and noise^2 of the rounded Laplace law.

    >>> round(rounded_laplace_moments(Fraction(1), Fraction(1, 10)).absolute, 6)
    1.000412
    """
    b, g = float(scale), float(grid)
    if on_grid:
        root, gap = exp(-g / (2 * b)), -expm1(-g / b)
        return Moments(g * root / gap, g * g * root * (1 + root * root) / gap**2)
    return Moments(g / 4 + 2 * b * b / g * -expm1(-g / (2 * b)), 2 * b * b + g * g / 12)


def rounded_normal_moments(sigma: Fraction, grid: Fraction, *, on_grid: bool = False) -> Moments:
    """Return the expected |noise| and noise^2 of rounded normal noise.

    >>> round(rounded_normal_moments(Fraction(1), Fraction(1, 1000)).absolute, 6)
    0.797885
    """
    s, g = float(sigma), float(grid)
    if on_grid:
        return _normal_moments_on_grid(s, g)
    h = g / 2
    central = (h * h + s * s) / 2 * erf(h / (s * sqrt(2))) + h * s / sqrt(2 * pi) * exp(-(h * h) / (2 * s * s))
    return Moments(central / h, s * s + g * g / 12)


def _normal_moments_on_grid(s: float, g: float) -> Moments:
    """Sum the tails of |n|, and those of n^2."""
    r = s / g
    if r >= 100:
        return Moments(g * sqrt(2 / pi) * (r - 1 / (24 * r)), s * s + g * g / 12)
    from scipy.special import erfc

    k = np.arange(1.0, 40 * r + 2)
    tails = erfc((k - 0.5) / (r * sqrt(2)))
    return Moments(float(g * tails.sum()), float(g * g * ((2 * k - 1) * tails).sum()))


@lru_cache(maxsize=256)
def _rounded_half_width(survival: Survival, ratio: Fraction, level: Fraction | float, on_grid: bool) -> int:
    """Return the half-width for ratio = scale / grid.

    A centre at f in (0, 1/2] of its cell keeps |noise| <= h exactly if 1/2 - h < f + ratio Z < 1/2 + h, most rarely for
    f just above 0; on the grid the condition is |ratio Z| < h + 1/2.
    """
    miss, half = _miss(level), Fraction(1, 2)

    def exceeds(h: int) -> bool:
        if h < 0 or (h == 0 and not on_grid):
            return True
        if on_grid:
            return _exceeds(survival, [(1, (h + half) / ratio)], miss)
        return _exceeds(survival, [(1, (h - half) / ratio), (1, (h + half) / ratio)], 2 * miss)

    z = sqrt(2 * _depth(miss)) if survival is normal_survival else _depth(miss)
    return first_not_exceeded(exceeds, round(ratio * Fraction(z)))


def _exceeds(survival: Survival, terms: Sequence[tuple[Fraction | int, Fraction]], threshold: Fraction) -> bool:
    """Return whether weighted tails sum to more than the threshold."""
    start = 64 + threshold.denominator.bit_length()
    for bits in (start, start + 2000):
        low = high = Fraction(0)
        for weight, z in terms:
            ends = [weight * end for end in survival(z, bits)]
            low, high = low + min(ends), high + max(ends)
        if low > threshold * 2**bits:
            return True
        if high <= threshold * 2**bits:
            return False
    return True


def _miss(level: Fraction | float) -> Fraction:
    if not 0 < level < 1:
        raise InputError(
            f"level is {level!r}", rule="it must be above 0 and below 1", fix="write for example 0.95"
        ).at("level")
    return 1 - Fraction(level)


def _depth(miss: Fraction) -> float:
    """Return about log(1 / miss), a place to start a search."""
    return log(miss.denominator) - log(miss.numerator)
