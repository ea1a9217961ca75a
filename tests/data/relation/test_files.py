"""Files and frames as people have them: read as written, or refused with the line that mends it."""

import errno
import gzip
import math
import os
import re
import sqlite3
import sys
import tomllib
import tracemalloc
import zipfile
from contextlib import closing
from datetime import datetime
from decimal import Decimal
from pathlib import Path
from threading import Timer
from typing import Any

import duckdb
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet
import pytest
from tests.support.workbooks import Cell, write_workbook

from takifugu.core.errors import DataError, TakifuguError
from takifugu.data.relation.opening import files_read
from takifugu.data.relation.source import opened_table
from takifugu.data.sql.faults import RowFault, translated

KEYS: dict[str, Any] = {"unit": "who", "order": "t", "value": "v", "step": 1, "nulls": "unobserved"}
TEXT = "who,t,v\nAna,0,x\nAna,1,y\nBen,0,x\n"


def counts(folder: Path, frame: object = None, **keys: Any) -> list[list[int]]:
    with opened_table({**KEYS, **keys}, ["x", "y"], folder, frame) as source:
        by_unit: list[list[int]] = source.counts().counts.tolist()
        return by_unit


def refused(folder: Path, frame: object = None, **keys: Any) -> str:
    with pytest.raises(TakifuguError) as error:
        counts(folder, frame, **keys)
    return error.value.line


