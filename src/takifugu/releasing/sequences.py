"""Rows become sequences: one tuple of states a piece, the pieces of each unit, in an order that is checked.

No message here repeats a value, a position or a number of rows: only the rule that was broken and the column.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date, datetime, timedelta
from fractions import Fraction
from functools import cached_property
from itertools import pairwise
from typing import Any

from takifugu.errors import DataError, InputError

State = Any
#: An entry that was not observed: it belongs to the chain and adds nothing to the answer.
UNOBSERVED = None

_STEP_UNITS = {"s": 1, "sec": 1, "min": 60, "h": 3600, "d": 86400}


@dataclass(frozen=True)
class Layout:
    """Which columns say what, and what the raw values count as."""

    value: str
    unit: str | None = None
    piece: str | None = None
    order: str | None = None
    step: int | float | str | None = None
    nulls: str = "refuse"

    @property
    def columns(self) -> tuple[str, ...]:
        named = (self.unit, self.piece, self.order, self.value)
        return tuple(dict.fromkeys(c for c in named if c is not None))


@dataclass(frozen=True)
class Unit:
    """One unit's pieces: tuples of states, None where an entry was not observed. Private: it is never shown."""

    name: str | None
    pieces: tuple[tuple[State, ...], ...] = field(repr=False)

    @property
    def lengths(self) -> tuple[int, ...]:
        return tuple(len(piece) for piece in self.pieces)


def sequences(columns: Mapping[str, Sequence[Any]], layout: Layout, states: Recode) -> tuple[Unit, ...]:
    """Group rows into units and pieces (in the order they first appear), and check the order inside each piece.

    Raises DataError for no rows, a null key, an order with ties or going backwards, rows of one piece that are apart
    where no order is declared, a step that is not kept, and a value that is no state.
    """
    values = columns[layout.value]
    if not values:
        raise DataError("the data has no rows: nothing can be released")
    places: dict[tuple[str | None, str | None], list[int]] = {}
    for row, key in enumerate(_keys(columns, layout, len(values))):
        places.setdefault(key, []).append(row)
    ranks = None if layout.order is None else _ranks(columns[layout.order], layout.order)
    units: dict[str | None, list[tuple[State, ...]]] = {}
    for (unit, _), rows in places.items():
        if ranks is None:
            _check_together(rows, layout)
        else:
            _check_increasing([ranks[r] for r in rows], layout)
        piece = [states.of(values[r], layout) for r in rows]
        if layout.step is not None:
            piece = _on_steps(piece, [ranks[r] for r in rows] if ranks is not None else [], layout)
        units.setdefault(unit, []).append(tuple(piece))
    return tuple(Unit(name, tuple(pieces)) for name, pieces in units.items())


def _keys(columns: Mapping[str, Sequence[Any]], layout: Layout, rows: int) -> Iterator[tuple[str | None, str | None]]:
    both: list[Iterable[str | None]] = []
    for column in (layout.unit, layout.piece):
        if column is None:
            both.append([None] * rows)
            continue
        texts = [text_of(v) for v in columns[column]]
        if None in texts:
            raise DataError(f"column {column!r} has missing values: every row must say whose it is")
        both.append(texts)
    return zip(*both, strict=True)


def _check_together(rows: Sequence[int], layout: Layout) -> None:
    if rows[-1] - rows[0] != len(rows) - 1:
        raise DataError(
            "the rows of one piece are not together, and no order column is declared: sort the file by "
            f"{', '.join(repr(c) for c in (layout.unit, layout.piece) if c)}, or declare source.order"
        )


def _check_increasing(ranks: Sequence[Any], layout: Layout) -> None:
    for before, after in pairwise(ranks):
        if not before < after:
            what = "has ties" if before == after else "goes backwards"
            raise DataError(
                f"column {layout.order!r} {what} within one piece: every row must come after the one before; "
                "sort the file, or declare source.piece if the rows belong to several pieces"
            )


