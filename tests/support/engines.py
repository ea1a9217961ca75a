"""The same rows as a frame of every library, and as files."""

from collections.abc import Callable, Mapping, Sequence
from datetime import date, datetime
from decimal import Decimal
from pathlib import Path
from typing import Any

import duckdb
import pandas
import polars
import pyarrow
import pyarrow.parquet

#: A column: its kind ("text", "int", "float", "bool", "time", "zoned", "date", "decimal") and its values.
Column = tuple[str, Sequence[Any]]
Columns = Mapping[str, Column]

_ARROW = {
    "text": pyarrow.string(), "int": pyarrow.int64(), "float": pyarrow.float64(), "bool": pyarrow.bool_(),
    "time": pyarrow.timestamp("us"), "zoned": pyarrow.timestamp("us", tz="UTC"), "date": pyarrow.date32(),
    "decimal": pyarrow.decimal128(18, 4),
}  # fmt: skip
_SPARK = {
    "text": "string", "int": "bigint", "float": "double", "bool": "boolean", "time": "timestamp_ntz",
    "zoned": "timestamp", "date": "date", "decimal": "decimal(18,4)",
}  # fmt: skip


def arrow(columns: Columns) -> pyarrow.Table:
    arrays = [pyarrow.array(values, type=_ARROW[kind], from_pandas=False) for kind, values in columns.values()]
    return pyarrow.Table.from_arrays(arrays, names=list(columns))


def relation(columns: Columns) -> duckdb.DuckDBPyRelation:
    """Return a relation of DuckDB's own connection; before 2.0 a relation does not keep another one open."""
    return duckdb.from_arrow(arrow(columns))


ENGINES: dict[str, Callable[[Columns], Any]] = {
    "pandas": lambda columns: arrow(columns).to_pandas(),
    "pandas on arrow": lambda columns: arrow(columns).to_pandas(types_mapper=pandas.ArrowDtype),
    "polars": lambda columns: polars.from_arrow(arrow(columns)),
    "polars lazy": lambda columns: polars.from_arrow(arrow(columns)).lazy(),  # type: ignore[union-attr]
    "pyarrow": arrow,
    "duckdb": relation,
}

def spark(session: Any, columns: Columns) -> Any:
    fields = ", ".join(f"c{i} {_SPARK[kind]}" for i, (kind, _) in enumerate(columns.values()))
    rows = list(zip(*(values for _, values in columns.values()), strict=True))
    return session.createDataFrame(rows, schema=fields).toDF(*columns)


def text_of_cell(value: Any) -> str:
    """Write one value as a CSV file holds it."""
    if value is None:
        return ""
    if isinstance(value, bool):
        return str(value)
    if isinstance(value, datetime | date):
        return value.isoformat()
    if isinstance(value, float):
        return repr(value)
    return str(value) if isinstance(value, int | Decimal) else f'"{str(value).replace(chr(34), chr(34) * 2)}"'


def write_csv(path: Path, columns: Columns, separator: str = ",") -> Path:
    quoted = separator.join(text_of_cell(str(name)) for name in columns)
    rows = zip(*(values for _, values in columns.values()), strict=True)
    lines = [quoted, *(separator.join(text_of_cell(v) for v in row) for row in rows)]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


def write_parquet(path: Path, columns: Columns) -> Path:
    pyarrow.parquet.write_table(arrow(columns), path)
    return path
