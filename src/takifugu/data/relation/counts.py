"""From rows to integers: how many steps each unit has in each state and cell, its length and its gaps, as columns."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import reduce
from operator import or_
from types import MappingProxyType
from typing import Any

import numpy as np

from takifugu.core.arrays import BoolArray, IntArray
from takifugu.data.relation import statements
from takifugu.data.relation.cells import Cells
from takifugu.data.relation.roles import Opened
from takifugu.data.relation.roster import Roster, name_covers
from takifugu.data.relation.statements import COVERS, FAR, PIECES, WORD, WORDS
from takifugu.data.relation.types import check_types, keep_rows, refuse_mixed_times
from takifugu.data.sql.faults import BIT, CAUSES, RowFault, no_rows, wrong_data, wrong_key
from takifugu.data.values.counts import Counts
from takifugu.data.values.texts import MISSING

#: The bits of all causes.
_ANY = -1


def counted(
    opened: Opened, roster: Roster | None, window: range | None = None, by: tuple[str, ...] = (), is_part: bool = False
) -> Counts:
    """Return the counts of samples, changes, stays or events in a window of the calendar, by cells if declared."""
    # a part of a table (`is_part`) may have no rows
    source = opened.source
    check_types(opened)
    if source.rows in ("answers", "visits"):
        raise wrong_key("rows", f"{source.rows} have no states of steps", "", 'rows = "samples"')
    whole = None if source.size is None else range(source.size)
    window = whole if window is None else window
    if whole is not None and window is not None and not whole.start <= window.start < window.stop <= whole.stop:
        raise wrong_key("window", "the window is outside the calendar")
    if window is None and source.gaps == "hidden":
        what = "gaps are hidden, and neither until nor a window is declared"
        raise wrong_key("until", what, "", 'until = "2027-01-04", or a window')
    cells = None
    if by:
        if source.calendar is None or window is None:
            raise wrong_key("by", "cells need a calendar with an end", "", "declare from and until")
        cells = Cells(source.calendar, window, by)
    keep_rows(opened)
    if roster is not None:
        name_covers(opened, roster)
    if source.rows == "samples":
        is_named = source.unit is not None or opened.hides_rows  # else rows tell which pieces there are
        result = _of_samples(opened, roster if is_named else None, window, cells, is_part)
    else:
        assert roster is not None, "runs have a roster"
        assert window is not None, "runs have a calendar"
        result = _of_runs(opened, roster, window, cells)
    opened.relation.check_unchanged()
    return result


def refuse(
    opened: Opened, why: int, window: range | None, more: str = "", words: Mapping[str, str] = MappingProxyType({})
) -> None:
    """Raise RowFault for the first cause among some bits, with its first row; `words` stand for `Opened.words`."""
    if not why:
        return
    unknown = BIT["where unknown"]  # what else is wrong with a row counts where it does
    each = f"case when why & {unknown} <> 0 then {unknown} else why end & {why} as why"
    wrong = f'select {each}, "row" from ({statements.wrong_rows(opened, window, more)})'
    rows_of = opened.relation.rows(f'select why, min("row"), count(*) from ({wrong}) where why <> 0 group by why')
    if not rows_of:  # as where a value at fault is in a row that perhaps does not count
        return
    found = reduce(or_, (why for why, *_ in rows_of))
    if found & ~BIT["tie"]:  # a row with another fault has no step that it could share
        found &= ~BIT["tie"]
    first, *others = [cause for cause in CAUSES if found & BIT[cause.name]]
    if first.name in ("no time", "no end time"):
        refuse_mixed_times(opened, first.key)
    of_first = [(row, rows) for why, row, rows in rows_of if why & BIT[first.name]]
    row, more_rows = min(row for row, _ in of_first), sum(rows for _, rows in of_first) - 1
    raise RowFault(first, {**opened.words(), **words}, row, more_rows, others)


def bits(column: Any) -> int:
    """Return the bits of all rows."""
    values = integers(column)
    return int(np.bitwise_or.reduce(values)) if len(values) else 0


def integers(column: Any, nothing: int = 0) -> IntArray:
    """Return a column of integers, with a number where there is none."""
    if type(column) is np.ndarray:  # DuckDB masks a column without a value, and loads NumPy's masks for it alone
        return column.astype(np.int64)
    return np.ma.filled(np.ma.asarray(column), nothing).astype(np.int64)


def _by_state(table: Any, states: int) -> IntArray:
    return np.stack([integers(table[f"s{number}"]) for number in range(states)], axis=1)


def _of_samples(
    opened: Opened, roster: Roster | None, window: range | None, cells: Cells | None, is_part: bool
) -> Counts:
    source, relation, states = opened.source, opened.relation, len(opened.source.states)
    # where a word of steps has few cells they are counted with it, else by a second scan
    are_with_words = cells is not None and source.width <= 4 * 60 * 10**6
    words_sql = statements.words(opened, window, cells if are_with_words else None)
    relation.rows(f"create or replace temp table {WORDS} as {words_sql}")
    relation.rows(f"create or replace temp table {PIECES} as {_numbered(statements.pieces(opened), roster)}")
    names_of_rows = [role for role in ("unit", "recording") if role in opened.roles and roster is None]
    selected = ", ".join([*names_of_rows, "* exclude (unit, recording)"])  # a column of nothing loads NumPy's masks
    table = relation.columns(f"select {selected} from {PIECES} order by number")
    _check_samples(opened, table, roster, is_part)
    count, counts, starts = len(table["n"]), _by_state(table, states), None
    if window is None:
        low = integers(table["low"])
        lengths, starts = integers(table["high"], -1) - low + 1, low * source.width + integers(table["least"])
    else:
        low, lengths = np.full(count, window.start), np.full(count, len(window), dtype=np.int64)
    complete, runs = np.ones(count, dtype=bool), _NO_RUNS
    if source.gaps == "public":
        complete = integers(table["observed"]) == lengths
    if not complete.all():
        words = relation.columns(statements.gaps(None if window is None else len(window)))
        seen = integers(words["seen"]).view(np.uint64)
        runs = _runs_of(integers(words["number"]), integers(words["word"]), seen, low)
    by_cell, cell = None, None
    if cells is not None:
        cell = cells.cells[1]
        by_cell = np.zeros((count, cells.size, states), dtype=np.int64)
        table_by_cell = relation.columns(statements.samples_by_cell(opened, cells, are_with_words))
        at_cell = cells.index(integers(table_by_cell["cell"]))
        by_cell[integers(table_by_cell["number"]), at_cell] = _by_state(table_by_cell, states)
    nobody = np.full(count, "", dtype=object)
    units = table.get("unit", nobody) if roster is None else roster.names
    return Counts(lengths, complete, runs, counts, by_cell, cell, (units, table.get("recording", nobody)), starts)


def _numbered(pieces: str, roster: Roster | None) -> str:
    """Return the SELECT of pieces with their numbers."""
    if roster is not None:  # somebody without a row has no steps, and a stranger no number
        return f"select p.*, c.number from ({pieces}) p full join {COVERS} c using (unit)"
    return f"select *, (row_number() over (order by unit, recording) - 1)::bigint as number from ({pieces})"


def _check_samples(opened: Opened, table: Any, roster: Roster | None, is_part: bool) -> None:
    if not integers(table["n"]).any() and not is_part and not opened.hides_rows:
        raise no_rows()
    if _are_wrong(table, roster):
        refuse(opened, _ANY, None)
        opened.relation.check_unchanged()
        raise AssertionError("a row at fault has a bit for it")


def _are_wrong(table: Any, roster: Roster | None) -> bool:
    """Return whether a rule is broken: rows at fault have no bit, and two of one step share one."""
    are_wrong = integers(table["why"]) != 0
    are_wrong |= integers(table["n"]) > integers(table["steps"])
    are_wrong |= integers(table["least"]) != integers(table["most"])
    if roster is not None:
        number = integers(table["number"], -1)
        if (number < 0).any():  # a stranger
            return True
        are_wrong |= integers(table["low"], FAR) < roster.first[number]
        are_wrong |= integers(table["high"], -FAR) >= roster.last[number]
    return bool(are_wrong.any())


#: The runs of steps of pieces: the number of the piece, the first step, and the one behind the last.
Runs = tuple[IntArray, IntArray, IntArray]
_NO_RUNS: Runs = (np.empty(0, np.int64), np.empty(0, np.int64), np.empty(0, np.int64))


def _runs_of(pieces: IntArray, words: IntArray, seen: Any, low: IntArray) -> Runs:
    """Return the runs of steps that words of bits hold, counted from each piece's start."""
    if not len(pieces):
        return _NO_RUNS
    follows = np.concatenate(([False], (pieces[1:] == pieces[:-1]) & (words[1:] == words[:-1] + 1)))
    before = (seen << 1) | np.where(follows, np.roll(seen, 1) >> (WORD - 1), 0)
    after = (seen >> 1) | np.where(np.roll(follows, -1), (np.roll(seen, -1) & 1) << (WORD - 1), 0)
    first_piece, first = _set_bits(pieces, words, seen & ~before)
    _, last = _set_bits(pieces, words, seen & ~after)
    start = low[first_piece]
    return first_piece, first - start, last - start + 1


