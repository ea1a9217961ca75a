"""Rows that an engine holds: every question is one expression for all engines; only integers per piece come back."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import reduce
from operator import and_

import narwhals.stable.v2 as nw

from takifugu.frames.engines import (
    Frame,
    alike,
    collected,
    numbered,
    settled,
    with_neighbour,
    with_rank,
    with_row_before,
)
from takifugu.frames.layout import Layout, Recode, text_of
from takifugu.frames.order import with_ticks
from takifugu.frames.rows import Fact, Key
from takifugu.frames.sanitise import key_name, kind_of, raw_state, state_code
from takifugu.frames.table import Table


def engine_rows(table: Table, layout: Layout, states: Recode) -> EngineRows:
    """Pick the columns, clean them, and give every row its tick and its number; reads no row unless it must.

    Raises InputError for a column that is not there, DataError for one whose values are of no use.
    """
    named = {"unit": layout.unit, "piece": layout.piece, "tick": layout.order, "raw": layout.value}
    roles = {role: column for role, column in named.items() if column is not None}
    frame = table.pick(roles)
    kinds = {role: kind_of(frame, role, column) for role, column in roles.items()}
    keys: tuple[str, ...] = tuple(role for role in ("unit", "piece") if role in roles)
    clean = {role: key_name(role, roles[role], kinds[role], table.missing) for role in keys}
    frame = frame.with_columns(**clean, raw=raw_state("raw", layout.value, kinds["raw"], table.missing))
    if layout.null_keys == "drop" and keys:
        frame = frame.filter(*(~nw.col(role).is_null() for role in keys))
    if not keys:
        keys, frame = ("all",), frame.with_columns(all=nw.lit(0))
    step, exact = None, ["row"]
    if layout.order is not None:
        frame, step, whole = with_ticks(frame, layout.order, layout.step, table.missing)
        exact += ["tick"] if whole else []
    if table.ordered:
        frame = numbered(frame)
    return EngineRows(settled(frame, exact), keys, states.codes, table.ordered, layout.order is not None, step)


@dataclass(frozen=True)
class EngineRows:
    """A frame with the columns of `keys`, `raw` (the state), `tick` if there is an order, `row` if rows have one."""

    frame: Frame
    keys: tuple[str, ...]
    codes: Mapping[str, int]
    in_rows: bool
    in_ticks: bool
    step: int | None

    def facts(self) -> Iterator[Fact]:
        """Group by the raw state first, so that only the few different ones are recoded."""
        frame, first, then = self.frame, {"rows": nw.len()}, {"rows": nw.col("rows").sum()}
        if self.in_ticks:
            frame = frame.with_columns(unplaced=nw.col("tick").is_null().cast(nw.Int64))
            first["unplaced"], then["unplaced"] = nw.col("unplaced").sum(), nw.col("unplaced").sum()
        bounds = []
        if self.step is not None:
            frame = frame.with_columns(offset=nw.col("tick") % self.step)
            bounds += ["tick", "offset"]
        bounds += ["row"] if self.in_rows else []
        for column in bounds:
            low, high = f"{column}_low", f"{column}_high"
            first |= {low: nw.col(column).min(), high: nw.col(column).max()}
            then |= {low: nw.col(low).min(), high: nw.col(high).max()}
        by_raw = frame.group_by(*self.keys, "raw").agg(**first)
        by_code = self._coded(by_raw, "raw").group_by(*self.keys, "code").agg(**then)
        names = [*self.keys, "code", *then]
        for values in collected(by_code.select(*names)):
            row = dict(zip(names, values, strict=True))
            whole = {name: _whole(row.get(name)) for name in names[len(self.keys) :]}
            offsets = whole.get("offset_low"), whole.get("offset_high")
            yield Fact(
                key=self._key(values), code=int(row["code"]), rows=int(row["rows"]),
                unplaced=whole.get("unplaced") or 0, low=whole.get("tick_low"), high=whole.get("tick_high"),
                offsets=None if offsets[0] is None or offsets[1] is None else (offsets[0], offsets[1]),
                first=whole.get("row_low"), last=whole.get("row_high"),
            )  # fmt: skip

    def misorder(self, together: bool) -> tuple[bool, bool]:
        tick, above = nw.col("tick"), nw.col("tick_before")
        frame = self.frame.select(*self.keys, "tick", *(["row"] if self.in_rows else []))
        same = nw.lit(True)
        if self.in_rows and together:
            frame = with_row_before(frame, [*self.keys, "tick"])
            same = reduce(and_, (alike(key, f"{key}_before") for key in self.keys))
        else:
            frame = with_neighbour(frame, self.keys, "row" if self.in_rows else "tick", ["tick"], 1)
        frame = frame.select(
            ties=((tick == above) & same).fill_null(False).cast(nw.Int64),
            back=((tick < above) & same).fill_null(False).cast(nw.Int64),
        )
        ((ties, back),) = collected(frame.select(nw.col("ties").sum(), nw.col("back").sum()))
        return bool(ties), bool(back)

    def counts(self, before: int | None, weights: Mapping[range, int] | None) -> Iterator[tuple[Key, int, int]]:
        frame = self._placed(before)
        weight = nw.lit(1) if weights is None else nw.lit(0)
        for places, each in (weights or {}).items():
            inside = (nw.col("place") >= places.start) & (nw.col("place") < places.stop)
            weight = nw.when(inside).then(nw.lit(each)).otherwise(weight)
        frame = frame.with_columns(weight=weight.cast(nw.Int64))
        by_raw = frame.group_by(*self.keys, "raw").agg(sum=nw.col("weight").sum())
        by_code = self._coded(by_raw, "raw").group_by(*self.keys, "code").agg(sum=nw.col("sum").sum())
        for *key, code, total in collected(by_code.select(*self.keys, "code", "sum")):
            yield self._key(key), int(code), int(total)

    def edges(self, before: int | None) -> Iterator[tuple[Key, int, bool, bool]]:
        seen = self._placed(before).filter(~nw.col("raw").is_null()).select(*self.keys, "place")
        both = with_neighbour(with_neighbour(seen, self.keys, "place", ["place"], 1), self.keys, "place", ["place"], -1)
        place = nw.col("place")
        marked = both.with_columns(
            starts=(place - nw.col("place_before") != 1).fill_null(True),
            ends=(nw.col("place_after") - place != 1).fill_null(True),
        )
        marked = marked.filter(nw.col("starts") | nw.col("ends")).select(*self.keys, "place", "starts", "ends")
        for *key, number, starts, ends in collected(marked):
            yield self._key(key), int(number), bool(starts), bool(ends)

    def entries(self, before: int | None) -> Iterator[tuple[Key, int, int]]:
        frame = self._coded(self._placed(before), "raw").select(*self.keys, "place", "code")
        for *key, place, code in collected(frame):
            yield self._key(key), int(place), int(code)

    def transitions(self, before: int | None) -> Iterator[tuple[int, int, int]]:
        seen = self._placed(before).filter(~nw.col("raw").is_null()).select(*self.keys, "place", "raw")
        pairs = with_neighbour(seen, self.keys, "place", ["place", "raw"], 1)
        pairs = pairs.filter(nw.col("place") - nw.col("place_before") == 1)
        by_raw = pairs.group_by("raw_before", "raw").agg(pairs=nw.len())
        coded = self._coded(self._coded(by_raw, "raw_before"), "raw").select("code_before", "code", "pairs")
        for one, other, times in collected(coded):
            yield int(one), int(other), int(times)

    def _key(self, values: Sequence[object]) -> Key:
        named = {role: text_of(value) for role, value in zip(self.keys, values, strict=False)}
        return named.get("unit"), named.get("piece")

    def _coded(self, frame: Frame, role: str) -> Frame:
        kind = frame.collect_schema()[role]
        return frame.with_columns(state_code(role, kind, self.codes).alias(role.replace("raw", "code")))

    def _placed(self, before: int | None) -> Frame:
        """Add each row's place in its piece, and leave out the rows that are cut off."""
        if self.step is not None:
            start = nw.col("tick").min().over(*self.keys)
            frame = self.frame.with_columns(place=(nw.col("tick") - start) // self.step)
        elif self.in_ticks:
            frame = with_rank(self.frame, self.keys, "tick")
        else:
            frame = self.frame.with_columns(place=nw.col("row") - nw.col("row").min().over(*self.keys))
        return frame if before is None else frame.filter(nw.col("place") < before)


def _whole(value: object) -> int | None:
    text = text_of(value)
    return None if text is None else int(text)
