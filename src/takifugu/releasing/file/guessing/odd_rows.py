"""Rows of a table that are not what the others are: repeated, of its header, its header again, a line of totals."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from takifugu.data.files.first_lines import are_numbers, rows_of_header

Rows = Mapping[str, Sequence[str | None]]
#: Of so many rows one may be repeated as a whole.
_ONE_REPEATED_IN = 20
#: Where so few rows are inspected nothing is odd, and so many are compared with the first ones.
_FEW, _LOOKED_AT = 4, 500
_TOTAL = r"(?i)\W*(?:(?:grand|sub)?[ -]?total[es]?|totaal|(?:gesamt)?summe|gesamt|insgesamt|sum|somme|suma|totaux)\W*"


@dataclass(frozen=True)
class Odd:
    """Which odd rows a table has: how many are `repeated`, belong to its header, or say it again; and its `totals`."""

    repeated: int = 0
    below_names: int = 0
    names_again: int = 0
    totals: bool = False


def without_odd_rows(rows: Rows, has_names: bool, is_whole: bool) -> tuple[dict[str, list[str | None]], Odd]:
    """Separate rows from extra headers and final totals."""
    names, every = tuple(rows), [*zip(*rows.values(), strict=True)]
    if len(every) < _FEW:
        return {name: list(values) for name, values in rows.items()}, Odd()
    below = rows_of_header(every[:_LOOKED_AT]) if has_names else 0
    some = [row for row in every[below:] if row != names]
    header_repeats = len(every) - below - len(some)
    columns = [*zip(*some, strict=True)]
    totals = is_whole and len(some) > 1 and _are_totals([(column[-1], column[:-1]) for column in columns])
    some = some[: len(some) - totals]
    different = [*dict.fromkeys(some)]
    repeated = len(some) - len(different)
    if not 0 < repeated * _ONE_REPEATED_IN <= len(every):
        different, repeated = some, 0
    clean_columns = [*zip(*different, strict=True)] or [()] * len(names)
    return dict(zip(names, map(list, clean_columns), strict=True)), Odd(repeated, below, header_repeats, totals)


def _are_totals(columns: Sequence[tuple[str | None, Sequence[str | None]]]) -> bool:
    """Return whether the last row holds totals.

    Totals say so, or lack the identifier of all other rows and have a larger number.
    """
    if any(last is not None and re.fullmatch(_TOTAL, last) and last not in values for last, values in columns):
        return True
    lacks = any(last is None and None not in values and len(set(values)) == len(values) for last, values in columns)
    if not lacks:
        return False
    numbers = [(last, values) for last, values in columns if last is not None and are_numbers([last, *values])]
    return bool(numbers) and all(len(last) > max(len(v or "") for v in values) for last, values in numbers)

