"""Windows of a declared calendar: which steps each table of a release file reads, and what such a file must say."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from decimal import ROUND_CEILING, ROUND_FLOOR, Context, Decimal
from fractions import Fraction
from typing import TYPE_CHECKING

from takifugu.core.errors import InputError, TakifuguError
from takifugu.core.sections import values_of, written
from takifugu.data import Calendar, Slots, axes_of
from takifugu.data.times.cells import AXES
from takifugu.releasing.certificates.facts import Window
from takifugu.releasing.file.problems import blamed, fault
from takifugu.releasing.file.sequences.by import is_too_large
from takifugu.releasing.file.sequences.sections import EntrySpec, Hide, ItemSpec, SequenceBelief, SourceSpec, named

if TYPE_CHECKING:
    from takifugu.accounting.composition.charges import Calibrated

#: A window has no more steps.
LONGEST_WINDOW = 2**24
_LONGEST_NAME = 64


def window_of(item: ItemSpec, calendar: Calendar) -> range:
    """Return the steps that a table reads: its window, or the whole calendar.

    Raises InputError, which names the key, for a window that the calendar does not hold.
    """
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


def expanded(items: Sequence[ItemSpec], calendar: Calendar) -> tuple[ItemSpec, ...]:
    """Return the tables to publish, with one for each whole window of the calendar in place of `every`."""
    single_items: list[ItemSpec] = []
    for item in items:
        if item.every is None or item.window is not None:
            single_items.append(item)
            continue
        for text, _ in calendar.periods(item.every):
            single_items.append(item.model_copy(update={"name": f"{item.name}-{text}", "window": text, "every": None}))
    return tuple(single_items)


def still_open(item: ItemSpec, calendar: Calendar, places: range) -> str:
    """Return the window of a table where it has not ended, so that its rows cannot all be there; "" where it has."""
    is_window = item.window is not None or item.to is not None
    return calendar.written(places) if is_window and not calendar.is_over(places) else ""


def facts_of(calendar: Calendar, window: range, calibration: Calibrated, item: ItemSpec) -> Window:
    """Return what a certificate says of a window: which it is, of which table, and what it does not hide."""
    from takifugu.accounting.composition.charges import moved_by

    (scale, whole, single), costs = moved_by(calibration), {}
    for what, seconds in (("one day", 86_400), ("one week", 604_800)):
        steps = min(calendar.steps_in(seconds), len(window))
        if steps and scale and whole is not None and single is not None:
            cost = min(steps * single, whole) / scale
            costs[what] = short(cost, up=True)
    zone = None if calendar.zone is None else calendar.zone.name
    name, period = str(item.name), item.window or ""
    series = name.removesuffix(f"-{period}") if period and name.endswith(f"-{period}") else ""
    return Window(calendar.written(window), str(calendar.length), zone, costs, series, period if series else "")


def short(cost: Fraction, up: bool) -> str:
    """Write a number to three digits, rounded up or down."""
    context = Context(prec=3, rounding=ROUND_CEILING if up else ROUND_FLOOR)
    return format(context.divide(Decimal(cost.numerator), Decimal(cost.denominator)).normalize(), "f")


def faults_of(
    source: SourceSpec, belief: SequenceBelief | None, hide: Hide | None, items: Sequence[ItemSpec | None]
) -> Iterator[TakifuguError]:
    """Yield what is wrong with a calendar, with the windows of it, and with what does not go with windows."""
    if source.from_ is None:
        if source.until is not None:
            yield fault(("source", "until"), "is given without from", "write where the calendar starts, too")
        for number, item in enumerate(items):
            keys = [key for key in ("from", "to", "window", "every", "by") if item is not None and _needs(item, key)]
            for key in keys[:1]:
                fix = 'write from = "2026-01-05" under [source], where the recording starts, and its step'
                yield fault(("release", number, key), "needs a declared calendar", fix)
        return
    if source.step is None:
        yield fault(("source", "step"), "is missing", 'a calendar counts steps, write for example step = "1h"')
        return
    yield from _at_odds(source, belief, hide)
    try:
        calendar = source.calendar
    except TakifuguError as error:
        if error.where[:1] != ("step",):  # which is told with the source
            yield blamed(error, "source", *error.where[:1])
        return
    for number, item in enumerate(items):
        if item is not None and calendar is not None:
            faults = list(_window_faults(item, number, calendar, source))
            yield from faults
            states = 0 if belief is None or faults else len(belief.states)
            yield from _cell_faults(item, number, calendar, states)


def _at_odds(source: SourceSpec, belief: SequenceBelief | None, hide: Hide | None) -> Iterator[TakifuguError]:
    if source.piece is not None:
        fix = "leave source.piece out"
        yield fault(("source", "piece"), "is given beside a calendar, in which each person has one recording", fix)
    limits = {} if belief is None else values_of(belief, ("min_length", "max_length"))
    for key, limit in limits.items():
        if limit not in (1, None):
            what = "is given beside a calendar, in which windows are as long as declared"
            yield fault(("belief", key), what, "leave it out")
    if any(isinstance(one, tuple) for one in values_of(belief, written(belief, ("initial",))).values()):
        what = "is that of one step, and a window starts at another"
        yield fault(("belief", "initial"), what, 'write "stationary", or "any" to hide the data from every belief')
    if isinstance(hide, EntrySpec):
        what = "'one-entry' numbers the entries of one sequence, and each window starts at another step"
        yield fault(("hide", "kind"), what, 'write kind = "every-entry"')


def _window_faults(item: ItemSpec, number: int, calendar: Calendar, source: SourceSpec) -> Iterator[TakifuguError]:
    where = ("release", number)
    ways = [key for key in ("from", "window", "every") if _given(item, key) or (key == "from" and item.to is not None)]
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
            if item.every is not None and places not in (p for _, p in _one_of(calendar, item, places)):
                what = f"{item.window!r} is no {item.every}"
                yield fault((*where, "window"), what, f"write a {item.every} of the calendar")
    except TakifuguError as error:
        yield blamed(error, *where, *error.where[:1])
    if source.gaps == "hidden" and item.query in ("mean", "linear"):
        yield fault(
            (*where, "query"), f"a {item.query} of a window depends on which of its steps were observed",
            'write gaps = "public" under [source] if everybody may know that, or publish a sum',
        )  # fmt: skip


def _cell_faults(item: ItemSpec, number: int, calendar: Calendar, states: int) -> Iterator[TakifuguError]:
    """Yield what is wrong with a table by parts of the calendar; with `states` also whether its window has too many."""
    where = ("release", number, "by")
    if not set(named(item)) & set(AXES):
        return
    if item.query == "linear":
        fix = "write a sum with codes, or leave by out"
        yield fault(where, "does not belong to a linear query, whose weights choose the entries", fix)
    if not set(named(item)) <= set(AXES):
        return  # which is told with the attributes
    try:
        axes = axes_of(named(item), calendar)
    except TakifuguError as error:
        yield blamed(error, *where)
        return
    if states:
        regular = item.every is not None and item.window is None
        window = next(run for _, run in calendar.periods(str(item.every))) if regular else window_of(item, calendar)
        if is_too_large(item, slots := Slots(calendar, window, axes), states):
            what = f"makes {len(slots.cells[0]):,} cells, too many for one table"
            yield fault(where, what, "write a shorter window, or a longer part of the calendar")


def _one_of(calendar: Calendar, item: ItemSpec, places: range) -> Iterator[tuple[str, range]]:
    first, last = calendar.moment_of(places.start), calendar.moment_of(places.stop)
    within = replace(calendar, start=first, stop=last)
    for text, run in within.periods(str(item.every)):
        yield text, range(run.start + places.start, run.stop + places.start)


def _needs(item: ItemSpec, key: str) -> bool:
    """Whether a table has a key that says something about a calendar."""
    return bool(set(named(item)) & set(AXES)) if key == "by" else _given(item, key)


def _given(item: ItemSpec, key: str) -> bool:
    return bool(written(item, ({"from": "from_"}.get(key, key),)))
