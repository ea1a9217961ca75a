"""A calendar and its windows, whatever kind of data they are about: keys, steps of each table, and faults."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from datetime import date, timedelta
from decimal import ROUND_CEILING, Context, Decimal
from typing import TYPE_CHECKING, Annotated, Any, Literal

from pydantic import StrictInt

from takifugu.core.errors import InputError, TakifuguError
from takifugu.core.sections import written
from takifugu.data import Calendar, Zone, parse_step
from takifugu.data.relation.keys import Source
from takifugu.data.times.moments import period_number
from takifugu.data.times.zones import EPOCH, HOUR
from takifugu.model.secrets.of_entries import longest_run
from takifugu.releasing.certificates.facts import Window
from takifugu.releasing.file.keys import Moment, Text, checked, meaning
from takifugu.releasing.file.kind import ReleaseFile
from takifugu.releasing.file.problems import blamed, blamed_keys, fault
from takifugu.releasing.file.relation_keys import RelationKeys, key
from takifugu.releasing.file.sections import Table, numbered

if TYPE_CHECKING:
    from takifugu.analysis.calibrated import Calibrated

#: The keys of a table that choose its window, with the names of their values.
WINDOW_KEYS = {"from": "from_", "to": "to", "window": "window", "every": "every"}
#: A window has no more steps.
LONGEST_WINDOW = 2**24
_LONGEST_NAME = 64


class CalendarKeys(RelationKeys):
    """The keys of [source] about when rows are, and about a calendar."""

    order: Annotated[Text | None, key("order")] = None
    step: Annotated[StrictInt | Text | None, key("step")] = None
    from_: Annotated[Moment | None, key("from", alias="from")] = None
    until: Annotated[Moment | None, key("until")] = None
    timezone: Annotated[Text | None, key("timezone"), checked(Zone)] = None

    @property
    def has_times(self) -> bool:
        return isinstance(self.step, str)

    @property
    def length(self) -> int | timedelta | None:
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
    """A [[table]] that may read a window of a calendar."""

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


def has_key(item: object, key: str) -> bool:
    """Return whether a table has a key."""
    return bool(written(item, (WINDOW_KEYS.get(key, key),)))


def window_of(item: Windowed, calendar: Calendar) -> range:
    """Return the steps of a table; InputError beyond the calendar."""
    if item.window is not None:
        window = calendar.period(item.window)
    elif item.from_ is not None or item.to is not None:
        for key, value in (("from", item.from_), ("to", item.to)):
            if value is None:
                raise InputError("is missing", fix="write both from and to").at(key)
        window = calendar.window(item.from_, item.to)
    elif calendar.size is None:
        raise InputError(
            "is missing, and the calendar has no end",
            fix='write window = "2026-W07", from and to, or every = "week"',
        ).at("window")
    else:
        window = range(calendar.size)
    if len(window) > LONGEST_WINDOW:
        raise InputError(f"is a window of more than {LONGEST_WINDOW:,} steps", fix="write a shorter one").at("window")
    return window


def of_window(items: Sequence[Table | None], window: str) -> tuple[Table | None, ...]:
    """Return a file's tables with this window in the place of every `every` of its length."""
    regular = [item.every for item in items if isinstance(item, Windowed) and item.every is not None]
    if not regular:
        raise InputError("no table is published regularly", fix='write every = "week" under [[table]]').at("window")
    length, _ = period_number(window) or (None, 0)
    chosen_tables = list[Table | None]()
    for item in items:
        if isinstance(item, Windowed) and item.every is not None:
            # others that are regular are left out if some have this length
            item = _read_only(item, window) if item.every == length or length not in regular else None
        chosen_tables.append(item)
    return tuple(chosen_tables)


def of_first_window(source: Any, items: Sequence[Table | None]) -> tuple[Table | None, ...]:
    """Return a file's tables with one window in the place of every `every` of a calendar without an end."""
    if not isinstance(source, CalendarKeys) or source.from_ is None or source.until is not None:
        return tuple(items)
    single_tables = list[Table | None]()
    for item in items:
        if isinstance(item, Windowed) and item.every is not None and item.window is None:
            with suppress(TakifuguError):  # a start that is none is told with the source
                calendar = source.calendar
                first = "" if calendar is None else calendar.first_period(item.every)
                item = _read_only(item, first) if first else item
        single_tables.append(item)
    return tuple(single_tables)


def without_end(file: ReleaseFile) -> str:
    """Return why a file is released one window at a time, "" where it is not: a series has no end."""
    return file.source.calendar.endless(file.endless).message if file.endless else ""


def _read_only(item: Windowed, window: str) -> Windowed:
    return item.model_copy(update={"window": window, "name": f"{item.name}-{window}"})


def expanded(spec: Any) -> tuple[Windowed, ...]:
    """Return a file's tables to publish, `every` split into periods."""
    calendar, single_items = spec.source.calendar, list[Windowed]()
    for item in spec.table:
        if calendar is None or item.every is None or item.window is not None:
            single_items.append(item)
            continue
        for text, _ in calendar.periods(item.every):
            single_items.append(item.model_copy(update={"name": f"{item.name}-{text}", "window": text, "every": None}))
    return tuple(single_items)


