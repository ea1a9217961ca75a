"""Randomising one value at its source, so that it does not tell which population it came from (Kawamoto19)."""

from takifugu.mechanisms.local.choosing import Local, choose
from takifugu.mechanisms.local.populations import Populations, estimated
from takifugu.mechanisms.local.rappor import Rappor, instantaneous, permanent
from takifugu.mechanisms.local.tupling import Tupling, smallest_tupling, theorem3_delta, theorem3_epsilon

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
