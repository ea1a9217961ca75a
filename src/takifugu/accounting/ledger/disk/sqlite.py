"""Everything that is special about SQLite: how a ledger file is made, opened, locked, and how its failures read."""

from __future__ import annotations

import errno
import os
import sqlite3
import threading
import time
from collections import namedtuple
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, closing, contextmanager, suppress
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from secrets import token_hex
from typing import Any, NamedTuple
from urllib.parse import quote

from takifugu.accounting.ledger.disk.mounts import shares_memory
from takifugu.accounting.ledger.disk.places import COMPUTING, DRAFT, in_use, not_in_use, sweep
from takifugu.core.errors import LedgerError
from takifugu.core.files import sync
from takifugu.core.lasting import close_all, open_things

#: The one statement that lets a single writer in: nobody else reads what it is about to spend before it has committed.
WRITE_LOCK = "BEGIN IMMEDIATE"
#: How whoever only reads begins: all of it is of one moment.
READ_LOCK = "BEGIN"

#: FULL: a commit is on the disk before it returns. A checkpoint per commit: nothing is kept in the side file alone.
#: What is deleted is overwritten.
SETTINGS = (
    "PRAGMA synchronous=FULL",
    "PRAGMA wal_autocheckpoint=1",
    "PRAGMA foreign_keys=ON",
    "PRAGMA temp_store=MEMORY",
    "PRAGMA secure_delete=ON",
    "PRAGMA trusted_schema=OFF",
)

#: What a file system without hard links says; a full or failing disk is no such file system.
NO_LINKS = (errno.EPERM, errno.ENOTSUP, errno.EOPNOTSUPP, errno.ENOSYS, errno.EMLINK)

#: No value of a ledger has so many bytes; one that an edited table computes may have any number.
_LENGTH = 250_000_000

_MAGIC = b"SQLite format 3\0"
_SMALLEST_PAGE = 512
#: How a file's 19th and 20th byte say that it has a write-ahead log.
_WRITE_AHEAD = b"\x02\x02"

#: What is wrong with the file, the rule where there is one, and the fix.
_REASONS = {
    sqlite3.SQLITE_BUSY: ("is locked by another program", "", "wait until it has finished, or find and stop it"),
    sqlite3.SQLITE_LOCKED: ("is locked by another program", "", "wait until it has finished, or find and stop it"),
    sqlite3.SQLITE_READONLY: ("is read-only", "", "make the file and its folder writable for this user"),
    sqlite3.SQLITE_PERM: ("may not be read by this user", "", "change the permissions of the file and its folder"),
    sqlite3.SQLITE_CANTOPEN: (
        "cannot be opened", "", "check that its folder exists and that this user may write there"
    ),
    sqlite3.SQLITE_FULL: ("cannot grow", "the disk is full", "make room"),
    sqlite3.SQLITE_IOERR: ("cannot be read or written (input/output error)", "", "check the disk"),
    sqlite3.SQLITE_CORRUPT: ("is damaged", "", "restore it from a backup, and count what was released since as spent"),
    sqlite3.SQLITE_NOTADB: ("is not a ledger", "", "give the path of a ledger, or of a file that does not exist yet"),
}  # fmt: skip


#: A row of a query, with its columns as attributes.
Row = Any


class Connection(sqlite3.Connection):
    """A connection to a ledger.

    `ledger` is its path as it was given, for what users read.
    """

    ledger: str = ""

    def all(self, query: str, values: Sequence[object] = ()) -> list[Row]:
        """Return every row of a query."""
        return self.execute(query, values).fetchall()

    def first(self, query: str, values: Sequence[object] = ()) -> Row | None:
        """Return the first row of a query, or None."""
        with closing(self.execute(query, values)) as cursor:
            return cursor.fetchone()

    def one(self, query: str, values: Sequence[object] = ()) -> Row:
        """Return the first row of a query; raises LedgerError for none."""
        row = self.first(query, values)
        if row is None:
            raise LedgerError("the ledger lacks a row that another one names", rule="it was edited or damaged")
        return row

    def value(self, query: str, values: Sequence[object] = ()) -> Any:
        """Return the first column of `one`."""
        return self.one(query, values)[0]

    def insert(self, table: str, **row: object) -> int:
        """Write a row and return its number."""
        marks = ", ".join("?" * len(row))
        statement = f"insert into {table} ({', '.join(row)}) values ({marks})"
        number = self.execute(statement, tuple(row.values())).lastrowid
        assert number is not None
        return number

    def tuples(self) -> sqlite3.Cursor:
        """Return a cursor with plain tuples as rows, for millions of them."""
        cursor = self.cursor()
        cursor.row_factory = None
        return cursor


@cache
def _kind_of(columns: tuple[str, ...]) -> type[Row]:
    return namedtuple("Row", columns, rename=True)


def _named(cursor: sqlite3.Cursor, values: tuple[object, ...]) -> Row:
    return _kind_of(tuple(name for name, *_ in cursor.description))(*values)


