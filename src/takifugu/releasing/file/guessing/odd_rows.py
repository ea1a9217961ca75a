"""Rows of a table that are not what the others are: repeated as a whole, a line of units, a line of totals."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

Rows = Mapping[str, Sequence[str | None]]
#: Of so many rows one may be repeated as a whole.
_ONE_REPEATED_IN = 20
#: Where so few rows are inspected nothing is odd.
_FEW = 4
_NUMBER, _LONGEST_UNIT = r"[-+]?[.,]?[0-9]", 20
_NO_UNIT = r"(?i)[-\u2013?.]*|[(\[].*[)\]]|n/?a|none|text|string"
_TOTAL = r"(?i)\W*(?:(?:grand|sub)?[ -]?total[es]?|totaal|(?:gesamt)?summe|gesamt|insgesamt|sum|somme|suma|totaux)\W*"


@dataclass(frozen=True)
class Odd:
    """Which odd rows a table has: how many are `repeated`, whether its first holds `units`, and its last `totals`."""

    repeated: int = 0
    units: bool = False
    totals: bool = False


def without_odd_rows(rows: Rows, has_names: bool, is_whole: bool) -> tuple[dict[str, list[str | None]], Odd]:
    """Return rows without odd ones; units stand below names of columns, and totals at the end of the whole table."""
    number = len(next(iter(rows.values()), ()))
    if number < _FEW:
        return {name: list(values) for name, values in rows.items()}, Odd()
    units = has_names and _are_units([(values[0], values[1:]) for values in rows.values()])
    totals = is_whole and _are_totals([(values[-1], values[units:-1]) for values in rows.values()])
    rest = {name: list(values[units : number - totals]) for name, values in rows.items()}
    first = dict[tuple[str | None, ...], int]()
    for k, row in enumerate(zip(*rest.values(), strict=True)):
        first.setdefault(row, k)
    repeated = number - units - totals - len(first)
    if not 0 < repeated * _ONE_REPEATED_IN <= number:
        return rest, Odd(0, units, totals)
    return {name: [values[k] for k in first.values()] for name, values in rest.items()}, Odd(repeated, units, totals)


def _are_units(columns: Sequence[tuple[str | None, Sequence[str | None]]]) -> bool:
    """Return whether the first cell of each column may be a unit, and above numbers of some column is one."""
    if any(first is not None and re.match(_NUMBER, first) for first, _ in columns):
        return False
    named = False
    for first, rest in columns:
        if _are_numbers(rest):
            if first is not None and len(first) > _LONGEST_UNIT:
                return False
            named = named or (first is not None and not re.fullmatch(_NO_UNIT, first)) or _is_bracketed(first)
        elif first is not None and (not re.fullmatch(_NO_UNIT, first) or first in rest):
            return False
    return named


def _is_bracketed(text: str | None) -> bool:
    return text is not None and bool(re.fullmatch(r"[(\[].+[)\]]", text))


def _are_totals(columns: Sequence[tuple[str | None, Sequence[str | None]]]) -> bool:
    """Return whether the last row says so, or lacks what identifies all others and has a larger number than they."""
    if any(last is not None and re.fullmatch(_TOTAL, last) and last not in rest for last, rest in columns):
        return True
    lacks = any(last is None and None not in rest and len(set(rest)) == len(rest) for last, rest in columns)
    if not lacks:
        return False
    numbers = [(last, rest) for last, rest in columns if last is not None and _are_numbers([last, *rest])]
    return bool(numbers) and all(len(last) > max(len(v or "") for v in rest) for last, rest in numbers)


def _are_numbers(values: Sequence[str | None]) -> bool:
    """Return whether all values begin as numbers and times do."""
    return any(values) and all(value is None or re.match(_NUMBER, value) for value in values)
