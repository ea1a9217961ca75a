"""What the rows of a ledger hold: tables, the chain of events, seals, and layouts as they are kept."""
