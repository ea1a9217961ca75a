"""Seals: a keyed digest in each row, of all that it holds, so that what was edited by hand is noticed.

Before anything is paid the rows that it rests on are compared with their seals, and no others: that costs the same
however long the history is. Rows that are missing are noticed by their number; the seal of `meta` covers these numbers,
the newest event, and the seals of all sources.
"""

from __future__ import annotations

import json
from collections.abc import Hashable, Iterable
from contextlib import closing
from functools import cache
from typing import Any

from sqlalchemy import Connection, Table

from takifugu.accounting.ledger.format.chain import check_head, digest, digest_of_many, edited, key_of
from takifugu.accounting.ledger.format.tables import (
    SEALED,
    contents,
    meta,
    metadata,
    people,
    sources,
    standings,
    summaries,
)

#: Tables whose rows are counted. What histories come to is computed anew where it is missing, and what events say at
#: length is named by them.
COUNTED = tuple(table.name for table in metadata.sorted_tables if table not in (meta, summaries, contents))
_COUNTS = f"select {', '.join(f'(select count(*) from {name})' for name in COUNTED)}"
#: So many units are read at once: there may be millions.
_BATCH = 10_000
_UNITS = "select hex(tag) || ' ' || standing from units where source = ? order by tag"
_META = "select kind, version, public_id, created, key, head, counts from meta"


def write(connection: Connection) -> None:
    """Seal the rows of this transaction."""
    key, cursor = key_of(connection), _cursor(connection)
    for (source,) in cursor.execute("select id from sources where units_seal is null").fetchall():
        values = (_units_seal(cursor, key, source), source)
        cursor.execute("update sources set units_seal = ?, seal = null where id = ?", values)
    for table in SEALED:
        rows = cursor.execute(f"select rowid, {_columns(table)} from {table} where seal is null").fetchall()
        seals = [(digest(key, table.name, *row), row[0]) for row in rows]
        cursor.executemany(f"update {table} set seal = ? where rowid = ?", seals)
    counts = json.dumps(list(cursor.execute(_COUNTS).fetchone()))
    cursor.execute("update meta set counts = ?", (counts,))
    cursor.execute("update meta set seal = ?", (_meta_seal(cursor, key),))


def check(connection: Connection) -> None:
    """Raise LedgerError unless sources, newest event and row numbers are as written."""
    check_itself(connection)
    cursor = _cursor(connection)
    for table in (sources, people):
        check_rows(connection, table, None)
    for table in SEALED:
        if cursor.execute(f"select 1 from {table} where seal is null limit 1").fetchone():
            raise edited(connection, f"a row of its table {table.name!r} has no seal")
    declared = json.loads(cursor.execute("select counts from meta").fetchone()[0])
    for name, declared_count, count in zip(COUNTED, declared, cursor.execute(_COUNTS).fetchone(), strict=True):
        if declared_count != count:
            raise edited(connection, f"its table {name!r} has {count:,} rows, and {declared_count:,} were written")


def check_itself(connection: Connection) -> None:
    """Raise LedgerError unless the ledger's description and newest event are as written."""
    key, cursor = key_of(connection), _cursor(connection)
    if cursor.execute("select seal from meta").fetchone()[0] != _meta_seal(cursor, key):
        raise edited(connection, "what it says of itself, or of which sources it has, is not what was written")
    check_head(connection)


def check_units(connection: Connection, source_rows: Iterable[int]) -> None:
    """Raise LedgerError unless these sources' units and amounts are as written."""
    key, cursor = key_of(connection), _cursor(connection)
    source_rows = sorted(set(source_rows))
    for source in source_rows:
        row = cursor.execute("select units_seal from sources where id = ?", (source,)).fetchone()
        if row is not None and row[0] is not None and row[0] != _units_seal(cursor, key, source):
            raise edited(connection, "what the people of a source have spent is not what was written")
    check_rows(connection, standings, source_rows, "source")


def check_rows(
    connection: Connection, table: Table, values: Iterable[Hashable] | None, column: str = "rowid"
) -> None:
    """Raise LedgerError unless rows with these values are as written.

    None stands for every row of the table. Rows of this very transaction are not sealed yet; others always are
    (`check`).
    """
    key = key_of(connection)
    query = f"select seal, rowid, {_columns(table)} from {table}"
    with closing(_cursor(connection)) as cursor:  # one that is left open would keep its files beside the ledger
        if values is None:
            rows = cursor.execute(query).fetchall()
        else:
            matching = f"{query} where {column} = ?"
            rows = []
            for value in values:
                rows += cursor.execute(matching, (value,)).fetchall()
    for seal, *columns in rows:
        if seal is not None and seal != digest(key, table.name, *columns):
            raise edited(connection, f"row {columns[0]} of its table {table.name!r} is not what was written")


def _meta_seal(cursor: Any, key: str) -> bytes:
    rows = [cursor.execute(_META).fetchone()]
    for table in (sources, people):
        rows += cursor.execute(f"select rowid, seal from {table} order by rowid").fetchall()
    return digest(key, "meta", rows)


def _units_seal(cursor: Any, key: str, source: int) -> bytes:
    rows = cursor.execute(_UNITS, (source,))
    batches = iter(lambda: [text for (text,) in rows.fetchmany(_BATCH)], [])
    return digest_of_many(key, ("units", source), batches)


@cache
def _columns(table: Table) -> str:
    return ", ".join(column.name for column in table.columns if column.name != "seal")


def _cursor(connection: Connection) -> Any:
    return connection.connection.cursor()
