"""Rows of DuckDB, surveyed in one pass that needs no order of the rows: each row sets the bit of its step.

A piece has each of its steps at most once if it has as many bits as rows, and its gaps are read off the bits. What is
not as plain as that is left to the careful reading, which also says what is wrong.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field, replace
from itertools import pairwise
from typing import Any

import numpy as np

from takifugu.core.lists import present, take
from takifugu.core.names import natural
from takifugu.data.engines.differences import collected_in_columns, is_duckdb, wrapped
from takifugu.data.engines.sanitise import is_text
from takifugu.data.engines.sql import identifier
from takifugu.data.engines.table import Table
from takifugu.data.rows.layout import Layout, Lengths, Recode, text_of
from takifugu.data.rows.picked import PickedRows, picked_rows
from takifugu.data.rows.pieces import WIDEST_SPAN, Fact, Key, NotPlain
from takifugu.data.rows.reader import Rows
from takifugu.data.times.clock import Clock
from takifugu.data.values.pieces import LONGEST_PIECE, Piece
from takifugu.data.values.spellings import meant

#: The bits of a stretch of 2**6 to 2**10 steps are one value of DuckDB's: of as many as so many first rows span.
FEWEST, MOST, SAMPLED = 6, 10, 4096
#: Ticks farther from 0 do not fit into DuckDB's integers beside what is added to them.
FARTHEST = 2**62
#: More pieces do not fit into one list, nor more bytes into what DuckDB gets; at most 64 MB of bits come back.
MOST_PIECES, MOST_BYTES, MOST_BITS = 100_000, 300_000_000, 2**29
#: Texts of more bytes are left to the careful reading, which refuses those that are too long to be names or states.
SHORT = 256
#: So many bytes of bits are unpacked at once, or those of one piece.
UNPACKED = 2**21
INTEGER = re.compile(r"\s*[+-]?\d+\s*")


def counted_by_bits(table: Table, layout: Layout, states: Recode) -> CountedByBits | None:
    """Count rows in one pass, or None if that cannot prove completeness.

    Raises NotPlain for rows that one pass cannot tell apart.
    """
    if not is_duckdb(table.frame) or layout.order is None or layout.step is None:
        return None
    if layout.clock != Clock() or layout.time_of_day is not None:
        return None
    if any(map(INTEGER.fullmatch, table.missing)):
        return None
    if table.check_texts is not None and states.bins is None and layout.null_keys != "drop":
        table = _with_short_texts(table, layout)
    rows = picked_rows(replace(table, ordered=False), layout, states, is_plain=True)
    if rows.step is None or rows.step >= FARTHEST or not rows.in_place:
        return None
    schema = rows.frame.collect_schema()
    if not all(is_text(schema[role]) or schema[role].is_integer() for role in rows.keys):
        return None  # NumPy has other numbers and times than DuckDB
    span_of_first = f"(max(tick)::hugeint - min(tick)) // {rows.step}"
    ((span,),) = rows.frame.to_native().limit(SAMPLED).aggregate(span_of_first).fetchall()
    bits = min(max((span or 0).bit_length(), FEWEST), MOST)
    columns = _by_key(rows, bits, table.within or (lambda _: nullcontext()))
    is_odd = columns["nameless"].any() or (columns["length"] > SHORT).any() or columns["odd"].any()
    if is_odd or (columns["number"] != columns["counts"].sum(axis=1)).any():
        raise NotPlain("some rows have no name or no state, two have one step, or one has none, or long texts")
    low, high = columns["low"], columns["high"]
    too_far = (high - low >= LONGEST_PIECE).any() or (high - low)[columns["has_gaps"]].sum() > MOST_BITS
    if (columns["least"] != columns["most"]).any() or (low < 0).any() or too_far:
        raise NotPlain("some rows lie between two steps, or too far apart")
    return CountedByBits(rows, bits, columns)


def _with_short_texts(table: Table, layout: Layout) -> Table:
    """Return the table with longer texts cut, except those of an order.

    Their length still shows, so nothing needs to check them before.
    """
    columns = present((layout.unit, layout.piece, layout.value))
    table.require([*columns, str(layout.order)])
    label_of, schema = dict(zip(table.names, table.labels, strict=True)), table.frame.collect_schema()
    if is_text(schema[label_of[str(layout.order)]]):
        return table
    cut, native = list[str](), table.frame.to_native()
    for label in sorted(set(take(label_of, columns))):
        if is_text(schema[label]):
            cut.append(f"substring({identifier(label)}, 1, {SHORT + 1}) as {identifier(label)}")
    if cut:
        native = native.project(f"* replace ({', '.join(cut)})")
    frame = wrapped(native)
    return replace(table, scan=lambda: frame, check_texts=None)


def _joined(words: str) -> bytes:
    """Return the bits of stretches, each written as number and bits."""
    parts = words.split()
    of_stretch = dict(zip(map(int, parts[::2]), map(bytes.fromhex, parts[1::2]), strict=True))
    if len(of_stretch) == 1:
        return of_stretch.popitem()[1]
    nothing = bytes(len(next(iter(of_stretch.values()))))
    return b"".join(of_stretch.get(number, nothing) for number in range(min(of_stretch), max(of_stretch) + 1))


@dataclass(frozen=True, eq=False)
class CountedByBits:
    """Picked rows, and totals in columns of NumPy: counts by state of each piece, and its bits where it has gaps.

    2**`bits` steps make a stretch. Pieces are in the order of `natural` if they are `is_sorted`.
    """

    picked: PickedRows
    bits: int
    columns: Mapping[str, Any] = field(repr=False)

    @property
    def is_sorted(self) -> bool:
        return bool(self.columns["is_sorted"].all())

    def rows(self) -> Rows:
        """Return the rows with facts and runs; NotPlain for too many pieces."""
        if len(self.columns["low"]) > MOST_PIECES:
            raise NotPlain("there are too many pieces")
        step, shift, columns = self.picked.step or 1, _shift(self.picked), self.columns
        numbers = (columns[name].tolist() for name in ("counts", "low", "high", "least", "has_gaps", "bits"))
        keys = map(self.picked.key, zip(*(columns[role].tolist() for role in self.picked.keys), strict=True))
        facts, pieces = list[Fact](), list[tuple[Key, int, int, int, str]]()
        for key, counts, low, high, least, has_gaps, words in zip(keys, *numbers, strict=True):
            start, steps = low * step + least - shift, high - low + 1
            end, offset = start + (steps - 1) * step, start % step
            for code, number in enumerate(counts):
                if number:
                    facts.append(Fact(key, code, number, 0, start, end, (offset, offset), None, None))
            pieces.append((key, start, steps, low, words if has_gaps else ""))
        rows = Rows.of(self.picked, facts, not columns["changed"].any(), set())
        runs, with_gaps = dict[Key, tuple[range, ...]](), dict[Key, tuple[int, bytes]]()
        for key, start, steps, low, words in pieces:
            first = (start - rows.origins[key]) // step
            if words:
                with_gaps[key] = first - low % (1 << self.bits), _joined(words)
            else:
                runs[key] = (range(first, first + steps),)
        runs.update(zip(with_gaps, _shared_runs(with_gaps.values()), strict=True))  # equal pieces share them
        return replace(rows, runs=runs)

    def people(self, lengths: Lengths) -> tuple[Piece, ...] | None:
        """Return the pieces of people with one each, sorted by name.

        None stands for others, and for lengths against the limits. Raises DataError as `meant`.
        """
        layout, columns = self.picked.request[1], self.columns
        sizes = columns["high"] - columns["low"] + 1
        too_long = lengths.longest is not None and sizes.max() > lengths.longest
        too_far = int(sizes.max()) * (self.picked.step or 1) >= WIDEST_SPAN
        if self.picked.keys != ("unit",) or too_long or too_far or sizes.min() < lengths.shortest:
            return None
        written = list(map(text_of, columns["unit"].tolist()))
        names = written
        if not self.is_sorted:  # names that end in a number are plain
            spelling_of = meant([(str(name), None) for name in written], str(layout.unit), "unit")
            names = [spelling_of[str(name)] for name in written]
        rows = zip(names, sizes.tolist(), self._observed(sizes.tolist()), columns["counts"], written, strict=True)
        pieces = [Piece(name, None, size, runs, counts, spelling) for name, size, runs, counts, spelling in rows]
        if not self.is_sorted:
            pieces.sort(key=lambda piece: natural(piece.unit))
        return tuple(pieces)

    def _observed(self, sizes: Sequence[int]) -> list[tuple[range, ...]]:
        """Return each piece's runs, counted from its first step; equal ones are one object."""
        whole = {size: (range(size),) for size in set(sizes)}
        observed: list[tuple[range, ...]] = take(whole, sizes)
        with_gaps = np.flatnonzero(self.columns["has_gaps"])
        first_places = (-(self.columns["low"][with_gaps] % (1 << self.bits))).tolist()
        bits = map(_joined, self.columns["bits"][with_gaps].tolist())
        runs = _shared_runs(list(zip(first_places, bits, strict=True)))
        for number, runs_of_piece in zip(with_gaps.tolist(), runs, strict=True):
            observed[number] = runs_of_piece
        return observed


