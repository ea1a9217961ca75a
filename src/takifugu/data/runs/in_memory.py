"""Tables that no engine holds, as tables of DuckDB: runs are counted by engines alone."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from takifugu.core.errors import DataError
from takifugu.data.engines.table import Table
from takifugu.data.files.formats import is_installed
from takifugu.data.files.with_duckdb import table_of_relation


def in_engine(table: Table) -> Table:
    """Return a table that an engine holds; DataError for a file that is read in Python where there is no DuckDB."""
    if not table.in_python:
        return table
    if not is_installed("duckdb"):
        raise DataError(
            f"{table.source} is read without an engine, and rows that are no samples need one",
            fix="install duckdb (pip install duckdb), or give a pandas, Polars or PyArrow frame",
        ).at("rows")
    import duckdb

    connection = duckdb.connect()
    columns = {f"c{number}": _texts(table.frame[label]) for number, label in enumerate(table.labels)}
    connection.register("texts", columns)
    relation = connection.table("texts").project(", ".join(f"{name}::varchar as {name}" for name in columns))
    made = table_of_relation(table.source, relation, (connection, columns))
    return replace(made, names=table.names, missing=table.missing, written=table.written)


def _texts(column: list[str | None]) -> np.ndarray:
    texts = np.empty(len(column), dtype=object)
    texts[:] = column
    return texts
