"""Where a ledger may lie: one file under one name, on a file system whose locks work.

SQLite keeps its side file by the ledger's name and its locks by the file. Two names of one file would share the locks
and not the side file, so that each loses what the other wrote; a file system without locks loses it, too.
"""

from __future__ import annotations

import glob
import os
import re
import sqlite3
import stat
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from secrets import token_hex

from takifugu.accounting.ledger.disk.mounts import locks_alone, shares_memory
from takifugu.core.errors import LedgerError

#: What the unfinished file of a new ledger is called, after a dot, the ledger's name and a random word.
DRAFT = ".new"

#: Names of unfinished files and of files that locks are tried on, and for how many seconds they may be in use.
_LEFT = re.compile(
    r"\..+\.[0-9a-f]{16}\.new(-wal|-shm|-journal)?|\.takifugu-[0-9a-f]{16}\.(probe(-journal|-shm)?|lock|unfinished)"
)
_FRESH = 3600.0

#: How long another process may take between giving a new ledger its name and removing the unfinished one's.
PATIENCE = 2.0

#: Finds a part of a database that computes something when it is read: a view, a trigger, a module.
COMPUTING = "select 1 from sqlite_master where type not in ('table', 'index') or sql like '%virtual%table%' limit 1"

#: What another process runs to ask for a lock, and how it ends where it is shut out.
_SHUT_OUT = 75
_ASKING = f"""
import sqlite3, sys
try:
    sqlite3.connect(sys.argv[1], timeout=0, isolation_level=None).execute("BEGIN IMMEDIATE")
except sqlite3.OperationalError as error:
    sys.exit({_SHUT_OUT} if "locked" in str(error) else 1)
"""

#: Folders whose locks were seen to work by this process, and how many of its transactions are open on each file.
_sound: set[tuple[int, int]] = set()
_open: Counter[str] = Counter()
_guard = threading.RLock()  # an interrupted command may hold it still, in the frames of its error


def path_of(ledger: str | Path) -> Path:
    """Return the path of a ledger given by path or address.

    Raises LedgerError for anything but a lasting file.
    """
    text = str(ledger)
    if text.startswith("sqlite:///"):
        text = text.removeprefix("sqlite:///")
    elif "://" in text:
        kind = text.partition("://")[0]
        raise LedgerError(f"a ledger on {kind!r} is not supported by this version", fix="give the path of a file").at(
            "ledger"
        )
    if not text or text == ":memory:":
        raise LedgerError("a ledger must outlive the program", fix="give the path of a file").at("ledger")
    return Path(text)


def place_of(path: Path) -> Path:
    """Return the one path of a ledger, behind any symbolic links.

    Raises LedgerError for links in a circle.
    """
    try:
        led = path.resolve() if path.is_symlink() else path
    except (OSError, RuntimeError):
        led = path
    if led.is_symlink():
        raise LedgerError(f"the ledger {str(path)!r} is a symbolic link to itself", fix="give the path of a file")
    return led


def sweep(folder: Path) -> None:
    """Remove killed processes' files from a folder of ledgers, except fresh ones."""
    try:
        for entry in os.scandir(folder):
            is_ours = _LEFT.fullmatch(entry.name) and entry.is_file(follow_symlinks=False)
            if is_ours and entry.stat(follow_symlinks=False).st_mtime < time.time() - _FRESH:
                Path(entry.path).unlink(missing_ok=True)
    except OSError:
        return  # what is wrong with the folder is said when the ledger is opened


def check_side_files(path: Path) -> None:
    """Refuse anything but a regular file as SQLite's side file.

    Raises LedgerError: SQLite would wait for a pipe without end.
    """
    for end in ("-journal", "-wal", "-shm"):
        side_file = path.with_name(path.name + end)
        with suppress(FileNotFoundError):
            if not stat.S_ISREG(side_file.lstat().st_mode):
                raise LedgerError(
                    f"{str(side_file)!r} beside the ledger is a folder, a link, a device or a pipe",
                    rule="SQLite keeps what is not yet in a ledger in a file of this name",
                    fix="move it away",
                ).at("ledger")


