"""Sequences of any table: public lengths and gaps, and private counts, checked by the rules that were declared.

A message names the rule and the column. It never repeats a value, a place or a number of rows.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from contextlib import AbstractContextManager, suppress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from takifugu.core.arrays import IntArray
from takifugu.core.errors import DataError
from takifugu.data.engines.table import Table
from takifugu.data.measure import Measured, counts_by_piece, measure
from takifugu.data.rows.joined_order import with_joined_order
from takifugu.data.rows.layout import Layout, Lengths, Recode, natural
from takifugu.data.rows.pieces import Key, runs_of
from takifugu.data.values.codes import UNOBSERVED

if TYPE_CHECKING:
    from takifugu.data.rows.by_bits import CountedByBits, People
    from takifugu.data.rows.picked import PickedRows
    from takifugu.data.rows.reader import Rows



@dataclass(eq=False, slots=True)  # there may be millions, and frozen ones take six times as long to make
class Piece:
    """One piece of one unit's sequence: what is public about it, and how many of its entries are in each state.

    `observed` are the runs of entries that have a state, counted from 0; the others have weight 0. `counts` has one
    integer per state and is private: it goes into the noise and nowhere else. So are `values`, where they were asked
    for: the number of each entry's state, -1 where it was not observed. `written` is the unit's name as the data spell
    it. Entries counted by cells have the (public) number of each one's `cell`, and private counts by cell and state.
    """

    unit: str | None
    piece: str | None
    length: int
    observed: tuple[range, ...]
    counts: IntArray = field(repr=False)
    written: str | None = field(default=None, repr=False)
    values: IntArray | None = field(default=None, repr=False)
    cell: IntArray | None = field(default=None, repr=False)
    by_cell: IntArray | None = field(default=None, repr=False)

    @property
    def complete(self) -> bool:
        """Return whether every entry was observed."""
        runs = self.observed
        entries = len(runs[0]) if len(runs) == 1 else sum(map(len, runs))
        return entries == self.length

    def weights(self) -> IntArray:
        """Return the weights of the piece's entries, 1 if observed, else 0."""
        weights = np.zeros(self.length, dtype=np.int64)
        for run in self.observed:
            weights[run.start : run.stop] = 1
        return weights


@dataclass(frozen=True, eq=False)
class Counted:
    """The pieces of a chain's sequences, their entries counted by state where the rows are; private."""

    pieces: tuple[Piece, ...] = field(repr=False)


