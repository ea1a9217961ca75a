"""Each cause has one sentence, the number of its first row and the line that mends it; types are refused unread."""

import re
import tomllib
from decimal import Decimal
from pathlib import Path
from typing import Any

import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from takifugu.core.errors import TakifuguError, faults_in
from takifugu.data.relation.source import opened_table
from takifugu.data.relation.visits import Grid
from takifugu.data.sql.faults import CAUSES, RowFault
from takifugu.data.values.bounded import Bounded

DAY = "2026-01-05"
CLOCK = {"unit": "who", "order": "t", "value": "v", "step": "1h"}
CALENDAR = {"from": DAY, "until": "2026-01-06"}
RUNS = {**CLOCK, **CALENDAR, "roster": ["Ana", "Ben"], "default_state": "x"}
STAYS = {**RUNS, "rows": "stays", "end": "e"}
NUMBERS = {"unit": "who", "order": "t", "value": "v", "step": 2}
VISITS = {**CLOCK, "from": DAY, "rows": "visits"}
POINTS = {"unit": "who", "value": ["e", "v"], "rows": "visits"}
BINS = {"low": [0, 10], "high": [10, 20]}

GRID = Grid((0.0, 1.0, 2.0), (0.0, 2.0), in_degrees=True)

#: The cause, the keys, the lines below the header who,t,e,v, and the number of the first row at fault.
CASES: list[tuple[str, dict[str, Any], list[str], int]] = [
    ("where unknown", {**CLOCK, "where": "e <> 'a'"}, [f"Ana,{DAY}T01:00,b,x", f"Ana,{DAY}T02:00,,x"], 2),
    ("no order", CLOCK, [f"Ana,{DAY}T01:00,,x", "Ana,,,x", "Ben,,,x"], 2),
    ("no time", CLOCK, [f"Ana,{DAY}T01:00,,x", "Ana,05/01/2026 02:00,,x"], 2),
    ("no time", CLOCK, [f"Ana,{DAY}T01:00,,x", f"Ana,{DAY}T25:00,,x"], 2),
    ("no time", {**CLOCK, "timezone": "UTC"}, [f"Ana,{DAY}T01:00Z,,x", f"Ana,{DAY}T02:00+99:99,,x"], 2),
    ("no end time", STAYS, [f"Ana,{DAY}T01:00,{DAY}T02:00,x", f"Ana,{DAY}T03:00,soon,x"], 2),
    ("no whole number", NUMBERS, ["Ana,0,,x", "Ana,2.0,,x"], 2),
    ("no whole number", NUMBERS, ["Ana,0,,x", "Ana,99999999999999999999,,x"], 2),
    ("no whole end", {**NUMBERS, "rows": "stays", "end": "e", "from": 0, "until": 10, "roster": ["Ana"]}, ["Ana,0,x,x"],
    1),
    ("no unit", CLOCK, [f"Ana,{DAY}T01:00,,x", f",{DAY}T02:00,,x"], 2),
    ("no recording", {**CLOCK, "recording": "e"}, [f"Ana,{DAY}T01:00,1,x", f"Ana,{DAY}T02:00,,x"], 2),
    ("no value", CLOCK, [f"Ana,{DAY}T01:00,,x", f"Ana,{DAY}T02:00,,"], 2),
    ("unknown state", CLOCK, [f"Ana,{DAY}T01:00,,x", f"Ana,{DAY}T02:00,,Geheim"], 2),
    ("unknown state", CLOCK, [f"Ana,{DAY}T01:00,,x", f"Ana,{DAY}T02:00,,x "], 2),
    ("no bin", {**CLOCK, "bins": BINS}, [f"Ana,{DAY}T01:00,,5", f"Ana,{DAY}T02:00,,20.5"], 2),
    ("no measurement", {**CLOCK, "bins": BINS}, [f"Ana,{DAY}T01:00,,20", f"Ana,{DAY}T02:00,,NaN"], 2),
    ("no bin", {**CLOCK, "bins": BINS}, [f"Ana,{DAY}T01:00,,0", f"Ana,{DAY}T02:00,,inf"], 2),
    ("no number", {**CLOCK, "bins": BINS}, [f"Ana,{DAY}T01:00,,0", f"Ana,{DAY}T02:00,,Geheim"], 2),
    ("blanks around", CLOCK, [f"Ana,{DAY}T01:00,,x", f"Ben ,{DAY}T02:00,,x"], 2),
    ("blanks around", CLOCK, [f"Ana,{DAY}T01:00,,x", f"\u00a0Ben,{DAY}T02:00,,x"], 2),
    ("control character", CLOCK, [f"Ana,{DAY}T01:00,,x", f"Be\x9bn,{DAY}T02:00,,x"], 2),
    ("control character", {**CLOCK, "recording": "e"}, [f"Ana,{DAY}T01:00,1,x", f"Ana,{DAY}T02:00,1\u202e2,x"], 2),
    ("number with a point", CLOCK, [f"12,{DAY}T01:00,,x", f"7.0,{DAY}T02:00,,x"], 2),
    ("number with a point", CLOCK, [f"12,{DAY}T01:00,,x", f"1.85E+18,{DAY}T02:00,,x"], 2),
    ("fields as a name", CLOCK, [f"{{3F-25}},{DAY}T01:00,,x", f'"{{""id"": 7}}",{DAY}T02:00,,x'], 2),
    ("fields as a name", CLOCK, [f"[gone],{DAY}T01:00,,x", f"[ {{'id': 7}}],{DAY}T02:00,,x"], 2),
    ("year", {**CLOCK, "order": "strptime(t, '%d/%m/%Y')", "step": "1d"}, ["Ana,02/03/2026,,x", "Ana,03/03/26,,x"], 2),
    ("end year", {**STAYS, "end": "strptime(e, '%Y')"}, [f"Ana,{DAY}T01:00,2026,x", f"Ben,{DAY}T01:00,26,x"], 2),
    ("between steps", CLOCK, [f"Ana,{DAY}T01:00,,x", f"Ana,{DAY}T02:30,,x"], 2),
    ("between steps", {**CLOCK, **CALENDAR}, [f"Ana,{DAY}T01:00,,x", f"Ana,{DAY}T02:30,,x"], 2),
    ("outside", {**CLOCK, **CALENDAR}, [f"Ana,{DAY}T01:00,,x", "Ana,2026-01-06T00:00,,x"], 2),
    ("outside", {**RUNS, "rows": "changes"}, [f"Ana,{DAY}T01:00,,x", "Ana,2026-01-06T00:00,,x"], 2),
    ("stranger", {**CLOCK, **CALENDAR, "roster": ["Ana"]}, [f"Ana,{DAY}T01:00,,x", f"Geheim,{DAY}T02:00,,x"], 2),
    ("stranger", {**RUNS, "rows": "changes"}, [f"Ana,{DAY}T01:00,,x", f"Geheim,{DAY}T02:00,,x"], 2),
    ("tie", CLOCK, [f"Ana,{DAY}T01:00,,x", f"Ben,{DAY}T01:00,,x", f"Ana,{DAY}T01:00,,y"], 3),
    ("backwards", STAYS, [f"Ana,{DAY}T01:00,{DAY}T02:00,x", f"Ana,{DAY}T05:00,{DAY}T04:00,x"], 2),
    ("overlap", STAYS, [f"Ana,{DAY}T01:00,{DAY}T03:00,x", f"Ana,{DAY}T02:00,{DAY}T04:00,x"], 1),
    ("no place", VISITS, [f"Ana,{DAY}T01:00,,x", f"Ana,{DAY}T02:00,,"], 2),
    ("elsewhere", VISITS, [f"Ana,{DAY}T01:00,,x", f"Ana,{DAY}T02:00,,Geheim"], 2),
    ("no coordinate", POINTS, ["Ana,,1.5,1", "Ana,,1_0,1"], 2),
    ("no coordinate", POINTS, ["Ana,,1.5,1", "Ana,,1,-inf"], 2),
    ("no place", POINTS, ["Ana,,1.5,1", "Ana,,1,"], 2),
    ("elsewhere", POINTS, ["Ana,,1.5,1", "Ana,,20.5,1"], 2),
    ("no longitude", POINTS, ["Ana,,1.5,1", "Ana,,999,1"], 2),
    ("no latitude", POINTS, ["Ana,,1.5,1", "Ana,,1,999"], 2),
    ("open", STAYS, [f"Ana,{DAY}T01:00,,x", f"Ana,{DAY}T02:00,{DAY}T04:00,x"], 1),
]  # fmt: skip


