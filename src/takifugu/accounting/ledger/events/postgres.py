"""A ledger in PostgreSQL, for teams: the same three tables, with the ledger's name in each key. Needs psycopg.

The role of users may insert into events and contents, and not update or delete there; whoever may read the database
reads the key, too, and may compute tags. A database that forgets what it has committed is refused.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qsl, urlencode

from takifugu.accounting.ledger.events.stores import MissingLedger, in_place, named
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
_LOCK = "select pg_advisory_xact_lock(hashtextextended(%s, 0))"
#: What a database must not be, and why it would forget.
_FORGETS = {
    "select current_setting('fsync') = 'off'": "fsync is off",
    "select pg_is_in_recovery()": "it is a replica",
    "select current_setting('synchronous_commit') = 'off'": "its commits are asynchronous (synchronous_commit is off)",
    "select exists (select 1 from pg_class where relname like 'takifugu\\_%%' and relpersistence <> 'p')":
        "its tables are unlogged or temporary",
}  # fmt: skip


class Postgres:
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
    def open(cls, url: str, timeout: float = 30.0, first: tuple[str, str] | None = None) -> Postgres:
        """Open a ledger, or make it with a first event; raises LedgerError where the database cannot keep one."""
        store = cls(url, timeout)
        with store._transaction() as cursor:
            for question, why in _FORGETS.items():
                if _first(cursor, question):
                    raise LedgerError(
                        f"the database of the ledger {store.name!r} may forget what it has committed",
                        rule=f"{why}: after a crash the same epsilon could be spent again",
                        fix="use a primary database with fsync and synchronous_commit on",
                    ).at("ledger")
            if first is not None:
                store._make(cursor, first)
            has = "select exists (select 1 from takifugu_events where ledger = %s)"
            known = _first(cursor, "select to_regclass('takifugu_events') is not null")
            if not known or not _first(cursor, has, store.ledger):
                raise MissingLedger(f"there is no ledger {store.name!r}", fix="check the address").at("ledger")
        return store

    def _make(self, cursor: Cursor[Any], first: tuple[str, str]) -> None:
        cursor.execute(_LOCK, ("takifugu: tables",))
        for table, columns in _TABLES.items():
            if not _first(cursor, "select to_regclass(%s) is not null", table):  # who may only insert need not make it
                cursor.execute(f"create table {table} ({columns})")
        if not _first(cursor, "select exists (select 1 from takifugu_events where ledger = %s)", self.ledger):
            cursor.execute("insert into takifugu_events values (%s, 0, %s, %s)", (self.ledger, *first))
            self.is_new = True

    @contextmanager
    def _transaction(self) -> Iterator[Cursor[Any]]:
        """Yield a cursor in a transaction, which ends with the outermost one."""
        with self._guard:
            try:
                connection = self._connected()
                self._depth += 1
                try:
                    with connection.cursor() as cursor:
                        yield cursor
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

    def _connected(self) -> Connection[Any]:
        """Return the connection, opened anew where it is broken, or of the process that this one was forked from."""
        if self._connection is None or self._connection.closed or self._process != os.getpid():
            limit = round(self.timeout * 1000)
            self._connection = psycopg.connect(self._url, connect_timeout=10, options=f"-c lock_timeout={limit}")
            self._process = os.getpid()
        return self._connection

    def close(self) -> None:
        """Close the connection; the next call opens it again."""
        if self._connection is not None and self._process == os.getpid():
            self._connection.close()
        self._connection = None

    def __del__(self) -> None:
        self.close()

    def after(self, number: int) -> list[tuple[str, str]]:
        query = (
            "select number, body, digest from takifugu_events where ledger = %s and (number >= %s or number < 0) "
            "order by number"
        )
        with self._transaction() as cursor:
            return in_place(number, cursor.execute(query, (self.ledger, number)).fetchall())

    def content(self, digest: str) -> bytes | None:
        query = "select body from takifugu_contents where ledger = %s and digest = %s"
        with self._transaction() as cursor:
            row = cursor.execute(query, (self.ledger, digest)).fetchone()
        return bytes(row[0]) if row else None

    def append(
        self, number: int, head: str, events: Sequence[tuple[str, str]], contents: Mapping[str, bytes],
        waiting: Mapping[tuple[str, int], bytes], done: str,
    ) -> bool:  # fmt: skip
        with self.alone(), self._transaction() as cursor:
            last = "select max(digest) from takifugu_events where ledger = %s and number = %s"
            if _first(cursor, "select count(*) from takifugu_events where ledger = %s", self.ledger) != number:
                return False
            if number and _first(cursor, last, self.ledger, number - 1) != head:
                return False
            for digest, body in contents.items():
                statement = "insert into takifugu_contents values (%s, %s, %s) on conflict do nothing"
                cursor.execute(statement, (self.ledger, digest, body))
            for place, event in enumerate(events, number):
                cursor.execute("insert into takifugu_events values (%s, %s, %s, %s)", (self.ledger, place, *event))
            for key, body in waiting.items():
                cursor.execute("insert into takifugu_waiting values (%s, %s, %s, %s)", (self.ledger, *key, body))
            if done:
                cursor.execute("delete from takifugu_waiting where ledger = %s and name = %s", (self.ledger, done))
        return True

    def waiting(self, group: str) -> list[bytes]:
        query = "select number, body from takifugu_waiting where ledger = %s and name = %s order by number"
        with self._transaction() as cursor:
            rows = cursor.execute(query, (self.ledger, group)).fetchall()
        return [bytes(body) for place, (number, body) in enumerate(rows) if place == number]

    @contextmanager
    def alone(self) -> Iterator[None]:
        with self._transaction() as cursor:
            cursor.execute(_LOCK, (f"takifugu: {self.ledger}",))
            yield


def _first(cursor: Cursor[Any], query: str, *values: object) -> Any:
    """Return the one value that a query asks for."""
    row = cursor.execute(query, values).fetchone()
    return row[0] if row else None
