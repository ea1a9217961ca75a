"""Random tables of changes, stays, events and columns of steps, in the ways in which times and tables are written."""

import csv
import random
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta, timezone
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

from tests.support import engines, runs_cases
from tests.support.runs_cases import AXES, KINDS, SECOND, START, STATES, STEPS, rules_of, tables, window_of
from tests.support.runs_oracle import EPOCH, Refused, Row, Rules

from takifugu.data import Layout, Piece, Recode, open_frame, pieces
from takifugu.data.melting import melted
from takifugu.data.runs.reader import pieces_of_runs
from takifugu.data.runs.rules import RunRules
from takifugu.data.wide import Wide

#: Shortly before clocks change in Berlin, on Lord Howe Island or in Saint John's, or a year begins in week 1.
STARTS = (
    "2026-03-28T00:00", "2026-03-29T00:30", "2025-10-26T00:00", "2026-04-04T14:00", "2025-10-04T14:30",
    "2026-03-08T04:30", "2024-12-29T12:00", "1969-12-31T21:00",
)  # fmt: skip
ZONES = (None, None, None, "Europe/Berlin", "Australia/Lord_Howe", "America/St_Johns", "Asia/Tokyo")
#: Steps that fit changes of clocks, which are moved by half an hour somewhere.
FITTING = ("1s", "1min", "30min")
#: Polars and PyArrow are ten times as fast as the others.
ENGINES = (*("polars", "polars lazy", "pyarrow") * 6, *engines.ENGINES, "csv")
#: Ways to write times; those without a zone are in UTC, or clock by clocks in the one that is declared.
WITH_ZONE = ("zoned", "offset", "brief offset", "epoch_ms")
TIMES = ("time", "text", *WITH_ZONE)
LENGTHS = {"1s": SECOND, "1min": 60 * SECOND}


@dataclass(frozen=True)
class Case:
    """A table, how it is written, and what is read of it; of wall clocks `ambiguous` says which pass a time is of."""

    rules: Rules
    rows: Sequence[Row]
    engine: str
    times: str
    window: range
    gaps: str = "public"
    by: tuple[str, ...] = ()
    zone: str | None = None
    ambiguous: str = "refuse"
    length: str | None = None
    entrywise: bool = False


def case_of(c: random.Random) -> Case:
    """Return a random table of runs that keeps most rules most of the time."""
    zone = c.choice(ZONES)
    word = c.choice((*STEPS,) if zone is None else FITTING)
    step = STEPS[word] * SECOND
    size = c.choice((*(c.randrange(1, 30) for _ in range(3)), 200, 1000 if step < 3600 * SECOND else 60))
    rules = started(rules_of(c, c.choice(KINDS), step, size), in_microseconds(c.choice(STARTS)))
    engine, times = c.choice(ENGINES), c.choice(("wall", "wall text", *WITH_ZONE) if zone else TIMES)
    rules = replace(rules, has_order=engine in (*engines.IN_ROWS, "csv"))
    rows = tables(c, rules)
    if times == "epoch_ms":
        rows = [(unit, rounded(at), state, rounded(end)) for unit, at, state, end in rows]
    gaps = c.choice(("public", "hidden"))
    by = c.choice(((), *AXES)) if size * step < 400 * 86_400 * SECOND else ()
    length = c.choice((None, *LENGTHS)) if rules.rows == "stays" else None
    return Case(
        rules, rows, engine, times, window_of(c, size), gaps, by, zone,
        c.choice(("refuse", "first", "last")) if zone else "refuse", length, gaps == "public" and c.random() < 0.5,
    )  # fmt: skip


def in_microseconds(text: str) -> int:
    return (datetime.fromisoformat(text).replace(tzinfo=UTC) - EPOCH) // timedelta(microseconds=1)


def rounded(moment: int | None) -> int | None:
    return None if moment is None else moment // 1000 * 1000


def started(rules: Rules, start: int) -> Rules:
    """Return the same rules about a calendar that starts elsewhere."""
    by = start - START
    covered = {unit: (first + by, last + by) for unit, (first, last) in rules.covered.items()}
    return replace(rules, start=start, until=rules.until + by, covered=covered)


def rows_read(case: Case) -> list[Row]:
    """Return the rows with the times that they mean; Refused for one that clocks show twice, if none is declared."""
    read = []
    for unit, at, state, end in case.rows:
        meant = _meant(case, at)
        if end is not None:
            end = _meant(case, end) if case.length is None else (meant or 0) + end - (at or 0)
        read.append((unit, meant, state, end))
    return read