def connect(address: str, timeout: float, ledger: object) -> Connection:
    """Return a connection without transactions of its own."""
    connection = sqlite3.connect(address, timeout=timeout, isolation_level=None, factory=Connection, uri=True)
    connection.row_factory, connection.ledger = _named, str(ledger)
    connection.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, _LENGTH)
    return connection


@contextmanager
def transaction(path: Path, timeout: float, begin: str = READ_LOCK, ledger: object = None) -> Iterator[Connection]:
    """Yield a connection in a transaction, undone by an exception.

    The file exists, and is opened for this transaction alone. A ledger that has gone is never replaced by an empty one.
    """
    connection = _opened(path, timeout, ledger or path, _mode(path))
    try:
        connection.execute(begin)
        yield connection
        if begin == WRITE_LOCK:  # who only reads has nothing to keep, and is told nothing by a full disk
            connection.commit()
    finally:
        with suppress(sqlite3.Error):  # what was wrong was raised before
            connection.close()


def _mode(path: Path) -> str:
    return "ro&immutable=1" if _is_only_to_read(path) else "rw"


def _opened(path: Path, timeout: float, ledger: object, mode: str) -> Connection:
    connection = connect(f"file:{quote(str(path.absolute()))}?mode={mode}", timeout, ledger)
    try:
        for setting in SETTINGS:
            connection.execute(setting)
    except BaseException:
        connection.close()
        raise
    return connection


class _Key(NamedTuple):
    """Who uses a kept connection again: for this place, the thread that opened it."""

    place: str
    process: int
    thread: int


@dataclass(frozen=True)
class _LastingConnection:
    """A connection between two transactions, the mark that its file is in use, and the file as the last one left it."""

    connection: Connection
    mark: ExitStack
    file: tuple[int, ...] | None = None

    def close(self) -> None:
        with self.mark:
            self.connection.close()


@contextmanager
def shared_transaction(path: Path, timeout: float, begin: str, ledger: object) -> Iterator[Connection]:
    """Yield a connection in a transaction: the one that the command keeps, where it keeps any.

    One whose transaction failed is closed, since nothing says in which state it is; so is one whose file is not as it
    left it: replaced, restored, or written by another program.
    """
    connections = open_things()
    if connections is None or _is_only_to_read(path):
        with transaction(path, timeout, begin, ledger) as connection:
            yield connection
        return
    key = _Key(str(path.absolute()), os.getpid(), threading.get_ident())
    opened = connections.pop(key, None)
    if opened is not None and (opened.file is None or opened.file != _facts(path)):
        opened.close()
        opened = None
    opened = opened or _to_keep(path, timeout, ledger)
    try:
        connection = opened.connection
        connection.execute(f"PRAGMA busy_timeout={round(timeout * 1000)}")
        connection.execute(begin)
        yield connection
        if begin == WRITE_LOCK:
            connection.commit()
        else:
            connection.rollback()
    except BaseException:
        with suppress(sqlite3.Error):
            opened.close()
        raise
    try:  # what follows is no part of the transaction, and its failure none of that
        if begin == WRITE_LOCK:
            connection.execute("PRAGMA busy_timeout=0")
            connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")  # a process that is killed leaves an empty side file
        connections[key] = replace(opened, file=_facts(path))
    except sqlite3.Error:
        with suppress(sqlite3.Error):
            opened.close()


def _to_keep(path: Path, timeout: float, ledger: object) -> _LastingConnection:
    with ExitStack() as stack:
        stack.enter_context(in_use(path))
        connection = _opened(path, timeout, ledger, "rw")
        return _LastingConnection(connection, stack.pop_all())


def _facts(path: Path) -> tuple[int, ...] | None:
    """Return what differs when a file is another or was written, None where there is none."""
    with suppress(OSError):
        facts = path.stat()
        return (facts.st_dev, facts.st_ino, facts.st_size, facts.st_mtime_ns, facts.st_ctime_ns)
    return None


def _is_only_to_read(path: Path) -> bool:
    """Return whether this user may only read a ledger with no log."""
    writable = os.access(path, os.W_OK) and os.access(path.parent, os.W_OK)
    return not writable and path.exists() and not _log_has_pages(path)


def _log_has_pages(path: Path) -> bool:
    """Return whether the side file of a ledger holds anything.

    Another process may remove it at any moment.
    """
    with suppress(FileNotFoundError):
        return bool(path.with_name(path.name + "-wal").stat().st_size)
    return False


def create(path: Path, fill: Callable[[Connection], None]) -> bool:
    """Make a ledger file with the tables of `fill`, unless one exists.

    Returns whether it was made here, or just now by another process. The file appears under its name complete or not at
    all, so that an empty file is never taken for a new ledger.
    """
    sweep(path.parent)
    with drafted(path) as draft:
        with transaction(draft, timeout=1.0, begin=WRITE_LOCK) as connection:
            fill(connection)
        if shares_memory(path.parent):
            with closing(sqlite3.connect(draft)) as switching:
                switching.execute("PRAGMA journal_mode=WAL")
        return _place(draft, path)


