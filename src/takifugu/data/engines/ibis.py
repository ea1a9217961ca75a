"""Ibis tables: one of DuckDB's is the relation that its expression says; rows of another engine are copied, once.

narwhals reads no times of Ibis as integers, and strips no chosen characters from its texts. So one query, which sees
one state of the database, brings the rows in batches into a file of DuckDB's that only this user can read.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any
from weakref import WeakValueDictionary, finalize

from takifugu.core.errors import DataError, InputError, TakifuguError
from takifugu.core.files import private_folder
from takifugu.data.engines.outside import Address, Engine
from takifugu.data.engines.sql import in_utc

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection, DuckDBPyRelation
    from ibis import Table

#: Copies in use, by the connection, or where it leads, and the query.
_COPIED: WeakValueDictionary[tuple[object, str], DuckDBPyRelation] = WeakValueDictionary()
#: So many rows are in memory at a time.
_BATCH = 1 << 16


def relation_of(table: Table, place: str | None = None) -> DuckDBPyRelation:
    """Return the relation of an Ibis table.

    Connections to one `place` share a copy. Raises DataError for a missing table and for errors of the engine.
    """
    import ibis

    engine = table.get_backend()
    with _plain_errors(engine.name):
        if engine.name != "duckdb":
            return _copied(table, engine, place)
        engine.to_pyarrow_batches(table.limit(0)).close()  # DuckDB gets to know tables of this process's memory
        relation: DuckDBPyRelation = engine.con.sql(str(ibis.to_sql(table, dialect="duckdb")))
        return relation


def _copied(table: Table, engine: Any, place: str | None) -> DuckDBPyRelation:
    """Return a copy of a query's rows, shared while in use."""
    import duckdb

    key = (place or id(engine), str(engine.compile(table)))
    relation = _COPIED.get(key)
    if relation is None:
        folder = private_folder()
        rows = in_utc(duckdb.connect(Path(folder.name) / "rows.duckdb"))
        rows.register("batches", engine.to_pyarrow_batches(table, chunk_size=_BATCH))
        rows.execute("create table copied as from batches")
        rows.unregister("batches")
        relation = _COPIED[key] = rows.table("copied")
        finalize(relation, _removed, rows, folder, engine)
    return relation


def _removed(rows: DuckDBPyConnection, folder: TemporaryDirectory[str], _: object) -> None:
    rows.close()
    folder.cleanup()


@contextmanager
def _plain_errors(engine: str) -> Iterator[None]:
    """Turn an engine's error into one without a quotation of it."""
    try:
        yield
    except TakifuguError:
        raise
    except Exception as error:
        raise DataError(
            f"the Ibis table cannot be read: {engine} failed ({type(error).__name__})",
            rule="its own words may quote rows, and are not repeated here",
            fix="check that its tables are there and its connection is open: table.count().execute() says more",
        ) from None


def opened(address: Address) -> DuckDBPyRelation:
    """Return the rows of a PostgreSQL table.

    Settings are those of its own clients (PGHOST, PGSERVICE, .pgpass). Raises InputError without Ibis or its driver,
    and DataError without such a server or table.
    """
    if address.table is None:
        fix = 'write table = "schema.name"; PGHOST, PGDATABASE or a service file say where it is'
        raise InputError("the engine 'postgres' opens tables", fix=fix).at("file")
    try:
        import ibis
        import psycopg
    except ImportError:
        raise InputError(
            "the engine 'postgres' needs Ibis and psycopg", fix="pip install 'takifugu[postgres]'"
        ).at("engine") from None  # fmt: skip
    try:
        connection = psycopg.connect(autocommit=True)
    except psycopg.Error:
        raise DataError(
            "PostgreSQL gives no connection", rule="it is found by the settings of its own clients",
            fix="set PGHOST, PGDATABASE and PGUSER, or PGSERVICE, so that `psql` alone connects",
        ).at("engine") from None  # fmt: skip
    schema, _, name = address.table.rpartition(".")
    with connection:
        try:
            table = ibis.postgres.from_connection(connection).table(name, database=schema or None)
        except Exception:
            raise DataError(
                f"PostgreSQL finds no table {address.table!r}", rule="it looks in its search_path, or the schema named",
                fix='write table = "schema.name" as `psql` knows it',
            ).at("table") from None  # fmt: skip
        names = [column for column in table.columns if address.columns is None or column in address.columns]
        return relation_of(table.select(*names) if names else table, connection.info.dsn)


POSTGRES = Engine("postgres", holds=lambda data: False, frame=lambda data: data, opened=opened)
