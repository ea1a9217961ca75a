"""Files as people have them: odd CSVs that are read, broken ones that are refused without a word of their content."""

import csv
import gzip
import io
import os
import re
import stat
from pathlib import Path
from typing import Any, Literal

import polars
import pyarrow
import pyarrow.parquet
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.support.engines import entries
from tests.support.failing import raising

from takifugu.core.errors import DataError, InputError
from takifugu.data import Layout, Recode, Written, open_frame, pieces
from takifugu.data.engines.faults import careful
from takifugu.data.totals import totals
from takifugu.data.values.bins import Bins
from takifugu.data.values.texts import BLANKS

STATES = Recode(("a", "b c", 'd "e"', "f\ng", "SENTINEL"))


def states_of(path: Any, value: str = "v") -> list[str | None]:
    (piece,) = entries(open_frame(path), Layout(value, nulls="unobserved"), STATES)
    return [None if code < 0 else str(STATES.states[code]) for code in piece.values]


GOOD = {
    "plain": (b"u,v\n1,a\n2,b c\n", ["a", "b c"]),
    "Windows line ends": (b"u,v\r\n1,a\r\n2,b c\r\n", ["a", "b c"]),
    "old Mac line ends": (b"u,v\r1,a\r2,b c\r", ["a", "b c"]),
    "no last line end": (b"u,v\n1,a\n2,b c", ["a", "b c"]),
    "blank lines": (b"\n\nu,v\n1,a\n\n2,b c\n\n", ["a", "b c"]),
    "byte order mark": (b"\xef\xbb\xbfv,u\na,1\n", ["a"]),
    "semicolons": (b"u;v;w\n1,5;a;x\n2,5;b c;y\n", ["a", "b c"]),
    "tabs": (b"u\tv\n1\ta\n", ["a"]),
    "bars": (b"u|v\n1|a\n", ["a"]),
    "quotes": (b'u,"v"\n"1,5","b c"\n2,"d ""e"""\n', ["b c", 'd "e"']),
    "line end inside quotes": (b'u,v\n1,"f\ng"\n2,a\n', ["f\ng", "a"]),
    "blanks around": (b"u , v \n 1 , a \n2,\tb c\n", ["a", "b c"]),
    "blank before quotes": (b'u,v\n1, "b c"\n', ["b c"]),
    "missing": (b'u,v\n1,\n2,""\n3,  \n4,a\n', [None, None, None, "a"]),
    "a hash is no comment": (b"u,v\n#1,a\n", ["a"]),
    "one column": (b"v\na\n\nb c\n", ["a", None, "b c"]),
    "one column, quoted": (b'v\na\n""\nb c\n', ["a", None, "b c"]),
    "one more separator": (b"u,v\n1,a,\n2,b c\n", ["a", "b c"]),
    "other columns of one name": (b"x,x,,v\n1,2,3,a\n", ["a"]),
    "numbers first, texts later": (b"u,v\n" + b"1,a\n" * 30000 + b"x,b c\n", ["a"] * 30000 + ["b c"]),
}


@pytest.mark.parametrize("many", [False, True])
def test_a_file_that_is_written_while_it_is_read_is_refused(tmp_path: Path, many: bool) -> None:
    """What counts rows a second time would count some that no rule has seen."""
    file = tmp_path / "d.csv"
    file.write_text("t,v\n1,a\n2,a\n")
    path = tmp_path / "*.csv" if many else file
    table, layout = open_frame(path), Layout("v", order="t", step=1)
    before = file.stat()
    assert [piece.length for piece in pieces(table, layout, STATES)] == [2]
    with open(file, "a") as log:
        log.write("3,a\n")
    with pytest.raises(DataError, match="was changed while it was read"):
        totals(table, (), ("v",))
    with pytest.raises(DataError, match="was changed while it was read"):
        pieces(table, layout, STATES)
    file.write_text("t,v\n3,a\n2,a\n")
    os.utime(file, ns=(before.st_atime_ns, before.st_mtime_ns))  # as long, and as old, as it was
    with pytest.raises(DataError, match="was changed while it was read"):
        pieces(table, layout, STATES)
    table = open_frame(path)
    assert [piece.length for piece in pieces(table, layout, STATES)] == [2]
    if many:
        (tmp_path / "e.csv").write_text("t,v\n3,a\n")
        with pytest.raises(DataError, match="was changed while it was read"):
            pieces(table, layout, STATES)


