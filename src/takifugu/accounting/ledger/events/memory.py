"""A ledger that is nowhere but in memory: for rehearsals where there is none yet, so that a dry run makes no file."""

from __future__ import annotations

import sqlite3
import threading
from collections.abc import Iterator
from contextlib import contextmanager

from takifugu.accounting.ledger.events import first_row
from takifugu.accounting.ledger.events.sqlite import Sqlite, begun


class Memory(Sqlite):
    """The same tables without a file; `name` is what it is called in words, the path where it will be."""

    def __init__(self, name: str) -> None:
        self.name, self.is_new, self._is_alone = name, True, False
        self._guard = threading.RLock()
        self._tables = sqlite3.connect(":memory:", isolation_level=None, check_same_thread=False)
        begun(self._tables, first_row())

    @contextmanager
    def _connected(self) -> Iterator[sqlite3.Connection]:
        with self._guard:
            yield self._tables

    def close(self) -> None:
        """Keep the connection: what it holds is nowhere else."""
