"""Folders for private rows that do not fit into memory: for this user alone, and gone when their process is."""

from __future__ import annotations

import os
import shutil
import tempfile
import time
import weakref
from contextlib import suppress
from pathlib import Path

PREFIX = "takifugu-rows-"
#: A folder of this age, in seconds, is locked by its process if that still runs.
_SETTLED = 60


def private_folder() -> tempfile.TemporaryDirectory[str]:
    """Return a new folder for the life of the process.

    Folders that killed processes have left are removed first.
    """
    remove_left_folders()
    folder = tempfile.TemporaryDirectory(prefix=PREFIX)
    descriptor = _lock(Path(folder.name))
    if descriptor is not None:
        weakref.finalize(folder, os.close, descriptor)
    return folder


def remove_left_folders() -> None:
    """Remove this user's folders without a process.

    The system releases a process's locks however it ends.
    """
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


def _lock(folder: Path) -> int | None:
    """Return a descriptor with a lock on a folder.

    None where another process has it, or the system has no such locks.
    """
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
