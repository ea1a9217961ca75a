"""The length of a step, as release files write it."""

from __future__ import annotations

import re
from datetime import timedelta
from fractions import Fraction

from takifugu.core.errors import InputError
from takifugu.numbers.rationals import as_fraction

#: A step fits a 64-bit integer and has at most nine digits behind its point, so that ticks stay exact integers.
WIDEST, FINEST = 2**62, 10**9

STEP_UNITS = {"s": 1, "sec": 1, "min": 60, "h": 3600, "d": 86400}


def parse_step(step: int | float | str | None, what: str = "the step") -> Fraction | timedelta:
    """Read a number above 0 or a time like "1min"; else InputError.

    >>> parse_step("90s"), parse_step(5), parse_step("1")
    (datetime.timedelta(seconds=90), Fraction(5, 1), Fraction(1, 1))
    """
    if isinstance(step, str):
        match = re.fullmatch(r"\s*([0-9]{1,9})\s*([a-z]*)\s*", step)
        if match and int(match[1]) > 0 and match[2] in ("", *STEP_UNITS):
            if not match[2]:
                return Fraction(match[1])
            return timedelta(seconds=int(match[1]) * STEP_UNITS[match[2]])
    elif isinstance(step, int | float) and not isinstance(step, bool) and 0 < step < WIDEST:
        length = as_fraction(step, what, "step")
        if length.denominator <= FINEST:
            return length
    raise InputError(
        f"{what} is {repr(step)[:60]}", fix='write a number above 0, or a time such as "30s", "1min", "1h" or "1d"'
    ).at("step")
