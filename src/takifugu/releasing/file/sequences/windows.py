"""What a release file of sequences must say about its calendar, and what does not go with windows of it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from takifugu.core.errors import TakifuguError
from takifugu.core.sections import values_of, written
from takifugu.data import Calendar, Slots, axes_of
from takifugu.data.times.cells import AXES
from takifugu.releasing.file.calendars.windows import (
    KEYS,
    faults_of_window,
    faults_without_calendar,
    is_given,
    window_of,
)
from takifugu.releasing.file.keys import names_of
from takifugu.releasing.file.problems import blamed, fault
from takifugu.releasing.file.sequences.cells import is_too_large
from takifugu.releasing.file.sequences.sections import EntrySpec, Hide, ItemSpec, SequenceBelief, SourceSpec


def faults_of(
    source: SourceSpec, belief: SequenceBelief | None, hide: Hide | None, items: Sequence[ItemSpec | None]
) -> Iterator[TakifuguError]:
    """Yield the faults of a calendar, its windows, and unfit keys."""
    if source.from_ is None:
        if source.until is not None:
            yield fault(("source", "until"), "is given without from", "write where the calendar starts, too")
        fix = 'write from = "2026-01-05" under [source], where the recording starts, and its step'
        yield from faults_without_calendar(items, fix, (*KEYS, "by"), _needs)
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
            faults = [*faults_of_window(item, number, calendar), *_gap_faults(item, number, source)]
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
            problem = "is given beside a calendar, in which windows are as long as declared"
            yield fault(("belief", key), problem, "leave it out")
    if any(isinstance(value, tuple) for value in values_of(belief, written(belief, ("initial",))).values()):
        problem = "is that of one step, and a window starts at another"
        yield fault(("belief", "initial"), problem, 'write "stationary", or "any" to hide the data from every belief')
    if isinstance(hide, EntrySpec):
        problem = "'one-entry' numbers the entries of one sequence, and each window starts at another step"
        yield fault(("hide", "kind"), problem, 'write kind = "every-entry"')


def _gap_faults(item: ItemSpec, number: int, source: SourceSpec) -> Iterator[TakifuguError]:
    if source.gaps == "hidden" and item.query in ("mean", "linear"):
        yield fault(
            ("release", number, "query"), f"a {item.query} of a window depends on which of its steps were observed",
            'write gaps = "public" under [source] if everybody may know that, or publish a sum',
        )  # fmt: skip


def _cell_faults(item: ItemSpec, number: int, calendar: Calendar, states: int) -> Iterator[TakifuguError]:
    """Yield the faults of a table by parts of the calendar."""
    location = ("release", number, "by")
    if not set(names_of(item.by)) & set(AXES):
        return
    if item.query == "linear":
        fix = "write a sum with codes, or leave by out"
        yield fault(location, "does not belong to a linear query, whose weights choose the entries", fix)
    if not set(names_of(item.by)) <= set(AXES):
        return  # which is told with the attributes
    try:
        axes = axes_of(names_of(item.by), calendar)
    except TakifuguError as error:
        yield blamed(error, *location)
        return
    if states:
        regular = item.every is not None and item.window is None
        window = next(run for _, run in calendar.periods(str(item.every))) if regular else window_of(item, calendar)
        if is_too_large(item, slots := Slots(calendar, window, axes), states):
            problem = f"makes {len(slots.cells[0]):,} cells, too many for one table"
            yield fault(location, problem, "write a shorter window, or a longer part of the calendar")


def _needs(item: ItemSpec, key: str) -> bool:
    """Return whether a table has a key about a calendar."""
    return bool(set(names_of(item.by)) & set(AXES)) if key == "by" else is_given(item, key)


