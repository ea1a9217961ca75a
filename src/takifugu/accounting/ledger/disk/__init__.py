"""Where a ledger lies: places where locks work, SQLite files, large noisy values beside them."""
