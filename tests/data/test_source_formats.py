"""A format of files from outside the package: one file, and its files are opened wherever CSV files are."""

import copy
import gzip
import os
import pickle
import re
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any

import polars
import pytest
from tests.support.engines import entries
from tests.support.release_files import filled

from takifugu.core.errors import DataError, InputError
from takifugu.data import Layout, Recode, SourceFormat, Written, open_frame, sniffed
from takifugu.data import register_source_format as register
from takifugu.data.files import formats

ROOT = Path(__file__).parents[2]
WIDTHS = {"who": (0, 4), "minute": (4, 7), "state": (7, 12)}
ROWS = [(who, minute, ("still", "walk")[minute % 3 == 0]) for who in ("Ana", "Ben") for minute in range(60)]
FIXED = "".join(f"{who:4}{minute:<3}{state:5}\n" for who, minute, state in ROWS)
CSV = "who,minute,state\n" + "".join(f"{who},{minute},{state}\n" for who, minute, state in ROWS)


@pytest.fixture(autouse=True)
def nothing_stays(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(formats, "FORMATS", copy.deepcopy(formats.FORMATS))


def read(file: Any, written: Written) -> dict[str, list[str | None]]:
    with file.opened() as data:
        lines = [line.decode() for line in data]
    return {name: [line[start:end].strip() or None for line in lines] for name, (start, end) in WIDTHS.items()}


def states(path: Path) -> list[tuple[Any, list[int]]]:
    layout = Layout("state", unit="who", order="minute")
    return [(piece.unit, list(piece.values)) for piece in entries(open_frame(path), layout, Recode(("still", "walk")))]


def test_its_files_hold_what_the_same_rows_hold_as_csv(tmp_path: Path) -> None:
    register(SourceFormat("fixed width", read, suffixes=(".fwf",)))
    (tmp_path / "rows.csv").write_text(CSV)
    expected = states(tmp_path / "rows.csv")
    (tmp_path / "rows.FWF").write_text(FIXED)
    (tmp_path / "rows.fwf.gz").write_bytes(gzip.compress(FIXED.encode()))
    assert states(tmp_path / "rows.FWF") == states(tmp_path / "rows.fwf.gz") == expected
    table = open_frame(tmp_path / "rows.FWF", ["still"])
    assert (table.source, table.ordered, table.missing) == ("rows.FWF", True, frozenset({"", "still"}))


@pytest.mark.parametrize("make", [polars.DataFrame, polars.LazyFrame, lambda rows: polars.DataFrame(rows).to_pandas()])
def test_it_may_return_a_frame_whose_rows_are_in_order(make: Any, tmp_path: Path) -> None:
    rows = {"who": ["a", "a", "b"], "state": ["s", "w", "s"]}
    register(SourceFormat("odd", lambda file, written: make(rows), begins=(b"ODD",)))
    (tmp_path / "rows.txt").write_bytes(b"ODD and private")
    layout = Layout("state", unit="who")  # no order column: the file's order is theirs
    read_pieces = entries(open_frame(tmp_path / "rows.txt"), layout, Recode(("s", "w")))
    assert [(piece.unit, list(piece.values)) for piece in read_pieces] == [("a", [0, 1]), ("b", [0])]


def test_a_beginning_is_surer_than_a_name(tmp_path: Path) -> None:
    def log(file: Any, written: Written) -> dict[str, list[str | None]]:
        return {"event": ["start"]}

    register(SourceFormat("fixed width", read, suffixes=(".fwf",)))
    path = tmp_path / "people.fwf"
    path.write_bytes(b"LOG1\xff")
    with pytest.raises(DataError):
        open_frame(path)
    register(SourceFormat("log", log, begins=(b"LOG1",)))
    assert open_frame(path).names == ("event",)


def test_init_gets_what_it_guesses(tmp_path: Path) -> None:
    register(SourceFormat("fixed width", read, (".fwf",), guess=lambda file: Written(encoding="latin-1")))
    (tmp_path / "rows.fwf").write_text(FIXED)
    assert sniffed(tmp_path / "rows.fwf") == Written(encoding="latin-1")
    assert sniffed(tmp_path / "not there.fwf") == Written()


def broken(file: Any, written: Written) -> Any:
    raise ValueError("the row of SENTINEL is odd")


@pytest.mark.parametrize(("reader", "words"), [
    (broken, "d.fwf cannot be read as fixed width"),
    (lambda file, written: {}, "is no table"),
    (lambda file, written: {"who": ["SENTINEL"], "state": []}, "is no table"),
    (lambda file, written: {"minute": [7]}, "something else than texts"),
    (lambda file, written: 7, "the data is a builtins int"),
])  # fmt: skip
def test_what_it_raises_or_returns_is_never_quoted(reader: Any, words: str, tmp_path: Path) -> None:
    register(SourceFormat("fixed width", reader, suffixes=(".fwf",)))
    (tmp_path / "d.fwf").write_text("SENTINEL")
    with pytest.raises(InputError, match=re.escape(words)) as caught:
        open_frame(tmp_path / "d.fwf")
    assert b"SENTINEL" not in pickle.dumps(caught.value)


def test_bad_formats_are_refused() -> None:
    register(SourceFormat("fixed width", read, suffixes=(".fwf",)))
    for bad, rule in (
        (SourceFormat("fixed width", read, (".prn",)), "registered already"),
        (SourceFormat("other", read, (".fwf",)), "is how fixed width files are told"),
        (SourceFormat("mine", read, (".parquet",)), "is how Parquet files are told"),
        (SourceFormat("mine", read, begins=(b"PAR1",)), "is how Parquet files are told"),
        (SourceFormat("all", read, begins=(b"",)), "nothing tells"), (SourceFormat("none", read), "nothing tells"),
        (SourceFormat("odd", read, ("FWF",)), "suffixes"), (SourceFormat("odd", 3, (".odd",)), "no source format"),  # type: ignore[arg-type]
        (read, "no source format"),
    ):  # fmt: skip
        with pytest.raises(InputError, match=rule):
            register(bad)  # type: ignore[arg-type]


EXTENSION = f"""
from takifugu import extending

WIDTHS = {WIDTHS}

def read(file, written):
    with file.opened() as data:
        lines = [line.decode() for line in data]
    return {{name: [line[start:end].strip() or None for line in lines] for name, (start, end) in WIDTHS.items()}}

extending.register_source_format(extending.SourceFormat("fixed width", read, suffixes=(".fwf",)))
"""


@pytest.mark.mutants
def test_from_init_to_the_ledger(tmp_path: Path) -> None:
    about = tmp_path / "site" / "fixed-1.0.dist-info"
    about.mkdir(parents=True)
    (tmp_path / "site" / "fixed.py").write_text(EXTENSION)
    (about / "METADATA").write_text("Metadata-Version: 2.1\nName: fixed\nVersion: 1.0\n")
    (about / "entry_points.txt").write_text("[takifugu.extensions]\nfixed = fixed\n")
    (tmp_path / "rows.fwf").write_text(FIXED)
    (tmp_path / "rows.csv").write_text(CSV)
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(tmp_path / "site"), str(ROOT / "src")])}

    def run(*words: str) -> str:
        command = [sys.executable, "-m", "takifugu", *words]
        done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, env=environment)
        assert done.returncode == 0, done.stderr
        return done.stdout

    assert 'file = "rows.fwf"' in run("init", "rows.fwf", "-o", "r.toml")
    draft = (tmp_path / "r.toml").read_text()
    for role, name in (("unit", "who"), ("order", "minute"), ("value", "state")):
        assert f'{role} = "{name}"' in draft
    believed = 'states = ["still", "walk"]\nmatrix = [[0.9, 0.1], [0.4, 0.6]]\nunits_independent = true'
    draft = filled(draft, source="budget = 2.0", belief=believed, release="epsilon = 0.5")
    (tmp_path / "r.toml").write_text(draft)
    run("release", "r.toml")
    # The same rows as CSV are in the same layout: nothing is charged at its worst.
    (tmp_path / "c.toml").write_text(draft.replace("rows.fwf", "rows.csv").replace("time-in-states", "again"))
    noted = run("release", "c.toml")
    assert "layout" not in noted
    listing = run("ledger", "show", tomllib.loads(draft)["ledger"])
    assert "time-in-states" in listing
    assert "again" in listing
