"""Random tables in the ways in which people write them: times, names and values by expressions, files of every kind."""

import csv
import gzip
import json
import random
import sqlite3
from contextlib import closing
from dataclasses import dataclass, field
from datetime import UTC, timedelta, timezone
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

import duckdb
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
from tests.support.relation_cases import Case
from tests.support.relation_oracle import EPOCH
from tests.support.workbooks import write_workbook

#: What holds texts alone, and what holds typed columns; DuckDB's is opened by a SELECT, as SQLite's is.
TEXTS, TYPED = ("csv", "csv", "csv.gz", "latin", "jsonl", "xlsx", "sqlite", "sql", "several"), (
    "parquet", "duckdb", "arrow", "pandas", "polars", "lazy", "relation")  # fmt: skip
#: Times by text: what is written, and the expression that reads it; None is ISO 8601 as it stands.
CLOCKS = {
    "iso": None, "dmy": "strptime({}, '%d.%m.%Y %H:%M:%S')", "us": "make_timestamp({}::bigint)",
    "later": "{}::timestamp - INTERVAL 5 hours", "parts": "left({0}, 10)::date + right({0}, 8)::time",
    "twelve": "strptime({}, '%m/%d/%Y %I:%M:%S %p')",
}  # fmt: skip
MOMENTS = {
    "Z": None, "local": None, "+05:30": None, "-0330": None, "+14": None, "seconds": "to_timestamp({}::bigint)",
    "us": "make_timestamptz({}::bigint)", "wall": "{}::timestamp AT TIME ZONE '{zone}'",
    "format": "strptime({}, '%Y-%m-%d %H:%M:%S %z')",
}  # fmt: skip
NUMBERS = {"plain": None, "shifted": "{}::bigint - 1000"}
VALUES = {
    "plain": ("what", {"a": "a", "b": "b", "c": "c", "zzz": "zzz"}),
    "lower": ("lower(what)", {"a": "A", "b": "b", "c": "C", "zzz": "ZZZ"}),
    "coded": ("CASE what WHEN '1' THEN 'a' WHEN '2' THEN 'b' WHEN '3' THEN 'c' WHEN '' THEN NULL ELSE what END",
              {"a": "1", "b": "2", "c": "3", "zzz": "zzz"}),
    "marked": ("nullif(what, 'NA')", {"a": "a", "b": "b", "c": "c", "zzz": "zzz", None: "NA"}),
    "bins": ("what", {"a": "0.5", "b": "1", "c": "2.99", "zzz": "-7"}),
}  # fmt: skip


@dataclass
class Written:
    """A case as it is read: the keys of [source] with a file or a frame, and the number of each of its rows."""

    keys: dict[str, Any]
    numbers: list[int]
    how: str
    frame: Any = field(default=None, repr=False)
    has_row_numbers: bool = True


def written(c: random.Random, case: Case, folder: Path) -> Written:
    """Write the rows of a case anew."""
    keys = {key: value for key, value in case.keys.items() if key != "file"}
    zone, is_number = case.meaning.zone, not case.meaning.is_time
    kind = c.choice(TEXTS + TYPED)
    ways = NUMBERS if is_number else MOMENTS if zone else CLOCKS
    way = c.choice([way for way in ways if way not in ("wall", "parts") or kind != "several"])
    if way == "wall" and any(is_unclear(tick, zone) for row in case.rows for tick in row[2:4]):
        way = "local"
    is_typed = kind in TYPED and ways[way] is None
    expression = ways[way]
    for role, column in (("order", "t"), ("end", "stop")):
        if expression and role in keys:
            keys[role] = expression.format(column, zone=zone)
    value = c.choice(list(VALUES))
    keys["value"], letters = VALUES[value]
    if value == "bins":
        keys["bins"] = {"a": [0, 1], "b": [1, 2], "c": [2, 3]}
    rows, numbers = list[tuple[Any, ...]](), list[int]()
    is_filtered = c.random() < 0.4
    for row in case.rows:
        if is_filtered and c.random() < 0.3:  # somebody else's row, at a time that is taken perhaps
            rows.append(("p0", "0", row[2], row[3], c.choice(["a", "odd", None]), "test"))
        numbers.append(len(rows) + 1)
        rows.append((*row[:4], letters.get(row[4], row[4]), "real"))
    if is_filtered:
        keys["where"] = c.choice(["keep = 'real'", "keep <> 'test'", "keep LIKE 're%' AND keep IS NOT NULL"])
    # a roster's column is called as the unit is
    if keys.get("unit") == "who" and not isinstance(keys.get("roster"), pa.Table) and c.random() < 0.3:
        keys["unit"] = c.choice(["substr(who, 2)", "replace(who, '#', '')"])
        rows = [(row[0] and "#" + row[0], *row[1:]) for row in rows]

    def time(tick: int | None) -> Any:
        return tick if tick is None or (is_typed and not is_number) else _text(tick, way, zone)

    columns: dict[str, list[Any]] = {
        "who": [row[0] for row in rows], "part": [row[1] for row in rows], "t": [time(row[2]) for row in rows],
        "stop": [time(row[3]) for row in rows], "what": [row[4] for row in rows], "keep": [row[5] for row in rows],
    }  # fmt: skip
    made = Written(keys, numbers, f"{kind}, times {way}, value {value}")
    times = pa.string()
    if is_typed and is_number:
        times = pa.int64()
        columns |= {name: [None if x is None else int(x) for x in columns[name]] for name in ("t", "stop")}
    elif is_typed:
        times = pa.timestamp("us", "UTC" if zone else None)
    table = pa.table({
        name: pa.array(values, times if name in ("t", "stop") else pa.string()) for name, values in columns.items()
    })  # fmt: skip
    _put(c, made, kind, table, folder)
    return made


