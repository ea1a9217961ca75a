"""A table holds one kind of time, clocks or moments, and no zone of the machine changes what is read of it."""

import json
import os
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from typing import Any

import duckdb
import pytest
from tests.support import engines

from takifugu.core.errors import DataError
from takifugu.data import Calendar, Layout, Recode, open_frame, order_kind, pieces
from takifugu.data.runs.reader import pieces_of_runs
from takifugu.data.runs.rules import RunRules

MORNING = datetime(2026, 1, 5, 8)
STATES = Recode(("in", "out"))
#: Clocks and moments, by the kind of a column.
_AT = {
    "time": lambda hours: MORNING + timedelta(hours=hours),
    "zoned": lambda hours: (MORNING + timedelta(hours=hours)).replace(tzinfo=UTC),
    "text": lambda hours: f"{MORNING + timedelta(hours=hours)}",
    "texts with offsets": lambda hours: f"{MORNING + timedelta(hours=hours)}+00:00",
    "int": lambda hours: int((MORNING + timedelta(hours=hours)).replace(tzinfo=UTC).timestamp()),
}  # fmt: skip
_MOMENTS = ("zoned", "texts with offsets", "int")


def stays(start: str, end: str, hours: Sequence[tuple[int, int | None]] = ((0, 2), (3, 5))) -> engines.Columns:
    return {
        "unit": ("text", ["Ana", "Ben"]), "state": ("text", ["in", "in"]),
        "start": (start.split()[0].replace("texts", "text"), [_AT[start](first) for first, _ in hours]),
        "end": (end.split()[0].replace("texts", "text"),
                [None if last is None else _AT[end](last) for _, last in hours]),
    }  # fmt: skip


def steps_of(data: Any, form: str | None = None, zone: str | None = None) -> list[list[int]]:
    calendar = Calendar.read("2026-01-05", "2026-01-06", timedelta(hours=1))
    layout = Layout(
        "state", "unit", order="start", step="1h", order_format=form, timezone=zone, calendar=calendar,
        window=range(24),
    )  # fmt: skip
    covered = dict.fromkeys(("Ana", "Ben"), (None, None))
    rules = RunRules("stays", covered, end="end", otherwise="out")
    return [piece.counts.tolist() for piece in pieces_of_runs(open_frame(data), layout, STATES, rules)]


def source(engine: str, columns: engines.Columns, folder: Path) -> Any:
    """Return columns as a frame of an engine, or as a file of its kind."""
    if engine == "csv":
        return engines.write_csv(folder / "rows.csv", columns)
    if engine == "parquet":
        return engines.write_parquet(folder / "rows.parquet", columns)
    if engine == "duckdb file":
        with duckdb.connect(str(folder / "rows.duckdb")) as base:
            rows = engines.arrow(columns)
            base.register("frame", rows)
            base.execute("create table rows as from frame")
        return folder / "rows.duckdb"
    return engines.ENGINES[engine](columns)


TYPED = [*engines.ENGINES, "parquet", "duckdb file"]


@pytest.mark.parametrize("engine", TYPED)
@pytest.mark.parametrize(("start", "end"), [
    ("zoned", "time"), ("time", "zoned"), ("texts with offsets", "time"), ("time", "texts with offsets"),
    ("zoned", "text"), ("text", "zoned"), ("text", "texts with offsets"), ("texts with offsets", "text"),
])  # fmt: skip
@pytest.mark.parametrize("zone", [None, "Europe/Berlin"])
def test_stays_start_and_end_in_one_kind_of_time(
    engine: str, start: str, end: str, zone: str | None, tmp_path: Path
) -> None:
    with pytest.raises(DataError, match=r"one of them|only some of them") as refused:
        steps_of(source(engine, stays(start, end), tmp_path), zone=zone)
    assert "'start'" in refused.value.what
    assert "'end'" in refused.value.what
    assert refused.value.fix


@pytest.mark.parametrize("engine", TYPED)
@pytest.mark.parametrize("end", ["time", "zoned"])
def test_numbers_since_1970_and_times_are_two_kinds(engine: str, end: str, tmp_path: Path) -> None:
    with pytest.raises(DataError, match="holds epoch"):
        steps_of(source(engine, stays("int", end), tmp_path), "epoch")


