"""What the rows of a ledger hold: tables, the chain of events, seals, and readings as they are kept."""
