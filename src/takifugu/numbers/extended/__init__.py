"""Numbers far beyond the range of float64: positive terms only, so that tails keep their relative accuracy."""
