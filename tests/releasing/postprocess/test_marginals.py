"""Published tables at hand: rows, columns and total agree; what a notebook shows; frames of the library of the data."""

import builtins
import itertools
import sys
import types
from fractions import Fraction
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import takifugu as tf
from takifugu.cli.samples.examples import write_example
from takifugu.core.errors import InputError
from takifugu.core.text.plot import by_itself
from takifugu.data.files.sheets import arrow_table
from takifugu.releasing.postprocess import readable
from takifugu.releasing.postprocess.readable import as_frame, library_of

NUMBERS = st.integers(-(10**9), 10**9) | st.decimals(-1000, 1000, places=3).map(float)


@given(st.integers(1, 4), st.integers(1, 4), st.data())
def test_sums_agree_exactly(height: int, width: int, data: Any) -> None:
    cells = list(itertools.product("ABCD"[:height], "wxyz"[:width]))
    values = data.draw(st.lists(NUMBERS, min_size=len(cells), max_size=len(cells)))
    sums = tf.marginals([{"cell": ", ".join(c), "value": v} for c, v in zip(cells, values, strict=True)])
    exact = {c: Fraction(str(v)) for c, v in zip(cells, values, strict=True)}
    assert sums.total == float(sum(exact.values()))
    for row in "ABCD"[:height]:
        assert sums.rows[row] == float(sum(v for c, v in exact.items() if c[0] == row))
    assert sum(map(Fraction, sums.values)) == sum(exact.values())
    assert {**sums.along(0, 1)} == {", ".join(c): float(v) for c, v in exact.items()}
    assert list(sums.columns) == list("wxyz"[:width])
    if all(isinstance(v, int) for v in values):
        assert sum(sums.rows.values()) == sum(sums.columns.values()) == sums.total


def released(query: Any) -> Any:
    chain = tf.MarkovChain([[0.9, 0.1], [0.4, 0.6]], 48, states=["calm", "busy"])
    framework = tf.Pufferfish(tf.every_entry(), chain)
    return tf.release(tf.calibrate(framework, query, 1), ["calm", "busy", "busy"] * 16)


HOURS = {f"{hour:02}": [hour, hour + 24] for hour in range(24)}


def test_a_table_by_hour_and_its_adjusted_values() -> None:
    noisy = released(tf.GroupBy(tf.Histogram(), HOURS, by="hour"))
    for table in (noisy, noisy.adjusted(), noisy.adjusted(total=48)):
        sums = tf.marginals(table)
        assert list(sums.rows) == list(HOURS)
        assert list(sums.columns) == ["calm", "busy"]
        assert sum(sums.rows.values()) == sum(sums.columns.values()) == sums.total == sum(table.values)
    assert sums.total == 48


def test_labels_with_commas_are_told_apart_by_the_query() -> None:
    noisy = released(tf.GroupBy(tf.Histogram(), {"to bed, at night": range(24), "by day": range(24, 48)}))
    assert list(tf.marginals(noisy).rows) == ["to bed, at night", "by day"]
    with pytest.raises(InputError, match="do not tell"):
        tf.marginals([{"cell": label, "value": 1} for label in noisy.labels])


def test_a_table_of_three_columns() -> None:
    rows = [*itertools.product("ab", "xy", "pq")]
    people = tf.Records(tf.JointTable(rows, [1 / 8] * 8, names=["one", "two", "three"]), 8)
    framework = tf.Pufferfish(tf.every_entry("one"), people)
    noisy = tf.release(tf.calibrate(framework, tf.CrossTable(["one", "two", "three"]), 10_000), rows)
    sums = tf.marginals(noisy)
    assert sums.along(2) == {"p": 4, "q": 4}
    assert sums.along(2, 0) == {"p, a": 2, "q, a": 2, "p, b": 2, "q, b": 2}
    assert sums.along() == {"": 8}
    with pytest.raises(InputError, match="no part"):
        sums.along(3)


def test_nothing_but_published_values_is_read() -> None:
    noisy = released(tf.GroupBy(tf.Histogram(), HOURS))
    rows = [{"cell": row["cell"], "value": row["value"]} for row in noisy.rows()]
    assert tf.marginals(rows) == tf.marginals(noisy)  # what anybody has who has the table


@pytest.mark.parametrize("odd", [
    None, [], "table.csv", {"cell": "A, b"}, [{"cell": "A, b"}], [3], [{"cell": "A", "value": 1}],
    [{"cell": "A, b", "value": 1}, {"cell": "A", "value": 1}], [{"cell": "A, b", "value": "safe"}],
    [{"cell": "A, b", "value": 1}, {"cell": "A, b", "value": 2}],
    [{"unit": "x", "cell": "A, b", "value": 1}, {"unit": "y", "cell": "A, b", "value": 1}],
])  # fmt: skip
def test_what_is_no_such_table(odd: Any) -> None:
    with pytest.raises(InputError):
        tf.marginals(odd)


