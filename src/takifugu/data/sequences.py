"""Sequences of any table: public lengths and gaps, and private counts, checked by the rules that were declared.

A message names the rule and the column. It never repeats a value, a place or a number of rows.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from itertools import chain
from typing import TYPE_CHECKING

import numpy as np

from takifugu.core.arrays import IntArray
from takifugu.core.errors import DataError
from takifugu.core.lists import places_of
from takifugu.core.names import natural
from takifugu.data.engines.table import Table
from takifugu.data.measure import Measured, counts_by_piece, measure
from takifugu.data.rows.layout import Layout, Lengths, Recode
from takifugu.data.rows.pieces import Key
from takifugu.data.values.pieces import Piece, runs_of
from takifugu.data.values.texts import UNOBSERVED

if TYPE_CHECKING:
    from takifugu.data.rows.by_bits import CountedByBits
    from takifugu.data.rows.picked import PickedRows
    from takifugu.data.rows.reader import Rows


def pieces(
    table: Table, layout: Layout, states: Recode, lengths: Lengths | None = None, entrywise: bool = False
) -> tuple[Piece, ...]:
    """Return every piece with its counts by state, length and gaps.

    Pieces are sorted by unit and piece. The rows stay in their engine; a few integers per piece come back. `entrywise`
    brings every entry's state, too, for data that fit into memory. Raises InputError for a missing column, and
    DataError for data against the layout: no rows, a missing key, order or state, an unknown state, ties or rows that
    go backwards, rows that miss the step, too long pieces, or only too short ones.

    >>> import tempfile, pathlib
    >>> from takifugu.data import Layout, Recode, open_frame, pieces
    >>> file = pathlib.Path(tempfile.mkdtemp()) / "activity.csv"
    >>> _ = file.write_text("person,minute,posture\\nAna,0,lying\\nAna,1,lying\\nAna,3,walking\\nBen,7,lying\\n")
    >>> layout = Layout("posture", unit="person", order="minute", step=1)
    >>> for piece in pieces(open_frame(file), layout, Recode(("lying", "walking"))):
    ...     print(piece.unit, piece.length, piece.observed, piece.counts.tolist())
    Ana 4 (range(0, 2), range(3, 4)) [2, 1]
    Ben 1 (range(0, 1),) [1, 0]
    """
    lengths = lengths or Lengths()
    with table.reading():
        plain = None  # the counts of one pass, where it can prove them
        if not entrywise:
            from takifugu.data.rows.by_bits import counted_by_bits

            with suppress(DataError):
                plain = counted_by_bits(table, layout, states)
        if plain is not None and layout.calendar is None and layout.null_keys == "refuse":
            with suppress(DataError):
                if (people := plain.people(lengths)) is not None:
                    return people
        rows, measured, before = _measured(plain, table, layout, states, lengths)
        result = _counted(rows, measured, before, layout, len(states.states), entrywise)
    if rows.runs is None or plain is None or not plain.is_sorted:  # what one pass has sorted comes in its order
        result.sort(key=lambda piece: (natural(piece.unit), natural(piece.piece)))
    return tuple(result)


def _measured(
    plain: CountedByBits | None, table: Table, layout: Layout, states: Recode, lengths: Lengths
) -> tuple[Rows, dict[Key, Measured], int | None]:
    """Return the result of `measure`, in one pass for plain rows or else with care."""
    if plain is not None:
        with suppress(DataError):
            return measure(plain.rows(), layout, states, lengths, table)
    return measure(_surveyed(table, layout, states), layout, states, lengths, table)


def _counted(
    rows: Rows, measured: Mapping[Key, Measured], before: int | None, layout: Layout, states: int, entrywise: bool
) -> list[Piece]:
    """Return the measured pieces with their counts and gaps."""
    cells: IntArray | None = None
    by_cell: dict[Key, IntArray] = {}
    values: dict[Key, IntArray] = {}
    if layout.slots is not None:
        numbers, cells = layout.slots.cells
        row_of = places_of(numbers.tolist())
        by_cell = {key: np.zeros((len(row_of), states), dtype=np.int64) for key in measured}
        for key, number, code, times in rows.cells(layout.slots):
            if key in by_cell and code >= 0:
                by_cell[key][row_of[number], code] += times
    if entrywise:
        values = _values(rows, measured, before, layout.window)
        observed, counts = dict[Key, tuple[range, ...]](), dict[Key, IntArray]()
        for key, entries in values.items():
            observed[key] = runs_of(entries != UNOBSERVED)
            counts[key] = np.bincount(entries[entries >= 0], minlength=states)
    else:
        observed = _observed(rows, measured, before, layout)
        counts = _counts(rows, measured, before, layout.window, by_cell)
    nothing, result = np.zeros(states, dtype=np.int64), list[Piece]()
    for key, piece in measured.items():
        length = piece.length if layout.window is None else len(layout.window)
        result.append(Piece(
            *piece.name, length, observed.get(key, ()), counts.get(key, nothing), key[0], values.get(key),
            cells, by_cell.get(key),
        ))  # fmt: skip
    return result


def _counts(
    rows: Rows, measured: Mapping[Key, Measured], before: int | None, window: range | None,
    by_cell: Mapping[Key, IntArray],
) -> dict[Key, IntArray]:  # fmt: skip
    """Return the counts by state of pieces with any."""
    if by_cell:
        return {key: cells.sum(axis=0) for key, cells in by_cell.items()}
    if window is None and before is None:
        return {key: piece.counts for key, piece in measured.items()}
    if window is None:
        window = range(before or 0)
    return counts_by_piece(rows.counts(window), len(next(iter(measured.values())).counts))


def _observed(
    rows: Rows, measured: Mapping[Key, Measured], before: int | None, layout: Layout
) -> dict[Key, tuple[range, ...]]:
    """Return the runs of observed entries of pieces with any."""
    window = layout.window
    if window is not None:
        if layout.gaps != "public":
            return dict.fromkeys(measured, (range(len(window)),))
        observed = dict[Key, tuple[range, ...]]()
        for key, runs in rows.observed(before).items():
            inside = list[range]()
            for run in runs:
                start, stop = max(run.start, window.start), min(run.stop, window.stop)
                if start < stop:
                    inside.append(range(start - window.start, stop - window.start))
            observed[key] = tuple(inside)
        return observed
    if any(piece.gaps for piece in measured.values()):
        return dict(rows.observed(before))
    return {key: (range(piece.length),) for key, piece in measured.items()}


def _values(
    rows: Rows, measured: Mapping[Key, Measured], before: int | None, window: range | None
) -> dict[Key, IntArray]:
    read, values = dict[Key, range](), dict[Key, IntArray]()
    for key, piece in measured.items():
        read[key] = range(piece.length)
        if window is not None:
            read[key] = window
        values[key] = np.full(len(read[key]), UNOBSERVED, dtype=np.int64)
    for key, place, code in rows.entries(before):
        if key in values and place in read[key]:
            values[key][place - read[key].start] = code
    return values


def transitions(table: Table, layout: Layout, states: Recode) -> IntArray:
    """Count the transitions between states as counts[x, y].

    State y is at the place after state x of a piece. Unobserved entries count in no pair. For fitting a belief to
    public sequences. Raises the errors of `pieces`.
    """
    counts: IntArray = transitions_by(table, layout, states, (0,))[0]
    return counts


def transitions_by(table: Table, layout: Layout, states: Recode, cells: Sequence[int]) -> IntArray:
    """Count the transitions by their starting cell, as counts[c, x, y].

    `cells` are those of one period of places, from the start of the layout's calendar. Raises the errors of `pieces`.
    """
    counts = np.zeros((max(cells) + 1, len(states.states), len(states.states)), dtype=np.int64)
    with table.reading():
        rows, _, _ = measure(_surveyed(table, layout, states), layout, states, Lengths(), table)
        for phase, before, after, times in rows.transitions(len(cells)):
            counts[cells[phase], before, after] += times
    return counts


def rows_that_count(table: Table, layout: Layout, states: Recode) -> tuple[int, int, int]:
    """Return the numbers of counted rows, one a step, of named rows, and of those of them without a state.

    All are for whoever owns the data. Raises the errors of `pieces` about places.
    """
    with table.reading():
        rows = _surveyed(table, layout, states)
        facts = [*chain.from_iterable(rows.grouped.values())]
        named_rows = sum(fact.rows for fact in facts)
        missing = sum(fact.rows for fact in facts if fact.code == UNOBSERVED)
        if layout.order is None:
            return named_rows, named_rows, missing
        return rows.arranged()[0].steps(), named_rows, missing


def _surveyed(table: Table, layout: Layout, states: Recode) -> Rows:
    from takifugu.data.rows.reader import surveyed

    return surveyed(rows_of(table, layout, states))


def rows_of(table: Table, layout: Layout, states: Recode) -> PickedRows:
    """Return the picked rows of a table, in any engine.

    Raises InputError for a missing column, DataError for columns of unfit kinds.
    """
    from takifugu.data.rows.joined_order import with_joined_order
    from takifugu.data.rows.picked import picked_rows

    table, layout = with_joined_order(table, layout)
    if not table.ordered and layout.order is None:
        raise DataError(f"{table.source} keeps no order of its rows", fix="declare the order column").at("order")
    return picked_rows(table, layout, states)
