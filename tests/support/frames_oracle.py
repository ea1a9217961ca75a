"""What rows reduce to, one at a time and in plain words; shares nothing with the expressions that it checks."""

import math
from collections.abc import Mapping, Sequence
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from fractions import Fraction
from itertools import pairwise
from typing import Any

Row = Mapping[str, Any]
#: A piece: unit, piece, and one state index per entry (None where it is unobserved).
Sequenced = tuple[str | None, str | None, tuple[int | None, ...]]


class Broken(Exception):
    """The rows break the named rule."""


def name(value: Any) -> str | None:
    if value is None or (isinstance(value, float) and math.isnan(value)):
        return None
    if isinstance(value, float) and value == int(value):
        value = int(value)
    return str(value).strip() or None


def moment(value: Any) -> Fraction | None:
    """Return a place in the order as an exact number: a number itself, or seconds since 1970."""
    if isinstance(value, str):
        value = value.strip()
        try:
            value = datetime.fromisoformat(value) if "-" in value[1:] and ":" in value else Fraction(value)
        except ValueError:
            return None
    if isinstance(value, datetime):
        zoned = value if value.tzinfo else value.replace(tzinfo=UTC)
        return Fraction((zoned - datetime(1970, 1, 1, tzinfo=UTC)) // timedelta(microseconds=1), 10**6)
    if isinstance(value, date):
        return Fraction((value - date(1970, 1, 1)).days * 86400)
    if value is None or (isinstance(value, float) and not math.isfinite(value)):
        return None
    return Fraction(value) if isinstance(value, Decimal | int | Fraction) else Fraction(repr(value))


def sequences(
    rows: Sequence[Row], known: Mapping[str, int], *, order: bool, step: Fraction | None = None,
    nulls: str = "refuse", null_keys: str = "refuse", shortest: int = 1, longest: int | None = None,
    cut: bool = False, in_rows: bool = True, duplicates: str = "refuse", rounded: Fraction | None = None,
) -> list[Sequenced]:  # fmt: skip
    """Return the pieces of rows {unit, piece, at, state}, sorted by name; raises Broken."""
    keep = duplicates if in_rows else "refuse"
    grouped: dict[tuple[str | None, str | None], list[Row]] = {}
    for row in rows:
        key = (name(row["unit"]), name(row["piece"]))
        if None in key and null_keys == "drop":
            continue
        if None in key and null_keys == "refuse":
            raise Broken("key")
        grouped.setdefault(key, []).append(row)
    if not grouped:
        raise Broken("no rows")
    pieces = [(*key, _piece(some, known, order, step, nulls, in_rows, keep, rounded)) for key, some in grouped.items()]
    if longest is not None and any(len(states) > longest for *_, states in pieces) and not cut:
        raise Broken("too long")
    chosen = [(unit, piece, states[:longest]) for unit, piece, states in pieces if len(states) >= shortest]
    if not chosen:
        raise Broken("too short")
    return sorted(chosen, key=lambda piece: (str(piece[0]), str(piece[1])))


def _piece(
    rows: Sequence[Row],
    known: Mapping[str, int],
    order: bool,
    step: Fraction | None,
    nulls: str,
    in_rows: bool,
    keep: str,
    rounded: Fraction | None,
) -> tuple[int | None, ...]:
    states = []
    for row in rows:
        text = name(row["state"])
        if text is None and nulls == "refuse":
            raise Broken("state")
        if text is not None and text not in known:
            raise Broken("unknown")
        states.append(None if text is None else known[text])
    if not order:
        return tuple(states)
    places = [moment(row["at"]) for row in rows]
    if any(place is None for place in places):
        raise Broken("order")
    exact = [place for place in places if place is not None]
    naive = all(isinstance(row["at"], datetime) or ":" in str(row["at"]) for row in rows)
    naive = naive and not any(zoned(row["at"]) for row in rows)
    if rounded is not None:
        exact = [math.floor(place / rounded + Fraction(1, 2)) * rounded for place in exact]
    ties = len(set(exact)) < len(exact)
    if in_rows and naive and (ties or step is None) and set_back(exact):
        raise Broken("set back")
    if ties and keep == "refuse":
        raise Broken("ties")
    states_at: dict[Fraction, int | None] = {}
    for place, state in zip(exact, states, strict=True):
        if keep == "last" or place not in states_at:
            states_at[place] = state
    line = sorted(states_at.items())
    if step is None:
        return tuple(state for _, state in line)
    filled: dict[int, int | None] = {}
    for place, state in line:
        steps = (place - line[0][0]) / step
        if steps.denominator != 1:
            raise Broken("step")
        filled[int(steps)] = state
    return tuple(filled.get(i) for i in range(max(filled) + 1))


def zoned(value: Any) -> bool:
    if isinstance(value, datetime):
        return value.tzinfo is not None
    return isinstance(value, str) and (value.strip().endswith("Z") or "+" in value or value.count("-") > 2)


def set_back(seconds: Sequence[Fraction]) -> bool:
    """Return whether times of day go back as a clock does that is set back: at night, by an hour, twice a year."""
    back = [(one, other) for one, other in pairwise(seconds) if other < one]
    hours = {(datetime(1970, 1, 1) + timedelta(seconds=float(other))).hour for _, other in back}
    years = (max(seconds) - min(seconds)) // (180 * 86400)
    return (
        bool(back)
        and all(one - other <= 3600 for one, other in back)
        and hours <= {23, 0, 1, 2, 3}
        and (len(back) <= 1 + years)
    )


def units(value: Any, low: Fraction, high: Fraction, grid: Fraction, missing: Fraction) -> int:
    """Return one number on its grid: replaced, then clipped, then rounded half to even."""
    number = None if value is None else float(value)
    if number is None or not math.isfinite(number):
        number = float(missing)
    inside = min(max(number, float(low)), float(high))
    scaled = inside * float(grid.denominator) / float(grid.numerator)
    whole, rest = divmod(Fraction(scaled), 1)
    return whole + (rest > Fraction(1, 2) or (rest == Fraction(1, 2) and whole % 2 == 1))
