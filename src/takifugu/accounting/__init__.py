"""What is promised and what is spent: definitions of privacy, composition, the ledger."""
