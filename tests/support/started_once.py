"""What a process starts once, though a user starts it for each file: a DuckDB, and a question to a file system.

A DuckDB takes fifteen milliseconds to start, and a test opens several files; its lock, which is for all of a database,
is left out. Whether the locks of a file system work is asked of another process, for each folder of a ledger.
"""

import os
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[2]
#: Tests of the lock itself, and of what is asked about a folder.
OF_LOCKS = ROOT / "tests/data/relation/test_judge.py"
OF_FOLDERS = ROOT / "tests/accounting/ledger/test_places.py"

_DATABASES: list[Any] = []
_ANSWERS: dict[int, bool | None] = {}


def start_once(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the tests of a file share what starts slowly."""
    if path != OF_LOCKS:
        open_one_database(monkeypatch)
    if path != OF_FOLDERS:
        ask_of_each_device(monkeypatch)


class Session:
    """A session of the shared database: its views and frames are its own; one that attaches a file leaves it."""

    def __init__(self, connect: Any, options: dict[str, Any]) -> None:
        self._connect, self._options, self._settings = connect, options, list[str]()
        self._connection, self._is_shared = _shared(connect, options), True

    def execute(self, statement: str, *values: Any) -> Any:
        if self._is_shared and statement.startswith("attach "):
            self._connection.close()
            self._connection, self._is_shared = self._connect(":memory:", **self._options), False
            for setting in self._settings:
                self._connection.execute(setting)
        if statement.startswith("set "):
            self._settings.append(statement)
        is_lock = statement.startswith(("set allowed_paths", "set enable_external", "set lock_configuration"))
        return self._connection if self._is_shared and is_lock else self._connection.execute(statement, *values)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._connection, name)


def _shared(connect: Any, options: dict[str, Any]) -> Any:
    """Return a session of the shared database, which is started if there is none, or a hostile file has ended it."""
    import duckdb

    try:
        _DATABASES[0].cursor().execute("select 1").fetchall()
    except (IndexError, duckdb.Error):
        _DATABASES[:] = [connect(":memory:", config={**options["config"], "temp_directory": ""})]
    return _DATABASES[0].cursor()


def open_one_database(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the sources that are opened with the usual limits share a DuckDB."""
    import duckdb

    from takifugu.data.relation.relation import MEMORY

    real = duckdb.connect

    def connect(*args: Any, **options: Any) -> Any:
        limits = options.get("config", {})
        is_usual = (limits.get("memory_limit"), limits.get("threads")) == (MEMORY, "2")
        return Session(real, options) if args == (":memory:",) and is_usual else real(*args, **options)

    monkeypatch.setattr(duckdb, "connect", connect)


def ask_of_each_device(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the folders of one device have one answer."""
    from takifugu.accounting.ledger.events import disk

    real = disk._shuts_out_others

    def shuts_out_others(probe: Path) -> bool | None:
        device = os.stat(probe).st_dev
        if device not in _ANSWERS:
            _ANSWERS[device] = real(probe)
        return _ANSWERS[device]

    monkeypatch.setattr(disk, "_shuts_out_others", shuts_out_others)
