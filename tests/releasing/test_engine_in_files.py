"""`engine` in a release file: who opens the data, told in one line where nobody can, with nothing released."""

from __future__ import annotations

import copy
import sys
from pathlib import Path

import duckdb
import pytest

from takifugu.core.errors import SpecError
from takifugu.data import Engine, register_engine
from takifugu.data.engines import outside
from takifugu.data.engines.outside import Address
from takifugu.releasing.advice.checking import check
from takifugu.releasing.file.loading import load
from takifugu.releasing.publishing.run import release_file

FILE = """
ledger = "ledger.db"
[source]
name = "minutes"
{source}
unit = "person"
order = "minute"
value = "state"
missing = ["NA"]
[belief]
kind = "markov-chain"
states = ["still", "walking"]
matrix = [[0.7, 0.3], [0.6, 0.4]]
units_independent = true
[[release]]
name = "walking"
query = "count"
states = ["walking"]
epsilon = 0.5
mechanism = "quilt-exact"
"""


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
    path = release_of(tmp_path, source)
    with pytest.raises(SpecError) as caught:
        release_file(path)
    (problem,) = caught.value.problems
    assert problem.startswith(words)
    assert not (tmp_path / "ledger.db").exists()


def test_an_engine_opens_what_the_file_names(tmp_path: Path, rows: Path) -> None:
    """Data through an engine are the data of the file: one layout, one release; columns are those that are named."""
    addresses = list[Address]()

    def opened(address: Address) -> object:
        addresses.append(address)
        return duckdb.sql(f"select person, minute, state, other from '{rows}'")

    register_engine(Engine("mine", lambda data: False, lambda data: data, opened=opened))
    plain = load(release_of(tmp_path, 'file = "minutes.parquet"'))
    through = load(release_of(tmp_path, 'engine = "mine"\nfile = "minutes.parquet"'))
    assert through.layout() == plain.layout()
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
