"""Files that DuckDB reads; what does not fit into memory goes to a folder that only this user can read."""

from __future__ import annotations

import glob
from tempfile import TemporaryDirectory
from typing import Any

from takifugu.data.engines.sql import identifier, quoted
from takifugu.data.engines.table import Table
from takifugu.data.files.formats import DataFile


def opened(file: DataFile, call: str, folder: TemporaryDirectory[str]) -> tuple[Table, Any]:
    """Open what a call of DuckDB's reads from a file, its `{path}`; return the table, and DuckDB's connection."""
    import duckdb
    import narwhals.stable.v2 as nw

    from takifugu.data.engines.differences import careful

    with careful(file.name):
        connection = duckdb.connect(config={"autoinstall_known_extensions": "false", "temp_directory": folder.name})
        relation = connection.sql("select * from " + call.format(path=place(file)))
        headings = tuple(relation.columns)
        labels = tuple(f"c{number}" for number in range(len(headings)))  # * as a name is an expression to an engine
        frame = nw.from_native(relabelled(relation, headings, labels))
    return Table(file.name, headings, True, frozenset(), frame, labels, (connection, folder)), connection


def place(file: DataFile) -> str:
    """Return a file's path as DuckDB takes it: no pattern, in quotes."""
    return quoted(glob.escape(str(file.path)))


def relabelled(relation: Any, names: tuple[str, ...], labels: tuple[str, ...]) -> Any:
    """Return a DuckDB relation with other names for its columns."""
    if labels == names:
        return relation
    renamed = (f"{identifier(name)} as {label}" for name, label in zip(names, labels, strict=True))
    return relation.project(", ".join(renamed))
