"""Which file system a folder is on: SQLite's write-ahead log needs memory that all who write share.

Machines that mount one network disk share none, however well it locks: each would overwrite what the others have paid.
There a ledger has a rollback journal, which needs nothing but locks.
"""

from __future__ import annotations

import mmap
import os
from functools import cache
from pathlib import Path
from secrets import token_hex

#: The system's list of what is mounted where. Where there is none (not Linux) no disk counts as local.
MOUNTS = Path("/proc/self/mountinfo")

#: File systems that one machine alone writes to. All others may be a network's: nfs, cifs, 9p, virtiofs, fuse.
_LOCAL = frozenset({
    "bcachefs", "btrfs", "exfat", "ext2", "ext3", "ext4", "f2fs", "jfs", "ntfs3", "overlay", "ramfs", "reiserfs",
    "tmpfs", "ubifs", "vfat", "xfs", "zfs",
})  # fmt: skip

#: What says that locks hold on this machine only: a file system, or a word among the options of one.
_LOCKS_ALONE = frozenset({"fuse.sshfs", "nolock", "local_lock=all", "local_lock=posix", "nobrl"})


def shares_memory(folder: Path) -> bool:
    """Return whether a folder's writers share mapped memory, checked once per process."""
    return _shares_memory(Path(os.path.realpath(folder)))


@cache
def _shares_memory(folder: Path) -> bool:
    words = _mount(folder)
    return bool(words) and words[0] in _LOCAL and _is_mapped_once(folder)


def locks_alone(folder: Path) -> bool:
    """Return whether locks in a folder hold on one machine only."""
    return not _LOCKS_ALONE.isdisjoint(_mount(folder))


def _mount(folder: Path) -> tuple[str, ...]:
    """Return a folder's file system and mount options, or () if unknown."""
    try:
        lines = MOUNTS.read_text(encoding="utf-8", errors="surrogateescape").splitlines()
    except OSError:
        return ()
    path, deepest, words = os.path.realpath(folder), -1, tuple[str, ...]()
    for line in lines:
        mounted, _, system = line.partition(" - ")
        fields, details = mounted.split(" "), system.split(" ")
        top = fields[4]
        for sign in " \t\n\\":  # which are written in octal digits
            top = top.replace(f"\\{ord(sign):03o}", sign)
        is_above = path == top or path.startswith(top.rstrip("/") + "/")
        if is_above and len(top) >= deepest:  # of several at one place the last one is seen
            deepest, words = len(top), (details[0], *fields[5].split(","), *details[-1].split(","))
    return words


def _is_mapped_once(folder: Path) -> bool:
    """Return whether two mappings of one file show the same content."""
    probe = folder / f".takifugu-{token_hex(8)}.probe-shm"
    try:
        handle = os.open(probe, os.O_CREAT | os.O_EXCL | os.O_RDWR, 0o600)
    except OSError:
        return False
    try:
        os.write(handle, bytes(mmap.PAGESIZE))  # a hole of a full disk stops the process where it is mapped
        with mmap.mmap(handle, mmap.PAGESIZE) as first, mmap.mmap(handle, mmap.PAGESIZE) as second:
            first[0] = 1
            return second[0] == 1
    except (OSError, ValueError):
        return False
    finally:
        os.close(handle)
        probe.unlink(missing_ok=True)
