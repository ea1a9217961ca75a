"""Rows as runs: each from one step on up to before another one. One scan sums them up and compares each with the next.

A step's state is the one in force at its start, or that of its event: a run covers the steps that start in it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

import narwhals.stable.v2 as nw

from takifugu.data.engines.differences import (
    Frame,
    alike,
    collected,
    settled,
    with_both_ends,
    with_integers_at,
    with_neighbour,
    with_row_before,
)
from takifugu.data.rows.facts import choose, integer, whole
from takifugu.data.rows.pieces import Fact
from takifugu.data.runs.cells import CellSums
from takifugu.data.runs.columns import END, FARTHEST, OVERLAPPING, START, TIED, UNENDED, RunRows
from takifugu.data.runs.rules import Cover, RunRules
from takifugu.data.values.texts import UNOBSERVED

#: No window has a place as far as this.
FARTHEST_PLACE = 2**40


@dataclass(frozen=True)
class Total:
    """What rows of a unit in one state amount to, of which there is the same to note.

    `steps` are the ends of runs by stretch: its number, and the sums of signs, places and periods; of a window without
    cells one sum of lengths. `unit` is as the frame has it.
    """

    unit: object = field(repr=False)
    fact: Fact = field(repr=False)
    note: int
    last_end: int | None
    steps: Sequence[tuple[int, int, int, int]] = field(repr=False)


@dataclass(frozen=True)
class Runs:
    """Rows, the steps that people are covered in, their names by the units of the frame, and the window that is read.

    Who is covered as most are need not be named.
    """

    rows: RunRows
    rules: RunRules
    covers: Mapping[str | None, Cover] = field(repr=False)
    names: Mapping[object, str | None] = field(repr=False)
    window: range

    @staticmethod
    def of(rows: RunRows, rules: RunRules, window: range) -> Runs:
        """Return rows with units by their declared names, as far as known."""
        calendar = rows.layout.calendar
        assert calendar is not None
        cover = {ends: Cover.of(calendar, ends, rows.step) for ends in set(rules.covered.values())}
        covers = {name: cover[ends] for name, ends in rules.covered.items()}
        return Runs(rows, rules, covers, rows.names, window)

    def cover(self, unit: object) -> Cover:
        """Return the counted steps of a unit."""
        return self.covers[self.names[unit]] if unit in self.names else self._usual

    def totals(self, sums: CellSums | None) -> list[Total]:
        """Return the totals of the rows in one scan, by any cells."""
        frame, keys = self._spread, ["unit", "code", "note"]
        if sums is None:
            frame = settled(frame.with_columns(place=nw.col("last") - nw.col("first")), ["place"])
            added = {"places": nw.sum("place")}
        else:
            frame = with_both_ends(frame)
            stretch, period = sums.stretch(nw.col("place"), choose)
            frame = settled(frame.with_columns(stretch=whole(stretch), period=whole(period)), ["stretch", "period"])
            sign = nw.col("sign")
            frame = frame.with_columns(place=nw.col("place") * sign, period=nw.col("period") * sign)
            frame = settled(frame, ["place", "period"])
            keys = [*keys, "stretch"]
            added = {"signs": nw.sum("sign"), "places": nw.sum("place"), "periods": nw.sum("period")}
        added |= {"low": nw.min("start"), "high": nw.max("start")}
        if self.rows.in_rows:
            added["row"] = nw.min("row")
        if self.rows.has_ends:
            added["last_end"] = nw.max("end")
        columns, grouped = [*keys, *added], dict[tuple[object, ...], list[dict[str, int | None]]]()
        for unit, *values in collected(frame.group_by(*keys).agg(**added).select(*columns)):
            read = dict(zip(columns[1:], map(integer, values), strict=True))
            grouped.setdefault((unit, read["code"], read["note"]), []).append(read)
        return [self._total(key[0], parts) for key, parts in grouped.items()]

    def _total(self, unit: object, parts: Sequence[Mapping[str, int | None]]) -> Total:
        """Return the parts of a total, one per stretch, as one."""
        steps, starts = list[tuple[int, int, int, int]](), list[int]()
        rows, ends = list[int](), list[int]()
        for part in parts:
            stretch, signs, periods = part.get("stretch") or 0, part.get("signs") or 0, part.get("periods") or 0
            steps.append((stretch, signs, part["places"] or 0, periods))
            starts += (part["low"] or 0, part["high"] or 0)
            if (row := part.get("row")) is not None:
                rows.append(row)
            if (end := part.get("last_end")) is not None:
                ends.append(end)
        code, note = parts[0]["code"] or 0, parts[0]["note"] or 0
        key, first = (self.rows.name(unit), None), min(rows, default=None)
        fact = Fact(key, code, 1, note // START % END, min(starts), max(starts), None, first, None)
        return Total(unit, fact, note, max(ends, default=None), steps)

    def listed(self, missing_only: bool) -> Iterator[tuple[object, int, range]]:
        """Yield unit, code and steps of runs, or of missing ones only."""
        frame = self._spread.filter(nw.col("first") < nw.col("last"))
        if missing_only:
            frame = frame.filter(nw.col("code") == UNOBSERVED)
        for unit, code, first, last in collected(frame.select("unit", "code", "first", "last")):
            yield unit, int(code), range(int(first), int(last))

    def clashes(self) -> tuple[int, int, int]:
        """Return the numbers of tied rows, of other overlapping ones, and of those without a state.

        Events overlap by sharing a step.
        """
        frame = self._compared.with_columns(missing=(nw.col("code") == UNOBSERVED).cast(nw.Int64))
        sums = frame.select(nw.sum("tied"), nw.sum("overlapping"), nw.sum("missing"))
        ((tied, overlapping, missing),) = collected(sums)
        return integer(tied) or 0, integer(overlapping) or 0, integer(missing) or 0

    def inside(self, cover: Cover) -> range:
        """Return the steps of a cover inside the window."""
        start = min(max(cover.places.start, self.window.start), self.window.stop)
        return range(start, max(start, min(cover.places.stop, self.window.stop)))

    @cached_property
    def _usual(self) -> Cover:
        return Counter(self.covers.values()).most_common(1)[0][0]

    @property
    def _origin(self) -> int:
        calendar = self.rows.layout.calendar
        assert calendar is not None
        return calendar.ticks(self.rows.step)

    @property
    def _compared(self) -> Frame:
        """Return the rows with the unit's next start and faults in `note`.

        Of simultaneous rows the last is the one that counts.
        """
        frame, by = self.rows.frame, ["start"]
        if self.rows.in_rows and self.rows.layout.duplicates != "refuse":
            sign = {"first": -1, "last": 1}[self.rows.layout.duplicates]
            frame, by = settled(frame.with_columns(turn=nw.col("row") * sign), ["turn"]), ["start", "turn"]
        frame = settled(with_neighbour(frame, ["unit"], by, ["start"], after=True), ["start_after"])
        start, then = nw.col("start"), nw.col("start_after")
        flags = {"tied": start == then, "unended": nw.lit(False), "overlapping": nw.lit(False)}
        if self.rows.has_ends:
            flags |= {"unended": nw.col("end").is_null() & (start < then), "overlapping": then < nw.col("end")}
        elif self.rules.rows == "events":
            step = self.rows.step
            up = FARTHEST * 2 // step * step - self._origin
            flags["overlapping"] = (start + up) // step == (then + up) // step
        frame = frame.with_columns(**{name: flag.fill_null(False).cast(nw.Int64) for name, flag in flags.items()})
        frame = settled(frame.with_columns(overlapping=nw.col("overlapping") * (1 - nw.col("tied"))), [*flags])
        wrong = nw.col("tied") * TIED + nw.col("unended") * UNENDED + nw.col("overlapping") * OVERLAPPING
        return settled(frame.with_columns(note=nw.col("note") + wrong), ["note"])

    @property
    def _spread(self) -> Frame:
        """Return all rows with their steps, `first` up to before `last`."""
        step, frame, start, after = self.rows.step, self._compared, nw.col("start"), nw.col("start_after")
        early, last = 0, after
        if self.rules.rows == "events":  # an event has the step that it lies in
            early, last = step - 1, start + 1
        elif self.rows.has_ends:
            last = nw.col("end")
        frame = settled(frame.with_columns(first=start - early, last=last), ["first", "last"])
        if self.rules.overlap == "last":
            frame = _replaced(frame, "last", nw.col("overlapping") == 1, after - early)
        frame, low, high = self._with_ends(frame)
        for column, when, then in (
            ("last", nw.col("tied") == 1, nw.col("first")), ("last", nw.col("last").is_null(), high),
            ("first", nw.col("first") < low, low), ("first", nw.col("first") > high, high),
            ("last", nw.col("last") < low, low), ("last", nw.col("last") > high, high),
        ):  # fmt: skip
            frame = _replaced(frame, column, when, then)
        # ticks are not before the first step now: no engine divides below 0
        places = {column: (nw.col(column) + (step - 1 - self._origin)) // step for column in ("first", "last")}
        frame = settled(frame.with_columns(**places), [*places])
        if self.rules.overlap == "first":
            frame = _behind_earlier_ones(frame)
        return _replaced(frame, "last", nw.col("last") < nw.col("first"), nw.col("first"))

    def _with_ends(self, frame: Frame) -> tuple[Frame, nw.Expr, nw.Expr]:
        """Return the rows with ticks of their unit's first and last step."""
        usual, units = self._ticks(self._usual), [*self.names]
        if not units or set(self.covers.values()) == {self._usual}:
            return frame, nw.lit(usual[0], nw.Int64), nw.lit(usual[1], nw.Int64)
        low, high = zip(*(self._ticks(self.cover(unit)) for unit in units), strict=True)
        if self.rows.numbered:
            frame = with_integers_at(frame, "unit", {"low": low, "high": high})
        else:
            ends = {"low": (low, usual[0]), "high": (high, usual[1])}
            frame = frame.with_columns(**{
                name: nw.col("unit").replace_strict(units, list(some), default=other, return_dtype=nw.Int64)
                for name, (some, other) in ends.items()
            })  # fmt: skip
        return settled(frame, ["low", "high"]), nw.col("low"), nw.col("high")

    def _ticks(self, cover: Cover) -> tuple[int, int]:
        steps = self.inside(cover)
        return self._origin + steps.start * self.rows.step, self._origin + steps.stop * self.rows.step


