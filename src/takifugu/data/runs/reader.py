"""The steps that each unit is in each state, from rows that are changes of it, stays or events; no step is expanded.

A run is a unit's state from one step on up to before another one. Rows are sorted where they are, each is compared with
its neighbour, and sums of lengths come back. A step's state is the one in force at its start, or that of its event.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

import narwhals.stable.v2 as nw
import numpy as np
import numpy.typing as npt

from takifugu.core.errors import DataError
from takifugu.data.engines.differences import Frame, alike, careful, collected, settled, with_neighbour, with_row_before
from takifugu.data.engines.table import Table
from takifugu.data.rows.layout import Layout, Recode, natural
from takifugu.data.rows.pieces import runs_of
from takifugu.data.runs.cells import CellSums, add_up
from takifugu.data.runs.columns import RunRows
from takifugu.data.runs.in_memory import in_engine
from takifugu.data.runs.rules import Cover, RunRules
from takifugu.data.runs.survey import OfUnit, check_covers, surveyed
from takifugu.data.sequences import Piece
from takifugu.data.values.codes import UNOBSERVED

IntArray = npt.NDArray[np.int64]

#: No window has a place as far as this.
FARTHEST_PLACE = 2**40
#: What may be wrong with two rows of a unit.
_FLAGS = ("tied", "unended", "overlapping")


@dataclass(frozen=True)
class Runs:
    """Rows with the ticks of the next start of their unit, the steps that units are covered in, and the window read."""

    rows: RunRows
    rules: RunRules
    units: Sequence[OfUnit] = field(repr=False)
    covers: Mapping[str | None, Cover] = field(repr=False)
    window: range

    def without_ties(self) -> Runs:
        """Return the rows with one at each time of a unit; DataError where no rule says which, or stays overlap."""
        flags = self._neighbours.select(*(nw.col(name).sum() for name in _FLAGS))
        ((tied, unended, overlapping),) = collected(flags)
        if tied:
            return self._with_one_row_a_time().without_ties()
        _check_overlaps(unended, overlapping, self.rows.layout, self.rules)
        return self

    def counts(self) -> tuple[Runs, list[tuple[object, int, int]]]:
        """Count the steps of the window by unit and code, and look for ties in the same scan; return both.

        Raises DataError as `without_ties` does.
        """
        lengths = self._spread.with_columns(steps=nw.col("last") - nw.col("first"))
        steps = nw.when(nw.col("steps") > 0).then(nw.col("steps")).otherwise(nw.lit(0, nw.Int64))
        lengths = settled(lengths.with_columns(steps=steps), ["steps"])
        names = ("steps", *_FLAGS)
        summed = lengths.group_by("unit", "code").agg(**{name: nw.col(name).sum() for name in names})
        rows = list(collected(summed.select("unit", "code", *names)))
        tied, unended, overlapping = (sum(int(row[place]) for row in rows) for place in (3, 4, 5))
        if tied:
            return self._with_one_row_a_time().counts()
        _check_overlaps(unended, overlapping, self.rows.layout, self.rules)
        return self, [(unit, int(code), int(steps)) for unit, code, steps, *_ in rows]

    def _with_one_row_a_time(self) -> Runs:
        """Return of the rows of a unit at one time the one that counts; DataError where no rule says which."""
        layout, table = self.rows.layout, self.rows.table
        if layout.duplicates == "refuse" or not table.ordered:
            raise _tied(str(layout.order), layout.duplicates)
        row = nw.col("row").min() if layout.duplicates == "first" else nw.col("row").max()
        chosen = self.rows.frame.group_by("unit", "start").agg(row=row).select("row")
        frame = self.rows.frame.join(chosen, on="row", how="inner")  # type: ignore[arg-type]
        return replace(self, rows=replace(self.rows, frame=settled(frame, ["row", "start", "end"])))

    @property
    def _neighbours(self) -> Frame:
        """Return the rows, when the unit's next one starts (`then`), and what is wrong with the two."""
        frame = settled(self.rows.frame.with_columns(later=-nw.col("start")), ["later"])
        frame = with_neighbour(frame, ["unit"], "later", ["start"]).with_columns(then=nw.col("start_before"))
        flags = {"tied": nw.col("start") == nw.col("then"), "unended": nw.lit(False), "overlapping": nw.lit(False)}
        if self.rows.has_ends:
            flags["unended"] = nw.col("end").is_null() & ~nw.col("then").is_null()
            flags["overlapping"] = nw.col("then") < nw.col("end")
        elif self.rules.rows == "events":
            flags["overlapping"] = self._place("then") == self._place("start")
        return frame.with_columns(**{name: flag.fill_null(False).cast(nw.Int64) for name, flag in flags.items()})

    @property
    def _placed(self) -> Frame:
        """Return units and codes with the part of each run that lies in the window, `first` up to before `last`."""
        return self._spread.filter(nw.col("first") < nw.col("last")).select("unit", "code", "first", "last")

    @property
    def _spread(self) -> Frame:
        """Return all rows, those too whose run has no step in the window, with what is wrong with them."""
        frame = self._neighbours
        low = self._of_unit(lambda cover: max(cover.places.start, self.window.start))
        high = self._of_unit(lambda cover: min(cover.places.stop, self.window.stop))
        frame = settled(frame.with_columns(low=low, high=high), ["low", "high"])
        first, then = self._place("start"), self._place("then")
        if self.rules.rows == "events":
            last = first + 1
        else:
            ends = "end" if self.rows.has_ends else "then"
            last = nw.when(nw.col(ends).is_null()).then(nw.col("high")).otherwise(self._place(ends))
        if self.rules.overlap == "last":
            last = nw.when(nw.col("overlapping") == 1).then(then).otherwise(last)
        frame = settled(frame.with_columns(first=first, last=last), ["first", "last"])
        frame = _within(_within(frame, "first"), "last")
        return _behind_earlier_ones(frame) if self.rules.overlap == "first" else frame

    def _place(self, column: str) -> nw.Expr:
        """Return the first step that starts at a tick or after it, of events the step that it lies in.

        Ticks are moved above 0 by whole steps first.
        """
        step, calendar = self.rows.step, self.rows.layout.calendar
        assert calendar is not None
        origin = calendar.ticks(step)
        lowest = min([unit.first for unit in self.units] + [origin])
        before = (origin - lowest) // step + 1
        up = 0 if self.rules.rows == "events" else step - 1
        return (nw.col(column) + (before * step - origin + up)) // step - before

    def _of_unit(self, what: Callable[[Cover], int]) -> nw.Expr:
        """Return a number of each row's unit, which most units share."""
        numbers = {unit.raw: what(self.covers[unit.name]) for unit in self.units}
        ((usual, _),) = Counter(numbers.values()).most_common(1)
        others = {raw: number for raw, number in numbers.items() if number != usual}
        if not others:
            return nw.lit(usual, nw.Int64)
        unit = nw.col("unit")
        return unit.replace_strict(list(others), list(others.values()), default=usual, return_dtype=nw.Int64)

    def cells(self, sums: CellSums) -> Iterator[tuple[object, int, list[tuple[int, int, int, int]]]]:
        """Yield unit, code, and the ends of its runs by stretch: its number, and sums of signs, places and periods."""
        placed, groups = self._placed, dict[tuple[object, int], list[tuple[int, int, int, int]]]()
        columns = ("unit", "code", "stretch", "ends", "places", "periods")
        for column, sign in (("first", -1), ("last", 1)):
            frame = placed.with_columns(place=nw.col(column))
            stretch, period = sums.stretch(nw.col("place"), _choose)
            frame = frame.with_columns(stretch=_whole(stretch), period=_whole(period))
            frame = settled(frame, ["place", "stretch", "period"])
            summed = frame.group_by("unit", "code", "stretch").agg(
                ends=nw.len(), places=nw.col("place").sum(), periods=nw.col("period").sum()
            )
            for unit, code, number, *signed in collected(summed.select(*columns)):
                ends, places, periods = (sign * int(total) for total in signed)
                groups.setdefault((unit, int(code)), []).append((int(number), ends, places, periods))
        for (unit, code), some in groups.items():
            yield unit, code, some

    def listed(self, missing_only: bool) -> Iterator[tuple[object, int, range]]:
        """Yield unit, code and steps of every run in the window, or of those alone whose state is missing."""
        frame = self._placed.filter(nw.col("code") == UNOBSERVED) if missing_only else self._placed
        for unit, code, first, last in collected(frame.select("unit", "code", "first", "last")):
            yield unit, int(code), range(int(first), int(last))


