"""Rows of changes, stays or events with exact times: who, in which state, from which tick on, and up to which one."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field, replace
from datetime import timedelta

import narwhals.stable.v2 as nw

from takifugu.core.errors import DataError
from takifugu.core.lists import among
from takifugu.data.engines.differences import Frame, is_duckdb, narrowed, numbered, settled, with_number_of_text
from takifugu.data.engines.sanitise import (
    as_kind,
    is_text,
    key_column,
    number,
    plain,
    round_half_even,
    state_code,
    text,
)
from takifugu.data.engines.table import Table
from takifugu.data.rows.joined_order import with_joined, with_joined_order
from takifugu.data.rows.kinds_of_order import kind_of_type
from takifugu.data.rows.layout import Layout, Recode, parse_step, unit_name
from takifugu.data.rows.local_time import in_utc
from takifugu.data.rows.order import kind_of_texts, with_ticks
from takifugu.data.rows.picked import GUESSED_FROM, is_written, picked, raw_states, with_order_texts, with_plain_texts
from takifugu.data.rows.pieces import MISSING
from takifugu.data.runs.rules import RunRules
from takifugu.data.times.zones import MICROSECOND
from takifugu.data.values.texts import UNOBSERVED, two_kinds

#: A stay cannot be so many microseconds long.
LONGEST = 2.0**52
#: Farther ticks do not fit into the integers that are computed with; why a time has none that does, beside `pieces`.
FARTHEST, TOO_FAR = 2**61, 4
#: What a note of a row is the sum of: why its start and its end have no tick, times these, and what is so of it.
START, END, WITHOUT_ZONE, WITH_ZONE, BACKWARDS, TIED, UNENDED, OVERLAPPING = 1, 8, 64, 128, 256, 512, 1024, 2048


@dataclass(frozen=True)
class RunRows:
    """A frame with `unit`, `code` (the state), `note` and `start`, and of stays `end`, null of one without an end.

    `step` is how many ticks make a step; `guessed` says that the kind of times was seen in the first rows alone. With
    `in_rows` there is `row`, too: where it stands. In tidy rows texts are taken as they are, without blanks to strip at
    their ends. `names` are declared ones by how the column has them; with `numbered` a unit is its place among these.
    """

    frame: Frame
    table: Table
    layout: Layout
    step: int
    guessed: bool
    has_ends: bool
    in_rows: bool
    names: Mapping[object, str | None] = field(repr=False)
    numbered: bool

    def name(self, unit: object) -> str | None:
        """Return a unit's name in the data."""
        column = self.layout.unit
        if self.numbered or column is None:
            return self.names.get(unit)
        return unit_name(unit, column)


def run_rows(
    table: Table, layout: Layout, states: Recode, rules: RunRules, kind: nw.dtypes.DType | None = None,
    is_tidy: bool = False,
) -> RunRows:  # fmt: skip
    """Pick the columns and give each row its ticks.

    `kind` is that of texts of times, if known. With `is_tidy` blanks are not stripped: a text with some is no state, no
    time, and another name. Raises InputError for a missing column, DataError for unfit values.
    """
    table, layout, ends = _with_joined_times(table, layout, rules)
    closing = ends.column
    if rules.duration is not None:
        closing, _ = rules.duration
    roles = {"unit": layout.unit, "tick": layout.order, "raw": layout.value, "closing": closing}
    frame, _, kinds = picked(table, roles)
    frame = _with_code(frame, kinds["raw"], table, layout, states, is_tidy)
    frame = _with_unit(frame, kinds.get("unit"), table, layout, is_tidy)
    in_rows = table.ordered and (layout.duplicates != "refuse" or not is_tidy)
    if in_rows:
        frame = numbered(frame)
    clock, guessed = layout.clock, False
    if is_written(kinds["tick"], clock):
        guessed = kind is None and clock.form is None
        texts = with_order_texts(frame, "tick", table, layout)
        kind = kind or kind_of_texts(texts.head(GUESSED_FROM), str(layout.order), clock.form)
        is_in_time = isinstance(parse_step(str(layout.step)), timedelta) and not clock.epoch
        if guessed and kind.is_integer() and is_in_time:
            kind = nw.Datetime("us")  # a column without a text is read as numbers; where there are some, all are read
    else:
        kind = kinds["tick"]
    frame, step = _ticked(frame, "start", "tick", kinds["tick"], kind, table, layout, is_tidy, ends.are_next)
    if ends.column is not None:
        _check_kinds(kinds["tick"], kinds["closing"], ends.column, layout)
        frame = _with_end(frame, kinds["closing"], kind, step, ends, table, layout, is_tidy)
    elif rules.duration is not None:
        frame = _with_duration(frame, kinds["closing"], table, *rules.duration)
    has_ends = rules.last_column is not None
    frame = _with_note(frame, has_ends)
    columns = ["unit", "code", "note", "start"]
    if has_ends:
        columns.append("end")
    if in_rows:
        columns.append("row")
    frame, names, is_numbered = _with_number(frame.select(*columns), kinds.get("unit"), table, rules.covered, is_tidy)
    narrow = ["code", "note"]
    if is_numbered:
        narrow.append("unit")
    frame = narrowed(frame, narrow)
    return RunRows(frame, table, layout, step, guessed, has_ends, in_rows, names, is_numbered)


