"""Rows become sequences; what breaks a rule is refused without a word about the data."""

from __future__ import annotations

import gzip
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from takifugu.errors import DataError, InputError
from takifugu.releasing.reading import read_columns
from takifugu.releasing.sequences import Layout, Recode, sequences, text_of

STATES = Recode(("a", "b"), {"A": "a"})
FULL = Layout("v", "u", "p", "t")


def table(rows: list[tuple[Any, ...]]) -> dict[str, list[Any]]:
    return {name: [row[i] for row in rows] for i, name in enumerate("uptv")}


def test_units_and_pieces_keep_their_order() -> None:
    rows = [("x", 1, 0, "a"), ("y", 1, 5, "b"), ("x", 1, 1, "A"), ("x", 2, 0, "b"), ("y", 1, 9, "b")]
    found = sequences(table(rows), FULL, STATES)
    assert [(u.name, u.pieces) for u in found] == [("x", (("a", "a"), ("b",))), ("y", (("b", "b"),))]
    assert "a" not in repr(found[0]).replace("name", "")


def test_without_unit_or_piece() -> None:
    found = sequences({"v": ["a", "b"]}, Layout("v"), STATES)
    assert [(u.name, u.pieces) for u in found] == [(None, (("a", "b"),))]


@pytest.mark.parametrize(
    ("rows", "words"),
    [
        ([("x", 1, 0, "a"), ("x", 1, 0, "b")], "column 't' has ties"),
        ([("x", 1, 1, "a"), ("x", 1, 0, "b")], "column 't' goes backwards"),
        ([("x", 1, 0, "a"), (None, 1, 1, "b")], "column 'u' has missing values"),
        ([("x", 1, 0, "a"), ("x", float("nan"), 1, "b")], "column 'p' has missing values"),
        ([("x", 1, 0, "a"), ("x", 1, None, "b")], "column 't' has missing values"),
        ([("x", 1, 0, "a"), ("x", 1, "soon", "b")], "neither all numbers nor all ISO"),
        ([("x", 1, 0, "a"), ("x", 1, float("inf"), "b")], "neither all numbers nor all ISO"),
        ([("x", 1, 0, "a"), ("x", 1, 1, "SENTINEL")], "a value that is no state"),
        ([("x", 1, 0, "a"), ("x", 1, 1, "")], "has missing states"),
        ([], "no rows"),
    ],
)
def test_rules(rows: list[tuple[Any, ...]], words: str) -> None:
    with pytest.raises(DataError, match=words) as caught:
        sequences(table(rows), FULL, STATES)
    assert "SENTINEL" not in str(caught.value)


def test_interleaved_rows_need_an_order() -> None:
    rows = [("x", 1, 0, "a"), ("y", 1, 0, "b"), ("x", 1, 1, "a")]
    assert len(sequences(table(rows), FULL, STATES)) == 2
    with pytest.raises(DataError, match="not together"):
        sequences(table(rows), Layout("v", "u", "p"), STATES)


def test_times_order_rows_and_steps_leave_gaps() -> None:
    start = datetime(2026, 1, 1)
    times = [start + timedelta(minutes=m) for m in (0, 1, 4)]
    expected = ("a", "b", None, None, "a")
    for order in (times, [t.isoformat() for t in times]):
        found = sequences({"t": order, "v": ["a", "b", "a"]}, Layout("v", order="t", step="1min"), STATES)
        assert found[0].pieces == (expected,)
    found = sequences({"t": ["0", "0.5", "2"], "v": ["a", "b", "a"]}, Layout("v", order="t", step=0.5), STATES)
    assert found[0].pieces == (expected,)
    with pytest.raises(DataError, match="whole number of steps"):
        sequences({"t": [0, 1.5], "v": ["a", "b"]}, Layout("v", order="t", step=1), STATES)
    with pytest.raises(DataError, match="differ in kind"):
        sequences({"t": [0, 1], "v": ["a", "b"]}, Layout("v", order="t", step="1min"), STATES)


def test_missing_states_by_rule() -> None:
    found = sequences({"v": ["a", None, "b"]}, Layout("v", nulls="unobserved"), STATES)
    assert found[0].pieces == (("a", None, "b"),)


def test_one_value_has_one_text() -> None:
    assert {text_of(v) for v in (3, 3.0, "3", " 3 ")} == {"3"}
    numbers = Recode((0, 1))
    assert sequences({"v": [1.0, "0", 1]}, Layout("v"), numbers)[0].pieces == ((1, 0, 1),)


def test_csv_files(tmp_path: Path) -> None:
    text = 'u,"état; raw",t\n"a, b",x,1\n\nc,,2\n'
    (tmp_path / "d.csv").write_text("\ufeff" + text, encoding="utf-8")
    with gzip.open(tmp_path / "d.csv.gz", "wt", encoding="utf-8") as file:
        file.write(text)
    for name in ("d.csv", "d.csv.gz"):
        assert read_columns(tmp_path / name, ["u", "état; raw"]) == {"u": ["a, b", "c"], "état; raw": ["x", None]}


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"", "is empty"),
        (b"u,v\n1,SENTINEL,3\n", "more or fewer fields"),
        ("u,v\n1,é\n".encode("latin-1"), "UTF-8"),
        (b'u,v\n1,"SENTINEL\n', "not a well-formed CSV"),
        (b"u,v\n1,SENT\0INEL\n", "no column"),
    ],
)
def test_broken_csv(tmp_path: Path, content: bytes, words: str) -> None:
    (tmp_path / "d.csv").write_bytes(content)
    columns = ["w"] if words == "no column" else ["u", "v"]
    with pytest.raises(InputError, match=words) as caught:
        read_columns(tmp_path / "d.csv", columns)
    assert "SENT" not in str(caught.value)


def test_broken_places(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="is a folder"):
        read_columns(tmp_path, ["v"])
    with pytest.raises(DataError, match="is a URL"):
        read_columns("https://x.org/d.csv", ["v"])
    with pytest.raises(DataError, match="cannot be read"):
        read_columns(tmp_path / "none.csv", ["v"])
    (tmp_path / "d.csv.gz").write_bytes(gzip.compress(b"u,v\n" + bytes(range(256)) * 50)[:-40])
    with pytest.raises(DataError):
        read_columns(tmp_path / "d.csv.gz", ["u"])
    (tmp_path / "d.parquet").write_bytes(b"SENTINEL")
    with pytest.raises(DataError, match="Parquet") as caught:
        read_columns(tmp_path / "d.parquet", ["u"])
    assert "SENTINEL" not in str(caught.value)
    with pytest.raises(InputError, match="did you mean 'state'"):
        read_columns_of({"state": [1]}, ["stat"])


def read_columns_of(columns: dict[str, list[Any]], wanted: list[str]) -> dict[str, list[Any]]:
    import polars

    return read_columns(polars.DataFrame(columns), wanted)


def test_frames_and_parquet(tmp_path: Path) -> None:
    import pandas
    import polars
    import pyarrow

    columns = {"u": [1, 2], "v": ["a", None]}
    makers: list[Any] = [pandas.DataFrame, polars.DataFrame, polars.LazyFrame, pyarrow.table]
    for frame in (make(columns) for make in makers):
        read = read_columns(frame, ["v", "u"])
        assert [text_of(x) for x in read["v"]] == ["a", None]
        assert [text_of(x) for x in read["u"]] == ["1", "2"]
    polars.DataFrame(columns).write_parquet(tmp_path / "d.parquet")
    assert read_columns(tmp_path / "d.parquet", ["u"]) == {"u": [1, 2]}