def pieces_of_runs(
    table: Table, layout: Layout, states: Recode, rules: RunRules, entrywise: bool = False
) -> tuple[Piece, ...]:
    """Return one piece for each unit that is declared: the window of a calendar with an end, counted by state.

    Steps that are not covered are unobserved; so are those of missing states. `entrywise` brings every step's state,
    too. Raises InputError for a column that is not there, and DataError for rows that break a rule.
    """
    states.check(table.missing)
    table, calendar = in_engine(table), layout.calendar
    assert calendar is not None  # which release files of runs declare, with its end
    assert calendar.size is not None
    with careful(table.source):
        rows, units = surveyed(table, layout, states, rules)
        covers = {name: Cover.of(calendar, ends, rows.step) for name, ends in rules.covered.items()}
        check_covers(units, covers, layout, rules)
        window = range(calendar.size) if layout.window is None else layout.window
        runs = Runs(rows, rules, units, covers, window)
        made = _pieces(runs, layout, states, entrywise)
    return tuple(sorted(made, key=lambda piece: natural(piece.unit)))


def _pieces(runs: Runs, layout: Layout, states: Recode, entrywise: bool) -> list[Piece]:
    """Return the pieces; of every array by state the last number is that of missing ones."""
    size, slots, rules = len(states.states), layout.slots, runs.rules
    name_of, written = {unit.raw: unit.name for unit in runs.units}, {u.name: u.written for u in runs.units}
    sums = None if slots is None else CellSums(slots)
    counts = {name: np.zeros((1 if sums is None else sums.size, size + 1), dtype=np.int64) for name in runs.covers}
    listed: dict[str | None, list[tuple[int, range]]] = {name: [] for name in runs.covers}
    has_gaps = any(unit.has_gaps for unit in runs.units)
    if runs.units and sums is None:
        runs, totals = runs.counts()
        for unit, code, steps in totals:
            counts[name_of[unit]][0, code] += steps
    elif runs.units and sums is not None:
        runs = runs.without_ties()
        for unit, code, groups in runs.cells(sums):
            counts[name_of[unit]][:, code] += add_up(groups, sums)
    if runs.units and (entrywise or (has_gaps and layout.gaps == "public")):
        for unit, code, run in runs.listed(not entrywise):
            listed[name_of[unit]].append((code, run))
    state = rules.before if rules.rows == "changes" else rules.otherwise
    filled = UNOBSERVED if state is None else states.states.index(state)
    covered, pieces = dict[range, IntArray](), []
    for name, cover in runs.covers.items():
        inside = _cut(cover.places, runs.window)
        if inside not in covered:
            covered[inside] = np.array([len(inside)]) if sums is None else sums.between(inside.start, inside.stop)
        table = counts[name]
        table[:, filled] += covered[inside] - table.sum(axis=1)
        observed: tuple[range, ...] = (range(len(runs.window)),)
        values = _values(runs.window, inside, filled, listed[name]) if entrywise else None
        if values is not None:
            observed = runs_of(values != UNOBSERVED)
        elif layout.gaps == "public":
            observed = _between(inside, [gap for _, gap in listed[name]], runs.window.start)
        pieces.append(Piece(
            name, None, len(runs.window), observed, table[:, :size].sum(axis=0), written.get(name, name), values,
            None if slots is None else slots.cells[1], None if slots is None else table[:, :size],
        ))  # fmt: skip
    return pieces


