"""How rows follow each other in time: whether they rise, and how far they are apart."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from takifugu.data.rows.layout import STEP_UNITS
from takifugu.releasing.file.guessing.seen import MISSING

Keys = Sequence[Sequence[str | None]]
#: Rows are even where so many of a hundred gaps are the commonest one, and so many are multiples of it.
_COMMONEST, _MULTIPLES = 60, 95
#: States last over rows where so many of a hundred rows have the state of the row before.
_LASTING = 5


def rises(moments: Sequence[float], keys: Keys, or_stays: bool = False) -> bool:
    """Return whether the rows of each key rise; `or_stays` allows equal ones."""
    last: dict[tuple[str | None, ...], float] = {}
    risen = False
    for moment, *key in zip(moments, *keys, strict=True):
        before = last.get(tuple(key))
        if before is not None:
            if not (before < moment or (or_stays and before == moment)):
                return False
            risen = risen or before != moment
        last[tuple(key)] = moment
    return risen or not or_stays


def several_each(keys: Keys) -> bool:
    """Return whether keys have two rows or more on average."""
    return len(set(zip(*keys, strict=True))) * 2 <= len(keys[0])


def are_hours_of(days: Sequence[str | None], hours: Sequence[str | None]) -> bool:
    """Return whether days have several hours on average.

    >>> are_hours_of("aaabbb", "012012"), are_hours_of("aaabbb", "777777")
    (True, False)
    """
    rows = {(day, hour) for day, hour in zip(days, hours, strict=True) if day is not None and hour is not None}
    return 2 * len({day for day, _ in rows}) <= len(rows)


@dataclass(frozen=True)
class Spacing:
    """How rows follow each other: their commonest `gap`, whether it `is_even`, and whether states are `repeated`."""

    gap: float | None = None
    is_even: bool = False
    is_repeated: bool = False


def spacing(moments: Sequence[float], keys: Keys, values: Sequence[str | None]) -> Spacing:
    """Return the spacing of each key's rows in time."""
    of_key: dict[tuple[str | None, ...], list[tuple[float, str | None]]] = {}
    for moment, value, *key in zip(moments, values, *keys, strict=True):
        if moment > MISSING:
            of_key.setdefault(tuple(key), []).append((moment, value))
    following = list[tuple[tuple[float, str | None], tuple[float, str | None]]]()
    for rows in of_key.values():
        following += pairwise(sorted(rows, key=lambda row: row[0]))
    gaps = [round(after[0] - before[0], 3) for before, after in following]
    if not gaps:
        return Spacing()
    (gap, number), *_ = Counter(gaps).most_common(1)
    multiples = sum(gap > 0 and difference > 0 and (difference / gap).is_integer() for difference in gaps)
    even = gap > 0 and number * 100 >= _COMMONEST * len(gaps) and multiples * 100 >= _MULTIPLES * len(gaps)
    same = sum(before[1] == after[1] for before, after in following)
    return Spacing(gap, even, same * 100 >= _LASTING * len(gaps))


def step_of(gap: float, timed: bool) -> str | None:
    """Return a gap as a release file's step, if whole.

    >>> step_of(1800, True), step_of(3600, True), step_of(2, False), step_of(0.5, True)
    ('30min', '1h', '2', None)
    """
    if gap <= 0 or not float(gap).is_integer():
        return None
    if not timed:
        return str(int(gap))
    units = [unit for unit, seconds in STEP_UNITS.items() if gap % seconds == 0]
    unit = max(units, key=STEP_UNITS.__getitem__)
    return f"{int(gap) // STEP_UNITS[unit]}{unit}"