def _ranks(values: Sequence[Any], column: str) -> list[Any]:
    """Return the order column as numbers or times; text is read as whole numbers, numbers, or ISO dates and times."""
    if any(text_of(v) is None for v in values):
        raise DataError(f"column {column!r} has missing values: every row needs its place in the order")
    readers: tuple[Callable[[Any], Any], ...] = (_number, _time)
    for reader in readers:
        try:
            ranks = [reader(v) for v in values]
            if all(a == a for a in ranks) and (len(ranks) < 2 or min(ranks) <= max(ranks)):
                return ranks
        except (TypeError, ValueError, OverflowError, ZeroDivisionError):
            continue
    raise DataError(f"column {column!r} is neither all numbers nor all ISO dates and times: it cannot order the rows")


def _number(value: Any) -> Any:
    if isinstance(value, bool | date):
        raise TypeError
    if isinstance(value, int):
        return value
    return int(value) if isinstance(value, str) and value.isdigit() else Fraction(value)


def _time(value: Any) -> datetime:
    if isinstance(value, datetime):
        return value
    if isinstance(value, date):
        return datetime(value.year, value.month, value.day)
    return datetime.fromisoformat(value)


def _on_steps(piece: list[State], ranks: Sequence[Any], layout: Layout) -> list[State]:
    """Place a piece's states on its declared steps; the steps that no row has are unobserved entries."""
    step = parse_step(layout.step)
    filled: list[State] = []
    for state, rank in zip(piece, ranks, strict=True):
        distance = rank - ranks[0]
        if isinstance(distance, timedelta) != isinstance(step, timedelta):
            raise DataError(
                f'source.step and column {layout.order!r} differ in kind: write a time such as "1min" for dates, '
                "a number for numbers"
            )
        place = Fraction(distance / timedelta(microseconds=1)) / Fraction(step / timedelta(microseconds=1)) \
            if isinstance(step, timedelta) else distance / step  # fmt: skip
        if place.denominator != 1:
            raise DataError(
                f"column {layout.order!r} has rows that are not a whole number of steps after the first of their piece"
            )
        filled.extend([UNOBSERVED] * (int(place) - len(filled)))
        filled.append(state)
    return filled


def parse_step(step: int | float | str | None) -> Fraction | timedelta:
    """Read a declared step: a number above 0, or a time such as "1min".

    Raises InputError for anything else.

    >>> parse_step("90s"), parse_step(5)
    (datetime.timedelta(seconds=90), Fraction(5, 1))
    """
    if isinstance(step, str):
        digits = step.rstrip("abcdefghijklmnopqrstuvwxyz ").strip()
        name = step[len(digits) :].strip()
        if digits.isdigit() and int(digits) > 0 and name in _STEP_UNITS:
            return timedelta(seconds=int(digits) * _STEP_UNITS[name])
    elif isinstance(step, int | float) and not isinstance(step, bool) and 0 < step < float("inf"):
        return Fraction(str(step))
    raise InputError(f'the step is {step!r}: write a number above 0, or a time such as "30s", "1min", "1h" or "1d"')


def text_of(value: Any) -> str | None:
    """Return a raw value as text, the same from every engine: 1, 1.0 and "1" are alike; None for null and NaN.

    >>> text_of(1.0), text_of("1"), text_of(float("nan"))
    ('1', '1', None)
    """
    if value is None or value != value:
        return None
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    text = str(value).strip()
    return text or None


@dataclass(frozen=True)
class Recode:
    """Raw values to the belief's states: by `mapping` first, else by the state's own name."""

    states: tuple[State, ...]
    mapping: Mapping[str, State] = field(default_factory=dict)

    def of(self, value: Any, layout: Layout) -> State:
        text = text_of(value)
        if text is None:
            if layout.nulls == "unobserved":
                return UNOBSERVED
            raise DataError(
                f"column {layout.value!r} has missing states: fill them, leave their rows out, or write "
                'source.nulls = "unobserved" where the pattern of gaps may be public'
            )
        known = self._known
        if text not in known:
            raise DataError(
                f"column {layout.value!r} has a value that is no state and is not in belief.map; "
                f"the states are {[str(s) for s in self.states]}"
            )
        return known[text]

    @cached_property
    def _known(self) -> dict[str, State]:
        return {**{str(s): s for s in self.states}, **self.mapping}