def _check_kinds(start: nw.dtypes.DType, end: nw.dtypes.DType, column: str, layout: Layout) -> None:
    """Raise DataError for starts and ends that are of two kinds of time by their types."""
    first, last = kind_of_type(start, layout), kind_of_type(end, layout)
    if first is not None and last is not None and first != last:
        raise two_kinds(str(layout.order), column, (first, last))


def _with_end(
    frame: Frame, typed: nw.dtypes.DType, kind: nw.dtypes.DType, step: int, ends: _Ends, table: Table, layout: Layout,
    is_tidy: bool,
) -> Frame:  # fmt: skip
    """Add the ticks of ends, `step` ticks a step.

    Texts are of the kind of starts.
    """
    of_ends = replace(layout, order=ends.column)
    end_kind = typed
    if is_written(typed, layout.clock):
        end_kind = nw.Datetime("us") if isinstance(kind, nw.Date | nw.Datetime) and is_text(typed) else kind
    frame, step_of_ends = _ticked(frame, "end", "closing", typed, end_kind, table, of_ends, is_tidy, ends.are_next)
    if step_of_ends != step:
        raise DataError(
            f"column {layout.order!r} and column {ends.column!r} hold numbers of two kinds, whole ones and others",
            fix="write both alike",
        ).at("end")
    return frame


def _with_note(frame: Frame, has_ends: bool) -> Frame:
    """Add `note`, the faults and written zones of a row's times."""
    note = nw.col("start_fault") * START
    for weight, zone in ((WITHOUT_ZONE, 0), (WITH_ZONE, 1)):
        is_so = (nw.col("start_zoned") == zone).fill_null(False)
        if has_ends:
            is_so = is_so | (nw.col("end_zoned") == zone).fill_null(False)
        note = note + is_so.cast(nw.Int64) * weight
    if has_ends:
        back = (nw.col("end") < nw.col("start")).fill_null(False) & (nw.col("start_fault") == 0)
        note = note + nw.col("end_fault") * END + back.cast(nw.Int64) * BACKWARDS
    return settled(frame.with_columns(note=note), ["note"])


def _with_number(
    frame: Frame, kind: nw.dtypes.DType | None, table: Table, declared: Collection[str | None], is_tidy: bool
) -> tuple[Frame, Mapping[object, str | None], bool]:
    """Return the rows, and declared names by units.

    DuckDB's tidy units become numbers, which sort faster.
    """
    if kind is None:
        return frame, {0: None}, False
    names = list(map(str, declared))
    numbers = {name: number for number, name in enumerate(names) if name not in table.missing}
    if numbers and is_tidy and is_duckdb(frame) and (is_text(kind) or kind.is_integer()):
        return with_number_of_text(frame, "unit", numbers), dict(enumerate(names)), True
    return frame, {unit: name for name in names if (unit := as_kind(name, kind)) is not None}, False


