"""Other copies of a ledger: one of an older format, one in memory that is computed anew, one that went its own way."""
