"""Noisy values that wait to be published: one file beside the ledger, named by the reservation.

They are the files that a release will publish, whole, with the names of people that it publishes, and a ledger never
holds names. In this order: the file is written and on the disk; then one transaction says "drawn" and keeps the file's
name and digest. A crash before that transaction leaves a file that nothing names: its values were never out, and the
next draw is as good. From the transaction on only these very values may be published: part of them may be out already,
so a file that is lost or altered is not drawn again. Such a release is spent, and over. Files go when their values are
published, or, where a process dies in between, when the ledger is opened next.
"""

from __future__ import annotations

import hashlib
import os
import re
from collections.abc import Callable, Collection
from contextlib import suppress
from pathlib import Path
from secrets import token_hex

from takifugu.core.files import sync, write_synced

#: How a row begins that names a file; the answers of a session, which name nobody, stand in their row.
_NAMED = b"file\0"
_FILE = re.compile(r"takifugu-([0-9a-f]+)-[0-9a-f]{16}\.values")


def placed(ledger: Path, group: str, packed: bytes) -> bytes:
    """Write packed values to disk; return their file's name for the row."""
    path = ledger.with_name(f"takifugu-{group}-{token_hex(8)}.values")
    try:
        write_synced(path, packed, 0o600)
    except OSError:
        path.unlink(missing_ok=True)  # each attempt would leave another one on a full disk
        raise
    sync(path.parent)
    return _NAMED + hashlib.sha256(packed).digest() + path.name.encode()


def packed_of(ledger: Path, content: bytes) -> bytes | None:
    """Return a row's packed values; None from a lost or altered file."""
    if not content.startswith(_NAMED):
        return content
    digest, name = content[len(_NAMED) :][:32], content[len(_NAMED) + 32 :].decode()
    try:
        packed = ledger.with_name(name).read_bytes()
    except (OSError, ValueError):
        return None
    return packed if hashlib.sha256(packed).digest() == digest else None


def forget(ledger: Path, content: bytes) -> None:
    """Remove the file of a draw later than another process's."""
    if content.startswith(_NAMED):
        ledger.with_name(content[len(_NAMED) + 32 :].decode()).unlink(missing_ok=True)


def clear(ledger: Path, group: str) -> None:
    """Remove every file of a published reservation, also of crashed draws."""
    for leftover in ledger.parent.glob(f"takifugu-{group}-*.values"):
        leftover.unlink(missing_ok=True)


def sweep(ledger: Path, published: Callable[[Collection[str]], Collection[str]]) -> None:
    """Remove files of `published` reservations, left by dead processes."""
    with suppress(OSError):
        groups = set()
        for entry in os.scandir(ledger.parent):
            match = _FILE.fullmatch(entry.name)
            if match:
                groups.add(match[1])
        if groups:
            for group in published(groups):
                clear(ledger, group)
