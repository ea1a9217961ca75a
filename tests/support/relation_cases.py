"""Random tables of every kind of rows, written in every form, with what is declared of them."""

import random
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
from tests.support.relation_oracle import EPOCH, Meaning, Row

ZONES = ["Europe/Berlin", "America/New_York", "America/St_Johns", "Australia/Lord_Howe", "Asia/Kathmandu", "UTC"]
DAYS = [(2025, 1, 1), (2025, 3, 9), (2025, 3, 29), (2025, 3, 30), (2025, 4, 5), (2025, 10, 4), (2025, 10, 25),
        (2025, 10, 26), (2025, 11, 2), (1965, 6, 1), (2024, 2, 28), (1969, 12, 31), (2024, 12, 30)]  # fmt: skip
STEPS = {"30min": 1800, "1h": 3600, "15min": 900, "7min": 420, "6h": 21600, "10s": 10, "1d": 86400}
SECOND = 10**6


@dataclass
class Case:
    """Rows, what they mean, the keys of [source] with a file or a frame, and how the table is asked for."""

    rows: list[Row]
    meaning: Meaning
    keys: dict[str, Any]
    form: str
    frame: Any = field(default=None, repr=False)


def random_case(
    seed: int, folder: Path, kinds: Sequence[str] = ("samples", "samples", "changes", "stays", "events")
) -> Case:
    """Return the case of a number; clocks that skip or repeat a declared end are left to other numbers."""
    attempt = 0
    while True:
        rng = random.Random(f"{seed} {attempt}")
        case = _case(rng, folder / f"table{seed}", kinds)
        if case is not None:
            return case
        attempt += 1


def _case(rng: random.Random, path: Path, kinds: Sequence[str]) -> Case | None:
    kind = rng.choice(kinds)
    time = rng.choice(["number", "clock", "clock", "moment", "moment", "date"])
    if kind != "samples" and time == "date":
        time = "clock"
    zone = rng.choice(ZONES) if time == "moment" else None
    step: Any = rng.choice([1, 1, 2, 5]) if time == "number" else rng.choice([*STEPS][:-1])
    if time == "date":
        step = "1d"
    width = step if isinstance(step, int) else STEPS[step] * SECOND
    size = rng.choice([5, 20, 60, 61, 130])
    has_calendar = kind != "samples" or rng.random() < 0.6
    ends = _ends(rng, time, zone, width, size)
    if ends is None:
        return None
    start, declared = ends
    keys: dict[str, Any] = {"value": "what", "order": "t", "step": step, "rows": kind}
    if zone:
        keys["timezone"] = zone
    if has_calendar:
        keys |= dict(zip(("from", "until"), declared, strict=True))
    has_unit = rng.random() > 0.1
    if has_unit:
        keys["unit"] = "who"
    has_recording = kind == "samples" and not has_calendar and rng.random() < 0.3
    if has_recording:
        keys["recording"] = "part"
    if kind == "stays":
        keys["end"] = "stop"
    units = [f"p{number}" for number in range(rng.randint(1, 4))] if has_unit else [None]
    covers = _covers(rng, units, kind, has_calendar, has_recording, start, width, size)
    if covers is not None and has_unit:
        keys["roster"] = _roster(covers, time, zone, start, width, size)
        if keys["roster"] is None:
            return None
    if kind != "samples" and (rng.random() < 0.8 if kind == "changes" else rng.random() < 0.5):
        keys["default_state"] = "a"
    keys["nulls"] = rng.choice(["refuse", "unobserved", "unobserved"])
    keys["gaps"] = rng.choice(["hidden", "public"]) if has_calendar else "public"
    window, by = None, tuple[str, ...]()
    if has_calendar and rng.random() < 0.3:
        first = rng.randrange(size - 1)
        window = range(first, rng.randrange(first + 1, size + 1))
    if has_calendar and time != "number":
        by = rng.choice(
            [(), ("hour",), ("weekday",), ("date",), ("weekday", "hour"), ("date", "hour"), ("week",), ("month",)]
        )
        if time == "date" or step == "6h":
            by = tuple(axis for axis in by if axis != "hour")
    rows = _rows(rng, kind, units, has_recording, start, width, size)
    _flaw(rng, rows, kind, has_unit, start, width, size)
    if rng.random() < 0.5:
        rng.shuffle(rows)
    meaning = Meaning(
        kind, ("a", "b", "c"), width, time != "number", start if has_calendar else None, size if has_calendar else None,
        zone, window, by, keys["gaps"], keys["nulls"], keys.get("default_state"), covers, has_unit, has_recording,
    )  # fmt: skip
    case = Case(rows, meaning, keys, rng.choice(["csv", "csv", "pandas", "polars", "arrow", "parquet"]))
    _written(rng, case, time, zone, path)
    return case


