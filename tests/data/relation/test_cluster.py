"""Partitions of units, each counted where it is, have the integers of the whole table."""

from pathlib import Path
from typing import Any
from zlib import crc32

import numpy as np
import pyarrow as pa
import pytest
from tests.support.relation_cases import random_case
from tests.support.rounds import rounds

from takifugu.core.errors import DataError, InputError, TakifuguError
from takifugu.data.cluster.counting import collected, opened_cluster, part_counter
from takifugu.data.relation.source import Table, opened_table
from takifugu.data.sql.faults import RowFault


def test_faults_of_partitions_are_told_as_those_of_a_file_without_their_rows(tmp_path: Path) -> None:
    keys = {"unit": "who", "order": "t", "value": "v", "step": 1}
    parts = [
        pa.table({"who": ["Geheim", "Geheim"], "t": [0, 0], "v": ["x", "x"]}),
        pa.table({"who": ["Ben", "Ben"], "t": [0, 1], "v": ["x", "SENTINEL"]}),
        pa.table({"who": ["C"], "t": [0], "v": ["x"]}),
    ]  # fmt: skip
    answers = [batch for part in parts for batch in part_counter(keys, ["x"])(part.to_batches())]
    with opened_table(keys, ["x"], tmp_path, pa.concat_tables(parts)) as whole, pytest.raises(RowFault) as of_whole:
        whole.counts()
    with opened_table(keys, ["x"], tmp_path, parts[0].slice(0, 0)) as empty, pytest.raises(RowFault) as error:
        collected(answers, empty.opened)
    assert error.value.cause == of_whole.value.cause
    assert {error.value.cause, *(cause.name for cause in error.value.others)} == {"tie", "unknown state"}
    assert error.value.line == of_whole.value.line.replace("row 4: ", "")
    assert not {"Geheim", "SENTINEL"} & {*error.value.line.split()}


class Frame:
    """Stands for a frame of Spark's: three partitions by the values of a column, on which a function runs in turn."""

    def __init__(self, table: pa.Table, parts: int = 3) -> None:
        self.table, self.parts, self.by = table, parts, ""

    @property
    def columns(self) -> list[str]:
        return list(self.table.column_names)

    def __getitem__(self, name: str) -> str:
        return name

    def toDF(self, *names: str) -> "Frame":
        return Frame(self.table.rename_columns(list(names)), self.parts)

    def limit(self, rows: int) -> "Frame":
        return Frame(self.table.slice(0, rows))

    def repartition(self, by: Any) -> "Frame":
        made = Frame(self.table, by if isinstance(by, int) else self.parts)
        made.by = "" if isinstance(by, int) else by
        return made

    def mapInArrow(self, count: Any, schema: str) -> "Frame":
        part_of = [0] * self.table.num_rows
        if self.by:
            part_of = [crc32(repr(value).encode()) % self.parts for value in self.table[self.by].to_pylist()]
        answers = list[Any]()
        for number in range(self.parts):
            part = self.table.filter(pa.array([one == number for one in part_of], pa.bool_()))
            answers += count(iter(part.to_batches()))
        return Frame(pa.Table.from_batches(answers) if answers else pa.table({}))

    def toArrow(self) -> pa.Table:
        return self.table


@pytest.mark.mutants
@pytest.mark.parametrize("seeds", rounds(15, 90))
def test_a_table_on_a_cluster_has_the_integers_of_a_frame(tmp_path: Path, seeds: range) -> None:
    compared = refused = 0
    for seed in seeds:
        case = random_case(70_000 + seed, tmp_path)
        if case.form != "arrow":
            continue
        window, by, states = case.meaning.window, tuple(case.meaning.by), case.meaning.states
        frame: pa.Table = case.frame
        results: list[Any] = []
        for opening, data in ((opened_table, frame), (opened_cluster, Frame(frame))):
            try:
                table: Table = opening(case.keys, states, tmp_path, data)
                counts = table.counts(window, by)
                pairs = table.all_transitions().tolist() if table.opened.source.rows == "samples" else None
                results.append((
                    table.reading, counts.names[0].tolist(), counts.lengths.tolist(), counts.complete.tolist(),
                    np.stack(counts.runs).tolist(), counts.counts.tolist(), pairs,
                    None if counts.by_cell is None else (counts.by_cell.tolist(), counts.cell.tolist()),
                ))  # fmt: skip
                compared += 1
            except TakifuguError as error:
                results.append(error.what.partition(": ")[2] if error.what.startswith("row ") else error.what)
                refused += 1
        assert results[0] == results[1], seed
    assert compared > len(seeds) // 10
    assert refused > len(seeds) // 45


KEYS = {"unit": "who", "order": "t", "value": "v", "step": 1}
ROWS = {"who": ["a", "a", "b"], "t": [0, 1, 0], "v": ["x", "y", "x"]}


@pytest.mark.sampled(3)
@pytest.mark.parametrize(("keys", "key", "words"), [
    ({"sql": "select 1"}, "sql", "declared for a cluster"), ({"encoding": "latin-1"}, "encoding", "for a cluster"),
    ({"rows": "answers", "order": None, "step": None}, "engine", "a cluster reads sequences"),
    ({"unit": "lower(who)"}, "unit", "is an expression"), ({"unit": "whom"}, "unit", ""),
    ({"value": "length(v) / 2"}, "value", "numbers with a point"), ({"where": "t"}, "where", "true or false"),
])  # fmt: skip
def test_what_a_cluster_does_not_read(keys: Any, key: str, words: str, tmp_path: Path) -> None:
    with pytest.raises(TakifuguError, match=words or None) as error:
        opened_cluster({**KEYS, **keys}, ["x", "y"], tmp_path, Frame(pa.table(ROWS))).counts()
    assert error.value.where == (key,)


def test_rows_are_not_brought_from_a_cluster(tmp_path: Path) -> None:
    table = opened_cluster({**KEYS, "where": "t < 5"}, ["x", "y"], tmp_path, Frame(pa.table(ROWS)))
    for reads in (table.states, table.transitions, table.answers, table.left_out,
                  lambda: table.totals([]), lambda: table.texts(["unit"])):  # fmt: skip
        with pytest.raises(InputError, match="not brought from a cluster"):
            reads()
    assert table.counts().counts.tolist() == [[1, 1], [1, 0]]
    assert table.all_transitions().tolist() == [[0, 1], [0, 0]]


def test_a_person_in_two_partitions_is_refused(tmp_path: Path) -> None:
    parts = [pa.table({"who": ["a"], "t": [n], "v": ["x"]}) for n in range(2)]
    answers = [batch for part in parts for batch in part_counter(KEYS, ["x"])(part.to_batches())]
    empty = opened_table(KEYS, ["x"], tmp_path, parts[0].slice(0, 0))
    with pytest.raises(DataError, match="two partitions have rows"):
        collected(answers, empty.opened)
