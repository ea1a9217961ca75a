"""Files of every format hold what the same rows hold as CSV; broken ones are refused, and nothing of them is quoted."""

import json
import pickle
import re
import sqlite3
import subprocess
import sys
import zipfile
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

import duckdb
import pytest
from tests.support.data_files import SOURCES, Values, as_sqlite
from tests.support.engines import entries
from tests.support.workbooks import CLOCK, DATE, ERROR, MOMENT, Cell, write_workbook

from takifugu.core.errors import DataError, InputError
from takifugu.data import Layout, Recode, Table, Written, open_frame, sniffed, tally

STATES = Recode(("still", "walk"))
LAYOUT = Layout("state", unit="who", order="minute", nulls="unobserved", null_keys="drop")
ROWS: Values = {
    "who": ["Ana", "Ben", " Ana", 'Zoë "Z"', "Ben", None, "a,b;c", 'Zoë "Z"'],
    "minute": [2, 10, 1, 5, 9, 3, 1, 4],
    "state": ["still", "walk", "walk", None, " still ", "walk", "walk", "still"],
    "a b\"c": ["line\nend", "", "x\r\ny", "*", "NULL", "0", None, "\\"],
    "share": [0.1, 1e-7, 2.5, None, 3.0, 1e20, -0.0, 12345678.9],
    "ill": [True, False, None, True, True, False, False, True],
}  # fmt: skip


def read(table: Table) -> list[tuple[Any, list[int]]]:
    return [(piece.unit, piece.values.tolist()) for piece in entries(table, LAYOUT, STATES)]


@pytest.mark.sampled(5)
@pytest.mark.parametrize("kind", SOURCES)
def test_the_same_rows_are_the_same_integers(kind: str, reader: str, tmp_path: Path) -> None:
    if kind == "DuckDB" and reader == "polars":
        return
    name, write = SOURCES[kind]
    write(tmp_path / name, ROWS)
    SOURCES["CSV"][1](tmp_path / "same.csv", ROWS)
    table, same = open_frame(tmp_path / name, ["NULL"]), open_frame(tmp_path / "same.csv", ["NULL"])
    assert read(table) == read(same)
    assert table.names[: len(ROWS)] == same.names
    for column, codes in (('a b"c', {"line\nend": 0, "*": 1, "\\": 2}), ("ill", {"true": 0, "false": 1})):
        assert tally(table, {column: codes}) == tally(same, {column: codes})


@pytest.mark.sampled(5)
@pytest.mark.parametrize("kind", [kind for kind in SOURCES if kind != "DuckDB"])
def test_rows_stand_in_their_order(kind: str, reader: str, tmp_path: Path) -> None:
    name, write = SOURCES[kind]
    write(tmp_path / name, {"state": ["still", "walk", "walk", "still"] * 500, "n": [str(n) for n in range(2000)]})
    (piece,) = entries(open_frame(tmp_path / name), Layout("state"), STATES)
    assert piece.values.tolist() == [0, 1, 1, 0] * 500


def test_rows_of_a_duckdb_table_have_no_order(tmp_path: Path) -> None:
    SOURCES["DuckDB"][1](tmp_path / "d.duckdb", {"state": ["still"]})
    with pytest.raises(DataError, match="keeps no order of its rows"):
        entries(open_frame(tmp_path / "d.duckdb"), Layout("state"), STATES)


def in_sqlite(path: Path, *statements: str) -> Path:
    with closing(sqlite3.connect(path)) as base, base:
        for statement in statements:
            base.execute(statement)
    return path


def test_cells_of_a_workbook_are_read_as_csv_has_them(tmp_path: Path) -> None:
    sheet = [(None, None), ("day", "at", "clock", "n"), (DATE, MOMENT, CLOCK, 3), (None,) * 4, ("x", 0.5, True, 1e20)]
    write_workbook(tmp_path / "d.xlsx", {"other": [("a",), (ERROR,)], "one": sheet})
    table = open_frame(tmp_path / "d.xlsx", written=Written(sheet="one"))
    assert table.names == ("day", "at", "clock", "n")
    assert table.filled.frame.to_native().fetchall() == [
        ("2026-01-31", "2026-01-31T10:30:00", "10:30:03", "3"), ("x", "0.5", "true", "1e+20"),
    ]  # fmt: skip
    bare = open_frame(tmp_path / "d.xlsx", written=Written(sheet="one", header=False))
    assert bare.names == ("column_1", "column_2", "column_3", "column_4")