@pytest.mark.sampled(3)
@pytest.mark.parametrize("data", [
    TEXT.encode(), TEXT.encode("utf-8-sig"), TEXT.replace("\n", "\r\n").encode(), TEXT.replace(",", ";").encode(),
    TEXT.replace(",", "\t").encode(), TEXT.replace(",", "|").encode(), TEXT.rstrip().encode(),
    TEXT.replace("\n", "\n\n").replace("\n\n", "\n", 1).encode(), TEXT.replace("Ana", '"Ana"').encode(),
    b'"who",t,"v",""\nAna,0,x,\nAna,1,y,\nBen,0,x,\n', b"who,t,v,a,a,\nAna,0,x,1,2,3\nAna,1,y,,,\nBen,0,x,,,\n",
    b'who,t,v,"a\nb"\nAna,0,x,"1\n2"\nAna,1,y,\nBen,0,x,\n',
])  # fmt: skip
def test_a_text_file_is_split_where_its_first_line_names_the_columns(data: bytes, tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_bytes(data)
    assert counts(tmp_path, file="a.csv") == [[1, 1], [1, 0]]
    with gzip.open(tmp_path / "a.csv.gz", "wb") as file:
        file.write(data)
    assert counts(tmp_path, file="a.csv.gz") == [[1, 1], [1, 0]]


@pytest.mark.mutants
@pytest.mark.parametrize("is_packed", [False, True])
def test_a_last_line_that_duckdb_leaves_out_is_refused(is_packed: bool, tmp_path: Path) -> None:
    """A line without an end that fills a buffer of 32 MB is no row to DuckDB 2.0, and no error."""
    opened = gzip.open if is_packed else open
    with opened(tmp_path / "a.csv.gz" if is_packed else tmp_path / "a.csv", "wb") as file:
        file.write(TEXT.encode() + b"Ben,1," + b"x" * 33_000_000)
    name = "a.csv.gz" if is_packed else "a.csv"
    assert "ends with a line of more than 2 MB" in refused(tmp_path, file=name)
    assert "ends with a line of more than 2 MB" in refused(tmp_path, sql=f"from read_csv('{name}')")


@pytest.mark.mutants
@pytest.mark.parametrize("is_packed", [False, True])
def test_blank_lines_behind_which_duckdb_leaves_rows_out_are_refused(is_packed: bool, tmp_path: Path) -> None:
    """Where 2 MB from a thread's start on are blank, DuckDB 2.0 leaves out what follows, and that is no error."""
    name, opened = ("a.csv.gz", gzip.open) if is_packed else ("a.csv", open)
    for blank, is_read in ((900_000, True), (10_000_000, False), (12_000_000, False)):
        with opened(tmp_path / name, "wb") as file:
            file.write(TEXT.encode() + b"\n" * blank + b"Ben,1,x\n")
        if is_read:
            assert counts(tmp_path, file=name) == [[1, 1], [2, 0]]
            continue
        assert "has blank lines over more than 1 MB" in refused(tmp_path, file=name)
        assert "has blank lines over more than 1 MB" in refused(tmp_path, sql=f"from read_csv('{name}')")


@pytest.mark.parametrize("keys", [{}, {"encoding": "cp1252"}])
def test_a_packed_file_that_is_damaged_is_told(keys: dict[str, str], tmp_path: Path) -> None:
    whole = gzip.compress((TEXT + "".join(f"Cem,{n},x\n" for n in range(9999))).encode())
    for data in (whole[:10] + b"\xff" * 99, whole[:-500], whole[:5000] + b"\xff" * 99 + whole[5099:], b"Ana"):
        (tmp_path / "a.csv.gz").write_bytes(data)
        assert "a.csv.gz cannot be read" in refused(tmp_path, file="a.csv.gz", **keys)


@pytest.mark.parametrize("keys", [
    {"file": "a.csv"}, {"file": "a.parquet"}, {"file": "a.jsonl"}, {}, {"sql": "from 'a.parquet'"},
    {"sql": "from read_csv('a.csv')"}, {"sql": "from data"},
])  # fmt: skip
def test_more_columns_than_are_looked_up_are_refused(
    keys: dict[str, str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A hundred thousand of Parquet took more than five minutes."""
    monkeypatch.setattr("takifugu.data.files.text_file.MOST_COLUMNS", 4)
    frame = pd.DataFrame({"who": ["Ana"], "t": [0], "v": ["x"], "d": [1], "e": [1]})
    frame.to_csv(tmp_path / "a.csv", index=False)
    frame.to_parquet(tmp_path / "a.parquet")
    frame.to_json(tmp_path / "a.jsonl", orient="records", lines=True)
    given = frame if not keys or keys.get("sql") == "from data" else None
    assert "has more than 4 columns" in refused(tmp_path, given, **keys)


@pytest.mark.mutants
def test_a_field_whose_lines_look_like_rows_is_told(tmp_path: Path) -> None:
    """DuckDB starts threads in the middle of a file."""
    field = '"' + "Eve,1,x\n" * 2500 + '"'
    (tmp_path / "a.csv").write_text("who,t,v\n" + "Ana,0,x\n" * 998_750 + f"Ana,1,{field}\nAna,2,x\n")
    assert "a.csv: a field has lines of its own that look like rows" in refused(tmp_path, file="a.csv")


@pytest.mark.parametrize("encoding", ["cp1252", "latin-1", "utf-16", "cp437", "mac-roman", "utf-8"])
def test_a_text_of_another_encoding_is_read_as_declared(encoding: str, tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_bytes("Größe,t,v\nZoë,0,ü\n".encode(encoding))
    with opened_table({**KEYS, "unit": "Größe", "file": "a.csv", "encoding": encoding}, ["ü"], tmp_path) as source:
        assert source.counts().names[0].tolist() == ["Zoë"]
        assert source.counts().counts.tolist() == [[1]]
    if encoding != "utf-8":
        line = refused(tmp_path, unit="Größe", file="a.csv")
        assert "a.csv is not UTF-8 text" in line
        assert line.endswith(f'encoding = "{"utf-16" if encoding == "utf-16" else "cp1252"}"')
    if encoding == "utf-16":
        line = refused(tmp_path, unit="Größe", file="a.csv", encoding="cp1252")
        assert line == 'encoding: a.csv is not written in cp1252; encoding = "utf-16"'
        assert "a.csv has no 'Name'" in refused(tmp_path, unit="Name", file="a.csv", encoding="utf-16")


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere every name is a text")
def test_a_folder_or_a_file_whose_name_is_no_text_is_told(tmp_path: Path) -> None:
    folder = tmp_path / os.fsdecode(b"caf\xe9")
    folder.mkdir()
    for path in (folder / "a.csv", tmp_path / os.fsdecode(b"\xe9.csv")):
        path.write_text(TEXT)
    for where, name in ((folder, "a.csv"), (tmp_path, "*.csv")):
        line = refused(where, file=name)
        assert "\\udce9" in line
        assert "is no text in UTF-8" in line


@pytest.mark.mutants
def test_the_fault_of_a_line_does_not_follow_from_the_path(tmp_path: Path) -> None:
    (tmp_path / "utf8").mkdir()
    (tmp_path / "utf8" / "unicode.csv").write_text(TEXT + "Ben,1\n")
    line = refused(tmp_path, file="utf8/unicode.csv")
    assert "line 5 of unicode.csv: lines of the file do not have the same columns" in line
    (tmp_path / "far.csv").write_bytes(TEXT.encode() + b"Cem,10,x\n" * 1_200_000 + b"Zo\xeb,1,x\n")
    assert "of far.csv: the file is not UTF-8 text" in refused(tmp_path, file="far.csv")


def test_a_value_of_another_type_than_read_csv_declares_is_told_as_such(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text(TEXT + "Ben,Geheim,x\n")
    columns = "{who: 'VARCHAR', t: 'INTEGER', v: 'VARCHAR'}"
    line = refused(tmp_path, sql=f"from read_csv('a.csv', header = true, columns = {columns})")
    assert "line 5 of a.csv: a value is not of the type that columns of read_csv() declares" in line
    assert "Geheim" not in line


def test_an_encoding_of_what_is_no_text_file_is_refused(tmp_path: Path) -> None:
    (tmp_path / "a.jsonl").write_text('{"who": "Ana", "t": "0", "v": "x"}\n', "utf-8")
    assert "text files have one" in refused(tmp_path, file="a.jsonl", encoding="latin-1")


def test_a_first_line_is_never_told_as_it_may_be_a_row(tmp_path: Path) -> None:
    """Not even one that names all other columns: of a file that was cut, it goes on as a row."""
    for line in ("Ana;0;geheim", "who;0;geheim", "who;t;geheim", "who;t;stat7;geheim"):
        (tmp_path / "a.csv").write_text(f"{line}\nAna;0;x\n")
        assert "geheim" not in refused(tmp_path, file="a.csv", unit="who", order="t", value="v")


@pytest.mark.sampled(3)
@pytest.mark.parametrize(("data", "words"), [
    (b"", "a.csv is empty"),
    (b"\n\nwho,t,v\nAna,0,x\n", "has no"), (b"Ana,0,x\n", "has no"), (b"who,t\nAna,0\n", "has no 'v'"),
    (b"who,t,v,v\nAna,0,x,y\n", "names 'v' twice"), (b"who,t,v,V\nAna,0,x,y\n", "names 'v' twice"),
    (b"who,t,v\nAna,0\n", "line 2 of a.csv: lines of the file do not have the same columns"),
    (b"who,t,v\nAna,0,x,9\n", "line 2 of a.csv: lines of the file do not have the same columns"),
    (b"who,t,v\nAna,0,utf-8,nicode\n", "line 2 of a.csv: lines of the file do not have the same columns"),
    (b'who,t,v\n"Ana,0,x\n', "line 2 of a.csv: a quote is opened and not closed"),
    (b'who,t,v\n"An"a,0,x\nAna,1,x\n', "line 2 of a.csv: a quote is opened and not closed"),
    (b"who,t,v\nAna,0,x\r\nAna,1,x\nAna,2,x\r", "a.csv: lines end in two ways"),
    (b"who,t,v\nAna," + b"0" * 3_000_000 + b",x\nAna,1,x\n", "line 2 of a.csv: a line has more than 2 MB"),
    (b"PK\x03\x04\0\0\0", "begins as a file .xlsx does"),
    (b"who,t,v\n", "there are no rows"), (b"who,t,v\nAna,0,\xe9\n", "a.csv is not UTF-8 text"),
    (b"who,t,v," + b"a," * 100_000 + b"\nAna,0,x\n", "more than 10,000 columns"),
    (b"id,who,t,v\n1,Ana,0,x,5\n2,Ana,1,x,5\n", "line 2 of a.csv"),
])  # fmt: skip
def test_a_text_file_that_is_none_is_told(data: bytes, words: str, tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_bytes(data)
    line = refused(tmp_path, file="a.csv")
    assert words in line, line
    assert "Ana" not in line or words == "has no"


def test_a_sheet_and_a_database_are_tables_of_texts(tmp_path: Path) -> None:
    write_workbook(tmp_path / "a.xlsx", {"One": [["who", "t", "v"], ["Ana", 0, "x"], ["Ana", 1, "y"], ["Ben", 0, "x"]]})
    assert counts(tmp_path, file="a.xlsx") == [[1, 1], [1, 0]]
    write_workbook(tmp_path / "b.xlsx", {"One": [["who", "t", "v"], ["Ana", 0, "x"]], "Two": [["a"], [1]]})
    assert "has 2 tables" in refused(tmp_path, file="b.xlsx")
    assert counts(tmp_path, file="b.xlsx", sql='from "One"') == [[1, 0]]
    titled = [["Ward 3, 2 March"], [None], ["who", "t", "v"], ["Ana", 0, "x"], ["Ben", 0, "y"]]
    write_workbook(tmp_path / "c.xlsx", {"One": titled})
    below = {"unit": "Ward 3, 2 March", "order": "column 2", "value": "column 3", "where": '"column 2" <> \'t\''}
    assert counts(tmp_path, file="c.xlsx", **below) == [[1, 0], [0, 1]]
    unnamed = [[None, "t", None], ["who", "t", None], ["Ana", 0, "x"]]
    write_workbook(tmp_path / "f.xlsx", {"One": unnamed})  # a name in one cell above two columns
    assert counts(tmp_path, file="f.xlsx", unit="column 1", value="column 3", where="t <> 't'") == [[1, 0]]
    write_workbook(tmp_path / "d.xlsx", {"One": [["t"], [0], [1]]})  # of one column the first row names it
    assert counts(tmp_path, file="d.xlsx", unit="'all'", value="'x'") == [[2, 0]]
    base = sqlite3.connect(tmp_path / "a.sqlite")
    base.execute("create table visits (who, t, v)")
    base.executemany("insert into visits values (?, ?, ?)", [("Ana", 0, "x"), ("Ana", "1", "y"), ("Ben", 0.0, "x")])
    base.commit()
    base.close()
    assert counts(tmp_path, file="a.sqlite") == [[1, 1], [1, 0]]
    (tmp_path / "a.db").write_bytes((tmp_path / "a.sqlite").read_bytes())  # its first bytes say what it is
    assert counts(tmp_path, file="a.db") == [[1, 1], [1, 0]]
    assert counts(tmp_path, file="a.sqlite", sql="select * from visits where who <> 'Ben'") == [[1, 1]]


def test_a_row_of_a_database_without_a_value_is_a_row(tmp_path: Path) -> None:
    """Of a table of one column it was left out in silence, as an empty line of a sheet is."""
    with closing(sqlite3.connect(tmp_path / "a.sqlite")) as base:
        base.execute("create table answers (answer text)")
        base.executemany("insert into answers values (?)", [("x",), (None,), ("y",)])
        base.commit()
    keys = {"file": "a.sqlite", "rows": "answers", "value": "answer"}
    with opened_table(keys, ["x", "y"], tmp_path) as source, pytest.raises(TakifuguError, match='row 2: nothing in'):
        source.answers()
    with opened_table({**keys, "nulls": "unobserved"}, ["x", "y"], tmp_path) as source:
        assert source.answers().rows.tolist() == [1, 1, 1]
    with duckdb.connect(str(tmp_path / "a.duckdb")) as other:
        other.execute("create table visits as select * from (values ('Ana', 0, 'x'), ('Ana', 1, 'y')) k(who, t, v)")
    assert counts(tmp_path, file="a.duckdb") == [[1, 1]]
    assert counts(tmp_path, file="a.duckdb", sql="from visits where t = 0") == [[1, 0]]


@pytest.mark.parametrize(("merged", "is_read"), [("A1:B1", True), ("A2:A3", False), ("B2:C2", False)])
def test_merged_cells_have_one_value_and_are_refused(merged: str, is_read: bool, tmp_path: Path) -> None:
    """What a sheet shows for two rows counted once; of a line of names, or a title above it, nothing is counted."""
    path = write_workbook(tmp_path / "a.xlsx", {"One": [["who", "t", "v"], ["Ana", 0, "x"], ["Ana", 1, "y"]]})
    with zipfile.ZipFile(path) as book:
        sheet = book.read("xl/worksheets/sheet1.xml").decode()
    end = f'</sheetData><mergeCells count="1"><mergeCell ref="{merged}"/></mergeCells>'
    changed = {"xl/worksheets/sheet1.xml": sheet.replace("</sheetData>", end)}
    write_workbook(path, {"One": []}, changed)
    if is_read:
        assert counts(tmp_path, file="a.xlsx") == [[1, 1]]
    else:
        assert "has merged cells below its first row" in refused(tmp_path, file="a.xlsx")


@pytest.mark.parametrize("cell", [
    '<c r="{place}"><f t="shared" si="0"/></c>', '<c r="{place}"><f><![CDATA[A<2]]></f></c>',
    '<c r="{place}"><f>A1</f><!-- none --></c>', '<c r="{place}"><f>A1</f><v xml:space="preserve"></v></c>',
    '<c r="{place}"><f>1+1</f></c>', '<c r="{place}"><f>1+1</f><v></v></c>', '<c r="{place}" t="e"><v>#DIV/0!</v></c>',
])  # fmt: skip
def test_a_cell_that_nothing_has_computed_is_refused(cell: str, tmp_path: Path) -> None:
    write_workbook(tmp_path / "a.xlsx", {"One": [["who", "t", "v"], ["Ana", 0, "x"], ["Ana", 1, Cell(cell)]]})
    assert "file: " in refused(tmp_path, file="a.xlsx")
    (tmp_path / "b.xlsx").write_bytes(b"PK no workbook")
    assert "damaged" in refused(tmp_path, file="b.xlsx")


def test_a_long_select_is_no_name_of_a_file(tmp_path: Path) -> None:
    """A system has an error of its own for a name of more than 255 letters."""
    (tmp_path / "a.csv").write_text(TEXT)
    select = f"select who, t, v from read_csv('a.csv', all_varchar = true) where {' and '.join(['who = who'] * 40)}"
    assert counts(tmp_path, sql=select) == [[1, 1], [1, 0]]
    assert files_read(select, tmp_path) == (tmp_path / "a.csv",)


def test_lines_of_json_are_texts(tmp_path: Path) -> None:
    (tmp_path / "a.jsonl").write_text('{"who": "Ana", "t": 0, "v": "x"}\n{"who": "Ana", "t": 1, "v": "y", "z": [1]}\n')
    assert counts(tmp_path, file="a.jsonl") == [[1, 1]]
    (tmp_path / "a.jsonl").write_text('{"who": 7.0, "t": 0, "v": "x"}\n')
    assert "with a point" in refused(tmp_path, file="a.jsonl")
    (tmp_path / "a.jsonl").write_text("{broken\n")
    assert "broken" not in refused(tmp_path, file="a.jsonl")


def test_what_numbers_there_are_stands_in_no_reading(tmp_path: Path) -> None:
    """Types are those of all numbers of a column: one fraction, a missing one or a long one stood on certificates."""
    readings, bins = set[str](), {"low": [0, 10], "high": [10, math.inf]}
    longs = [Decimal("1.5"), Decimal("12345.678")]
    for numbers in ([1, 2], [1, 2.5], [1, None], [Decimal("1.5")] * 2, longs, [2**40, 3]):
        columns = {"who": ["Ana", "Ana"], "t": [0, 1], "v": numbers}
        frames = [pd.DataFrame(columns), pd.DataFrame({**columns, "v": pd.Series(numbers, dtype=object)})]
        for frame in [*frames, pl.DataFrame(columns, strict=False)]:
            with opened_table({**KEYS, "bins": bins, "nulls": "unobserved"}, (), tmp_path, frame) as source:
                readings.add(str(source.reading))
    (reading,) = readings
    assert '\nvalue: "v"\n' in reading


def test_frames_of_all_libraries_are_the_same(tmp_path: Path) -> None:
    columns = {"who": ["Ana", "Ana", "Ben"], "t": [0, 1, 0], "v": ["x", "y", "x"]}
    frames = [
        pd.DataFrame(columns), pd.DataFrame(columns, index=[3, 1, 2]),
        pd.DataFrame(columns).set_index(["who", "t"]), pd.DataFrame(columns).set_index("t", drop=False),
        pd.DataFrame(columns).astype({"v": "category"}),
        pl.DataFrame(columns), pl.LazyFrame(columns), pa.table(columns), pa.table(columns).to_reader(),
        duckdb.sql("select * from (values ('Ana', 0, 'x'), ('Ana', 1, 'y'), ('Ben', 0, 'x')) k(who, t, v)"),
    ]  # fmt: skip
    for frame in frames:
        assert counts(tmp_path, frame) == [[1, 1], [1, 0]]
    assert counts(tmp_path, frames[0], sql="from data where who = 'Ana'") == [[1, 1]]
    for wrong in ({"who": ["A"]}, [1], "a", object()):
        assert refused(tmp_path, wrong)
    for who in (["Geheim", 7], [2**70, 7]):
        said = refused(tmp_path, pd.DataFrame({"who": who, "t": [0, 1], "v": ["x", "y"]}))
        assert "column 1 of the frame has values of several types" in said
        assert "frame.astype({frame.columns[0]: 'string'})" in said
    assert "names 't' twice" in refused(tmp_path, pd.DataFrame([[1, 2, 3]], columns=["who", "t", "t"]))
    half = pd.DataFrame(columns).assign(x=pd.Series([1, 2, 3], dtype="float16"))
    assert "column 4 of the frame has a type that DuckDB does not know, such as float16" in refused(tmp_path, half)
    for series in (pd.Series([1]), pl.Series([1])):
        assert "a Series is no table of rows" in refused(tmp_path, series)
    assert "twice" in refused(tmp_path, pa.table([["a"], [0], ["x"], ["y"]], names=["who", "t", "v", "V"]))


def test_a_level_of_an_index_that_has_a_name_is_a_column_beside_one_without(tmp_path: Path) -> None:
    """pd.concat of a dictionary has such an index."""
    parts = {who: pd.DataFrame({"v": ["x", "y"]}, index=pd.Index([0, 1], name="t")) for who in ("Ana", "Ben")}
    assert counts(tmp_path, pd.concat(parts).assign(who=["Ana", "Ana", "Ben", "Ben"])) == [[1, 1], [1, 1]]


def test_what_is_computed_as_it_is_read_fails_without_its_rows(tmp_path: Path) -> None:
    """A plan of Polars, a relation of DuckDB: their errors quote rows, and were called faults of the program."""
    rows = pl.DataFrame({"who": ["Ana", "Ana"], "t": ["0", "Geheim"], "v": ["x", "y"]})
    connection = duckdb.connect()
    connection.register("rows", rows.to_arrow())
    plans = [rows.lazy().cast({"t": pl.Int64}), connection.sql("select who, t::int as t, v from rows")]
    for plan in plans:
        said = refused(tmp_path, plan)
        assert "the frame cannot be read (" in said
        assert "compute it first" in said
        assert "Geheim" not in said
    for wrong in (pl.col("v"), rows.group_by("v"), pl.DataFrame, pd.DataFrame):
        assert "is no table of rows" in refused(tmp_path, wrong)


def test_a_frame_of_nothing_says_what_it_lacks(tmp_path: Path) -> None:
    for empty in (pd.DataFrame(), pl.DataFrame(), pa.table([], names=[])):
        assert "the frame has no columns" in refused(tmp_path, empty)
    reader = pa.table({"who": ["Ana"], "t": [0], "v": ["x"]}).to_reader()
    assert counts(tmp_path, reader) == [[1, 0]]
    assert "the reader has no rows left; it gives them once; give its reader.read_all()" in refused(tmp_path, reader)


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="there are no pipes")
def test_a_pipe_in_the_place_of_a_file_is_not_waited_for(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text(TEXT)
    with opened_table({**KEYS, "file": "a.csv"}, ["x", "y"], tmp_path) as source:
        (tmp_path / "a.csv").unlink()
        os.mkfifo(tmp_path / "a.csv")
        late = Timer(10, lambda: os.close(os.open(tmp_path / "a.csv", os.O_WRONLY | os.O_NONBLOCK)))
        late.start()
        with pytest.raises(DataError, match="changed while it was read"):
            source.counts()
        assert late.is_alive()
        late.cancel()


def test_a_file_that_changes_while_it_is_read_is_refused(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text(TEXT)
    with opened_table({**KEYS, "file": "a.csv"}, ["x", "y"], tmp_path) as source:
        (tmp_path / "a.csv").write_text(TEXT + "Ben,1,x\n")
        with pytest.raises(DataError, match="changed while it was read"):
            source.counts()


@pytest.mark.parametrize("place", ["takifugu.data.files.text_file.shutil.copyfileobj", "tempfile.TemporaryDirectory"])
def test_a_full_disk_is_told_where_rows_are_kept_on_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, place: str
) -> None:
    """It was once a fault of the program itself."""
    (tmp_path / "a.csv").write_text(TEXT)

    def full(*_: object, **__: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(place, full)
    said = refused(tmp_path, file="a.csv", encoding="cp1252")
    assert "rows cannot be kept on the disk while they are read (no space left on device)" in said
    assert "TMPDIR" in said


@pytest.mark.parametrize("words", [
    "failed to offload data block of size 256.0 KiB (0 bytes/0 bytes used).\nThis limit was set by the "
    "'max_temp_directory_size' setting.", 'Could not write file "a.tmp": No space left on device',
])  # fmt: skip
def test_a_full_disk_is_no_lack_of_memory(words: str) -> None:
    assert "make room" in str(translated(duckdb.OutOfMemoryException(f"Out of Memory Error: {words}"), "file"))


def test_a_file_whose_time_was_set_back_is_refused_where_it_changed(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_text(TEXT)
    with opened_table({**KEYS, "file": "a.csv"}, ["x", "y"], tmp_path) as source:
        times = path.stat()
        path.write_text(TEXT.replace("x", "y"))
        os.utime(path, ns=(times.st_atime_ns, times.st_mtime_ns))
        assert path.stat().st_size == times.st_size
        with pytest.raises(DataError, match="changed while it was read"):
            source.counts()


def test_a_name_of_a_file_may_hold_patterns_and_quotes(tmp_path: Path) -> None:
    for name in ("a*b.csv", "it's.csv", "[1].csv"):
        (tmp_path / name).write_text(TEXT)
        quoted = name.replace("'", "''")
        assert counts(tmp_path, file=name) == [[1, 1], [1, 0]]
        assert counts(tmp_path, sql=f"from read_csv('{quoted}')") == [[1, 1], [1, 0]]


def test_many_files_are_one_table(tmp_path: Path) -> None:
    (tmp_path / "1.csv").write_text("who,t,v\nAna,0,x\n")
    (tmp_path / "2.csv").write_text("who,t,v\nAna,1,y\n")
    assert counts(tmp_path, file="?.csv") == [[1, 1]]
    assert counts(tmp_path, sql="from read_csv(['1.csv', '2.csv'], filename = true)") == [[1, 1]]
    (tmp_path / "3.csv").write_text("who,v,t\nAna,y,3\n")
    assert "differ" in refused(tmp_path, file="?.csv")
    assert "differ" in refused(tmp_path, sql="from read_csv('?.csv')")


def test_columns_called_as_words_of_sql_are_columns(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text('select,from,"a ""b"" c"\nAna,0,x\n')
    assert counts(tmp_path, file="a.csv", unit="select", order="from", value='a "b" c') == [[1, 0]]


def test_a_reading_is_text_without_paths_and_dates(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("who;t;v\nAna;2026-01-05T00:00;x\n")
    texts = []
    for day, name, step in ((5, "a.csv", "1h"), (12, "b.csv", "60min")):
        (tmp_path / name).write_text(f"who,t,v\nAna,2026-01-{day:02}T00:00,x\n")
        keys = {**KEYS, "step": step, "from": f"2026-01-{day:02}", "until": f"2026-01-{day + 7:02}",
                "sql": f"select *  from read_csv('{name}')", "value": "lower( v )",
                "where": f"who <> '2026-01-05' and t >= '2026-01-{day:02}'"}  # fmt: skip
        with opened_table(keys, ["x"], tmp_path) as source:
            texts.append(source.reading)
    assert texts[0] == texts[1]
    assert texts[0].splitlines() == [
        "file: sql", "sql: SELECT * FROM read_csv('$file')", "rows: samples",
        "where: ((who != '2026-01-05') AND (t >= '$from')) (BOOLEAN)", 'unit: "who" (VARCHAR)',
        'order: "t" (VARCHAR)', "value: lower(v)", "nulls: unobserved", "step: 3600s", "gaps: public",
        "start between steps: 0",
    ]  # fmt: skip


@pytest.mark.sampled(5)
@pytest.mark.parametrize(("pattern", "names"), [
    ("'logs/*.csv'", ["Ana.csv", "Ben.csv"]), ("'*/Ana.csv'", ["logs/Ana.csv", "more/Ana.csv"]),
    ("['logs/Ana.csv', 'logs/Ben.csv']", ["Ana.csv", "Ben.csv"]), ("'*/B*.csv'", ["logs/Ben.csv"]),
])  # fmt: skip
@pytest.mark.parametrize("encoding", ["", ", encoding = 'cp1252'"])
def test_a_file_is_called_as_its_pattern_leaves_open(
    tmp_path: Path, pattern: str, names: list[str], encoding: str
) -> None:
    """It was called by its whole path: people named by their files were others in a folder that was moved.

    Of a file in another encoding the path was that of a copy, and another one each time.
    """
    for place in ("logs/Ana", "logs/Ben", "more/Ana"):
        (tmp_path / place).parent.mkdir(exist_ok=True)
        (tmp_path / f"{place}.csv").write_text("t,v\n0,x\n")
    sql = f"from read_csv({pattern}, filename = true{encoding})"
    with opened_table({**KEYS, "unit": "filename", "sql": sql}, ["x"], tmp_path) as source:
        assert sorted(source.counts().names[0].tolist()) == names
        assert str(tmp_path) not in source.reading
        assert ("$file/*/Ana.csv" in source.reading) == (pattern == "'*/Ana.csv'")  # another pattern, other names


@pytest.mark.parametrize("keys", [{"file": "/**/*.csv"}, {"file": "**"}, {"sql": "from read_csv('/**/*.csv')"}])
def test_a_pattern_of_all_folders_of_a_machine_is_refused(tmp_path: Path, keys: dict[str, str]) -> None:
    """It was looked for without an end."""
    assert "has **; all folders of a machine have no end; write each level" in refused(tmp_path, **keys)


def test_two_files_of_one_name_are_not_told_apart_by_it(tmp_path: Path) -> None:
    for place in ("logs", "more"):
        (tmp_path / place).mkdir()
        (tmp_path / place / "Ana.csv").write_text("t,v\n0,x\n")
    sql = "from read_csv(['logs/Ana.csv', 'more/Ana.csv'], filename = true)"
    assert "filename is the same for two files" in refused(tmp_path, unit="filename", sql=sql)


def test_a_time_of_python_is_a_time(tmp_path: Path) -> None:
    frame = pd.DataFrame({"who": ["A"], "t": [datetime(2026, 1, 5)], "v": ["x"]})
    assert counts(tmp_path, frame, step="1h") == [[1, 0]]


def test_a_text_of_a_megabyte_in_parquet_is_refused_where_it_is_used(tmp_path: Path) -> None:
    """A dictionary of a few KB says it a million times, and each one would be copied."""
    names = pa.array(["x", "n" * 1_000_000]).dictionary_encode()
    table = pa.table({"who": ["Ana", "Ben"], "t": [0, 0], "v": ["x", "y"], "note": names})
    pa.parquet.write_table(table, tmp_path / "a.parquet")
    assert counts(tmp_path, file="a.parquet") == [[1, 0], [0, 1]]
    assert counts(tmp_path, sql="select * exclude (note) from 'a.parquet'") == [[1, 0], [0, 1]]
    long = "the column 'note' has a text of more than 100,000 bytes"
    assert long in refused(tmp_path, file="a.parquet", value="note")
    assert long in refused(tmp_path, file="a.parquet", unit="concat(who, left(note, 1))")
    assert long in refused(tmp_path, sql="select * replace (left(note, 1) as v) from read_parquet('a.parquet')")


@pytest.mark.parametrize(("path", "what"), [
    ("https://a.org/a.csv", "is an address"), ("s3://a/b.parquet", "is an address"), (".", "is a folder"),
    ("data", "is a folder"), ("none.csv", "there is no file"), ("none/*.csv", "there is no file"),
])  # fmt: skip
def test_what_is_no_file_is_told_what_it_is(path: str, what: str, tmp_path: Path) -> None:
    (tmp_path / "data").mkdir()
    assert what in refused(tmp_path, file=path)
    assert what in refused(tmp_path, sql=f"from read_csv('{path}')")


def test_lines_of_json_without_a_line_are_an_empty_table(tmp_path: Path) -> None:
    """As a text file with its line of names alone is; who stayed nowhere has the default state."""
    (tmp_path / "a.jsonl").write_text("")
    keys = {"file": "a.jsonl", "unit": "lower(who)", "order": "t", "end": "t::int + 1", "value": "v", "step": 1}
    stays = {**keys, "rows": "stays", "from": 0, "until": 5, "roster": ["ana"], "default_state": "y"}
    with opened_table(stays, ["x", "y"], tmp_path) as source:
        assert source.counts().counts.tolist() == [[0, 5]]
    with opened_table({**keys, "end": None}, ["x", "y"], tmp_path) as source, pytest.raises(TakifuguError) as error:
        source.counts()
    assert "there are no rows" in error.value.line


def test_a_workbook_with_a_part_twice_is_damaged(tmp_path: Path) -> None:
    """One reader would take the first, and another the last."""
    write_workbook(tmp_path / "a.xlsx", {"One": [["who", "t", "v"], ["Ana", 0, "x"]]})
    with zipfile.ZipFile(tmp_path / "a.xlsx", "a") as book:
        sheet = next(name for name in book.namelist() if "sheet1" in name)
        with pytest.warns(UserWarning, match="Duplicate name"):
            book.writestr(sheet, book.read(sheet))
    assert "a.xlsx is damaged, encrypted or no workbook" in refused(tmp_path, file="a.xlsx")


@pytest.mark.mutants
def test_a_workbook_of_blanks_is_unpacked_once(tmp_path: Path) -> None:
    """Blanks pack a thousand times smaller, and what is looked at is packed again before it is read."""
    write_workbook(tmp_path / "a.xlsx", {"One": [["who", "t", "v"], ["Ana", 0, "x"]]})
    with zipfile.ZipFile(tmp_path / "a.xlsx") as book, zipfile.ZipFile(tmp_path / "b.xlsx", "w", 8) as other:
        for name in book.namelist():
            xml = book.read(name)
            blanks = b" " * 40_000_000 + b"</sheetData>"
            other.writestr(name, xml.replace(b"</sheetData>", blanks) if "sheet1" in name else xml)
    tracemalloc.start()
    assert counts(tmp_path, file="b.xlsx") == [[1, 0]]
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 60_000_000  # two copies are 80 MB


def test_of_a_file_without_a_line_of_names_no_word_is_told(tmp_path: Path) -> None:
    """Its first row was quoted where a value was spelt nearly as a column that the file declares."""
    (tmp_path / "rows.csv").write_text("Annika,2026-01-05T00:00,ill\nBert,2026-01-05T01:00,well\n")
    with pytest.raises(TakifuguError) as refusal:
        counts(tmp_path, file="rows.csv", unit="Anika")
    assert "has no 'Anika'; its column 1 is spelt alike" in str(refusal.value)
    assert "Annika" not in str(refusal.value)


@pytest.mark.parametrize("keys", [
    {"sql": "from read_csv('rows.csv')", "unit": "Anika"}, {"sql": "select Anika, i, j from read_csv('rows.csv')"},
    {"sql": "from read_csv('rows.csv')", "unit": "An nika"}, {"sql": "from read_csv('rows.csv')", "where": "Anika = 1"},
])  # fmt: skip
def test_nor_is_one_where_sql_reads_it(keys: dict[str, str], tmp_path: Path) -> None:
    (tmp_path / "rows.csv").write_text("Annika,i,j\nBert,1,ill\n")
    with pytest.raises(TakifuguError) as refusal:
        counts(tmp_path, **{"unit": None, "order": "i::int", "value": "j", **keys})
    assert "its column 1 is spelt alike" in str(refusal.value)
    assert "Annika" not in str(refusal.value)


@pytest.mark.parametrize("values", [[1, 2, 3], [True, False, True], pd.Categorical(["X", "Y", "Z"])])
def test_what_is_proposed_for_an_undeclared_value_can_be_pasted_whatever_its_type(values: Any, tmp_path: Path) -> None:
    """lower() and trim() of a number named no column, it said, and not even under its key."""
    frame = pd.DataFrame({"who": ["Ana", "Ana", "Ben"], "t": [0, 1, 0], "v": values})
    with pytest.raises(TakifuguError) as error:
        counts(tmp_path, frame)
    (line,) = re.findall("^value = .*(?= or a CASE)", error.value.fix)
    if isinstance(values, pd.Categorical):  # of which lower() finds two
        with pytest.raises(RowFault, match="row 3: a value in"):
            counts(tmp_path, frame, **tomllib.loads(line))
        return
    with pytest.raises(RowFault, match=r"a value in .* that is not declared"):
        counts(tmp_path, frame, **tomllib.loads(line))
    assert refused(tmp_path, frame, value="lower(v)").startswith("value: value names a column that is not there, or co")
