"""Rows of a small CSV file where no engine is installed: the same questions, answered by Python's own lists."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from itertools import pairwise

from takifugu.data.engines.table import Table
from takifugu.data.rows.layout import Layout, Recode, parse_step
from takifugu.data.rows.pieces import (
    DAY,
    HOUR,
    MISSING,
    NIGHT,
    SKIPPED,
    UNCLEAR,
    Arrangement,
    Fact,
    Key,
    by_piece,
    looks_set_back,
    runs_by_piece,
)
from takifugu.data.times.cells import Slots
from takifugu.data.times.clock import Clock
from takifugu.data.times.epochs import dates_for_numbers, microseconds
from takifugu.data.times.zones import Zone, second_passes
from takifugu.data.values.bins import Bins
from takifugu.data.values.bounded import Bounded
from takifugu.data.values.classes import Classes
from takifugu.data.values.codes import UNKNOWN, UNOBSERVED
from takifugu.data.values.texts import (
    BLANKS,
    INTEGER,
    NOT_FINITE,
    NUMBER,
    PARTS_OF_STEP,
    TIME,
    no_number_at_all,
    no_order,
    not_numbers,
    number_for_times,
    out_of_bounds,
    time_for_numbers,
    two_ways,
    zone_of_numbers,
)

#: The pass of a clock that no order of the rows tells.
UNORDERED = 2

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
    read = Ticks([None] * len(raw), None)
    if layout.order is not None:
        written = clean["tick"] if layout.clock.form else [None if t is None else table.numerals.plain(t)
                                                             for t in clean["tick"]]  # fmt: skip
        read = _ticks(written, layout)
    pieces: dict[Key, list[Line]] = {}
    row = 0
    for unit, part, tick, value in zip(units, parts, read.ticks, raw, strict=True):
        nameless = (layout.unit is not None and unit is None) or (layout.piece is not None and part is None)
        if nameless and layout.null_keys == "drop":
            continue
        pieces.setdefault((unit, part), []).append(Line(row, tick, states.code(value, table.numerals)))
        row += 1
    faults: dict[int, int] = {}
    if layout.clock.zone is not None and read.local:
        pieces, faults = _in_utc(pieces, layout, layout.clock.zone, table.ordered)
    start = None if layout.calendar is None or read.step is None else layout.calendar.ticks(read.step)
    return PythonRows(pieces, read.step, read.local and layout.clock.zone is None, faults, start)


def _in_utc(
    pieces: Mapping[Key, list[Line]], layout: Layout, zone: Zone, in_rows: bool
) -> tuple[dict[Key, list[Line]], dict[int, int]]:
    """Return the lines with moments in place of times on the wall, and why some rows have none.

    Those that the layout leaves out are no longer there: see `local_time.in_utc`.
    """
    in_utc, faults = dict[Key, list[Line]](), dict[int, int]()
    for key, lines in pieces.items():
        walls = [line.tick if isinstance(line.tick, int) else None for line in lines]
        for line, wall, order in zip(lines, walls, second_passes(walls, zone), strict=True):
            moment: Tick = None
            if wall is not None:
                stretch = zone.at(wall)
                number = (order or 0) if in_rows or not stretch.back else UNORDERED
                if stretch.back and layout.ambiguous != "refuse":
                    number = int(layout.ambiguous == "last")
                moments = (wall - stretch.offset, wall - stretch.offset + stretch.back)
                dropped = bool(stretch.back) and layout.ambiguous == "drop"
                if dropped or (number > 1 and not _in_window(moments, layout.moments)):
                    continue
                moment = moments[min(number, 1)]
                if stretch.skipped or number > 1:
                    moment, faults[line.row] = None, SKIPPED if stretch.skipped else UNCLEAR
            in_utc.setdefault(key, []).append(Line(line.row, moment, line.code))
    return in_utc, faults


def _in_window(moments: Sequence[int], window: tuple[int, int] | None) -> bool:
    """Return whether one of the moments lies in a window; without one all do."""
    return window is None or any(window[0] <= moment < window[1] for moment in moments)


@dataclass(frozen=True)
class PythonRows:
    """The lines of each piece, in the order of the file until they are arranged.

    `naive` says that times tell no zone; `faults` why rows have no tick, by their numbers, where not for lack of one.
    """

    pieces: Mapping[Key, Sequence[Line]]
    step: int | None
    naive: bool = False
    faults: Mapping[int, int] = field(default_factory=dict)
    start: int | None = None

    @property
    def in_rows(self) -> bool:
        return True

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
                    key=key, code=code, rows=len(some),
                    unplaced=max(self.faults.get(line.row, MISSING) if line.tick is None else 0 for line in some),
                    low=min(whole, default=None), high=max(whole, default=None),
                    offsets=(min(rest), max(rest)) if rest else None,
                    first=some[0].row, last=some[-1].row,
                )  # fmt: skip

    def arranged(self) -> tuple[PythonRows, Arrangement]:
        runs, pieces, ties = list[tuple[int, int, int]](), dict[Key, Sequence[Line]](), False
        for key, lines in self.pieces.items():
            ticks = [line.tick for line in lines if line.tick is not None]
            back = [(one, other) for one, other in pairwise(ticks) if one > other]
            leaps = sum(not self.naive or one - other > HOUR or (other + HOUR) % DAY >= NIGHT for one, other in back)
            runs.append((len(back), leaps, int(max(ticks, default=0) - min(ticks, default=0)) if self.naive else 0))
            pieces[key] = sorted(lines, key=lambda line: line.tick or 0)
            ties |= any(one.tick == other.tick for one, other in pairwise(pieces[key]))
        return replace(self, pieces=pieces), Arrangement(ties, self.naive and looks_set_back(runs))

    def without_ties(self, keep: str) -> PythonRows:
        """Return the rows with the first or the last one of those that have one tick in their piece."""
        pieces = {}
        for key, lines in self.pieces.items():
            one: dict[Tick, Line] = {}
            for line in lines:  # sorting kept the order of equal ones
                if keep == "last" or line.tick not in one:
                    one[line.tick] = line
            pieces[key] = list(one.values())
        return replace(self, pieces=pieces)

    def steps(self) -> int:
        return sum(len({line.tick for line in lines}) for lines in self.pieces.values())

    def counts(self, places: range) -> Iterator[tuple[Key, int, int]]:
        for key, lines in self._placed(None):
            counts = Counter(code for place, code in lines if place in places)
            yield from ((key, code, number) for code, number in counts.items())

    def cells(self, slots: Slots) -> Iterator[tuple[Key, int, int, int]]:
        number_of = dict(zip(slots.window, slots.numbers.tolist(), strict=True))
        for key, lines in self._placed(None):
            counts = Counter((number_of[place], code) for place, code in lines if place in number_of)
            yield from ((key, number, code, times) for (number, code), times in counts.items())

    def observed(self, before: int | None) -> Mapping[Key, tuple[range, ...]]:
        return runs_by_piece(self._edges(before))

    def _edges(self, before: int | None) -> Iterator[tuple[Key, int | None, int | None]]:
        """Yield piece, a place where a run of observed entries starts, and the place where another one ends."""
        for key, lines in self._placed(before):
            places = {place for place, code in lines if code != UNOBSERVED}
            yield from ((key, place, None) for place in places if place - 1 not in places)
            yield from ((key, None, place) for place in places if place + 1 not in places)

    def entries(self, before: int | None) -> Iterator[tuple[Key, int, int]]:
        for key, lines in self._placed(before):
            yield from ((key, place, code) for place, code in lines)

    def transitions(self, period: int) -> Iterator[tuple[int, int, int, int]]:
        counts: Counter[tuple[int, int, int]] = Counter()
        for _, lines in self._placed(None):
            seen = [(place, code) for place, code in lines if code != UNOBSERVED]
            counts.update((p % period, x, y) for (p, x), (q, y) in pairwise(seen) if q - p == 1)
        yield from ((*pair, times) for pair, times in counts.items())

    def _placed(self, before: int | None) -> Iterator[tuple[Key, list[tuple[int, int]]]]:
        """Yield each piece's places and codes; its lines are in order, in which they were arranged."""
        for key, lines in self.pieces.items():
            first = lines[0].tick if self.start is None else self.start
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
    values = [[_number(_numeral(text, table), rule) for text in table.frame[rule.column]] for rule in numbers]
    sums_of: dict[Names, list[int]] = {}
    for row in range(len(next(iter(table.frame.values()), []))):
        sums = sums_of.setdefault(tuple(column[row] for column in keys), [0] * (len(numbers) + 1))
        for place, each in enumerate([1, *(column[row] for column in values)]):
            sums[place] += each
    yield from ((key, rows, sums) for key, (rows, *sums) in sums_of.items())


