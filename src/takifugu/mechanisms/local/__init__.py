"""Randomising one value at its source, so that it does not tell which population it came from (Kawamoto19)."""

from takifugu.mechanisms.local.rappor import Rappor, instantaneous, permanent
from takifugu.mechanisms.local.tupling import Tupling, smallest_tupling, theorem3_delta, theorem3_epsilon

__all__ = [
    "Rappor",
    "Tupling",
    "instantaneous",
    "permanent",
    "smallest_tupling",
    "theorem3_delta",
    "theorem3_epsilon",
]
