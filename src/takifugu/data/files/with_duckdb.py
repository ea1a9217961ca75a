"""Files that DuckDB reads; what does not fit into memory goes to a folder that only this user can read."""

from __future__ import annotations

import glob
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cached_property
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

from takifugu.core.files import private_folder
from takifugu.data.engines.sql import identifier, in_utc, quoted
from takifugu.data.engines.table import Table
from takifugu.data.files.formats import DataFile

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection, DuckDBPyRelation

    from takifugu.data.engines.differences import Frame

#: What an instance of DuckDB takes at most, beside a sort's last rows: more goes to its folder, which is slower.
MEMORY = "400MB"


class Database:
    """An instance of DuckDB that starts, and makes a folder for its temporary files, when it is first asked."""

    def __init__(self, folder: TemporaryDirectory[str] | None) -> None:
        self.folder = folder

    @cached_property
    def connection(self) -> DuckDBPyConnection:
        self.folder = self.folder or private_folder()
        return connected(self.folder)

    def rows(self, query: str) -> Frame:
        from takifugu.data.engines.differences import wrapped

        return wrapped(self.connection.sql(query))


def connected(folder: TemporaryDirectory[str]) -> DuckDBPyConnection:
    """Return a connection to a new DuckDB, with a temporary folder."""
    import duckdb

    settings = {"temp_directory": folder.name, "memory_limit": MEMORY}
    return in_utc(duckdb.connect(config={"autoinstall_known_extensions": "false", **settings}))


@contextmanager
def within(connection: DuckDBPyConnection, size: int) -> Iterator[None]:
    """Limit a DuckDB instance to so many bytes; more fails."""
    ((before,),) = connection.execute("select current_setting('memory_limit')").fetchall()
    limit = before
    if before.endswith("PiB"):  # which stands for none, and is not read back
        limit = "-1"
    try:
        connection.execute(f"set memory_limit = '{size}B'")  # holds even where it fails, because more is in use
        yield
    finally:
        connection.execute(f"set memory_limit = '{limit}'")  # "reset" of 1.3 changes the word and not the limit


def table_of_relation(source: str, relation: DuckDBPyRelation, keeps: object) -> Table:
    """Return a DuckDB relation as a table, with `keeps` kept alive."""
    import narwhals.stable.v2 as nw

    headings = tuple(relation.columns)
    labels = tuple(f"c{number}" for number in range(len(headings)))  # * as a name is an expression to an engine
    frame = nw.from_native(relabelled(relation, headings, labels))
    return Table(source, headings, True, frozenset(), lambda: frame, labels, keeps)


def place(file: DataFile) -> str:
    """Return a file's path for DuckDB, quoted and without patterns."""
    return quoted(glob.escape(str(file.path)))


def relabelled(relation: DuckDBPyRelation, names: tuple[str, ...], labels: tuple[str, ...]) -> DuckDBPyRelation:
    """Return a relation with other column names, and shorter times.

    Times in a zone are cut to the microsecond.
    """
    columns = list[str]()
    for name, label, kind in zip(names, labels, relation.types, strict=True):
        column = identifier(name)
        if str(kind) == "TIMESTAMPTZ_NS":  # pandas writes these, narwhals knows them not
            column += "::timestamptz"
        columns.append(f"{column} as {label}")
    return relation.project(", ".join(columns))