@pytest.mark.parametrize("engine", ["csv", *TYPED])
@pytest.mark.parametrize("kind", ["time", "zoned", "text", "texts with offsets"])
def test_stays_of_one_kind_of_time_are_counted(engine: str, kind: str, tmp_path: Path) -> None:
    assert steps_of(source(engine, stays(kind, kind), tmp_path)) == [[2, 22], [2, 22]]


@pytest.mark.parametrize("engine", ["csv", *TYPED])
def test_a_stay_without_an_end_says_no_kind(engine: str, tmp_path: Path) -> None:
    open_stays = stays("texts with offsets", "texts with offsets", [(0, None), (3, 5)])
    assert steps_of(source(engine, open_stays, tmp_path)) == [[16, 8], [2, 22]]


@pytest.mark.parametrize("rows", ["samples", "changes"])
@pytest.mark.parametrize("engine", ["csv", *TYPED])
@pytest.mark.parametrize("zone", [None, "Europe/Berlin"])
def test_texts_with_and_without_offsets_are_refused(rows: str, engine: str, zone: str | None, tmp_path: Path) -> None:
    times = [str(MORNING), f"{MORNING + timedelta(hours=1)}+00:00"]
    columns = {"unit": ("text", ["Ana"] * 2), "state": ("text", ["in", "out"]), "at": ("text", times)}
    table = open_frame(source(engine, columns, tmp_path))
    layout = Layout("state", "unit", order="at", step="1h", timezone=zone)
    calendar = Calendar.read("2026-01-05", "2026-01-06", timedelta(hours=1))
    of_day = replace(layout, calendar=calendar, window=range(24))
    changes = RunRules("changes", {"Ana": (None, None)}, before="in")
    read = {
        "samples": lambda: pieces(table, layout, STATES),
        "changes": lambda: pieces_of_runs(table, of_day, STATES, changes),
    }
    with pytest.raises(DataError, match="with and without a zone"):
        read[rows]()


def days(kind: str) -> engines.Columns:
    """Return one row late on a day in UTC, which is the next day in Tokyo."""
    day: dict[str, Any] = {
        "date": date(2026, 1, 4), "time": datetime(2026, 1, 4), "zoned": datetime(2026, 1, 4, 20, tzinfo=UTC),
        "text": "2026-01-04",
    }  # fmt: skip
    return {
        "unit": ("text", ["Ana"]), "state": ("text", ["in"]), "day": (kind, [day[kind]]), "time": ("text", ["10:00"]),
    }


DAYS = Layout("state", "unit", order="day", time_of_day="time", step="1h")


@pytest.mark.parametrize("engine", TYPED)
def test_a_moment_is_no_day(engine: str, tmp_path: Path) -> None:
    table = open_frame(source(engine, days("zoned"), tmp_path))
    for read in (lambda: pieces(table, DAYS, STATES), lambda: order_kind(table, DAYS)):
        with pytest.raises(DataError, match="must hold a date") as refused:
            read()
        assert "depends on a zone" in refused.value.rule


@pytest.mark.parametrize("engine", TYPED)
@pytest.mark.parametrize("kind", ["date", "time", "text"])
def test_a_day_is_a_date(engine: str, kind: str, tmp_path: Path) -> None:
    (piece,) = pieces(open_frame(source(engine, days(kind), tmp_path)), DAYS, STATES)
    assert piece.counts.tolist() == [1, 0]


@pytest.mark.parametrize("engine", TYPED)
def test_a_time_of_day_on_a_day_is_not_dropped(engine: str, tmp_path: Path) -> None:
    columns = {**days("time"), "day": ("time", [datetime(2026, 1, 4, 20)])}
    with pytest.raises(DataError, match="nor all ISO dates"):
        pieces(open_frame(source(engine, columns, tmp_path)), DAYS, STATES)


@pytest.mark.parametrize("engine", TYPED)
def test_a_moment_names_no_recording(engine: str, tmp_path: Path) -> None:
    columns = {"piece": ("zoned", [MORNING.replace(tzinfo=UTC)]), "state": ("text", ["in"]), "n": ("int", [0])}
    with pytest.raises(DataError, match="name nothing"):
        pieces(open_frame(source(engine, columns, tmp_path)), Layout("state", piece="piece", order="n"), STATES)


