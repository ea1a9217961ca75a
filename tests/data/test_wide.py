"""Tables with a column a step: read as an oracle reads their cells, in every engine, and as the same rows a step."""

import random
from dataclasses import replace
from datetime import date, timedelta
from pathlib import Path
from typing import Any

import polars
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.support.engines import ENGINES, Columns, entries, write_csv, write_parquet
from tests.support.wide_oracle import cells, long_rows

from takifugu.core.errors import DataError, InputError
from takifugu.data import Layout, Recode, melting, open_frame, pieces
from takifugu.data.files import csv_file
from takifugu.data.melting import melted
from takifugu.data.wide import Wide, steps_of

START = date(2026, 1, 5)
STATES = Recode(("away", "here"), {"x": "here"})
LAYOUT = Layout("state", "pupil", order="day", step="1d", nulls="unobserved")
#: How headers may be written, and how they are declared.
HEADERS: dict[str, Any] = {
    "%Y-%m-%d": (("*-*-*",), None), "%d/%m/%Y": (("??/*",), "%d/%m/%Y"), "day %d.%m.%y": (("day *",), "day %d.%m.%y"),
}  # fmt: skip


def wide(columns: Any, **more: Any) -> Wide:
    return Wide(columns, "day", "state", ("pupil",), ("class",), **more)


def read(data: Any, how: Wide, layout: Layout = LAYOUT) -> dict[str, dict[int, int]]:
    long = melted(open_frame(data), how)
    return {str(piece.unit): dict(enumerate(piece.values.tolist())) for piece in entries(long, layout, STATES)}


def in_order(read: dict[str, dict[int, int]]) -> dict[str, dict[int, int]]:
    """Return the same where steps count from the first column's, and those between are there, and unobserved."""
    return {who: {step: mine.get(step, -1) for step in range(max(mine) + 1)} for who, mine in read.items()}


@st.composite
def tables(draw: st.DrawFn) -> tuple[list[dict[str, str | None]], dict[str, int], str]:
    """Draw rows, the step of each column, and how headers are written."""
    form = draw(st.sampled_from(sorted(HEADERS)))
    days = draw(st.lists(st.integers(0, 40), min_size=1, max_size=6, unique=True))
    days = [day - min(days) for day in days]
    steps = {(START + timedelta(day)).strftime(form): day for day in days}
    states = st.sampled_from(["here", "away", " here ", "x", "", None])
    rows: list[dict[str, str | None]] = []
    for number in range(draw(st.integers(1, 5))):
        rows.append({"pupil": f"p{number}", "class": "A", **{header: draw(states) for header in steps}})
        rows[-1][next(header for header, day in steps.items() if not day)] = "away"
    return rows, steps, form


