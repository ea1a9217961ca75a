"""A folder or a pattern of files is one table: the same integers as the same rows in one file."""

import glob
import gzip
import pickle
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import polars
import pytest
from tests.support.data_files import SOURCES, as_csv, as_workbook
from tests.support.engines import entries

from takifugu.core.errors import DataError, InputError
from takifugu.data import Layout, Recode, Table, Written, open_frame, sniffed
from takifugu.data.files import formats, many

STATES = Recode(("still", "walk"))
LAYOUT = Layout("state", unit="person")
#: The states of two people, and how the file that holds both would list them.
STATES_OF = {"Ana b": ["still", "walk", "walk"], "Ben": ["walk"] * 4}
EXPECTED: list[tuple[Any, list[int]]] = [("Ana b", [0, 1, 1]), ("Ben", [1, 1, 1, 1])]


def read(table: Table) -> list[tuple[Any, list[int]]]:
    return [(piece.unit, piece.values.tolist()) for piece in entries(table, LAYOUT, STATES)]


@pytest.mark.sampled(5)
@pytest.mark.parametrize("kind", [kind for kind in SOURCES if kind != "DuckDB"])
def test_one_file_a_person(kind: str, reader: str, tmp_path: Path) -> None:
    name, write = SOURCES[kind]
    folder = tmp_path / "people"
    folder.mkdir()
    for person, states in STATES_OF.items():
        write(folder / f"{person}{Path(name).suffix}", {"state": states, "n": [str(n) for n in range(len(states))]})
    (folder / ".hidden").write_text("SENTINEL")
    (folder / "_SUCCESS").write_text("")
    by_name = Written(file_names="person")
    assert read(open_frame(folder, written=by_name)) == EXPECTED
    table = open_frame(folder / f"*{Path(name).suffix}", written=by_name)
    assert read(table) == EXPECTED
    assert (table.names[-1], table.ordered) == ("person", True)
    assert sniffed(folder).file_names == "file"


