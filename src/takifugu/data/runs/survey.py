"""What rows of changes, stays or events amount to for each unit, and whether they keep the rules that were declared."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from takifugu.core.errors import DataError
from takifugu.core.names import budget_name
from takifugu.core.people import PEOPLE
from takifugu.data.engines.table import Table
from takifugu.data.measure import check_values, names_of, without_place
from takifugu.data.rows.layout import Layout, Recode, unit_name
from takifugu.data.rows.pieces import SKIPPED, UNCLEAR, Fact, Key, by_piece
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
    RunRows,
    kind_of_all,
    run_rows,
)
from takifugu.data.runs.rules import Cover, RunRules
from takifugu.data.runs.spread import Runs, Total
from takifugu.data.values.codes import UNOBSERVED
from takifugu.data.values.texts import BLANKS, two_ways


@dataclass(frozen=True)
class OfUnit:
    """What is read of one unit: its name as it is declared, and as it is written, and what its rows amount to.

    `raw` is its key as the frame has it.
    """

    name: str | None
    written: str | None
    raw: object = field(repr=False)
    totals: Sequence[Total] = field(repr=False)


@dataclass(frozen=True)
class _Scan:
    """Rows, what they amount to, and what their units are called there."""

    runs: Runs
    totals: Sequence[Total]
    written: Mapping[object, str | None]


def surveyed(
    table: Table, layout: Layout, states: Recode, rules: RunRules, window: range, sums: CellSums | None
) -> tuple[Runs, tuple[OfUnit, ...]]:
    """Return the rows, and what there is of each unit; DataError for rows that break a rule of the layout.

    Texts are taken as they are first, and read with care where that does not explain all of them.
    """
    scan = _scanned(run_rows(table, layout, states, rules, is_tidy=True), rules, window, sums)
    if not all(_is_tidy(total, scan.written, table) for total in scan.totals):
        rows = run_rows(table, layout, states, rules)
        scan = _scanned(rows, rules, window, sums)
        if rows.guessed and any(_fault(total, START) or _fault(total, END) for total in scan.totals):
            rows = run_rows(table, layout, states, rules, kind_of_all(table, layout, rules))
            scan = _scanned(rows, rules, window, sums)
        if table.without_blank_rows is not None and any(_may_be_blank(total, scan.written) for total in scan.totals):
            return surveyed(table.filled, layout, states, rules, window, sums)
    units = _checked(scan, layout, states, rules, table)
    if any(scan.runs.cover(unit.raw) != scan.runs.covers[unit.name] for unit in units):
        names = {unit.raw: unit.name for unit in units}
        scan = _scanned(scan.runs.rows, rules, window, sums, names)
        units = _checked(scan, layout, states, rules, table)
    check_covers(units, scan.runs.covers, layout, rules)
    _check_neighbours(scan.totals, layout, rules, table)
    return scan.runs, units


def _scanned(
    rows: RunRows, rules: RunRules, window: range, sums: CellSums | None,
    names: Mapping[object, str | None] | None = None,
) -> _Scan:  # fmt: skip
    """Return what rows amount to; `names` are those of the frame's units, where declared ones do not tell all."""
    calendar = rows.layout.calendar
    assert calendar is not None
    cover = {ends: Cover.of(calendar, ends, rows.step) for ends in set(rules.covered.values())}
    covers = {name: cover[ends] for name, ends in rules.covered.items()}
    runs = Runs(rows, rules, covers, rows.names if names is None else names, window)
    totals, column = runs.totals(sums), rows.layout.unit
    units = {total.unit for total in totals}
    if rows.numbered or column is None:
        return _Scan(runs, totals, {unit: rows.names.get(unit) for unit in units})
    return _Scan(runs, totals, {unit: unit_name(unit, column) for unit in units})


def _fault(total: Total, bound: int) -> int:
    """Return why a start, or an end, has no tick; 0 where it has."""
    return total.note // bound % END


def _is_tidy(total: Total, written: Mapping[object, str | None], table: Table) -> bool:
    """Return whether the texts of some rows say a state, times and a name just as they are."""
    is_name = total.unit is not None and not (isinstance(total.unit, str) and _is_untidy(total.unit, table))
    return is_name and total.code >= UNOBSERVED and not (_fault(total, START) or _fault(total, END))


def _is_untidy(name: str, table: Table) -> bool:
    return name != name.strip(BLANKS) or name in table.missing


def _checked(scan: _Scan, layout: Layout, states: Recode, rules: RunRules, table: Table) -> tuple[OfUnit, ...]:
    """Return what there is of each unit; DataError for rows that break a rule of the layout."""
    grouped = by_piece(_fact(total, scan.written) for total in scan.totals)
    if grouped:
        check_values(grouped, layout, states, table)
    _check_times(scan.totals, layout, rules)
    return tuple(_units(scan, grouped, layout, rules))


def _fact(total: Total, written: Mapping[object, str | None]) -> Fact:
    return Fact(
        key=(written[total.unit], None), code=total.code, rows=1, unplaced=_fault(total, START), low=total.low,
        high=total.high, offsets=None, first=total.row, last=None,
    )  # fmt: skip


def _may_be_blank(total: Total, written: Mapping[object, str | None]) -> bool:
    return bool(_fault(total, START)) or written[total.unit] is None


