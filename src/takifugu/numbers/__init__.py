"""Numbers: rationals and rounding, distributions, moves between them, and noise."""