def test_rows_of_sqlite_stand_by_their_key_and_are_not_sorted_by_an_index(tmp_path: Path) -> None:
    as_sqlite(tmp_path / "d.db", {"state": ["walk", "still", "walk"], "rowid": ["c", "a", "b"]})
    in_sqlite(tmp_path / "d.db", 'create index all_of_it on visits (state, "rowid")')
    without_rowids = in_sqlite(
        tmp_path / "e.db", "create table visits (state text, n integer, primary key (n)) without rowid",
        "insert into visits values ('walk', 2), ('still', 1), ('walk', 3)",
        "create index all_of_it on visits (state, n)",
    )  # fmt: skip
    for path, expected in ((tmp_path / "d.db", [1, 0, 1]), (without_rowids, [0, 1, 1])):
        (piece,) = entries(open_frame(path), Layout("state"), STATES)
        assert piece.values.tolist() == expected


def with_floats(path: Path, who: Sequence[float]) -> Table:
    if path.suffix == ".xlsx":
        write_workbook(path, {"a": [("who", "state"), *((number, "walk") for number in who)]})
    else:
        with closing(sqlite3.connect(path)) as base, base:
            base.execute("create table a (who real, state text)")
            base.executemany("insert into a values (?, 'walk')", [(number,) for number in who])
    return open_frame(path)


@pytest.mark.parametrize("name", ["d.xlsx", "d.db"])
def test_a_number_that_may_have_lost_its_last_digits_names_nobody(name: str, tmp_path: Path) -> None:
    """Who is 9007199254740993 elsewhere was 9007199254740992 there, with a budget of its own."""
    whole = [1.0, 1234567890123456.0, 2.0**53 - 1]
    read_whole = entries(with_floats(tmp_path / name, whole), Layout("state", unit="who"), STATES)
    assert [piece.unit for piece in read_whole] == ["1", "1234567890123456", "9007199254740991"]
    (tmp_path / "next").mkdir()
    with pytest.raises(DataError, match=r"a person .* is a number with an exponent"):
        entries(with_floats(tmp_path / "next" / name, [2.0**53]), Layout("state", unit="who"), STATES)


@pytest.mark.parametrize(("name", "part"), [("d.xlsx", "sheet"), ("d.db", "table"), ("d.duckdb", "table")])
def test_one_of_several_parts_is_named(name: str, part: str, tmp_path: Path) -> None:
    path = tmp_path / name
    if part == "sheet":
        write_workbook(path, {"SENTINEL": [("who",), ("Ana",)], "b": [("whom",), ("Ben",)]})
    for table, column in (("SENTINEL", "who"), ("b", "whom")) if part == "table" else ():
        with duckdb.connect(str(path)) if name == "d.duckdb" else sqlite3.connect(path) as base:  # type: ignore[attr-defined]
            base.execute(f"create table {table} ({column} varchar)")
            base.execute(f"insert into {table} values ('Ana')")
            base.execute("create view if not exists seen as select 1")
        base.close()
    with pytest.raises(DataError, match=f"has 2 {part}s, and none is named: write the {part} that") as caught:
        open_frame(path)
    assert caught.value.where == (part,)
    assert b"SENTINEL" not in pickle.dumps(caught.value)
    assert open_frame(path, written=Written(**{part: "b"})).names == ("whom",)  # type: ignore[arg-type]
    with pytest.raises(DataError, match=f"has no {part} 'seen'") as absent:
        open_frame(path, written=Written(**{part: "seen"}))  # type: ignore[arg-type]
    assert ("a view is none" in str(absent.value)) == (part == "table")
    assert getattr(sniffed(path), part) == "SENTINEL"  # for the draft, where its author sees it


def test_a_sheet_of_a_csv_file_is_refused(tmp_path: Path) -> None:
    (tmp_path / "d.csv").write_text("a\n1\n")
    with pytest.raises(InputError, match="CSV file, which has no sheets: leave it out") as caught:
        open_frame(tmp_path / "d.csv", written=Written(sheet="one"))
    assert caught.value.where == ("sheet",)


def feature(**changed: Any) -> dict[str, Any]:
    place = {"type": "Point", "coordinates": [13.4, 52.5]}
    return {"type": "Feature", "properties": {"who": "SENTINEL"}, "geometry": place, **changed}


def collection(*features: Any, **more: Any) -> str:
    return json.dumps({"type": "FeatureCollection", "features": list(features), **more})


def at(*position: Any) -> dict[str, Any]:
    return feature(geometry={"type": "Point", "coordinates": list(position)})


