"""What bounds the normal laws that a public sample supports.

For a column x and another one y let b be the slope of y on x, t the variance of y given x, and v that of x. With m
independent normal rows, S the sums of squares and products about the means, and E = S_yy - S_xy^2/S_xx,

    (S_xy/S_xx - b) sqrt(S_xx (m - 2)/E) ~ Student's t with m - 2 degrees,   E/t ~ chi2(m - 2),   S_xx/v ~ chi2(m - 1),

exactly, at every m. Each b lies in its interval, each t and v above its end. All of them, 2d(d - 1) + d for d columns,
share what may fail.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from takifugu.core.errors import InputError
from takifugu.core.plain import PlainForm, form
from takifugu.model.beliefs.estimate import checked_confidence
from takifugu.numbers.normal.matrices import Vector
from takifugu.numbers.rationals import as_fraction

if TYPE_CHECKING:
    from takifugu.model.beliefs.records.normal_fit import Scatter

#: By how much the inverses of distribution functions may be off, relatively; what roots may be off by.
_SLACK, _ROOT = 2.0**-30, Fraction(1, 2**45)
#: Significant digits of the ends of a region.
_DIGITS = 12


def _exact(numbers: str | list[Any]) -> Any:
    """Read numbers, or lists of lists of them."""
    return Fraction(numbers) if isinstance(numbers, str) else tuple(map(_exact, numbers))


_EXACT = form(read=_exact)


@dataclass(frozen=True)
class Ends(PlainForm):
    """What bounds the laws: for each column x the least variance, and for each other one its slope and variance.

    `slopes[x][y]` is the interval of the slope of column y on x, `residuals[x][y]` the least variance of y given x.
    """

    sample: int
    confidence: float
    variances: Vector = field(metadata=_EXACT)
    slopes: tuple[tuple[tuple[Fraction, Fraction], ...], ...] = field(metadata=_EXACT)
    residuals: tuple[Vector, ...] = field(metadata=_EXACT)


def region_of(scatter: Scatter, confidence: float) -> Ends:
    """Return the ends of every law that a sample supports, rounded outward.

    `scatter` holds the sums of squares and products of the rows about their means. Raises InputError for fewer than
    three rows, for a column that takes one value, and for a confidence that is not between 0 and 1.

    >>> from takifugu.model.beliefs.records.normal_fit import scatter_of
    >>> ends = region_of(scatter_of({"x": [1, 2, 3, 4], "y": [1, 3, 2, 4]}, None), 0.95)
    >>> [round(float(end), 2) for end in ends.slopes[0][1]]
    [-3.82, 5.42]
    """
    level = checked_confidence(confidence)
    _check_bounds(scatter)
    rows, sums, size = scatter.rows, scatter.products, len(scatter.columns)
    miss = float((1 - as_fraction(level, "confidence")) / (2 * size * (size - 1) + size)) * (1 - _SLACK)
    if 1 - miss == 1:
        raise InputError(
            f"the confidence {confidence!r} is too near 1", rule="no float tells what is left from nothing",
            fix="write 0.99999 or less",
        ).at("confidence")  # fmt: skip
    squares = _largest_sum(rows - 1, miss)
    variances = tuple(_down(sums[x][x] / squares) for x in range(size))
    slopes, residuals = [], []
    for x in range(size):
        ends = [_regression(scatter, x, y, miss) for y in range(size)]
        slopes.append(tuple(slope for slope, _ in ends))
        residuals.append(tuple(residual for _, residual in ends))
    return Ends(rows, level, variances, tuple(slopes), tuple(residuals))


def _check_bounds(scatter: Scatter) -> None:
    """Raise InputError for a sample that bounds no law."""
    if scatter.rows < 3:
        raise InputError(
            f"the sample has {scatter.rows} rows", rule="a confidence needs three or more",
            fix="give more, or no confidence",
        ).at("data")  # fmt: skip
    for x, name in enumerate(scatter.columns):
        if not scatter.products[x][x]:
            raise InputError(
                f"the column {name!r} takes one value in the sample", rule="nothing bounds how others depend on it",
                fix="leave the column out, or declare the law",
            ).at("data")  # fmt: skip


def _regression(scatter: Scatter, x: int, y: int, miss: float) -> tuple[tuple[Fraction, Fraction], Fraction]:
    """Return an interval of y's slope on x, and the least residual variance."""
    if x == y:
        return (Fraction(1), Fraction(1)), Fraction(0)
    sums, degrees = scatter.products, scatter.rows - 2
    left = sums[y][y] - sums[x][y] ** 2 / sums[x][x]
    square = _largest_square(degrees, miss) * left / (degrees * sums[x][x])
    reach = Fraction(math.sqrt(square)) * (1 + _ROOT)
    slope = sums[x][y] / sums[x][x]
    return (-_up(reach - slope), _up(slope + reach)), _down(left / _largest_sum(degrees, miss))


def _largest_sum(degrees: int, miss: float) -> Fraction:
    """Return a number that chi-square exceeds with at most this probability."""
    from scipy.special import gammainccinv

    return 2 * Fraction(float(gammainccinv(degrees / 2, miss))) * (1 + Fraction(_SLACK))


def _largest_square(degrees: int, miss: float) -> Fraction:
    """Return a number that the square of Student's t exceeds with at most this probability."""
    from scipy.special import betaincinv

    # T^2/(T^2 + degrees) is a beta number; the other one keeps its accuracy where T is large
    near = Fraction(float(betaincinv(0.5, degrees / 2, math.nextafter(1 - miss, 1)))) * (1 + Fraction(_SLACK))
    far = Fraction(float(betaincinv(degrees / 2, 0.5, miss))) * (1 - Fraction(_SLACK))
    squares = [degrees * (1 - far) / far]
    if near < 1:
        squares.append(degrees * near / (1 - near))
    return min(squares)


def _up(number: Fraction) -> Fraction:
    """Round up to a decimal of a few digits."""
    return -_down(-number)


def _down(number: Fraction) -> Fraction:
    """Round down to a decimal of a few digits."""
    if not number:
        return number
    step = Fraction(10) ** (math.floor(math.log10(abs(number))) - _DIGITS + 1)
    return math.floor(number / step) * step
