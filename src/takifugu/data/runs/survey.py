"""What rows of changes, stays or events amount to for each unit, and whether they keep the rules that were declared."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import narwhals.stable.v2 as nw

from takifugu.core.errors import DataError
from takifugu.core.names import budget_name
from takifugu.core.people import PEOPLE
from takifugu.data.engines.differences import collected
from takifugu.data.engines.table import Table
from takifugu.data.measure import check_values, names_of, without_place
from takifugu.data.rows.layout import Layout, Recode, text_of, unit_name
from takifugu.data.rows.pieces import SKIPPED, UNCLEAR, Fact, Key, by_piece
from takifugu.data.runs.columns import RunRows, kind_of_all, run_rows
from takifugu.data.runs.rules import Cover, RunRules
from takifugu.data.values.codes import UNOBSERVED
from takifugu.data.values.texts import BLANKS, two_ways

#: Farther ticks do not fit into the integers that are computed with.
FARTHEST = 2**61
_BOUNDS = ("start", "end")


@dataclass(frozen=True)
class OfUnit:
    """What is read of one unit: its name as it is declared, and as it is written, its facts, its first and last tick.

    `last_end` is when its last stay ends, None where there is none; `raw` is its key as the engine has it.
    """

    name: str | None
    written: str | None
    raw: object = field(repr=False)
    facts: tuple[Fact, ...] = field(repr=False)
    first: int
    last: int
    last_end: int | None
    has_gaps: bool


@dataclass(frozen=True)
class _Group:
    """The rows of one unit in one state."""

    fact: Fact
    raw: object
    last_end: int | None
    faults: Mapping[str, int]
    zones: frozenset[int]
    backwards: bool


def surveyed(table: Table, layout: Layout, states: Recode, rules: RunRules) -> tuple[RunRows, tuple[OfUnit, ...]]:
    """Return the rows, and what there is of each unit; DataError for rows that break a rule of the layout.

    Texts are taken as they are first, and read with care where that does not explain all of them.
    """
    rows = run_rows(table, layout, states, rules, is_tidy=True)
    groups = _groups(rows)
    if all(_is_tidy(group, table) for group in groups):
        return rows, _checked(groups, layout, states, rules, table)
    rows = run_rows(table, layout, states, rules)
    groups = _groups(rows)
    if rows.guessed and any(group.faults["start"] or group.faults["end"] for group in groups):
        rows = run_rows(table, layout, states, rules, kind_of_all(table, layout, rules))
        groups = _groups(rows)
    if table.without_blank_rows is not None and any(_may_be_blank(group) for group in groups):
        return surveyed(table.filled, layout, states, rules)
    return rows, _checked(groups, layout, states, rules, table)


def _is_tidy(group: _Group, table: Table) -> bool:
    """Return whether the texts of some rows say a state, times and a name just as they are."""
    has_name = group.raw is not None and not (isinstance(group.raw, str) and _is_untidy(group.raw, table))
    return has_name and group.fact.code >= UNOBSERVED and not any(group.faults.values())


def _is_untidy(name: str, table: Table) -> bool:
    return name != name.strip(BLANKS) or name in table.missing


def _checked(
    groups: Sequence[_Group], layout: Layout, states: Recode, rules: RunRules, table: Table
) -> tuple[OfUnit, ...]:
    """Return what there is of each unit; DataError for rows that break a rule of the layout."""
    grouped = by_piece(group.fact for group in groups)
    if groups:
        check_values(grouped, layout, states, table)
    _check_times(groups, layout, rules)
    return tuple(_units(groups, grouped, layout, rules))


def _groups(rows: RunRows) -> list[_Group]:
    """Return the rows of each unit in each state, summed up where they are."""
    bounds = _BOUNDS if rows.has_ends else _BOUNDS[:1]
    frame, sums = rows.frame, {"rows": nw.len()}
    if rows.has_ends:
        frame = frame.with_columns(back=(nw.col("end") < nw.col("start")).fill_null(False).cast(nw.Int64))
        sums |= {"back": nw.col("back").max(), "last_end": nw.col("end").max()}
    sums |= {"low": nw.col("start").min(), "high": nw.col("start").max(), "first": nw.col("row").min()}
    for name in bounds:
        sums |= {
            f"{name}_fault": nw.col(f"{name}_fault").max(),
            f"{name}_low": nw.col(f"{name}_zoned").min(), f"{name}_high": nw.col(f"{name}_zoned").max(),
        }  # fmt: skip
    columns = ["unit", "code", *sums]
    return [
        _group(rows, dict(zip(columns, values, strict=True)))
        for values in collected(frame.group_by("unit", "code").agg(**sums).select(*columns))
    ]


def _group(rows: RunRows, read: Mapping[str, object]) -> _Group:
    def whole(name: str) -> int | None:
        text = text_of(read.get(name))
        return None if text is None else int(text)

    name = None if rows.layout.unit is None else unit_name(read["unit"], rows.layout.unit)
    faults = {bound: whole(f"{bound}_fault") or 0 for bound in _BOUNDS}
    zones = (whole(f"{bound}_{which}") for bound in _BOUNDS for which in ("low", "high"))
    fact = Fact(
        key=(name, None), code=int(str(read["code"])), rows=whole("rows") or 0, unplaced=faults["start"],
        low=whole("low"), high=whole("high"), offsets=None, first=whole("first"), last=None,
    )  # fmt: skip
    there = frozenset(zone for zone in zones if zone is not None)
    return _Group(fact, read["unit"], whole("last_end"), faults, there, bool(whole("back")))


def _may_be_blank(group: _Group) -> bool:
    return bool(group.fact.unplaced) or (group.fact.key[0] is None)


def _check_times(groups: Sequence[_Group], layout: Layout, rules: RunRules) -> None:
    if len(frozenset[int]().union(*(group.zones for group in groups))) > 1:
        raise two_ways(str(layout.order))
    for bound, column in (("start", str(layout.order)), ("end", str(rules.last_column))):
        reasons = {group.faults[bound] for group in groups} - {0}
        if reasons:
            raise _without_tick(min(reasons), layout, column, bound, rules)
    if any(group.backwards for group in groups):
        what = f"column {rules.last_column!r} has stays that end before they start"
        raise DataError(what, fix="repair them").at("end" if rules.end else "duration")
    sizes = [abs(n) for g in groups for n in (g.fact.low, g.fact.high, g.last_end) if n is not None]
    if max(sizes, default=0) >= FARTHEST:
        raise DataError(f"column {layout.order!r} has values that are too large", rule="they are no times").at("order")


def _without_tick(reason: int, layout: Layout, column: str, bound: str, rules: RunRules) -> DataError:
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


def _units(
    groups: Sequence[_Group], grouped: Mapping[Key, list[Fact]], layout: Layout, rules: RunRules
) -> list[OfUnit]:
    """Return what there is of each unit by its declared name; DataError for one that is not declared."""
    declared = {None if name is None else budget_name(name): name for name in rules.covered}
    ends, raw = dict[Key, list[int]](), dict[Key, object]()
    for group in groups:
        raw[group.fact.key] = group.raw
        ends.setdefault(group.fact.key, []).extend([] if group.last_end is None else [group.last_end])
    units = []
    for key, (name, _) in names_of(grouped, layout).items():
        budget = None if name is None else budget_name(name)
        if budget not in declared:
            raise DataError(
                f"column {layout.unit!r} names a {PEOPLE.one} that the roster lacks",
                rule="which people there are is declared, and not read off their rows", fix="add who is missing",
            ).at("roster")  # fmt: skip
        facts = grouped[key]
        units.append(OfUnit(
            declared[budget], key[0], raw[key], tuple(facts), min(f.low or 0 for f in facts),
            max(f.high or 0 for f in facts), max(ends[key], default=None), any(f.code == -1 for f in facts),
        ))  # fmt: skip
    return units


def check_covers(units: Sequence[OfUnit], covers: Mapping[str | None, Cover], layout: Layout, rules: RunRules) -> None:
    """Raise DataError for rows that lie where their unit is not covered any more, or not said to be anything yet."""
    for unit in units:
        if unit.last >= covers[unit.name].until:
            what = f"column {layout.order!r} has rows at or after the time until which the data are declared to run"
            raise DataError(what, fix="move until to when the data were exported, or leave these rows out").at("until")
        if unit.last_end is not None and unit.last_end > covers[unit.name].until:
            what = f"column {rules.last_column!r} has stays that end after the data are declared to"
            raise DataError(what, fix="move until, or leave their ends empty").at("until")
    if rules.rows != "changes" or rules.before is not None:
        return
    first = {unit.name: unit.first for unit in units}
    for name, cover in covers.items():
        if cover.places and (name not in first or first[name] > cover.first):
            raise DataError(
                f"column {layout.order!r} has no row at or before the first step of somebody",
                rule="the state before the first change is not known",
                fix="add a row with the state then, or declare what everybody was until a first row: before = \"...\"",
            ).at("before")  # fmt: skip
