"""Means and covariances of columns of numbers, in decimals, and never less than positive semidefinite."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import chain, permutations
from operator import mul

import numpy as np

from takifugu.core.arrays import FloatArray
from takifugu.core.errors import InputError
from takifugu.core.lists import is_table, iterated, list_of, no_list
from takifugu.core.rules import check_known, wrong_type
from takifugu.numbers.normal.matrices import Matrix, is_semidefinite
from takifugu.numbers.rationals import common_denominator


@dataclass(frozen=True)
class Scatter:
    """The sums of squares and products of rows about their means, exactly."""

    columns: tuple[str, ...]
    rows: int
    products: Matrix


def scatter_of(data: object, names: Iterable[str] | None) -> Scatter:
    """Return the exact scatter of columns of numbers, as decimals.

    Raises InputError as `moments`.

    >>> scatter_of({"x": [0.1, 0.2, 0.3]}, None).products
    ((Fraction(1, 50),),)
    """
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


def moments(
    data: object, names: Iterable[str] | None, digits: int
) -> tuple[list[str], list[Fraction], list[list[Fraction]], int]:
    """Return the columns, their means, their covariance, and n.

    The covariance is divided by n - 1; means and covariance have `digits` significant digits. Where rounding leaves a
    covariance that is not positive semidefinite the variances are raised by as little as makes it so. `data` has
    columns by name: a mapping or a frame. Raises InputError for what is no table of numbers.
    """
    columns, table = _table(data, names)
    values = np.array(table)
    means = [_decimal(value, digits) for value in values.mean(axis=1)]
    matrix = np.atleast_2d(np.cov(values))
    size = range(len(columns))
    rounded = []
    for i in size:
        rounded.append([_decimal(matrix[min(i, j), max(i, j)], digits) for j in size])
    raised = Fraction(1, 10**digits)
    while not is_semidefinite(rounded):
        for i in size:
            rounded[i][i] *= 1 + raised
        raised *= 2
    return columns, means, rounded, len(table[0])


def normality(columns: Mapping[str, Sequence[float]]) -> Iterator[tuple[str, float, float, float]]:
    """Yield skewness, excess kurtosis, and the chance of as much, by linear part.

    Parts are the columns, and of each column what is left when its regression on another one is taken away: of normal
    columns all are normal, with skewness and excess kurtosis 0. The chance is that of the test of Jarque and Bera
    (1987), exp(-n (S^2 + K^2/4)/12), for many rows. Parts without any spread are left out.

    >>> [(name, round(chance, 2)) for name, *_, chance in normality({"x": [1, 2, 3, 4, 10]})]
    [("'x'", 0.58)]
    """
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
        if spread <= 1e-9 * float(np.abs(numbers).max()):
            continue
        skewness = float(np.mean(distances**3)) / spread**3
        excess = float(np.mean(distances**4)) / spread**4 - 3
        yield name, skewness, excess, math.exp(-len(numbers) * (skewness**2 + excess**2 / 4) / 12)


def _table(data: object, names: Iterable[str] | None) -> tuple[list[str], Sequence[list[float]]]:
    """Return the names of columns of numbers, and the columns."""
    if not isinstance(data, Mapping) and not is_table(data):
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
    values = iterated(column)
    try:
        numbers = list(map(float, values))
    except (TypeError, ValueError):
        numbers = [float("nan")]
    if not np.isfinite(numbers).all():
        raise InputError(f"the column {name!r} holds something else than finite numbers", fix="clean it first").at(name)
    return numbers


def _decimal(value: float, digits: int) -> Fraction:
    return Fraction(f"{value:.{digits - 1}e}")