def check_one_name(path: Path) -> None:
    """Refuse a ledger file with a second name.

    Raises LedgerError. A new ledger has a second name for a moment.
    """
    until = time.monotonic() + PATIENCE
    while path.stat().st_nlink > 1:
        if time.monotonic() > until and not _tidied(path):
            raise LedgerError(
                f"the ledger {str(path)!r} is a hard link",
                rule="the same file has another name, and what is released under the two is not counted together",
                fix=(
                    "keep one name and delete the other, or copy it back over itself (find -samefile shows all names)"
                ),
            )
        time.sleep(0.01)


def _tidied(path: Path) -> bool:
    """Remove drafts of this ledger by a dead process; return whether any."""
    changed = False
    for draft in path.parent.glob(f".{glob.escape(path.name)}.*{DRAFT}"):
        with suppress(OSError):
            if draft.samefile(path):
                draft.unlink()
                changed = True
    return changed


def check_locks(folder: Path) -> None:
    """Refuse a file system able to give one lock to two processes.

    Raises LedgerError; checked once per process and folder.
    """
    try:
        facts = folder.stat()
    except OSError:
        return  # what is wrong with the folder is said when the ledger is opened
    if (facts.st_dev, facts.st_ino) in _sound:
        return
    sweep(folder)
    probe = folder / f".takifugu-{token_hex(8)}.probe"
    try:
        with closing(sqlite3.connect(probe, timeout=0, isolation_level=None)) as first:
            first.execute("BEGIN EXCLUSIVE")
            works = _is_shut_out(probe) and _locks_hold(probe) and _others_are_shut_out(probe)
    except sqlite3.Error:
        return  # nothing can be written here, so nothing can be lost
    finally:
        for leftover in (probe, probe.with_name(f"{probe.name}-journal")):
            leftover.unlink(missing_ok=True)
    if not works or locks_alone(folder):
        raise LedgerError(
            f"the folder {str(folder)!r} is on a file system whose locks do not work",
            rule="two processes could spend the same epsilon",
            fix="keep the ledger on a local disk",
        )
    _sound.add((facts.st_dev, facts.st_ino))


def _is_shut_out(probe: Path) -> bool:
    with closing(sqlite3.connect(probe, timeout=0, isolation_level=None)) as second:
        try:
            second.execute("BEGIN IMMEDIATE")
        except sqlite3.OperationalError as error:
            return error.sqlite_errorcode & 0xFF == sqlite3.SQLITE_BUSY
        return False


def _others_are_shut_out(probe: Path) -> bool:
    """Return whether a lock shuts out another process."""
    if shares_memory(probe.parent):  # only a network's disk is worth another process
        return True
    try:
        command = [sys.executable, "-I", "-S", "-c", _ASKING, str(probe)]
        return subprocess.run(command, capture_output=True, timeout=60, check=False).returncode == _SHUT_OUT
    except (OSError, subprocess.SubprocessError):
        return False


def _locks_hold(probe: Path) -> bool:
    """Return whether locks of the system shut out a second handle.

    SQLite knows its own connections of one process without the system's locks.
    """
    try:
        import fcntl

        ask = fcntl.F_OFD_SETLK
    except (ImportError, AttributeError):  # no locks of open files on this system
        return True
    import struct

    lock = struct.pack("hhqqi4x", fcntl.F_WRLCK, os.SEEK_SET, 0, 0, 0)
    other = probe.with_suffix(".lock")
    handles = [os.open(other, os.O_CREAT | os.O_RDWR, 0o600) for _ in range(2)]
    try:
        fcntl.fcntl(handles[0], ask, lock)
        fcntl.fcntl(handles[1], ask, lock)
    except BlockingIOError:
        return True
    except OSError:
        return False
    finally:
        for handle in handles:
            os.close(handle)
        other.unlink(missing_ok=True)
    return False


@contextmanager
def in_use(path: Path) -> Iterator[None]:
    """Mark a file as in this process's transaction."""
    key = str(path.absolute())
    with _guard:
        _open[key] += 1
    try:
        yield
    finally:
        with _guard:
            _open[key] -= 1


@contextmanager
def not_in_use(path: Path) -> Iterator[bool]:
    """Yield whether this process has no transaction on a file.

    The answer holds meanwhile. A system with POSIX locks drops all locks of a process on a file when the process closes
    any handle of it.
    """
    with _guard:
        yield not _open[str(path.absolute())]
