"""Moving one distribution into another."""