def pieces(
    table: Table,
    layout: Layout,
    states: Recode,
    lengths: Lengths | None = None,
    entrywise: bool = False,
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
    with careful_with(table):
        plain = None if entrywise else _plain(table, layout, states)
        people = None if plain is None else _people(plain, layout, lengths)
        if people is not None:
            return _of_people(people)
        rows, measured, before = _measured(plain, table, layout, states, lengths)
        cells: IntArray | None = None
        by_cell: dict[Key, IntArray] = {}
        values: dict[Key, IntArray] = {}
        if layout.slots is not None:
            numbers, cells = layout.slots.cells
            by_cell = _by_cell(rows.cells(layout.slots), measured, numbers, len(states.states))
        if entrywise:
            values = _values(rows, measured, before, layout.window)
            observed = {key: runs_of(entries != UNOBSERVED) for key, entries in values.items()}
            counts = {key: np.bincount(entries[entries >= 0], minlength=len(states.states))
                      for key, entries in values.items()}  # fmt: skip
        else:
            observed = _observed(rows, measured, before, layout)
            counts = _counts(rows, measured, before, layout.window, by_cell)
    nothing = np.zeros(len(states.states), dtype=np.int64)
    result = list[Piece]()
    for key, piece in measured.items():
        length = piece.length if layout.window is None else len(layout.window)
        result.append(Piece(
            *piece.name, length, observed.get(key, ()), counts.get(key, nothing), key[0], values.get(key),
            cells, by_cell.get(key),
        ))  # fmt: skip
    if rows.runs is None or plain is None or not plain.is_sorted:  # what one pass has sorted comes in its order
        result.sort(key=lambda piece: (natural(piece.unit), natural(piece.piece)))
    return tuple(result)


def _plain(table: Table, layout: Layout, states: Recode) -> CountedByBits | None:
    """Return rows for one pass, None if they need the careful reading."""
    from takifugu.data.rows.by_bits import counted_by_bits

    with suppress(DataError):
        return counted_by_bits(table, layout, states)
    return None


def _people(plain: CountedByBits, layout: Layout, lengths: Lengths) -> People | None:
    """Return people with one piece each, None for other rows."""
    if layout.calendar is not None or layout.null_keys != "refuse":
        return None
    with suppress(DataError):
        return plain.people(lengths)
    return None


def _of_people(people: People) -> tuple[Piece, ...]:
    """Return the pieces of people with one each."""
    columns = zip(people.names, people.lengths.tolist(), people.observed, people.counts, people.written, strict=True)
    return tuple([Piece(name, None, size, runs, counts, label) for name, size, runs, counts, label in columns])


def _measured(
    plain: CountedByBits | None, table: Table, layout: Layout, states: Recode, lengths: Lengths
) -> tuple[Rows, dict[Key, Measured], int | None]:
    """Return the result of `measure`, in one pass for plain rows.

    Other rows are read with care, and with that reading's errors.
    """
    if plain is not None:
        with suppress(DataError):
            return measure(plain.rows(), layout, states, lengths, table)
    return measure(_surveyed(table, layout, states), layout, states, lengths, table)


def _by_cell(
    cell_counts: Iterable[tuple[Key, int, int, int]], measured: Iterable[Key], numbers: IntArray, states: int
) -> dict[Key, IntArray]:
    """Return each piece's counts by cell and state, observed or not."""
    row_of = {number: row for row, number in enumerate(numbers.tolist())}
    counts = {key: np.zeros((len(row_of), states), dtype=np.int64) for key in measured}
    for key, number, code, rows in cell_counts:
        if key in counts and code >= 0:
            counts[key][row_of[number], code] += rows
    return counts


def _counts(
    rows: Rows, measured: Mapping[Key, Measured], before: int | None, window: range | None,
    by_cell: Mapping[Key, IntArray],
) -> dict[Key, IntArray]:  # fmt: skip
    """Return the counts by state of pieces with any."""
    if by_cell:
        return {key: cells.sum(axis=0) for key, cells in by_cell.items()}
    if window is None and before is None:
        return {key: piece.counts for key, piece in measured.items()}
    states = len(next(iter(measured.values())).counts)
    return counts_by_piece(rows.counts(range(before or 0) if window is None else window), states)


def _observed(
    rows: Rows, measured: Mapping[Key, Measured], before: int | None, layout: Layout
) -> dict[Key, tuple[range, ...]]:
    """Return the runs of observed entries of pieces with any."""
    window = layout.window
    if window is not None:
        if layout.gaps != "public":
            return dict.fromkeys(measured, (range(len(window)),))
        return {key: _inside(runs, window) for key, runs in rows.observed(before).items()}
    if any(piece.gaps for piece in measured.values()):
        return dict(rows.observed(before))
    return {key: (range(piece.length),) for key, piece in measured.items()}


def _values(
    rows: Rows, measured: Mapping[Key, Measured], before: int | None, window: range | None
) -> dict[Key, IntArray]:
    read = {key: range(m.length) if window is None else window for key, m in measured.items()}
    values = {key: np.full(len(places), UNOBSERVED, dtype=np.int64) for key, places in read.items()}
    for key, place, code in rows.entries(before):
        if key in values and place in read[key]:
            values[key][place - read[key].start] = code
    return values


def _inside(runs: Iterable[range], window: range) -> tuple[range, ...]:
    """Return the parts of runs inside a window, from its start."""
    inside = list[range]()
    for run in runs:
        start, stop = max(run.start, window.start), min(run.stop, window.stop)
        if start < stop:
            inside.append(range(start - window.start, stop - window.start))
    return tuple(inside)


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
    with careful_with(table):
        rows, _, _ = measure(_surveyed(table, layout, states), layout, states, Lengths(), table)
        for phase, before, after, times in rows.transitions(len(cells)):
            counts[cells[phase], before, after] += times
    return counts


def rows_that_count(table: Table, layout: Layout, states: Recode) -> tuple[int, int]:
    """Return the numbers of counted rows, one a step, and named rows.

    Both are for whoever owns the data. Raises the errors of `pieces` about places.
    """
    with careful_with(table):
        rows = _surveyed(table, layout, states)
        named_rows = sum(fact.rows for facts in rows.grouped.values() for fact in facts)
        return (named_rows if layout.order is None else rows.arranged()[0].steps()), named_rows


def _surveyed(table: Table, layout: Layout, states: Recode) -> Rows:
    from takifugu.data.rows.reader import surveyed

    return surveyed(rows_of(table, layout, states))


def rows_of(table: Table, layout: Layout, states: Recode) -> PickedRows:
    """Return the picked rows of a table, in any engine.

    Raises InputError for a missing column, DataError for columns of unfit kinds.
    """
    states.check(table.missing)
    table, layout = with_joined_order(table, layout)
    if not table.ordered and layout.order is None:
        raise DataError(f"{table.source} keeps no order of its rows", fix="declare the order column").at("order")
    from takifugu.data.rows.picked import picked_rows

    return picked_rows(table, layout, states)


def careful_with(table: Table) -> AbstractContextManager[None]:
    """Return a context to turn engines' errors into ones without data."""
    from takifugu.data.engines.differences import careful

    return careful(table.source)
