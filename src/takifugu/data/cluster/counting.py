"""The same statements on a cluster: DuckDB counts each partition of units where it is, and integers come back.

Executors need takifugu and PyArrow, and a partition has all rows of its units. No row comes to the driver; of a fault
the cause alone.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NoReturn
from weakref import finalize

import numpy as np

from takifugu.core.arrays import IntArray
from takifugu.core.errors import TakifuguError
from takifugu.core.files import private_folder
from takifugu.data.cluster import spark
from takifugu.data.relation.answers import Groups
from takifugu.data.relation.cells import Cells
from takifugu.data.relation.counts import counted
from takifugu.data.relation.keys import Source
from takifugu.data.relation.roles import SOURCE, Opened, open_source
from takifugu.data.relation.roster import Roster
from takifugu.data.relation.source import Table, Texts
from takifugu.data.relation.transitions import States, transitions_of_all
from takifugu.data.relation.types import Known
from takifugu.data.sql.faults import CAUSES, RowFault, no_rows, wrong_data, wrong_key
from takifugu.data.sql.words import identifier
from takifugu.data.values.bounded import Bounded
from takifugu.data.values.counts import Counts

#: What a partition answers, as Spark writes it: of each piece its names, length, start, gaps, counts, those by cell.
SCHEMA = (
    "unit string, recording string, length bigint, first bigint, complete boolean, starts array<bigint>, "
    "stops array<bigint>, counts array<bigint>, cells array<bigint>, fault string"
)


#: What a partition answers about transitions.
PAIRS = "pairs array<bigint>, fault string"


@dataclass(frozen=True, eq=False)
class ClusterTable(Table):
    """A source on Spark: `opened` is its relation without a row, by which all is judged, and `frame` has the rows."""

    frame: Any = field(default=None, repr=False)
    keys: Mapping[str, Any] = field(default_factory=dict, repr=False)
    place: str = "the frame"

    def counts(self, window: range | None = None, by: tuple[str, ...] = ()) -> Counts:
        source = self.opened.source
        count = part_counter(self.keys, source.states, self.roster, window, by)
        return collected(self._answers(count, SCHEMA), self.opened, self.roster, window, by)

    def all_transitions(self) -> IntArray:
        states = len(self.opened.source.states)
        counts = np.zeros((states, states), dtype=np.int64)
        batches = self._answers(pair_counter(self.keys, self.opened.source.states), PAIRS)
        _refuse(batches, self.opened)
        for batch in batches:
            for pairs in batch.column("pairs").to_pylist():
                counts += np.array(pairs, dtype=np.int64).reshape(states, states)
        return counts

    def states(self, window: range | None = None) -> States:
        self._refuse_rows("the state of every step")

    def transitions(self, cells: Sequence[int] = (0,)) -> IntArray:
        self._refuse_rows("transitions by cells")

    def answers(self, known: Sequence[Known] = (), may_miss: Sequence[bool] = ()) -> Groups:
        self._refuse_rows("answers")

    def totals(self, numbers: Sequence[Bounded]) -> Groups:
        self._refuse_rows("sums")

    def texts(self, roles: Sequence[str]) -> list[Texts]:
        self._refuse_rows("rows")

    def times(self, roles: Sequence[str]) -> dict[Texts, int]:
        self._refuse_rows("rows")

    def left_out(self) -> int:
        self._refuse_rows("rows that where leaves out")

    def written_rows(self) -> int:
        self._refuse_rows("rows before where")

    def refuse_lookalikes(self, declared: Iterable[object], key: str, role: str = "value0") -> None:
        """Do nothing: which text resembles a declared one is not looked up on a cluster."""

    def _refuse_rows(self, what: str) -> NoReturn:
        verb = "are" if what.endswith("s") else "is"
        rule = "it counts the steps of sequences by state and cell"
        fix = "give a file, or a frame of pandas, Polars or PyArrow, and leave engine out"
        raise wrong_key("engine", f"{what} {verb} not brought from a cluster", rule, fix)

    def _answers(self, count: Callable[[Iterable[Any]], Iterator[Any]], schema: str) -> list[Any]:
        """Return what the partitions of units answer, as Arrow batches."""
        unit = self.opened.source.unit or self.opened.source.recording
        with spark.plain_errors(self.place):
            # numbered names are what they say: Spark reads a dot in a name as a path
            names = self.frame.columns
            plain = self.frame.toDF(*(f"c{number}" for number in range(len(names))))
            parts = plain.repartition(1) if unit is None else plain.repartition(plain[f"c{names.index(unit)}"])
            answers = parts.mapInArrow(_renamed(count, names), schema).toArrow()
        kinds = _schema(schema)
        return [*answers.cast(kinds).to_batches()] if answers.num_rows else []


def opened_cluster(
    keys: Mapping[str, Any], states: Sequence[object], root: str | Path, frame: Any = None
) -> ClusterTable:
    """Open a source of sequences on Spark: its frame, or what `file` names to the session of the environment.

    Raises InputError for keys that a cluster does not read, DataError for what Spark cannot open.
    """
    for key in ("sql", "encoding"):
        if keys.get(key) is not None:
            raise wrong_key(key, f"{key} is declared for a cluster", "its frames have typed columns",
                            "write Parquet, or a view of Spark's, and name it by file")  # fmt: skip
    place = "the frame" if frame is not None else str(keys.get("file"))
    plain = {name: value for name, value in keys.items() if name not in ("file", "engine")}
    source, room = Source.of(plain, states), private_folder()
    if source.rows == "answers":
        raise wrong_key("engine", "a cluster reads sequences", "answers are one row a person",
                        "give a file, or a frame of pandas, Polars or PyArrow")  # fmt: skip

    def without_rows(read: Any) -> Opened:
        names = [f"c{number}" for number in range(len(read.columns))]  # Spark takes a dot for a path
        with spark.plain_errors(place):
            empty = read.toDF(*names).limit(0).toArrow().rename_columns(read.columns)
        return open_source(source, root, room.name, empty)

    def used(read: Any) -> set[str]:
        opened = without_rows(read)
        opened.relation.close()
        return {name for role in opened.roles.values() for _, name in role.cells}

    if frame is None:
        frame = spark.opened(place, Path(root), used)
    opened = without_rows(frame)
    for role in ("unit", "recording"):
        text = getattr(source, role)
        if text is not None and text not in frame.columns:
            opened.relation.close()
            raise wrong_key(role, f"{role} is an expression", "a cluster shares out the rows by a column",
                            f"make it a column of the table, and name that: {role} = ...")  # fmt: skip
    table = ClusterTable(opened, Path(root), room.name, frame, plain, place)
    finalize(table, _close, opened, room)
    return table


def _close(opened: Opened, room: Any) -> None:
    opened.relation.close()
    room.cleanup()


def _renamed(count: Callable[[Iterable[Any]], Iterator[Any]], names: Sequence[str]) -> Callable[..., Iterator[Any]]:
    """Return what counts batches whose columns are given these names."""
    labels = list(names)

    def of_named(batches: Iterable[Any]) -> Iterator[Any]:
        import pyarrow as pa

        return count(pa.RecordBatch.from_arrays(batch.columns, labels) for batch in batches)

    return of_named


def part_counter(
    keys: Mapping[str, Any], states: Sequence[object], roster: Roster | None = None, window: range | None = None,
    by: tuple[str, ...] = (),
) -> Callable[[Iterable[Any]], Iterator[Any]]:  # fmt: skip
    """Return the function that counts the Arrow batches of one partition, by the keys of [source] and the roster."""
    return _of_parts(lambda opened: _answer(_counted(opened, roster, window, by)), keys, states, SCHEMA)


def pair_counter(keys: Mapping[str, Any], states: Sequence[object]) -> Callable[[Iterable[Any]], Iterator[Any]]:
    """Return the function that counts the transitions in the Arrow batches of one partition."""

    def pairs(opened: Opened) -> Any:
        return _batch({"pairs": [transitions_of_all(opened).ravel().tolist()], "fault": [None]}, PAIRS)

    return _of_parts(pairs, keys, states, PAIRS)


def _of_parts(
    answer: Callable[[Opened], Any], keys: Mapping[str, Any], states: Sequence[object], schema: str
) -> Callable[[Iterable[Any]], Iterator[Any]]:
    def count(batches: Iterable[Any]) -> Iterator[Any]:
        import pyarrow as pa

        given = [batch for batch in batches if batch.num_rows]
        if not given:
            return
        with private_folder() as folder:
            try:
                opened = open_source(Source.of(keys, states), folder, folder, pa.Table.from_batches(given), threads=1)
                try:
                    yield answer(opened)
                finally:
                    opened.relation.close()
            except TakifuguError as error:
                cause = error.cause if isinstance(error, RowFault) else ""
                words = [cause, error.what, error.rule, error.fix, next(iter(error.where), "file")]
                columns = [column.split()[0] for column in schema.split(", ")]
                yield _batch({**{name: [None] for name in columns}, "fault": [json.dumps(words)]}, schema)

    return count


def _refuse(batches: Iterable[Any], opened: Opened) -> None:
    """Raise the first fault of a partition, in the order of the causes."""
    faulty = [words for batch in batches for words in batch.column("fault").to_pylist() if words is not None]
    faults = list(map(json.loads, faulty))
    causes = {cause.name: cause for cause in CAUSES}
    broken = [cause for name, cause in causes.items() if any(name == first for first, *_ in faults)]
    if broken:
        raise RowFault(broken[0], opened.words(), others=[cause.name for cause in broken[1:]])
    for _, what, rule, fix, key in sorted(faults):
        raise wrong_data(key, what, rule, fix)


def collected(
    answers: Iterable[Any], opened: Opened, roster: Roster | None = None, window: range | None = None,
    by: tuple[str, ...] = (),
) -> Counts:  # fmt: skip
    """Return the counts of all partitions, in the order of their names, from their Arrow batches.

    `opened` is the source without rows: units of the roster without any are counted in it. Raises RowFault for a rule
    that a row of a partition breaks.
    """
    import pyarrow as pa

    batches, source = list(answers), opened.source
    _refuse(batches, opened)
    if not batches and not opened.hides_rows:
        raise no_rows()
    if roster is not None:
        present = [name for batch in batches for name in batch.column("unit").to_pylist()]
        absent = roster.only(~np.isin(roster.names, present))
        if len(absent.names):
            batches.append(_answer(counted(opened, absent, window, by, is_part=True)))
    table = pa.Table.from_batches(batches).sort_by([("unit", "ascending"), ("recording", "ascending")])
    pieces = {name: table.column(name) for name in table.column_names}
    size, number = table.num_rows, len(pieces["counts"][0])
    names = (np.array(pieces["unit"].to_pylist(), object), np.array(pieces["recording"].to_pylist(), object))
    if ((names[0][1:] == names[0][:-1]) & (names[1][1:] == names[1][:-1])).any():
        raise wrong_data("unit", "two partitions have rows of one person", "a person's rows are in one")
    runs = [pieces[name].combine_chunks() for name in ("starts", "stops")]
    piece = np.repeat(np.arange(size), [len(listed) for listed in pieces["starts"].to_pylist()])
    by_cell = cell = None
    if by:
        calendar, whole = source.calendar, window if window is not None else range(source.size or 0)
        assert calendar is not None, "cells have a calendar, which each partition checks"
        by_cell = pieces["cells"].combine_chunks().flatten().to_numpy().reshape(size, -1, number)
        cell = Cells(calendar, whole, by).slots.cells[1]
    return Counts(
        pieces["length"].to_numpy(), np.array(pieces["complete"].to_pylist(), dtype=bool),
        (piece, runs[0].flatten().to_numpy(), runs[1].flatten().to_numpy()),
        pieces["counts"].combine_chunks().flatten().to_numpy().reshape(size, number), by_cell, cell, names,
        None if pieces["first"].null_count else pieces["first"].to_numpy(),
    )  # fmt: skip


def _counted(opened: Opened, roster: Roster | None, window: range | None, by: tuple[str, ...]) -> Counts:
    """Return the counts of a partition's units: those of the roster that have a row in it."""
    if roster is not None and opened.source.unit is not None:
        units = opened.relation.columns(f"select distinct unit::varchar as unit from {identifier(SOURCE)}")["unit"]
        roster = roster.only(np.isin(roster.names, np.ma.getdata(units)))
    return counted(opened, roster, window, by, is_part=True)


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
        "first": [None] * size if counts.starts is None else counts.starts, "complete": counts.complete,
        "starts": listed(starts, bounds), "stops": listed(stops, bounds),
        "counts": rows(counts.counts), "cells": rows(by_cell), "fault": [None] * size,
    }, SCHEMA)  # fmt: skip


def _batch(columns: Mapping[str, Any], schema: str) -> Any:
    import pyarrow as pa

    kinds = _schema(schema)
    return pa.RecordBatch.from_arrays([pa.array(columns[one.name], one.type) for one in kinds], schema=kinds)


def _schema(schema: str) -> Any:
    import pyarrow as pa

    kinds = {"string": pa.string(), "bigint": pa.int64(), "boolean": pa.bool_(), "array<bigint>": pa.list_(pa.int64())}
    return pa.schema([pa.field(name, kinds[kind]) for name, kind in (one.split() for one in schema.split(", "))])