def _check_times(totals: Sequence[Total], layout: Layout, rules: RunRules) -> None:
    notes = 0
    for total in totals:
        notes |= total.note
    if notes & WITHOUT_ZONE and notes & WITH_ZONE:
        raise two_ways(str(layout.order))
    for bound, column in ((START, str(layout.order)), (END, str(rules.last_column))):
        reasons = {_fault(total, bound) for total in totals} - {0}
        if reasons:
            raise _without_tick(min(reasons), layout, column, "start" if bound == START else "end", rules)
    if notes & BACKWARDS:
        what = f"column {rules.last_column!r} has stays that end before they start"
        raise DataError(what, fix="repair them").at("end" if rules.end else "duration")


def _without_tick(reason: int, layout: Layout, column: str, bound: str, rules: RunRules) -> DataError:
    if reason == TOO_FAR:
        return DataError(f"column {column!r} has values that are too large", rule="they are no times").at("order")
    key = "order" if bound == "start" else "end" if rules.end else "duration"
    if reason == UNCLEAR:
        return DataError(
            f"column {column!r} has times that clocks in {layout.timezone!r} showed twice",
            rule="how long a state lasts is not told by the order of the rows",
            fix='write the offsets from UTC, or declare which they are: ambiguous = "first" or "last"',
        ).at("timezone")
    if reason != SKIPPED and bound == "end":
        what = "durations that are no numbers" if rules.end is None else "values that are no times as those of starts"
        return DataError(
            f"column {column!r} has {what}", fix="repair them; of a stay without an end leave it empty"
        ).at(key)
    error = without_place(reason, layout)
    error.what = error.what.replace(repr(layout.order), repr(column))
    return error


def _units(scan: _Scan, grouped: Mapping[Key, list[Fact]], layout: Layout, rules: RunRules) -> Iterator[OfUnit]:
    """Yield what there is of each unit by its declared name; DataError for one that is not declared."""
    declared = {None if name is None else budget_name(name): name for name in rules.covered}
    totals = dict[str | None, list[Total]]()
    for total in scan.totals:
        totals.setdefault(scan.written[total.unit], []).append(total)
    for (written, _), (name, _) in names_of(grouped, layout).items():
        budget = None if name is None else budget_name(name)
        if budget not in declared:
            raise DataError(
                f"column {layout.unit!r} names a {PEOPLE.one} that the roster lacks",
                rule="which people there are is declared, and not read off their rows", fix="add who is missing",
            ).at("roster")  # fmt: skip
        mine = totals[written]
        yield OfUnit(declared[budget], written, mine[0].unit, mine)


def check_covers(units: Sequence[OfUnit], covers: Mapping[str | None, Cover], layout: Layout, rules: RunRules) -> None:
    """Raise DataError for rows that lie where their unit is not covered any more, or not said to be anything yet."""
    for unit in units:
        until = covers[unit.name].until
        if max(total.high for total in unit.totals) >= until:
            what = f"column {layout.order!r} has rows at or after the time until which the data are declared to run"
            raise DataError(what, fix="move until to when the data were exported, or leave these rows out").at("until")
        if any(total.last_end is not None and total.last_end > until for total in unit.totals):
            what = f"column {rules.last_column!r} has stays that end after the data are declared to"
            raise DataError(what, fix="move until, or leave their ends empty").at("until")
    if rules.rows != "changes" or rules.before is not None:
        return
    first = {unit.name: min(total.low for total in unit.totals) for unit in units}
    for name, cover in covers.items():
        if cover.places and (name not in first or first[name] > cover.first):
            raise DataError(
                f"column {layout.order!r} has no row at or before the first step of somebody",
                rule="the state before the first change is not known",
                fix="add a row with the state then, or declare what everybody was until a first row: before = \"...\"",
            ).at("before")  # fmt: skip


def _check_neighbours(totals: Sequence[Total], layout: Layout, rules: RunRules, table: Table) -> None:
    """Raise DataError for rows of one person that no rule tells apart."""
    column, notes = rules.last_column, 0
    for total in totals:
        notes |= total.note
    if notes & TIED and (layout.duplicates == "refuse" or not table.ordered):
        raise _tied(str(layout.order), layout.duplicates)
    if notes & UNENDED:
        raise DataError(
            f"column {column!r} has a stay without an end, and another one of the same person starts later",
            rule="a stay without an end lasts until the data end", fix="write when it ended",
        ).at("end" if rules.end else "duration")  # fmt: skip
    if notes & OVERLAPPING and rules.overlap == "refuse" and rules.rows == "events":
        raise DataError(
            f"column {layout.order!r} has several events of one person in one step",
            rule="a person is in one state in each step",
            fix='declare which counts: overlap = "first" or "last", or a shorter step',
        ).at("overlap")  # fmt: skip
    if notes & OVERLAPPING and rules.overlap == "refuse":
        raise DataError(
            f"column {column!r} has stays that end after the next one of the same person has started",
            rule="a person is in one state at a time",
            fix='repair them, or declare which counts: overlap = "first" or "last" (which ends the other)',
        ).at("overlap")  # fmt: skip


def _tied(column: str, duplicates: str) -> DataError:
    if duplicates == "refuse":
        return DataError(
            f"column {column!r} has two rows of one person at one time", rule="only one of them can hold from then on",
            fix='leave one out, or declare which row counts: duplicates = "first" or "last"',
        ).at("duplicates")  # fmt: skip
    return DataError(
        f"column {column!r} has two rows of one person at one time, and this source keeps no order of its rows",
        rule="none of them is the first or the last", fix="leave one row for each time",
    ).at("duplicates")  # fmt: skip
