"""The ledger: who has spent what, in one file that every release from the same data goes through."""

from takifugu.ledger.book import Ledger
from takifugu.ledger.values import Amount, Debit, Entry, Reservation, Source, SourceRow, Spent, UnitSpent

__all__ = ["Amount", "Debit", "Entry", "Ledger", "Reservation", "Source", "SourceRow", "Spent", "UnitSpent"]