@pytest.mark.sampled(9)
@pytest.mark.parametrize("name", GOOD)
def test_odd_csv_files_are_read(tmp_path: Path, reader: str, name: str) -> None:
    content, expected = GOOD[name]
    (tmp_path / "d.csv").write_bytes(content)
    (tmp_path / "d.txt.gz").write_bytes(gzip.compress(content))
    for file in ("d.csv", "d.txt.gz"):
        assert states_of(tmp_path / file) == expected
        assert states_of(str(tmp_path / file)) == expected


def csv_of(folder: Path, content: bytes) -> Path:
    file = folder / "d.csv"
    file.write_bytes(content)
    return file


def damaged(content: bytes, start: int = 0) -> bytes:
    packed = gzip.compress(content)
    return packed[: len(packed) - 40] if not start else packed[:start] + b"\x00\xff" * 20 + packed[start + 40 :]


def feather() -> bytes:
    file = io.BytesIO()
    polars.DataFrame({"v": ["a"]}).write_ipc(file)
    return file.getvalue()


ROWS = b"u,v\n" + b"".join(b"%d,SENTINEL\n" % (number * 7919 % 65537) for number in range(5000))
BROKEN = {
    "empty": (b"", "is empty"),
    "blank": (b"\n \n", "is empty"),
    "no names": (b",\n1,2\n", "no column names"),
    "short row": (b"u,v\n1,SENTINEL\n2\n", "more or fewer fields"),
    "long row": (b"u,v\n1,SENTINEL,3\n", "more or fewer fields"),
    "short row late": (ROWS + b"1\n", "more or fewer fields"),
    "open quote": (b'u,v\n1,"SENTINEL\n', "not a well-formed CSV"),
    "text after quotes": (b'u,v\n1,"a"SENTINEL\n', "not a well-formed CSV"),
    "Latin-1": ("u,v\n1,é SENTINEL\n".encode("latin-1"), "not UTF-8"),
    "Latin-1 late": (ROWS + "1,é SENTINEL\n".encode("latin-1"), "not UTF-8|duckdb 1.* failed"),
    "UTF-16": ("u,v\n1,SENTINEL\n".encode("utf-16"), "UTF-16"),
    "gzip cut short": (damaged(ROWS), "damaged|ends too early|not a well-formed|more or fewer"),
    "gzip overwritten": (damaged(ROWS, 60), "damaged|ends too early|not a well-formed|more or fewer|could not be read"),
    "gzip of nothing": (gzip.compress(b""), "is empty"),
    "zip": (b"PK\x03\x04SENTINEL", "zip archive or an Excel"),
    "old Excel": (b"\xd0\xcf\x11\xe0SENTINEL", "Excel"),
    "Arrow": (feather(), "Arrow file"),
    "SQLite": (b"SQLite format 3\x00SENTINEL", "SQLite"),
    "header alone": (b"u,v\n", "no rows"),
    "unknown state": (b"u,v\n1,SENTINELS AND MORE\n", "no state"),
    "state with a typing error": (b"u,v\n1,SENTINELS\n", "a declared value up to case"),
}


@pytest.mark.parametrize("name", BROKEN)
def test_broken_files_are_refused_without_a_word_of_their_content(tmp_path: Path, reader: str, name: str) -> None:
    content, words = BROKEN[name]
    with pytest.raises(DataError, match=words) as caught:
        states_of(csv_of(tmp_path, content))
    assert "SENTINELS" not in str(caught.value)
    assert "state" in name or "SENTINEL" not in str(caught.value)


