"""Orders as logs write them: seconds since 1970, and a date and a time of day in two columns, alike on every engine."""

from datetime import UTC, date, datetime, time
from pathlib import Path
from typing import Any

import duckdb
import pandas
import polars
import pyarrow
import pytest
from tests.data.test_files import reader  # noqa: F401 - a fixture
from tests.support.engines import ENGINES, entries, write_csv

from takifugu.core.errors import DataError, InputError
from takifugu.data import Layout, Recode, open_frame

STATES = Recode(("still", "walk"))
#: Minutes after the first one, out of order, and the states of the rows there.
MINUTES, SEEN = [3, 0, 1, 7, 4], ["walk", "still", "still", "walk", "still"]
EXPECTED = [0, 0, -1, 1, 0, -1, -1, 1]
START = int(datetime(2026, 1, 31, 23, 57, tzinfo=UTC).timestamp())


def read(data: Any, **layout: Any) -> list[int]:
    (piece,) = entries(open_frame(data), Layout("state", step="1min", **{"order": "at", **layout}), STATES)
    return list(piece.values)


def columns(kind: str, unit: int, late: float = 0) -> dict[str, tuple[str, list[Any]]]:
    numbers: list[Any] = [(START + 60 * minute + late) * unit for minute in MINUTES]
    texts = {"text": [f" {number}" for number in numbers], "float": [float(number) for number in numbers]}
    return {"at": (kind, texts.get(kind, numbers)), "state": ("text", SEEN)}


@pytest.mark.sampled(5)
@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("kind", ["int", "float", "text", "decimal"])
@pytest.mark.parametrize(("form", "unit"), [("epoch", 1), ("epoch_ms", 1000)])
def test_seconds_since_1970_are_times(engine: str, kind: str, form: str, unit: int) -> None:
    rows = columns(kind, unit)
    assert read(ENGINES[engine](rows), order_format=form) == EXPECTED
    assert read(ENGINES[engine](rows), order_format=form, timezone="Europe/Berlin") == EXPECTED


@pytest.mark.sampled(5)
@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("kind", ["float", "text"])
def test_an_inexact_clock_is_rounded(engine: str, kind: str) -> None:
    rows = columns(kind, 1, late=7.25)
    assert read(ENGINES[engine](rows), order_format="epoch", round_to="1min") == EXPECTED
    mixed = columns(kind, 1)
    mixed["at"][1][0] = rows["at"][1][0]
    with pytest.raises(DataError, match="not a whole number of steps"):
        read(ENGINES[engine](mixed), order_format="epoch")


def test_of_a_file_too(tmp_path: Path, reader: str) -> None:  # noqa: F811
    for kind in ("int", "float"):
        path = write_csv(tmp_path / "d.csv", columns(kind, 1))
        assert read(path, order_format="epoch") == EXPECTED
    path.write_text("at;state\n" + "".join(f"{START + 60 * m},0;{s}\n" for m, s in zip(MINUTES, SEEN, strict=True)))
    from takifugu.data import Numerals, Written

    table = open_frame(path, written=Written(delimiter=";", numerals=Numerals(",")))
    (piece,) = entries(table, Layout("state", order="at", step="1min", order_format="epoch"), STATES)
    assert piece.values.tolist() == EXPECTED


@pytest.mark.sampled(3)
@pytest.mark.parametrize("engine", [*ENGINES, "csv"])
def test_what_is_no_time_is_refused(engine: str, tmp_path: Path, reader: str) -> None:  # noqa: F811
    def made(kind: str, values: list[Any]) -> Any:
        rows = {"at": (kind, values), "state": ("text", ["still"] * len(values))}
        return write_csv(tmp_path / "d.csv", rows) if engine == "csv" else ENGINES[engine](rows)

    for kind, values in (("int", [START, 2**62]), ("text", [str(START), None]), ("float", [1.0, float("inf")]),
                         ("text", ["2026-01-31", "2026-02-01"])):  # fmt: skip
        with pytest.raises(DataError, match=r"not written as 'epoch'|holds dates and times|neither all"):
            read(made(kind, values), order_format="epoch")
    with pytest.raises(DataError, match="neither all numbers nor all ISO dates"):
        read(made("text", ["yesterday", "today"]), order_format="epoch")
    with pytest.raises(DataError, match="the step is a number"):
        entries(open_frame(made("int", [1, 2])), Layout("state", order="at", order_format="epoch", step=1), STATES)