def kind_of_all(table: Table, layout: Layout, rules: RunRules) -> nw.dtypes.DType:
    """Return the kind of times by all texts, not just the first."""
    table, layout, ends = _with_joined_times(table, layout, rules)
    kinds = [
        kind_of_texts(with_order_texts(table.pick({"tick": column}), "tick", table, layout), column, layout.clock.form)
        for column in (str(layout.order), ends.column) if column is not None
    ]  # fmt: skip
    return next((kind for kind in kinds if not kind.is_integer()), kinds[0])


@dataclass(frozen=True)
class _Ends:
    """The column of the ends of stays, if any, and whether each is the first such time of day after its start."""

    column: str | None
    are_next: bool


def _with_joined_times(table: Table, layout: Layout, rules: RunRules) -> tuple[Table, Layout, _Ends]:
    """Join dates with times of day, of starts and of ends.

    An end without a date is put on that of its start first: a night then ends before it starts, that is a day later.
    """
    pair, are_next = rules.end, False
    if layout.order is not None and layout.time_of_day is not None and isinstance(pair, str):
        pair, are_next = (layout.order, pair), True
    table, layout = with_joined_order(table, layout)
    if not isinstance(pair, tuple):
        return table, layout, _Ends(pair, are_next)
    table, name = with_joined(table, pair)
    return table, layout, _Ends(name, are_next)


def _with_unit(frame: Frame, kind: nw.dtypes.DType | None, table: Table, layout: Layout, is_tidy: bool) -> Frame:
    if kind is None or layout.unit is None:
        return frame.with_columns(unit=nw.lit(0, nw.Int64))
    frame = frame.with_columns(unit=key_column("unit", layout.unit, kind))
    if is_text(kind) and not is_tidy:
        frame = frame.with_columns(unit=text(nw.col("unit"), table.missing))
    return frame


def _with_code(
    frame: Frame, kind: nw.dtypes.DType, table: Table, layout: Layout, states: Recode, is_tidy: bool
) -> Frame:
    """Add the number of each row's state, by text or bin."""
    frame = frame.with_columns(raw=raw_states(kind, table, layout, states))
    codes = states.codes
    if states.bins is None and is_text(kind):
        if is_tidy:
            codes = {**codes, **dict.fromkeys(table.missing, UNOBSERVED)}
        else:
            frame = frame.with_columns(raw=text(nw.col("raw"), table.missing))
    code = state_code("raw", frame.collect_schema()["raw"], codes)
    return settled(frame.with_columns(code=code), ["code"])


def _ticked(
    frame: Frame, name: str, role: str, typed: nw.dtypes.DType, kind: nw.dtypes.DType, table: Table, layout: Layout,
    is_tidy: bool, are_next: bool = False,
) -> tuple[Frame, int]:  # fmt: skip
    """Add a column's ticks, faults and written zones under a name.

    With `are_next` ends are moved to the day after where they are not after `clock_start`, that of their start.
    """
    clock, column = layout.clock, str(layout.order)
    in_texts = is_written(typed, clock)
    plain = None
    if is_tidy and in_texts and isinstance(kind, nw.Datetime) and clock.form is None and not clock.epoch:
        plain = with_plain_texts(frame, role, kind)
    if plain is not None:
        frame, in_texts = plain, False
    else:
        frame = frame.with_columns(tick=nw.col(role))
        if in_texts:
            frame = with_order_texts(frame, role, table, layout)
        frame = frame.with_columns(written=(~nw.col("tick").is_null()).cast(nw.Int64))
    frame, step, _ = with_ticks(frame, column, layout.step, kind, in_texts, clock)
    assert step is not None  # which release files of runs declare
    frame = settled(frame, ["tick", "written"])
    if are_next and name == "start":
        frame = frame.with_columns(clock_start=nw.col("tick"))
    elif are_next:
        frame = _after_starts(frame, step, layout)
    has_zone = isinstance(kind, nw.Datetime) and kind.time_zone is not None and not in_texts
    is_clock_time = isinstance(kind, nw.Date | nw.Datetime) and not has_zone
    if clock.zone is not None and is_clock_time:
        frame, _ = in_utc(frame, ["unit"], clock.zone, False, layout.ambiguous)
    return _with_fault(frame, name, has_zone or bool(clock.epoch and not is_clock_time)), step


