"""Times of single rows: ISO 8601, a declared format, or numbers since 1970; by clocks in a zone where none is told."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC
from fractions import Fraction
from functools import cached_property

from takifugu.core.errors import DataError, TakifuguError
from takifugu.data.times.moments import Moment, iso_time, moment
from takifugu.data.times.time_format import EPOCHS, TimeFormat
from takifugu.data.times.zones import EPOCH, MICROSECOND, Zone
from takifugu.numbers.rationals import as_fraction


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
