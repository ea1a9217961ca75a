"""The same statements on a cluster: DuckDB counts each partition of units where it is, and integers come back.

`frame.repartition(unit).mapInArrow(part_counter(...), SCHEMA)` of Spark: executors need duckdb and PyArrow, and a
partition has all rows of its units. No row comes to the driver; of a fault the cause alone.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from takifugu.core.errors import DataError, TakifuguError
from takifugu.core.files import private_folder
from takifugu.data.relation.counts import Counts, counted
from takifugu.data.relation.faults import RowFault
from takifugu.data.relation.keys import Source
from takifugu.data.relation.opening import SOURCE, open_source
from takifugu.data.relation.roster import Roster
from takifugu.data.relation.words import identifier

#: What a partition answers, as Spark writes it: of each piece its names, length, gaps, counts and counts by cell.
SCHEMA = (
    "unit string, recording string, length bigint, complete boolean, starts array<bigint>, stops array<bigint>, "
    "counts array<bigint>, cells array<bigint>, fault string"
)


def part_counter(
    keys: Mapping[str, Any], states: Sequence[object], roster: Roster | None = None, window: range | None = None,
    by: tuple[str, ...] = (),
) -> Callable[[Iterable[Any]], Iterator[Any]]:  # fmt: skip
    """Return the function that counts the Arrow batches of one partition, by the keys of [source] and the roster."""

    def count(batches: Iterable[Any]) -> Iterator[Any]:
        import pyarrow as pa

        given = [batch for batch in batches if batch.num_rows]
        if given:
            try:
                yield _answer(_counted(keys, states, roster, window, by, pa.Table.from_batches(given)))
            except TakifuguError as error:
                words = error.cause if isinstance(error, RowFault) else error.what
                nothing = {name: [None] for name in ("unit", "recording", "length", "complete", "starts", "stops")}
                yield _batch({**nothing, "counts": [None], "cells": [None], "fault": [words]})

    return count


def collected(
    answers: Iterable[Any], keys: Mapping[str, Any], states: Sequence[object], empty: Any, roster: Roster | None = None,
    window: range | None = None, by: tuple[str, ...] = (),
) -> Counts:  # fmt: skip
    """Return the counts of all partitions, in the order of their names, from their Arrow batches.

    `empty` is a frame of the same columns without rows: units of the roster without any are counted here. Raises
    DataError for a fault of a partition.
    """
    import pyarrow as pa

    batches = list(answers)
    for batch in batches:
        for words in batch.column("fault").to_pylist():
            if words is not None:
                raise DataError(words, rule="a row of a partition breaks a rule", fix="look for it by a query")
    if not batches:
        raise DataError("there are no rows", fix="look at the frame, and at where")
    if roster is not None:
        present = np.concatenate([np.array(batch.column("unit").to_pylist(), dtype=object) for batch in batches])
        absent = roster.only(~np.isin(roster.names, present))
        if len(absent.names):
            batches.append(_answer(_counted(keys, states, absent, window, by, empty)))
    table = pa.Table.from_batches(batches).sort_by([("unit", "ascending"), ("recording", "ascending")])
    pieces = {name: table.column(name) for name in table.column_names}
    size, number = table.num_rows, len(pieces["counts"][0])
    runs = [pieces[name].combine_chunks() for name in ("starts", "stops")]
    piece = np.repeat(np.arange(size), [len(listed) for listed in pieces["starts"].to_pylist()])
    cells = pieces["cells"].combine_chunks().flatten().to_numpy()
    return Counts(
        pieces["length"].to_numpy(), np.array(pieces["complete"].to_pylist(), dtype=bool),
        (piece, runs[0].flatten().to_numpy(), runs[1].flatten().to_numpy()),
        pieces["counts"].combine_chunks().flatten().to_numpy().reshape(size, number),
        cells.reshape(size, -1, number) if by else None, None,
        (np.array(pieces["unit"].to_pylist(), object), np.array(pieces["recording"].to_pylist(), object)),
    )  # fmt: skip


def _counted(
    keys: Mapping[str, Any], states: Sequence[object], roster: Roster | None, window: range | None, by: tuple[str, ...],
    frame: Any,
) -> Counts:  # fmt: skip
    """Return the counts of a partition's units: those with a row in it, or all of a roster without rows."""
    source = Source.of(keys, states)
    with private_folder() as folder:
        opened = open_source(source, folder, folder, frame, threads=1)
        try:
            if roster is not None and source.unit is not None and frame.num_rows:
                units = opened.relation.columns(f"select distinct unit::varchar as unit from {identifier(SOURCE)}")
                roster = roster.only(np.isin(roster.names, units["unit"]))
            return counted(opened, roster, window, by, is_part=True)
        finally:
            opened.relation.close()


def _answer(counts: Counts) -> Any:
    """Return counts as an Arrow batch."""
    import pyarrow as pa

    size = len(counts.lengths)
    piece, starts, stops = counts.runs
    bounds = np.searchsorted(piece, np.arange(size + 1))
    by_cell = np.zeros((size, 0), dtype=np.int64) if counts.by_cell is None else counts.by_cell.reshape(size, -1)

    def listed(values: Any, ends: Any) -> Any:
        return pa.ListArray.from_arrays(pa.array(ends, pa.int32()), pa.array(values, pa.int64()))

    def rows(table: Any) -> Any:
        return listed(table.ravel(), np.arange(size + 1) * table.shape[1])

    return _batch({
        "unit": counts.names[0].tolist(), "recording": counts.names[1].tolist(), "length": counts.lengths,
        "complete": counts.complete, "starts": listed(starts, bounds), "stops": listed(stops, bounds),
        "counts": rows(counts.counts), "cells": rows(by_cell), "fault": [None] * size,
    })  # fmt: skip


def _batch(columns: Mapping[str, Any]) -> Any:
    import pyarrow as pa

    kinds = {"string": pa.string(), "bigint": pa.int64(), "boolean": pa.bool_(), "array<bigint>": pa.list_(pa.int64())}
    fields = [pa.field(name, kinds[kind]) for name, kind in (column.split() for column in SCHEMA.split(", "))]
    arrays = [pa.array(columns[one.name], one.type) for one in fields]
    return pa.RecordBatch.from_arrays(arrays, schema=pa.schema(fields))


