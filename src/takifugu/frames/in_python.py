"""Rows of a small CSV file where no engine is installed: the same questions, answered by Python's own lists."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from itertools import pairwise

from takifugu.frames.bounded import Bounded
from takifugu.frames.classes import Classes
from takifugu.frames.layout import UNKNOWN, UNOBSERVED, Layout, Recode, parse_step
from takifugu.frames.rows import Fact, Key, by_piece
from takifugu.frames.table import Table
from takifugu.frames.texts import (
    BLANKS,
    INTEGER,
    NOT_FINITE,
    NUMBER,
    PARTS_OF_STEP,
    TIME,
    no_number_at_all,
    no_order,
    not_numbers,
    other_kind,
    out_of_bounds,
    two_ways,
)

Tick = int | float | None
Names = tuple[str | None, ...]


@dataclass(frozen=True)
class Line:
    """One row: where it stands in the file, its tick, the number of its state."""

    row: int
    tick: Tick
    code: int


def python_rows(table: Table, layout: Layout, states: Recode) -> PythonRows:
    """Clean the columns of a table of texts and group its rows into pieces.

    Raises InputError for a column that is not there, DataError for an order column that orders nothing.
    """
    named = {"unit": layout.unit, "piece": layout.piece, "tick": layout.order, "raw": layout.value}
    columns = table.lists({role: column for role, column in named.items() if column is not None})
    clean = {role: [_text(value, table) for value in values] for role, values in columns.items()}
    raw = clean["raw"]
    units, parts = clean.get("unit", [None] * len(raw)), clean.get("piece", [None] * len(raw))
    unordered: tuple[list[Tick], int | None] = [None] * len(raw), None
    ticks, step = unordered if layout.order is None else _ticks(clean["tick"], layout)
    pieces: dict[Key, list[Line]] = {}
    row = 0
    for unit, part, tick, value in zip(units, parts, ticks, raw, strict=True):
        nameless = (layout.unit is not None and unit is None) or (layout.piece is not None and part is None)
        if nameless and layout.null_keys == "drop":
            continue
        code = UNOBSERVED if value is None else states.codes.get(value, UNKNOWN)
        pieces.setdefault((unit, part), []).append(Line(row, tick, code))
        row += 1
    return PythonRows(pieces, step)


@dataclass(frozen=True)
class PythonRows:
    """The lines of each piece, in the order of the file."""

    pieces: Mapping[Key, Sequence[Line]]
    step: int | None

    def surveyed(self) -> tuple[PythonRows, dict[Key, list[Fact]]]:
        return self, by_piece(self._facts())

    def _facts(self) -> Iterator[Fact]:
        for key, lines in self.pieces.items():
            for code in {line.code for line in lines}:
                some = [line for line in lines if line.code == code]
                ticks = [line.tick for line in some if line.tick is not None]
                whole = [t for t in ticks if isinstance(t, int)] if self.step is not None else []
                rest = {t % self.step for t in whole} if self.step is not None else set()
                yield Fact(
                    key=key, code=code, rows=len(some), unplaced=len(some) - len(ticks),
                    low=min(whole, default=None), high=max(whole, default=None),
                    offsets=(min(rest), max(rest)) if rest else None,
                    first=some[0].row, last=some[-1].row,
                )  # fmt: skip

    def misorder(self) -> tuple[bool, bool]:
        steps = [
            (one.tick, other.tick)
            for lines in self.pieces.values()
            for one, other in pairwise(lines)
            if one.tick is not None and other.tick is not None
        ]
        return any(one == other for one, other in steps), any(one > other for one, other in steps)

    def counts(self, before: int | None, weights: Mapping[range, int] | None) -> Iterator[tuple[Key, int, int]]:
        for key, lines in self._placed(before):
            found: Counter[int] = Counter()
            for place, code in lines:
                each = 1 if weights is None else sum(w for run, w in weights.items() if place in run)
                found[code] += each
            yield from ((key, code, number) for code, number in found.items())

    def edges(self, before: int | None) -> Iterator[tuple[Key, int | None, int | None]]:
        for key, lines in self._placed(before):
            places = {place for place, code in lines if code != UNOBSERVED}
            yield from ((key, place, None) for place in places if place - 1 not in places)
            yield from ((key, None, place) for place in places if place + 1 not in places)

    def entries(self, before: int | None) -> Iterator[tuple[Key, int, int]]:
        for key, lines in self._placed(before):
            yield from ((key, place, code) for place, code in lines)

    def transitions(self) -> Iterator[tuple[int, int, int]]:
        found: Counter[tuple[int, int]] = Counter()
        for _, lines in self._placed(None):
            seen = [(place, code) for place, code in lines if code != UNOBSERVED]
            found.update((x, y) for (p, x), (q, y) in pairwise(seen) if q - p == 1)
        yield from ((x, y, times) for (x, y), times in found.items())

    def _placed(self, before: int | None) -> Iterator[tuple[Key, list[tuple[int, int]]]]:
        """Yield each piece's places and codes; its lines are in order, which misorder has checked."""
        for key, lines in self.pieces.items():
            first = lines[0].tick
            placed = []
            for number, line in enumerate(lines):
                place = number
                if self.step is not None and isinstance(line.tick, int) and isinstance(first, int):
                    place = (line.tick - first) // self.step
                if before is None or place < before:
                    placed.append((place, line.code))
            yield key, placed


