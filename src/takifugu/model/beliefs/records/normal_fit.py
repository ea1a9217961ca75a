"""Means and covariances of columns of numbers, in decimals, and never less than positive semidefinite."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from operator import mul

import numpy as np

from takifugu.core.errors import InputError
from takifugu.core.lists import is_table, iterated, list_of, no_list
from takifugu.numbers.normal.matrices import Matrix, is_semidefinite


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
    unit = math.lcm(*(number.denominator for of_column in decimals for number in of_column))
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


def _table(data: object, names: Iterable[str] | None) -> tuple[list[str], Sequence[list[float]]]:
    """Return the names of columns of numbers, and the columns."""
    if not isinstance(data, Mapping) and not is_table(data):
        raise InputError(
            f"the data is of type {type(data).__name__}", rule="a fit needs columns of numbers by name",
            fix='give a frame, or columns such as {"height": [...], "weight": [...]}',
        ).at("data")  # fmt: skip
    if names is not None:
        columns = list_of(names, "the names", "names", "['height', 'weight']")
    else:
        columns = list(data if isinstance(data, Mapping) else data.columns)
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
