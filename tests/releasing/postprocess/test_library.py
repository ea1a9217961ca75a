"""Tables returned in the library that the data came in."""

import builtins
import sys
import types
from typing import Any

import duckdb
import narwhals as nw
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import takifugu as tf
from takifugu.core.errors import InputError
from takifugu.releasing.postprocess import readable
from takifugu.releasing.postprocess.readable import as_frame, library_of

STATES = ["still", "walking", "walking", "still"]
CHAIN = tf.MarkovChain([[0.9, 0.1], [0.4, 0.6]], length=4, states=["still", "walking"])
CALIBRATION = tf.calibrate(tf.Pufferfish(tf.every_entry(), CHAIN), tf.Histogram(), 1, mechanism="group")
COLUMNS = {"cell": ["still", "it's"], "value": [6, -2], "low": [0.5, -3.25]}


@pytest.mark.parametrize(("data", "name"), [
    (pd.Series(STATES), "pandas"), (pl.Series(STATES), "polars"), (pa.array(STATES), "pyarrow"),
])  # fmt: skip
def test_a_frame_is_of_the_library_that_the_data_came_in(data: Any, name: str) -> None:
    noisy = tf.release(CALIBRATION, data)
    assert noisy.library == name
    for frame in (noisy.to_frame(), noisy.adjusted().to_frame()):
        assert type(frame).__module__.split(".")[0] == name
    assert type(noisy.to_frame("polars")).__module__.split(".")[0] == "polars"


def test_other_data_give_the_first_library_that_is_installed(monkeypatch: pytest.MonkeyPatch) -> None:
    for data in (STATES, tuple(STATES), np.array(STATES)):
        noisy = tf.release(CALIBRATION, data)
        assert noisy.library is None
        assert isinstance(noisy.to_frame(), pd.DataFrame)
    installed = {"duckdb"}
    monkeypatch.setattr(readable, "find_spec", lambda name: name if name in installed else None)
    assert type(tf.release(CALIBRATION, STATES).to_frame()).__name__ == "DuckDBPyRelation"
    with pytest.raises(InputError, match="polars is not installed"):
        noisy.to_frame("polars")
    installed.clear()
    with pytest.raises(InputError, match="no data-frame library is installed"):
        noisy.to_frame()


def test_libraries_are_recognised() -> None:
    assert library_of([pl.Series(STATES), pl.Series(STATES)]) == "polars"
    assert library_of(nw.from_native(pd.Series(STATES), series_only=True)) == "pandas"
    assert library_of(duckdb.sql("select 1 as a")) == "duckdb"
    assert [library_of(x) for x in ([], {}, None, 3, "pandas", iter([1]))] == [None] * 6


@pytest.mark.parametrize("name", ["pandas", "polars", "pyarrow", "duckdb"])
def test_columns_come_back_as_they_were(name: str) -> None:
    frame = nw.from_native(as_frame(COLUMNS, name)).lazy().collect("polars")
    assert frame.columns == list(COLUMNS)
    assert {c: frame[c].to_list() for c in frame.columns} == COLUMNS


class Session:
    """What is used of a running Spark session."""

    def createDataFrame(self, rows: Any, names: Any) -> Any:
        return [dict(zip(names, row, strict=True)) for row in rows]


def test_spark_frames_need_and_take_the_running_session(monkeypatch: pytest.MonkeyPatch) -> None:
    running: list[Session] = []
    spark = types.SimpleNamespace(SparkSession=types.SimpleNamespace(getActiveSession=lambda: (running or [None])[0]))
    monkeypatch.setitem(sys.modules, "pyspark", types.ModuleType("pyspark"))
    monkeypatch.setitem(sys.modules, "pyspark.sql", spark)  # type: ignore[arg-type]
    monkeypatch.setattr(readable, "find_spec", lambda name: name)
    with pytest.raises(InputError, match="no running Spark session"):
        as_frame(COLUMNS, "pyspark")
    running.append(Session())
    rows = [dict(zip(COLUMNS, row, strict=True)) for row in zip(*COLUMNS.values(), strict=True)]
    assert as_frame(COLUMNS, "pyspark") == rows


@pytest.mark.parametrize("name", ["polar", 3, builtins, "csv"])
def test_unknown_libraries_are_named(name: Any) -> None:
    with pytest.raises(InputError, match="the library is"):
        as_frame(COLUMNS, name)