def python_codes(table: Table, column: str, codes: Mapping[str, int]) -> list[int]:
    """Return the code of every text in a column."""
    table.require([column])
    texts = (_text(value, table) for value in table.frame[column])
    return [UNOBSERVED if text is None else codes.get(text, UNKNOWN) for text in texts]


def python_classes(table: Table, column: str, classes: Classes | Bins) -> list[int]:
    """Return the class, or the bin, of every number in a column of texts."""
    table.require([column])
    return [_class(_numeral(value, table), classes) for value in table.frame[column]]


def _class(text: str | None, classes: Classes | Bins) -> int:
    if isinstance(classes, Bins):
        return UNOBSERVED if text is None else classes.code_of(text)
    if text is None or re.match(NOT_FINITE, text):
        return classes.missing
    return classes.code(float(text)) if re.match(NUMBER, text) else UNKNOWN


def _number(text: str | None, rule: Bounded) -> int:
    if text is not None and not re.match(NUMBER, text) and not re.match(NOT_FINITE, text):
        raise not_numbers(rule.column)
    value = float("nan") if text is None else float(text)
    if rule.missing is None and not math.isfinite(value):
        raise no_number_at_all(rule.column, rule.middle)
    if not rule.clips and math.isfinite(value) and not float(rule.low) <= value <= float(rule.high):
        raise out_of_bounds(rule.column)
    return rule.units(value)


