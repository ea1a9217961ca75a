"""What the densities share: checked numbers, and masses of intervals from two tails."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from takifugu.core.errors import InputError
from takifugu.numbers.atoms import Floats

#: More than what underflow can lose of a mass or a density that is at most 1e300 high.
TINY = 1e-300


def finite(value: Any, name: str) -> float:
    """Return a finite float; InputError for anything else."""
    try:
        number = float(value)
    except (TypeError, ValueError, OverflowError):
        number = math.nan
    if isinstance(value, bool) or not math.isfinite(number):
        raise InputError(f"{name} is {value!r}", rule="it must be a finite number").at(name)
    return number


def positive(value: object, name: str) -> float:
    """Return a finite float above 0; InputError for anything else."""
    number = finite(value, name)
    if number <= 0:
        raise InputError(f"{name} is {value!r}", rule="it must be above 0").at(name)
    return number


def between_tails(
    low: Floats, high: Floats, middle: float, lower: Callable[[Floats], Floats], upper: Callable[[Floats], Floats],
    error: Callable[[Floats], Floats],
) -> tuple[Floats, Floats]:  # fmt: skip
    """Bound P(low < X <= high) from the smaller tail.

    So no digits of small masses are lost. `lower(x)` is P(X <= x), `upper(x)` is P(X > x), `error(x)` the relative
    error of whichever is at most 1/2 or so.
    """
    left, right = high <= middle, low >= middle
    first = np.where(left, lower(high), np.where(right, upper(low), 1.0))
    second = np.where(right, upper(high), lower(low))
    third = np.where(left | right, 0.0, upper(high))
    near, far = np.where(left, high, low), np.where(left, low, high)
    allowance = first * np.where(left | right, error(near), 2.0**-50)
    allowance = allowance + second * error(np.where(left | right, far, low)) + third * error(high) + TINY
    mass = first - second - third
    return np.maximum(mass - allowance, 0.0), np.minimum(mass + allowance, 1.0)