def _values(window: range, inside: range, filled: int, runs: Sequence[tuple[int, range]]) -> IntArray:
    """Return the code of every step of the window."""
    values = np.full(len(window), UNOBSERVED, dtype=np.int64)
    values[inside.start - window.start : inside.stop - window.start] = max(filled, 0)
    for code, steps in runs:
        values[steps.start - window.start : steps.stop - window.start] = code
    return values


def _between(covered: range, gaps: Sequence[range], origin: int) -> tuple[range, ...]:
    """Return the runs of covered steps that lie in no gap; they count from the origin."""
    starts = [covered.start, *sorted(gap.stop for gap in gaps)]
    stops = [*sorted(gap.start for gap in gaps), covered.stop]
    runs = (range(start - origin, stop - origin) for start, stop in zip(starts, stops, strict=True))
    return tuple(run for run in runs if run)


def _cut(places: range, window: range) -> range:
    start = min(max(places.start, window.start), window.stop)
    return range(start, max(start, min(places.stop, window.stop)))


def _within(frame: Frame, column: str) -> Frame:
    """Move a place into its unit's part of the window."""
    place = nw.when(nw.col(column) < nw.col("low")).then(nw.col("low")).otherwise(nw.col(column))
    frame = settled(frame.with_columns(place.alias(column)), [column])
    place = nw.when(nw.col(column) > nw.col("high")).then(nw.col("high")).otherwise(nw.col(column))
    return settled(frame.with_columns(place.alias(column)), [column])


