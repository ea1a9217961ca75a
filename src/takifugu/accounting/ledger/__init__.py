"""The ledger: who has spent what, in one file that every release from the same data goes through."""

from takifugu.accounting.ledger.book import Ledger
from takifugu.accounting.ledger.previewing import Charged, Preview, preview
from takifugu.accounting.ledger.session import Session
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