def python_totals(
    table: Table, numbers: Sequence[Bounded], by: Sequence[str]
) -> Iterator[tuple[Names, int, list[int]]]:
    """Yield key, row count and sums of every group of rows; DataError for a text that is no number."""
    table.require([*by, *(rule.column for rule in numbers)])
    keys = [[_text(value, table) for value in table.frame[column]] for column in by]
    values = [[_number(_text(text, table), rule) for text in table.frame[rule.column]] for rule in numbers]
    found: dict[Names, list[int]] = {}
    for row in range(len(next(iter(table.frame.values()), []))):
        sums = found.setdefault(tuple(column[row] for column in keys), [0] * (len(numbers) + 1))
        for place, each in enumerate([1, *(column[row] for column in values)]):
            sums[place] += each
    yield from ((key, rows, sums) for key, (rows, *sums) in found.items())


def python_codes(table: Table, column: str, codes: Mapping[str, int]) -> list[int]:
    """Return the code of every text in a column."""
    table.require([column])
    texts = (_text(value, table) for value in table.frame[column])
    return [UNOBSERVED if text is None else codes.get(text, UNKNOWN) for text in texts]


def python_classes(table: Table, column: str, classes: Classes) -> list[int]:
    """Return the class of every number in a column of texts."""
    table.require([column])
    return [_class(_text(value, table), classes) for value in table.frame[column]]


def _class(text: str | None, classes: Classes) -> int:
    if text is None or re.match(NOT_FINITE, text):
        return classes.missing
    return classes.code(float(text)) if re.match(NUMBER, text) else UNKNOWN


def _number(text: str | None, rule: Bounded) -> int:
    if text is not None and not re.match(NUMBER, text) and not re.match(NOT_FINITE, text):
        raise not_numbers(rule.column)
    value = float("nan") if text is None else float(text)
    if rule.missing is None and not math.isfinite(value):
        raise no_number_at_all(rule.column)
    if not rule.clips and math.isfinite(value) and not float(rule.low) <= value <= float(rule.high):
        raise out_of_bounds(rule.column)
    return rule.units(value)


def _text(value: str | None, table: Table) -> str | None:
    stripped = (value or "").strip(BLANKS)
    return None if stripped in table.missing else stripped


def _ticks(values: Sequence[str | None], layout: Layout) -> tuple[list[Tick], int | None]:
    """Return the ticks of an order column of texts, and how many of them make a step."""
    there = [v for v in values if v is not None]
    length = None if layout.step is None else parse_step(layout.step)
    if all(re.match(INTEGER, v) for v in there):
        if isinstance(length, timedelta):
            raise other_kind(str(layout.order))
        if length is None:
            return [None if v is None else int(v) for v in values], None
        return [None if v is None else int(v) * length.denominator for v in values], length.numerator
    if all(re.match(NUMBER, v) for v in there):
        if isinstance(length, timedelta):
            raise other_kind(str(layout.order))
        numbers = [None if v is None or math.isinf(float(v)) else float(v) for v in values]
        if length is None:
            return list(numbers), None
        part = length / PARTS_OF_STEP
        scaled = [None if n is None else n * float(part.denominator) / float(part.numerator) for n in numbers]
        return [None if s is None or abs(s) >= 2**52 else round(s) for s in scaled], PARTS_OF_STEP
    if not all(re.match(TIME, v) for v in there):
        raise no_order(str(layout.order))
    if length is not None and not isinstance(length, timedelta):
        raise other_kind(str(layout.order))
    return _moments(values, str(layout.order)), None if length is None else length // timedelta(microseconds=1)


def _moments(values: Sequence[str | None], column: str) -> list[Tick]:
    found: list[datetime | None] = []
    for value in values:
        try:
            found.append(None if value is None else datetime.fromisoformat(value))
        except ValueError:
            found.append(None)
    zoned = {m.tzinfo is not None for m in found if m is not None}
    if len(zoned) == 2:
        raise two_ways(column)
    start = datetime(1970, 1, 1, tzinfo=UTC)
    return [
        None if m is None else ((m if m.tzinfo else m.replace(tzinfo=UTC)) - start) // timedelta(microseconds=1)
        for m in found
    ]
