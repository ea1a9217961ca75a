"""The ledger: who has spent what, in one file that every release from the same data goes through.

What reads and writes that file is a database, and is loaded when it is asked for; its values are not.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from takifugu.accounting.ledger.values import (
    DRAWN,
    PUBLISHED,
    RESERVED,
    Amount,
    Debit,
    Entry,
    Event,
    Payment,
    Pending,
    Reservation,
    Source,
    SourceRow,
    Spent,
    UnitSpent,
)

if TYPE_CHECKING:
    from takifugu.accounting.ledger.book import Ledger
    from takifugu.accounting.ledger.previewing import Charged, Preview, preview
    from takifugu.accounting.ledger.session import Session

__all__ = [
    "DRAWN",
    "PUBLISHED",
    "RESERVED",
    "Amount",
    "Charged",
    "Debit",
    "Entry",
    "Event",
    "Ledger",
    "Payment",
    "Pending",
    "Preview",
    "Reservation",
    "Session",
    "Source",
    "SourceRow",
    "Spent",
    "UnitSpent",
    "preview",
]

_MODULES = {
    **dict.fromkeys(("Charged", "Preview", "preview"), "takifugu.accounting.ledger.previewing"),
    "Ledger": "takifugu.accounting.ledger.book",
    "Session": "takifugu.accounting.ledger.session",
}


def __getattr__(name: str) -> Any:
    if name not in _MODULES:
        raise AttributeError(f"module 'takifugu.accounting.ledger' has no attribute {name!r}")
    value = getattr(import_module(_MODULES[name]), name)
    globals()[name] = value
    return value