def _set_bits(pieces: IntArray, words: IntArray, bits_of: Any) -> tuple[IntArray, IntArray]:
    """Return the piece and the place of each bit that is set, some words at once."""
    parts, some = [(_NO_RUNS[0], _NO_RUNS[0])], np.flatnonzero(bits_of)
    pieces, words, bits_of = pieces[some], words[some], bits_of[some]
    for start in range(0, len(words), 2**13):
        part = slice(start, start + 2**13)
        rows, bit = np.nonzero((bits_of[part, None] >> np.arange(WORD, dtype=np.uint64)) & 1)
        parts.append((pieces[part][rows], words[part][rows] * WORD + bit))
    return np.concatenate([piece for piece, _ in parts]), np.concatenate([place for _, place in parts])


def _of_runs(opened: Opened, roster: Roster, window: range, cells: Cells | None) -> Counts:
    source, relation, states = opened.source, opened.relation, len(opened.source.states)
    if cells is None:
        table = relation.columns(statements.runs_by_state(opened, window))
    else:
        table = relation.columns(statements.runs_by_stretch(opened, window, cells))
    refuse(opened, bits(table["why"]), window)
    count = len(roster.names)
    first, last = (np.clip(column, window.start, window.stop) for column in (roster.first, roster.last))
    number, code = integers(table["number"]), integers(table["code"], MISSING) % (states + 1)  # missing ones are last
    are_hidden = opened.hides_rows or opened.keeps_left_out  # of somebody all rows may be left out
    if source.rows == "changes" and source.default_state is None and not are_hidden:
        _check_starts(number, integers(table["earliest"]), roster)
    parts = 1 if cells is None else cells.size
    counts = np.zeros((count, parts, states + 1), dtype=np.int64)
    if cells is None:
        np.add.at(counts[:, 0], (number, code), integers(table["steps"]))
        lasting = (last - first)[:, None]
    else:
        rows = number * (states + 1) + code
        columns = (integers(table[name]) for name in ("stretch", "signs", "places", "periods"))
        summed = cells.summed(rows, count * (states + 1), *columns)
        counts += summed.reshape(count, states + 1, parts).transpose(0, 2, 1)
        lasting = cells.between(first, last)
    filled = states if source.default_state is None else source.states.index(source.default_state)
    counts[:, :, filled] += lasting - counts.sum(axis=2)
    complete, runs = np.ones(count, dtype=bool), _NO_RUNS
    if source.gaps == "public":
        gaps = _NO_RUNS
        if filled == states and source.rows != "changes":  # a step without a row is a gap, too
            gaps = _outside(first, last, _listed(relation.columns(statements.listed_runs(opened, window, False))))
        elif (code == states).any():
            gaps = _listed(relation.columns(statements.listed_runs(opened, window, True)), MISSING)
        complete, runs = _observed(first, last, gaps, window)
    by_state = counts[:, :, :states]
    cell = None if cells is None else cells.cells[1]
    lengths = np.full(count, len(window), dtype=np.int64)
    names = (roster.names, np.full(count, "", dtype=object))
    return Counts(lengths, complete, runs, by_state.sum(axis=1), by_state if cells is not None else None, cell, names)


