"""Queries that publish a value: candidates, and which of them is chosen."""