@pytest.mark.sampled(2)
@pytest.mark.parametrize(("cause", "keys", "lines", "row"), CASES)
def test_a_cause_is_told_with_its_row_and_no_value(
    cause: str, keys: dict[str, Any], lines: list[str], row: int, tmp_path: Path
) -> None:
    (tmp_path / "a.csv").write_text("\n".join(["who,t,e,v", *lines]) + "\n")
    states = ["low", "high"] if "bins" in keys else ["x", "y"]
    with opened_table({**keys, "file": "a.csv"}, states, tmp_path) as source, pytest.raises(RowFault) as error:
        _ = source.visits(GRID if keys is POINTS else None) if keys.get("rows") == "visits" else source.counts()
    fault = error.value
    assert (fault.cause, fault.row, fault.__cause__, fault.__context__) == (cause, row, None, None), fault.line
    assert fault.what.startswith(f"row {row}")
    assert fault.rule
    assert fault.fix
    assert not any(value in fault.line for value in ("Geheim", "Ben", "05/01", "20.5", "soon", "999"))
    assert not re.search("{[a-z]", fault.line)


@pytest.mark.parametrize(("keys", "rows"), [
    ({"file": "a.csv"}, "read_csv('a.csv', delim = ',', all_varchar = true)"),
    ({"file": "a.csv", "encoding": "cp1252"},
     "read_csv('a.csv', delim = ',', encoding = 'cp1252', all_varchar = true)"),
    ({"file": "a.parquet"}, "read_parquet('a.parquet')"),
    ({"sql": "SELECT * FROM read_parquet('a.parquet')"}, "(SELECT * FROM read_parquet('a.parquet'))"),
    ({}, "..."),
])  # fmt: skip
def test_a_select_that_mends_reads_the_same_rows(keys: dict[str, Any], rows: str, tmp_path: Path) -> None:
    frame = pl.DataFrame({"who": ["Ana", "Ana"], "t": [f"{DAY}T01:00"] * 2, "v": ["x", "x"]})
    frame.write_csv(tmp_path / "a.csv")
    frame.write_parquet(tmp_path / "a.parquet")
    given = None if keys else frame
    with opened_table({**CLOCK, **keys}, ["x"], tmp_path, given) as source, pytest.raises(RowFault) as error:
        source.counts()
    sql, _, end = error.value.fix.rpartition(" in place of file")
    one = 'QUALIFY row_number() OVER (PARTITION BY "who", "t" ORDER BY ...) = 1'
    assert tomllib.loads(sql or end)["sql"] == f"SELECT * FROM {rows} {one}"
    assert bool(sql) == ("file" in keys)
    assert (end == " and encoding") == ("encoding" in keys)


