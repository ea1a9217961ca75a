"""How often each state follows each other one in samples, and which state each step has."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from takifugu.core.arrays import IntArray
from takifugu.data.relation import statements
from takifugu.data.relation.counts import counted, integers
from takifugu.data.relation.roles import Opened
from takifugu.data.relation.roster import Roster
from takifugu.data.sql.faults import wrong_key
from takifugu.data.times.calendar import Calendar
from takifugu.data.values.texts import MISSING


@dataclass(frozen=True, eq=False)
class States:
    """The state of each piece's steps, as runs: `code` from `first` up to before `last`, -1 where it is missing."""

    #: In order, and private; steps count from the piece's start.
    piece: IntArray = field(repr=False)
    first: IntArray = field(repr=False)
    last: IntArray = field(repr=False)
    code: IntArray = field(repr=False)
    #: The state of an observed step without a run, -1 of samples.
    default: int = -1


def transitions_of(opened: Opened, roster: Roster | None = None, cells: Sequence[int] = (0,)) -> IntArray:
    """Count the transitions between states of samples by the cell that they start in, as counts[c, x, y]."""
    if opened.source.rows != "samples":
        raise wrong_key("rows", "transitions are counted in samples", "", 'rows = "samples"')
    counted(opened, roster)
    # state y is at the step after state x of a piece; `cells` are those of one period of clocks, from 1970 on
    rows = statements.placed(opened, None)
    after = "over (partition by unit, recording order by place)"
    pairs = f"select place, code, lead(place) {after} as next_place, lead(code) {after} as next_code from ({rows})"
    period = len(cells)
    shift, number = 2**53 // period * period, _by_clocks(opened.source.start)
    table = opened.relation.columns(
        f"""select ({number} + {shift}) % {period} as phase, code, next_code, count(*) as n from ({pairs})
        where next_place = place + 1 and code >= 0 and next_code >= 0 group by all"""
    )
    size = len(opened.source.states)
    counts = np.zeros((max(cells) + 1, size, size), dtype=np.int64)
    cell = np.array(cells, dtype=np.int64)[integers(table["phase"])]
    np.add.at(counts, (cell, integers(table["code"]), integers(table["next_code"])), integers(table["n"]))
    return counts


def _by_clocks(calendar: object) -> str:
    """Return a step's number by the clocks of its own time, in SQL: public rows may lie in summer and winter."""
    if not isinstance(calendar, Calendar) or calendar.zone is None:
        return "place"
    step, changes = int(calendar.step), calendar.zone.changes
    if not changes:
        return f"place + {calendar.zone.offset(int(calendar.start)) // step}"
    offsets = []
    for moment, _, offset in reversed(changes):
        offsets.append(f"when place >= {math.ceil((moment - calendar.start) / step)} then {offset // step}")
    return f"place + case {' '.join(offsets)} else {changes[0][1] // step} end"


def transitions_of_all(opened: Opened) -> IntArray:
    """Return counts[x, y] of all rows of samples, whatever calendar they are read by."""
    plain = replace(opened.source, start=None, until=None, roster=None, gaps="public")
    counts: IntArray = transitions_of(replace(opened, source=plain))[0]
    return counts


def states_of(opened: Opened, roster: Roster | None = None, window: range | None = None) -> States:
    """Return the state of every step, for data that fit into memory. Raises the errors of `counted`."""
    counted(opened, roster, window)
    source = opened.source
    if source.rows == "samples":
        rows = statements.placed(opened, None)
        inside = "true" if window is None else f"r.place >= {window.start} and r.place < {window.stop}"
        start = "p.low" if source.size is None and window is None else str(0 if window is None else window.start)
        table = opened.relation.columns(
            f"""select p.number, r.place - {start} as first, r.code from ({rows}) r
            join {statements.PIECES} p using (unit, recording) where {inside} order by p.number, r.place"""
        )
        first = integers(table["first"])
        return States(integers(table["number"]), first, first + 1, np.maximum(integers(table["code"]), MISSING))
    whole = range(source.size or 0) if window is None else window
    table = opened.relation.columns(statements.listed_runs(opened, whole, False))
    first, last = (integers(table[name]) - whole.start for name in ("first", "last"))
    default = -1 if source.default_state is None else source.states.index(source.default_state)
    return States(integers(table["number"]), first, last, integers(table["code"], -1), default)
