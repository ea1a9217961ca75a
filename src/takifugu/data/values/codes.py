"""Codes of cells that are none of the known values."""

from __future__ import annotations

#: A cell that holds nothing, a value that is not known, and a number that is in no bin.
UNOBSERVED, UNKNOWN, OUTSIDE = -1, -2, -3
