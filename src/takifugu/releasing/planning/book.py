"""The ledger of a release: never made only to be asked."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:  # nothing is loaded that reads ledgers where none is asked
    from takifugu.accounting.log import Ledger


def opened(where: Ledger | str | Path) -> Ledger:
    """Open a ledger, or make one."""
    from takifugu.accounting.log import Ledger

    return where if isinstance(where, Ledger) else Ledger.open(where)


def there(where: Ledger | str | Path) -> Ledger | None:
    """Return the ledger at a place, None where there is none."""
    from takifugu.accounting.log import Ledger
    from takifugu.accounting.log.stores import MissingLedger

    try:
        return where if isinstance(where, Ledger) else Ledger.open(where, create=False)
    except MissingLedger:
        return None


def rehearsed(where: Ledger | str | Path) -> Ledger:
    """Return the ledger at a place, or a new one in memory, to ask what a release would come to."""
    from takifugu.accounting.log import Ledger

    return there(where) or Ledger.blank(str(where))