def _after_starts(frame: Frame, step: int, layout: Layout) -> Frame:
    """Move times of day that are not after `clock_start` to the next day."""
    length = parse_step(str(layout.step))
    if not isinstance(length, timedelta):  # numbers have no days
        return frame
    a_day = step * (timedelta(days=1) // MICROSECOND) // (length // MICROSECOND)
    is_next_day = (nw.col("tick") <= nw.col("clock_start")).fill_null(False)
    return settled(frame.with_columns(tick=nw.col("tick") + is_next_day.cast(nw.Int64) * a_day), ["tick"])


def _with_fault(frame: Frame, name: str, are_moments: bool) -> Frame:
    """Replace ticks by those of a name, its faults, and whether each is a moment: by its type, or its written zone."""
    columns = frame.collect_schema().names()
    tick = nw.col("tick")
    is_far = ((tick >= FARTHEST) | (tick <= -FARTHEST)).fill_null(False)
    fault = nw.when(is_far).then(nw.lit(TOO_FAR, nw.Int64)).otherwise(nw.lit(0, nw.Int64))
    fault = nw.when(tick.is_null()).then(nw.lit(MISSING, nw.Int64)).otherwise(fault)
    if "fault" in columns:
        fault = nw.when(nw.col("fault") > 0).then(nw.col("fault")).otherwise(fault)
    if name == "end":  # a stay may have none
        fault = nw.when(nw.col("written") == 1).then(fault).otherwise(nw.lit(0, nw.Int64))
    zoned: nw.Expr = nw.when(~tick.is_null()).then(nw.lit(int(are_moments), nw.Int64))
    if "zoned" in columns:
        zoned = nw.col("zoned")
    frame = frame.with_columns(
        tick.cast(nw.Int64).alias(name), fault.alias(f"{name}_fault"), zoned.alias(f"{name}_zoned")
    )
    frame = settled(frame, [name, f"{name}_fault", f"{name}_zoned"])
    good: nw.Expr = nw.when(nw.col(f"{name}_fault") == 0).then(nw.col(name))
    if name == "start":
        good = good.fill_null(0)
    frame = settled(frame.with_columns(good.alias(name)), [name])
    return frame.drop(*among(("tick", "written", "zoned", "fault"), columns))


def _with_duration(frame: Frame, kind: nw.dtypes.DType, table: Table, column: str, unit: int) -> Frame:
    """Add the end of each stay, by its length in `unit`.

    Halves of a microsecond go to the even one. Only an empty cell is of a stay without an end, and no "nan" or "inf".
    """
    length = number("closing", column, kind, table) * float(unit)
    written = plain("closing", kind)
    assert written is not None, "of a column of numbers, or of texts"
    if is_text(kind):
        written = text(written, table.missing)
    is_there = (~written.is_null()).cast(nw.Int64)
    frame = frame.with_columns(length=length, there=is_there, end_zoned=nw.col("start_zoned"))
    is_fit = (nw.col("length").abs() < LONGEST).fill_null(False)
    frame = frame.with_columns(
        end_fault=nw.when(~is_fit).then(nw.col("there") * MISSING).otherwise(nw.lit(0, nw.Int64)),
        length=nw.when(is_fit).then(nw.col("length")).otherwise(nw.lit(0.0)),
    )
    frame = round_half_even(settled(frame, ["there", "end_fault"]), ["length"])
    end = nw.when(nw.col("there") == 1).then(nw.col("start") + nw.col("length"))
    return settled(frame.with_columns(end=end), ["end"]).drop("there", "length")
