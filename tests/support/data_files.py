"""The same texts as files of every format, for what must reduce to the same integers whatever holds it."""

import csv
import json
import sqlite3
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import duckdb
import polars
from tests.support.workbooks import write_workbook

#: The columns of a table, with None where a value is missing.
Values = Mapping[str, Sequence[Any]]


def rows_of(columns: Values) -> list[tuple[Any, ...]]:
    return list(zip(*columns.values(), strict=True))


def as_csv(path: Path, columns: Values) -> None:
    with open(path, "w", newline="", encoding="utf-8") as file:
        written = csv.writer(file)
        written.writerow(columns)
        written.writerows([text_of(value) for value in row] for row in rows_of(columns))


def text_of(value: Any) -> Any:
    return str(value).lower() if isinstance(value, bool) else value


def as_json_lines(path: Path, columns: Values) -> None:
    records = (dict(zip(columns, row, strict=True)) for row in rows_of(columns))
    path.write_text("".join(f"{json.dumps(record)}\n" for record in records))


def as_geojson(path: Path, columns: Values) -> None:
    place = {"type": "Point", "coordinates": [13.4, 52.5]}
    features = [
        {"type": "Feature", "properties": dict(zip(columns, row, strict=True)), "geometry": place}
        for row in rows_of(columns)
    ]
    path.write_text(json.dumps({"type": "FeatureCollection", "features": features}))


def as_workbook(path: Path, columns: Values) -> None:
    write_workbook(path, {"Sheet1": [tuple(columns), *rows_of(columns)]})


def as_sqlite(path: Path, columns: Values) -> None:
    path.unlink(missing_ok=True)
    base = sqlite3.connect(path)
    names = ", ".join('"' + name.replace('"', '""') + '"' for name in columns)
    base.execute(f"create table visits ({names})")
    places = ", ".join("?" * len(columns))
    base.executemany(f"insert into visits values ({places})", ([text_of(v) for v in row] for row in rows_of(columns)))
    base.commit()
    base.close()


def as_duckdb(path: Path, columns: Values) -> None:
    path.unlink(missing_ok=True)
    rows = polars.DataFrame(dict(columns), strict=False).to_arrow()
    with duckdb.connect(str(path)) as base:
        base.register("rows", rows)
        base.sql("create table visits as select * from rows")


#: How files of each format are called, and written.
SOURCES: Mapping[str, tuple[str, Callable[[Path, Values], None]]] = {
    "CSV": ("data.csv", as_csv),
    "JSON lines": ("data.jsonl", as_json_lines),
    "GeoJSON": ("data.geojson", as_geojson),
    "Excel": ("data.xlsx", as_workbook),
    "SQLite": ("data.sqlite", as_sqlite),
    "DuckDB": ("data.duckdb", as_duckdb),
}
