"""Randomising one value at its source, so that it does not tell which population it came from (Kawamoto19)."""

from takifugu.local.choosing import Local, choose
from takifugu.local.populations import Populations, estimated
from takifugu.local.rappor import Rappor, instantaneous, permanent
from takifugu.local.tupling import Tupling, smallest_tupling, theorem3_delta, theorem3_epsilon

__all__ = [
    "Local",
    "Populations",
    "Rappor",
    "Tupling",
    "choose",
    "estimated",
    "instantaneous",
    "permanent",
    "smallest_tupling",
    "theorem3_delta",
    "theorem3_epsilon",
]