def test_files_may_differ_in_how_they_are_written(reader: str, tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("state;person\nstill;Ana b\nwalk;Ana b\n")
    (tmp_path / "b.csv").write_bytes(b"\xef\xbb\xbfsep=,\r\nperson,state\r\nAna b,walk\r\n,\r\n")
    (tmp_path / "c.csv.gz").write_bytes(gzip.compress(b"person\tstate\n" + b"Ben\twalk\n" * 4))
    assert read(open_frame(tmp_path)) == EXPECTED


@pytest.mark.parametrize("engine", ["duckdb", "pyarrow"])
def test_a_parquet_dataset(engine: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    installed = formats.find_spec
    others = {"duckdb", "pyarrow"} - {engine}
    monkeypatch.setattr(formats, "find_spec", lambda name: None if name in others else installed(name))
    folder = tmp_path / "run=1" / "rows"  # a folder above it is no partition
    for person, states in {**STATES_OF, "__HIVE_DEFAULT_PARTITION__": ["walk"]}.items():
        for number, state in enumerate(states):
            where = folder / f"person={person.replace(' ', '%20')}"
            where.mkdir(parents=True, exist_ok=True)
            polars.DataFrame({"state": [state], "n": [number]}).write_parquet(where / f"part-{number}.parquet")
    (folder / "_metadata").write_text("")
    expected = [*EXPECTED, (None, [1])]
    for path in (folder, folder / "**" / "*.parquet"):
        table = open_frame(path)
        assert table.names == ("state", "n", "person")
        layout = Layout("state", unit="person", null_keys="keep", order="n")
        pieces_read = [(piece.unit, piece.values.tolist()) for piece in entries(table, layout, STATES)]
        assert sorted(pieces_read, key=str) == sorted(expected, key=str)
    with_names = open_frame(folder / "person=Ben" / "*", written=Written(file_names="part"))
    layout = Layout("state", unit="part")
    assert [piece.unit for piece in entries(with_names, layout, STATES)] == [f"part-{n}" for n in range(4)]
    polars.DataFrame({"state": ["walk"], "n": ["SENTINEL"]}).write_parquet(folder / "person=Ben" / "x.parquet")
    refused(folder, "has other columns than the first one")
    polars.DataFrame({"state": ["walk"], "person": ["SENTINEL"]}).write_parquet(tmp_path / "p.parquet")
    refused(tmp_path / "p*.parquet", "its name becomes, too", Written(file_names="person"))


def refused(path: Path, words: str, written: Written | None = None) -> None:
    with pytest.raises(InputError, match=re.escape(words)) as caught:
        open_frame(path, written=written)
    assert b"SENTINEL" not in pickle.dumps(caught.value)
    assert caught.value.fix or caught.value.rule


def csv(folder: Path, **files: str) -> None:
    for name, text in files.items():
        (folder / f"{name}.csv").write_text(text)


ONE = "who,state\nAna,still\n"
BAD: dict[str, tuple[Callable[[Path], object], str, str]] = {
    "nothing": (lambda at: None, "", "has no files: check the path"),
    "a pattern of nothing": (lambda at: csv(at, a=ONE), "*.jsonl", "rows/*.jsonl has no files"),
    "other columns": (lambda at: csv(at, a=ONE, SENTINEL="who,SENTINEL\nAna,x\n"), "", "file 2 of top/rows has other"),
    "a broken one": (lambda at: csv(at, A=ONE, SENTINEL="who,state\nSENTINEL\n"), "", "file 2 of top/rows has a row"),
    "an empty one": (lambda at: csv(at, SENTINEL="", x=ONE), "", "file 1 of top/rows is empty"),
    "two formats": (lambda at: (csv(at, a=ONE), as_workbook(at / "b.xlsx", {"who": ["Ana"]})), "", "several formats"),
    "a folder": (lambda at: (csv(at, a=ONE), (at / "SENTINEL").mkdir()), "", "folders that are no partitions"),
    "a picture": (lambda at: csv(at, SENTINEL="\x89PNG SENTINEL"), "", "file 1 of top/rows"),
}  # fmt: skip


@pytest.mark.parametrize("fault", BAD)
def test_bad_folders_are_refused_and_not_quoted(fault: str, tmp_path: Path) -> None:
    make, pattern, words = BAD[fault]
    (tmp_path / "top" / "rows").mkdir(parents=True)
    make(tmp_path / "top" / "rows")
    refused(tmp_path / "top" / "rows" / pattern, words)


STRAYS = {
    "SENTINEL.txt": b"SENTINEL was here\n", "Thumbs.db": b"\xd0\xcf\x11\xe0" + bytes(90), "SENTINEL.pdf": b"%PDF-1.4\n",
    "empty.log": b"", "LICENSE": b"Copyright, SENTINEL\n", "x.SENTINEL": b"who,SENTINEL\n", "n.md": b"# SENTINEL\n",
    "old.csv.gz": b"\x1f\x8b broken", "photo.jpeg": b"\xff\xd8\xff", "x.sqlite": b"SQLite format 3\0",
    "a.json": b'{"SENTINEL": 1}',
}  # fmt: skip


@pytest.mark.parametrize("stray", STRAYS)
def test_a_file_that_is_no_such_table_is_told_by_its_ending(stray: str, tmp_path: Path) -> None:
    """What to write instead reads the others, whether the path was a folder or a pattern; no name is repeated."""
    folder = tmp_path / "people"
    folder.mkdir()
    csv(folder, SENTINEL_a=ONE, SENTINEL_b=ONE)
    (folder / stray).write_bytes(STRAYS[stray])
    for path in (folder, folder / "*"):
        with pytest.raises(DataError, match=r"people.* has files of several formats \(2 \.csv, 1 ") as caught:
            open_frame(path)
        assert b"SENTINEL" not in pickle.dumps(caught.value)
        assert str(caught.value.fix).startswith("read the .csv files alone")
        (pattern,) = re.findall('"(.+)"', str(caught.value.fix))
        assert open_frame(tmp_path / pattern).names == ("who", "state")


def test_strays_of_several_endings_and_partitions(tmp_path: Path) -> None:
    csv(tmp_path, a=ONE, b=ONE)
    (tmp_path / "c.txt").write_text(ONE)  # ends otherwise, and is such a table
    (tmp_path / "~$a.xlsx").write_bytes(b"\x03SENTINEL")  # what Excel writes beside an open file
    assert open_frame(tmp_path).names == ("who", "state")
    (tmp_path / "d.md").write_text("SENTINEL")
    refused(tmp_path, "(2 .csv, 1 .txt, 1 .md): all are one table, with the same columns; move those away")
    for month in "12":
        (tmp_path / "top" / f"month={month}").mkdir(parents=True)
        csv(tmp_path / "top" / f"month={month}", a=ONE)
    (tmp_path / "top" / "readme.txt").write_text("SENTINEL")
    refused(tmp_path / "top", 'as in "top/**/*.csv"')
    assert open_frame(tmp_path / "top/**/*.csv").names == ("who", "state", "month")


def test_names_of_files_that_are_no_units_are_refused(tmp_path: Path) -> None:
    by_name = Written(file_names="who")
    csv(tmp_path, SENTINEL=ONE)
    refused(tmp_path / "SENT*.csv", "that its folder or its name becomes, too", by_name)
    with pytest.raises(InputError, match="is one file"):
        open_frame(tmp_path / "SENTINEL.csv", written=by_name)
    for folder in ("a", "b"):
        (tmp_path / folder).mkdir()
        as_csv(tmp_path / folder / "SENTINEL.csv", {"state": ["still"]})
    refused(tmp_path / "*" / "*.csv", "two files of one name", by_name)
    (tmp_path / "a=1").mkdir()
    as_csv(tmp_path / "a=1" / "x.csv", {"state": ["still"]})
    refused(tmp_path / "?*" / "*.csv", "other partitions than the first one")


def test_databases_are_not_joined(tmp_path: Path) -> None:
    for name in "ab":
        SOURCES["DuckDB"][1](tmp_path / f"{name}.duckdb", {"who": ["Ana"]})
    with pytest.raises(DataError, match="are not read together"):
        open_frame(tmp_path)


def test_a_pattern_finds_what_glob_finds(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    plain = ("a.csv", "x/b.csv", "x/y/c.csv", "x/y/z/d.csv")
    others = (".hidden/e.csv", "x/.f/g.csv", "x/_o.csv", "w.txt")
    for name in (*plain, *others):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text("t,state\n")
    (tmp_path / "link").symlink_to(tmp_path / "x")
    monkeypatch.chdir(tmp_path)
    patterns = ["**/*.csv", "x/**/*.csv", "*/**/*.csv", "**/y/**/*.csv", "x/**", "**/[bc].csv", "nowhere/**/*.csv"]
    for pattern in (*patterns, *(f"{tmp_path}/{one}" for one in patterns)):
        listed = {Path(one) for one in glob.glob(pattern, recursive=True)}
        wanted = sorted(one for one in listed if one.is_file() and not one.name.startswith("_"))
        assert many.files_of(Path(pattern)) == wanted, pattern


def test_a_pattern_that_looks_through_everything_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "x").mkdir()
    (tmp_path / "x" / "again").symlink_to(tmp_path)  # a circle
    monkeypatch.setattr(many, "MOST_NAMES", 50)
    with pytest.raises(DataError, match="looks through more than 50 files and folders: let it begin with the folder"):
        many.files_of(tmp_path / "**" / "*.csv")
