"""The ledger as one list of events, and everything else a function of it; in an SQLite file, or in PostgreSQL."""

from __future__ import annotations

from typing import TYPE_CHECKING

from takifugu.core.registry import loading

if TYPE_CHECKING:
    from takifugu.accounting.amounts import Amount
    from takifugu.accounting.ledger.events import DRAWN, OVER, RESERVED, SESSION
    from takifugu.accounting.ledger.ledger import Ledger
    from takifugu.accounting.ledger.session import Session
    from takifugu.accounting.ledger.trials import Debit
    from takifugu.accounting.ledger.values import Payment, Preview
    from takifugu.accounting.ledger.view import Source

__all__ = [
    "DRAWN", "OVER", "RESERVED", "SESSION", "Amount", "Debit", "Ledger", "Payment", "Preview", "Session",
    "Source",
]  # fmt: skip

__getattr__ = loading(__name__, {
    **dict.fromkeys(("DRAWN", "OVER", "RESERVED", "SESSION"), "events"),
    **dict.fromkeys(("Payment", "Preview"), "values"),
    "Amount": "trials", "Debit": "trials", "Ledger": "ledger", "Session": "session",
    "Source": "view",
})  # fmt: skip
