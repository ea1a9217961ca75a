"""Files read whole within limits, files replaced whole, and folders for private rows that do not fit into memory."""

from __future__ import annotations

import errno
import os
import shutil
import stat
import tempfile
import time
import weakref
from contextlib import suppress
from functools import cache
from pathlib import Path
from secrets import token_hex

from takifugu.core.errors import DataError

#: The most bytes that are read of a release file, a certificate, a network and a file of numbers.
LARGEST = 64_000_000
#: Folders for private rows: for this user alone, and gone when their process is.
PREFIX = "takifugu-rows-"
#: A folder of this age, in seconds, is locked by its process if that still runs.
_SETTLED = 60


def read_file(path: str | Path, largest: int = LARGEST) -> bytes:
    """Return the bytes of a regular file of at most `largest` bytes; OSError, whose `strerror` says why not."""
    no_wait = getattr(os, "O_NONBLOCK", 0)  # for a pipe without a writer
    try:
        with open(path, "rb", opener=lambda path, flags: os.open(path, flags | no_wait)) as file:
            status = os.fstat(file.fileno())
            if not stat.S_ISREG(status.st_mode):
                raise OSError(errno.EINVAL, "It is a device or a pipe, not a file")
            content = file.read(largest + 1)
    except IsADirectoryError:
        raise OSError(errno.EISDIR, "It is a folder") from None
    except ValueError:  # a NUL in the name, or half of a character
        raise OSError(errno.EINVAL, "No file can have this name") from None
    if len(content) > largest:
        raise OSError(errno.EFBIG, f"It is larger than {largest // 1_000_000} MB")
    return content


def path_in(folder: Path, name: str) -> str | Path:
    """Return a path as seen from a folder, and a URL as it is."""
    if "://" in name:
        return name
    return folder / name


def draft_of(path: Path) -> Path:
    """Return a new name beside a file, for its content until it is whole."""
    return path.with_name(f".takifugu-{token_hex(8)}.unfinished")


def replace_synced(path: Path, content: bytes) -> None:
    """Replace a file's content in one step, with its permissions: a stopped machine leaves the old or the new."""
    draft = draft_of(path)
    try:
        write_synced(draft, content, path.stat().st_mode & 0o7777 if path.exists() else None)
        os.replace(draft, path)
        sync(path.parent)
    finally:
        with suppress(OSError):
            draft.unlink(missing_ok=True)


def write_synced(path: Path, content: bytes, mode: int | None = None) -> None:
    """Write a new file, and wait for the disk; its `mode` is exact, if any."""
    flags = os.O_CREAT | os.O_EXCL | os.O_WRONLY | getattr(os, "O_BINARY", 0)
    handle = os.open(path, flags, 0o666 if mode is None else 0o600)
    try:
        unwritten = memoryview(content)
        while unwritten:
            unwritten = unwritten[os.write(handle, unwritten) :]
        os.fsync(handle)
    finally:
        os.close(handle)
    if mode is not None and stat.S_IMODE(path.stat().st_mode) != mode:  # some file systems let nobody change it
        os.chmod(path, mode)


def sync(folder: Path) -> None:
    """Wait until the disk has the names of a folder's files."""
    if os.name != "posix":  # elsewhere a folder cannot be synchronised, and need not be
        return
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    except OSError as error:
        if error.errno not in (errno.EINVAL, errno.ENOTSUP):  # some file systems synchronise no folders
            raise
    finally:
        os.close(handle)


def make_folder(folder: Path) -> None:
    """Make a folder and those above it, unless it is there; a stopped machine keeps their names."""
    if not folder.is_dir():
        make_folder(folder.parent)
        folder.mkdir(exist_ok=True)
        sync(folder.parent)


def private_folder() -> tempfile.TemporaryDirectory[str]:
    """Return a new folder for the life of the process; the first removes those that killed processes left."""
    _remove_left_folders_once()
    try:
        folder = tempfile.TemporaryDirectory(prefix=PREFIX)
    except OSError as error:
        raise no_room(error.strerror or "no folder can be written to") from None
    descriptor = _lock(Path(folder.name))
    if descriptor is not None:
        weakref.finalize(folder, os.close, descriptor)
    return folder


def no_room(why: str) -> DataError:
    """Return the error of a disk that cannot take private rows."""
    return DataError(
        f"rows cannot be kept on the disk while they are read ({why.lower()})",
        fix="make room, or name another folder for temporary files: TMPDIR=/another/folder",
    ).at("file")


def remove_left_folders() -> None:
    """Remove this user's folders without a process. The system releases a process's locks however it ends."""
    if not hasattr(os, "getuid"):  # Windows
        return
    for left in Path(tempfile.gettempdir()).glob(f"{PREFIX}*"):
        with suppress(OSError):
            status = left.lstat()
            if status.st_uid != os.getuid() or time.time() - status.st_mtime < _SETTLED:
                continue
            descriptor = _lock(left)
            if descriptor is not None:
                shutil.rmtree(left, ignore_errors=True)
                os.close(descriptor)


_remove_left_folders_once = cache(remove_left_folders)


def _lock(folder: Path) -> int | None:
    """Return a descriptor with a lock on a folder, None without one."""
    try:
        import fcntl
    except ImportError:  # Windows, where nobody can remove a folder in use either
        return None
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        os.close(descriptor)
        return None
    return descriptor
