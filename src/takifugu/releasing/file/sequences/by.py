"""Tables by hour, weekday, date, week or month: which entries of a window are in which cell, by the calendar."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import pairwise
from typing import Any

import numpy as np

from takifugu.data import Calendar, Slots, axes_of
from takifugu.data.times.cells import AXES
from takifugu.model import queries
from takifugu.model.queries import Query
from takifugu.model.queries.additive import IntArray
from takifugu.releasing.file.sequences.sections import ItemSpec, named
from takifugu.releasing.file.sharing import CHOICES


def counted_by(items: Iterable[ItemSpec]) -> tuple[str, ...]:
    """Return the axes of all tables, for one scan."""
    axes = {axis for item in items for axis in named(item)}
    return tuple(axis for axis in AXES if axis in axes)


def slots_of(item: ItemSpec, calendar: Calendar, window: range) -> Slots:
    """Return the cell of each step; InputError for an unfit calendar."""
    return Slots(calendar, window, axes_of(named(item), calendar))


def by_cells(query: Query, slots: Slots) -> queries.By:
    """Return the query by cell, in the calendar's order."""
    numbers, cell_of_step = slots.cells
    every = _period(cell_of_step, slots.calendar)
    order, ends = np.argsort(cell_of_step[:every], kind="stable"), np.cumsum(np.bincount(cell_of_step[:every])).tolist()
    steps = (order[first:end].tolist() for first, end in pairwise([0, *ends]))
    cells = [(slots.label(number), cell_steps) for number, cell_steps in zip(numbers.tolist(), steps, strict=True)]
    parts = [slots.called(number) for number in numbers.tolist()] if len(slots.axes) > 1 else []
    return queries.By(query, cells, " and ".join(slots.axes), every, axes=slots.axes if parts else (), parts=parts)


def is_too_large(item: Any, slots: Slots, states: int) -> bool:
    """Return whether a table has too many cells for memory."""
    from takifugu.model.queries.by import MOST_NUMBERS

    cells, width = len(slots.cells[0]), 1
    if item.query == "histogram":
        width = states if item.states is None else len(item.states)
    if item.query in CHOICES:
        width = states + 1
    if item.query == "count-above":
        width = len(item.thresholds)
    return cells * states * cells * width > MOST_NUMBERS


def words_of_cells(slots: Slots) -> str:
    """Return the certificate's words on the cells of a table."""
    cells = " and ".join(f"{axis}s" for axis in slots.axes)
    zone = slots.calendar.zone
    if zone is None:
        return f"the {cells} are in UTC"
    twice = "an hour that they skip has no step, and one that they show twice has the steps of both"
    return f"the {cells} are those of clocks in {zone.name}: {twice}"


def _period(which: IntArray, calendar: Calendar) -> int:
    """Return the number of steps until a window's cells repeat."""
    size = len(which)
    for seconds in (86_400, 604_800):
        every = calendar.steps_in(seconds)
        has_whole_periods = every > 0 and size % every == 0 and calendar.step * every == seconds * 10**6
        if has_whole_periods and (which.reshape(-1, every) == which[:every]).all():
            return every
    return size