def _meant(case: Case, moment: int | None) -> int | None:
    if moment is None or not case.times.startswith("wall"):
        return moment
    zone = ZoneInfo(str(case.zone))
    clock = stamp(moment).astimezone(zone)
    passes = [(clock.replace(fold=fold).astimezone(UTC) - EPOCH) // timedelta(microseconds=1) for fold in (0, 1)]
    if passes[0] != passes[1] and case.ambiguous == "refuse":
        raise Refused("ambiguous")
    return passes[case.ambiguous == "last"]


def stamp(moment: int) -> datetime:
    return EPOCH + timedelta(microseconds=moment)


def _time(case: Case, moment: int | None) -> Any:
    if moment is None:
        return None
    exact, naive = stamp(moment), stamp(moment).replace(tzinfo=None)
    if case.times == "epoch_ms":
        return moment // 1000
    if case.times.startswith("wall"):
        naive = exact.astimezone(ZoneInfo(str(case.zone))).replace(tzinfo=None)
        return naive.isoformat() if case.times == "wall text" else naive
    if case.times == "offset":
        return exact.astimezone(timezone(timedelta(minutes=330))).isoformat()
    if case.times == "brief offset":
        return f"{exact.astimezone(timezone(timedelta(minutes=-210))):%Y-%m-%d %H:%M:%S.%f %z}"
    return {"time": naive, "zoned": exact, "text": naive.isoformat()}[case.times]


def frame_of(case: Case, folder: Path) -> Any:
    """Return the table as a frame of the case's engine, or as a file."""
    kind = {"epoch_ms": "int", "wall": "time", "time": "time", "zoned": "zoned"}.get(case.times, "text")
    ends: list[Any] = [_time(case, row[3]) for row in case.rows]
    if case.length is not None:
        ends = [None if end is None else (end - (at or 0)) / LENGTHS[case.length] for _, at, _, end in case.rows]
    columns: dict[str, tuple[str, list[Any]]] = {
        "unit": ("text", [row[0] for row in case.rows]), "state": ("text", [row[2] for row in case.rows]),
        "start": (kind, [_time(case, row[1]) for row in case.rows]),
        "end": ("float" if case.length is not None else kind, ends),
    }  # fmt: skip
    if case.rules.rows == "wide":
        columns = wide_columns(case)
    if case.engine != "csv":
        return engines.ENGINES[case.engine](columns)
    with (folder / "log.csv").open("w", newline="") as file:
        lines = csv.writer(file)
        lines.writerow(columns)
        lines.writerows(zip(*(map(_text, cells) for _, cells in columns.values()), strict=True))
    return folder / "log.csv"


def wide_columns(case: Case) -> dict[str, tuple[str, list[Any]]]:
    """Return a column for each time at which anybody has a row, with a cell for each person."""
    people, times = dict.fromkeys(row[0] for row in case.rows), sorted({row[1] or 0 for row in case.rows})
    states = {(unit, at): state for unit, at, state, _ in case.rows}
    cells = {_time(case, at): ("text", [states.get((unit, at)) for unit in people]) for at in times}
    return {"unit": ("text", [*people]), **cells}


def _text(cell: Any) -> str:
    return "" if cell is None else cell.isoformat() if isinstance(cell, datetime) else str(cell)


def layout_of(case: Case) -> Layout:
    """Return what is declared of the table's columns."""
    layout = runs_cases.layout_of(case.rules, case.window, case.gaps, case.by, case.zone)
    written = {"order_format": "epoch_ms"} if case.times == "epoch_ms" else {}
    zoned = {} if case.zone is None else {"timezone": case.zone, "ambiguous": case.ambiguous}
    return replace(layout, **written, **zoned)


def declared(case: Case) -> RunRules:
    """Return what is declared of the table's rows."""
    rules = runs_cases.declared(case.rules)
    return rules if case.length is None else replace(rules, end=None, duration=("end", LENGTHS[case.length]))


def read(case: Case, folder: Path) -> tuple[Piece, ...]:
    """Return what the library reads of the table."""
    table, layout, states = open_frame(frame_of(case, folder)), layout_of(case), Recode(STATES)
    if case.rules.rows == "wide":
        table = melted(table, Wide(("*:*",), "start", "state", ("unit",)))
    if case.rules.rows in ("samples", "wide"):
        return pieces(table, layout, states, entrywise=case.entrywise)
    return pieces_of_runs(table, layout, states, declared(case), case.entrywise)
