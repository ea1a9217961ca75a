"""Small parts of the room: SQL as text, cells of sheets, the names of periods, clocks, steps, bins and bounds."""

from datetime import date, datetime, timedelta

import pytest

from takifugu.core.errors import InputError
from takifugu.data import Bins, Bounded, Calendar, Classes, parse_step, steps_in
from takifugu.data.files.readers import open_part
from takifugu.data.files.sheets import text_of_cell
from takifugu.data.relation.keys import Source
from takifugu.data.sql.tree import expression, parsed, text_of
from takifugu.data.sql.words import double, identifier, is_missing, literal, toml_line
from takifugu.data.times.moments import enclosing, name_of, period_number
from takifugu.data.times.steps import time_text
from takifugu.data.values.spellings import are_totals


def test_sql_is_written_as_it_is_read() -> None:
    assert (identifier('a "b" c'), literal("Ana's")) == ('"a ""b"" c"', "'Ana''s'")
    assert (double(0.1), double(float("-inf"))) == ("'0.1'::double", "'-inf'::double")
    assert is_missing("v", "VARCHAR") == "(v is null or v = '')"
    assert toml_line("unit", 'lower("who")') == "unit = 'lower(\"who\")'"
    assert toml_line("value", "nullif(\"v\", 'NA')") == "value = '''nullif(\"v\", 'NA')'''"
    assert parsed("select a from b", "sql")["type"] == "SELECT_NODE"
    for text, fix in (("select a b c", "in the duckdb shell"), ("select a from b order by ...", "in place of ...")):
        with pytest.raises(InputError, match="no SELECT") as caught:
            parsed(text, "sql")
        assert fix in str(caught.value)
    assert text_of(expression("a  +  1", "order")) == "(a + 1)"


def test_cells_of_sheets_are_texts() -> None:
    cells = (1.0, 1.5, True, "", "a", datetime(2026, 1, 5), date(2026, 1, 5))
    assert [*map(text_of_cell, cells)] == ["1", "1.5", "true", None, "a", "2026-01-05T00:00:00", "2026-01-05"]


def test_paths_and_keys_are_what_they_say() -> None:
    assert [*map(open_part, ("logs/2026/*/day?.csv", "logs/ana.csv"))] == ["*/day?.csv", "ana.csv"]
    source = Source.of({"unit": "person", "order": "minute", "step": 1, "value": "posture"}, ["lying", "walking"])
    assert (source.rows, source.width, source.values) == ("samples", 1, ("posture",))


def test_calendars_have_named_windows() -> None:
    calendar = Calendar.read("2026-01-05", "2026-03-02", timedelta(hours=1))
    week = calendar.period("2026-W07")
    assert (calendar.size, week, calendar.written(week)) == (1344, range(840, 1008), "2026-02-09 to 2026-02-16")
    months = Calendar.read("2026-01-05", "2026-03-02", timedelta(days=1)).periods_from("2026-02")
    lengths = [(text, len(places)) for _, (text, places) in zip(range(3), months, strict=False)]
    assert lengths == [("2026-02", 28), ("2026-03", 31), ("2026-04", 30)]
    names = [name_of("hour", 27), name_of("week", 2928), name_of("month", 673)]
    assert names == ["1970-01-02T03", "2026-W07", "2026-02"]
    numbers = [*map(period_number, ("2026-W07", "2026-02", "2026-02-09T24"))]
    assert numbers == [("week", 2928), ("month", 673), None]
    texts = ("2026-02-09T18", "2026-02-09", "2026-W07", "2026-02")
    assert [*map(enclosing, texts)] == ["2026-02", "2026-02", "2026", "2026"]


def test_times_are_steps() -> None:
    assert (time_text(timedelta(minutes=90)), time_text(timedelta(hours=2), in_words=True)) == ("90min", "2 hours")
    assert (steps_in("1h", timedelta(minutes=15)), steps_in(6, None), steps_in(6, 5)) == (4, 6, 6)
    assert (parse_step("90s"), parse_step(5)) == (timedelta(seconds=90), 5)


def test_numbers_have_bins_classes_and_bounds() -> None:
    bins = Bins({"still": (0, 100), "moving": (100, float("inf"))})
    numbers = (0, 99.9, 100, -1, None, float("inf"), float("nan"))
    assert [*map(bins.code, numbers)] == [0, 0, 1, -3, -1, 1, -2]
    ages = Classes([18, 65])
    assert [*map(ages.code, (17.9, 18, 65, None))] == [0, 1, 2, -1]
    assert ages.words == ("below 18", "from 18 to below 65", "at least 65")
    assert Bounded("age", 0, 120, 1, missing=40).range == (0, 120)
    assert [*map(are_totals, ("Grand total:", "Summe", "Totally Bikes"))] == [True, True, False]
