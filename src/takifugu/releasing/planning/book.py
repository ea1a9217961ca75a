"""The ledger of a release: never made only to be asked."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from takifugu.core.names import normalised

if TYPE_CHECKING:  # nothing is loaded that reads ledgers where none is asked
    from takifugu.accounting.ledger import Ledger, Payment
    from takifugu.releasing.file.kind import ReleaseFile


def opened(where: Ledger | str | Path, announce: Callable[[], None] = lambda: None) -> Ledger:
    """Return a ledger, or one that is made with its first payment, which is announced."""
    from takifugu.accounting.ledger import Ledger

    return where if isinstance(where, Ledger) else Ledger.coming(where, announce)


def there(where: Ledger | str | Path) -> Ledger | None:
    """Return the ledger at a place, None where there is none."""
    from takifugu.accounting.ledger.events.disk import is_free
    from takifugu.accounting.ledger.events.stores import MissingLedger, is_address

    if isinstance(where, str | Path) and not is_address(where) and is_free(where):
        return None  # and nothing is loaded that reads one
    from takifugu.accounting.ledger import Ledger

    try:
        return where if isinstance(where, Ledger) else Ledger.open(where, create=False)
    except MissingLedger:
        return None


def payments_of(file: ReleaseFile) -> tuple[Payment, ...]:
    """Return all payments for a release file's source, without creating a ledger."""
    book = there(file.ledger)
    return () if book is None else book.payments(normalised(file.source.name))
