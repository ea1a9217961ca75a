"""A ledger in an SQLite file. A commit is on the disk before it returns, and what is deleted is overwritten.

The journal is a rollback journal: it needs locks and no shared memory, so that it works on a network's disk, too.
The same tables in memory serve rehearsals, and a ledger that is made with what is first written.
"""

from __future__ import annotations

import os
import sqlite3
import threading
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from secrets import token_hex
from typing import Any
from urllib.parse import quote

from takifugu.accounting.ledger.events import RESTORE, disk, first_row
from takifugu.accounting.ledger.events.stores import Asking, MissingLedger, Store
from takifugu.core.errors import LedgerError

_TABLES = {
    "events": "CREATE TABLE events (number integer primary key, body text not null, digest text not null)",
    "contents": "CREATE TABLE contents (digest text primary key, body blob not null) without rowid",
    "waiting": "CREATE TABLE waiting "
    "(name text, number integer, body blob not null, primary key (name, number)) without rowid",
}
_NAMES = {**{table: table for table in _TABLES}, "mine": "", "key": ""}
#: EXTRA synchronises the folder, too: a deleted journal that a power cut brought back would undo its commit.
_SETTINGS = ("synchronous=EXTRA", "secure_delete=ON", "trusted_schema=OFF", "temp_store=MEMORY")
#: No value of a ledger has so many bytes.
_LENGTH = 450_000_000