def _ends(rng: random.Random, time: str, zone: str | None, width: int, size: int) -> tuple[int, tuple[Any, Any]] | None:
    """Return the first tick, and both ends as keys; None where clocks skip or repeat one."""
    if time == "number":
        start = rng.choice([0, 0, 10])
        return start, (start, start + size * width)
    day = datetime(*rng.choice(DAYS)) + timedelta(hours=0 if time == "date" else rng.choice([0, 0, 5]))
    if zone is None:
        first = day.replace(tzinfo=UTC)
        texts = [(first + timedelta(microseconds=n * width)).replace(tzinfo=None).isoformat() for n in (0, size)]
        if time == "date":
            texts = [text[:10] for text in texts]
        return (first - EPOCH) // timedelta(microseconds=1), (texts[0], texts[1])
    there = ZoneInfo(zone)
    first = day.replace(tzinfo=there).astimezone(UTC)
    ticks = [(first - EPOCH) // timedelta(microseconds=1) + n * width for n in (0, size)]
    texts = list[str]()
    for tick in ticks:
        wall = (EPOCH + timedelta(microseconds=tick)).astimezone(there).replace(tzinfo=None)
        both = {wall.replace(tzinfo=there, fold=fold).astimezone(UTC) for fold in (0, 1)}
        if len(both) > 1:
            return None
        texts.append(wall.isoformat())
    hours = [*range(ticks[0], ticks[1], 3600 * SECOND), ticks[1]]
    changes = {(EPOCH + timedelta(microseconds=tick)).astimezone(there).utcoffset() for tick in hours}
    shifts = {(one - other) // timedelta(microseconds=1) for one in changes for other in changes if one and other}
    if any(shift % width for shift in shifts):  # steps do not fit the change of clocks
        return None
    return ticks[0], (texts[0], texts[1])


def _covers(
    rng: random.Random,
    units: Sequence[str | None],
    kind: str,
    has_calendar: bool,
    has_recording: bool,
    start: int,
    width: int,
    size: int,
) -> dict[str, tuple[int, int]] | None:
    usual = (start, start + size * width)
    if kind == "samples":
        if not has_calendar or units == [None] or has_recording or rng.random() < 0.7:
            return None
        covers = {str(unit): usual for unit in [*units, "nobody"]}
        apart = random.Random(f"{start} {size} {units}")  # so that other draws stay as they are
        if apart.random() < 0.5:
            covers[str(apart.choice(units))] = (usual[0], start + apart.randint(size // 2, size) * width)
        if apart.random() < 0.1:
            covers[str(units[0])] = (start + width, usual[1])
        return covers
    covers = {str(unit or ""): usual for unit in units}
    if units != [None] and rng.random() < 0.4:
        unit = rng.choice([*covers])
        low, high = sorted(start + rng.randint(0, size) * width for _ in range(2))
        covers[unit] = (low, usual[1]) if rng.random() < 0.5 else (usual[0], high)
    return covers


def _roster(covers: dict[str, tuple[int, int]], time: str, zone: str | None, start: int, width: int, size: int) -> Any:
    usual = (start, start + size * width)
    if all(ends == usual for ends in covers.values()):
        return [*covers]
    texts = list[list[str | None]]()
    for number in (0, 1):
        column = list[str | None]()
        for ends in covers.values():
            text = None if ends[number] == usual[number] else _text(ends[number], time, zone, "T", 0, True)
            column.append(text)
        texts.append(column)
    if zone is not None and any(_is_twice(tick, zone) for ends in covers.values() for tick in ends):
        return None
    return pa.table(
        {"who": pa.array([*covers]), "from": pa.array(texts[0], pa.string()), "until": pa.array(texts[1], pa.string())}
    )


def _is_twice(tick: int, zone: str) -> bool:
    wall = (EPOCH + timedelta(microseconds=tick)).astimezone(ZoneInfo(zone)).replace(tzinfo=None)
    return len({wall.replace(tzinfo=ZoneInfo(zone), fold=fold).astimezone(UTC) for fold in (0, 1)}) > 1


def _text(tick: int, time: str, zone: str | None, between: str, style: int, is_local: bool = False) -> str:
    if time == "number":
        return str(tick)
    moment = EPOCH + timedelta(microseconds=tick)
    if zone is None:
        text = moment.replace(tzinfo=None).isoformat(between)
        return text[:10] if time == "date" else text
    if is_local:
        return moment.astimezone(ZoneInfo(zone)).replace(tzinfo=None).isoformat(between)
    if style == 0:
        return moment.replace(tzinfo=None).isoformat(between) + "Z"
    return moment.astimezone(ZoneInfo(zone)).isoformat(between)


def _rows(
    rng: random.Random, kind: str, units: Sequence[str | None], has_recording: bool, start: int, width: int, size: int
) -> list[Row]:
    rows = list[Row]()

    def value() -> str | None:
        return rng.choice("abc") if rng.random() > 0.004 else None

    second = 1 if width < SECOND else SECOND
    for unit in units:
        if kind == "samples":
            for place in range(rng.randint(0, size)):
                if rng.random() > 0.15:
                    recording = str(rng.randint(0, 1)) if has_recording else None
                    rows.append((unit, recording, start + place * width, None, value()))
            continue
        at = -rng.random() * 5 if kind != "events" else rng.random() * 3
        while at < size * rng.choice([1, 1, 1, 1, 1, 1, 1.02]) - 1:
            if rng.random() < 0.3:
                at = float(round(at))
            length = rng.choice([0.5, 1, 3, 8, 25]) * rng.random() + (
                1 if kind == "events" and rng.random() < 0.995 else 0.01
            )
            stop = at + length * (0.9 if rng.random() < 0.998 else 1.1)
            tick, end = (
                start + round(x * width / second) * second
                for x in (at, min(stop, size) if rng.random() < 0.998 else stop)
            )
            rows.append((unit, None, tick, max(tick, end) if kind == "stays" else None, value()))
            at += length + (rng.choice([0, 1, 1, 1, 1]) if kind == "events" else 0)
        if kind == "stays" and rows and rng.random() < 0.3:
            rows[-1] = (*rows[-1][:3], None, rows[-1][4])
    return rows


def _flaw(rng: random.Random, rows: list[Row], kind: str, has_unit: bool, start: int, width: int, size: int) -> None:
    """Break a rule in one row, in a fifth of all cases."""
    flaws = ["twice", "state", "time", "unit", "outside", "stranger", "between", "blank", "point"]
    flaw = rng.choice(flaws) if rng.random() < 0.2 else ""
    if not rows or not flaw:
        return
    at = rng.randrange(len(rows))
    unit, recording, tick, end, value = rows[at]
    if flaw == "twice":
        rows.append(rows[at])
        return
    if flaw in ("unit", "stranger", "blank", "point") and not has_unit:
        return
    if flaw == "between" and width == 1:
        return
    changed: dict[str, Row] = {
        "state": (unit, recording, tick, end, "zzz"), "time": (unit, recording, None, end, value),
        "unit": (None, recording, tick, end, value), "stranger": ("stranger", recording, tick, end, value),
        "outside": (unit, recording, start + (size + 7) * width, None, value),
        "blank": (f"{unit} ", recording, tick, end, value),
        "point": ("7.0", recording, tick, end, value),
        "between": (unit, recording, start + 3 * width + max(width // 2, 1), None, value),
    }  # fmt: skip
    rows[at] = changed[flaw]


def _written(rng: random.Random, case: Case, time: str, zone: str | None, path: Path) -> None:
    """Write the rows as a file or a frame."""
    if time == "date" and any(row[2] is not None and row[2] % (86_400 * SECOND) for row in case.rows):
        case.rows = [
            (*row[:2], None if row[2] is None else row[2] // (86_400 * SECOND) * 86_400 * SECOND, *row[3:])
            for row in case.rows
        ]
    if case.form == "csv":
        between, style, sign = rng.choice(["T", " "]), rng.choice([0, 1]), rng.choice([",", ";", "\t", "|"])
        lines = [sign.join(["who", "part", "t", "stop", "what"])]
        for unit, recording, tick, end, value in case.rows:
            times = ["" if x is None else _text(x, time, zone, between, style) for x in (tick, end)]
            lines.append(sign.join([unit or "", recording or "", *times, value or ""]))
        case.keys["file"] = path.with_suffix(".csv").name
        path.with_suffix(".csv").write_text("\n".join(lines) + "\n")
        return
    kinds = {
        "number": pa.int64(),
        "date": pa.date32(),
        "clock": pa.timestamp("us"),
        "moment": pa.timestamp("us", "UTC"),
    }
    columns = list(zip(*case.rows, strict=True)) if case.rows else [()] * 5
    arrays = [pa.array(columns[0], pa.string()), pa.array(columns[1], pa.string())]
    for column in columns[2:4]:
        values = [None if x is None else x // (86_400 * SECOND) if time == "date" else x for x in column]
        arrays.append(pa.array(values, pa.int32() if time == "date" else pa.int64()).cast(kinds[time]))
    table = pa.table([*arrays, pa.array(columns[4], pa.string())], names=["who", "part", "t", "stop", "what"])
    if case.form == "parquet":
        case.keys["file"] = path.with_suffix(".parquet").name
        pq.write_table(table, path.with_suffix(".parquet"))
        return
    case.frame = table
    if case.form == "pandas":
        case.frame = pd.DataFrame(
            {
                name: table[name].to_pandas(types_mapper=pd.ArrowDtype if time == "number" else None)
                for name in table.column_names
            }
        )
    elif case.form == "polars":
        case.frame = pl.from_arrow(table)
