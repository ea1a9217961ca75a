"""Normal laws: how far two of them can be told apart, alone, mixed over sets, or as vectors."""
