"""Continuous distributions on the line, as values: where their density and their masses lie, with proved bounds.

Their numbers are the floats that were given, exactly; what is computed of them is enclosed from both sides, with an
allowance for rounding that is tested against many digits.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import lru_cache
from typing import Any, Protocol, runtime_checkable

import numpy as np

from takifugu.core.errors import InputError
from takifugu.core.plain import Json, Plain
from takifugu.core.registry import Registry
from takifugu.numbers.atoms import Floats

#: More than what underflow can lose of a mass or a density that is at most 1e300 high.
TINY = 1e-300


@runtime_checkable
class Continuous(Protocol):
    """A distribution with a density; cells and intervals are arrays of their ends, which may be infinite."""

    @property
    def mean(self) -> float: ...

    @property
    def deviation(self) -> float: ...

    @property
    def range(self) -> tuple[float, float]:
        """Return the ends of all mass; they may be infinite."""
        ...

    @property
    def edges(self) -> tuple[float, ...]:
        """Return all kinks and jumps, between tails below 1e-300."""
        ...

    def pdf(self, x: Floats) -> Floats: ...

    def bounds(self, low: Floats, high: Floats) -> tuple[Floats, Floats]:
        """Bound the density in the open cells from `low` to `high`."""
        ...

    def mass(self, low: Floats, high: Floats) -> tuple[Floats, Floats]:
        """Bound the masses of the intervals from `low` to `high`."""
        ...

    def to_dict(self) -> Json: ...

    def describe(self) -> str: ...


class Registered(Continuous, Protocol):
    """A density of a registered kind, read back from its plain data."""

    @staticmethod
    def from_dict(data: Plain) -> Continuous: ...


_KINDS: Registry[type[Registered]] = Registry(
    "the density's kind",
    {
        "normal": "numbers.densities.normal:Normal",
        "normal-mixture": "numbers.densities.normal:NormalMixture",
        "uniform-mean": "numbers.densities.bates:Bates",
        "truncated": "numbers.densities.truncated:Truncated",
        "tabulated": "numbers.densities.piecewise_linear:PiecewiseLinear",
    },
)


def from_dict(data: Plain) -> Continuous:
    """Read a density from its plain data; InputError for others."""
    return _KINDS.find(data.get("kind")).from_dict(data)


@lru_cache(maxsize=4)
def cell_masses(law: Continuous, first: float, last: float, cells: int) -> tuple[Floats, Floats]:
    """Bound the masses of equal cells between two places: the least and the most of each."""
    cuts = np.linspace(first, last, cells + 1)
    least, most = law.mass(cuts[:-1], cuts[1:])
    low, high = law.range
    return least, np.where((cuts[1:] < low) | (cuts[:-1] > high), 0.0, most)


def edges_between(p: Continuous, q: Continuous, low: float, high: float) -> Floats:
    """Return the ends of two densities' cells between two places."""
    inner = {edge for edge in (*p.edges, *q.edges) if low < edge < high}
    return np.array(sorted({low, high} | inner))


def check_density(law: object) -> Continuous:
    """Return one of this package's densities; InputError for anything else."""
    if not isinstance(law, Continuous):
        discrete = " (a distribution of single values has no density)" if hasattr(law, "masses") else ""
        raise InputError(
            f"{law!r} is no density{discrete}",
            rule="only continuous distributions are close to normal ones in the sense of Zhang22 Definition 6",
            fix="give a Normal, NormalMixture, Bates, Truncated or PiecewiseLinear; Records for finite distributions",
        )
    from_dict(law.to_dict())  # what a ledger could not read back is refused here
    return law


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
    """Bound P(low < X <= high) from the smaller tail, without cancellation."""
    # `lower(x)` is P(X <= x), `upper(x)` is P(X > x), `error(x)` the relative error of the one up to 1/2 or so.
    left, right = high <= middle, low >= middle
    first = np.where(left, lower(high), np.where(right, upper(low), 1.0))
    second = np.where(right, upper(high), lower(low))
    third = np.where(left | right, 0.0, upper(high))
    near, far = np.where(left, high, low), np.where(left, low, high)
    allowance = first * np.where(left | right, error(near), 2.0**-50)
    allowance = allowance + second * error(np.where(left | right, far, low)) + third * error(high) + TINY
    mass = first - second - third
    return np.maximum(mass - allowance, 0.0), np.minimum(mass + allowance, 1.0)
