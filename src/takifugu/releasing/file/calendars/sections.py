"""The keys of a calendar and of its windows, whatever kind of data they are about."""

from __future__ import annotations

from datetime import timedelta
from fractions import Fraction
from typing import TYPE_CHECKING, Annotated, Literal

from takifugu.data import Calendar, Zone, check_order_format, parse_step
from takifugu.releasing.file.keys import Moment, Number, Text, checked, meaning
from takifugu.releasing.file.sections import SourceKeys
from takifugu.releasing.file.tables import Table


class CalendarKeys(SourceKeys):
    """The keys of [source] about a calendar, and about how times are written."""

    from_: Annotated[
        Moment | None,
        meaning("where the calendar starts, by clocks in timezone, or in UTC", "2026-01-05", alias="from"),
    ] = None
    until: Annotated[
        Moment | None, meaning("where the calendar ends; it may be left out, and moved later", "2027-01-04")
    ] = None
    order_format: Annotated[
        Text | None,
        meaning(
            'how the times of order are written, if not as ISO 8601; "epoch" are seconds since 1970, and '
            '"epoch_ms" thousandths of one',
            "%d/%m/%Y %H:%M",
        ),
        checked(check_order_format),
    ] = None
    timezone: Annotated[
        Text | None,
        meaning("the zone of times that tell none; steps are counted in UTC", "Europe/Berlin"),
        checked(Zone),
    ] = None

    if TYPE_CHECKING:  # which each kind of file declares in its own words

        @property
        def step(self) -> Number | None: ...

    @property
    def length(self) -> Fraction | timedelta | None:
        """Return the declared length of a step, if any."""
        return None if self.step is None else parse_step(self.step)

    @property
    def calendar(self) -> Calendar | None:
        """Return the declared calendar, if any; InputError with its key."""
        if self.from_ is None or self.length is None:
            return None
        zone = None if self.timezone is None else Zone(self.timezone)
        return Calendar.read(self.from_, self.until, self.length, zone)


class Windowed(Table):
    """A [[release]] that may read a window of a calendar."""

    from_: Annotated[Moment | None, meaning("where the window starts", "2026-02-09", alias="from")] = None
    to: Annotated[Moment | None, meaning("where the window ends; this step is not read", "2026-02-16")] = None
    window: Annotated[Text | None, meaning("the window: an hour, a day, a week, a month or a year", "2026-W07")] = None
    every: Annotated[
        Literal["hour", "day", "week", "month", "year"] | None,
        meaning("a table for each whole hour, day, week, month or year of the calendar"),
    ] = None

    @property
    def period(self) -> str | None:
        return self.window
