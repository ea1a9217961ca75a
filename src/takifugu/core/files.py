"""Small files that others wrote, read whole and within limits: no device, no pipe, nothing oversized."""

from __future__ import annotations

import errno
import os
import stat
from pathlib import Path

#: The most bytes that are read of a release file, a certificate, a network and a file of numbers.
LARGEST = 64_000_000


def read_file(path: str | Path, largest: int = LARGEST) -> bytes:
    """Return the bytes of a regular file.

    Raises OSError, whose `strerror` says why: no such file, a folder, a device or a pipe, a name that no file can have,
    or more than `largest` bytes.
    """
    try:
        with open(path, "rb", opener=_without_waiting) as file:
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


def _without_waiting(path: str, flags: int) -> int:
    """Open a file, without waiting on a pipe without a writer."""
    return os.open(path, flags | getattr(os, "O_NONBLOCK", 0))
