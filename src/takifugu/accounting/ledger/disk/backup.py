"""Copies of a ledger as it is: one kept beside it before it changes as a whole, and one in memory to compute with."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from itertools import count
from pathlib import Path

from takifugu.accounting.ledger.disk.sqlite import Connection, connect, drafted
from takifugu.core.files import sync


def keep(ledger: Path, ending: str) -> Path:
    """Write a copy of the ledger beside it, synchronised to disk.

    No earlier copy is replaced. The caller holds the write lock and has written nothing yet.
    """
    with drafted(ledger) as draft:
        with closing(sqlite3.connect(ledger)) as source, closing(sqlite3.connect(draft)) as target:
            source.backup(target)
        with draft.open("rb") as file:
            os.fsync(file.fileno())
        name = _free_name(ledger, ending)
        draft.replace(name)
    sync(ledger.parent)
    return name


def _free_name(ledger: Path, ending: str) -> Path:
    """Return an unused name for a copy."""
    name = ledger.with_name(f"{ledger.name}.{ending}")
    for number in count(2):
        if not name.exists():
            break
        name = ledger.with_name(f"{ledger.name}.{ending}-{number}")
    return name


@contextmanager
def in_memory(connection: Connection) -> Iterator[Connection]:
    """Yield a copy of the ledger in memory alone."""
    with closing(connect(":memory:", 0, connection.ledger)) as copied:
        connection.backup(copied)
        yield copied
