"""Where the file of a ledger may lie, and how failures of its disk read.

SQLite keeps its journal by the ledger's name and its locks by the file. Two names of one file would share the locks and
not the journal; a file system whose locks do not work would let two processes spend the same epsilon.
"""

from __future__ import annotations

import errno
import os
import re
import sqlite3
import stat
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from secrets import token_hex

from takifugu.accounting.ledger.events import RESTORE
from takifugu.core.errors import LedgerError
from takifugu.core.files import sync
from takifugu.core.rules import check_type

#: What the unfinished file of a new ledger is called, after a dot, the ledger's name and a random word.
DRAFT = ".new"
_LEFT = re.compile(r"\..+\.[0-9a-f]{16}\.new(-journal)?|\.takifugu-[0-9a-f]{16}\.probe(-journal)?")
_FRESH, _PATIENCE = 3600.0, 2.0
#: What a file system without hard links says; a full or failing disk is no such file system.
_NO_LINKS = (errno.EPERM, errno.ENOTSUP, errno.EOPNOTSUPP, errno.ENOSYS, errno.EMLINK)
#: What says that locks hold on this machine only: a file system, or a word among the options of one.
_LOCKS_ALONE = {"fuse.sshfs", "nolock", "local_lock=all", "local_lock=posix", "nobrl"}
#: File systems of one machine, whose locks its kernel keeps.
_LOCAL = {"ext2", "ext3", "ext4", "xfs", "btrfs", "zfs", "f2fs", "tmpfs", "overlay"}
_MOUNTS = Path("/proc/self/mountinfo")
#: What another process runs to ask for a lock, and how it ends where it is shut out.
_SHUT_OUT = 75
_ASKING = f"""
import sqlite3, sys
try:
    sqlite3.connect(sys.argv[1], timeout=0, isolation_level=None).execute("begin immediate")
except sqlite3.OperationalError as error:
    sys.exit({_SHUT_OUT} if "locked" in str(error) else 1)
"""
_LOCKED = "is locked by another program", "", "wait until it has finished, or find and stop it"
_DAMAGED = "is damaged", "", RESTORE
#: What is wrong with the file, the rule where there is one, and the fix.
_REASONS = {
    sqlite3.SQLITE_BUSY: _LOCKED,
    sqlite3.SQLITE_LOCKED: _LOCKED,
    sqlite3.SQLITE_READONLY: ("is read-only", "", "make the file and its folder writable for this user"),
    sqlite3.SQLITE_PERM: ("may not be read by this user", "", "change the permissions of the file and its folder"),
    sqlite3.SQLITE_CANTOPEN: (
        "cannot be opened", "", "check that its folder is there, and that you may read and write both",
    ),
    sqlite3.SQLITE_FULL: ("cannot grow", "the disk is full", "make room"),
    sqlite3.SQLITE_IOERR: ("cannot be read or written (input/output error)", "", "check the disk"),
    sqlite3.SQLITE_CORRUPT: _DAMAGED,
    sqlite3.SQLITE_NOTADB: ("is not a ledger", "", "give the path of a ledger, or of a file that does not exist yet"),
}  # fmt: skip

#: Folders whose locks were seen to work by this process.
_sound: set[tuple[int, int]] = set()


def path_of(ledger: str | Path) -> Path:
    """Return the path of a ledger given by path or address; raises LedgerError for anything but a lasting file."""
    check_type(ledger, str | Path, "a ledger", "give the path of a file", "ledger")
    text = str(ledger).removeprefix("sqlite:///")
    if "://" in text:
        raise LedgerError(
            f"a ledger on {text.partition('://')[0]!r} is not supported",
            fix="give the path of a file, or postgresql://host/database?ledger=name",
        ).at("ledger")
    if "\0" in text:
        raise LedgerError("the path of a ledger holds a zero byte", fix="give the path of a file").at("ledger")
    if not text or text == ":memory:":
        raise LedgerError("a ledger must outlive the program", fix="give the path of a file").at("ledger")
    if not Path(text).name:
        raise LedgerError(f"the ledger {text!r} is a folder", fix="give the path of a file").at("ledger")
    return Path(text)


