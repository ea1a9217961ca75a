"""What rows of changes, stays or events amount to for each unit, and whether they keep the rules that were declared."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import reduce
from operator import or_

from takifugu.core.errors import DataError
from takifugu.core.names import budget_name
from takifugu.core.people import PEOPLE
from takifugu.data.engines.table import Table
from takifugu.data.measure import check_values, names_of, without_place
from takifugu.data.rows.layout import Layout, Recode
from takifugu.data.rows.pieces import SKIPPED, UNCLEAR, Key, by_piece
from takifugu.data.runs.cells import CellSums
from takifugu.data.runs.columns import (
    BACKWARDS,
    END,
    OVERLAPPING,
    START,
    TIED,
    TOO_FAR,
    UNENDED,
    WITH_ZONE,
    WITHOUT_ZONE,
    kind_of_all,
    run_rows,
)
from takifugu.data.runs.rules import RunRules
from takifugu.data.runs.spread import Runs, Total
from takifugu.data.values.texts import BLANKS, UNOBSERVED, two_ways


def surveyed(
    table: Table, layout: Layout, states: Recode, rules: RunRules, window: range, sums: CellSums | None
) -> tuple[Runs, list[Total]]:
    """Return the rows and their totals; DataError for rows against the layout.

    Texts are taken as written first, and read with care only if something stays unexplained.
    """
    runs = Runs.of(run_rows(table, layout, states, rules, is_tidy=True), rules, window)
    totals = runs.totals(sums)
    if not all(_is_tidy(total, table) for total in totals):
        runs = Runs.of(run_rows(table, layout, states, rules), rules, window)
        totals = runs.totals(sums)
        if runs.rows.guessed and any(_fault(total, START) or _fault(total, END) for total in totals):
            runs = Runs.of(run_rows(table, layout, states, rules, kind_of_all(table, layout, rules)), rules, window)
            totals = runs.totals(sums)
        may_be_blank = any(_fault(total, START) or total.fact.key[0] is None for total in totals)
        if table.without_blank_rows is not None and may_be_blank:
            return surveyed(table.filled, layout, states, rules, window, sums)
    grouped = by_piece(total.fact for total in totals)
    if grouped:
        check_values(grouped, layout, states, table, may_drop=False)
    _check_times(totals, layout, rules)
    names = _names(totals, names_of(grouped, layout), layout, rules)
    is_covered = all(runs.cover(unit) == runs.covers[name] for unit, name in names.items())
    runs = replace(runs, names={**runs.names, **names})
    if not is_covered:
        totals = runs.totals(sums)
    _check_covers(totals, runs, layout)
    _check_neighbours(totals, layout, rules, table)
    return runs, totals


def _check_times(totals: Sequence[Total], layout: Layout, rules: RunRules) -> None:
    notes = _noted(totals)
    if notes & WITHOUT_ZONE and notes & WITH_ZONE:
        raise two_ways(str(layout.order), rules.last_column if rules.duration is None else None)
    for bound, column, key in ((START, layout.order, "order"), (END, rules.last_column, rules.last_key)):
        reasons = {_fault(total, bound) for total in totals} - {0}
        if reasons:
            raise _without_tick(min(reasons), layout, str(column), key)
    if notes & BACKWARDS:
        flaw = f"column {rules.last_column!r} has stays that end before they start"
        raise DataError(flaw, fix="repair them").at(rules.last_key)


def _fault(total: Total, bound: int) -> int:
    """Return the fault of a start or end, 0 for none."""
    return total.note // bound % END


def _is_tidy(total: Total, table: Table) -> bool:
    """Return whether rows have states, times and names as written."""
    name = total.unit
    if name is None or (isinstance(name, str) and (name != name.strip(BLANKS) or name in table.missing)):
        return False
    return total.fact.code >= UNOBSERVED and not (_fault(total, START) or _fault(total, END))


def _noted(totals: Sequence[Total]) -> int:
    """Return the notes of all rows together."""
    return reduce(or_, (total.note for total in totals), 0)


def _without_tick(reason: int, layout: Layout, column: str, key: str) -> DataError:
    if reason == TOO_FAR:
        return DataError(f"column {column!r} has values that are too large", rule="they are no times").at("order")
    if reason == UNCLEAR:
        return DataError(
            f"column {column!r} has times that clocks in {layout.timezone!r} showed twice",
            rule="how long a state lasts is not told by the order of the rows",
            fix='write the offsets from UTC, or declare which they are: ambiguous = "first" or "last"',
        ).at("timezone")
    flaws = {"duration": "durations that are no numbers", "end": "values that are no times as those of starts"}
    if reason != SKIPPED and key in flaws:
        return DataError(
            f"column {column!r} has {flaws[key]}", fix="repair them; of a stay without an end leave it empty"
        ).at(key)
    error = without_place(reason, layout)
    error.what = error.what.replace(repr(layout.order), repr(column))
    return error


def _names(
    totals: Sequence[Total], spellings: Mapping[Key, Key], layout: Layout, rules: RunRules
) -> dict[object, str | None]:
    """Return the declared name of each unit; DataError for undeclared ones."""
    declared, names = dict[str | None, str | None](), dict[object, str | None]()
    for name in rules.covered:
        declared[name and budget_name(name)] = name
    for total in totals:
        name, _ = spellings[total.fact.key]
        budget = name and budget_name(name)
        if budget not in declared:
            raise DataError(
                f"column {layout.unit!r} names a {PEOPLE.one} that the roster lacks",
                rule="which people there are is declared, and not read off their rows", fix="add who is missing",
            ).at("roster")  # fmt: skip
        names[total.unit] = declared[budget]
    return names


def _check_covers(totals: Sequence[Total], runs: Runs, layout: Layout) -> None:
    """Raise DataError for rows outside the cover of their unit."""
    rules, first = runs.rules, dict[str | None, int]()
    for total in totals:
        name, fact = runs.names[total.unit], total.fact
        until, low = runs.covers[name].until, fact.low or 0
        first[name] = min(first.get(name, low), low)
        if (fact.high or 0) >= until:
            flaw = f"column {layout.order!r} has rows at or after the time until which the data are declared to run"
            raise DataError(flaw, fix="move until to when the data were exported, or leave these rows out").at("until")
        if total.last_end is not None and total.last_end > until:
            flaw = f"column {rules.last_column!r} has stays that end after the data are declared to"
            raise DataError(flaw, fix=f"move until, or leave {rules.last_column!r} empty of these").at("until")
    if rules.rows != "changes" or rules.before is not None:
        return
    for name, cover in runs.covers.items():
        if cover.places and (name not in first or first[name] > cover.first):
            raise DataError(
                f"column {layout.order!r} has no row at or before the first step of somebody",
                rule="the state before the first change is not known",
                fix="add a row with the state then, or declare what everybody was until a first row: "
                'default_state = "..."',
            ).at("default_state")  # fmt: skip


def _check_neighbours(totals: Sequence[Total], layout: Layout, rules: RunRules, table: Table) -> None:
    """Raise DataError for rows of one person without an order."""
    column, notes = rules.last_column, _noted(totals)
    if notes & TIED and (layout.duplicates == "refuse" or not table.ordered):
        tied = f"column {layout.order!r} has two rows of one person at one time"
        if layout.duplicates != "refuse":
            raise DataError(
                f"{tied}, and this source keeps no order of its rows", rule="none of them is the first or the last",
                fix="leave one row for each time",
            ).at("duplicates")  # fmt: skip
        raise DataError(
            tied, rule="only one of them can hold from then on",
            fix='leave one out, or declare which row counts, and leave the others out: duplicates = "first" or "last"',
        ).at("duplicates")  # fmt: skip
    if notes & UNENDED:
        raise DataError(
            f"column {column!r} has a stay without an end, and another one of the same person starts later",
            rule="a stay without an end lasts until the data end", fix="write when it ended",
        ).at(rules.last_key)  # fmt: skip
    if notes & OVERLAPPING and rules.overlap == "refuse" and rules.rows == "events":
        raise DataError(
            f"column {layout.order!r} has several events of one person in one step",
            rule="a person is in one state in each step",
            fix='declare which counts, and leave the others out: overlap = "first" or "last", or a shorter step',
        ).at("overlap")  # fmt: skip
    if notes & OVERLAPPING and rules.overlap == "refuse":
        raise DataError(
            f"column {column!r} has stays that end after the next one of the same person has started",
            rule="a person is in one state at a time",
            fix="repair them, or declare which counts, and leave out of the others what overlaps: "
            'overlap = "first" or "last" (which ends the other)',
        ).at("overlap")  # fmt: skip