PAIRS = {
    "texts": (["2026-01-31", "2026-02-01"], ["23:57", "00:04:00"], None),
    "another format": (["31.1.26", "1.2.26"], ["11:57 PM", "12:04 am"], "%d.%m.%y %I:%M %p"),
    "digits": (["20260131", "20260201"], ["2357", "0004"], "%Y%m%d %H%M"),
    "with offsets": (["2026-01-31", "2026-01-31"], ["23:57+00:00", "22:04-02:00"], None),
}


@pytest.mark.sampled(5)
@pytest.mark.parametrize("engine", [*ENGINES, "csv"])
@pytest.mark.parametrize("case", PAIRS)
def test_a_date_and_a_time_of_day(engine: str, case: str, tmp_path: Path, reader: str) -> None:  # noqa: F811
    days, clocks, form = PAIRS[case]
    rows = {"day": ("text", days), "clock": ("text", clocks), "state": ("text", ["still", "walk"])}
    data = write_csv(tmp_path / "d.csv", rows) if engine == "csv" else ENGINES[engine](rows)
    expected = [0, -1, -1, -1, -1, -1, -1, 1]
    assert read(data, order="day", time_of_day="clock", order_format=form) == expected


def test_dates_and_times_of_frames(tmp_path: Path) -> None:
    days, clocks = [date(2026, 1, 31), date(2026, 2, 1)], [time(23, 57), time(0, 4)]
    states = ["still", "walk"]
    arrow = pyarrow.table({"day": days, "clock": pyarrow.array(clocks, pyarrow.time64("us")), "state": states})
    frames = {
        "polars": polars.from_arrow(arrow), "pyarrow": arrow, "duckdb": duckdb.from_arrow(arrow),
        "pandas": pandas.DataFrame({"day": pandas.to_datetime(days), "clock": ["23:57", "00:04"], "state": states}),
    }  # fmt: skip
    for frame in frames.values():
        assert read(frame, order="day", time_of_day="clock") == [0, -1, -1, -1, -1, -1, -1, 1]
    polars.from_arrow(arrow).write_parquet(tmp_path / "d.parquet")  # type: ignore[union-attr]
    assert read(tmp_path / "d.parquet", order="day", time_of_day="clock") == [0, -1, -1, -1, -1, -1, -1, 1]
    with pytest.raises(DataError, match=r"'clock' holds values of type .*, and must hold a time of day"):
        read(arrow.set_column(1, "clock", pyarrow.array([0.5, 0.6])), order="day", time_of_day="clock")


def test_blank_rows_and_missing_halves(tmp_path: Path, reader: str) -> None:  # noqa: F811
    path = tmp_path / "d.csv"
    path.write_text("day,clock,state\n2026-01-31,23:57,still\n,,\n2026-02-01,00:04,walk\n,,\n")
    assert read(path, order="day", time_of_day="clock") == [0, -1, -1, -1, -1, -1, -1, 1]
    path.write_text("day,clock,state\n2026-01-31,23:57,still\n2026-02-01,,walk\n")
    with pytest.raises(DataError, match="column 'day' has values that are missing"):
        read(path, order="day", time_of_day="clock")
    with pytest.raises(InputError, match="no column 'clok'"):
        read(path, order="day", time_of_day="clok")
    with pytest.raises(InputError, match="no order column"):
        Layout("state", time_of_day="clock")