ONE = '{"who": "SENTINEL", "n": 1}\n'
BAD_TEXTS = {
    "no JSON": ("d.jsonl", ONE + '{"who": "SENTINEL"', "line 2, is no JSON"),
    "a list": ("d.jsonl", ONE + '["SENTINEL"]\n', "line 2, is no record"),
    "an object in a field": ("d.jsonl", '{"who": {"SENTINEL": 1}}\n', "line 1, has an object in field 1 of 1"),
    "a list in a field": ("d.jsonl", '{"a": 1}\n{"a": 1, "SENTINEL": []}\n', "line 2, has a list in field 2 of 2"),
    "one name twice": ("d.jsonl", '{"SENTINEL": 1, "SENTINEL": 2}\n', "two fields of one name"),
    "brackets without end": ("d.jsonl", '{"SENTINEL": ' + "[" * 100_000 + "]" * 100_000 + "}\n", "is no JSON"),
    "half a character": ("d.jsonl", '{"SENTINEL": "\\ud800"}\n', "UTF-8"),
    "a long line": ("d.jsonl", '{"SENTINEL": "' + "x" * 3_000_000 + '"}\n', "line of more than"),
    "a long text": ("d.jsonl", '{"SENTINEL": "' + "x" * 70_000 + '"}\n', "text of more than 65,536 bytes"),
    "a name with a command": ("d.jsonl", '{"SENTINEL\\u001b[2J": 1}\n', "control characters"),
    "too many names": ("d.jsonl", "".join(f'{{"SENTINEL{n}": 1}}\n' for n in range(3000)), "more than 2,000 columns"),
    "no names": ("d.jsonl", "{}\n{}\n", "no column names"),
    "only blank lines": ("d.jsonl", "\n\n", "no column names"),
    "no features": ("d.geojson", collection(), "no features"),
    "no collection": ("d.geojson", json.dumps(feature()), "no collection of features"),
    "no feature": ("d.geojson", collection("SENTINEL"), "feature 1 is none"),
    "a line": ("d.geojson", collection(feature(geometry={"type": "LineString", "coordinates": [[1, 2]]})), "no point"),
    "no position": ("d.geojson", collection(feature(geometry={"type": "Point"})), "is no point"),
    "a latitude out of range": ("d.geojson", collection(feature(), at(13, 91.5)), "feature 2 has a lat out of range"),
    "a longitude out of range": ("d.geojson", collection(at(-180.1, 0)), "feature 1 has a lon out of range"),
    "metres": ("d.geojson", collection(at(4_467_000, 5_333_000)), "out of range"),
    "not a number": ("d.geojson", collection(at(float("nan"), 0)), "out of range"),
    "a position of texts": ("d.geojson", collection(at("SENTINEL", 0)), "out of range"),
    "its own latitude": ("d.geojson", collection(feature(properties={"lat": 1})), "a property called lat"),
    "another system": ("d.geojson", collection(feature(), crs={"properties": {"name": "EPSG::25833"}}), "WGS 84"),
    "an object in a property": ("d.geojson", collection(feature(properties={"SENTINEL": {}})), "an object in field 1"),
    "a broken collection": ("d.geojson", collection(feature())[:-5], "is no JSON"),
}  # fmt: skip


@pytest.mark.parametrize("fault", BAD_TEXTS)
def test_a_bad_text_is_refused_and_not_quoted(fault: str, reader: str, tmp_path: Path) -> None:
    name, text, words = BAD_TEXTS[fault]
    (tmp_path / name).write_text(text)
    refused(tmp_path / name, words)


def refused(path: Path, words: str) -> None:
    with pytest.raises(InputError, match=re.escape(words)) as caught:
        open_frame(path)
    assert b"SENTINEL" not in pickle.dumps(caught.value)
    assert caught.value.fix or caught.value.rule


def sheet(*cells: Any) -> dict[str, list[tuple[Any, ...]]]:
    return {"one": [("who", "n"), ("SENTINEL", 1), cells]}


#: What a program writes that leaves all computing to the next one.
TO_COMPUTE = (
    '<workbook xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main" '
    'xmlns:r="http://schemas.openxmlformats.org/officeDocument/2006/relationships">'
    '<sheets><sheet name="one" sheetId="1" r:id="r1"/></sheets><calcPr fullCalcOnLoad="1"/></workbook>'
)
FAR = Cell('<c r="XFD1048576"><v>1</v></c>')
BAD_BOOKS: dict[str, tuple[dict[str, Any], dict[str, str], str]] = {
    "a formula without a value": (
        sheet("SENTINEL", Cell('<c r="{place}" t="str"><f>1+1</f></c>')), {}, "formulas that nothing has computed"
    ),
    "a formula with an empty value": (
        sheet("SENTINEL", Cell('<c r="{place}"><f>1+1</f><v></v></c>')), {}, "formulas that nothing has computed"
    ),
    "a formula with 0 in the meantime": (
        sheet("SENTINEL", Cell('<c r="{place}"><f>1+1</f><v>0</v></c>')), {"xl/workbook.xml": TO_COMPUTE},
        "formulas that nothing has computed",
    ),
    "a cell that is cut off a million times": (
        sheet(Cell("<c " * 1_000_000)), {}, "cannot be read as an Excel workbook"
    ),
    "an error": (sheet("SENTINEL", ERROR), {}, "cells that show an error"),
    "a cell without end": (sheet(FAR), {}, "cells far from its table"),
    "no sheet": ({}, {}, "has no sheet"),
    "nothing in it": ({"one": [(None, None)]}, {}, "has an empty sheet"),
    "a title": ({"one": [("SENTINEL",), (), ("who", "state"), ("Ana", "still")]}, {}, "begins with a row of one cell"),
    "blanks alone": ({"one": [("", " ")]}, {}, "is empty"),
    "another format": (sheet(), {"xl/workbook.xml": "SENTINEL"}, "cannot be read as an Excel workbook"),
    "entities": (sheet(), {"xl/workbook.xml": "<!DOCTYPE x [<!ENTITY a 'SENTINEL'>]><x/>"}, "cannot be read as"),
    "a broken sheet": (sheet(), {"xl/worksheets/sheet1.xml": "<worksheet><sheetData>SENTINEL"}, "d.xlsx"),
}


