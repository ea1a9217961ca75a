"""The ledger as one list of events, and everything else a function of it; in an SQLite file, or in PostgreSQL."""

from __future__ import annotations

from typing import TYPE_CHECKING

from takifugu.core.registry import loading

if TYPE_CHECKING:
    from takifugu.accounting.amounts import Amount
    from takifugu.accounting.ledger.ledger import Ledger, Payment, Preview, Reservation
    from takifugu.accounting.ledger.listing import Listed
    from takifugu.accounting.ledger.session import Session
    from takifugu.accounting.ledger.trials import Debit
    from takifugu.accounting.ledger.view import DRAWN, OVER, RESERVED, SESSION, Source

__all__ = [
    "DRAWN", "OVER", "RESERVED", "SESSION", "Amount", "Debit", "Ledger", "Listed", "Payment", "Preview", "Reservation",
    "Session",
    "Source",
]  # fmt: skip

__getattr__ = loading(__name__, {
    **dict.fromkeys(__all__, "ledger"), "Amount": "trials", "Debit": "trials", "Listed": "listing",
    "Session": "session",
    **dict.fromkeys(("DRAWN", "OVER", "RESERVED", "SESSION", "Source"), "view"),
})  # fmt: skip
