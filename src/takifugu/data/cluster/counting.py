"""The same statements on a cluster: DuckDB counts each partition of units where it is, and integers come back.

Executors need takifugu and PyArrow, and a partition has all rows of its units. No row comes to the driver; of a fault
the cause alone.
"""

from __future__ import annotations

import json
import pickle
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
from takifugu.data.relation.counts import counted
from takifugu.data.relation.keys import Source
from takifugu.data.relation.roles import SOURCE, Opened, open_source
from takifugu.data.relation.roster import Roster
from takifugu.data.relation.source import Table, close_with, opened_table
from takifugu.data.relation.transitions import transitions_of_all
from takifugu.data.sql.faults import CAUSES, RowFault, no_rows, wrong_data, wrong_key
from takifugu.data.sql.words import identifier
from takifugu.data.values.counts import Counts

#: What a partition answers, as Spark writes it: what was counted, or what is wrong with its rows.
SCHEMA = "counted binary, fault string"


@dataclass(frozen=True, eq=False)
class ClusterTable(Table):
    """A source on Spark: `opened` is its relation without a row, by which all is judged, and `frame` has the rows."""

    frame: Any = field(default=None, repr=False)
    keys: Mapping[str, Any] = field(default_factory=dict, repr=False)
    place: str = "the frame"

    @property
    def with_rows(self) -> NoReturn:
        raise wrong_key("engine", "rows are not brought from a cluster", "it counts sequences by state and cell",
                        "give a file, or a frame of pandas, Polars or PyArrow, and leave engine out")  # fmt: skip

    def counts(self, window: range | None = None, by: tuple[str, ...] = ()) -> Counts:
        states, names = self.opened.source.states, [*self.opened.relation.types]
        count = part_counter(self.keys, states, self.roster, window, by, names)
        return collected(self._answers(count), self.opened, self.roster, window, by)

    def all_transitions(self) -> IntArray:
        states = self.opened.source.states
        answers = self._answers(_of_parts(transitions_of_all, self.keys, states, [*self.opened.relation.types]))
        nothing = np.zeros((len(states), len(states)), dtype=np.int64)
        return sum(_counted_in(answers, self.opened), nothing)

    def _answers(self, count: Callable[[Iterable[Any]], Iterator[Any]]) -> list[Any]:
        """Return what the partitions of units answer, as Arrow batches."""
        unit = self.opened.source.unit or self.opened.source.recording
        with spark.plain_errors(self.place):
            # numbered names are what they say: Spark reads a dot in a name as a path
            names = [*self.opened.relation.types]
            plain = self.frame.toDF(*(f"c{number}" for number in range(len(names))))
            parts = plain.repartition(1) if unit is None else plain.repartition(plain[f"c{names.index(unit)}"])
            answers = parts.mapInArrow(count, SCHEMA).toArrow()
        return [*answers.to_batches()] if answers.num_rows else []


def opened_cluster(
    keys: Mapping[str, Any], states: Sequence[object], root: str | Path, frame: Any = None
) -> ClusterTable:
    """Open a source of sequences on Spark: its frame, or what `file` names to the session of the environment."""
    # InputError: a key that a cluster does not read; DataError: what Spark cannot open
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
    finalize(table, close_with, opened.relation, room)
    return table


def part_counter(
    keys: Mapping[str, Any], states: Sequence[object], roster: Roster | None = None, window: range | None = None,
    by: tuple[str, ...] = (), names: Sequence[str] | None = None,
) -> Callable[[Iterable[Any]], Iterator[Any]]:  # fmt: skip
    """Return the function that counts the Arrow batches of one partition, by keys of [source] and the roster."""
    # `names` are those of the columns, where the batches have others
    return _of_parts(lambda opened: _counted(opened, roster, window, by), keys, states, names)


