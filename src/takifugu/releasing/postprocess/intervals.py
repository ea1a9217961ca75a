"""Where a true value lies over the noise alone: its interval, at which level, and how large it is in words."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction

from takifugu.core.column_words import NOUNS
from takifugu.core.escaping import at_least, at_most, plus_minus
from takifugu.core.people import People

Readable = int | float

#: The level of every error bar: all values of a table at once, over the noise alone.
LEVEL = 0.95
#: What an interval covers, wherever one is shown.
NOISE_ONLY = "noise only, not sampling error"
#: One of each unit, by the word for several.
_ONE = {People(one).many: one for one in (*NOUNS, "row", "step", "second", "minute", "hour", "day", "week")}


@dataclass(frozen=True)
class Interval:
    """Where a true value lies with probability `level` over the noise alone; it unpacks to low and high."""

    low: Readable
    high: Readable
    #: Of all `cells` values at once that were published together; this is not sampling error.
    level: float
    cells: int = 1
    label: str = NOISE_ONLY

    def __iter__(self) -> Iterator[Readable]:
        return iter((self.low, self.high))

    def __contains__(self, value: object) -> bool:
        return isinstance(value, int | float | Fraction) and self.low <= value <= self.high

    def __str__(self) -> str:
        level = f"{at_least(100 * Fraction(str(self.level)))} % over the noise"
        if self.cells > 1:
            level += f", all {self.cells} cells at once"
        return f"{at_least(self.low)} to {at_most(self.high)} ({level}; {self.label})"


def is_off_zero(low: float, high: float, can_be_negative: bool = False) -> bool:
    """Return whether an interval tells its value from 0."""
    return low >= 0 or (can_be_negative and high <= 0)


def measured(size: float, unit: str) -> str:
    """Write a size, rounded up, with its unit, if any: "137 rows", "1 person"."""
    text, (first, sign, rest) = plus_minus(size), unit.partition(" ")
    if text == "1":
        unit = f"{_ONE.get(first, first)}{sign}{rest}"
    return f"{text} {unit}".rstrip()
