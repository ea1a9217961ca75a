"""Randomising one value at its source, so that it does not tell which population it came from (Kawamoto19)."""

from typing import TYPE_CHECKING

from takifugu.core.moved import no_attribute
from takifugu.mechanisms.local.tupling import Tupling

__all__ = ["Tupling"]

if not TYPE_CHECKING:

    def __getattr__(name: str) -> object:
        raise no_attribute("takifugu.local", name)