def _text(value: str | None, table: Table) -> str | None:
    stripped = (value or "").strip(BLANKS)
    return None if stripped in table.missing else stripped


def _numeral(value: str | None, table: Table) -> str | None:
    """Return a text with its number as it is usually written."""
    text = _text(value, table)
    return None if text is None else table.numerals.plain(text)


@dataclass(frozen=True)
class Ticks:
    """The ticks of an order column, how many of them make a step, and whether they are times that tell no zone."""

    ticks: Sequence[Tick]
    step: int | None
    local: bool = False


def _ticks(values: Sequence[str | None], layout: Layout) -> Ticks:
    """Return the ticks of an order column of texts."""
    there = [v for v in values if v is not None]
    length = None if layout.step is None else parse_step(layout.step)
    clock, numbers = layout.clock, all(re.match(NUMBER, v) for v in there)
    if clock.epoch and (numbers or all(re.match(TIME, v) for v in there)):
        if length is not None and not isinstance(length, timedelta):
            raise number_for_times(str(layout.order))
        step = None if length is None else length // timedelta(microseconds=1)
        if not numbers:
            raise dates_for_numbers(str(layout.order))
        read = int if all(re.match(INTEGER, v) for v in there) else float
        since = [microseconds(read(v), clock.epoch) if v is not None else None for v in values]
        rounded, step, _ = _rounded(since, step, clock)
        return Ticks(rounded, step)
    if clock.form is not None or not numbers:
        if clock.form is None and not all(re.match(TIME, v) for v in there):
            raise no_order(str(layout.order))
        if length is not None and not isinstance(length, timedelta):
            raise number_for_times(str(layout.order))
        step = None if length is None else length // timedelta(microseconds=1)
        moments = [None if v is None else clock.form.read(v) for v in values] if clock.form else _read(values)
        zoned = {m.tzinfo is not None for m in moments if m is not None}
        if len(zoned) == 2:
            raise two_ways(str(layout.order))
        walls = [None if m is None else _microseconds(m.replace(tzinfo=UTC)) for m in moments]
        ahead = [0 if m is None else (m.utcoffset() or timedelta()) // timedelta(microseconds=1) for m in moments]
        rounded, step, finer = _rounded(walls, step, clock)
        return Ticks([None if t is None else t - a * finer for t, a in zip(rounded, ahead, strict=True)], step,
                     zoned <= {False})  # fmt: skip
    if isinstance(length, timedelta):
        raise time_for_numbers(str(layout.order))
    if clock.zone is not None:
        raise zone_of_numbers(str(layout.order))
    if all(re.match(INTEGER, v) for v in there):
        if length is None:
            return Ticks([None if v is None else int(v) for v in values], None)
        whole, step, _ = _rounded(
            [None if v is None else int(v) * length.denominator for v in values], length.numerator, clock
        )
        return Ticks(whole, step)
    floats = [None if v is None or math.isinf(float(v)) else float(v) for v in values]
    if length is None:
        return Ticks(list(floats), None)
    part = length / PARTS_OF_STEP
    scaled = [None if n is None else n * float(part.denominator) / float(part.numerator) for n in floats]
    whole, step, _ = _rounded(
        [None if s is None or abs(s) >= 2**52 else round(s) for s in scaled], PARTS_OF_STEP, clock
    )
    return Ticks(whole, step)


def _rounded(ticks: Sequence[int | None], step: int | None, clock: Clock) -> tuple[list[int | None], int | None, int]:
    """Return ticks as a clock is rounded, their step, and how much finer they became."""
    if step is None or not clock.parts:
        return list(ticks), step, 1
    rule = clock.rounding(step)
    rounded = [None if t is None or abs(t) >= rule.largest else int(rule.of(t)) for t in ticks]
    return rounded, rule.step, rule.finer


def _microseconds(moment: datetime) -> int:
    return (moment - datetime(1970, 1, 1, tzinfo=UTC)) // timedelta(microseconds=1)


def _read(values: Sequence[str | None]) -> list[datetime | None]:
    """Return the times that texts of ISO 8601 say; None for days that are in no calendar."""
    moments: list[datetime | None] = []
    for value in values:
        try:
            moments.append(None if value is None else datetime.fromisoformat(value))
        except ValueError:
            moments.append(None)
    return moments