def windowed(file: ReleaseFile, item: Windowed, calendar: Calendar, places: range) -> ReleaseFile:
    """Return the file for a table that reads these steps."""
    still_open = ""
    is_window = item.window is not None or item.to is not None
    if is_window and not calendar.is_over(places):
        still_open = calendar.written(places)
    return replace(file, places=places, at=calendar.at(places.start), still_open=still_open)


def night_set_back(calendar: Calendar, window: range) -> date | None:
    """Return the first night of a window in which clocks of some zone are set back, where no zone is declared."""
    if not calendar.is_time or calendar.zone is not None:
        return None
    # until 3 o'clock
    ends = (calendar.moment_of(window.start) - 3 * HOUR, calendar.moment_of(window.stop) - 1)
    first, last = (EPOCH + timedelta(microseconds=int(end)) for end in ends)
    # the last Sunday of October, or the first one of November or, in the south, of April
    days = [date(year, *day) for year in range(first.year, last.year + 1) for day in ((4, 7), (10, 31), (11, 7))]
    sundays = [day - timedelta(days=day.isoweekday() % 7) for day in days]
    return next((day for day in sundays if first.date() < day <= last.date()), None)


def facts_of(file: ReleaseFile, item: Windowed, calibration: Calibrated) -> tuple[Window, ...]:
    """Return a certificate's facts about the window that a table reads, none without a calendar."""
    from takifugu.accounting.composition.charges import moved_by

    calendar, window = file.source.calendar, file.places
    if calendar is None or window is None:
        return ()
    (scale, whole, single), costs = moved_by(calibration), {}
    # a day is the secret where steps are days, and a week of one day is that day
    longest = longest_run(secret.to_dict() for secret in calibration.framework.secrets)
    for what, seconds in (("one day", 86_400), ("one week", 604_800)):
        steps = calendar.most_steps_in(seconds, window)
        if steps > longest and scale and whole is not None and single is not None:
            longest = steps
            cost = min(steps * single, whole) / scale
            rounded_up = Context(prec=3, rounding=ROUND_CEILING)
            digits = rounded_up.divide(Decimal(cost.numerator), Decimal(cost.denominator))
            costs[what] = format(digits.normalize(), "f")
    period = item.window or ""
    series = item.name.removesuffix(f"-{period}")
    if not period or series == item.name:
        series = period = ""
    zone = None if calendar.zone is None else calendar.zone.name
    return (Window(calendar.written(window), str(calendar.length), zone, costs, series, period),)


def source_faults(keys: Mapping[str, Any]) -> Iterator[TakifuguError]:
    """Yield the faults of keys of [source] that do not fit together, whether there are data or not."""
    try:
        Source.of(keys)
    except TakifuguError as error:
        yield from blamed_keys(error, "source")


def calendar_faults(
    source: Any,
    items: Sequence[Any],
    keys: Iterable[str] = tuple(WINDOW_KEYS),
    needs: Callable[[Any, str], bool] = has_key,
    further: Callable[[Any, int, Calendar], Iterable[TakifuguError]] = lambda *_: (),
) -> Iterator[TakifuguError]:
    """Yield the faults of a calendar's windows; those of the calendar itself are told with its source."""
    # tables with one of `keys` need it; `further` yields what else is wrong with a table of a good window
    has_start, calendar = source.from_ is not None, None
    with suppress(TakifuguError):
        calendar = source.calendar
    for number, item in numbered(items):
        if calendar is not None:
            yield from [*_window_faults(item, number, calendar)] or further(item, number, calendar)
        needed_keys = [needed for needed in keys if not has_start and needs(item, needed)]
        for needed in needed_keys[:1]:
            yield fault(("table", number, needed), "needs a declared calendar", _calendar_line(source))


def _calendar_line(source: Any) -> str:
    """Return the keys that make a calendar of a source without a start."""
    lines = [] if source.order else ["order, the column of times"]
    lines.append('from = "2026-01-05"')
    if not isinstance(source.step, str):
        lines.append('step = "1h"')
    return f"write {' and '.join(lines)} under [source]"


def _window_faults(item: Windowed, number: int, calendar: Calendar) -> Iterator[TakifuguError]:
    """Yield the faults of one table's window, or windows."""
    where = ("table", number)
    ways = [*dict.fromkeys({"to": "from"}.get(key, key) for key in WINDOW_KEYS if has_key(item, key))]
    if len(ways) > 1 and ways != ["window", "every"]:
        yield fault((*where, ways[1]), f"is given beside {ways[0]}", "write only one of them")
        return
    name = item.name
    try:
        if item.window is None and item.every is not None:
            names = [f"{item.name}-{text}" for text, _ in calendar.periods(item.every)]
            name = max(names, key=len, default="")
            if not names:
                what = f"names no window: the calendar holds no whole {item.every}"
                yield fault((*where, "every"), what, "move from or until")
        else:
            places = window_of(item, calendar)
            if item.every is not None:
                first, last = calendar.moment_of(places.start), calendar.moment_of(places.stop)
                runs = [run for _, run in replace(calendar, start=first, stop=last).periods(item.every)]
                if range(len(places)) not in runs:
                    what = f"{item.window!r} is no {item.every}"
                    yield fault((*where, "window"), what, f"write a {item.every} of the calendar")
        if item.every is not None and len(name) > _LONGEST_NAME:
            yield fault((*where, "name"), "is too long for the name of a window behind it", "write a shorter one")
    except TakifuguError as error:
        yield blamed(error, *where, *error.where[:1])
