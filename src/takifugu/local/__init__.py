"""Randomising one value at its source, so that it does not tell which population it came from (Kawamoto19)."""
