"""DuckDB databases, opened read-only: a table stays where it is, and its rows have no order."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from weakref import WeakValueDictionary

from takifugu.core.errors import DataError
from takifugu.core.files import private_folder
from takifugu.core.lists import take
from takifugu.data.engines.faults import careful
from takifugu.data.engines.sql import identifier, in_utc
from takifugu.data.engines.table import Table
from takifugu.data.files.formats import DataFile, SourceFormat, chosen, is_installed, largest
from takifugu.data.files.parquet import check_texts, lengths_of
from takifugu.data.files.with_duckdb import MEMORY, table_of_relation
from takifugu.data.values.written import Written

#: A view runs what somebody wrote into the file.
_OURS = "from duckdb_tables() where not internal and schema_name = 'main' order by table_name"
_TABLES, _CELLS = f"select table_name {_OURS}", f"select table_name, estimated_size * column_count {_OURS}"


def read(file: DataFile, written: Written) -> Table:
    """Open the named table, or the only one; DataError if locked."""
    if not is_installed("duckdb"):
        raise DataError(f"{file.name} is a DuckDB database", fix="install duckdb (pip install duckdb)")
    base = _base(file)
    with careful(file.name):
        connection = base.connection.cursor()
        tables = [table for (table,) in connection.sql(_TABLES).fetchall()]
        name = chosen(tables, written.table, file, "table")
        table = table_of_relation(file.name, connection.sql(f"select * from {identifier(name)}"), (connection, base))
    name_of = dict(zip(table.labels, table.names, strict=True))

    def check(labels: Sequence[str]) -> None:
        check_texts(file.name, lengths_of(connection, identifier(name), take(name_of, labels)))

    return replace(table, check_texts=check)


class _Base:
    """An open database, and the folder for what does not fit into memory."""

    def __init__(self, path: Path) -> None:
        import duckdb

        self.folder = private_folder()
        self.connection = in_utc(duckdb.connect(
            str(path), read_only=True,  # the file may be anybody's
            config={
                "enable_external_access": "false", "temp_directory": self.folder.name, "memory_limit": MEMORY,
            },
        ))  # fmt: skip


#: A process opens a database once: what is open, by its place and its state on the disk.
_OPEN: WeakValueDictionary[tuple[object, ...], _Base] = WeakValueDictionary()


def _base(file: DataFile) -> _Base:
    import duckdb

    try:
        status = file.path.stat()
        key = (file.path.resolve(), status.st_ino, status.st_size, status.st_mtime_ns)
        base = _OPEN.get(key)
        if base is None:
            base = _OPEN[key] = _Base(file.path)
        return base
    except duckdb.Error as error:
        if "set lock on" in str(error) or "different configuration" in str(error):
            raise DataError(
                f"{file.name} is locked by another process or connection", fix="close it there, or give a copy"
            ) from None
        raise DataError(
            f"{file.name} cannot be read as a DuckDB database", fix="check the file, and the version that wrote it"
        ) from None


def contents(file: DataFile) -> dict[str, int]:
    """Return the approximate number of cells in each table."""
    if not is_installed("duckdb"):
        return {}
    cursor = _base(file).connection.cursor()  # a name: to older DuckDBs a relation does not keep it open
    return {str(name): int(cells) for name, cells in cursor.sql(_CELLS).fetchall()}


DUCKDB = SourceFormat(
    "DuckDB", read, suffixes=(".duckdb", ".ddb"), guess=lambda file: Written(table=largest(contents(file))),
    parts=("table",), ordered=False, contents=contents,
)
