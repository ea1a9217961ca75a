"""The ledger of a release: never made only to be asked."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:  # nothing is loaded that reads ledgers where none is asked
    from takifugu.accounting.ledger import Ledger


def opened(where: Ledger | str | Path) -> Ledger:
    """Open a ledger, or make one."""
    from takifugu.accounting.ledger import Ledger

    return where if isinstance(where, Ledger) else Ledger.open(where)


def there(where: Ledger | str | Path) -> Ledger | None:
    """Return the ledger at a place, None where there is none."""
    from takifugu.accounting.ledger.stores import MissingLedger, is_address

    if isinstance(where, str | Path) and not is_address(where) and _is_free(where):
        return None
    from takifugu.accounting.ledger import Ledger

    try:
        return where if isinstance(where, Ledger) else Ledger.open(where, create=False)
    except MissingLedger:
        return None


def _is_free(where: str | Path) -> bool:
    """Return whether nothing lies at the path of a ledger; then nothing is loaded that reads one."""
    from takifugu.accounting.ledger.disk import path_of

    try:
        path_of(where).lstat()
    except (FileNotFoundError, NotADirectoryError):
        return True
    except OSError:  # which opening it explains
        return False
    return False


def rehearsed(where: Ledger | str | Path) -> Ledger:
    """Return the ledger at a place, or a new one in memory, to ask what a release would come to."""
    from takifugu.accounting.ledger import Ledger

    return there(where) or Ledger.blank(str(where))
