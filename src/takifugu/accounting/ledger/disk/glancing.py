"""Whether a ledger read a source otherwise before, at a glance: most files say so without all that opens a ledger."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from urllib.parse import quote

from takifugu.accounting.ledger.disk.places import COMPUTING, check_side_files, in_use, path_of, place_of
from takifugu.core.errors import LedgerError
from takifugu.core.lasting import open_things
from takifugu.core.names import normalised

#: A row is found by its name in some dozens of SQLite's instructions; a file that takes more is no sound ledger.
_PATIENCE = 10_000
#: No value that a glance looks at has so many bytes; one of a column that is computed may have any number.
_LENGTH = 1_000_000

_READINGS_OF = """
    SELECT readings.body = ? FROM sources JOIN readings ON readings.source = sources.id
    WHERE sources.name = ?
"""


def knows_no_other_reading(where: str | Path, source: str, reading: Callable[[], str]) -> bool:
    """Return whether a source has no reading to differ from this one.

    False also where a glance does not tell.
    """
    if open_things():  # the ledger is open already, and tells more
        return False
    try:
        path = place_of(path_of(where))
        if not path.exists():
            return True
        if not path.is_file() or path.stat().st_nlink > 1:
            return False
        check_side_files(path)
        wanted = (reading(), normalised(source))
        address = f"file:{quote(str(path.absolute()))}?mode=rw"
        with in_use(path), closing(sqlite3.connect(address, uri=True, timeout=0)) as ledger:
            ledger.set_progress_handler(lambda: 1, _PATIENCE)
            ledger.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, _LENGTH)
            ledger.execute("PRAGMA trusted_schema=OFF")
            strange = ledger.execute(COMPUTING).fetchone()
            rows = ledger.execute(_READINGS_OF, wanted).fetchall()
    except (LedgerError, OSError, ValueError, sqlite3.Error):
        return False
    if strange is not None or not rows:
        return strange is None
    return any(is_same for (is_same,) in rows)