@pytest.mark.parametrize("form", ["parquet", "duckdb"])
@pytest.mark.parametrize(("kind", "time"), [("time", "04:00:00"), ("time with time zone", "04:00:00+02")])
def test_a_time_of_day_has_no_offset(form: str, kind: str, time: str, tmp_path: Path) -> None:
    """All rows of a column with offsets counted as missing, and the error spoke of numbers."""
    path, rows = tmp_path / f"rows.{form}", f"select 'in' as state, date '2026-01-04' as day, '{time}'::{kind} as clock"
    with duckdb.connect(str(path) if form == "duckdb" else ":memory:") as base:
        if form == "duckdb":
            base.execute(f"create table rows as {rows}")
        else:
            base.sql(rows).write_parquet(str(path))
    layout = Layout("state", order="day", time_of_day="clock", step="1h")
    if kind == "time":
        (piece,) = pieces(open_frame(path), layout, STATES)
        assert piece.counts.tolist() == [1, 0]
        return
    for read in (lambda: pieces(open_frame(path), layout, STATES), lambda: order_kind(open_frame(path), layout)):
        with pytest.raises(DataError, match="'clock' holds times with an offset") as refused:
            read()
        assert '"clock"::TIME in DuckDB' in str(refused.value)


#: Reads every kind of column of times on every engine, and prints what it amounts to.
_EVERYTHING = """
import json, sys
from pathlib import Path
from tests.data.test_kinds_of_time import TYPED, read_everything
print(json.dumps(read_everything(Path(sys.argv[1]))))
"""


def read_everything(folder: Path) -> dict[str, Any]:
    """Return what each engine reads of each kind of time, as stays, samples, days, and a kind of order."""
    read = dict[str, Any]()
    for engine in ["csv", *TYPED]:
        for kind in ("time", "zoned", "text", "texts with offsets"):
            place = folder / f"{engine}-{kind}"
            place.mkdir()
            data = source(engine, stays(kind, kind), place)
            read[f"{engine} {kind}"] = steps_of(data)
            layout = Layout("state", order="start", step="1h", timezone="Europe/Berlin", by=())
            table = open_frame(data)
            pieces_read = pieces(table, layout, STATES, entrywise=True)
            read[f"{engine} {kind} samples"] = [[p.length, str(p.observed), p.counts.tolist()] for p in pieces_read]
            read[f"{engine} {kind} order"] = order_kind(table, layout)
        for kind in ("date", "time", "zoned", "text"):
            place = folder / f"{engine}-{kind}-days"
            place.mkdir()
            try:
                (piece,) = pieces(open_frame(source(engine, days(kind), place)), DAYS, STATES)
                read[f"{engine} {kind} days"] = piece.counts.tolist()
            except DataError:
                read[f"{engine} {kind} days"] = None
    return read


def test_the_zone_of_the_machine_changes_nothing(tmp_path: Path) -> None:
    answers = list[Any]()
    for zone in ("UTC", "Asia/Tokyo", "America/St_Johns"):
        folder = tmp_path / zone.replace("/", "-")
        folder.mkdir()
        command = [sys.executable, "-c", _EVERYTHING, str(folder)]
        child = subprocess.run(
            command, env={**os.environ, "TZ": zone}, capture_output=True, text=True, check=True,
            cwd=Path(__file__).parents[2],
        )  # fmt: skip
        answers.append(json.loads(child.stdout))
    assert answers[0] == answers[1] == answers[2]
    assert answers[0]["duckdb file zoned"] == [[2, 22], [2, 22]]


def test_a_file_of_duckdb_is_read_in_utc(tmp_path: Path) -> None:
    """A view or a generated column of the file could ask for the zone of the session."""
    from takifugu.data.files.duckdb_file import _Base
    from takifugu.data.files.with_duckdb import Database

    with duckdb.connect(str(tmp_path / "rows.duckdb")) as base:
        base.execute("create table rows as select 1 as one")
    for connection in (_Base(tmp_path / "rows.duckdb").connection, Database(None).connection):
        for one in (connection, connection.cursor()):
            assert one.sql("select current_setting('TimeZone')").fetchall() == [("UTC",)]