def test_mixed_line_ends_are_read_or_refused(tmp_path: Path, reader: str) -> None:
    file = csv_of(tmp_path, b"u,v\r\n1,a\n2,b c\r\n")
    if reader == "polars":
        assert states_of(file) == ["a", "b c"]
    else:
        with pytest.raises(DataError, match="line ends"):
            states_of(file)


def test_places_that_are_no_files(tmp_path: Path) -> None:
    for place, words in [
        (tmp_path, "has no files"),
        ("https://example.org/d.csv", "is a URL"),
        ("s3://bucket/d.parquet", "is a URL"),
        (tmp_path / "none.csv", "cannot be read .no such file"),
        (tmp_path / "d.csv" / "x.csv", "cannot be read"),
    ]:
        with pytest.raises(DataError, match=words):
            open_frame(place)


def test_a_file_that_may_not_be_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = csv_of(tmp_path, b"v\na\n")
    monkeypatch.setattr("builtins.open", raising(PermissionError(13, "Permission denied")))
    with pytest.raises(DataError, match="permission denied"):
        open_frame(file)


@pytest.mark.sampled(3)
@pytest.mark.parametrize("name", ["a[1]*?.csv", "it's {x} $1.csv", "päth ü.csv", "k=1.csv"])
def test_odd_file_names_are_no_patterns(tmp_path: Path, reader: str, name: str) -> None:
    folder = tmp_path / "year=2026"
    folder.mkdir()
    (folder / name).write_bytes(b"u,v\n1,a\n")
    (folder / "a1xx.csv").write_bytes(b"u,v\n1,b c\n")
    assert states_of(folder / name) == ["a"]
    assert open_frame(folder / name).names == ("u", "v")


@pytest.mark.parametrize("engines", [("duckdb", "pyarrow"), ("pyarrow",), ("polars",), ()])
def test_parquet_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, engines: tuple[str, ...]) -> None:
    def only(name: str) -> object:
        return object() if name in engines else None

    monkeypatch.setattr("takifugu.data.files.formats.find_spec", only)
    file = tmp_path / "year=1[2].any"
    table = pyarrow.table({"état; x": ["a", None, "b c"], "A": [1, 2, 3], "a": [4, 5, 6]})
    pyarrow.parquet.write_table(table, file)
    if not {"duckdb", "pyarrow"} & set(engines):
        with pytest.raises(DataError, match="install duckdb"):
            open_frame(file)
        return
    assert states_of(file, "état; x") == ["a", None, "b c"]
    assert open_frame(file).names[0] == "état; x"
    (tmp_path / "d.parquet").write_bytes(b"PAR1" + b"SENTINEL" * 9 + b"PAR1")
    with pytest.raises(DataError) as caught:
        open_frame(tmp_path / "d.parquet")
    assert "SENTINEL" not in str(caught.value)
    (tmp_path / "e.parquet").write_bytes(b"u,v\n1,SENTINEL\n")
    with pytest.raises(DataError, match="is called Parquet and is not"):
        open_frame(tmp_path / "e.parquet")


@pytest.mark.parametrize("engine", ["duckdb", "pyarrow"])
@pytest.mark.parametrize("unit", ["s", "ms", "us", "ns"])
def test_durations_are_no_whole_numbers(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, engine: str, unit: str
) -> None:
    monkeypatch.setattr("takifugu.data.files.formats.find_spec", lambda name: object() if name == engine else None)
    lengths = pyarrow.array([60, 7200], pyarrow.duration(unit))
    columns = {"n": [1, 2], "stayed; x": lengths, "gone": lengths, "at": [3, 4]}
    pyarrow.parquet.write_table(pyarrow.table(columns), tmp_path / "d.parquet")
    table = open_frame(tmp_path / "d.parquet")
    bins = Bins({"short": (0, 3600), "long": (3600, 10**13)})
    for name in ("stayed; x", "gone"):
        with pytest.raises(DataError, match=r"type Duration.*, which are not numbers: write how many seconds"):
            entries(table, Layout(name), Recode(("short", "long"), bins=bins))
    (piece,) = entries(table, Layout("at"), Recode(("short", "long"), bins=bins))
    assert piece.values.tolist() == [0, 0]


