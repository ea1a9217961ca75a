"""A column that has another name in the data than before: declared, printed, and the same entries."""

import warnings
from itertools import count
from pathlib import Path
from typing import Any

import pandas as pd
import polars
import pyarrow
import pytest
from tests.support.data_files import as_duckdb, as_json_lines, as_sqlite
from tests.support.release_files import EXPECT, believe, publish, read_from, release_text
from tests.support.releases import spent

import takifugu as tf
from takifugu.core.errors import ReadingChanged, SpecError

FILE = release_text(
    read_from("s", "{file}", value="state", order="{order}", budget=9) + "\n{renamed}",
    believe("markov-chain", states=["calm", "busy"], matrix=[[0.9, 0.1], [0.4, 0.6]]),
    publish("busy", "count", states=["busy"], epsilon=0.5),
    expect=EXPECT,
)  # fmt: skip
COLUMNS = {"Hour": list(range(9)), "state": ["calm"] * 8 + ["busy"]}
#: Each release is a new one.
KEYS = count()
DECLARED = 'renamed = { Hour = "hour" }'


def release(folder: Path, renamed: str = DECLARED, order: str = "hour", file: str = "d.csv", data: Any = None,
            same_entries: bool | None = None) -> Any:  # fmt: skip
    (folder / "f.toml").write_text(FILE.format(renamed=renamed, order=order, file=file))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        key = str(next(KEYS))
        return tf.release_file(
            folder / "f.toml", data=data, output=folder / key, anyway=True, once=key, same_entries=same_entries
        )


def write(folder: Path, header: str) -> None:
    (folder / "d.csv").write_text(f"{header}\n" + "".join(f"{n},calm\n" for n in range(9)))


@pytest.mark.slow
def test_a_renamed_column_is_the_same_one(tmp_path: Path) -> None:
    usual = tmp_path / "usual"
    usual.mkdir()
    for folder in (tmp_path, usual, usual):
        write(folder, "hour,state")
        release(folder, "")
    write(tmp_path, "Hour,state")
    out = release(tmp_path)
    assert spent(tmp_path, "s").epsilon == spent(usual, "s").epsilon
    certificate = out.tables[0].releases[0][1].certificate
    assert any("'Hour'" in line and "'hour'" in line for line in certificate.assumptions)
    write(tmp_path, "hour,state")
    release(tmp_path)  # an old export, and the key that is there for the new ones
    release(usual, "")
    assert spent(tmp_path, "s").epsilon == spent(usual, "s").epsilon


@pytest.mark.slow
def test_without_the_declaration_it_is_another_column(tmp_path: Path) -> None:
    write(tmp_path, "hour,state")
    release(tmp_path, "")
    write(tmp_path, "Hour,state")
    with pytest.raises(ReadingChanged):
        release(tmp_path, "", "Hour")
    release(tmp_path, "", "Hour", same_entries=False)
    assert spent(tmp_path, "s").epsilon > 2


@pytest.mark.sampled(3)
@pytest.mark.parametrize("engine", ["pandas", "polars", "pyarrow", "duckdb", "sqlite", "jsonl", "large"])
def test_every_engine_knows_it(tmp_path: Path, engine: str) -> None:
    frames: dict[str, Any] = {"pandas": pd.DataFrame, "polars": polars.DataFrame, "pyarrow": pyarrow.table}
    writers = {"duckdb": as_duckdb, "sqlite": as_sqlite, "jsonl": as_json_lines}
    if engine in frames:
        release(tmp_path, data=frames[engine](COLUMNS))
    elif engine in writers:
        writers[engine](tmp_path / f"d.{engine}", COLUMNS)
        release(tmp_path, file=f"d.{engine}")
    else:
        (tmp_path / "d.csv").write_text("Hour,state\n" + "".join(f"{n},calm\n" for n in range(40_000)))
        release(tmp_path)
    assert spent(tmp_path, "s").epsilon == 0.5


@pytest.mark.parametrize(("header", "renamed", "order", "said"), [
    ("Hour,hour,state", DECLARED, "hour", "a column 'Hour' and a column 'hour'"),
    ("Hour,state", 'renamed = { Hour = "minute" }', "Hour", "no key of the file names that column"),
    ("Hour,state", DECLARED, "Hour", "no key of the file names that column"),
    ("Hour,state", 'renamed = { Hour = "hour", Time = "hour" }', "hour", "two columns have one name"),
    ("Hour,state", 'renamed = { Hour = "hour", hour = "state" }', "hour", "two columns have one name"),
    ("Hour,state", 'renamed = { Hour = 3 }', "hour", "renamed"),
])  # fmt: skip
def test_what_cannot_be(tmp_path: Path, header: str, renamed: str, order: str, said: str) -> None:
    width = header.count(",")
    (tmp_path / "d.csv").write_text(f"{header}\n" + "".join(f"{n}{',1' * (width - 1)},calm\n" for n in range(9)))
    with pytest.raises(SpecError, match="renamed") as refused:
        release(tmp_path, renamed, order)
    assert said in str(refused.value)
    assert not (tmp_path / "ledger.db").exists()