@pytest.mark.mutants
@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(table=tables(), fills=st.booleans(), lists=st.booleans(), seed=st.randoms(use_true_random=False))
def test_every_engine_reads_the_cells_that_the_oracle_reads(
    table: Any, fills: bool, lists: bool, seed: random.Random, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    rows, steps, form = table
    patterns, of_headers = HEADERS[form]
    empty = ("here",) if fills else ()
    how = wide(patterns, form=of_headers, empty=empty)
    if lists:
        how = wide({header: str(START + timedelta(step)) for header, step in steps.items()}, empty=empty)
    expected = in_order(cells(rows, "pupil", steps, {"here": 1, "x": 1, "away": 0}, "here" if fills else None))
    names = ["pupil", "class", *steps]
    seed.shuffle(names)
    columns: Columns = {name: ("text", [row[name] for row in rows]) for name in names}
    for make in ENGINES.values():
        assert read(make(columns), how) == expected
    assert read(write_parquet(tmp_path / "wide.parquet", columns), how) == expected
    assert read(write_csv(tmp_path / "wide.csv", columns), how) == expected
    long = long_rows(rows, "pupil", {header: str(START + timedelta(step)) for header, step in steps.items()}, *empty)
    (tmp_path / "long.csv").write_text("\n".join(map(",".join, [["pupil", "day", "state"], *long])) + "\n")
    samples = pieces(open_frame(tmp_path / "long.csv"), LAYOUT, STATES)
    melt = pieces(melted(open_frame(tmp_path / "wide.csv"), how), LAYOUT, STATES)
    assert [(p.unit, p.length, p.observed, p.counts.tolist()) for p in melt] == [
        (p.unit, p.length, p.observed, p.counts.tolist()) for p in samples
    ]


def test_cells_under_the_next_header_would_be_seen(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    columns: Columns = {"pupil": ("text", ["a"]), "2026-01-05": ("text", ["here"]), "2026-01-06": ("text", ["away"])}
    path = write_csv(tmp_path / "wide.csv", columns)
    expected = cells([{"pupil": "a", "2026-01-05": "here", "2026-01-06": "away"}], "pupil",
                     {"2026-01-05": 0, "2026-01-06": 1}, {"here": 1, "away": 0})  # fmt: skip
    assert read(path, wide(("2026-*",))) == expected
    exchanged = steps_of(("2026-01-06", "2026-01-05"), wide(("2026-*",)))
    monkeypatch.setattr(melting, "steps_of", lambda names, how: dict(zip(names[1:], exchanged.values(), strict=True)))
    assert read(path, wide(("2026-*",))) != expected


@pytest.mark.sampled(5)
@pytest.mark.parametrize("engine", ENGINES)
def test_numbers_true_and_false_and_missing_ones_are_cells_too(engine: str) -> None:
    columns: Columns = {
        "pupil": ("int", [1, 2]), "class": ("text", ["A", "A"]), "1": ("int", [0, 1]), "2": ("float", [1.0, None]),
        "4": ("int", [None, 0]),
    }  # fmt: skip
    layout = Layout("state", "pupil", order="day", step=1, nulls="unobserved")
    states = Recode((0, 1))
    for empty, missing in (((), -1), (("one", "1"), 1)):
        long = melted(open_frame(ENGINES[engine](columns)), wide(("?",), empty=empty))
        assert [p.values.tolist() for p in entries(long, layout, states)] == [[0, 1, -1, missing], [1, missing, -1, 0]]
    with pytest.raises(DataError, match="none of that type"):
        melted(open_frame(ENGINES[engine](columns)), wide(("?",), empty=("none",)))
    mixed = {**columns, "1": ("text", ["0", "1"])}
    with pytest.raises(DataError, match="several kinds"):
        melted(open_frame(ENGINES[engine](mixed)), wide(("?",)))
    truth = {**columns, **{name: ("bool", [True, None]) for name in "124"}}
    long = melted(open_frame(ENGINES[engine](truth)), wide(("?",), empty=("False",)))
    assert [p.counts.tolist() for p in pieces(long, layout, Recode(("False", "True")))] == [[0, 3], [3, 0]]
    nulls = polars.DataFrame({"pupil": ["a"], "class": ["A"], "1": ["here"], "2": [None]})
    (piece,) = pieces(melted(open_frame(nulls), wide(("?",), empty=("away",))), replace(layout, nulls="refuse"), STATES)
    assert piece.counts.tolist() == [1, 1]


@pytest.mark.parametrize("steps", [6, 7, 8, 15])
def test_more_columns_than_are_read_side_by_side(steps: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(melting, "SIDE_BY_SIDE", 7)
    monkeypatch.setattr(csv_file, "MOST_SIDE_BY_SIDE", 7)
    chance = random.Random(steps)
    columns: Columns = {"pupil": ("text", ["a", "b"]), **{
        f"{step}.": ("text", chance.choices(["here", "away", ""], k=2)) for step in range(steps)
    }}  # fmt: skip
    how = Wide({f"{step}.": str(step) for step in range(steps)}, "day", "state", ("pupil",))
    layout = Layout("state", "pupil", order="day", step=1, nulls="unobserved")
    codes = {"here": 1, "away": 0, "": -1}
    for path in (write_csv(tmp_path / "many.csv", columns), write_parquet(tmp_path / "many.parquet", columns)):
        assert [list(mine.values()) for mine in read(path, how, layout).values()] == [
            [codes[values[row]] for kind, values in [*columns.values()][1:]] for row in (0, 1)
        ]


def test_half_hours_beside_a_column_of_days(tmp_path: Path) -> None:
    (tmp_path / "meter.csv").write_text("meter,on,00:00,00:30,01:00\nm,2026-01-05,0.1,0.2,7\nm,2026-01-06,8,,9\n")
    layout = Layout("state", "meter", order="on", time_of_day="half", step="30min", nulls="unobserved")
    how = Wide(("??:??",), "half", "state", ("meter", "on"), of_days=True)
    recode = Recode(("low", "high"), {"0.1": "low", "0.2": "low", "7": "high", "8": "high", "9": "high"})
    (piece,) = entries(melted(open_frame(tmp_path / "meter.csv"), how), layout, recode)
    assert piece.values.tolist() == [0, 0, 1, *([-1] * 45), 1, -1, 1]


def test_an_hour_that_clocks_show_twice_is_unclear(tmp_path: Path) -> None:
    (tmp_path / "meter.csv").write_text("on,01:00,02:00,03:00\n2025-10-26,here,away,here\n")
    how = Wide(("??:??",), "at", "state", ("on",), of_days=True)
    rules: dict[str, Any] = {"order": "on", "time_of_day": "at", "step": "1h", "timezone": "Europe/Berlin"}
    table = melted(open_frame(tmp_path / "meter.csv"), how)
    with pytest.raises(DataError, match="twice"):
        pieces(table, Layout("state", **rules), STATES)
    for ambiguous, values in (("first", [1, 0, -1, 1]), ("last", [1, -1, 0, 1])):
        (piece,) = entries(table, Layout("state", **rules, ambiguous=ambiguous), STATES)
        assert piece.values.tolist() == values


NAMES = ("pupil", "class", "2026-01-05", "2026-01-06")


@pytest.mark.parametrize(("names", "how", "key", "words"), [
    (NAMES, wide(("2026-*", "2027-*")), "columns", "no column '2027-*'"),
    (NAMES, wide(("2026-01-05", "2026-01-06", "2026-01-07")), "columns", "no column '2026-01-07'"),
    (NAMES, wide({"2026-01-05": "1", "2026-01-06": "2", "Mon": "3"}), "columns", "no column 'Mon'"),
    (NAMES, wide(("2026-01-05",)), "columns", "column 4 of 4 is declared nowhere"),
    ((*NAMES, "Ana"), wide(("2026-*",)), "columns", "column 5 of 5 is declared nowhere"),
    (NAMES, wide(("2026-*", "*-06")), "columns", "column 4 of 4 is declared twice: columns has '2026-*' and"),
    (NAMES, wide(("*",)), "columns", "column 1 of 4 is declared twice: columns has '*' and another key has 'pupil'"),
    (("pupil", "day", *NAMES[2:]), wide(("2026-*",)), "order", "the data has a column 'day'"),
    (("pupil", "state", *NAMES[2:]), wide(("2026-*",)), "value", "the data has a column 'state'"),
    ((*NAMES, "2026-02-30"), wide(("2026-*",)), "columns", "column 5, which fits columns, is no number and no time"),
    ((*NAMES, "Mon"), wide(("2026-*", "Mon")), "columns", "column 'Mon' is no number and no time"),
    (NAMES, wide(("2026-*",), of_days=True), "columns", "is no time of day"),
    (NAMES, wide(("2026-*",), form="%d.%m.%Y"), "columns", "is no number and no time"),
    ((*NAMES, "2026-01-05 00:00"), wide(("2026-*",)), "columns", "columns 3 and 5 are the same step"),
    (("pupil", "1", "1.0"), wide(("*1*",)), "columns", "columns 2 and 3 are the same step"),
    (NAMES, wide({"2026-01-05": "2026-01-05", "2026-01-06": "2026-01-05"}), "columns", "are the same step"),
    ((*NAMES, "2026-01-06"), wide(("2026-*",)), "columns", "columns 4 and 5 have one name"),
    ((*NAMES, "7"), wide(("2026-*", "7")), "columns", "numbers and times"),
    ((*NAMES, "2026-01-07T00:00Z"), wide(("2026-*",)), "columns", "with and without a zone"),
])  # fmt: skip
def test_columns_that_are_not_as_they_are_declared_are_refused(
    names: tuple[str, ...], how: Wide, key: str, words: str
) -> None:
    with pytest.raises(InputError) as refusal:
        steps_of(names, how)
    assert refusal.value.where[:1] == (key,)
    assert words in str(refusal.value)
    assert "Ana" not in str(refusal.value)