cell = st.one_of(
    st.sampled_from(["a", "b c", 'd "e"', "f\ng", "", " ", "\t", "a ", " a", "1.5", "NULL", '"', "x,y", "x;y", "é"]),
    st.text(alphabet='a";,\n\r\t \u00a0\u2028', max_size=4),
)
lines = st.lists(st.lists(cell, min_size=2, max_size=2), min_size=1, max_size=8)


@given(rows=lines, ends=st.lists(st.sampled_from(["\n", "\r\n"]), min_size=1, max_size=2), quoting=st.booleans())
def test_duckdb_reads_the_texts_that_python_reads(
    rows: list[list[str]], ends: list[str], quoting: bool, tmp_path_factory: pytest.TempPathFactory
) -> None:
    path = tmp_path_factory.mktemp("small") / "d.csv"
    with open(path, "w", encoding="utf-8", newline="") as file:
        for number, row in enumerate([["u", "v"], *rows]):
            rule: Literal[0, 1] = csv.QUOTE_ALL if quoting else csv.QUOTE_MINIMAL
            csv.writer(file, quoting=rule, lineterminator=ends[number % len(ends)]).writerow(row)
    if has_alike_ends(path.read_bytes()):
        assert _read_by("duckdb", path) == _read_by("polars", path)


def has_alike_ends(content: bytes) -> bool:
    """Return whether all lines end alike: of others DuckDB decides whether they are a table."""
    returns = content.count(b"\r")
    return not returns or returns == content.count(b"\n") == content.count(b"\r\n")


@pytest.mark.parametrize("text", [
    "u,v\n1,a\n2\n", "u,v\n1,a,b\n", 'u,v\n1,"a\n', 'u,v\n1,"a"b\n', 'u,v\n1,a"b\n', "u,v\n1,a,\n",
    "u,v\n 1, a\n", 'u,v\n1, "a"\n', "u,v\n1,a\n\n\n", "u,v\n1,a\x00\n",
    "u,v\n1,\ufeffa\n", "u,v", "u,v\n", "u,u\n1,2\n", "u\n\n", "u\n1\n\n2", 'sep=;\nu;v\n1;a\n',
    "\n\nu,v\n1,a\n", "u,v\r1,a\r2,b\r",
])  # fmt: skip
def test_duckdb_reads_the_texts_of_odd_files_that_python_reads(text: str, tmp_path: Path) -> None:
    file = csv_of(tmp_path, text.encode())
    assert _read_by("duckdb", file) == _read_by("polars", file)


def test_opening_a_file_reads_no_row(tmp_path: Path, reader: str) -> None:
    table = open_frame(csv_of(tmp_path, b"u,v\n1,a\n2,b,c\n"))
    table.require(["u", "v"])
    with pytest.raises(DataError, match="more or fewer fields"):
        pieces(table, Layout("v", unit="u"), Recode(("a", "b")))


