"""Windows of a declared calendar: the steps that each table of a release file reads, and their faults."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from decimal import ROUND_CEILING, ROUND_FLOOR, Context, Decimal
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from takifugu.core.errors import InputError, TakifuguError
from takifugu.core.sections import written
from takifugu.data import Calendar
from takifugu.releasing.certificates.facts import Window
from takifugu.releasing.file.calendars.sections import CalendarKeys, Windowed
from takifugu.releasing.file.problems import blamed, fault

if TYPE_CHECKING:
    from takifugu.accounting.composition.charges import Calibrated


#: The keys of a table that choose its window.
KEYS = ("from", "to", "window", "every")
#: A window has no more steps.
LONGEST_WINDOW = 2**24
_LONGEST_NAME = 64
_CALENDAR = 'write order, the column of times, from = "2026-01-05" and step = "1h" under [source]'


def is_given(item: object, key: str) -> bool:
    """Return whether a table has a key."""
    return bool(written(item, ({"from": "from_"}.get(key, key),)))


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


def expanded(spec: Any) -> tuple[Windowed, ...]:
    """Return a file's tables to publish, `every` split into periods."""
    calendar, single_items = spec.source.calendar, list[Windowed]()
    for item in spec.release:
        if calendar is None or item.every is None or item.window is not None:
            single_items.append(item)
            continue
        for text, _ in calendar.periods(item.every):
            single_items.append(item.model_copy(update={"name": f"{item.name}-{text}", "window": text, "every": None}))
    return tuple(single_items)


def still_open(item: Windowed, calendar: Calendar, places: range) -> str:
    """Return the table's window as text while still open, else ""."""
    is_window = item.window is not None or item.to is not None
    return calendar.written(places) if is_window and not calendar.is_over(places) else ""


def facts_of(calendar: Calendar, window: range, calibration: Calibrated, item: Windowed) -> Window:
    """Return a certificate's facts about a window."""
    from takifugu.accounting.composition.charges import moved_by

    (scale, whole, single), costs = moved_by(calibration), {}
    for what, seconds in (("one day", 86_400), ("one week", 604_800)):
        steps = min(calendar.steps_in(seconds), len(window))
        if steps and scale and whole is not None and single is not None:
            cost = min(steps * single, whole) / scale
            costs[what] = short(cost, up=True)
    zone = None if calendar.zone is None else calendar.zone.name
    name, period = str(item.name), item.window or ""
    if not period or not name.endswith(f"-{period}"):
        return Window(calendar.written(window), str(calendar.length), zone, costs)
    series = name.removesuffix(f"-{period}")
    return Window(calendar.written(window), str(calendar.length), zone, costs, series, period if series else "")


def short(cost: Fraction, up: bool) -> str:
    """Write a number to three digits, rounded up or down."""
    rounding = ROUND_CEILING if up else ROUND_FLOOR
    context = Context(prec=3, rounding=rounding)
    return format(context.divide(Decimal(cost.numerator), Decimal(cost.denominator)).normalize(), "f")


def faults_of(
    source: CalendarKeys,
    items: Sequence[Any],
    keys: Sequence[str] = KEYS,
    needs: Callable[[Any, str], bool] = is_given,
    further: Callable[[Any, int, Calendar], Iterable[TakifuguError]] = lambda *_: (),
) -> Iterator[TakifuguError]:
    """Yield the faults of a calendar and of its windows.

    Tables with one of `keys` need it; `further` yields what else is wrong with a table of a good window.
    """
    if source.from_ is None:
        if source.until is not None:
            yield fault(("source", "until"), "is given without from", "write where the calendar starts, too")
        for number, item in enumerate(items):
            needed_keys = [] if item is None else [key for key in keys if needs(item, key)]
            for key in needed_keys[:1]:
                yield fault(("release", number, key), "needs a declared calendar", _CALENDAR)
        return
    if source.step is None:
        yield fault(("source", "step"), "is missing", 'a calendar counts steps, write for example step = "1h"')
        return
    try:
        calendar = source.calendar
    except TakifuguError as error:
        yield blamed(error, "source", *(error.where[:1] or ("step",)))
        return
    for number, item in enumerate(items):
        if item is not None and calendar is not None:
            faults = [*faults_of_window(item, number, calendar)]
            yield from faults or further(item, number, calendar)


def faults_of_window(item: Windowed, number: int, calendar: Calendar) -> Iterator[TakifuguError]:
    """Yield the faults of one table's window, or windows."""
    where = ("release", number)
    written_keys = {key for key in KEYS if is_given(item, key)}
    ways = ["from"] if written_keys & {"from", "to"} else []
    ways += [key for key in ("window", "every") if key in written_keys]
    if len(ways) > 1 and ways != ["window", "every"]:
        yield fault((*where, ways[1]), f"is given beside {ways[0]}", "write only one of them")
        return
    try:
        if item.window is None and item.every is not None:
            longest = max((len(text) for text, _ in calendar.periods(item.every)), default=0)
            if not longest:
                what = f"names no window: the calendar holds no whole {item.every}"
                yield fault((*where, "every"), what, "move from or until")
            elif len(item.name) + 1 + longest > _LONGEST_NAME:
                yield fault((*where, "name"), "is too long for the name of a window behind it", "write a shorter one")
        else:
            places = window_of(item, calendar)
            if item.every is None:
                return
            first, last = calendar.moment_of(places.start), calendar.moment_of(places.stop)
            periods = replace(calendar, start=first, stop=last).periods(item.every)
            if range(len(places)) not in [run for _, run in periods]:
                what = f"{item.window!r} is no {item.every}"
                yield fault((*where, "window"), what, f"write a {item.every} of the calendar")
    except TakifuguError as error:
        yield blamed(error, *where, *error.where[:1])
