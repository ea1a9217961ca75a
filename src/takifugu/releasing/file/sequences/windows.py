"""What a release file of sequences must say about its calendar, and what does not go with windows of it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial

from takifugu.core.errors import TakifuguError
from takifugu.core.sections import values_of, written
from takifugu.data import Calendar, Slots, axes_of
from takifugu.data.times.cells import AXES
from takifugu.releasing.file.calendars.windows import (
    KEYS,
    is_given,
    window_of,
)
from takifugu.releasing.file.calendars.windows import faults_of as calendar_faults
from takifugu.releasing.file.keys import names_of
from takifugu.releasing.file.problems import blamed, fault
from takifugu.releasing.file.sequences.cells import is_too_large
from takifugu.releasing.file.sequences.sections import EntrySpec, Hide, ItemSpec
from takifugu.releasing.file.sequences.source import SequenceBelief, SourceSpec


def faults_of(
    source: SourceSpec, belief: SequenceBelief | None, hide: Hide | None, items: Sequence[ItemSpec | None]
) -> Iterator[TakifuguError]:
    """Yield the faults of a calendar, its windows, and unfit keys."""
    if source.from_ is not None and source.step is not None:
        yield from _at_odds(source, belief, hide)
    states = 0 if belief is None else len(belief.states)
    further = partial(_further, source, states)

    def needs(item: ItemSpec, key: str) -> bool:
        return bool({*names_of(item.by)} & {*AXES}) if key == "by" else is_given(item, key)

    for error in calendar_faults(source, items, (*KEYS, "by"), needs, further):
        if error.where != ("source", "step") or source.step is None:  # else it is told with the source
            yield error


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


def _further(
    source: SourceSpec, states: int, item: ItemSpec, number: int, calendar: Calendar
) -> Iterator[TakifuguError]:
    """Yield what is wrong with a table of a good window."""
    if source.gaps == "hidden" and item.query in ("mean", "linear"):
        yield fault(
            ("release", number, "query"), f"a {item.query} of a window depends on which of its steps were observed",
            'write gaps = "public" under [source] if everybody may know that, or publish a sum',
        )  # fmt: skip
        return
    location = ("release", number, "by")
    if item.by is None or not set(names_of(item.by)) <= set(AXES):
        return  # what is no axis is told with the attributes
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


