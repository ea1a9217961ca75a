"""Rows of Parquet files, surveyed in one pass: their bounds are stored, so each step can be a bit from the start on.

A piece has each of its steps at most once if it has as many bits as rows, which no chance enters. What is not as plain
as that is left to the careful reading.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from takifugu.data.engines.differences import collected, is_duckdb, wrapped
from takifugu.data.engines.sanitise import is_text, kind_of
from takifugu.data.engines.sql import identifier
from takifugu.data.engines.table import Table
from takifugu.data.rows.at_once import FARTHEST, MOST_BITS, NotPlain, RowsAtOnce
from takifugu.data.rows.in_engine import engine_rows
from takifugu.data.rows.layout import Layout, Recode
from takifugu.data.rows.order import with_ticks
from takifugu.data.rows.pieces import Fact, Key
from takifugu.data.times.clock import Clock
from takifugu.data.values.codes import UNOBSERVED

if TYPE_CHECKING:
    import narwhals as nw

#: How many rows say how many pieces and states there are to expect.
SAMPLED = 4096
#: No more bytes are taken where there are more of them.
MOST_BYTES = 300_000_000
#: Texts of more bytes are left to the careful reading, which refuses those that are too long to be names or states.
SHORT = 256


def rows_in_bits(table: Table, layout: Layout, states: Recode) -> RowsInBits | None:
    """Return the rows of a table whose steps fit into few enough bits, or None."""
    within = table.within
    if within is None or not is_duckdb(table.frame) or layout.order is None or layout.step is None:
        return None
    if layout.clock != Clock():
        return None
    kind = kind_of(table.pick({"tick": layout.order}), "tick", layout.order)
    if is_text(kind):
        return None
    if states.bins is None and layout.null_keys != "drop":
        table = _with_short_texts(table, [layout.unit, layout.piece, layout.value])
    rows = engine_rows(replace(table, ordered=False), layout, states)
    if rows.step is None or not rows.in_place:
        return None
    ticks = _bounds(table, layout.order, layout.step, kind)
    if ticks is None or max(map(abs, ticks)) >= FARTHEST:
        return None
    low, high = ticks
    size = (high - low) // rows.step + 1
    native = rows.frame.to_native()
    by_raw = ", ".join(map(identifier, (*rows.keys, "raw")))
    ((number,),) = table.frame.to_native().aggregate("count(*)").fetchall()
    ((groups,),) = native.limit(SAMPLED).aggregate(by_raw, by_raw).aggregate("count(*)").fetchall()
    if -(-number // SAMPLED) * groups * size > MOST_BITS:
        return None
    at_once = (rows.frame, rows.keys, rows.texts, rows.request, rows.step, False, rows.naive)
    return RowsInBits(*at_once, low=low, size=size, within=within)


def _with_short_texts(table: Table, columns: Iterable[str | None]) -> Table:
    """Return the table with longer texts cut to a length that tells them, so that they need not be looked at before."""
    table.require([column for column in columns if column is not None])
    label_of, schema = dict(zip(table.names, table.labels, strict=True)), table.frame.collect_schema()
    labels = {label_of[column] for column in columns if column is not None}
    cut = [
        f"substring({identifier(label)}, 1, {SHORT + 1}) as {identifier(label)}"
        for label in sorted(labels)
        if is_text(schema[label])
    ]
    native = table.frame.to_native()
    frame = wrapped(native.project(f"* replace ({', '.join(cut)})") if cut else native)
    return replace(table, frame=frame, check_texts=None)


def _bounds(table: Table, order: str, step: int | float | str, kind: nw.dtypes.DType) -> tuple[int, int] | None:
    """Return the least and the largest tick, which DuckDB knows without reading rows; None where there is none."""
    label = dict(zip(table.names, table.labels, strict=True))[order]
    ends = table.frame.to_native().aggregate(f"min({identifier(label)}) as low, max({identifier(label)}) as high")
    ends = replace(
        table, frame=wrapped(ends.project(f"unnest([low, high]) as {label}")), names=(order,), labels=(label,)
    )
    frame, _, _ = with_ticks(ends.pick({"tick": order}), order, step, kind, False)
    ticks = [tick for (tick,) in collected(frame.select("tick"))]
    return None if None in ticks else (int(min(ticks)), int(max(ticks)))


@dataclass(frozen=True)
class _Seen:
    """What was seen of a piece: its states, with how many rows each has, and a bit for each step of the table.

    The piece's rows all lie at one `offset` from the table's steps.
    """

    rows: list[tuple[int, int]]
    offset: int
    bits: int
    size: int

    @property
    def number(self) -> int:
        """Return how many rows there are."""
        return sum(rows for _, rows in self.rows)

    def ends(self) -> tuple[int, int]:
        """Return the first and the last step, counted from the first of the table."""
        return self.size - self.bits.bit_length(), self.size - (self.bits & -self.bits).bit_length()

    def runs(self, start: int) -> tuple[range, ...]:
        """Return the runs of steps, where the first of the table is the place `start`."""
        first, last = self.ends()
        if last - first + 1 == self.number:
            return (range(start + first, start + last + 1),)
        size = self.size + 1
        changes = (self.bits ^ self.bits << 1).to_bytes(-(-size // 8))
        padding = -size % 8
        edges = np.flatnonzero(np.unpackbits(np.frombuffer(changes, dtype=np.uint8)).view(bool)) + (start - padding)
        return tuple(map(range, edges[::2].tolist(), edges[1::2].tolist()))


@dataclass(frozen=True)
class RowsInBits(RowsAtOnce):
    """Rows whose first tick is `low`, and that span `size` steps."""

    low: int = 0
    size: int = 0
    within: Callable[[int], AbstractContextManager[None]] = field(default=lambda _: nullcontext(), repr=False)

    def surveyed(self) -> tuple[RowsInBits, dict[Key, list[Fact]]]:
        """Return the facts; raises NotPlain where rows tie, have no step, no state or no name."""
        seen, tidy = self._seen()
        facts = [fact for key, one in seen.items() for fact in self._facts_of(key, one)]
        known, grouped = self._knowing(facts, tidy, set())
        return replace(known, runs=known._runs(seen)), grouped

    def _seen(self) -> tuple[dict[Key, _Seen], bool]:
        """Return what is seen of each piece, and whether no key has blanks to strip."""
        seen, tidy = dict[Key, _Seen](), True
        for *names, rows, changed, longest, least, most, bits in self._by_key():
            nameless = self.keys != ("all",) and None in names
            if nameless or longest > SHORT or bits is None or least != most:
                raise NotPlain("some rows have no name, no step of the piece, or long texts")
            one = _Seen(rows, least, int.from_bytes(bits), self.size)
            if one.bits.bit_count() != one.number or any(code == UNOBSERVED for code, _ in rows):
                raise NotPlain("two rows have one step, or a row has none, or no state")
            seen[self._key(names)] = one
            tidy &= not changed
        if not seen:
            raise NotPlain("there are no rows")
        return seen, tidy

    def _by_key(self) -> list[tuple[Any, ...]]:
        """Return for each piece: its rows' states and numbers, where between two steps they lie, and their bits."""
        import duckdb

        names, step = ", ".join(map(identifier, self.keys)), self.step or 1
        lengths = [f"coalesce(strlen({identifier(role)}), 0)" for role in sorted(self.texts)]
        numbers = f"count(*) as rows, greatest({', '.join(['0', *lengths])}) as length"
        native, least, most = self.frame.to_native(), "0", "0"
        seen = f"bitstring_agg(tick, {self.low}, {self.low + self.size - 1}) as seen"
        if step != 1:  # in stages, or DuckDB would divide more than once
            native = native.project(f"*, tick - {self.low} as since").project(f"*, since // {step} as place")
            native = native.project(f"*, since - place * {step} as rest")
            least, most, seen = "min(rest)", "max(rest)", f"bitstring_agg(place, 0, {self.size - 1}) as seen"
        by_raw = native.aggregate(f"{names}, raw, {numbers}, {least} as least, {most} as most, {seen}", f"{names}, raw")
        together = "list([code, rows]), max(changed), max(length), min(least), max(most), bit_or(seen)::blob"
        try:
            with self.within(MOST_BYTES):
                recoded = self._recoded(wrapped(by_raw)).to_native()
                rows: list[tuple[Any, ...]] = recoded.aggregate(f"{names}, {together}", names).fetchall()
        except (duckdb.OutOfMemoryException, duckdb.OutOfRangeException):
            raise NotPlain("there are too many pieces, or other bounds than are stored") from None
        return rows

    def _runs(self, seen: Mapping[Key, _Seen]) -> dict[Key, tuple[range, ...]]:
        """Return the places that each piece has, in runs: those of pieces that lack the same steps only once."""
        runs, alike = dict[Key, tuple[range, ...]](), dict[tuple[int, int], tuple[range, ...]]()
        for key, one in seen.items():
            start = (self.low + one.offset - self.origins[key]) // (self.step or 1)
            if (start, one.bits) not in alike:
                alike[start, one.bits] = one.runs(start)
            runs[key] = alike[start, one.bits]
        return runs

    def _facts_of(self, key: Key, one: _Seen) -> list[Fact]:
        start, step = self.low + one.offset, self.step or 1
        low, high = (start + step * place for place in one.ends())
        offsets = (low % step, low % step)
        return [Fact(key, code, rows, 0, low, high, offsets, None, None) for code, rows in one.rows]
