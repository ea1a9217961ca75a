"""Order columns: every way to write a time, the same microseconds on every engine; what cannot order is refused."""

from datetime import UTC, date, datetime, time, timedelta, timezone
from pathlib import Path
from typing import Any

import duckdb
import narwhals.stable.v2 as nw
import pandas
import polars
import pyarrow
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.support.engines import ENGINES, Columns, entries, write_csv

from takifugu.core.errors import DataError, InputError
from takifugu.data import Layout, Numerals, Recode, Written, open_frame, order_kind, pieces, text_of
from takifugu.data.engines.differences import collected, settled
from takifugu.data.rows.order import kind_of_texts, with_ticks

STATES = Recode(("a",))
START = datetime(1970, 1, 1, tzinfo=UTC)

zones = st.one_of(st.just(UTC), st.integers(-1439, 1439).map(lambda m: timezone(timedelta(minutes=m))))
moments = st.datetimes(datetime(1, 1, 3), datetime(9999, 12, 29))


def written(moment: datetime, form: str) -> str:
    text = moment.isoformat(" " if " " in form else "T", "microseconds" if "." in form else "seconds")
    if "Z" in form:
        text = text.removesuffix("+00:00") + "Z"
    return text


def ticks(engine: str, columns: Columns, step: Any = None) -> tuple[list[Any], int | None]:
    table = open_frame(ENGINES[engine](columns))
    frame = table.pick({"tick": "t", "i": "i"})
    kind = frame.collect_schema()["tick"]
    written = isinstance(kind, nw.String)
    kind = kind_of_texts(frame, "t") if written else kind
    frame, length, whole = with_ticks(frame, "t", step, kind, written)
    rows = sorted(collected(settled(frame.select("i", "tick"), ["tick"] if whole else [])))
    return [None if text_of(tick) is None else tick for _, tick in rows], length


def numbered(kind: str, values: list[Any]) -> Columns:
    return {"t": (kind, values), "i": ("int", list(range(len(values))))}


