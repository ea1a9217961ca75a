"""`engine` in a release file: who opens the data, told in one line where nobody can, with nothing released."""

import copy
import sys
from pathlib import Path

import duckdb
import pytest
from tests.support.commands import invoke, succeed
from tests.support.data_files import SOURCES
from tests.support.release_files import believe, publish, read_from, release_text, section
from tests.support.releases import put, refusal_of, refused
from tests.support.workbooks import ERROR, write_workbook

from takifugu.data import Engine, register_engine
from takifugu.data.engines import outside
from takifugu.data.engines.outside import Address
from takifugu.releasing.advice.checking import check
from takifugu.releasing.file.loading import load
from takifugu.releasing.publishing.run import release_file

FILE = release_text(
    section("[source]", name="minutes", unit="person", order="minute", value="state", missing=["NA"]) + "\n{source}",
    believe("markov-chain", states=["still", "walking"], matrix=[[0.7, 0.3], [0.6, 0.4]], units_independent=True),
    publish("walking", "count", states=["walking"], epsilon=0.5, mechanism="quilt-exact"),
)


@pytest.fixture(autouse=True)
def nothing_stays(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(outside, "_ENGINES", copy.deepcopy(outside._ENGINES))


@pytest.fixture
def rows(tmp_path: Path) -> Path:
    path = tmp_path / "minutes.parquet"
    walks = "select i % 2 as person, i // 2 as minute, if(i % 3 = 0, 'walking', 'still') as state, 1 as other"
    duckdb.sql(f"copy ({walks} from range(40) t(i)) to '{path}' (format parquet)")
    return path


def release_of(folder: Path, source: str) -> Path:
    path = folder / "minutes.toml"
    path.write_text(FILE.format(source=source))
    return path


@pytest.mark.parametrize(("source", "words"), [
    ('engine = "sprak"\ntable = "minutes"', "source.engine: the engine is 'sprak'"),
    ('engine = "spark"', "source.table: the engine 'spark' has nothing to open"),
    ('engine = "spark"\ntable = "a"\nfile = "b"', "source.table: the engine 'spark' has a table and a file to open"),
    ('engine = "shut"\ntable = "a"', "source.engine: the engine 'shut' opens nothing by itself"),
    ('engine = "spark"\ntable = "a"', "source.engine: the engine 'spark' needs PySpark; pip install"),
])  # fmt: skip
def test_one_line_says_what_to_do(source: str, words: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pyspark", None)
    register_engine(Engine("shut", lambda data: False, lambda data: data))
    (problem,) = refused(release_of(tmp_path, source)).problems
    assert problem.startswith(words)


def test_an_engine_opens_what_the_file_names(tmp_path: Path, rows: Path) -> None:
    """Data through an engine are the data of the file: one reading, one release; columns are those that are named."""
    addresses = list[Address]()

    def opened(address: Address) -> object:
        addresses.append(address)
        return duckdb.sql(f"select person, minute, state, other from '{rows}'")

    register_engine(Engine("mine", lambda data: False, lambda data: data, opened=opened))
    plain = load(release_of(tmp_path, 'file = "minutes.parquet"'))
    through = load(release_of(tmp_path, 'engine = "mine"\nfile = "minutes.parquet"'))
    assert through.reading == plain.reading
    (address,) = addresses
    assert address.file == f"file://{rows}"
    assert address.columns is not None
    assert {"person", "minute", "state"} <= address.columns
    assert "other" not in address.columns
    release_file(release_of(tmp_path, 'file = "minutes.parquet"'), anyway=True)
    once = (tmp_path / "minutes-published" / "walking.csv").read_bytes()
    release_file(release_of(tmp_path, 'engine = "mine"\ntable = "minutes"'), anyway=True)
    assert addresses[-1] == Address(None, "minutes", addresses[-1].columns)
    assert (tmp_path / "minutes-published" / "walking.csv").read_bytes() == once


def test_data_that_are_given_are_read_and_check_opens_nothing(tmp_path: Path, rows: Path) -> None:
    def opened(address: Address) -> object:
        raise AssertionError(address)

    register_engine(Engine("mine", lambda data: False, lambda data: data, opened=opened))
    path = release_of(tmp_path, 'engine = "mine"\ntable = "minutes"')
    assert check(path) is not None
    assert load(path, rows).opened is not None




SPEC = release_text(
    read_from("study", "{file}", unit="who", order="minute", value="state", budget=10),
    believe("markov-chain", states=["still", "walk"], matrix=[[0.8, 0.2], [0.3, 0.7]], units_independent=True),
    publish("{name}", "histogram", epsilon=2),
)
ROWS = {
    "who": [who for who in ("Ana", "Ben") for _ in range(400)],
    "minute": [minute for _ in ("Ana", "Ben") for minute in range(400)],
    "state": [("still", "walk")[minute % 3 == 0] for _ in ("Ana", "Ben") for minute in range(400)],
}


@pytest.mark.slow
@pytest.mark.sampled(2)
@pytest.mark.parametrize("kind", [kind for kind in SOURCES if kind != "GeoJSON"])
def test_from_init_to_a_second_release(kind: str, tmp_path: Path) -> None:
    name, write = SOURCES[kind]
    write(tmp_path / name, ROWS)
    said = dict(zip(("unit", "order", "value"), ROWS, strict=True)) | {"rows": "samples", "step": "1"}
    words = [part for key, word in said.items() for part in (f"--{key}", word)]
    succeed("init", tmp_path / name, "-o", tmp_path / "draft.toml", *words)
    draft = (tmp_path / "draft.toml").read_text()
    assert name in draft
    assert all(f'{key} = "{word}"' in draft for key, word in said.items() if key != "step")
    one = put(tmp_path, {"one.toml": SPEC.format(file=name, name="first")})
    assert "differences" in succeed("advise", one).output
    succeed("release", one)
    SOURCES["CSV"][1](tmp_path / "same.csv", ROWS)  # the same rows in a file of another kind
    two = put(tmp_path, {"two.toml": SPEC.format(file="same.csv", name="second")})
    answer = invoke("release", two).output
    assert ("the same entries?" in answer) == (kind != "CSV"), answer
    if kind != "CSV":
        succeed("release", two, "--same-entries")
    account = succeed("ledger", "show", tmp_path / "ledger.db").output
    assert {"first", "second"} <= set(account.replace(",", " ").split())


def test_a_faulty_part_is_a_fault_of_its_key(tmp_path: Path) -> None:
    write_workbook(tmp_path / "d.xlsx", {"a": [tuple(ROWS)], "b": [tuple(ROWS), ("Ana", 1, ERROR)]})
    for line, place, words in (
        ("", "source.sheet", "2 sheets, and none is named"), ('sheet = "c"', "source.sheet", "no sheet 'c'"),
        ('sheet = "b"', "source.file", "cells that show an error"),
        ('sheet = "a"\ntable = "x"', "source.table", "which has no tables"),
    ):  # fmt: skip
        spec = SPEC.format(file="d.xlsx", name="t").replace("unit =", f"{line}\nunit =")
        (tmp_path / "r.toml").write_text(spec)
        caught = refusal_of(tmp_path / "r.toml")
        assert [(fault.place, words in fault.line) for fault in caught.faults] == [(place, True)]
    assert sorted(path.name for path in tmp_path.iterdir()) == ["d.xlsx", "r.toml"]


@pytest.mark.parametrize("name", ["d.jsonl", "d.xlsx", "d.geojson", "d.duckdb", "d.sqlite", "d.csv"])
def test_data_given_as_a_release_file_are_named_as_such(name: str, tmp_path: Path) -> None:
    (tmp_path / name).write_text("{}")
    assert "starts a release file about it" in str(refusal_of(tmp_path / name))