def covered(counts: Counts, roster: Roster, window: range) -> Counts:
    """Return counts in the order of a roster with gaps where somebody is not covered."""
    first, last = (np.clip(column, window.start, window.stop) for column in (roster.first, roster.last))
    complete, runs = _observed(first, last, _NO_RUNS, window)
    return replace(counts, complete=complete, runs=runs)


def _observed(first: IntArray, last: IntArray, gaps: Runs, window: range) -> tuple[BoolArray, Runs]:
    """Return which pieces are covered without gaps, and the runs of the others, from the window's start on."""
    complete = (first == window.start) & (last == window.stop)
    complete[gaps[0]] = False
    piece, begins, ends = _outside(first, last, gaps)
    is_run = ~complete[piece]
    return complete, (piece[is_run], begins[is_run] - window.start, ends[is_run] - window.start)


def _check_starts(number: IntArray, earliest: IntArray, roster: Roster) -> None:
    """Refuse a unit without a state at its start: a change says one from then on."""
    start = np.full(len(roster.names), 2**62, dtype=np.int64)
    np.minimum.at(start, number, earliest)
    if ((start > roster.low) & (roster.last > roster.first)).any():
        rule = "a change says the state from then on, and none before"
        fix = 'default_state = "home" (the state before a first row)'
        raise wrong_data("default_state", "a person has no state at the start", rule, fix)


def _listed(table: Any, least: int = 0) -> Runs:
    """Return listed runs of a state, numbered from `least` on."""
    some = integers(table["code"], MISSING) >= least
    number, first, last = (integers(table[name])[some] for name in ("number", "first", "last"))
    return number, first, last


def _outside(first: IntArray, last: IntArray, runs: Runs) -> Runs:
    """Return what of each piece, from `first` up to before `last`, lies outside of its runs, which do not overlap."""
    number, start, stop = runs
    # a run begins where a piece or a gap of it ends, and ends where the next gap begins
    piece = np.concatenate((np.arange(len(first)), number))
    begins, ends = np.concatenate((first, stop)), np.concatenate((last, start))
    begins, ends = begins[np.lexsort((begins, piece))], ends[np.lexsort((ends, piece))]
    piece = np.sort(piece)
    is_run = ends > begins
    return piece[is_run], begins[is_run], ends[is_run]
