"""The one reader of rows: every question is one expression for all engines, and only integers per piece come back."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Self

import narwhals.stable.v2 as nw

from takifugu.core.lists import with_keys
from takifugu.data.engines.differences import Frame, collected, settled, with_rank
from takifugu.data.engines.sanitise import text
from takifugu.data.rows.facts import COMPARED, choose, facts_of, integer, whole, with_comparisons, with_row_before
from takifugu.data.rows.order import kind_of_texts
from takifugu.data.rows.picked import PickedRows, picked_rows, with_order_texts
from takifugu.data.rows.pieces import (
    FAR,
    TWICE,
    Arrangement,
    Fact,
    Key,
    are_together,
    by_piece,
    extent,
    looks_set_back,
    runs_by_piece,
)
from takifugu.data.times.cells import Slots
from takifugu.data.values.texts import UNOBSERVED, two_ways

#: A float64 tells all whole numbers below this one apart.
_EXACT = 2.0**53


@dataclass(frozen=True)
class Rows(PickedRows):
    """Picked rows, and what the facts of their pieces, `grouped`, tell.

    `tidy` says that no key of them has blanks to strip, `seen` that no entry is unobserved, `together` that pieces do
    not interrupt each other, `rising` that none goes backwards along the rows; `origins` are the positions of place 0.
    `runs` are the places of each piece, where one pass told them. An entry's place counts from 0 along its piece;
    `before` is the first place that is cut off.
    """

    tidy: bool = False
    seen: bool = False
    together: bool = False
    rising: bool = True
    origins: Mapping[Key, int] = field(default_factory=dict, repr=False)
    grouped: Mapping[Key, list[Fact]] = field(default_factory=dict, repr=False)
    runs: Mapping[Key, tuple[range, ...]] | None = field(default=None, repr=False)

    @classmethod
    def of(cls, rows: PickedRows, facts: list[Fact], tidy: bool, zones: set[int]) -> Self:
        """Return the rows with their facts."""
        grouped, origins = by_piece(facts), dict[Key, int]()
        for key, some in grouped.items():
            if rows.start is not None:
                origins[key] = rows.start
            elif rows.step is not None:
                origins[key], _ = extent(some)
            else:
                origins[key] = min((fact.first for fact in some if fact.first is not None), default=0)
        picked = with_keys(vars(rows), PickedRows.__dataclass_fields__)
        return cls(
            **{**picked, "naive": rows.naive and zones <= {0}}, tidy=tidy, together=are_together(grouped),
            seen=all(fact.code != UNOBSERVED for fact in facts), origins=origins, grouped=grouped,
        )  # fmt: skip

    def arranged(self) -> tuple[Rows, Arrangement]:
        """Return the rows, with their direction known, and their arrangement.

        Places from one pass have no step twice, so no clock was set back.
        """
        if self.runs is not None:
            return self, Arrangement(ties=False, set_back=False)
        ties, pieces = False, list[tuple[int, int, int]]()
        if self.in_rows and self.in_place and self.tidy and self.together:
            for some in self.grouped.values():
                back = leaps = 0
                for fact in some:
                    ties |= fact.ties > 0
                    back += fact.back
                    leaps += fact.leaps
                pieces.append((back, leaps, _span(some)))
        elif self.in_rows:
            frame = with_comparisons(self, self._tidied(), "row", stands=False)
            per_piece = frame.group_by(*self.keys).agg(*map(nw.sum, COMPARED))
            for *names, tied, back, leaps in collected(per_piece.select(*self.keys, *COMPARED)):
                ties |= bool(tied)
                pieces.append((int(back), int(leaps), _span(self.grouped.get(self.key(names), []))))
        rising = not any(back for back, _, _ in pieces)
        if not self.in_rows or not rising:
            frame = with_comparisons(self, self._tidied(), "tick", stands=False)
            ((tied,),) = collected(frame.select(nw.col("ties").sum()))
            ties = bool(tied)
        return replace(self, rising=rising), Arrangement(ties, self.naive and looks_set_back(pieces))

    @property
    def are_rounded(self) -> bool:
        """Return whether places are so large that several whole numbers are read as one."""
        if self.frame.collect_schema()["tick"] != nw.Float64():
            return False
        ((largest,),) = collected(self.frame.select(nw.col("tick").abs().max()))
        return largest is not None and bool(largest >= _EXACT)

    def without_ties(self, keep: str) -> Rows:
        """Return the rows with the first or last of equal places."""
        row = {"first": nw.min("row"), "last": nw.max("row")}[keep]
        first_rows = self._tidied().group_by(*self.keys, "tick").agg(row=row).select("row")
        frame = self.frame.join(first_rows, on="row", how="inner")  # type: ignore[arg-type]
        return surveyed(replace(self, frame=settled(frame, ["row"]), in_place=False))

    def steps(self) -> int:
        """Return the number of steps with a row."""
        ((steps,),) = collected(self._tidied().select(*self.keys, "tick").unique().select(nw.len()))
        return int(steps)

    @property
    def stands(self) -> bool:
        """Return whether rows stand piece by piece, each in its order."""
        return self.together and self.rising and self.in_place

    def counts(self, places: range) -> Iterator[tuple[Key, int, int]]:
        """Yield piece, state and number of entries at these places."""
        yield from self._counts(self._inside(places))

    def cells(self, slots: Slots) -> Iterator[tuple[Key, int, int, int]]:
        """Yield piece, cell, state and number of entries in the window."""
        frame = self._inside(slots.window)
        yield from self._counts(frame.with_columns(cell=whole(slots.of(nw.col("place"), choose))), "cell")

    def _counts(self, frame: Frame, *by: str) -> Iterator[Any]:
        """Yield piece, the numbers in other columns, state and number of rows."""
        by_raw = frame.group_by(*self.keys, *by, "raw").agg(rows=nw.len())
        by_code = self.coded(by_raw, "raw").group_by(*self.keys, *by, "code").agg(rows=nw.sum("rows"))
        for values in collected(by_code.select(*self.keys, *by, "code", "rows")):
            yield self.key(values), *map(int, values[len(self.keys) :])

    def observed(self, before: int | None) -> Mapping[Key, tuple[range, ...]]:
        """Return each piece's runs of observed entries, if any."""
        if self.runs is None:
            return runs_by_piece(self._edges(before))
        if before is None:
            return self.runs
        cut = dict[Key, tuple[range, ...]]()
        for key, runs in self.runs.items():
            cut[key] = tuple(filter(None, (range(run.start, min(run.stop, before)) for run in runs)))
        return cut

    def _edges(self, before: int | None) -> Iterator[tuple[Key, int | None, int | None]]:
        """Yield piece, start of a run, and end of another one."""
        frame, unit, origins = self._positioned(before)
        observed_rows = self._observed(frame, "position")
        ends = observed_rows.group_by(*self.keys).agg(last=nw.col("position").max()).select(*self.keys, "last")
        for *names, last in collected(ends):
            key = self.key(names)
            yield key, None, (int(last) - origins.get(key, 0)) // unit
        stands = self.stands and before is None
        neighbours, same = with_row_before(observed_rows, self.keys, "position", ["position"], stands)
        follows = (nw.col("position") - nw.col("position_before") == unit) & same
        neighbours = neighbours.with_columns(
            follows=follows.fill_null(False),
            ended=nw.when(same).then(nw.col("position_before")),
        )
        starts = neighbours.filter(~nw.col("follows")).select(*self.keys, "position", "ended")
        for *names, position, ended in collected(starts):
            key, end = self.key(names), integer(ended)
            origin = origins.get(key, 0)
            if end is not None:
                end = (end - origin) // unit
            yield key, (int(position) - origin) // unit, end

    def entries(self, before: int | None) -> Iterator[tuple[Key, int, int]]:
        """Yield piece, place and state of every row."""
        frame = self.coded(self._placed(before), "raw").select(*self.keys, "place", "code")
        for *key, place, code in collected(frame):
            yield self.key(key), int(place), int(code)

    def transitions(self, period: int) -> Iterator[tuple[int, int, int, int]]:
        """Yield place in the period, two successive states, and their count."""
        frame, unit, _ = self._positioned(None)
        if period > 1:
            frame, unit = self._placed(None).with_columns(position=nw.col("place")), 1
        observed_rows = self._observed(frame, "position", "raw")
        stands = self.stands and period == 1
        pairs, same = with_row_before(observed_rows, self.keys, "position", ["position", "raw"], stands)
        follows = (nw.col("position") - nw.col("position_before") == unit) & same
        pairs = pairs.filter(follows.fill_null(False))
        pairs = pairs.with_columns(phase=nw.col("position_before") % period)
        by_raw = pairs.group_by("phase", "raw_before", "raw").agg(pairs=nw.len())
        coded = self.coded(self.coded(by_raw, "raw_before"), "raw").select("phase", "code_before", "code", "pairs")
        for phase, state, next_state, times in collected(coded):
            yield int(phase), int(state), int(next_state), int(times)

    def _tidied(self) -> Frame:
        """Return the rows with tidy names of units and pieces."""
        if self.tidy:
            return self.frame
        return self.stripped(self.frame, self.text_keys)

    def _observed(self, frame: Frame, *columns: str) -> Frame:
        """Return columns of the rows with a state, and their order, if any."""
        raw = nw.col("raw")
        if "raw" in self.texts:
            raw = text(raw, self.request[0].missing)
        if not self.seen:
            frame = frame.filter(~raw.is_null())
        if self.in_rows:
            columns = (*columns, "row")
        return frame.select(*self.keys, *columns)

    @property
    def _axis(self) -> str:
        """Return the column with positions along a piece."""
        if self.step is None:
            return "row"
        return "tick"

    def _positioned(self, before: int | None) -> tuple[Frame, int, Mapping[Key, int]]:
        """Add each row's position; return its unit and the origins, too."""
        if before is not None or (self.step is None and not self.stands):
            return self._placed(before).with_columns(position=nw.col("place")), 1, {}
        return self._tidied().with_columns(position=nw.col(self._axis)), self.step or 1, self.origins

    def _placed(self, before: int | None) -> Frame:
        """Add each row's place in its piece, without rows cut off."""
        frame = self._tidied()
        if self.step is None and not self.stands:
            frame = with_rank(frame, self.keys)
        else:
            first = nw.min(self._axis)
            if self.start is not None:
                frame = frame.with_columns(start=nw.lit(self.start))
            elif any((None in key) for key in self.origins) and self.request[1].null_keys == "keep":
                frame = frame.with_columns(start=first.over(*self.keys))
            else:  # a join with one row per piece, which finds no missing key
                starts = frame.group_by(*self.keys).agg(start=first)
                frame = frame.join(starts, on=list(self.keys), how="inner")  # type: ignore[arg-type]
            frame = frame.with_columns(place=(nw.col(self._axis) - nw.col("start")) // (self.step or 1))
        return frame if before is None else frame.filter(nw.col("place") < before)

    def _inside(self, places: range) -> Frame:
        """Return the rows at these places."""
        return self._placed(None).filter(nw.col("place") >= places.start, nw.col("place") < places.stop)


def surveyed(rows: PickedRows) -> Rows:
    """Return the rows with the facts of every piece, by state.

    Rows are picked again for an order unclear from its first rows, and for possibly empty rows. Raises DataError for
    times in two forms.
    """
    table, layout, states = rows.request
    facts, tidy, zones = facts_of(rows)
    undecided = max((fact.unplaced for fact in facts), default=0)
    if undecided in (TWICE, FAR):
        return surveyed(picked_rows(table, layout, states, undecided=undecided))
    if rows.guessed and undecided:
        texts = with_order_texts(table.pick({"tick": str(layout.order)}), "tick", table, layout)
        kind = kind_of_texts(texts, str(layout.order))
        return surveyed(picked_rows(table, layout, states, kind, undecided=FAR))
    if len(zones) > 1:
        raise two_ways(str(layout.order))
    if table.without_blank_rows is not None:
        for fact in facts:  # some of these rows may be empty
            if fact.code == UNOBSERVED and fact.key == (None, None) and (fact.unplaced or not rows.in_ticks):
                return surveyed(picked_rows(table.filled, layout, states))
    return Rows.of(rows, facts, tidy, zones)


def _span(facts: Sequence[Fact]) -> int:
    """Return the ticks from a piece's first to last row."""
    low, high = extent(facts)
    return high - low
