"""Means and covariances of columns of numbers, in decimals, and bounds of the laws that a public sample supports.

Of columns x and y, the slope of y on x lies in its interval (Student's t), the variances of y given x and of x above
their ends (chi-square), exactly at every number of rows. All 2d(d - 1) + d of d columns share what may fail
(docs/theory/attributes.md#attributes-fitted).
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import chain, permutations
from operator import mul
from typing import Any

import numpy as np

from takifugu.core.arrays import FloatArray
from takifugu.core.columns import has_columns, no_list, values_of
from takifugu.core.errors import InputError
from takifugu.core.plain import PlainForm, form
from takifugu.core.rules import check_known, list_of, wrong_type
from takifugu.model.beliefs.estimate import checked_confidence, missed
from takifugu.numbers.normal.matrices import Matrix, Vector, is_semidefinite
from takifugu.numbers.rationals import common_denominator

#: Significant digits of estimated means and covariances, and of the ends of a region.
_DIGITS = 12


@dataclass(frozen=True)
class Scatter:
    """The sums of squares and products of rows about their means, exactly."""

    columns: tuple[str, ...]
    rows: int
    products: Matrix


def scatter_of(data: object, names: Iterable[str] | None) -> Scatter:
    """Return the exact scatter of columns of numbers, as decimals."""
    columns, table = _table(data, names)
    decimals = []
    for numbers in table:
        decimals.append([Fraction(repr(number)) for number in numbers])
    unit = common_denominator(chain.from_iterable(decimals))
    whole = []
    for of_column in decimals:
        whole.append([int(number * unit) for number in of_column])
    rows = len(whole[0])
    products: Matrix = ()
    for left in whole:
        row = []
        for right in whole:
            crossed = rows * sum(map(mul, left, right)) - sum(left) * sum(right)
            row.append(Fraction(crossed, rows * unit**2))
        products += (tuple(row),)
    return Scatter(tuple(columns), rows, products)


def moments(data: object, names: Iterable[str] | None) -> tuple[list[str], list[Fraction], list[list[Fraction]], int]:
    """Return the columns, their means, their covariance (over n - 1), and n, in `_DIGITS` significant digits."""
    columns, table = _table(data, names)
    values = np.array(table)
    means = list(map(_decimal, values.mean(axis=1)))
    matrix = np.atleast_2d(np.cov(values))
    size = range(len(columns))
    rounded = []
    for i in size:
        rounded.append([_decimal(matrix[min(i, j), max(i, j)]) for j in size])
    # rounding may leave no semidefinite matrix: variances are raised by as little as makes it so
    raised = Fraction(1, 10**_DIGITS)
    while not is_semidefinite(rounded):
        for i in size:
            rounded[i][i] *= 1 + raised
        raised *= 2
    return columns, means, rounded, len(table[0])


def normality(columns: Mapping[str, Sequence[float]]) -> Iterator[tuple[str, float, float, float]]:
    """Yield skewness, excess kurtosis, and the chance of as much (Jarque and Bera 1987), by linear part."""
    # of normal columns all parts are normal: the columns, and each without its regression on another one
    arrays, parts = dict[str, FloatArray](), dict[str, FloatArray]()
    for name, numbers_of_column in columns.items():
        arrays[name] = parts[repr(name)] = np.array(numbers_of_column, dtype=np.float64)
    for (name, numbers), (other, others) in permutations(arrays.items(), 2):
        if np.ptp(others):
            slope = np.cov([others, numbers])[0, 1] / np.var(others, ddof=1)
            parts[f"what {other!r} leaves of {name!r}"] = numbers - slope * others
    for name, numbers in parts.items():
        distances = numbers - numbers.mean()
        spread = float(np.sqrt(np.mean(distances**2)))
        # a part without any spread is left out; the chance is that of many rows
        if spread <= 1e-9 * float(np.abs(numbers).max()):
            continue
        skewness = float(np.mean(distances**3)) / spread**3
        excess = float(np.mean(distances**4)) / spread**4 - 3
        yield name, skewness, excess, math.exp(-len(numbers) * (skewness**2 + excess**2 / 4) / 12)


def _table(data: object, names: Iterable[str] | None) -> tuple[list[str], Sequence[list[float]]]:
    """Return the names of columns of numbers, and the columns."""
    if not has_columns(data):
        fix = 'give a frame, or columns of numbers such as {"height": [...], "weight": [...]}'
        raise wrong_type(data, "a table of columns", fix).at("data")
    data_columns = list(data if isinstance(data, Mapping) else data.columns)
    if names is not None:
        columns = list_of(names, "the names", "names", "['height', 'weight']")
        check_known(columns, data_columns, "the data have no column", "names")
    else:
        columns = data_columns
    table = [_numbers(data[name], name) for name in columns]
    if len(set(map(len, table))) != 1 or len(table[0]) < 2:
        raise InputError(
            "the columns must have one length, of two records or more", fix="check the data of the estimate"
        ).at("data")
    return columns, table


def _numbers(column: object, name: str) -> list[float]:
    if no_list(column) is not None:
        raise InputError(f"the column {name!r} is {no_list(column)}", fix="give a list of numbers").at(name)
    try:
        numbers = list(map(float, values_of(column)))
    except (TypeError, ValueError):
        numbers = [float("nan")]
    if not np.isfinite(numbers).all():
        raise InputError(f"the column {name!r} holds something else than finite numbers", fix="clean it first").at(name)
    return numbers


def _decimal(value: float) -> Fraction:
    return Fraction(f"{value:.{_DIGITS - 1}e}")


#: By how much the inverses of distribution functions may be off, relatively; what roots may be off by.
_SLACK, _ROOT = 2.0**-30, Fraction(1, 2**45)


def _exact(numbers: str | list[Any]) -> Any:
    """Read numbers, or lists of lists of them."""
    return Fraction(numbers) if isinstance(numbers, str) else tuple(map(_exact, numbers))


_EXACT = form(read=_exact)


@dataclass(frozen=True)
class Ends(PlainForm):
    """What bounds the laws: for each column x the least variance, and for each other one its slope and variance."""

    sample: int
    confidence: float
    variances: Vector = field(metadata=_EXACT)
    #: slopes[x][y] is the interval of the slope of column y on x.
    slopes: tuple[tuple[tuple[Fraction, Fraction], ...], ...] = field(metadata=_EXACT)
    #: residuals[x][y] is the least variance of y given x.
    residuals: tuple[Vector, ...] = field(metadata=_EXACT)


def region_of(scatter: Scatter, confidence: float) -> Ends:
    """Return the ends of every normal distribution that a sample supports, rounded outward."""
    level = checked_confidence(confidence)
    _check_bounds(scatter)
    rows, sums, size = scatter.rows, scatter.products, len(scatter.columns)
    miss = missed(level, 2 * size * (size - 1) + size)
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
                fix="leave the column out, or declare the distribution",
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