def _of_parts(
    answer: Callable[[Opened], Any], keys: Mapping[str, Any], states: Sequence[object], names: Sequence[str] | None
) -> Callable[[Iterable[Any]], Iterator[Any]]:
    def count(batches: Iterable[Any]) -> Iterator[Any]:
        import pyarrow as pa

        given = [batch for batch in batches if batch.num_rows]
        if not given:
            return
        answered, fault = None, None
        rows = pa.Table.from_batches(given)
        rows = rows if names is None else rows.rename_columns([*names])
        try:
            with opened_table(keys, states, frame=rows, threads=1) as table:
                answered = pickle.dumps(answer(table.opened))
        except TakifuguError as error:
            cause = error.cause if isinstance(error, RowFault) else ""
            fault = json.dumps([cause, error.what, error.rule, error.fix, next(iter(error.where), "file")])
        columns = [pa.array([answered], pa.binary()), pa.array([fault], pa.string())]
        yield pa.RecordBatch.from_arrays(columns, ["counted", "fault"])

    return count


def _counted(opened: Opened, roster: Roster | None, window: range | None, by: tuple[str, ...]) -> Counts:
    """Return the counts of a partition's units: those of the roster that have a row in it."""
    if roster is not None and opened.source.unit is not None:
        units = opened.relation.columns(f"select distinct unit::varchar as unit from {identifier(SOURCE)}")["unit"]
        roster = roster.only(np.isin(roster.names, np.ma.getdata(units)))
    return counted(opened, roster, window, by, is_part=True)


def _counted_in(batches: Iterable[Any], opened: Opened) -> list[Any]:
    """Return what all partitions counted; raises their first fault, in the order of the causes."""
    answers = [answer for batch in batches for answer in batch.to_pylist()]
    faults = [json.loads(answer["fault"]) for answer in answers if answer["fault"] is not None]
    names = {name for name, *_ in faults}
    broken = [cause for cause in CAUSES if cause.name in names]
    if broken:
        raise RowFault(broken[0], opened.words(), others=broken[1:])
    for _, what, rule, fix, key in sorted(faults):
        raise wrong_data(key, what, rule, fix)
    return [pickle.loads(answer["counted"]) for answer in answers]


def collected(
    answers: Iterable[Any], opened: Opened, roster: Roster | None = None, window: range | None = None,
    by: tuple[str, ...] = (),
) -> Counts:  # fmt: skip
    """Return the counts of all partitions, in the order of their names, from their Arrow batches."""
    parts: list[Counts] = _counted_in(answers, opened)
    if not parts and not opened.hides_rows:
        raise no_rows()
    # the source without rows counts units of the roster that have none
    if roster is not None:
        present = {name for part in parts for name in part.names[0].tolist()}
        absent = roster.only(np.array([name not in present for name in roster.names.tolist()], dtype=bool))
        if len(absent.names):
            parts.append(counted(opened, absent, window, by, is_part=True))
    names = list[tuple[str, str]]()
    for part in parts:
        names += zip(*part.names, strict=True)
    if len({*names}) < len(names):
        raise wrong_data("unit", "two partitions have rows of one person", "a person's rows are in one")
    firsts = np.cumsum([0, *map(len, parts)])

    def below(column: Callable[[Counts], Any]) -> Any:
        return np.concatenate([column(part) for part in parts])

    piece = np.concatenate([part.runs[0] + first for part, first in zip(parts, firsts, strict=False)])
    together = Counts(
        below(lambda part: part.lengths), below(lambda part: part.complete),
        (piece, below(lambda part: part.runs[1]), below(lambda part: part.runs[2])), below(lambda part: part.counts),
        below(lambda part: part.by_cell) if by else None, parts[0].cell,
        (below(lambda part: part.names[0]), below(lambda part: part.names[1])),
        None if any(part.starts is None for part in parts) else below(lambda part: part.starts),
    )  # fmt: skip
    return together.taken(np.array(sorted(range(len(names)), key=names.__getitem__), dtype=np.int64))
