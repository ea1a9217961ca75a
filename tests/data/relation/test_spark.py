"""Spark has the integers of a frame, its rows stay on the cluster, and no word of it gets out (`make spark`)."""

import random
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pyarrow as pa
import pyarrow.parquet
import pytest
from tests.support.on_spark import running
from tests.support.relation_cases import random_case

from takifugu.core.errors import TakifuguError
from takifugu.data.cluster.counting import opened_cluster
from takifugu.data.relation.source import Table, opened_table

pytestmark = pytest.mark.spark


session = pytest.fixture(scope="module")(running)


KEYS: dict[str, Any] = {"unit": "who", "order": "t", "value": "state", "step": "1h"}
STATES = ("still", "walking")
ZONES = {"t": "clocks", "z": "moments"}


def on_spark(session: Any, table: pa.Table, folder: Path) -> Any:
    """Return a table as a frame of Spark's, by a file: from a frame it would put clocks into the session's zone."""
    path = folder / f"{len([*folder.iterdir()])}.parquet"
    pyarrow.parquet.write_table(table, path)
    return session.read.parquet(str(path))


def facts(table: Table, window: range | None = None, by: tuple[str, ...] = ()) -> tuple[Any, ...]:
    counts = table.counts(window, by)
    return (
        table.reading, counts.names[0].tolist(), counts.names[1].tolist(), counts.lengths.tolist(),
        counts.complete.tolist(), np.stack(counts.runs).tolist(), counts.counts.tolist(),
        None if counts.by_cell is None or counts.cell is None else (counts.by_cell.tolist(), counts.cell.tolist()),
        table.all_transitions().tolist() if table.opened.source.rows == "samples" else None,
    )  # fmt: skip


def test_random_tables_have_the_integers_of_a_frame(session: Any, tmp_path: Path) -> None:
    compared = refused = 0
    for seed in range(71_000, 71_060):
        case = random_case(seed, tmp_path)
        if case.form != "arrow":
            continue
        results: list[Any] = []
        frame: pa.Table = case.frame
        opening: Any
        for opening, data in ((opened_table, frame), (opened_cluster, on_spark(session, frame, tmp_path))):
            try:
                opened = opening(case.keys, case.meaning.states, tmp_path, data)
                results.append(facts(opened, case.meaning.window, tuple(case.meaning.by)))
                compared += 1
            except TakifuguError as error:
                results.append(error.what.partition(": ")[2] if error.what.startswith("row ") else error.what)
                refused += 1
        assert results[0] == results[1], seed
    assert compared > 8
    assert refused > 2


