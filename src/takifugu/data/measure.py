"""The rules that rows must keep before they are used, and what their facts say about each piece."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field
from itertools import chain
from typing import TYPE_CHECKING

import numpy as np

from takifugu.core.arrays import IntArray
from takifugu.core.errors import DataError
from takifugu.core.nearest import first_of
from takifugu.data.engines.table import Table
from takifugu.data.lookalikes import refuse_lookalikes
from takifugu.data.rows.layout import Layout, Lengths, Recode
from takifugu.data.rows.pieces import SKIPPED, UNCLEAR, WIDEST_SPAN, Fact, Key, are_together, extent
from takifugu.data.times.calendar import Calendar
from takifugu.data.values.pieces import LONGEST_PIECE
from takifugu.data.values.spellings import meant
from takifugu.data.values.texts import NAME_MARKS, OUTSIDE, UNKNOWN, UNOBSERVED

if TYPE_CHECKING:
    from takifugu.data.rows.reader import Rows

#: What columns with a time of day are called.
_CLOCK = re.compile(r"(?:^|[\W_])(?:time|clock|hour|uhr|uhrzeit|zeit|heure|hora|ora)(?:$|[\W_])", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Measured:
    """A piece's length (after a cut), whether entries of it (before a cut) are unobserved, and its counts by state.

    `name` is what its unit and piece are called; rows know them as they are written.
    """

    name: Key
    length: int
    gaps: bool
    counts: IntArray = field(repr=False)


def measure(
    rows: Rows, layout: Layout, states: Recode, lengths: Lengths, table: Table
) -> tuple[Rows, dict[Key, Measured], int | None]:
    """Return the rows in order, with their measured pieces.

    Only long enough pieces are left, with the place at which others are cut, if any. Raises DataError for rows against
    the layout or the lengths.
    """
    check_values(rows.grouped, layout, states, table)
    names = names_of(rows.grouped, layout)
    if layout.order is not None:
        rows = _in_order(rows, layout, table)
    elif not are_together(rows.grouped):
        columns = ", ".join(repr(column) for column in (layout.unit, layout.piece) if column is not None)
        raise DataError(
            "the rows of one recording are not together, and no order column is declared",
            fix=f"sort the data by {columns}, or declare the order column",
        ).at("order")
    grouped = rows.grouped
    if layout.calendar is not None and rows.step is not None:
        _check_calendar(grouped, rows.step, layout.calendar, str(layout.order))
    sizes = {key: _length(facts, rows.step, layout) for key, facts in grouped.items()}
    before = None
    if lengths.longest is not None and max(sizes.values()) > lengths.longest:
        before = lengths.longest
        if lengths.longer == "refuse":
            raise DataError(
                f"a recording is longer than the {before} steps that the belief allows",
                fix="raise the longest length, or have longer recordings cut",
            ).at("max_length")
    long_enough = {key: facts for key, facts in grouped.items() if sizes[key] >= lengths.shortest}
    if not long_enough:
        raise DataError(
            f"no recording has the {lengths.shortest} steps that are required", fix="lower the shortest length"
        ).at("min_length")
    counts = _counts(long_enough.values(), len(states.states))
    observed = counts.sum(axis=1).tolist()
    measured = {}
    for key, present, row in zip(long_enough, observed, counts, strict=True):
        length = min(sizes[key], before or sizes[key])
        measured[key] = Measured(names[key], length, present != sizes[key], row)
    return rows, measured, before


def _counts(facts_of_pieces: Collection[list[Fact]], states: int) -> IntArray:
    """Count the rows of each piece by state, shape (pieces, states)."""
    rows = list[tuple[int, int, int]]()
    for number, facts in enumerate(facts_of_pieces):
        rows += [(number, fact.code, fact.rows) for fact in facts if fact.code >= 0]
    places, codes, numbers = np.array(rows, dtype=np.int64).reshape(-1, 3).T
    counts = np.zeros((len(facts_of_pieces), states), dtype=np.int64)
    np.add.at(counts, (places, codes), numbers)
    return counts


def check_values(
    grouped: Mapping[Key, list[Fact]], layout: Layout, states: Recode, table: Table, may_drop: bool = True
) -> None:
    """Raise DataError for values that break a rule; `may_drop` says whether rows may be left out."""
    if not grouped:
        raise DataError("the data has no rows", rule="nothing can be released")
    if layout.null_keys != "keep":
        for column, part in ((layout.unit, 0), (layout.piece, 1)):
            if column is not None and any(key[part] is None for key in grouped):
                fix = "fill them"
                if may_drop:
                    fix += ', or write null_keys = "drop" to leave these rows out (to write it costs nothing)'
                raise DataError(
                    f"column {column!r} has missing values", rule="every row must have a value there", fix=fix
                ).at("null_keys")
    codes = {fact.code for fact in chain.from_iterable(grouped.values())}
    if states.bins is not None and UNKNOWN in codes:
        raise DataError(
            f"column {layout.value!r} has values that are no numbers (nan is none)",
            fix=f"write nothing where nothing was measured, or {NAME_MARKS}",
        ).at("value")
    if OUTSIDE in codes:
        bins = states.bins
        assert bins is not None
        bin_texts = [f"{state!s}: {words}" for state, words in zip(bins.states, bins.words, strict=True)]
        raise DataError(
            f"column {layout.value!r} has a number that is in none of the bins",
            fix="declare bins for all numbers that can occur (beside earlier releases, other bins cost a change of all "
            f"that these read), or {NAME_MARKS}; the bins are {bin_texts}",
        ).at("bins")
    if UNKNOWN in codes:
        refuse_lookalikes(table, layout.value, states.codes, "states")
        raise DataError(
            f"column {layout.value!r} has a value that is no state and is not mapped to one",
            fix=f"the states are {first_of(states.states)}; {NAME_MARKS}, and another spelling of a state: "
            'map = { "as in the data" = "a state" } under [belief] (to write either costs nothing)',
        ).at("states")
    if UNOBSERVED in codes and layout.nulls == "refuse":
        raise DataError(
            f"column {layout.value!r} has missing states",
            fix='fill them, or write nulls = "unobserved" where the pattern of gaps is public',
        ).at("nulls")


def names_of(grouped: Mapping[Key, list[Fact]], layout: Layout) -> dict[Key, Key]:
    """Return the names of units and pieces; DataError as `meant`."""
    exclusion = ", without the rows that are left out" if layout.null_keys == "drop" else ""
    rows = dict[Key, int | None]()
    for key, facts in grouped.items():
        rows[key] = min((fact.first for fact in facts if fact.first is not None), default=None)
    keys = list(grouped)
    if any(row is not None for row in rows.values()):  # else no message says which row comes first
        keys.sort(key=lambda key: (rows[key] or 0, *map(str, key)))
    unit_rows = [(unit, rows[unit, piece]) for unit, piece in keys if unit is not None]
    units = meant(unit_rows, str(layout.unit), "unit", exclusion)
    by_unit: dict[str | None, list[tuple[str, int | None]]] = {}
    for unit, piece in keys:
        if piece is not None:
            by_unit.setdefault(unit, []).append((piece, rows[unit, piece]))
    pieces = {unit: meant(parts, str(layout.piece), "recording", exclusion) for unit, parts in by_unit.items()}
    names = dict[Key, Key]()
    for unit, piece in keys:
        unit_name = None if unit is None else units[unit]
        piece_name = None if piece is None else pieces[unit][piece]
        names[unit, piece] = unit_name, piece_name
    return names


def _in_order(rows: Rows, layout: Layout, table: Table) -> Rows:
    """Return the rows, one a place, sorted by the order column.

    Raises DataError if the column does not decide.
    """
    reasons = {fact.unplaced for fact in chain.from_iterable(rows.grouped.values())} - {0}
    if reasons:
        raise without_place(min(reasons), layout)
    rows, arrangement = rows.arranged()
    if arrangement.set_back and (arrangement.ties or layout.step is None):
        raise DataError(
            f"column {layout.order!r} goes back by an hour or less within a recording, as where a clock was set back",
            rule="what a clock shows twice is two steps",
            fix='declare its zone, such as timezone = "Europe/Berlin" ("UTC" for a clock that is never changed), or '
            "write the offsets from UTC",
        ).at("timezone")
    if not arrangement.ties:
        return rows
    if rows.are_rounded:
        raise _same_when_rounded(layout)
    if layout.duplicates == "refuse":
        used, hint = (layout.order, layout.unit, layout.piece, layout.value), ""
        clocks = [name for name in table.names if name not in used and _CLOCK.search(name)]
        if clocks and layout.time_of_day is None:
            hint = f'write order = ["{layout.order}", "{clocks[0]}"] if the time of day is in a column of its own, '
        raise DataError(
            f"column {layout.order!r} has ties within one recording",
            rule="two rows cannot be in one step",
            fix=f"{hint}declare the recording column if they belong to several recordings, an order column that "
            "numbers them if one followed the other (lessons of a day), a time zone "
            "(beside earlier releases, it costs what their dearest step costs) if a clock was set back, or which row "
            'counts, and leave the others out: duplicates = "first" or "last" (to write one costs nothing, to replace '
            "it by the other much)",
        ).at("order")
    if not rows.in_rows:
        raise DataError(
            f"column {layout.order!r} has ties within one recording, and this source keeps no order of its rows",
            rule="none of them is the first or the last",
            fix="leave one row for each step",
        ).at("duplicates")
    return rows.without_ties(layout.duplicates)


def _same_when_rounded(layout: Layout) -> DataError:
    return DataError(
        f"column {layout.order!r} has numbers so large that several are the same when they are rounded",
        rule="of a number with a fraction, or of more than 18 digits, about 16 digits are read",
        fix="take a public number off all of them first; nanoseconds since 1970 may become thousandths of a second "
        '(without their last six digits), with order_format = "epoch_ms"',
    ).at("order")


def without_place(reason: int, layout: Layout) -> DataError:
    if reason == SKIPPED:
        return DataError(
            f"column {layout.order!r} has times that clocks in {layout.timezone!r} skipped",
            fix='declare the zone that the clock keeps, such as "Etc/GMT-1" for UTC+1 in summer, too',
        ).at("timezone")
    if reason == UNCLEAR:
        return DataError(
            f"column {layout.order!r} has times that clocks in {layout.timezone!r} showed twice, and the order of the "
            "rows does not tell which is meant",
            fix="write the offsets from UTC, sort the rows as they were recorded, or declare which they are: "
            'ambiguous = "first" or "last", or "drop" to leave them out',
        ).at("timezone")
    how, key = "", "order"
    if layout.order_format is not None:
        how, key = f", are not written as {layout.order_format!r}", "order_format"
    if "%b" in how:
        how += " (%b is a month in English: Jan, May)"
    return DataError(
        f"column {layout.order!r} has values that are missing, not finite{how}, too large, or no date of the calendar",
        rule="every row needs its place in the order",
        fix="repair them, and delete lines that are no rows, such as empty ones and totals",
    ).at(key)


def _check_calendar(grouped: Mapping[Key, list[Fact]], step: int, calendar: Calendar, column: str) -> None:
    """Raise DataError for a row outside the calendar or between steps."""
    facts, start, size = list(chain.from_iterable(grouped.values())), calendar.ticks(step), calendar.size
    low, high = extent(facts)
    if low < start or (size is not None and high >= start + size * step):
        raise DataError(
            f"column {column!r} has rows outside the declared calendar",
            fix="move from or until, or leave these rows out",
        ).at("from")
    if _offsets(facts) - {start % step}:
        raise DataError(
            f"column {column!r} has rows that are not a whole number of steps after the calendar's start",
            fix="write round_to where its clock is inexact, or declare the step and the start that it has",
        ).at("from")


def _offsets(facts: Iterable[Fact]) -> set[int]:
    """Return the remainders of ticks by the step."""
    return set(chain.from_iterable(fact.offsets or () for fact in facts))


def _length(facts: list[Fact], step: int | None, layout: Layout) -> int:
    if step is None:
        return sum(fact.rows for fact in facts)
    if len(_offsets(facts)) > 1:
        raise DataError(
            f"column {layout.order!r} has rows that are not a whole number of steps after the first of their recording",
            fix="declare the step that it has, or round_to where its clock is inexact",
        ).at("step")
    low, high = extent(facts)
    span = high - low
    if span >= WIDEST_SPAN or span // step >= LONGEST_PIECE:
        raise DataError(
            f"column {layout.order!r} spans more steps than a recording can have", fix="check it and the step"
        ).at("step")
    return span // step + 1


def counts_by_piece(triples: Iterable[tuple[Key, int, int]], states: int) -> dict[Key, IntArray]:
    """Return each piece's counts by state; entries without a state add nothing."""
    counts: dict[Key, IntArray] = {}
    for key, code, number in triples:
        array = counts.setdefault(key, np.zeros(states, dtype=np.int64))
        if code >= 0:
            array[code] += number
    return counts
