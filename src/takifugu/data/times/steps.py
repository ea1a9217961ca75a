"""The length of a step, as release files write it."""

from __future__ import annotations

import re
from datetime import timedelta

from takifugu.core.errors import InputError

#: The length of a step: a time, or so far along a column of whole numbers.
Step = int | timedelta
#: A step is below this, as are the whole numbers that rows have.
WIDEST = 2**53
SECOND = timedelta(seconds=1)
#: The units of a time, as release files write them and in words, with their seconds.
_UNITS = {"d": ("day", 86_400), "h": ("hour", 3600), "min": ("minute", 60), "s": ("second", 1)}


def time_text(length: timedelta, in_words: bool = False) -> str:
    """Write a time of whole seconds in its largest unit, as `parse_step` reads it or in words."""
    seconds = length // SECOND
    unit, (word, size) = next(item for item in _UNITS.items() if seconds % item[1][1] == 0)
    count = seconds // size
    return f"{count} {word}{'s' * (count != 1)}" if in_words else f"{count}{unit}"


def steps_in(length: int | str, step: Step | None) -> int:
    """Return how many steps a run has, by its length as a release file writes it; InputError for no whole number."""
    declared = parse_step(length, "the length of a run")
    if isinstance(declared, timedelta):
        if not isinstance(step, timedelta):
            rule = "the steps of this file have no length in time"
            raise InputError(f"is {length!r}", rule=rule, fix="write a number of steps, such as length = 4")
        count, rest = divmod(declared, step)
        if not rest:
            return count
        count, rule = count + 1, f"a run is a whole number of steps of {time_text(step)}"
    elif isinstance(step, timedelta):
        count, rule = declared, f"steps of {time_text(step)} have a length in time"
    else:
        return declared
    fits = min(count, timedelta.max // step)
    raise InputError(f"is {length!r}", rule=rule, fix=f'write length = "{time_text(step * fits)}"')


def parse_step(step: object, what: str = "the step") -> Step:
    """Read a whole number above 0 or a time like "1min"; else InputError."""
    if isinstance(step, str):
        match = re.fullmatch(r"([1-9][0-9]{0,8})(s|min|h|d)", step)
        if match:
            return int(match[1]) * _UNITS[match[2]][1] * SECOND
    elif type(step) is int and 0 < step < WIDEST:
        return step
    raise InputError(
        f"{what} is {repr(step)[:60]}", fix='write a number above 0, or a time such as "30s", "1min", "1h" or "1d"'
    ).at("step")
