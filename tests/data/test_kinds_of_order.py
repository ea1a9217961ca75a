"""What an order column holds, of every engine: its type or the form of its texts says it, and nothing else."""

from __future__ import annotations

import datetime as dt
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from takifugu.core.errors import DataError
from takifugu.data import Layout, open_frame, order_kind

CLOCKS = ["2026-01-05T10:00", "2026-01-05T11:00"]
OFFSETS = [f"{clock}+01:00" for clock in CLOCKS]
CLOCK, OFFSET = "clock times", "times with offsets"


def kind(times: list[Any], engine: str, folder: Path, **rules: Any) -> str | None:
    columns = {"t": times, "state": ["calm"] * len(times), "who": [None, *["Ana"] * len(times)][: len(times)]}
    data: Any = pd.DataFrame(columns)
    if engine == "polars":
        data = pytest.importorskip("polars").DataFrame(columns)
    elif engine == "pyarrow":
        data = pytest.importorskip("pyarrow").table(columns)
    elif engine == "csv":
        data.to_csv(folder / "d.csv", index=False)
        data = folder / "d.csv"
    return order_kind(open_frame(data), Layout("state", order="t", **rules))


@pytest.mark.parametrize("engine", ["pandas", "polars", "pyarrow", "csv"])
@pytest.mark.parametrize(
    ("times", "rules", "expected"),
    [
        (CLOCKS, {}, CLOCK), (OFFSETS, {}, OFFSET), (["2026-01-05", "2026-01-06"], {}, CLOCK),
        (["2026-01-05T10:00Z"] * 2, {}, OFFSET), ([1, 2], {}, "numbers"), ([1.5, 2.5], {}, "numbers"),
        ([1767603600, 1767607200], {"order_format": "epoch"}, "epoch"), ([None, *OFFSETS], {}, OFFSET),
        (["05.01.2026", "06.01.2026"], {"order_format": "%d.%m.%Y"}, CLOCK),
    ],
)  # fmt: skip
def test_what_an_order_column_holds(
    tmp_path: Path, engine: str, times: list[Any], rules: dict[str, Any], expected: str
) -> None:
    assert kind(times, engine, tmp_path, **rules) == expected


@pytest.mark.parametrize("engine", ["pandas", "polars", "pyarrow"])
def test_the_type_of_a_column_tells_it(tmp_path: Path, engine: str) -> None:
    clocks = [dt.datetime(2026, 1, 5, 10), dt.datetime(2026, 1, 5, 11)]
    moments = [clock.replace(tzinfo=dt.UTC) for clock in clocks]
    assert kind(clocks, engine, tmp_path) == kind(clocks, engine, tmp_path, order_format="epoch") == CLOCK
    assert kind(moments, engine, tmp_path) == kind(moments, engine, tmp_path, order_format="epoch") == OFFSET


@pytest.mark.parametrize("engine", ["pandas", "polars", "pyarrow", "csv"])
def test_rows_that_are_left_out_do_not_decide(tmp_path: Path, engine: str) -> None:
    """The first row has no name: if it is left out, its form says nothing about the others."""
    rules = {"unit": "who", "null_keys": "drop"}
    assert kind(CLOCKS, engine, tmp_path, **rules) == CLOCK
    with pytest.raises(DataError, match="'t'"):
        kind([CLOCKS[0], OFFSETS[1]], engine, tmp_path, **rules)


@pytest.mark.parametrize("engine", ["pandas", "polars", "pyarrow", "csv"])
@pytest.mark.parametrize("times", [[], [None], [None, None]])
def test_a_column_that_holds_nothing_is_of_no_kind(tmp_path: Path, engine: str, times: list[Any]) -> None:
    assert kind(times, engine, tmp_path) is None
    assert kind(times, engine, tmp_path, order_format="%d.%m.%Y") == CLOCK
    assert kind(times, engine, tmp_path, order_format="epoch") == "epoch"


def test_without_an_order_there_is_none() -> None:
    assert order_kind(open_frame(pd.DataFrame({"state": ["calm"]})), Layout("state")) is None