def _behind_earlier_ones(frame: Frame) -> Frame:
    """Move each stay's start behind the ends of all earlier ones."""
    if not frame.implementation.is_pyarrow():
        frame = frame.with_columns(so_far=nw.col("last").cum_max().over("unit", order_by="start"))
    else:  # PyArrow has no such sums of each unit: its units are so far apart that one is enough
        frame = with_row_before(frame.sort("unit", "start"), ["unit"])
        is_next = (~alike("unit", "unit_before")).cast(nw.Int64)
        frame = settled(frame.with_columns(apart=is_next), ["apart"])
        frame = frame.with_columns(apart=nw.col("apart").cum_sum() * FARTHEST_PLACE)
        so_far = (nw.col("last") + nw.col("apart")).cum_max() - nw.col("apart")
        frame = settled(frame.with_columns(so_far=so_far), ["so_far"])
    frame = with_neighbour(frame, ["unit"], ["start"], ["so_far"])
    ended = nw.col("so_far_before")
    return _replaced(frame, "first", (ended > nw.col("first")).fill_null(False), ended)


def _replaced(frame: Frame, column: str, when: nw.Expr, by: nw.Expr) -> Frame:
    """Replace the integers of a column under a condition."""
    return settled(frame.with_columns(nw.when(when).then(by).otherwise(nw.col(column)).alias(column)), [column])
