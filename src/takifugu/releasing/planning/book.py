"""The ledger of a release: opened once in a process, and never made only to be asked."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:  # nothing is loaded that reads ledgers where none is asked
    from takifugu.accounting.log import Ledger

#: The open ledgers of this process, by name and file: what they know of their events is not read again.
_OPEN: dict[tuple[object, ...], Ledger] = {}


def opened(where: Ledger | str | Path, create: bool = True) -> Ledger:
    """Open a ledger, or make one."""
    from takifugu.accounting.log import Ledger

    if isinstance(where, Ledger):
        return where
    there = Ledger.open(where, create=create)
    known = _OPEN.setdefault(there.store.place, there)
    known.store.is_new = there.store.is_new
    return known


def there(where: Ledger | str | Path) -> Ledger | None:
    """Return the ledger at a place, None where there is none."""
    from takifugu.accounting.log.stores import MissingLedger

    try:
        return opened(where, create=False)
    except MissingLedger:
        return None


def rehearsed(where: Ledger | str | Path) -> Ledger:
    """Return the ledger at a place, or a new one in memory, to ask what a release would come to."""
    from takifugu.accounting.log import Ledger

    return there(where) or Ledger.blank(str(where))