def _shared_runs(rows: Collection[tuple[int, bytes]]) -> list[tuple[range, ...]]:
    """Return the runs of each row of bits, one object for equal rows."""
    distinct_rows = list(dict.fromkeys(rows))
    runs = dict(zip(distinct_rows, runs_of_bits(distinct_rows), strict=True))
    return take(runs, rows)


def runs_of_bits(rows: Sequence[tuple[int, bytes]]) -> Iterator[tuple[range, ...]]:
    """Yield the runs of each row of bits, from its first place.

    >>> [*runs_of_bits([(10, bytes([0b11110001])), (0, bytes([0b10000000]))])]
    [(range(10, 14), range(17, 18)), (range(0, 1),)]
    """
    many = max(1, UNPACKED // max((len(bits) for _, bits in rows), default=1))
    for start in range(0, len(rows), many):
        places, bits_of_rows = zip(*rows[start : start + many], strict=True)
        observed = np.unpackbits(np.frombuffer(b"\0".join([b"", *bits_of_rows, b""]), dtype=np.uint8))
        edges = np.flatnonzero(observed[1:] != observed[:-1]) + 1
        sizes = np.array(list(map(len, bits_of_rows)), dtype=np.int64) + 1
        begins = 8 * (1 + np.cumsum(sizes) - sizes)  # each row stands behind 8 zeros
        of_row = np.searchsorted(begins, edges[::2], side="right") - 1
        shifts = (np.array(places, dtype=np.int64) - begins)[of_row]
        runs = [*map(range, (edges[::2] + shifts).tolist(), (edges[1::2] + shifts).tolist())]
        bounds = np.searchsorted(of_row, np.arange(len(places) + 1)).tolist()
        yield from (tuple(runs[first:last]) for first, last in pairwise(bounds))


def _shift(rows: PickedRows) -> int:
    """Return a shift to ticks of 0 and above."""
    return FARTHEST // (rows.step or 1) * (rows.step or 1)


def _by_key(rows: PickedRows, bits: int, within: Callable[[int], AbstractContextManager[None]]) -> dict[str, Any]:
    """Return the totals of rows by key, in columns.

    Stages keep DuckDB from dividing more than once; `within` limits its bytes. Raises NotPlain for too many rows, or
    too far apart.
    """
    import duckdb

    names, native = ", ".join(map(identifier, rows.keys)), _stretched(rows, bits)
    states = range(len(rows.request[2].states))
    bounds = "max(changed) as changed, max(length) as length, min(least) as least, max(most) as most, "
    bounds += "min(low) as low, max(high) as high, max(odd) as odd"
    coded = summed = ""
    for state in states:
        coded += f"sum(case when code = {state} then rows else 0 end) as s{state}, "
        summed += f"sum(s{state})::bigint as s{state}, "
    of_stretch = f"{names}, stretch, {coded}{bounds}, bit_or(seen) as seen"
    number = "coalesce(sum(bit_count(seen)), 0)"
    has_gaps = f"coalesce({number} <= max(high) - min(low), false)"
    of_key = f"{names}, {summed}{bounds}, {number}::bigint as number, count(*) as many, {has_gaps} as has_gaps, "
    in_words = "string_agg(stretch::varchar || ' ' || hex(seen::blob), ' ')"  # a million empty texts are one object
    of_key += f"case when {has_gaps} then {in_words} else '' end as bits"
    fits = f"sum(many) over () <= {MOST_BITS >> bits}"
    nameless = " or ".join(f"{identifier(role)} is null" for role in rows.keys)
    try:
        with within(MOST_BYTES):
            recoded = rows.recoded(wrapped(native)).to_native().project("*, (code < 0)::bigint as odd")
            of_stretches = recoded.aggregate(of_stretch, f"{names}, stretch")
            pieces = of_stretches.aggregate(of_key, names)
            pieces = pieces.project(
                f"* replace (case when {fits} then bits else '' end as bits), {fits} as fits, {nameless} as nameless"
            )
            columns = collected_in_columns(wrapped(_in_order(rows, pieces)))
    except (duckdb.OutOfMemoryException, duckdb.OutOfRangeException):
        raise NotPlain("there are too many pieces, or ticks that are too large") from None
    if not len(columns["low"]) or not columns["fits"].all():
        raise NotPlain("there are no rows, or too many stretches")
    columns["counts"] = np.stack([columns.pop(f"s{state}") for state in states], axis=1)
    return columns


def _in_order(rows: PickedRows, pieces: Any) -> Any:
    """Return pieces of people with usual names sorted by them."""
    if rows.keys != ("unit",) or "unit" not in rows.texts:
        return pieces.project("*, false as is_sorted")
    unit = identifier("unit")
    is_name = f"regexp_full_match({unit}, '[A-Za-z]*[0-9]{{1,18}}')"
    is_plain = f"{is_name} and not regexp_full_match({unit}, '0[0-9]+')"
    letters = f"regexp_extract({unit}, '^[A-Za-z]*')"
    digits = f"try_cast(regexp_extract({unit}, '[0-9]*$') as bigint)"
    sorted_pieces = pieces.project(f"*, coalesce({is_plain}, false) as is_sorted")
    return sorted_pieces.order(f"{letters}, coalesce({digits}, -1), {unit}")


def _stretched(rows: PickedRows, bits: int) -> Any:
    """Return rows grouped by content and stretches of steps."""
    names, step, native = ", ".join(map(identifier, rows.keys)), rows.step or 1, rows.frame.to_native()
    native, least, most = native.project(f"*, tick + {_shift(rows)} as place"), "0", "0"
    if step != 1:
        native = native.project("*, place as since").project(f"* replace (since // {step} as place)")
        native = native.project(f"*, since - place * {step} as rest")
        least, most = "min(rest)", "max(rest)"
    lengths = [f"coalesce(strlen({identifier(role)}), 0)" for role in sorted(rows.texts)]
    last = (1 << bits) - 1
    sums = f"count(*) as rows, greatest({', '.join(['0', *lengths])}) as length, min(place) as low, "
    sums += f"max(place) as high, {least} as least, {most} as most, "
    sums += f"bitstring_agg(place & {last}, 0, {last}) as seen"
    return native.project(f"*, place >> {bits} as stretch").aggregate(
        f"{names}, raw, stretch, {sums}", f"{names}, raw, stretch"
    )
