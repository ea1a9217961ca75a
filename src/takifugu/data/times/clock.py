"""How an order column is written, and how exact it is: its format, its time zone, and what it is rounded to."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta
from fractions import Fraction
from typing import TYPE_CHECKING, TypeVar

from takifugu.core.errors import InputError
from takifugu.data.times.time_format import TimeFormat
from takifugu.data.times.zones import Zone

if TYPE_CHECKING:
    import narwhals.stable.v2 as nw

Tick = TypeVar("Tick", int, "nw.Expr")


@dataclass(frozen=True)
class Clock:
    """A format of texts (else numbers, or ISO 8601), the zone of times without one, and the part of a step rounded to.

    `parts` is how many times what the order is rounded to fits into a step; 0 where nothing is rounded. Numbers that
    are times are so many microseconds each since 1970 (`epoch`; 0 for others).
    """

    form: TimeFormat | None = None
    zone: Zone | None = None
    parts: int = 0
    epoch: int = 0

    def rounding(self, step: int) -> Rounding:
        """Return the rounding of ticks, `step` of them a step."""
        finer = 1 if step % self.parts == 0 else self.parts
        return Rounding(finer, finer * step // self.parts, finer * step)


@dataclass(frozen=True)
class Rounding:
    """Ticks are made `finer`, so that a `part` of a step is a whole number of them; of these, `step` make a step.

    >>> [Rounding(1, 60, 60).of(tick) for tick in (29, 30, -31, -30)]
    [0, 60, -60, 0]
    """

    finer: int
    part: int
    step: int

    @property
    def largest(self) -> int:
        """Return the size of the first tick too large for 64 bits."""
        return 2**61 // self.finer

    def of(self, tick: Tick) -> Tick:
        """Return ticks at the nearest whole part, halves up.

        Engines take remainders of negative numbers differently, so ticks are moved above 0 first, by whole parts.
        """
        moved = (2**61 // self.part + 1) * self.part
        high = tick * self.finer + (moved + self.part // 2)
        return high - high % self.part - moved


def parts_of(step: Fraction | timedelta, round_to: Fraction | timedelta) -> int:
    """Return the number of rounded parts in a step; InputError unless whole."""
    if isinstance(step, timedelta) and isinstance(round_to, timedelta):
        parts = Fraction(step // timedelta(microseconds=1), round_to // timedelta(microseconds=1))
    elif isinstance(step, Fraction) and isinstance(round_to, Fraction):
        parts = step / round_to
    else:
        fault = "one of the step and what its clock is rounded to is a time, the other a number"
        raise InputError(fault, fix="write both alike").at("round_to")
    if parts.denominator != 1:
        raise InputError(
            "a step is not a whole number of what its clock is rounded to",
            fix="write the step itself, or a whole part of it",
        ).at("round_to")
    return parts.numerator
