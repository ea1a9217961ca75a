"""What a count of steps is measured in: a unit of time must be the step, because nothing converts a count."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import suppress
from datetime import timedelta
from fractions import Fraction
from typing import Any

from takifugu.core.errors import InputError, TakifuguError
from takifugu.core.sections import written
from takifugu.data import parse_step
from takifugu.releasing.file.problems import fault
from takifugu.releasing.file.sequences.sections import ItemSpec

#: Seconds of the units of time, by their usual names.
_SECONDS = {
    name: seconds for names, seconds in (
        ("s sec secs second seconds", 1), ("min mins minute minutes", 60), ("quarter-hour quarter-hours", 900),
        ("h hr hrs hour hours", 3600), ("d day days", 86_400), ("week weeks", 604_800),
    ) for name in names.split()
}  # fmt: skip
#: The queries that count steps, where no `total` divides them.
_COUNTING = ("count", "histogram")


def faults_of(item: ItemSpec, number: int, step: Any) -> Iterator[TakifuguError]:
    """Yield the fault of a table measured in another unit of time."""
    said = item.measured_in
    if said is None or item.query not in _COUNTING or written(item, ("total",)):
        return
    unit, length = seconds_in(said), seconds_of_step(step)
    if unit is None or length is None or length == unit:
        return
    yield fault(
        ("release", number, "measured_in"), f"is {said!r}, and the table counts steps of {step}: nothing converts them",
        f'leave it out, or write measured_in = "steps of {step}"',
    )  # fmt: skip


def seconds_of_step(step: Any) -> Fraction | None:
    """Return the seconds in a step, if it has a time."""
    with suppress(InputError):
        length = parse_step(step)
        if isinstance(length, timedelta):
            return Fraction(length // timedelta(microseconds=1), 10**6)
    return None


def seconds_in(words: str) -> int | None:
    """Return the seconds in a unit of time, if it is one.

    >>> seconds_in("Minutes"), seconds_in("15 min"), seconds_in("people")
    (60, 900, None)
    """
    read = re.fullmatch(r"([0-9]{0,6})\s*([a-z-]+)\.?", words.strip().lower())
    if read is None or read[2] not in _SECONDS:
        return None
    return int(read[1] or 1) * _SECONDS[read[2]]
