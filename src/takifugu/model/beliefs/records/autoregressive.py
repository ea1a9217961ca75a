"""A stationary series of normal values, each of which depends on the one before it: AR(1)."""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from functools import cached_property

import numpy as np

from takifugu.core.assumptions import Assumption, world
from takifugu.core.errors import InputError
from takifugu.core.plain import Json, Plain, set_fields
from takifugu.model.beliefs.records.normal import MultivariateNormal, Range
from takifugu.numbers.normal.matrices import Matrix, Vector
from takifugu.numbers.rationals import Number, as_fraction, as_interval, as_positive, is_whole, to_text

#: Steps of a series: its covariance has the square of so many numbers.
MOST_STEPS = 2000
#: Powers of a correlation are rounded away from 0 to multiples of one over this.
PARTS = 2**64


class AutoregressiveNormal(MultivariateNormal):
    """Model a stationary autoregressive series of normal values, AR(1).

    The values have one mean and deviation, and `correlation`^d between two that are d steps apart. It is a
    `MultivariateNormal` of one record, whose columns are 'step 0', 'step 1' and so on. Data are a list of `length`
    numbers. `every_entry(max_difference=...)` hides each value (docs/theory/attributes.md, Theorem 16).

    Args:
        correlation: Correlation of a value and the next one, between -1 and 1.
        standard_deviation: Standard deviation of each value, above 0.
        length: Number of values, from 1 to 2,000; it is public.
        mean: Mean of each value.
        value_range: (low, high) of all values, in their units. Values outside are clipped when they are read.
        resolution: Step to which numbers are rounded when read.
        source: Where the numbers come from, in words; certificates print it.

    Raises:
        InputError: For a correlation, a deviation, a length, a range or a resolution out of bounds.

    Examples:
        >>> series = AutoregressiveNormal(0.8, 2, length=100)
        >>> series.describe()
        'a stationary autoregressive series of 100 normal values with correlation 0.8 (assumed)'
        >>> series.covariance[3][:4]
        (Fraction(256, 125), Fraction(64, 25), Fraction(16, 5), Fraction(4, 1))
    """

    correlation: Fraction
    standard_deviation: Fraction

    def __init__(
        self,
        correlation: Number,
        standard_deviation: Number,
        length: int,
        mean: Number = 0,
        value_range: tuple[Number, Number] | None = None,
        resolution: Number | None = None,
        source: str = "assumed",
    ) -> None:
        share = as_fraction(correlation, "the correlation", "correlation")
        if not -1 < share < 1:
            raise InputError(
                f"the correlation is {correlation!r}", rule="a stationary series has one between -1 and 1",
                fix="write for example 0.8",
            ).at("correlation")  # fmt: skip
        if not is_whole(length, 1) or length > MOST_STEPS:
            raise InputError(
                f"the length is {length!r}", rule=f"it is a whole number from 1 to {MOST_STEPS}",
                fix="write for example 100",
            ).at("length")  # fmt: skip
        deviation = as_positive(standard_deviation, "the standard deviation", "standard_deviation")
        ends: Range | None = None if value_range is None else as_interval(value_range, "the range", "value_range")
        step = None if resolution is None else as_positive(resolution, "the resolution", "resolution")
        names = tuple(f"step {number}" for number in range(length))
        set_fields(
            self, correlation=share, standard_deviation=deviation,
            mean=(as_fraction(mean, "the mean", "mean"),) * length, covariance=_toeplitz(share, deviation, length),
            columns=names, records=1, ranges=(ends,) * length, resolution=step, source=source,
            replaced=(),
        )  # fmt: skip

    @cached_property
    def _powers(self) -> list[Fraction]:
        """The powers of the correlation, rounded away from 0."""
        powers = [Fraction(1)]
        for _ in range(len(self.columns) - 1):
            power = powers[-1] * self.correlation
            size = -(-abs(power) * PARTS // 1)
            powers.append(Fraction(size if power > 0 else -size, PARTS))
        return powers

    def drift(self, column: int) -> Vector:
        return tuple(self._powers[abs(place - column)] for place in range(len(self.columns)))

    def deviation(self, row: Sequence[Fraction]) -> float:
        weights = np.array(row, dtype=np.float64)
        distances = np.abs(np.arange(1 - len(row), len(row)))
        variance = np.correlate(weights, weights, "full") @ float(self.correlation) ** distances
        return float(self.standard_deviation) * math.sqrt(max(float(variance), 0.0))

    def assumptions(self) -> tuple[Assumption, ...]:
        return (
            world(
                f"The {len(self.columns)} values are one draw of a stationary autoregressive series: each is normal "
                f"with mean {to_text(self.mean[0])} and standard deviation {to_text(self.standard_deviation)}, and "
                f"the correlation of two of them is {to_text(self.correlation)} to the power of their distance."
            ),
            *self._readings(),
        )

    def to_dict(self) -> Json:
        data: Json = {
            "kind": "autoregressive-normal", "correlation": to_text(self.correlation),
            "standard_deviation": to_text(self.standard_deviation), "length": len(self.columns),
            "mean": to_text(self.mean[0]), "source": self.source,
        }  # fmt: skip
        if self.ranges[0] is not None:
            data["value_range"] = list(map(to_text, self.ranges[0]))
        if self.resolution is not None:
            data["resolution"] = to_text(self.resolution)
        return data

    @staticmethod
    def from_dict(data: Plain) -> AutoregressiveNormal:
        return AutoregressiveNormal(
            data["correlation"], data["standard_deviation"], data["length"], data["mean"], data.get("value_range"),
            data.get("resolution"), data.get("source", "assumed"),
        )  # fmt: skip

    def __repr__(self) -> str:
        return f"<AutoregressiveNormal: {len(self.columns):,} steps, correlation {to_text(self.correlation)}>"

    def describe(self) -> str:
        return (
            f"a stationary autoregressive series of {len(self.columns)} normal values with correlation "
            f"{to_text(self.correlation)} ({self.source})"
        )


def _toeplitz(correlation: Fraction, deviation: Fraction, length: int) -> Matrix:
    """Return deviation^2 * correlation^|i - j|, exactly."""
    powers = [deviation**2]
    for _ in range(length - 1):
        powers.append(powers[-1] * correlation)
    mirrored = (*powers[:0:-1], *powers)
    return tuple(mirrored[length - 1 - row : 2 * length - 1 - row] for row in range(length))
