"""The one reader of rows: every question is one expression for all engines, and only integers per piece come back."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Self

import narwhals.stable.v2 as nw

from takifugu.data.engines.differences import Frame, collected, settled, with_rank
from takifugu.data.engines.sanitise import text
from takifugu.data.rows.facts import COMPARED, facts_of, with_comparisons, with_row_before
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
    looks_set_back,
    runs_by_piece,
)
from takifugu.data.rows.whole import choose, integer, whole
from takifugu.data.times.cells import Slots
from takifugu.data.values.codes import UNOBSERVED
from takifugu.data.values.texts import two_ways


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
        if rows.start is not None:
            origins = dict.fromkeys(grouped, rows.start)
        for key, some in grouped.items() if rows.start is None else ():
            starts = [fact.low if rows.step is not None else fact.first for fact in some]
            origins[key] = min((start for start in starts if start is not None), default=0)
        picked = {name: vars(rows)[name] for name in PickedRows.__dataclass_fields__}
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
                ties |= any(fact.ties for fact in some)
                pieces.append((sum(f.back for f in some), sum(f.leaps for f in some), _span(some)))
        elif self.in_rows:
            frame = with_comparisons(self, self._tidied(), "row", stands=False)
            per_piece = frame.group_by(*self.keys).agg(*(nw.col(column).sum() for column in COMPARED))
            for *names, tied, back, leaps in collected(per_piece.select(*self.keys, *COMPARED)):
                ties |= bool(tied)
                pieces.append((int(back), int(leaps), _span(self.grouped.get(self.key(names), []))))
        rising = not any(back for back, _, _ in pieces)
        if not self.in_rows or not rising:
            frame = with_comparisons(self, self._tidied(), "tick", stands=False)
            ((tied,),) = collected(frame.select(nw.col("ties").sum()))
            ties = bool(tied)
        return replace(self, rising=rising), Arrangement(ties, self.naive and looks_set_back(pieces))

    def without_ties(self, keep: str) -> Rows:
        """Return the rows with the first or last of equal places."""
        row = nw.col("row").min() if keep == "first" else nw.col("row").max()
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
        by_raw = self._inside(places).group_by(*self.keys, "raw").agg(rows=nw.len())
        by_code = self.coded(by_raw, "raw").group_by(*self.keys, "code").agg(rows=nw.col("rows").sum())
        for *key, code, rows in collected(by_code.select(*self.keys, "code", "rows")):
            yield self.key(key), int(code), int(rows)

    def cells(self, slots: Slots) -> Iterator[tuple[Key, int, int, int]]:
        """Yield piece, cell, state and number of entries in the window."""
        frame = self._inside(slots.window)
        frame = frame.with_columns(cell=whole(slots.of(nw.col("place"), choose)))
        by_raw = frame.group_by(*self.keys, "cell", "raw").agg(rows=nw.len())
        by_code = self.coded(by_raw, "raw").group_by(*self.keys, "cell", "code").agg(rows=nw.col("rows").sum())
        for *key, cell, code, rows in collected(by_code.select(*self.keys, "cell", "code", "rows")):
            yield self.key(key), int(cell), int(code), int(rows)

    def observed(self, before: int | None) -> Mapping[Key, tuple[range, ...]]:
        """Return each piece's runs of observed entries, if any."""
        if self.runs is None:
            return runs_by_piece(self._edges(before))
        if before is None:
            return self.runs
        cut = {key: [range(r.start, min(r.stop, before)) for r in runs] for key, runs in self.runs.items()}
        return {key: tuple(run for run in runs if run) for key, runs in cut.items()}

    def _edges(self, before: int | None) -> Iterator[tuple[Key, int | None, int | None]]:
        """Yield piece, start of a run, and end of another one."""
        frame, unit, origins = self._positioned(before)
        observed_rows = self._observed(frame).select(*self.keys, "position", *(["row"] if self.in_rows else []))
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
            yield key, (int(position) - origin) // unit, None if end is None else (end - origin) // unit

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
        observed_rows = self._observed(frame).select(*self.keys, "position", "raw", *(["row"] if self.in_rows else []))
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
        return self.frame if self.tidy else self.stripped(self.frame, [r for r in self.keys if r in self.texts])

    def _observed(self, frame: Frame) -> Frame:
        if self.seen:
            return frame
        raw = text(nw.col("raw"), self.request[0].missing) if "raw" in self.texts else nw.col("raw")
        return frame.filter(~raw.is_null())

    def _positioned(self, before: int | None) -> tuple[Frame, int, Mapping[Key, int]]:
        """Add each row's position; return its unit and the origins, too."""
        if before is not None or (self.step is None and not self.stands):
            return self._placed(before).with_columns(position=nw.col("place")), 1, {}
        column = "row" if self.step is None else "tick"
        return self._tidied().with_columns(position=nw.col(column)), self.step or 1, self.origins

    def _placed(self, before: int | None) -> Frame:
        """Add each row's place in its piece, without rows cut off."""
        frame = self._tidied()
        if self.step is None and not self.stands:
            frame = with_rank(frame, self.keys, "tick")
        else:
            position = "row" if self.step is None else "tick"
            frame = self._with_start(frame, position)
            frame = frame.with_columns(place=(nw.col(position) - nw.col("start")) // (self.step or 1))
        return frame if before is None else frame.filter(nw.col("place") < before)

    def _inside(self, places: range) -> Frame:
        """Return the rows at these places."""
        return self._placed(None).filter(nw.col("place") >= places.start, nw.col("place") < places.stop)

    def _with_start(self, frame: Frame, position: str) -> Frame:
        """Add the piece's first position.

        A join does so, with one row per piece, unless a key is missing.
        """
        if self.start is not None:
            return frame.with_columns(start=nw.lit(self.start))
        if any((None in key) for key in self.origins) and self.request[1].null_keys == "keep":
            return frame.with_columns(start=nw.col(position).min().over(*self.keys))
        starts = frame.group_by(*self.keys).agg(start=nw.col(position).min())
        return frame.join(starts, on=list(self.keys), how="inner")  # type: ignore[arg-type]


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
    if rows.guessed and any(fact.unplaced for fact in facts):
        texts = with_order_texts(table.pick({"tick": str(layout.order)}), "tick", table, layout)
        kind = kind_of_texts(texts, str(layout.order))
        return surveyed(picked_rows(table, layout, states, kind, undecided=FAR))
    if len(zones) > 1:
        raise two_ways(str(layout.order))
    if table.without_blank_rows is not None and any(_is_blank(fact, rows) for fact in facts):
        return surveyed(picked_rows(table.filled, layout, states))
    return Rows.of(rows, facts, tidy, zones)


def _is_blank(fact: Fact, rows: PickedRows) -> bool:
    """Return whether some of these rows may be empty."""
    nameless = all(part is None for part in fact.key)
    return fact.code == UNOBSERVED and nameless and (bool(fact.unplaced) or not rows.in_ticks)


def _span(facts: Sequence[Fact]) -> int:
    """Return the ticks from a piece's first to last row."""
    low, high = [f.low for f in facts if f.low is not None], [f.high for f in facts if f.high is not None]
    return max(high, default=0) - min(low, default=0)
