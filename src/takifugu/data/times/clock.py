"""How an order column is written, and how exact it is; and the moments of times of single rows."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, timedelta
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING, TypeVar

from takifugu.core.errors import DataError, InputError, TakifuguError
from takifugu.data.times.moments import Moment, iso_time, moment
from takifugu.data.times.time_format import EPOCHS, TimeFormat
from takifugu.data.times.zones import EPOCH, MICROSECOND, Zone
from takifugu.numbers.rationals import as_fraction

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


@dataclass(frozen=True)
class RowTimes:
    """How the times of a column are written: `form` as in TimeFormat or EPOCHS, `zone` for times that tell none.

    Of a time that clocks show twice `ambiguous` is the pass that is meant, "first" or "last", or "refuse".

    >>> RowTimes("when", form="%d/%m/%Y %H:%M", zone=Zone("Europe/Berlin")).moment("05/01/2026 01:00") // 1_000_000
    1767571200
    """

    column: str
    is_time: bool = True
    form: str | None = None
    zone: Zone | None = None
    ambiguous: str = "refuse"

    @cached_property
    def _format(self) -> TimeFormat | None:
        return None if self.form is None or self.form in EPOCHS else TimeFormat(self.form)

    def moment(self, text: str) -> Moment:
        """Return the moment of a row, or its number.

        Raises DataError, quoting nothing, for what is none.
        """
        if not self.is_time or self.form in EPOCHS:
            try:
                return as_fraction(text, "a time") * EPOCHS.get(self.form or "", 1)
            except TakifuguError:
                raise self._unfit("is no time", "write numbers") from None
        if self._format is not None:
            when = self._format.read(text)
            if when is None:
                fix = "declare how they are written, or leave order_format out"
                raise self._unfit("is no time in the declared format", fix)
        else:
            try:
                when = iso_time(text)
            except ValueError:
                fix = "write times as ISO 8601, such as 2026-01-05T09:30, or declare order_format"
                raise self._unfit("is no time", fix) from None
        if when.tzinfo is not None or self.zone is None:
            return moment(when, self.is_time, "order")
        instants = self.zone.moments((when.replace(tzinfo=UTC) - EPOCH) // MICROSECOND)
        if not instants:
            raise self._unfit(f"is a time that clocks in {self.zone.name!r} skipped", "repair it, or check timezone")
        if len(instants) > 1 and self.ambiguous == "refuse":
            fix = 'write such times with their offset from UTC, or ambiguous = "first" or "last"'
            raise self._unfit(f"is a time that clocks in {self.zone.name!r} showed twice", fix)
        if self.ambiguous == "last":
            return Fraction(instants[-1])
        return Fraction(instants[0])

    def _unfit(self, fault: str, fix: str) -> DataError:
        return DataError(f"column {self.column!r} has a value that {fault}", fix=fix).at("order")
