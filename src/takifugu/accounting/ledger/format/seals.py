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
from itertools import chain

from takifugu.accounting.ledger.disk.sqlite import Connection
from takifugu.accounting.ledger.format.chain import check_head, digest, digest_of_many, edited, key_of
from takifugu.accounting.ledger.format.tables import columns, sealed
from takifugu.core.lists import without

#: Tables whose rows are not counted: what histories come to is computed anew where it is missing, and what events say
#: at length is named by them.
_NOT_COUNTED = ("meta", "summaries", "contents")
#: So many units are read at once: there may be millions.
_BATCH = 10_000
_UNITS = "select hex(tag) || ' ' || standing from units where source = ? order by tag"
_META = "select kind, version, public_id, created, key, head, counts from meta"


def write(connection: Connection) -> None:
    """Seal the rows of this transaction."""
    key, cursor = key_of(connection), connection.tuples()
    for (source,) in cursor.execute("select id from sources where units_seal is null").fetchall():
        values = (_units_seal(connection, key, source), source)
        cursor.execute("update sources set units_seal = ?, seal = null where id = ?", values)
    for table in sealed():
        rows = cursor.execute(f"select rowid, {_columns(table)} from {table} where seal is null").fetchall()
        seals = [(digest(key, table, *row), row[0]) for row in rows]
        cursor.executemany(f"update {table} set seal = ? where rowid = ?", seals)
    cursor.execute("update meta set counts = ?", (json.dumps(list(_counts(connection).values())),))
    cursor.execute("update meta set seal = ?", (_meta_seal(connection, key),))


def check(connection: Connection) -> None:
    """Raise LedgerError unless sources, newest event and row numbers are as written."""
    check_itself(connection)
    for table in ("sources", "people"):
        check_rows(connection, table, None)
    for table in sealed():
        if connection.first(f"select 1 from {table} where seal is null limit 1"):
            raise edited(connection, f"a row of its table {table!r} has no seal")
    declared = json.loads(connection.value("select counts from meta"))
    for (table, count), declared_count in zip(_counts(connection).items(), declared, strict=True):
        if declared_count != count:
            raise edited(connection, f"its table {table!r} has {count:,} rows, and {declared_count:,} were written")


def check_itself(connection: Connection) -> None:
    """Raise LedgerError unless the ledger's description and newest event are as written."""
    if connection.value("select seal from meta") != _meta_seal(connection, key_of(connection)):
        raise edited(connection, "what it says of itself, or of which sources it has, is not what was written")
    check_head(connection)


def check_units(connection: Connection, source_rows: Iterable[int]) -> None:
    """Raise LedgerError unless these sources' units and amounts are as written."""
    key, source_rows = key_of(connection), sorted(set(source_rows))
    for source in source_rows:
        row = connection.first("select units_seal from sources where id = ?", (source,))
        if row is not None and row[0] is not None and row[0] != _units_seal(connection, key, source):
            raise edited(connection, "what the people of a source have spent is not what was written")
    check_rows(connection, "standings", source_rows, "source")


def check_rows(connection: Connection, table: str, values: Iterable[Hashable] | None, column: str = "rowid") -> None:
    """Raise LedgerError unless rows with these values are as written.

    None stands for every row of the table. Rows of this very transaction are not sealed yet; others always are
    (`check`).
    """
    key = key_of(connection)
    query = f"select seal, rowid, {_columns(table)} from {table}"
    with closing(connection.tuples()) as cursor:  # one that is left open would keep its files beside the ledger
        if values is None:
            rows = cursor.execute(query).fetchall()
        else:
            matching = f"{query} where {column} = ?"
            rows = []
            for value in values:
                rows += cursor.execute(matching, (value,)).fetchall()
    for seal, *cells in rows:
        if seal is not None and seal != digest(key, table, *cells):
            raise edited(connection, f"row {cells[0]} of its table {table!r} is not what was written")


def _counts(connection: Connection) -> dict[str, int]:
    """Count the rows of each table that is counted."""
    counted = without(columns(), _NOT_COUNTED)
    counts = ", ".join(f"(select count(*) from {table})" for table in counted)
    return dict(zip(counted, connection.one(f"select {counts}"), strict=True))


def _meta_seal(connection: Connection, key: str) -> bytes:
    rows = connection.all(_META)
    for table in ("sources", "people"):
        rows += connection.all(f"select rowid, seal from {table} order by rowid")
    return digest(key, "meta", rows)


def _units_seal(connection: Connection, key: str, source: int) -> bytes:
    rows = connection.tuples().execute(_UNITS, (source,))
    batches = iter(lambda: list(chain.from_iterable(rows.fetchmany(_BATCH))), [])
    return digest_of_many(key, ("units", source), batches)


@cache
def _columns(table: str) -> str:
    return ", ".join(column for column in columns()[table] if column != "seal")