def walks(rng: random.Random) -> pa.Table:
    """Return hours of five people, some missing, as clocks and as moments; a name has a dot and a back tick."""
    start = datetime(2026, 1, 1)
    rows = [(f"p{n % 5}", start + timedelta(hours=n // 5)) for n in range(5 * 24 * 120) if rng.random() < 0.7]
    rng.shuffle(rows)
    return pa.table({
        "who": [who for who, _ in rows], "t": [t for _, t in rows],
        "z": pa.array([t.replace(tzinfo=UTC) for _, t in rows], pa.timestamp("us", "UTC")),
        "sta.te`": [rng.choice(STATES) for _ in rows], "SENTINEL": ["SENTINEL"] * len(rows),
    })  # fmt: skip


@pytest.mark.parametrize("order", ZONES)
@pytest.mark.parametrize("by", [(), ("hour",), ("weekday", "hour")])
def test_clocks_and_moments_in_cells(session: Any, order: str, by: tuple[str, ...], tmp_path: Path) -> None:
    """The session shows Berlin, which skips an hour in March: neither kind of time passes through its clocks."""
    frame = walks(random.Random(order))
    keys = {**KEYS, "order": order, "value": "sta.te`", "from": "2026-01-01", "until": "2026-05-11"}
    if order == "z":
        keys |= {"timezone": "Europe/Berlin", "until": "2026-05-10"}
        keys["where"] = "z < '2026-05-09 21:00:00+00'::timestamptz and z >= '2025-12-31 23:00:00+00'::timestamptz"
    one, other = (opening(keys, STATES, tmp_path, data) for opening, data in (
        (opened_table, frame), (opened_cluster, on_spark(session, frame, tmp_path)),
    ))  # fmt: skip
    assert facts(one, None, by) == facts(other, None, by)
    assert one.opened.type("order") == other.opened.type("order")


def test_rows_stay_on_the_cluster(session: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from pyspark.sql import functions as f

    state = f.when(f.col("id") % 2 == 0, "a").otherwise("b").alias("v")
    data = session.range(100_000).select((f.col("id") % 3).alias("u"), f.expr("id div 3").alias("t"), state)
    kind, brought = type(data), list[int]()
    plain = kind.toArrow

    def counted(frame: Any) -> Any:
        rows = plain(frame)
        brought.append(rows.num_rows)
        return rows

    monkeypatch.setattr(kind, "toArrow", counted)
    for forbidden in ("toPandas", "collect", "toLocalIterator", "take", "head"):
        monkeypatch.setattr(kind, forbidden, None)
    table = opened_cluster({"unit": "u", "order": "t", "step": 1, "value": "v"}, ("a", "b"), tmp_path, data)
    assert table.counts().lengths.tolist() == [33334, 33333, 33333]
    assert table.all_transitions().sum() == 100_000 - 3
    assert brought[0] == 0
    assert sum(brought) <= 3 + 3


@pytest.mark.parametrize(("changed", "words"), [
    ({"value": "SENTINEL"}, "not declared"), ({"order": "t::date", "step": "1d"}, "a second row of one step"),
    ({"where": "nullif(who, 'p1') <> 'x'"}, "neither true nor false"),
])  # fmt: skip
def test_faults_are_told_in_the_words_of_a_file(
    session: Any, changed: Any, words: str, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    frame, keys = walks(random.Random(1)), {**KEYS, "value": "sta.te`", **changed}
    lines = []
    opening: Any
    for opening, data in ((opened_table, frame), (opened_cluster, on_spark(session, frame, tmp_path))):
        with pytest.raises(TakifuguError, match=words) as caught:
            opening(keys, STATES, tmp_path, data).counts()
        lines.append((caught.value.where, caught.value.what.rpartition(": ")[2], caught.value.fix))
        assert "SENTINEL" not in caught.value.line.replace('"SENTINEL"', "")
    assert lines[0] == lines[1]
    assert "SENTINEL" not in capfd.readouterr().err


def test_a_path_and_a_table_are_opened_and_only_what_is_named_is_pinned(session: Any, tmp_path: Path) -> None:
    duckdb.from_arrow(walks(random.Random(2))).write_parquet(str(tmp_path / "a.parquet"))
    keys = {**KEYS, "value": "sta.te`"}
    expected = facts(opened_table({**keys, "file": "a.parquet"}, STATES, tmp_path))
    on_disk = opened_cluster({**keys, "file": "a.parquet"}, STATES, tmp_path)
    assert facts(on_disk)[1:] == expected[1:]
    assert on_disk.frame.columns == ["who", "t", "sta.te`"]
    session.read.parquet(str(tmp_path / "a.parquet")).createOrReplaceTempView("walks_of_all")
    assert facts(opened_cluster({**keys, "file": "walks_of_all"}, STATES, tmp_path))[1:] == expected[1:]
    duckdb.from_arrow(walks(random.Random(3))).write_parquet(str(tmp_path / "a.parquet"))
    assert facts(opened_cluster({**keys, "file": "a.parquet"}, STATES, tmp_path))[1:] == expected[1:], "one reading"


@pytest.mark.parametrize(("file", "words"), [
    ("nothing.parquet", "Spark finds no 'nothing.parquet'"), ("no.such.table", "Spark finds no 'no.such.table'"),
    ("nowhere://bucket/a", "cannot read 'nowhere://bucket/a'"), ("a.csv", "otherwise than DuckDB does"),
    ("broken.parquet", "cannot read 'broken.parquet'"), ("a b; drop", "cannot read 'a b; drop'"),
])  # fmt: skip
@pytest.mark.usefixtures("session")
def test_what_cannot_be_opened(file: str, words: str, tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "broken.parquet").write_text("SENTINEL is no Parquet file")
    with pytest.raises(TakifuguError) as caught:
        opened_cluster({**KEYS, "file": file}, STATES, tmp_path)
    assert caught.value.where == ("file",)
    assert words in caught.value.line
    assert "SENTINEL" not in caught.value.line + capfd.readouterr().err
