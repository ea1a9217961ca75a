"""Rows of DuckDB, surveyed in one pass that needs no order of the rows and no memory for them.

A piece has each of its steps once if it has as many rows as steps, and the sum of its steps' hashes is that of the
whole run: with a random key, any other rows have that sum with a probability of about 2**-64. Steps that are missing
are read off one bit for each. What is not as plain as that is left to the careful reading, which also says what is
wrong.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

import narwhals.stable.v2 as nw
import numpy as np

from takifugu.core.errors import DataError
from takifugu.data.engines.differences import Frame, is_duckdb, wrapped
from takifugu.data.engines.sanitise import is_text, kind_of
from takifugu.data.engines.sql import identifier
from takifugu.data.engines.table import Table
from takifugu.data.rows.in_engine import GUESSED_FROM, EngineRows, engine_rows, order_text
from takifugu.data.rows.layout import Layout, Recode
from takifugu.data.rows.order import kind_of_texts
from takifugu.data.rows.pieces import Arrangement, Fact, Key, runs_of
from takifugu.data.times.clock import Clock
from takifugu.data.values.codes import UNOBSERVED
from takifugu.numbers.noise.entropy import SystemEntropy

#: One bit for each step of each piece: at most 64 MB of them.
MOST_BITS = 2**29
#: More pieces do not fit into one query, and ticks farther from 0 not into its integers.
MOST_PIECES, FARTHEST = 100_000, 2**62
#: How DuckDB writes what the texts of an order column hold; other ways to write it are left to the careful reading.
WRITTEN_BY_DUCKDB = {nw.Int64(): "bigint", nw.Datetime("us"): "timestamp"}
INTEGER = re.compile(r"\s*[+-]?\d+\s*")


class NotPlain(DataError):
    """Rows that need the careful reading: nothing may be wrong with them."""


def rows_at_once(table: Table, layout: Layout, states: Recode) -> RowsAtOnce | None:
    """Return the rows of a table, or None where one pass cannot tell whether they are complete."""
    if table.in_python or not is_duckdb(table.frame) or layout.order is None or layout.step is None:
        return None
    if layout.clock != Clock() or any(INTEGER.fullmatch(text) for text in table.missing):
        return None
    plain = _with_plain_order(table, layout)
    if plain is None:
        return None
    rows = engine_rows(replace(plain, ordered=False), layout, states)
    if rows.step is None or not rows.in_place:
        return None
    key = int.from_bytes(SystemEntropy().bytes(8), "big") >> 1
    hashed = rows.frame.to_native().project(f"*, hash(xor(tick, {key})) as hashed")
    return RowsAtOnce(wrapped(hashed), rows.keys, rows.texts, rows.request, rows.step, False, rows.naive, key=key)


def _with_plain_order(table: Table, layout: Layout) -> Table | None:
    """Return the table with its order column as numbers or times, null where DuckDB would write one otherwise."""
    order = {"tick": str(layout.order)}
    if not is_text(kind_of(table.pick(order), "tick", str(layout.order))):
        return table
    texts = table.pick(order).with_columns(tick=order_text(table, layout)).head(GUESSED_FROM)
    kind = WRITTEN_BY_DUCKDB.get(kind_of_texts(texts, str(layout.order)))
    if kind is None:
        return None
    label = identifier(dict(zip(table.names, table.labels, strict=True))[str(layout.order)])
    value = f"typed_{len(table.labels)}"  # a column, or DuckDB would convert each text twice
    native = table.frame.to_native().project(f"*, try_cast({label} as {kind}) as {value}")
    is_plain = f"coalesce({value}::varchar = {label}, false)"
    ((all_plain,),) = native.limit(GUESSED_FROM).aggregate(f"bool_and({is_plain})").fetchall()
    if not all_plain:
        return None
    typed = native.project(
        f"* exclude ({value}) replace (case when {value}::varchar = {label} then {value} end as {label})"
    )
    return replace(table, frame=wrapped(typed), without_blank_rows=None)


@dataclass(frozen=True)
class RowsAtOnce(EngineRows):
    """Rows with the column `hashed`, each tick's hash with the `key`; `runs` are the places that each piece has."""

    key: int = field(default=0, repr=False)
    runs: Mapping[Key, tuple[range, ...]] = field(default_factory=dict, repr=False)

    def surveyed(self) -> tuple[RowsAtOnce, dict[Key, list[Fact]]]:
        """Return the facts; raises NotPlain where rows tie, have no step, no state or no name."""
        known, grouped = super().surveyed()
        assert isinstance(known, RowsAtOnce)
        assert known.step is not None
        for key, facts in grouped.items():
            nameless = any(key[0 if role == "unit" else 1] is None for role in self.keys if role != "all")
            if nameless or any(fact.low is None or fact.code == UNOBSERVED for fact in facts):
                raise NotPlain("some rows have no place, no state or no name")
        spans = {key: _span(facts, known.step) for key, facts in grouped.items()}
        far = max((max(abs(span.start), abs(span.stop)) for span in spans.values()), default=FARTHEST)
        if far >= FARTHEST or len(spans) > MOST_PIECES:
            raise NotPlain("there are no rows, too many pieces, or ticks that are too large")
        runs: dict[Key, tuple[range, ...]]
        if all(sum(fact.rows for fact in facts) == len(spans[key]) for key, facts in grouped.items()):
            known._check_complete(grouped, spans)
            runs = {key: (known._places(key, span.start, len(span)),) for key, span in spans.items()}
        else:
            runs = known._observed_runs(grouped, spans)
        for key, facts in grouped.items():
            offset = spans[key].start % known.step
            grouped[key] = [replace(fact, offsets=(offset, offset)) for fact in facts]
        return replace(known, runs=runs), grouped

    def arranged(self) -> tuple[EngineRows, Arrangement]:
        """Return the rows, and that none tie: no step occurs twice, so no clock was set back."""
        return self, Arrangement(ties=False, set_back=False)

    def _aggregated(self) -> tuple[Frame, list[str], list[str], list[str]]:
        """Return what one pass computes: a row without a tick, or between two steps, changes the sum of the hashes."""
        return self.frame, ["hashed"], ["tick"], []

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

    def _check_complete(self, grouped: Mapping[Key, list[Fact]], spans: Mapping[Key, range]) -> None:
        """Raise NotPlain unless the hashes of each piece's ticks have the sum of those of its span."""
        different = sorted({(span.start, span.stop) for span in spans.values()})
        runs = ", ".join(f"({start}, {stop})" for start, stop in different)
        ticks = f"select low, high, unnest(range(low, high, {self.step})) as tick from (values {runs}) as of(low, high)"
        query = f"select low, high, sum(hash(xor(tick, {self.key}))) from ({ticks}) group by low, high"
        totals = self.frame.to_native().query("rows_at_once", query).fetchall()
        sums = {(low, high): total for low, high, total in totals}
        for key, facts in grouped.items():
            if sum(fact.hashed for fact in facts) != sums[spans[key].start, spans[key].stop]:
                raise NotPlain("two rows have one step, or a row has none")

    def _observed_runs(
        self, grouped: Mapping[Key, list[Fact]], spans: Mapping[Key, range]
    ) -> dict[Key, tuple[range, ...]]:
        """Return the places that each piece has, in runs, from one bit for each step between the first and the last.

        Raises NotPlain where two rows have one step, or where that would be too many bits.
        """
        low, high, step = min(s.start for s in spans.values()), max(s.stop for s in spans.values()), self.step or 1
        size = -(-(high - low) // step)
        if size * len(spans) > MOST_BITS:
            raise NotPlain("the pieces lie too far apart")
        names = ", ".join(map(identifier, self.keys))
        bits = "0, 0" if step == 1 else f"min((tick - {low}) % {step}), max((tick - {low}) % {step})"
        bits += f", bitstring_agg((tick - {low}) // {step}, 0, {size - 1})::blob"
        runs: dict[Key, tuple[range, ...]] = {}
        for *values, least, most, seen in self._tidied().to_native().aggregate(f"{names}, {bits}", names).fetchall():
            key = self._key(values)
            places = np.unpackbits(np.frombuffer(seen, dtype=np.uint8))[-size:].view(bool)
            if least != most or places.sum() != sum(fact.rows for fact in grouped[key]):
                raise NotPlain("two rows have one step, or a row has none")
            runs[key] = runs_of(places, self._places(key, low + least, size).start)
        return runs


def _span(facts: Sequence[Fact], step: int) -> range:
    """Return the ticks from the first to the last row of a piece."""
    low = min(fact.low for fact in facts if fact.low is not None)
    return range(low, max(fact.high for fact in facts if fact.high is not None) + 1, step)
