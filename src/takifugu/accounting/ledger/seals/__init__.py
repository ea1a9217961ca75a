"""What shows that a ledger was edited: the chain of its events, the seals of its rows, and a check of all of them."""