@pytest.mark.parametrize("fault", BAD_BOOKS)
def test_a_bad_workbook_is_refused_and_not_quoted(fault: str, tmp_path: Path) -> None:
    sheets, more, words = BAD_BOOKS[fault]
    refused(write_workbook(tmp_path / "d.xlsx", sheets, more), words)


def test_an_encrypted_or_damaged_workbook_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "d.xlsx"
    whole = write_workbook(path, sheet()).read_bytes()
    with zipfile.ZipFile(path, "w") as book:
        book.writestr("SENTINEL.txt", "SENTINEL")
    for content in (path.read_bytes(), whole[: len(whole) // 2], b"who,n\nSENTINEL,1\n"):
        path.write_bytes(content)
        refused(path, "cannot be read as an Excel workbook")
    path.write_bytes(b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1 SENTINEL")
    refused(path, "is encrypted, or a workbook of an old Excel")
    bomb = "<x>" + " " * 210_000_000 + "</x>"
    refused(write_workbook(path, sheet(), {"xl/theme.xml": bomb}), "larger than 200 MB unpacked")
    path.write_bytes(whole)
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(sys.modules, "python_calamine", None)
        refused(path, "takifugu[excel]")


def test_bad_databases_are_refused_and_not_quoted(tmp_path: Path) -> None:
    path = tmp_path / "d.db"
    path.write_bytes(b"SQLite format 3\x00" + b"SENTINEL" * 1000)
    refused(path, "cannot be read as a SQLite database")
    as_sqlite(path, {"who": [b"SENTINEL"]})
    refused(path, "binary values")
    as_sqlite(path, {"SENTINEL": ["x"]})
    refused(in_sqlite(path, "update visits set \"SENTINEL\" = cast(x'ff' as text)"), "texts are UTF-8")
    path.unlink()
    endless = "with recursive n as (select 1 i union all select i + 1 from n)"
    refused(in_sqlite(path, f"create view seen as {endless} select i from n"), "has no table")
    (tmp_path / "d.duckdb").write_bytes(b"12345678DUCK" + b"SENTINEL" * 1000)
    refused(tmp_path / "d.duckdb", "cannot be read as a DuckDB database")
    (tmp_path / "d.csv").write_bytes(b"12345678DUCK" + b"SENTINEL" * 1000)
    refused(tmp_path / "d.csv", "is a DuckDB database: let its name end in .duckdb")


HOLDS = """
import sys, {library}
base = {library}.connect({path!r}{more})
base.execute({statement!r})
print("held", flush=True)
sys.stdin.read()
"""


@pytest.mark.parametrize(("kind", "library", "more", "statement"), [
    ("DuckDB", "duckdb", "", "select 1"), ("SQLite", "sqlite3", ", isolation_level=None", "begin exclusive"),
])  # fmt: skip
def test_a_database_that_another_process_holds_is_refused(
    kind: str, library: str, more: str, statement: str, tmp_path: Path
) -> None:
    name, write = SOURCES[kind]
    write(tmp_path / name, {"who": ["SENTINEL"]})
    program = HOLDS.format(library=library, path=str(tmp_path / name), more=more, statement=statement)
    with subprocess.Popen([sys.executable, "-c", program], stdin=subprocess.PIPE, stdout=subprocess.PIPE) as holder:
        assert holder.stdout is not None
        assert holder.stdout.readline() == b"held\n"
        refused(tmp_path / name, "is locked by another process")
        holder.communicate(b"")
    assert open_frame(tmp_path / name).names == ("who",)


def test_a_database_is_not_written(tmp_path: Path) -> None:
    for kind in ("SQLite", "DuckDB"):
        name, write = SOURCES[kind]
        write(tmp_path / name, ROWS)
        before = (tmp_path / name).read_bytes()
        read(open_frame(tmp_path / name))
        assert (tmp_path / name).read_bytes() == before
        assert sorted(path.name for path in tmp_path.iterdir()) == [name]
        (tmp_path / name).unlink()
