"""The ledger: who has spent what, in one file that every release from the same data goes through.

What reads and writes that file is a database. It is loaded when it is asked for, and so are its values.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from takifugu.core.registry import loading

if TYPE_CHECKING:
    from takifugu.accounting.ledger.book import Ledger
    from takifugu.accounting.ledger.previewing import Charged, Preview, preview
    from takifugu.accounting.ledger.session import Session
    from takifugu.accounting.ledger.values import (
        DRAWN,
        PUBLISHED,
        RESERVED,
        Amount,
        Debit,
        Debits,
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

__all__ = [
    "DRAWN", "PUBLISHED", "RESERVED", "Amount", "Charged", "Debit", "Debits", "Entry", "Event", "Ledger", "Payment",
    "Pending", "Preview", "Reservation", "Session", "Source", "SourceRow", "Spent", "UnitSpent", "preview",
]  # fmt: skip

__getattr__ = loading(__name__, {
    **dict.fromkeys(__all__, "values"),
    "Charged": "previewing", "Ledger": "book", "Preview": "previewing", "Session": "session", "preview": "previewing",
})  # fmt: skip