def is_free(ledger: str | Path) -> bool:
    """Return whether nothing lies at the path of a ledger."""
    try:
        path_of(ledger).lstat()
    except (FileNotFoundError, NotADirectoryError):
        return True
    except OSError:  # which opening it explains
        return False
    return False


def place_of(path: Path) -> Path:
    """Return the one path of a ledger, behind any symbolic links; raises LedgerError for links in a circle."""
    with suppress(OSError, RuntimeError):
        path = path.resolve() if path.is_symlink() else path
    if os.path.islink(path):  # False, unlike is_symlink, where the folder may not be looked at
        raise LedgerError(f"the ledger {str(path)!r} is a symbolic link to itself", fix="give the path of a file")
    return path


def mode(path: Path) -> str:
    """Return how a file is opened: only to read where this user may not write."""
    return "rw" if os.access(path, os.W_OK) and os.access(path.parent, os.W_OK) else "ro"


def identity(path: Path) -> tuple[int, ...]:
    """Return what differs where a file is another one, or has another name; one that has gone is never made anew."""
    facts = path.lstat()  # a link in its place has its journal elsewhere
    return facts.st_dev, facts.st_ino, facts.st_nlink


def placed(draft: Path, path: Path) -> bool:
    """Give a finished file its name; return whether another process was not faster."""
    try:
        os.link(draft, path)  # unlike a rename, it never replaces a ledger
    except FileExistsError:
        return False
    except OSError as error:
        if error.errno not in _NO_LINKS:
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


def check_file(path: Path, name: str) -> None:
    """Refuse an empty file, and one with a second name, by a mount or a link, which a new ledger has for a moment."""
    until = time.monotonic() + _PATIENCE
    while (facts := path.stat()).st_nlink > 1 and stat.S_ISREG(facts.st_mode):
        if time.monotonic() > until and not _swept(path.parent, path.samefile):
            raise LedgerError(
                f"the ledger {name!r} is a hard link",
                rule="the same file has another name, and what is released under the two is not counted together",
                fix="keep one name and delete the other, or copy it back over itself (find -samefile shows all names)",
            )
        time.sleep(0.01)
    if not stat.S_ISREG(facts.st_mode):
        raise LedgerError(f"the ledger {name!r} is no file", fix="give the path of a file").at("ledger")
    if os.path.realpath(path) in dict(_mounts()):
        raise LedgerError(
            f"the ledger {name!r} is mounted as a single file",
            rule="the same file has another name elsewhere, and what a crash leaves beside it is not seen there",
            fix="mount its folder",
        )
    if not facts.st_size:
        raise LedgerError(
            f"the ledger {name!r} is an empty file", rule="what it knew is lost, if it was a ledger",
            fix="restore it from a backup; or delete it, if it never was one, and a new one is made",
        ).at("ledger")  # fmt: skip


def _swept(folder: Path, is_dead: Callable[[Path], bool]) -> bool:
    """Remove dead processes' files from a folder of ledgers; return whether there were any."""
    removed = False
    for path in folder.iterdir():
        with suppress(OSError):
            if _LEFT.fullmatch(path.name) and is_dead(path):
                path.unlink()
                removed = True
    return removed


