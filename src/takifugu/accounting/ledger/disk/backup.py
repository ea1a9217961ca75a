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
        copy, numbers = ledger.with_name(f"{ledger.name}.{ending}"), count(2)
        while copy.exists():
            copy = ledger.with_name(f"{ledger.name}.{ending}-{next(numbers)}")
        draft.replace(copy)
    sync(ledger.parent)
    return copy


@contextmanager
def in_memory(connection: Connection) -> Iterator[Connection]:
    """Yield a copy of the ledger in memory alone."""
    with closing(connect(":memory:", 0, connection.ledger)) as copied:
        connection.backup(copied)
        yield copied