def is_unclear(tick: int | None, zone: str | None) -> bool:
    """Return whether clocks show a time twice; DuckDB takes the later."""
    if tick is None:
        return False
    wall = (EPOCH + timedelta(microseconds=tick)).astimezone(ZoneInfo(zone or "UTC")).replace(tzinfo=None)
    both = {wall.replace(tzinfo=ZoneInfo(zone or "UTC"), fold=fold).astimezone(UTC) for fold in (0, 1)}
    return len(both) > 1


def _text(tick: int, way: str, zone: str | None) -> str:
    """Write a time, or a number."""
    if way in ("plain", "shifted"):
        return str(tick + 1000 * (way == "shifted"))
    moment = EPOCH + timedelta(microseconds=tick)
    offsets = {"+05:30": 330, "-0330": -210, "+14": 840, "format": -210}
    there = moment.astimezone(timezone(timedelta(minutes=offsets.get(way, 0))))
    local = moment.astimezone(ZoneInfo(zone or "UTC"))
    return {
        "iso": f"{moment:%Y-%m-%d %H:%M:%S}", "dmy": f"{moment:%d.%m.%Y %H:%M:%S}", "us": str(tick),
        "later": f"{moment + timedelta(hours=5):%Y-%m-%dT%H:%M:%S}", "parts": f"{moment:%Y-%m-%dT%H:%M:%S}",
        "twelve": f"{moment:%m/%d/%Y %I:%M:%S %p}", "Z": f"{moment:%Y-%m-%dT%H:%M:%S}Z", "local": local.isoformat(),
        "+05:30": there.isoformat(), "-0330": f"{there:%Y-%m-%d %H:%M:%S%z}", "+14": f"{there:%Y-%m-%dT%H:%M:%S}+14",
        "seconds": str(tick // 10**6), "wall": f"{local:%Y-%m-%d %H:%M:%S}",
        "format": f"{there:%Y-%m-%d %H:%M:%S} {there:%z}",
    }[way]  # fmt: skip


def _put(c: random.Random, made: Written, kind: str, table: pa.Table, folder: Path) -> None:
    """Write an Arrow table as a file or a frame of some kind."""
    names, rows = table.column_names, [tuple(row.values()) for row in table.to_pylist()]
    if kind in ("arrow", "pandas", "polars", "lazy", "relation"):
        frames: dict[str, Any] = {
            "arrow": lambda: table, "pandas": lambda: table.to_pandas(), "relation": lambda: duckdb.from_arrow(table),
            "polars": lambda: pl.from_arrow(table), "lazy": lambda: pl.from_arrow(table).lazy(),  # type: ignore[union-attr]
        }  # fmt: skip
        if kind == "pandas" and pa.types.is_integer(
            table.schema.field("t").type
        ):  # numbers with a gap are floats there
            kind = "arrow"
        made.frame = frames[kind]()
        return
    suffix = {"latin": "csv", "sql": "csv", "several": "csv"}.get(kind, kind)
    path = folder / f"rows.{suffix}"
    path.unlink(missing_ok=True)
    made.keys["file"] = path.name
    if kind in ("csv", "csv.gz", "latin", "sql"):
        sign = c.choice(",;\t|")
        encoding = "cp1252" if kind == "latin" else "utf-8"
        names = [*names, "Straße"] if kind == "latin" else names
        opener = gzip.open if kind == "csv.gz" else open
        with opener(path, "wt", newline="", encoding=encoding) as file:
            lines = csv.writer(file, delimiter=sign, quoting=c.choice([csv.QUOTE_MINIMAL, csv.QUOTE_ALL]))
            lines.writerow(names)
            lines.writerows([*row, "ü"] if kind == "latin" else row for row in rows)
        if kind == "latin":
            made.keys["encoding"] = "cp1252"
        if kind == "sql":
            del made.keys["file"]
            made.keys["sql"] = f"select * from read_csv('rows.csv', delim = '{sign}')"
            made.has_row_numbers = False
    elif kind == "several":
        half = c.randrange(len(rows) + 1)
        for number, part in enumerate((rows[:half], rows[half:])):
            with (folder / f"rows{number}.csv").open("w", newline="") as file:
                csv.writer(file).writerows([names, *part])
        made.keys["file"] = "rows?.csv"
    elif kind == "jsonl":
        lines_of = [json.dumps(dict(zip(names, row, strict=True))) + "\n" for row in rows]
        path.write_text("".join(lines_of))
    elif kind == "xlsx":
        write_workbook(path, {"one": [names, *[["" if x is None else x for x in row] for row in rows]]})
    elif kind == "sqlite":
        with closing(sqlite3.connect(path)) as base:
            base.execute(f"create table log ({', '.join(f'{name} text' for name in names)})")
            base.executemany("insert into log values (?, ?, ?, ?, ?, ?)", rows)
            base.commit()
        made.keys["sql"], made.has_row_numbers = "from log", False
    elif kind == "duckdb":
        with duckdb.connect(str(path)) as connection:
            connection.register("rows_in_arrow", table)
            connection.execute("create table log as from rows_in_arrow")
        made.keys["sql"], made.has_row_numbers = "from log", False
    else:
        pq.write_table(table, path)
