"""Rows of DuckDB, surveyed in one pass that needs no order of the rows and no memory for them.

A piece has each of its steps once, written as DuckDB writes it, if it has as many rows as steps, and the exclusive or
of its rows' hashes is that of the whole run: what is there an even number of times leaves no trace, and with random
keys any other rows have that hash with a probability of about 2**-64. Steps that are missing are read off one bit for
each. What is not as plain as that is left to the careful reading, which also says what is wrong.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field, replace
from fractions import Fraction
from itertools import accumulate, pairwise
from operator import xor

import narwhals.stable.v2 as nw
import numpy as np

from takifugu.core.errors import DataError
from takifugu.data.engines.differences import collected, is_duckdb, wrapped
from takifugu.data.engines.sanitise import is_text, kind_of
from takifugu.data.engines.sql import identifier
from takifugu.data.engines.table import Table
from takifugu.data.rows.in_engine import GUESSED_FROM, EngineRows, engine_rows, order_text
from takifugu.data.rows.layout import Layout, Recode, parse_step
from takifugu.data.rows.order import kind_of_texts
from takifugu.data.rows.pieces import Arrangement, Fact, Key, runs_of
from takifugu.data.times.clock import Clock
from takifugu.data.values.codes import UNOBSERVED
from takifugu.numbers.noise.entropy import SystemEntropy

#: One bit for each step of each piece: at most 64 MB of them.
MOST_BITS = 2**29
#: More pieces do not fit into one query, and ticks farther from 0 not into its integers.
MOST_PIECES, FARTHEST = 100_000, 2**62
#: DuckDB holds this many steps in one list while it hashes whole runs.
STEPS_IN_A_LIST = 2048
#: It makes as many such lists side by side.
AT_A_TIME = 4
INTEGER = re.compile(r"\s*[+-]?\d+\s*")


class NotPlain(DataError):
    """Rows that need the careful reading: nothing may be wrong with them."""


def _random_key() -> int:
    return int.from_bytes(SystemEntropy().bytes(8), "big") >> 1


@dataclass(frozen=True)
class Hash:
    """A hash of a row's tick and of the text that it was read from, with random keys.

    `text` is DuckDB's way to write a tick as a text; None where ticks are read from no texts.
    """

    text: str | None
    key: int = field(default_factory=_random_key, repr=False)
    key_of_texts: int = field(default_factory=_random_key, repr=False)

    def of(self, text: str | None) -> str:
        """Return the hash of `tick` and of an expression of its text."""
        of_tick = f"hash(xor(tick, {self.key}))"
        return of_tick if text is None else f"xor({of_tick}, hash(xor(hash({text}), {self.key_of_texts}::ubigint)))"


def rows_at_once(table: Table, layout: Layout, states: Recode) -> RowsAtOnce | None:
    """Return the rows of a table, or None where one pass cannot tell whether they are complete."""
    if table.in_python or not is_duckdb(table.frame) or layout.order is None or layout.step is None:
        return None
    if layout.clock != Clock() or any(INTEGER.fullmatch(text) for text in table.missing):
        return None
    plain = _with_plain_order(table, layout)
    if plain is None:
        return None
    table, text_of_tick, texts = plain
    rows = engine_rows(replace(table, ordered=False), layout, states, extra=texts)
    if rows.step is None or rows.step * STEPS_IN_A_LIST * AT_A_TIME >= FARTHEST or not rows.in_place:
        return None
    at_once = (rows.frame, rows.keys, rows.texts, rows.request, rows.step, False, rows.naive)
    return RowsAtOnce(*at_once, hash=Hash(text_of_tick))


def _with_plain_order(table: Table, layout: Layout) -> tuple[Table, str | None, dict[str, str]] | None:
    """Return the table with its order column as numbers or times, how DuckDB writes a tick, and where the texts are.

    Returns None for texts that DuckDB would write otherwise, as far as the first rows tell.
    """
    order = str(layout.order)
    if not is_text(kind_of(table.pick({"tick": order}), "tick", order)):
        return table, None, {}
    first_rows = table.pick({"tick": order}).with_columns(tick=order_text(table, layout)).head(GUESSED_FROM)
    kind, step = kind_of_texts(first_rows, order), parse_step(layout.step)
    if kind == nw.Int64() and isinstance(step, Fraction) and step.denominator == 1:
        sql_type, text_of_tick = "bigint", "tick::varchar"
    elif kind == nw.Datetime("us"):
        sql_type, text_of_tick = "timestamp", "make_timestamp(tick)::varchar"
    else:
        return None
    labels = dict(zip(table.names, table.labels, strict=True))
    text = identifier(labels[order])
    typed = f"typed_{len(table.labels)}"  # a column, or DuckDB would convert each text twice
    native = table.frame.to_native().project(f"*, try_cast({text} as {sql_type}) as {typed}")
    is_plain = f"coalesce({typed}::varchar = {text}, false)"
    ((all_plain,),) = native.limit(GUESSED_FROM).aggregate(f"bool_and({is_plain})").fetchall()
    if not all_plain:
        return None
    texts = f"{order} "  # the name of no other column: names have no blanks at their ends
    while texts in table.names:
        texts += " "
    labels |= {order: typed, texts: labels[order]}
    frame, names = wrapped(native), (*table.names, texts)
    table = replace(table, frame=frame, names=names, labels=tuple(labels[n] for n in names), without_blank_rows=None)
    return table, text_of_tick, {"text": texts}


@dataclass(frozen=True)
class _Piece:
    """What one pass tells of a piece: the rows of each state, the ticks from the first to the last, and the hash."""

    rows: list[tuple[int, int]]
    span: range
    hashed: int

    @property
    def number(self) -> int:
        """Return how many rows there are."""
        return sum(rows for _, rows in self.rows)

    def facts(self, key: Key) -> list[Fact]:
        offset = self.span.start % self.span.step
        low, high = self.span.start, self.span[-1]
        return [Fact(key, code, rows, 0, low, high, (offset, offset), None, None) for code, rows in self.rows]


@dataclass(frozen=True)
class RowsAtOnce(EngineRows):
    """Rows with a `hash`, and with the column `text` where ticks were read from texts.

    `runs` are the places that each piece has.
    """

    hash: Hash = field(default_factory=lambda: Hash(None))
    runs: Mapping[Key, tuple[range, ...]] = field(default_factory=dict, repr=False)

    def surveyed(self) -> tuple[RowsAtOnce, dict[Key, list[Fact]]]:
        """Return the facts; raises NotPlain where rows tie, have no step, no state or no name."""
        pieces, tidy = self._pieces()
        far = max((max(abs(p.span.start), abs(p.span.stop)) for p in pieces.values()), default=FARTHEST)
        if far >= FARTHEST or len(pieces) > MOST_PIECES:
            raise NotPlain("there are no rows, too many pieces, or ticks that are too large")
        known, grouped = self._knowing([fact for key, p in pieces.items() for fact in p.facts(key)], tidy, set())
        runs: dict[Key, tuple[range, ...]]
        if all(piece.number == len(piece.span) for piece in pieces.values()):
            whole = known._hashes_of({piece.span for piece in pieces.values()})
            if any(piece.hashed != whole[piece.span] for piece in pieces.values()):
                raise NotPlain("two rows have one step, a row has none, or its text is not DuckDB's")
            runs = {key: (known._places(key, p.span.start, len(p.span)),) for key, p in pieces.items()}
        else:
            runs = known._observed_runs(pieces)
        return replace(known, runs=runs), grouped

    def _pieces(self) -> tuple[dict[Key, _Piece], bool]:
        """Return what one pass tells of each piece, and whether no key has blanks to strip."""
        names = ", ".join(map(identifier, self.keys))
        hashed = self.hash.of(None if self.hash.text is None else "text")
        numbers = f"count(*) as rows, min(tick) as low, max(tick) as high, bit_xor({hashed}) as hashed"
        by_raw = self.frame.to_native().aggregate(f"{names}, raw, {numbers}", f"{names}, raw")
        recoded = self._recoded(wrapped(by_raw)).to_native()
        together = "list([code, rows]), max(changed), min(low), max(high), bit_xor(hashed)"
        pieces, tidy = dict[Key, _Piece](), True
        by_key = wrapped(recoded.aggregate(f"{names}, {together}", names))
        for *values, rows, changed, low, high, hashed in collected(by_key):
            key = self._key(values)
            nameless = any(key[("unit", "piece").index(role)] is None for role in self.keys if role != "all")
            if nameless or low is None or any(code == UNOBSERVED for code, _ in rows):
                raise NotPlain("some rows have no place, no state or no name")
            pieces[key] = _Piece(rows, range(low, high + 1, self.step or 1), hashed)
            tidy &= not changed
        return pieces, tidy

    def arranged(self) -> tuple[EngineRows, Arrangement]:
        """Return the rows, and that none tie: no step occurs twice, so no clock was set back."""
        return self, Arrangement(ties=False, set_back=False)

    def observed(self, before: int | None) -> Mapping[Key, tuple[range, ...]]:
        """Return the runs of observed entries of every piece, of the places below `before`."""
        if before is None:
            return self.runs
        cut = {key: [range(r.start, min(r.stop, before)) for r in runs] for key, runs in self.runs.items()}
        return {key: tuple(run for run in runs if run) for key, runs in cut.items()}

    def _places(self, key: Key, tick: int, size: int) -> range:
        """Return the places of so many steps of a piece, from that of a tick on."""
        first = (tick - self.origins[key]) // (self.step or 1)
        return range(first, first + size)

    def _hashes_of(self, spans: Collection[range]) -> dict[range, int]:
        """Return the hash of each run of ticks, from the parts between all their ends: no tick is hashed twice."""
        step = self.step or 1
        opened, closed = Counter(span.start for span in spans), Counter(span[-1] + step for span in spans)
        ends = sorted({*opened, *closed}, key=lambda end: (end % step, end))
        are_open = accumulate(opened[end] - closed[end] for end in ends)
        parts = [part for part, number in zip(pairwise(ends), are_open, strict=False) if number]
        # Texts: DuckDB takes long to read thousands of numbers in a query.
        texts = (" ".join(map(str, column)) for column in zip(*parts, strict=True))
        starts, stops = (f"unnest(string_split('{text}', ' '))::bigint" for text in texts)
        stride, queries = STEPS_IN_A_LIST * step, []
        for first in range(0, AT_A_TIME * stride, stride):
            lists = f"select start, stop, unnest(range(start + {first}, stop, {AT_A_TIME * stride})) as low from parts"
            ticks = f"select start, unnest(range(low, least(low + {stride}, stop), {step})) as tick from ({lists})"
            queries.append(f"select start, {self.hash.of(self.hash.text)} as hash from ({ticks})")
        query = f"with parts as materialized (select {starts} as start, {stops} as stop) "
        query += f"select start, bit_xor(hash) from ({' union all '.join(queries)}) group by start"
        hashes = dict(self.frame.to_native().query("rows_at_once", query).fetchall())
        up_to = dict(zip(ends, accumulate((hashes.get(end, 0) for end in ends[:-1]), xor, initial=0), strict=True))
        return {span: up_to[span[-1] + step] ^ up_to[span.start] for span in spans}

    def _observed_runs(self, pieces: Mapping[Key, _Piece]) -> dict[Key, tuple[range, ...]]:
        """Return the places that each piece has, in runs, from one bit for each step between the first and the last.

        Raises NotPlain where two rows have one step, a text is not DuckDB's, or that would be too many bits.
        """
        spans = [piece.span for piece in pieces.values()]
        low, high, step = min(s.start for s in spans), max(s.stop for s in spans), self.step or 1
        size = -(-(high - low) // step)
        if size * len(spans) > MOST_BITS:
            raise NotPlain("the pieces lie too far apart")
        names = ", ".join(map(identifier, self.keys))
        bits = "0, 0" if step == 1 else f"min((tick - {low}) % {step}), max((tick - {low}) % {step})"
        bits += f", bitstring_agg((tick - {low}) // {step}, 0, {size - 1})::blob"
        as_written = "true" if self.hash.text is None else f"bool_and(coalesce(text = {self.hash.text}, false))"
        runs: dict[Key, tuple[range, ...]] = {}
        tidied = self._tidied().to_native()
        for *values, plain, least, most, seen in tidied.aggregate(f"{names}, {as_written}, {bits}", names).fetchall():
            key = self._key(values)
            places = np.unpackbits(np.frombuffer(seen, dtype=np.uint8))[-size:].view(bool)
            if not plain or least != most or places.sum() != pieces[key].number:
                raise NotPlain("two rows have one step, a row has none, or its text is not DuckDB's")
            runs[key] = runs_of(places, self._places(key, low + least, size).start)
        return runs
