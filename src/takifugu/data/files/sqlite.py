"""SQLite databases, opened read-only: the rows of a table, in the order of their rowids or of the primary key."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager, suppress
from functools import partial
from urllib.parse import quote

from takifugu.core.errors import DataError
from takifugu.data.engines.sql import identifier, quoted
from takifugu.data.files.copied_rows import read_rows, text_of_float
from takifugu.data.files.formats import DataFile, Rows, SourceFormat, chosen, largest
from takifugu.data.values.written import Written

#: How long another process may hold the database, in seconds.
PATIENCE = 2
#: Of a table so many rows are counted, and none of one that Android puts into every database.
_COUNTED, _ANDROID = 100_000, "android_metadata"
#: A view or a virtual table runs what somebody wrote into the file.
_TABLES = (
    "select name from sqlite_master where type = 'table' and name not like 'sqlite\\_%' escape '\\' "
    "and sql not like 'create virtual%' order by rowid"
)


def rows(file: DataFile, written: Written) -> Rows:
    """Return the columns and rows of the named or only table.

    Raises DataError, quoting nothing, for a damaged or locked database, and for binary values.
    """
    if file.packed:
        raise DataError(f"{file.name} is a SQLite database inside gzip", fix="unpack it")
    with _opened(file) as base:
        name = chosen(_tables(base), written.table, file, "table")
        names = [str(column[0]) for column in base.execute(f"select * from {identifier(name)} limit 0").description]
    return names, _rows(file, name, names)


def _rows(file: DataFile, name: str, names: Sequence[str]) -> Iterator[list[str | None]]:
    taken, order = set(map(str.casefold, names)), ""
    with _opened(file) as base:
        keys = base.execute(f"select name from pragma_table_info({quoted(name)}) where pk > 0 order by pk").fetchall()
        if keys:
            order = f" order by {', '.join(identifier(key) for (key,) in keys)}"
        free = next((alias for alias in ("rowid", "_rowid_", "oid") if alias not in taken), None)
        with suppress(sqlite3.OperationalError):  # a table without rowids
            if free is not None:
                base.execute(f"select {free} from {identifier(name)} limit 0")
                order = f" order by {free}"
        for row in base.execute(f"select * from {identifier(name)}{order}"):  # in order despite an index
            texts = list[str | None]()
            for value in row:
                if isinstance(value, bytes):
                    raise DataError(f"{file.name} has binary values", fix="write them as texts or numbers")
                if isinstance(value, float):
                    value = text_of_float(value)
                if value is not None:
                    value = str(value)
                texts.append(value)
            yield texts


def _tables(base: sqlite3.Connection) -> list[str]:
    return [str(name) for (name,) in base.execute(_TABLES)]


@contextmanager
def _opened(file: DataFile) -> Iterator[sqlite3.Connection]:
    """Open a database read-only; its row-quoting errors become DataError."""
    path = quote(str(file.path))
    try:
        with closing(sqlite3.connect(f"file:{path}?mode=ro", uri=True, timeout=PATIENCE)) as base:
            yield base
    except (sqlite3.Error, sqlite3.Warning) as error:
        if getattr(error, "sqlite_errorcode", None) in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED):
            raise DataError(
                f"{file.name} is locked by another process", fix="wait until that has written, or give a copy"
            ) from None
        raise DataError(
            f"{file.name} cannot be read as a SQLite database", fix="check the file, and that its texts are UTF-8"
        ) from None


def contents(file: DataFile) -> dict[str, int]:
    """Return the approximate number of cells in each table, large ones sampled."""
    cells = dict[str, int]()
    with _opened(file) as base:
        for name in _tables(base):
            if name == _ANDROID:
                cells[name] = 0
                continue
            columns = len(base.execute(f"select * from {identifier(name)} limit 0").description)
            counting = f"select count(*) from (select 1 from {identifier(name)} limit {_COUNTED})"
            cells[name] = columns * int(base.execute(counting).fetchone()[0])
    return cells


SQLITE = SourceFormat(
    "SQLite", partial(read_rows, rows), suffixes=(".sqlite", ".sqlite3"), begins=(b"SQLite format 3\x00",),
    guess=lambda file: Written(table=largest(contents(file))), parts=("table",), rows=rows, contents=contents,
)
