"""Rows grouped into pieces: what the columns mean, the order of steps, and one scan in each engine."""