@settings(max_examples=25)
@given(st.sampled_from(["T", "T.", " ", " ."]), st.lists(moments, min_size=1, max_size=20), st.data())
def test_texts_of_times_are_read_alike(form: str, read: list[datetime], data: st.DataObject) -> None:
    zoned = data.draw(st.booleans())
    if zoned:
        read = [m.replace(tzinfo=data.draw(zones)) for m in read]
    texts = [written(m, form + "Z" * (m.tzinfo is UTC and data.draw(st.booleans()))) for m in read]
    cut = [m if "." in form else m.replace(microsecond=0) for m in read]
    expected = [(m.replace(tzinfo=m.tzinfo or UTC) - START) // timedelta(microseconds=1) for m in cut]
    for engine in data.draw(st.permutations(sorted(ENGINES)))[:2]:
        assert ticks(engine, numbered("text", texts))[0] == expected


@pytest.mark.sampled(3)
@pytest.mark.parametrize("engine", ENGINES)
def test_dates_and_days_that_are_not_in_the_calendar(engine: str) -> None:
    texts = ["1900-02-28", "1900-02-29", "2000-02-29", "2024-02-30", "2023-04-31", "1970-01-01T00:00", None]
    days = [date(1900, 2, 28), None, date(2000, 2, 29), None, None, date(1970, 1, 1), None]
    expected = [None if d is None else (d - date(1970, 1, 1)).days * 86_400_000_000 for d in days]
    assert ticks(engine, numbered("text", texts), "1d") == (expected, 86_400_000_000)
    assert ticks(engine, numbered("date", days), "1h") == (expected, 3_600_000_000)


@pytest.mark.parametrize("engine", ENGINES)
def test_numbers_with_fractions_are_read_to_a_thousandth_of_a_step(engine: str) -> None:
    values = [0.1 + 0.2, 0.3, 0.7, -0.1, 0.10005, None, float("nan"), float("inf"), 1e300]
    assert ticks(engine, numbered("float", values), 0.1) == ([3000, 3000, 7000, -1000, 1000, *[None] * 4], 1000)
    assert ticks(engine, numbered("float", values[:5])) == (values[:5], None)
    assert ticks(engine, numbered("int", [5, -3, None]), 0.5) == ([10, -6, None], 1)


@pytest.mark.sampled(9)
@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize(("kind", "values", "step", "words"), [
    ("text", ["1", "SENTINEL"], None, "neither all numbers nor all ISO"),
    ("text", ["1", "2026-01-31"], None, "neither all numbers nor all ISO"),
    ("text", ["31.01.2026 10:00"], None, "neither all numbers nor all ISO"),
    ("text", ["2026-01-31T10:00", "2026-01-31T10:00Z"], None, "with and without a zone"),
    ("text", ["2026-01-31", "2026-02-30"], "1d", "no date of the calendar"),
    ("text", ["1", ""], None, "values that are missing"),
    ("float", [1.0, float("inf")], None, "values that are missing"),
    ("float", [1.0, float("nan")], 1, "values that are missing"),
    ("bool", [True, False], None, "cannot order the rows"),
    ("int", [1, 2], "1min", "holds numbers.*step = 1"),
    ("float", [1.0, 2.0], "1min", "holds numbers.*step = 1"),
    ("text", ["1", "2"], "1min", "holds numbers.*step = 1"),
    ("text", ["1.5", "2"], "1min", "holds numbers.*step = 1"),
    ("time", [datetime(2026, 1, 1), datetime(2026, 1, 2)], 1, "dates and times.*step = .1min"),
    ("text", ["2026-01-01", "2026-01-02"], 1, "dates and times.*step = .1min"),
    ("int", [1, 2, 4], 2, "not a whole number of steps"),
    ("float", [0.0, 0.5], 1, "not a whole number of steps"),
    ("time", [datetime(2026, 1, 1), datetime(2026, 1, 1, 0, 0, 30)], "1min", "not a whole number of steps"),
    ("int", [0, 2**40], 1, "spans more steps"),
    ("int", [-(2**61), 2**61], 2**60, "spans more steps"),
    ("int", [1, 1], None, "has ties"),
    ("int", [1, 1], 1, "has ties"),
    ("time", [datetime(2026, 1, 1)] * 2, "1min", "has ties"),
])  # fmt: skip
def test_what_orders_nothing_is_refused(engine: str, kind: str, values: list[Any], step: Any, words: str) -> None:
    columns: Columns = {"t": (kind, values), "v": ("text", ["a"] * len(values))}
    with pytest.raises(DataError, match=words) as caught:
        pieces(open_frame(ENGINES[engine](columns)), Layout("v", order="t", step=step), STATES)
    assert "SENTINEL" not in str(caught.value)


def test_columns_of_other_kinds_are_refused() -> None:
    for values in ([time(10)], [timedelta(1)], [[1]], [{"a": 1}], [b"x"]):
        frame = polars.DataFrame({"t": values, "v": ["a"]})
        with pytest.raises(DataError, match="cannot order the rows"):
            pieces(open_frame(frame), Layout("v", order="t"), STATES)
        with pytest.raises(DataError, match="are no states"):
            pieces(open_frame(frame), Layout("t"), STATES)
        with pytest.raises(DataError, match="name nothing"):
            pieces(open_frame(frame), Layout("v", "t"), STATES)


def test_summer_time_makes_no_hour_twice() -> None:
    """Zoned times are ordered by the moment, not by what the clock on the wall showed."""
    times = polars.datetime_range(
        datetime(2026, 10, 24, 23), datetime(2026, 10, 25, 3), "30m", time_zone="UTC", eager=True
    ).dt.convert_time_zone("Europe/Berlin")
    table = open_frame(polars.DataFrame({"t": times, "v": ["a"] * 9}))
    (piece,) = entries(table, Layout("v", order="t", step="30s"), STATES)
    assert len(piece.values) == 8 * 60 + 1


@pytest.mark.parametrize("unit", ["s", "us", "ns"])
def test_parquet_of_zoned_times_is_read_in_every_unit(unit: str, tmp_path: Path) -> None:
    """Pandas writes nanoseconds, of which DuckDB's type has no name in narwhals."""
    times = pandas.date_range("2026-10-24T23:00", periods=9, freq="30min", tz="Europe/Berlin").as_unit(unit)
    pandas.DataFrame({"t": times, "v": ["a"] * 9}).to_parquet(tmp_path / "d.parquet")
    (piece,) = entries(open_frame(tmp_path / "d.parquet"), Layout("v", order="t", step="30min"), STATES)
    assert len(piece.values) == 9


@pytest.mark.sampled(5)
@pytest.mark.parametrize("engine", [*ENGINES, "csv"])
def test_numbers_beyond_64_bits_and_the_year_0_have_no_place(engine: str, tmp_path: Path) -> None:
    for text, step in (("999999999999999999", 0.001), ("0000-01-01T00:00", "1min")):
        columns: Columns = {"at": ("text", [text]), "state": ("text", ["a"])}
        data = write_csv(tmp_path / "d.csv", columns) if engine == "csv" else ENGINES[engine](columns)
        with pytest.raises(DataError, match="no date of the calendar"):
            pieces(open_frame(data), Layout("state", order="at", step=step), Recode(("a",)))


# What an order column holds, of every engine: its type or the form of its texts says it, and nothing else.


CLOCKS = ["2026-01-05T10:00", "2026-01-05T11:00"]
OFFSETS = [f"{clock}+01:00" for clock in CLOCKS]
CLOCK, OFFSET = "clock times", "times with offsets"


def kind(times: list[Any], engine: str, folder: Path, **rules: Any) -> str | None:
    columns = {"t": times, "state": ["calm"] * len(times), "who": [None, *["Ana"] * len(times)][: len(times)]}
    data: Any = pandas.DataFrame(columns)
    if engine == "polars":
        data = polars.DataFrame(columns)
    elif engine == "pyarrow":
        data = pyarrow.table(columns)
    elif engine == "csv":
        data.to_csv(folder / "d.csv", index=False)
        data = folder / "d.csv"
    return order_kind(open_frame(data), Layout("state", order="t", **rules))


@pytest.mark.sampled(3)
@pytest.mark.parametrize("engine", ["pandas", "polars", "pyarrow", "csv"])
@pytest.mark.parametrize(("times", "rules", "expected"), [
    (CLOCKS, {}, CLOCK), (OFFSETS, {}, OFFSET), (["2026-01-05", "2026-01-06"], {}, CLOCK),
    (["2026-01-05T10:00Z"] * 2, {}, OFFSET), ([1, 2], {}, "numbers"), ([1.5, 2.5], {}, "numbers"),
    ([1767603600, 1767607200], {"order_format": "epoch"}, "epoch"), ([None, *OFFSETS], {}, OFFSET),
    (["05.01.2026", "06.01.2026"], {"order_format": "%d.%m.%Y"}, CLOCK),
])  # fmt: skip
def test_what_an_order_column_holds(
    tmp_path: Path, engine: str, times: list[Any], rules: dict[str, Any], expected: str
) -> None:
    assert kind(times, engine, tmp_path, **rules) == expected


@pytest.mark.parametrize("engine", ["pandas", "polars", "pyarrow"])
def test_the_type_of_a_column_tells_it(tmp_path: Path, engine: str) -> None:
    clocks = [datetime(2026, 1, 5, 10), datetime(2026, 1, 5, 11)]
    moments = [clock.replace(tzinfo=UTC) for clock in clocks]
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
    assert order_kind(open_frame(pandas.DataFrame({"state": ["calm"]})), Layout("state")) is None


# Numbers of seconds, and dates beside times of day.


WALKS = Recode(("still", "walk"))
#: Minutes after the first one, out of order, and the states of the rows there.
MINUTES, SEEN = [3, 0, 1, 7, 4], ["walk", "still", "still", "walk", "still"]
EXPECTED = [0, 0, -1, 1, 0, -1, -1, 1]
EVENING = int(datetime(2026, 1, 31, 23, 57, tzinfo=UTC).timestamp())


def read(data: Any, **layout: Any) -> list[int]:
    (piece,) = entries(open_frame(data), Layout("state", step="1min", **{"order": "at", **layout}), WALKS)
    return list(piece.values)


def columns(kind: str, unit: int, late: float = 0) -> dict[str, tuple[str, list[Any]]]:
    numbers: list[Any] = [(EVENING + 60 * minute + late) * unit for minute in MINUTES]
    texts = {"text": [f" {number}" for number in numbers], "float": [float(number) for number in numbers]}
    return {"at": (kind, texts.get(kind, numbers)), "state": ("text", SEEN)}


@pytest.mark.sampled(17)
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


def test_of_a_file_too(tmp_path: Path, reader: str) -> None:
    for kind in ("int", "float"):
        path = write_csv(tmp_path / "d.csv", columns(kind, 1))
        assert read(path, order_format="epoch") == EXPECTED
    path.write_text("at;state\n" + "".join(f"{EVENING + 60 * m},0;{s}\n" for m, s in zip(MINUTES, SEEN, strict=True)))
    table = open_frame(path, written=Written(delimiter=";", numerals=Numerals(",")))
    (piece,) = entries(table, Layout("state", order="at", step="1min", order_format="epoch"), WALKS)
    assert piece.values.tolist() == EXPECTED


@pytest.mark.sampled(7)
@pytest.mark.parametrize("engine", [*ENGINES, "csv"])
def test_what_is_no_time_is_refused(engine: str, tmp_path: Path, reader: str) -> None:
    def made(kind: str, values: list[Any]) -> Any:
        rows = {"at": (kind, values), "state": ("text", ["still"] * len(values))}
        return write_csv(tmp_path / "d.csv", rows) if engine == "csv" else ENGINES[engine](rows)

    for kind, values in (("int", [EVENING, 2**62]), ("text", [str(EVENING), None]), ("float", [1.0, float("inf")]),
                         ("text", ["2026-01-31", "2026-02-01"])):  # fmt: skip
        with pytest.raises(DataError, match=r"not written as 'epoch'|holds dates and times|neither all"):
            read(made(kind, values), order_format="epoch")
    with pytest.raises(DataError, match="neither all numbers nor all ISO dates"):
        read(made("text", ["yesterday", "today"]), order_format="epoch")
    with pytest.raises(DataError, match="the step is a number"):
        entries(open_frame(made("int", [1, 2])), Layout("state", order="at", order_format="epoch", step=1), WALKS)


PAIRS = {
    "texts": (["2026-01-31", "2026-02-01"], ["23:57", "00:04:00"], None),
    "another format": (["31.1.26", "1.2.26"], ["11:57 PM", "12:04 am"], "%d.%m.%y %I:%M %p"),
    "digits": (["20260131", "20260201"], ["2357", "0004"], "%Y%m%d %H%M"),
    "with offsets": (["2026-01-31", "2026-01-31"], ["23:57+00:00", "22:04-02:00"], None),
}


@pytest.mark.sampled(17)
@pytest.mark.parametrize("engine", [*ENGINES, "csv"])
@pytest.mark.parametrize("case", PAIRS)
def test_a_date_and_a_time_of_day(engine: str, case: str, tmp_path: Path, reader: str) -> None:
    days, clocks, form = PAIRS[case]
    rows = {"day": ("text", days), "clock": ("text", clocks), "state": ("text", ["still", "walk"])}
    data = write_csv(tmp_path / "d.csv", rows) if engine == "csv" else ENGINES[engine](rows)
    expected = [0, -1, -1, -1, -1, -1, -1, 1]
    assert read(data, order="day", time_of_day="clock", order_format=form) == expected


@pytest.mark.sampled(3)
@pytest.mark.parametrize("day", ["2026-01-31", date(2026, 1, 31)])
@pytest.mark.parametrize("name", ["d.parquet", "d.duckdb"])
def test_a_date_and_a_time_of_day_where_texts_are_checked(name: str, day: str | date, tmp_path: Path) -> None:
    path, layout = tmp_path / name, Layout("state", order="date", time_of_day="from")

    def write(clock: str) -> None:
        frame = polars.DataFrame({"date": [day], "from": [clock], "state": ["still"]})
        if name == "d.parquet":
            frame.write_parquet(path)
        else:
            with duckdb.connect(path) as base:
                base.execute("create or replace table d as select * from frame")

    write("10:00")
    assert order_kind(open_frame(path), layout) == "clock times"
    write("10:00" + " " * 70_000)
    with pytest.raises(DataError, match="texts of more than"):
        order_kind(open_frame(path), layout)


def test_dates_and_times_of_frames(tmp_path: Path) -> None:
    days, clocks = [date(2026, 1, 31), date(2026, 2, 1)], [time(23, 57), time(0, 4)]
    states = ["still", "walk"]
    arrow = pyarrow.table({"day": days, "clock": pyarrow.array(clocks, pyarrow.time64("us")), "state": states})
    frames = {
        "polars": polars.from_arrow(arrow), "pyarrow": arrow, "duckdb": duckdb.from_arrow(arrow),
        "pandas": pandas.DataFrame({"day": pandas.to_datetime(days), "clock": ["23:57", "00:04"], "state": states}),
    }  # fmt: skip
    polars.from_arrow(arrow).write_parquet(tmp_path / "d.parquet")  # type: ignore[union-attr]
    for data in (*frames.values(), tmp_path / "d.parquet"):
        assert read(data, order="day", time_of_day="clock") == [0, -1, -1, -1, -1, -1, -1, 1]
    with pytest.raises(DataError, match=r"'clock' holds values of type .*, and must hold a time of day"):
        read(arrow.set_column(1, "clock", pyarrow.array([0.5, 0.6])), order="day", time_of_day="clock")


def test_blank_rows_and_missing_halves(tmp_path: Path, reader: str) -> None:
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
