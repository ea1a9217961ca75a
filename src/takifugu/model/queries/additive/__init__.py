"""Queries that add up over entries: counts, and sums of codes."""