def test_means_do_not_add_up() -> None:
    chain = tf.MarkovChain([[0.9, 0.1], [0.4, 0.6]], 48)
    table = tf.GroupBy(tf.Mean(), {f"{hour}, of the day": [hour] for hour in range(48)})
    calibration = tf.calibrate(tf.Pufferfish(tf.every_entry(), chain), table, 100)
    with pytest.raises(InputError, match="means do not add up"):
        tf.marginals(tf.release(calibration, [0, 1] * 24))


# What a notebook or a console shows of a release, a chain and a calibration: one line, a table, a picture.
CHAIN = tf.MarkovChain([[0.9, 0.1], [0.4, 0.6]], length=40, states=["still", "walking"])
CALIBRATION = tf.calibrate(tf.Pufferfish(tf.every_entry(), CHAIN), tf.Histogram(), 1)
NOISY = tf.release(CALIBRATION, ["still"] * 30 + ["walking"] * 10)


@pytest.mark.parametrize("thing", [CHAIN, CALIBRATION, NOISY], ids=["chain", "calibration", "release"])
def test_each_is_one_short_line_a_table_and_a_picture(thing: Any, tmp_path: Path) -> None:
    assert len(repr(thing)) < 120
    assert "\n" not in repr(thing)
    assert repr(thing).startswith(f"<{type(thing).__name__}")
    assert thing._repr_html_().count("<table") >= 1
    plot = thing.plot()
    assert ElementTree.fromstring(plot._repr_svg_()).tag.endswith("svg")
    assert plot.save(tmp_path / "a.svg").read_text(encoding="utf-8") == by_itself(plot.svg)
    with pytest.raises(InputError, match="no name of a picture"):
        plot.save(tmp_path / "a.png")


def test_what_they_say() -> None:
    assert repr(CHAIN) == "<MarkovChain: 2 states, 40 steps>"
    about = "how often each state occurs, 2 values"
    assert repr(NOISY) == f"<Release release: {about}, {CALIBRATION.mechanism}, epsilon 1>"
    assert "still" in NOISY.plot().svg
    assert ">10 " in CHAIN.plot().svg or ">10<" in CHAIN.plot().svg
    html = CHAIN._repr_html_()
    assert "0.9" in html
    assert "walking" in html


def test_what_has_no_picture_says_so(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no mechanisms were compared"):
        tf.calibrate(tf.Pufferfish(tf.every_entry(), CHAIN), tf.Histogram(), 1, mechanism="group-dp").plot()
    with pytest.raises(InputError, match="no state of the chain ever ends"):
        tf.MarkovChain([[1.0, 0.0], [0.0, 1.0]], 4, initial=[0.5, 0.5]).plot()
    file = write_example("survey", tmp_path)[0]
    text = file.read_text(encoding="utf-8").replace('query = "count"\nstates = ["yes"]', 'query = "mode"')
    file.write_text(text, encoding="utf-8")
    (table,) = tf.release_file(file, new_ledger=True).tables
    with pytest.raises(InputError, match="has no picture"):
        table.plot()


STATES = ["still", "walking", "walking", "still"]
SHORT = tf.MarkovChain([[0.9, 0.1], [0.4, 0.6]], length=4, states=["still", "walking"])
OF_SHORT = tf.calibrate(tf.Pufferfish(tf.every_entry(), SHORT), tf.Histogram(), 1, mechanism="group-dp")
COLUMNS = {"cell": ["still", "it's"], "value": [6, -2], "low": [0.5, -3.25]}


@pytest.mark.parametrize(("data", "name"), [
    (pd.Series(STATES), "pandas"), (pl.Series(STATES), "polars"), (pa.array(STATES), "pyarrow"),
])  # fmt: skip
def test_a_frame_is_of_the_library_that_the_data_came_in(data: Any, name: str) -> None:
    noisy = tf.release(OF_SHORT, data)
    assert noisy.library == name
    for frame in (noisy.to_frame(), noisy.adjusted().to_frame()):
        assert type(frame).__module__.split(".")[0] == name
    assert type(noisy.to_frame("polars")).__module__.split(".")[0] == "polars"


def test_other_data_give_the_first_library_that_is_installed(monkeypatch: pytest.MonkeyPatch) -> None:
    for data in (STATES, tuple(STATES), np.array(STATES)):
        noisy = tf.release(OF_SHORT, data)
        assert noisy.library is None
        assert isinstance(noisy.to_frame(), pd.DataFrame)
    installed = {"duckdb"}
    monkeypatch.setattr(readable, "find_spec", lambda name: name if name in installed else None)
    assert type(tf.release(OF_SHORT, STATES).to_frame()).__name__ == "DuckDBPyRelation"
    with pytest.raises(InputError, match="polars is not installed"):
        noisy.to_frame("polars")
    installed.clear()
    with pytest.raises(InputError, match="no data-frame library is installed"):
        noisy.to_frame()


@pytest.mark.parametrize("name", ["pandas", "polars", "pyarrow", "duckdb"])
def test_columns_come_back_as_they_were(name: str) -> None:
    frame = as_frame(COLUMNS, name)
    assert library_of(frame) == name
    table = arrow_table(frame)
    assert table.column_names == list(COLUMNS)
    assert table.to_pydict() == COLUMNS


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