def check_place(path: Path, name: str) -> None:
    """Refuse a journal that is no file, and a folder whose locks do not work, which is tried once."""
    journal = path.with_name(f"{path.name}-journal")
    with suppress(FileNotFoundError, NotADirectoryError, PermissionError):
        if not stat.S_ISREG(journal.lstat().st_mode):  # SQLite would wait for a pipe without end
            raise LedgerError(
                f"{str(journal)!r} beside the ledger is a folder, a link, a device or a pipe",
                rule="SQLite keeps what is not yet in a ledger in a file of this name", fix="move it away",
            ).at("ledger")  # fmt: skip
    folder = path.parent
    try:
        facts = folder.stat()
    except OSError:
        return  # what is wrong with the folder is said when the ledger is opened
    if (facts.st_dev, facts.st_ino) in _sound:
        return
    with suppress(OSError):
        _swept(folder, _is_old)
    probe = folder / f".takifugu-{token_hex(8)}.probe"
    try:
        with closing(sqlite3.connect(probe, timeout=0, isolation_level=None)) as first:
            first.execute("begin exclusive")
            works = _shuts_out_others(probe)
    except sqlite3.Error:
        return  # nothing can be written here, so nothing can be lost
    finally:
        for leftover in (probe, probe.with_name(f"{probe.name}-journal")):
            with suppress(OSError):  # a disk that is only read says so of what is not there, too
                leftover.unlink(missing_ok=True)
    system = _mounted(folder)
    if works is None:  # a Python that this user may not start, or none
        works = bool(system) and system[0] in _LOCAL
    if not works or not _LOCKS_ALONE.isdisjoint(system):
        raise LedgerError(
            f"the folder of the ledger {name!r} is on a file system whose locks do not work",
            rule="two processes could spend the same epsilon",
            fix="keep the ledger on a local disk, or in PostgreSQL",
        ).at("ledger")
    _sound.add((facts.st_dev, facts.st_ino))


def _is_old(path: Path) -> bool:
    facts = path.lstat()
    return stat.S_ISREG(facts.st_mode) and facts.st_mtime < time.time() - _FRESH


def _shuts_out_others(probe: Path) -> bool | None:
    """Return whether a lock on a file shuts out another process, None where none can be asked."""
    try:
        command = [sys.executable, "-I", "-S", "-c", _ASKING, str(probe)]
        code = subprocess.run(command, capture_output=True, timeout=60, check=False).returncode
    except (OSError, subprocess.SubprocessError):
        return None
    return {_SHUT_OUT: True, 0: False}.get(code)


def _mounts() -> Iterator[tuple[str, tuple[str, ...]]]:
    """Yield where something is mounted, its file system and options, the last one last; nothing where it is unknown."""
    try:
        lines = _MOUNTS.read_text(encoding="utf-8", errors="surrogateescape").splitlines()
    except OSError:
        return
    for line in lines:
        mounted, _, system = line.partition(" - ")
        fields, details = mounted.split(" "), system.split(" ")
        top = fields[4]
        for sign in " \t\n\\":  # which are written in octal digits
            top = top.replace(f"\\{ord(sign):03o}", sign)
        yield top, (details[0], *fields[5].split(","), *details[-1].split(","))


def _mounted(folder: Path) -> tuple[str, ...]:
    """Return a folder's file system and mount options, or () where they are unknown."""
    path, deepest, words = os.path.realpath(folder), -1, tuple[str, ...]()
    for top, said in _mounts():
        is_above = path == top or path.startswith(top.rstrip("/") + "/")
        if is_above and len(top) >= deepest:  # of several at one place the last one is seen
            deepest, words = len(top), said
    return words


@contextmanager
def explained(name: str) -> Iterator[None]:
    """Turn errors of the disk into a LedgerError with file, reason and fix."""
    try:
        yield
    except sqlite3.Error as error:
        fix = "check that it is a ledger of this version, not written by anything else"
        code = (vars(error).get("sqlite_errorcode") or 0) & 0xFF
        reason = _REASONS.get(code, (f"cannot be used ({error})", "", fix))
    except UnicodeDecodeError:  # a text that is none
        reason = _DAMAGED
    except OSError as error:
        why = (error.strerror or "system error").lower()
        reason = f"cannot be opened ({why})", "", "give a path that can be written"
        if error.errno in (errno.ENOSPC, errno.EDQUOT):
            reason = f"cannot grow ({why})", "", "make room"
    else:
        return
    fault, rule, fix = reason
    raise LedgerError(f"the ledger {name!r} {fault}", rule=rule, fix=fix).at("ledger")
