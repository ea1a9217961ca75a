"""What a number is bounded by, and the integer that it becomes."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from takifugu.core.errors import InputError
from takifugu.numbers.rationals import Number, as_fraction

#: A bounded value stays below this many steps of its grid, so that float64 holds it and its half steps exactly.
MOST_UNITS = 2**50


@dataclass(frozen=True)
class Bounded:
    """A column of numbers in [low, high], as whole multiples of `grid`; `missing` stands for null, NaN and inf."""

    # A value is replaced, then clipped, then rounded to the nearest multiple (half to even). Where `missing` is None
    # these values are refused instead.
    column: str
    low: Fraction
    high: Fraction
    grid: Fraction
    missing: Fraction | None

    def __init__(
        self, column: str, low: Number, high: Number, grid: Number, missing: Number | None
    ) -> None:
        object.__setattr__(self, "column", column)
        object.__setattr__(self, "missing", None)
        for name, value in (("low", low), ("high", high), ("grid", grid), ("missing", missing)):
            if value is not None:
                object.__setattr__(self, name, as_fraction(value, f"{name} of column {column!r}"))
        if self.low > self.high:
            raise InputError(
                f"column {column!r} is bounded by {low} and {high}",
                rule="the lower bound must be at most the upper one",
                fix=f"write [{high}, {low}]",
            ).at("low")
        if self.missing is not None and not self.low <= self.missing <= self.high:
            raise InputError(
                f"column {column!r} is bounded by {low} and {high} and its missing values count as {missing}",
                rule="what they count as must lie between the bounds",
            ).at("missing")
        if self.grid <= 0:
            raise InputError(
                f"the grid of column {column!r} is {grid}", rule="it must be above 0, for example 0.01"
            ).at("grid")
        if max(self.grid.numerator, self.grid.denominator) > MOST_UNITS:
            raise InputError(
                f"the grid of column {column!r} is {grid}",
                rule="neither its numerator nor its denominator may be above 2**50",
                fix="write for example 0.01",
            ).at("grid")
        if max(abs(self.low), abs(self.high)) / self.grid > MOST_UNITS:
            raise InputError(
                f"the bounds of column {column!r} are more than 2**50 steps of its grid", fix="coarsen the grid"
            ).at("grid")

    @property
    def range(self) -> tuple[int, int]:
        """Return the smallest and the largest integer of a row."""
        ends = (float(end) * float(self.grid.denominator) / float(self.grid.numerator) for end in (self.low, self.high))
        low, high = map(round, ends)
        return low, high

    @property
    def middle(self) -> float:
        """Return the number half way between the bounds."""
        return float((self.low + self.high) / 2)

    @property
    def replacement(self) -> float:
        """Return the number in place of a missing one."""
        if self.missing is None:
            return float(self.low)
        return float(self.missing)
