"""A ledger in PostgreSQL, for teams: the same three tables, with the ledger's name in each key. Needs psycopg.

The role of users may insert into events and contents, and not update or delete there; whoever may read the database
reads the key, too, and may compute tags. A database that forgets what it has committed is refused.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qsl, urlencode

from takifugu.accounting.ledger.events.stores import Asking, MissingLedger, Store, named
from takifugu.core.errors import LedgerError

try:
    import psycopg
except ImportError:  # pragma: no cover
    raise LedgerError("a ledger in PostgreSQL needs psycopg", fix="pip install 'takifugu[postgresql]'").at(
        "ledger"
    ) from None

if TYPE_CHECKING:
    from psycopg import Connection, Cursor

_TABLES = {
    "takifugu_events": "ledger text, number bigint, body text not null, digest text not null, "
    "primary key (ledger, number)",
    "takifugu_contents": "ledger text, digest text, body bytea not null, primary key (ledger, digest)",
    "takifugu_waiting": "ledger text, name text, number bigint, body bytea not null, "
    "primary key (ledger, name, number)",
}
_NAMES = {**{table.removeprefix("takifugu_"): table for table in _TABLES}, "mine": "ledger = ? and", "key": "?, "}
_LOCK = "select pg_advisory_xact_lock(hashtextextended(?, 0))"
_LACKS, _HAS = "select to_regclass(?) is null", "select 1 from {events} where {mine} true limit 1"
#: What a database must not be, and why it would forget.
_FORGETS = {
    "select current_setting('fsync') = 'off'": "fsync is off",
    "select pg_is_in_recovery()": "it is a replica",
    "select current_setting('synchronous_commit') = 'off'": "its commits are asynchronous (synchronous_commit is off)",
    "select exists (select 1 from pg_class where relname like 'takifugu\\_%%' and relpersistence <> 'p')":
        "its tables are unlogged or temporary",
}  # fmt: skip


class Postgres(Store):
    """One ledger of a database: postgresql://host/database?ledger=name, with one connection."""

    _connection: Connection[Any] | None = None

    def __init__(self, url: str, timeout: float = 30.0) -> None:
        address, _, query = url.partition("?")
        options = dict(parse_qsl(query))
        self.ledger = options.pop("ledger", "default")
        self._url = f"{address}?{urlencode(options)}"
        self.name = named(url)
        self.timeout, self.is_new = timeout, False
        self._guard = threading.RLock()
        self._process, self._depth = 0, 0

    @classmethod
    def open(cls, where: str | Path, timeout: float = 30.0, first: tuple[str, str] | None = None) -> Postgres:
        """Open a ledger, or make it with a first event; raises LedgerError where the database cannot keep one."""
        store = cls(str(where), timeout)
        with store.asking() as ask:
            for question, why in _FORGETS.items():
                if ask(question) == [(True,)]:
                    raise LedgerError(
                        f"the database of the ledger {store.name!r} may forget what it has committed",
                        rule=f"{why}: after a crash the same epsilon could be spent again",
                        fix="use a primary database with fsync and synchronous_commit on",
                    ).at("ledger")
            if first is not None:
                store._make(ask, first)
            if ask(_LACKS, _NAMES["events"]) == [(True,)] or not ask(_HAS):
                raise MissingLedger(f"there is no ledger {store.name!r}", fix="check the address").at("ledger")
        return store

    def _make(self, ask: Asking, first: tuple[str, str]) -> None:
        ask(_LOCK, "takifugu: tables")
        for table, columns in _TABLES.items():
            if ask(_LACKS, table) == [(True,)]:  # who may only insert need not make it
                ask(f"create table {table} ({columns})")
        if not ask(_HAS):
            ask("insert into {events} values ({key}0, ?, ?)", *first)
            self.is_new = True

    @contextmanager
    def asking(self) -> Iterator[Asking]:
        """Yield what runs statements in a transaction, which ends with the outermost one."""
        with self._guard:
            try:
                connection = self._connected()
                self._depth += 1
                try:
                    with connection.cursor() as cursor:
                        yield partial(self._ask, cursor)
                    if self._depth == 1:
                        connection.commit()
                finally:
                    self._depth -= 1
            except BaseException as error:
                if not self._depth and self._connection is not None:
                    with suppress(psycopg.Error):
                        self._connection.rollback()
                if isinstance(error, psycopg.Error):
                    why = str(error).strip().splitlines()[0] if str(error).strip() else type(error).__name__
                    raise LedgerError(
                        f"the ledger {self.name!r} cannot be used ({why})",
                        fix="check the address, the role's rights (select, insert; delete on takifugu_waiting), and "
                        "that the server runs",
                    ).at("ledger") from None
                raise

    def _ask(self, cursor: Cursor[Any], statement: str, *values: object) -> list[tuple[Any, ...]]:
        if "{mine}" in statement or "{key}" in statement:
            values = self.ledger, *values
        cursor.execute(statement.format(**_NAMES).replace("?", "%s"), values)
        return cursor.fetchall() if cursor.description else []

    def _connected(self) -> Connection[Any]:
        """Return the connection, opened anew where it is broken, or of the process that this one was forked from."""
        if self._connection is None or self._connection.closed or self._process != os.getpid():
            # after the lock is there the newest events are read, whatever the database's own isolation
            options = f"-c lock_timeout={round(self.timeout * 1000)} -c default_transaction_isolation=read\\ committed"
            self._connection = psycopg.connect(self._url, connect_timeout=10, options=options)
            self._process = os.getpid()
        return self._connection

    def close(self) -> None:
        """Close the connection; the next call opens it again."""
        if self._connection is not None and self._process == os.getpid():
            self._connection.close()
        self._connection = None

    def __del__(self) -> None:
        self.close()

    @contextmanager
    def alone(self) -> Iterator[None]:
        with self.asking() as ask:
            ask(_LOCK, f"takifugu: {self.ledger}")
            yield