@contextmanager
def drafted(ledger: Path) -> Iterator[Path]:
    """Yield an empty file beside a ledger, removed in the end.

    SQLite's files beside it are removed, too.
    """
    draft = ledger.with_name(f".{ledger.name}.{token_hex(8)}{DRAFT}")
    try:
        os.close(os.open(draft, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))
        yield draft
    finally:
        for end in ("", "-wal", "-shm", "-journal"):
            draft.with_name(draft.name + end).unlink(missing_ok=True)


def give_up_shared_memory(path: Path, timeout: float) -> None:
    """Switch a ledger brought to a network disk to a rollback journal."""
    latest = time.monotonic() + timeout
    if not shares_memory(path.parent):
        close_all()  # the switch needs the file alone
    while _has_log(path) and not (shares_memory(path.parent) or _is_only_to_read(path)):
        try:
            with closing(sqlite3.connect(path, timeout=timeout)) as connection:
                connection.execute("PRAGMA journal_mode=DELETE")
        except sqlite3.OperationalError as error:
            # SQLite asks once, while others read; two that ask at the same time shut each other out.
            if error.sqlite_errorcode != sqlite3.SQLITE_BUSY or time.monotonic() > latest:
                raise
            time.sleep(0.005 + time.perf_counter_ns() % 1009 * 0.00005)  # so that no two wait equally long


def _has_log(path: Path) -> bool:
    """Return whether a file unused by this process has a write-ahead log."""
    with not_in_use(path) as free:
        if not free:
            return False
        with path.open("rb") as file:
            return file.read(_SMALLEST_PAGE)[18:20] == _WRITE_AHEAD


def _place(draft: Path, path: Path) -> bool:
    try:
        os.link(draft, path)  # unlike a rename, it never replaces a ledger
    except FileExistsError:
        return False
    except OSError as error:
        if error.errno not in NO_LINKS:
            raise
        try:  # claim the name first
            os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))
        except FileExistsError:
            return False
        try:
            os.replace(draft, path)
        except OSError:
            path.unlink(missing_ok=True)  # an empty file would be refused at the next start
            raise
    sync(path.parent)
    return True


def check_length(path: Path) -> None:
    """Refuse a file without a database's start or its full length.

    Raises the driver's error. SQLite itself reads the missing end of a last page, and the lone start of a first one, as
    zeros.
    """
    for _ in range(5):
        with not_in_use(path) as free:
            if not free:
                return  # this process has opened it before, and closing another handle would drop its locks
            with path.open("rb") as file:
                start = file.read(_SMALLEST_PAGE)
        if start[: len(_MAGIC)] != _MAGIC[: len(start)]:
            raise _failure(sqlite3.SQLITE_NOTADB)
        page = int.from_bytes(start[16:18], "big")
        declared = int.from_bytes(start[28:32], "big") * (65536 if page == 1 else page)
        if len(start) == _SMALLEST_PAGE and path.stat().st_size >= declared:
            return
        if _log_has_pages(path):
            return  # it holds the missing pages: another process writes, or died while it did
        time.sleep(0.02)  # another process may just have finished
    raise _failure(sqlite3.SQLITE_CORRUPT)


def check_harmless(connection: Connection) -> None:
    """Refuse a database with views, triggers, modules or computed columns.

    Raises the driver's error, since reading any of these would compute something.
    """
    columns = "select 1 from sqlite_master m, pragma_table_xinfo(m.name) c where m.type = 'table' and c.hidden limit 1"
    if connection.first(COMPUTING) is not None or connection.first(columns) is not None:
        raise _failure(sqlite3.SQLITE_NOTADB)


def check_whole(connection: Connection) -> None:
    """Raise the driver's error unless every page of a file is sound."""
    if connection.value("PRAGMA quick_check(1)") != "ok":
        raise _failure(sqlite3.SQLITE_CORRUPT)


def _failure(code: int) -> sqlite3.DatabaseError:
    error = sqlite3.DatabaseError()
    error.sqlite_errorcode = code
    return error


@contextmanager
def explained(path: Path) -> Iterator[None]:
    """Turn disk errors into a LedgerError with file, reason and fix."""
    try:
        yield
    except sqlite3.Error as error:
        fix = "check that it is a ledger of this version, not written by anything else"
        code = getattr(error, "sqlite_errorcode", 0) & 0xFF
        reason = _REASONS.get(code, (f"cannot be used ({error})", "", fix))
    except UnicodeDecodeError:  # a text that is none
        reason = _REASONS[sqlite3.SQLITE_CORRUPT]
    except OSError as error:
        why = (error.strerror or "system error").lower()
        reason = f"cannot be opened ({why})", "", "give a path that can be written"
        if error.errno in (errno.ENOSPC, errno.EDQUOT):
            reason = f"cannot grow ({why})", "", "make room"
    else:
        return
    fault, rule, fix = reason
    raise LedgerError(f"the ledger {str(path)!r} {fault}", rule=rule, fix=fix).at("ledger")
