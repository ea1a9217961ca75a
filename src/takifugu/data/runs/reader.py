"""The steps that each unit is in each state, from rows that are changes of it, stays or events; no step is expanded.

A run is a unit's state from one step on up to before another one. Rows are sorted where they are, each is compared with
its neighbour, and sums of lengths come back.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from takifugu.core.arrays import IntArray
from takifugu.core.names import natural
from takifugu.data.engines.table import Table
from takifugu.data.rows.layout import Layout, Recode
from takifugu.data.runs.cells import CellSums, add_up
from takifugu.data.runs.rules import RunRules
from takifugu.data.runs.spread import Runs, Total
from takifugu.data.runs.survey import surveyed
from takifugu.data.values.pieces import Piece, runs_of
from takifugu.data.values.texts import UNOBSERVED


def pieces_of_runs(
    table: Table, layout: Layout, states: Recode, rules: RunRules, entrywise: bool = False
) -> tuple[Piece, ...]:
    """Return one piece for each declared unit, counted by state.

    A piece is the window of a calendar with an end. Steps without cover or state are unobserved. `entrywise` brings
    every step's state, too. Raises InputError for a missing column, and DataError for rows against a rule.
    """
    states.check(table.missing)
    sums = None if layout.slots is None else CellSums(layout.slots)
    with table.reading():
        runs, totals = surveyed(table, layout, states, rules, _window(layout), sums)
        pieces = _pieces(runs, totals, sums, states, entrywise)
    return tuple(sorted(pieces, key=lambda piece: natural(piece.unit)))


def runs_that_clash(table: Table, layout: Layout, states: Recode, rules: RunRules) -> tuple[int, int, int]:
    """Return the numbers of simultaneous rows, of other overlapping ones, and of rows without a state.

    All are for whoever owns the data. Raises the errors of `pieces_of_runs`.
    """
    states.check(table.missing)
    with table.reading():
        runs, _ = surveyed(table, layout, states, rules, _window(layout), None)
        return runs.clashes()


def _window(layout: Layout) -> range:
    """Return the steps of the layout's window, or of its whole calendar."""
    calendar = layout.calendar
    assert calendar is not None  # which release files of runs declare, with its end
    assert calendar.size is not None
    return range(calendar.size) if layout.window is None else layout.window


def _pieces(runs: Runs, totals: Sequence[Total], sums: CellSums | None, states: Recode, entrywise: bool) -> list[Piece]:
    """Return the pieces, with missing states last in arrays by state."""
    size, layout, rules = len(states.states), runs.rows.layout, runs.rules
    cells = 1 if sums is None else sums.size
    counts, runs_by_name = dict[str | None, IntArray](), dict[str | None, list[tuple[int, range]]]()
    for name in runs.covers:
        counts[name], runs_by_name[name] = np.zeros((cells, size + 1), dtype=np.int64), []
    spellings = {runs.names[total.unit]: total.fact.key[0] for total in totals}
    for total in totals:
        counts[runs.names[total.unit]][:, total.fact.code] += add_up(total.steps, sums)
    has_gaps = any(total.fact.code == UNOBSERVED for total in totals)
    if totals and (entrywise or (has_gaps and layout.gaps == "public")):
        for unit, code, run in runs.listed(not entrywise):
            runs_by_name[runs.names[unit]].append((code, run))
    state, filled = rules.otherwise, UNOBSERVED
    if rules.rows == "changes":
        state = rules.before
    if state is not None:
        filled = states.states.index(state)
    covered, pieces = dict[range, IntArray](), []
    for name, cover in runs.covers.items():
        steps = runs.inside(cover)
        if steps not in covered:
            covered[steps] = np.array([len(steps)])
            if sums is not None:
                covered[steps] = sums.between(steps.start, steps.stop)
        table = counts[name]
        table[:, filled] += covered[steps] - table.sum(axis=1)
        observed: tuple[range, ...] = (range(len(runs.window)),)
        values = None
        if entrywise:
            values = _values(runs.window, steps, filled, runs_by_name[name])
            observed = runs_of(values != UNOBSERVED)
        elif layout.gaps == "public":
            observed = _between(steps, [gap for _, gap in runs_by_name[name]], runs.window.start)
        by_cell, spelling = table[:, :size], spellings.get(name, name)
        piece = Piece(name, None, len(runs.window), observed, by_cell.sum(axis=0), spelling, values)
        if sums is not None:
            piece.cell, piece.by_cell = sums.slots.cells[1], by_cell
        pieces.append(piece)
    return pieces


def _values(window: range, inside: range, filled: int, runs: Sequence[tuple[int, range]]) -> IntArray:
    """Return the code of every step of the window."""
    values = np.full(len(window), UNOBSERVED, dtype=np.int64)
    values[inside.start - window.start : inside.stop - window.start] = max(filled, 0)
    for code, steps in runs:
        values[steps.start - window.start : steps.stop - window.start] = code
    return values


def _between(covered: range, gaps: Sequence[range], origin: int) -> tuple[range, ...]:
    """Return the runs of covered steps without gaps, from the origin.

    >>> _between(range(2, 12), [range(3, 11), range(5, 7)], 2)  # one gap inside the other
    (range(0, 1), range(9, 10))
    """
    runs, start = list[range](), covered.start
    for gap in [*sorted(gaps, key=lambda gap: gap.start), range(covered.stop, covered.stop)]:
        if start < gap.start:
            runs.append(range(start - origin, gap.start - origin))
        start = max(start, gap.stop)
    return tuple(runs)