def _read_by(library: str, path: Path) -> object:
    """Return the texts of a file's columns as they are compared with states, or how it is refused."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("takifugu.data.files.formats.find_spec", lambda name: name if name == library else None)
        try:
            table = open_frame(path)
            with careful(table.source):
                columns = _collected(table.filled.pick({name: name for name in table.names}))
            return {name: [(text or "").strip(BLANKS) for text in texts] for name, texts in columns.items()}
        except (DataError, InputError) as error:
            return type(error)


def _collected(frame: Any) -> dict[str, list[str | None]]:
    read = frame.collect() if hasattr(frame, "collect") else frame
    columns: dict[str, list[str | None]] = read.to_dict(as_series=False)
    return columns


@pytest.mark.parametrize("library", ["polars", "pyarrow", "pandas", None])
def test_without_duckdb_any_library_holds_the_rows(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, library: str | None
) -> None:
    monkeypatch.setattr("takifugu.data.files.formats.find_spec", lambda name: name if name == library else None)
    (tmp_path / "d.csv").write_bytes(b"u,v,v\n1,a,x\n,,\n2,b c,x\n")
    if library is None:
        with pytest.raises(DataError, match=r"install duckdb .*, polars, pyarrow or pandas"):
            open_frame(tmp_path / "d.csv")
    else:
        (tmp_path / "e.csv").write_bytes(b"u,v\n1,a\n,\n2,b c\n3,\n")
        assert states_of(tmp_path / "e.csv") == ["a", "b c", None]
        assert entries(open_frame(tmp_path / "d.csv"), Layout("u"), Recode(("1", "2")))[0].values.tolist() == [0, 1]


@pytest.mark.usefixtures("without_duckdb")
def test_large_csv_files_need_duckdb(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("takifugu.data.files.csv_file.LARGEST", 5)
    with pytest.raises(DataError, match="pip install duckdb"):
        states_of(csv_of(tmp_path, b"u,v\n1,a\n2,a\n"))


def test_rows_that_do_not_fit_go_to_a_folder_that_is_ours_alone_and_goes_away(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.undo()  # a DuckDB of its own (tests/support/calibrations.py)
    table = open_frame(csv_of(tmp_path, b"u,v\n1,a\n"))
    database: Any = table.keeps
    assert database.folder is None  # before a row is asked for
    ((where,),) = database.connection.sql("select current_setting('temp_directory')").fetchall()
    folder = database.folder
    assert where == folder.name
    assert stat.S_IMODE(Path(where).stat().st_mode) == 0o700
    assert tmp_path not in Path(where).parents
    del table, database
    folder.cleanup()
    assert not Path(where).exists()


def test_columns_by_name(tmp_path: Path, reader: str) -> None:
    table = open_frame(csv_of(tmp_path, b"person,state,state\nx,a,a\n"))
    assert open_frame(table) is table
    assert table.names == ("person", "state", "state")
    assert repr(table).endswith("missing=frozenset({''}))")
    for layout, words in (
        (Layout("state"), "two columns called 'state'"),
        (Layout("persn", "person"), "no column 'persn': did you mean 'person'"),
        (Layout("persn", "minute"), "no column 'minute', nor any other that is named: its columns"),
    ):  # fmt: skip
        with pytest.raises(InputError, match=words) as refusal:
            entries(table, layout, STATES)
    assert "state" not in str(refusal.value)


def test_things_that_are_no_frame() -> None:
    for thing in (None, 3, [1, 2], {"v": [1]}):
        with pytest.raises(InputError, match=r"give a CSV, .* or SQLite file, or a pandas"):
            open_frame(thing)
    with pytest.raises(InputError, match="give a list of texts"):
        open_frame("d.csv", missing="NA")


def test_words_that_count_as_missing(tmp_path: Path, reader: str) -> None:
    file = csv_of(tmp_path, b"u,v\n1,a\n2,NA\n3, ? \n4,\n")
    (piece,) = entries(open_frame(file, missing=["NA", "?"]), Layout("v", nulls="unobserved"), STATES)
    assert piece.values.tolist() == [0, -1, -1, -1]


@pytest.mark.parametrize("packed", [False, True])
@pytest.mark.parametrize("end", ["", "\n"])
def test_a_long_last_line_is_never_dropped(tmp_path: Path, reader: str, packed: bool, end: str) -> None:
    text = b"state\n" + b"a\n" * 99 + b"a" + b" " * 33_000_000 + end.encode()
    with pytest.raises(DataError, match="has a line of more than 1,000,000 bytes"):
        open_frame(csv_of(tmp_path, gzip.compress(text, 1) if packed else text))
    (piece,) = pieces(open_frame(csv_of(tmp_path, text[:120_000] + end.encode())), Layout("state"), STATES)
    assert piece.length == 100


def test_one_path_for_one_file(tmp_path: Path, reader: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for name in ("~.csv", "~", "file:x.csv", "[a]*?.csv"):
        Path(name).write_bytes(b"state\na\na\n")
        assert pieces(open_frame(name), Layout("state"), STATES)[0].length == 2
    for name in ("~/d.csv", "file:/d.csv", "a\0b.csv", "/dev/zero", "x" * 5000):
        with pytest.raises(DataError):
            open_frame(name)


@pytest.mark.parametrize("as_frame", [False, True])
def test_a_first_line_that_is_somebodys_row_is_not_quoted(tmp_path: Path, as_frame: bool) -> None:
    """A file without a header, whose first record happens to hold the name of a needed column."""
    file = csv_of(tmp_path, b"Maria Schmidt,state,Patience\nx,a,b\n")
    with pytest.raises(InputError, match="no column 'patient': write the name of a column") as refusal:
        open_frame(polars.read_csv(file) if as_frame else file).require(["state", "patient"])
    assert not {"Maria", "Schmidt", "Patience"} & set(re.findall("[A-Za-z]+", str(refusal.value)))


@pytest.mark.parametrize(("name", "there", "says_so"), [
    ("lonn", "lon", True), ("oen", "one", True), ("amy", "ann", False), ("person", "persn", True),
    ("person", "Person", True), ("person", "persons", True), ("person", "parson", True), ("person", "prson", True),
    ("person", "Peterson", False),
])  # fmt: skip
def test_only_a_name_that_is_one_letter_away_is_told(tmp_path: Path, name: str, there: str, says_so: bool) -> None:
    with pytest.raises(InputError) as refusal:
        open_frame(csv_of(tmp_path, f"{there},state\nx,a\n".encode())).require([name, "state"])
    assert (f"did you mean {there!r}?" in str(refusal.value)) == says_so
    assert says_so or there not in str(refusal.value)


LINES = 'Report\n\nu,"v\nw",t\nWho,"What, of\nall",x\n{1},{2},{3}\n'


@pytest.mark.sampled(3)
@pytest.mark.parametrize("codec", ["utf-8", "utf-8-sig", "latin-1"])
@pytest.mark.parametrize("ends", ["\n", "\r\n"])
def test_lines_of_a_header_are_left_out(tmp_path: Path, reader: str, codec: str, ends: str) -> None:
    text = (LINES + "é,1,x\nb,2,y\n").replace("\n", ends)
    written = Written(encoding="latin-1" if codec == "latin-1" else None, lines=(3, 7))
    for name, packed in (("d.csv", text.encode(codec)), ("e.csv", gzip.compress(text.encode(codec)))):
        (tmp_path / name).write_bytes(packed)
        table = open_frame(tmp_path / name, written=written)
        assert (table.names[0], table.names[2]) == ("u", "t")
        rows = totals(table, [], by=["u", "t"])
        assert {group.key for group in rows} == {("é", "x"), ("b", "y")}
    with pytest.raises(DataError, match="fewer lines than its header"):
        open_frame(tmp_path / "d.csv", written=Written(encoding=written.encoding, lines=(3, 70)))


def test_a_table_without_lines_has_no_header_of_lines(tmp_path: Path) -> None:
    pyarrow.parquet.write_table(pyarrow.table({"v": ["a"]}), tmp_path / "d.parquet")
    with pytest.raises(InputError, match="which has no lines"):
        open_frame(tmp_path / "d.parquet", written=Written(lines=(2, 2)))
    with pytest.raises(InputError, match="lines are counted from 1"):
        Written(lines=(3, 1))
