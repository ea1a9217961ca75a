"""The length of a step, as release files write it."""

from __future__ import annotations

import math
import re
from datetime import timedelta
from fractions import Fraction

from takifugu.core.errors import InputError
from takifugu.numbers.rationals import as_fraction

#: A step fits a 64-bit integer and has at most nine digits behind its point, so that ticks stay exact integers.
WIDEST, FINEST = 2**62, 10**9

STEP_UNITS = {"s": 1, "sec": 1, "min": 60, "h": 3600, "d": 86400}


def time_text(length: timedelta) -> str:
    """Write a time of whole seconds in its largest unit, as `parse_step` reads it.

    >>> time_text(timedelta(minutes=90)), time_text(timedelta(days=1)), time_text(timedelta(hours=2))
    ('90min', '1d', '2h')
    """
    seconds = length // timedelta(seconds=1)
    unit, size = next((name, size) for name, size in reversed(STEP_UNITS.items()) if seconds % size == 0)
    return f"{seconds // size}{'s' if size == 1 else unit}"


def steps_in(length: int | str, step: Fraction | timedelta | None) -> int:
    """Return how many steps a run of steps has, as a release file writes its length.

    The length is a time where the steps have one, else a number of steps. Raises InputError for another one, and for a
    time that is no whole number of steps.

    >>> steps_in("1h", timedelta(minutes=15)), steps_in(6, None), steps_in(6, Fraction(5))
    (4, 6, 6)
    """
    declared = parse_step(length, "the length of a run")
    if isinstance(step, timedelta):
        return _steps_of_time(length, declared, step)
    if isinstance(declared, timedelta):
        rule = "the steps of this file have no length in time"
        raise InputError(f"is {length!r}", rule=rule, fix="write a number of steps, such as length = 4")
    if declared.denominator != 1:
        raise InputError(
            f"is {length!r}", rule="a run is a whole number of steps", fix=f"write length = {math.ceil(declared)}"
        )
    return int(declared)


def _steps_of_time(length: int | str, declared: Fraction | timedelta, step: timedelta) -> int:
    """Return how many steps of a time a run has; InputError with the next run that fits."""
    if isinstance(declared, timedelta) and not declared % step:
        return declared // step
    if isinstance(declared, timedelta):
        count, rule = declared // step + 1, f"a run is a whole number of steps of {time_text(step)}"
    else:
        count, rule = math.ceil(declared), f"steps of {time_text(step)} have a length in time"
    fits = min(count, timedelta.max // step)
    raise InputError(f"is {length!r}", rule=rule, fix=f'write length = "{time_text(step * fits)}"')


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
