"""Dates that can be read in two ways (01/02/2025), or have hours beside them: what rises from row to row."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from itertools import pairwise

from takifugu.data.kinds import TEXTS, WHOLE
from takifugu.releasing.file.guessing.seen import Seen


def reading_that_rises(
    dates: Seen, rows: Mapping[str, Sequence[str | None]], columns: Mapping[str, Seen]
) -> str | None:
    """Return the format in which the dates rise in the order of the rows; None where it is not exactly one.

    They rise in all rows, or else in those of each unit: the first column by which one of the readings rises counts.
    """
    several = [c for c in columns.values() if c.kind in (WHOLE, TEXTS) and 1 < len(c.labels) * 2 <= c.rows]
    several = sorted((c for c in several if not c.tells_when), key=_likeness_to_units)
    ranks = {form: dates.ranks(rows[dates.name], form) for form in dates.forms}
    for keys in ([], *([rows[column.name]] for column in several)):
        risen = [form for form in dates.forms if rises(ranks[form], keys, or_stays=True)]
        if risen:
            return risen[0] if len(risen) == 1 else None
    return None


def are_hours_of(days: Sequence[str | None], hours: Sequence[str | None]) -> bool:
    """Return whether days have several of these hours each, which hardly ever fall from row to row of one day.

    >>> are_hours_of("aaabbb", "012012"), are_hours_of("aaabbb", "777777"), are_hours_of("aaabbb", "210210")
    (True, False, False)
    """
    rows = [(day, int(hour)) for day, hour in zip(days, hours, strict=True) if day is not None and hour is not None]
    several = 2 * len({day for day, _ in rows}) <= len(set(rows))
    rising = [one <= other for (day, one), (same, other) in pairwise(rows) if day == same]
    return several and sum(rising) * 5 >= len(rising) * 4


def _likeness_to_units(column: Seen) -> tuple[bool, bool]:
    return not column.named("unit"), column.runs != len(column.labels)


def rises(ranks: Sequence[Hashable], keys: Sequence[Sequence[str | None]], or_stays: bool = False) -> bool:
    """Return whether the rows of each key rise; with `or_stays` some rise, and none falls."""
    last: dict[tuple[str | None, ...], Hashable] = {}
    risen = False
    for rank, *key in zip(ranks, *keys, strict=True):
        before = last.get(tuple(key))
        if before is not None:
            if not (before < rank or (or_stays and before == rank)):
                return False
            risen = risen or before != rank
        last[tuple(key)] = rank
    return risen or not or_stays