def test_a_row_has_its_number_whatever_a_column_called_row_holds(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("row,who,v\n4711,Ana,x\n4712,Ben,\n4713,Eva,x\n")
    keys = {"file": "a.csv", "rows": "answers", "unit": "who", "value": "v"}
    with opened_table(keys, ["x"], tmp_path) as source, pytest.raises(RowFault, match=r"^row 2: nothing in"):
        source.answers()
    with opened_table({**keys, "value": "row", "where": "who <> 'Ana'"}, (), tmp_path) as source:
        assert source.texts(["value0", "unit", "row"]) == [("4712", "Ben", "2"), ("4713", "Eva", "3")]


@pytest.mark.mutants
@pytest.mark.parametrize(("key", "text", "left"), [
    ("unit", "7.0", ["1.85E+18", "7.5", "9007199254740993.0"]), ("order", "2.0", ["2.5", "2e0"]),
])  # fmt: skip
def test_what_is_printed_for_numbers_with_a_point_rounds_nothing(
    key: str, text: str, left: list[str], tmp_path: Path
) -> None:
    """A name that lost its digits may be two people's, and a place that is rounded is another one's."""
    line = {"unit": "{},1,,x\n8,1,,x\n", "order": "Ana,{},,x\n"}[key]
    for some, is_read in ((text, True), *((other, False) for other in left)):
        (tmp_path / "a.csv").write_text("who,t,e,v\n" + line.format(some))
        keys = {**NUMBERS, "step": 1, "file": "a.csv"}
        with opened_table(keys, ["x", "y"], tmp_path) as source, pytest.raises(RowFault) as error:
            source.counts()
        pasted = tomllib.loads(re.split(r", where|; others", error.value.fix)[0])
        with opened_table({**keys, **pasted}, ["x", "y"], tmp_path) as source:
            if is_read:
                assert source.counts().names[0].tolist() == (["7", "8"] if key == "unit" else ["Ana"])
                continue
            with pytest.raises(RowFault) as error:
                source.counts()
            assert error.value.cause in ("number with a point", "no whole number")


@pytest.mark.parametrize(("row", "column", "words"), [
    ("a,soon,1", "height", "no number"), ("a,,1", "height", "nothing"), ("a,3,x", "weight", "no number"),
])  # fmt: skip
def test_a_fault_of_one_of_several_values_names_its_column(row: str, column: str, words: str, tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text(f"who,height,weight\nb,2,1\n{row}\n")
    keys = {"file": "a.csv", "rows": "answers", "value": ["height", "weight"]}
    bounded = [Bounded(name, 0, 9, 1, None) for name in keys["value"]]
    with opened_table(keys, (), tmp_path) as source, pytest.raises(RowFault, match=r"^row 2: ") as error:
        source.totals(bounded)
    assert words in str(error.value)
    assert error.value.words["column"] == column


def test_every_cause_has_a_case() -> None:
    of_answers = {"second answer"}  # in test_answers
    assert {cause.name for cause in CAUSES} == {case[0] for case in CASES} | of_answers
    assert len({cause.what for cause in CAUSES}) == len(CAUSES)


def refused(frame: Any, keys: dict[str, Any], folder: Path) -> str:
    states = ["low", "high"] if "bins" in keys else ["x", "y"]
    with pytest.raises(TakifuguError) as error, opened_table(keys, states, folder, frame) as source:
        source.counts()
    return error.value.line


TIMES = pd.to_datetime(["2026-01-05T00:00", "2026-01-05T01:00"])


@pytest.mark.sampled(5)
@pytest.mark.parametrize(("columns", "keys", "words"), [
    ({"who": [7.0, 12.0]}, {}, "unit: unit holds numbers with a point (DOUBLE)"),
    ({"who": [Decimal("7.5"), Decimal("1.5")]}, {}, "unit: unit holds numbers with a point (DECIMAL"),
    ({"who": [True, False]}, {}, "unit: unit holds BOOLEAN"),
    ({"who": TIMES}, {}, "unit: unit holds TIMESTAMP"),
    ({"who": [{"id": 7}, {"id": 8}]}, {},
     "unit: unit holds STRUCT; names are texts or whole numbers; unit = '''struct_extract("),
    ({"t": TIMES.tz_localize("UTC")}, {}, "timezone: order holds moments"),
    ({"t": TIMES}, {"timezone": "Europe/Paris"}, "timezone: order holds what clocks showed"),
    ({"t": [1, 2]}, {}, "order: order holds numbers, and step is a time"),
    ({"t": [1.0, 2.0]}, {"step": 1}, "order: order holds numbers with a point (DOUBLE)"),
    ({"t": TIMES}, {"step": 1}, "step: order holds TIMESTAMP"),
    ({"v": [1.5, 2.5]}, {}, "value: value holds numbers with a point (DOUBLE); states are texts, whole numbers, or "
     "true and false; bins = { x = [0, 10], y = [10, inf] }; or "),
    ({"v": TIMES}, {}, "value: value holds TIMESTAMP"),
    ({"v": [True, False]}, {"bins": BINS}, "bins: value holds BOOLEAN"),
])  # fmt: skip
@pytest.mark.parametrize("form", ["pandas", "polars", "arrow", "parquet"])
def test_a_column_of_another_type_is_refused_before_a_row_is_read(
    columns: dict[str, Any], keys: dict[str, Any], words: str, form: str, tmp_path: Path
) -> None:
    frame: Any = pd.DataFrame({"who": ["A", "B"], "t": TIMES, "v": ["x", "y"], **columns})
    given = {**CLOCK, **keys}
    if form == "parquet":
        frame.to_parquet(tmp_path / "a.parquet")
        frame, given = None, {**given, "file": "a.parquet"}
    elif form != "pandas":
        frame = pa.Table.from_pandas(frame, preserve_index=False)
        frame = pl.from_arrow(frame) if form == "polars" else frame
    assert refused(frame, given, tmp_path).startswith(words)


@pytest.mark.parametrize(("odd", "row"), [
    ({"who": [7, 7, None]}, "unit: row 3: nothing in"), ({"t": [1, 2, None]}, "order: row 3: nothing in"),
    ({"v": [1, 2, None]}, ""),
])  # fmt: skip
def test_whole_numbers_of_pandas_are_cast_by_the_line_of_their_error(
    odd: dict[str, Any], row: str, tmp_path: Path
) -> None:
    """pandas makes floats of them where one is missing, and no type may depend on that."""
    frame = pd.DataFrame({"who": [7, 7, 8], "t": [1, 2, 1], "v": [1, 2, 1], **odd})
    keys = {"unit": "who", "order": "t", "step": 1, "value": "v", "nulls": "unobserved"}
    with pytest.raises(TakifuguError) as error, opened_table(keys, ["1", "2"], tmp_path, frame) as source:
        source.counts()
    (line,) = re.findall(r"frame = (frame\.astype\(.*?\)) in pandas; or ", error.value.line)
    cast = eval(line, {"frame": frame})
    if row:
        assert refused(cast, {**keys, "bins": {"low": [0, 5], "high": [5, 9]}}, tmp_path).startswith(row)
    else:
        with opened_table(keys, ["1", "2"], tmp_path, cast) as source:
            assert source.counts().counts.tolist() == [[1, 1], [0, 0]]
    keys["value"], frame["v"] = "v * 0.5", [1, 2, 1]
    assert "astype" not in refused(pd.DataFrame({**frame, "who": [7, 7, 8], "t": [1, 2, 1]}), keys, tmp_path)


@pytest.mark.parametrize(("lines", "keys", "words"), [
    (["A,2026-01-05T00:00Z,x", "A,2026-01-05T01:00+01:00,x"], {}, "timezone: order holds moments"),
    (["A,2026-01-05T00:00,x", "A,2026-01-05T01:00+01:00,x"], {}, "timezone: order holds some moments"),
    (["A,2026-01-05T00:00,x"], {"timezone": "Europe/Berlin"}, "timezone: order holds times without an offset"),
    (["A,2026-01-05T00:00Z,x", "A,2026-01-05T01:00,x"], {"timezone": "UTC"},
    "timezone: order holds some times without"),
])  # fmt: skip
def test_a_column_of_times_has_one_kind(lines: list[str], keys: dict[str, Any], words: str, tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("\n".join(["who,t,v", *lines]))
    assert refused(None, {**CLOCK, **keys, "file": "a.csv"}, tmp_path).startswith(words)


def test_an_offset_in_row_30000_alone_is_found(tmp_path: Path) -> None:
    """DuckDB's own reader looks at 20,480 rows, and drops the offset."""
    lines = [f"p{n},2026-01-05T00:00,x" for n in range(29_999)] + ["p30000,2026-01-05T00:00+02:00,x"]
    (tmp_path / "a.csv").write_text("\n".join(["who,t,v", *lines]))
    assert refused(None, {**CLOCK, "file": "a.csv"}, tmp_path).startswith("timezone: order holds some moments")


def test_names_stay_as_they_are_written(tmp_path: Path) -> None:
    lines = [f"{name},0,x" for name in ("007", "7", "1850000000000000001", "1850000000000000002")]
    (tmp_path / "a.csv").write_text("\n".join(["who,t,v", *lines]))
    with opened_table({**CLOCK, "step": 1, "file": "a.csv"}, ["x"], tmp_path) as source:
        assert source.counts().names[0].tolist() == ["007", "1850000000000000001", "1850000000000000002", "7"]


@pytest.mark.parametrize(("keys", "place"), [
    ({"rows": "sample"}, "rows"), ({"step": 0}, "step"), ({"step": "1 week"}, "step"), ({"step": 1.5}, "step"),
    ({"step": True}, "step"), ({"order": None}, "order"), ({"step": None}, "step"), ({"end": "e"}, "end"),
    ({"rows": "stays"}, "end"), ({"rows": "changes"}, "from"), ({"rows": "changes", **CALENDAR}, "roster"),
    ({"gaps": "hidden"}, "gaps"), ({"until": DAY}, "from"), ({"timezone": "Mars/Olympus"}, "timezone"),
    ({"timezone": "UTC", "step": 1}, "timezone"), ({"default_state": "x"}, "default_state"),
    ({"rows": "events", **CALENDAR, "roster": ["A"], "default_state": "z"}, "default_state"),
    ({"bins": {"x": [0, 1], "y": [2, 3]}}, "bins"), ({"bins": {"z": [0, 1]}}, "bins"), ({"unit": ""}, "unit"),
    ({"unit": 7}, "unit"), ({"value": None}, "value"), ({"rows": "answers"}, "order"), ({"delimiter": ";"},
    "delimiter"),
    ({**CALENDAR, "until": "2026-01-04"}, "until"), ({**CALENDAR, "from": "2026-02-30"}, "from"),
    ({"nulls": "drop"}, "nulls"), ({"recording": "v", "roster": ["A"]}, "roster"), ({"encoding": "nope"}, "encoding"),
    ({"file": "no.csv"}, "file"), ({"file": "a.doc"}, "file"), ({"file": None}, "file"),
    ({"sql": "from read_csv('a.csv')"}, "file"), ({**CALENDAR, "roster": []}, "roster"),
    ({**CALENDAR, "roster": ["A", "A"]}, "roster"), ({**CALENDAR, "roster": ["A "]}, "roster"),
    ({**CALENDAR, "roster": "roster.csv"}, "roster"), ({**CALENDAR, "roster": "no.csv"}, "roster"),
    ({**CALENDAR, "roster": "select random() as who"}, "roster"),
])  # fmt: skip
def test_keys_that_do_not_fit_are_told_at_their_place(keys: dict[str, Any], place: str, tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text(f"who,t,v\nA,{DAY},x\n")
    (tmp_path / "a.doc").write_text("x")
    (tmp_path / "roster.csv").write_text("wer,alter\nA,3\n")
    with (
        pytest.raises(TakifuguError) as error,
        opened_table({**CLOCK, "file": "a.csv", **keys}, ["x", "y"], tmp_path) as s,
    ):
        s.counts()
    assert faults_in(error.value)[0].where[0] == place, error.value.line


def test_a_column_with_brackets_in_its_name_is_a_column_in_messages(tmp_path: Path) -> None:
    """What is a role's column is decided once, and told as SQL has it."""
    (tmp_path / "a.csv").write_text('who,Zeit (UTC),"v ""x"""\nAna,5.1.2026 12:00,x\n')
    keys = {"file": "a.csv", "unit": "who", "order": "Zeit (UTC)", "step": "1h", "value": 'v "x"'}
    with opened_table(keys, ["x"], tmp_path) as source, pytest.raises(RowFault) as error:
        source.counts()
    assert error.value.what == 'row 1: a text in "Zeit (UTC)" that is no ISO 8601 time'
    (line,) = re.findall("order = .*(?=, with your format)", error.value.fix)
    order = tomllib.loads(line)["order"].replace("%d.%m.%Y", "%-d.%-m.%Y")
    with opened_table({**keys, "order": order}, ["x"], tmp_path) as source:
        assert source.counts().counts.tolist() == [[1]]
