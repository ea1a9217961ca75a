"""How much work something is, without a clock: how many functions are called, which no machine and no load changes."""

import sys
from collections.abc import Callable
from types import FrameType


def calls(action: Callable[[], object]) -> int:
    """Return how many functions, of Python and of C, are called while something is done."""
    number, before = 0, sys.getprofile()

    def count(frame: FrameType, event: str, argument: object) -> None:
        nonlocal number
        number += event in ("call", "c_call")

    sys.setprofile(count)
    try:
        action()
    finally:
        sys.setprofile(before)
    return number