def _behind_earlier_ones(frame: Frame) -> Frame:
    """Let each stay count from where all that began before it have ended."""
    frame = frame.drop("start_before")
    if not frame.implementation.is_pyarrow():
        frame = frame.with_columns(so_far=nw.col("last").cum_max().over("unit", order_by="start"))
    else:  # PyArrow has no such sums of each unit: its units are so far apart that one is enough
        frame = with_row_before(frame.sort("unit", "start"), ["unit"])
        is_next = (~alike("unit", "unit_before")).cast(nw.Int64)
        frame = settled(frame.with_columns(apart=is_next), ["apart"])
        frame = frame.with_columns(apart=nw.col("apart").cum_sum() * FARTHEST_PLACE)
        so_far = (nw.col("last") + nw.col("apart")).cum_max() - nw.col("apart")
        frame = settled(frame.with_columns(so_far=so_far), ["so_far"])
    frame = with_neighbour(frame, ["unit"], "start", ["so_far"])
    ended = nw.col("so_far_before")
    is_behind = (ended > nw.col("first")).fill_null(False)
    return settled(frame.with_columns(first=nw.when(is_behind).then(ended).otherwise(nw.col("first"))), ["first"])


def _choose(when: nw.Expr, yes: nw.Expr | int, no: nw.Expr | int) -> nw.Expr:
    return nw.when(when).then(_whole(yes)).otherwise(_whole(no))


def _whole(value: nw.Expr | int) -> nw.Expr:
    return nw.lit(value, nw.Int64) if isinstance(value, int) else value


def _tied(column: str, duplicates: str) -> DataError:
    if duplicates == "refuse":
        return DataError(
            f"column {column!r} has two rows of one person at one time", rule="only one of them can hold from then on",
            fix='leave one out, or declare which row counts: duplicates = "first" or "last"',
        ).at("duplicates")  # fmt: skip
    return DataError(
        f"column {column!r} has two rows of one person at one time, and this source keeps no order of its rows",
        rule="none of them is the first or the last", fix="leave one row for each time",
    ).at("duplicates")  # fmt: skip


def _check_overlaps(unended: int, overlapping: int, layout: Layout, rules: RunRules) -> None:
    column = rules.last_column
    if unended:
        raise DataError(
            f"column {column!r} has a stay without an end, and another one of the same person starts later",
            rule="a stay without an end lasts until the data end", fix="write when it ended",
        ).at("end" if rules.end else "duration")  # fmt: skip
    if overlapping and rules.overlap == "refuse" and rules.rows == "events":
        raise DataError(
            f"column {layout.order!r} has several events of one person in one step",
            rule="a person is in one state in each step",
            fix='declare which counts: overlap = "first" or "last", or a shorter step',
        ).at("overlap")  # fmt: skip
    if overlapping and rules.overlap == "refuse":
        raise DataError(
            f"column {column!r} has stays that end after the next one of the same person has started",
            rule="a person is in one state at a time",
            fix='repair them, or declare which counts: overlap = "first" or "last" (which ends the other)',
        ).at("overlap")  # fmt: skip