class Sqlite(Store):
    """A ledger in one file, with one connection, for one thread at a time."""

    _connection: sqlite3.Connection | None = None

    def __init__(self, path: Path, timeout: float = 30.0) -> None:
        self.name, self.path, self.timeout, self.is_new = str(path), disk.place_of(path), timeout, False
        self._guard = threading.RLock()
        self._file: tuple[int, ...] = ()
        self._is_alone = False

    @classmethod
    def open(cls, where: str | Path, timeout: float = 30.0, first: tuple[str, str] | None = None) -> Sqlite:
        """Open the file of a ledger, or make it with a first event; raises LedgerError for any other file."""
        store = cls(disk.path_of(where), timeout)
        with disk.explained(store.name):
            if first is None and not store.path.exists():  # and no folder is tried for a question
                raise MissingLedger(f"there is no ledger {store.name!r}", fix="check the path").at("ledger")
            disk.check_place(store.path, store.name)
            if first is not None and not store.path.exists():
                store.is_new = store._make(first)
        try:
            with store._connected() as connection:
                store._check_tables(connection)
                if connection.execute("pragma journal_mode").fetchone()[0] == "wal":  # of another program
                    connection.execute("pragma journal_mode=delete")
        except BaseException:
            store.close()
            raise
        return store

    def _make(self, first: tuple[str, str]) -> bool:
        """Write the first event into a draft, which gets its name when it is whole; return whether it was the first."""
        draft = self.path.with_name(f".{self.path.name}.{token_hex(8)}{disk.DRAFT}")
        os.close(os.open(draft, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))
        try:
            with closing(sqlite3.connect(draft)) as connection:
                begun(connection, first)
                connection.commit()
            return disk.placed(draft, self.path)
        finally:
            draft.unlink(missing_ok=True)

    def _check_tables(self, connection: sqlite3.Connection) -> None:
        """Refuse a database without a ledger's tables, or with a part that no ledger has."""
        there = dict(connection.execute("select name, sql from sqlite_master where name not like 'sqlite_autoindex%'"))
        if "meta" in there:
            raise LedgerError(
                f"the ledger {self.name!r} is of an earlier format",
                rule="this version keeps one list of events, and reads no earlier format",
                fix="publish on in a new ledger, with a budget that leaves out what this one has spent: certificates "
                "of that time say too little to be adopted",
            ).at("ledger")  # fmt: skip
        if not there.keys() & _TABLES.keys():
            raise LedgerError(
                f"the file {self.name!r} is a database, but not a ledger",
                fix="give the path of a ledger, or of a file that does not exist yet",
            ).at("ledger")
        if there != _TABLES:
            strange = sorted(name for name in {*there, *_TABLES} if there.get(name) != _TABLES.get(name))
            raise LedgerError(
                f"the ledger {self.name!r} has other parts than a ledger has ({', '.join(strange)[:60]!r})",
                rule="it was edited, or made by another version", fix=RESTORE,
            ).at("ledger")  # fmt: skip

    @contextmanager
    def _connected(self) -> Iterator[sqlite3.Connection]:
        """Yield the connection, opened anew where the file or process is another, or interrupts left a transaction."""
        with self._guard, disk.explained(self.name):
            file, there = (os.getpid(), *disk.identity(self.path)), self._connection
            if there is None or self._file != file or (there.in_transaction and not self._is_alone):
                if self._is_alone:
                    raise LedgerError(f"the ledger {self.name!r} was replaced while it was written", fix="try again")
                if there is not None and self._file[0] == file[0]:
                    _close(there)
                disk.check_file(self.path, self.name)
                self._connection = there = self._opened()
                self._file = file
            yield there

    def _opened(self) -> sqlite3.Connection:
        address = f"file:{quote(str(self.path.absolute()))}?mode={disk.mode(self.path)}"
        connection = sqlite3.connect(address, self.timeout, isolation_level=None, check_same_thread=False, uri=True)
        try:
            connection.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, _LENGTH)
            for setting in _SETTINGS:
                connection.execute(f"pragma {setting}")
        except BaseException:
            _close(connection)
            raise
        return connection

    def close(self) -> None:
        """Close the connection; the next call opens it again."""
        with self._guard:
            if self._connection is not None and self._file[0] == os.getpid():
                _close(self._connection)
            self._connection = None

    def __del__(self) -> None:
        """Close the file at once: a connection is in a cycle with its statements, and would wait for the collector."""
        if self._connection is not None:
            self.close()

    @contextmanager
    def asking(self) -> Iterator[Asking]:
        with self._connected() as connection:

            def ask(statement: str, *values: object) -> list[tuple[Any, ...]]:
                return connection.execute(statement.format(**_NAMES), values).fetchall()

            yield ask

    @contextmanager
    def alone(self) -> Iterator[None]:
        with self._guard:
            if self._is_alone:
                yield
                return
            with self._connected() as connection:
                try:
                    connection.execute("begin immediate")  # an interrupt while it waits is raised when it has begun
                    self._is_alone = True
                    yield
                    connection.execute("commit")
                except BaseException:
                    with suppress(sqlite3.Error):
                        connection.execute("rollback")
                    raise
                finally:
                    self._is_alone = False


def begun(connection: sqlite3.Connection, first: tuple[str, str]) -> None:
    """Make the tables of a ledger, with its first event."""
    for statement in _TABLES.values():
        connection.execute(statement)
    connection.execute("insert into events values (0, ?, ?)", first)


def _close(connection: sqlite3.Connection) -> None:
    """Close a connection; what was committed is on the disk, so that a failure does no harm."""
    with suppress(sqlite3.Error):
        connection.close()


class Memory(Sqlite):
    """The same tables without a file; `name` is what it is called in words, the path where it will be."""

    def __init__(self, name: str, opens: Callable[[tuple[str, str] | None], Store] | None = None) -> None:
        self.name, self.is_new, self._opens = name, True, opens
        self._guard, self._is_alone = threading.RLock(), False
        self._tables = sqlite3.connect(":memory:", isolation_level=None, check_same_thread=False)
        begun(self._tables, first_row())

    def lasting(self, is_written: bool) -> Store:
        if self._opens is None:
            return self
        with suppress(MissingLedger):
            return self._opens(None)  # of another process, perhaps with another first event
        return self._opens(self.after(0)[0]) if is_written else self

    @contextmanager
    def _connected(self) -> Iterator[sqlite3.Connection]:
        with self._guard:
            yield self._tables

    def close(self) -> None:
        """Keep the connection: what it holds is nowhere else."""
