"""Whether a ledger has read a source before, at a glance: most files say so without all that opens a ledger."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path
from urllib.parse import quote

from takifugu.accounting.ledger.disk.places import COMPUTING, check_side_files, in_use, path_of, place_of
from takifugu.core.errors import LedgerError
from takifugu.core.names import normalised

#: A row is found by its name in some dozens of SQLite's instructions; a file that takes more is no sound ledger.
_PATIENCE = 10_000
#: No value that a glance looks at has so many bytes; one of a column that is computed may have any number.
_LENGTH = 1_000_000

_LAYOUT_OF = "SELECT 1 FROM sources JOIN layouts ON layouts.source = sources.id WHERE sources.name = ?"


def knows_no_layout(where: str | Path, source: str) -> bool:
    """Whether there is no ledger, or one that has no layout of a source; False also where a glance does not say."""
    try:
        path = place_of(path_of(where))
        if not path.exists():
            return True
        if not path.is_file() or path.stat().st_nlink > 1:
            return False
        check_side_files(path)
        return not _has_layout(path, normalised(source))
    except (LedgerError, OSError, ValueError, sqlite3.Error):
        return False


def _has_layout(path: Path, source: str) -> bool:
    address = f"file:{quote(str(path.absolute()))}?mode=rw"
    with in_use(path), closing(sqlite3.connect(address, uri=True, timeout=0)) as ledger:
        ledger.set_progress_handler(lambda: 1, _PATIENCE)
        ledger.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, _LENGTH)
        ledger.execute("PRAGMA trusted_schema=OFF")
        strange = ledger.execute(COMPUTING).fetchone()
        row = ledger.execute(_LAYOUT_OF, (source,)).fetchone()
    return strange is not None or row is not None
