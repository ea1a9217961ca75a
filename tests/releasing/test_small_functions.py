"""Functions of one line's worth: a value and its words, example by example."""

from __future__ import annotations

import json
from datetime import date, timedelta
from fractions import Fraction

import pytest

from takifugu import JointTable, Records
from takifugu.analysis.randomisers import DiscreteLaplace
from takifugu.core.errors import InputError
from takifugu.core.escaping import float_at_most
from takifugu.data import Calendar
from takifugu.releasing.advice.bands import Band, Joint, adjusted_bands, cell_band, coverage, difference_band
from takifugu.releasing.advice.budgets import _rounded_down
from takifugu.releasing.advice.changes import Change, by_section
from takifugu.releasing.advice.remedies import _weaker
from takifugu.releasing.advice.worth import Cells, Expectation, Worth, worth
from takifugu.releasing.certificates import cells
from takifugu.releasing.certificates.facts import Stays, Window, _between
from takifugu.releasing.certificates.files import digest_of
from takifugu.releasing.file.calendars import night_set_back
from takifugu.releasing.file.keys import names_of
from takifugu.releasing.file.kind import Kind, output_by_default
from takifugu.releasing.file.kinds import register
from takifugu.releasing.file.old_keys import column, of_before
from takifugu.releasing.file.problems import blamed, blamed_keys, broken, fault, stranger
from takifugu.releasing.file.reading import are_degrees
from takifugu.releasing.file.sections import public_source, size_that_matters
from takifugu.releasing.file.sequences.sections import calls_steps_a_time, duration_in, seconds_in, stays_of
from takifugu.releasing.file.toml_words import in_toml
from takifugu.releasing.file.unsupported import exact_total, instead_of
from takifugu.releasing.planning.factors import factor_of, number_of
from takifugu.releasing.planning.reading_records import of_records
from takifugu.releasing.postprocess.estimate import Estimate
from takifugu.releasing.postprocess.intervals import Interval, is_off_zero, measured
from takifugu.releasing.postprocess.open_data import geo_json
from takifugu.releasing.postprocess.readability import Rule, exact_word, with_possible
from takifugu.releasing.postprocess.readable import as_frame, in_words, readable
from takifugu.releasing.report.published import error_words

NOISE = DiscreteLaplace(Fraction(100), Fraction(1))
HOURS = Window("2026-01-05 to 2026-01-12", "1 hour", None, {"one day": "56.8"})


def test_output_by_default(tmp_path):
    assert output_by_default(tmp_path / "minutes.toml") == "minutes-published"


def test_a_kind_without_a_section_is_refused():
    with pytest.raises(InputError, match="None is no section of a belief"):
        register(Kind())


def test_sources_of_expectations():
    assert public_source("last year's published report") == "last year's published report"
    with pytest.raises(InputError, match="says 'private data': advice must not depend on them"):
        public_source("Counts estimated from the private data")


def test_sizes_that_matter():
    assert size_that_matters("2.5 h") == (Fraction(5, 2), "h")
    assert size_that_matters(30) == (Fraction(30), "")
    assert size_that_matters("10%") == (Fraction(10), "%")


@pytest.mark.parametrize(("said", "written"), [
    ('use mechanism="quilt-exact"; allow_zero_noise=True accepts that',
     'use mechanism = "quilt-exact"; allow_zero_noise = true accepts that'),
    ("give codes, for example codes={'ill': 1}, or write --allow-useless (allow_useless=True)",
     "give codes, for example codes = { ill = 1 }, or write --allow-useless"),
    ("write every_entry('age', max_difference=...)",
     'write record = { attribute = "age", max_difference = ... } under [hide]'),
])  # fmt: skip
def test_hints_as_lines_of_a_file(said, written):
    assert in_toml(said) == written


def test_faults_of_keys():
    assert fault(("table", 0, "grid"), "is missing", 'write grid = "0.01"').line == (
        'table[0].grid: is missing; write grid = "0.01"'
    )
    rules = (True, "table.0.by", "is missing", 'write by = "hour"'), (False, "table.1.by", "is missing", "")
    assert [error.line for error in broken(*rules)] == ['table[0].by: is missing; write by = "hour"']
    assert stranger(("source", "default_state"), "gone", "state", ["away", "home"]).line == (
        "source.default_state: 'gone' is no state; write one of ['away', 'home']"
    )


def test_faults_of_lower_layers():
    assert blamed(InputError("net.bif: 'a' has an unknown parent 'c'"), "belief", "file").line == (
        "belief.file: net.bif: 'a' has an unknown parent 'c'; repair it"
    )
    assert blamed(InputError("it takes numbers", fix="give codes={'ill': 1}"), "table", 0).fix == (
        "give codes = { ill = 1 }"
    )
    (one,) = blamed_keys(InputError("is empty", fix="leave it out").at("where"), "source")
    assert one.line == "source.where: is empty; leave it out"


def test_keys_of_before():
    assert of_before(("release",), {"release": []}, ["table"]).line == "is the key of before; write [[table]]"
    assert of_before(("ledger_id",), {"ledger_id": "a"}, []).line.startswith("is gone; require_ledger")
    assert [column(name) for name in ("Datum", "end", "my column")] == ["Datum", '"end"', '"my column"']


def test_queries_under_other_names():
    assert str(instead_of("avg", ["mean", "sum"])) == (
        '"avg" is not published under this name: write query = "mean"; it is the same'
    )
    assert exact_total("invariant").line.startswith("asks for an exact total, which is not published; it has no noise")


def test_names_of_a_key():
    assert (names_of(None), names_of("ward"), names_of(["hour", "ward"])) == ((), ("ward",), ("hour", "ward"))


def test_degrees_by_name():
    assert are_degrees(["lat", "gps_lon"])
    assert not are_degrees(["x", "y"])


def test_nights_in_which_clocks_are_set_back():
    steps = Calendar.read("2026-10-01", "2026-12-01", timedelta(hours=1))
    assert night_set_back(steps, range(steps.size)) == date(2026, 10, 25)
    assert night_set_back(steps, range(24 * 24)) is None
    night = 24 * 24  # a window that ended on its day was said to have none, and one that began after it to have it
    assert night_set_back(steps, range(night, night + 2)) == date(2026, 10, 25)
    assert night_set_back(steps, range(night + 3, night + 24)) is None


def test_units_of_time():
    assert [seconds_in(words) for words in ("Minutes", "15 min", "people", "0 min")] == [60, 900, None, None]
    assert [seconds_in(words) for words in ("1.5 h", "1/2 hour", "1/0 h", "hours a day")] == [5400, 1800, None, None]
    assert all(calls_steps_a_time(words, "10min") for words in ("minutes of sleep", "1 h 30 min", "h, local"))
    assert not any(calls_steps_a_time(words, "10min") for words in ("10 minutes awake", "rows", "hours", "dayshifts"))
    assert not calls_steps_a_time("minutes of sleep", 10)
    assert duration_in("hours", "5min") == Fraction(1, 12)
    assert duration_in("minutes", "1min") is None
    assert duration_in("rows", "5min") is None
    stays = stays_of([[0.9, 0.1], [0.25, 0.75]], ["still", "walking"], timedelta(minutes=1))
    assert stays.lasting["walking"] == "about 4 minutes"


def test_numbered_factors():
    assert [float(factor_of(number)) for number in (512, 1024, 1536, 2048, 3072)] == [0.5, 1.0, 1.5, 2.0, 4.0]
    assert all(number_of(factor_of(number)) == number for number in (1, 1023, 1024, 1025, 2048, 4000))


def test_records_by_columns():
    people = Records(JointTable([("a", 0), ("b", 1)], [0.5, 0.5], names=["group", "ill"]), 3)
    assert of_records(people, {"ill": [0, 1, 0], "group": ["a", "b", "a"]}).tolist() == [0, 1, 0]


def test_bands_of_laplace_noise():
    cell, difference = cell_band(NOISE), difference_band(NOISE)
    assert (cell.width, round(cell.coverage, 4)) == (300.0, 0.9505)
    assert (difference.width, round(difference.coverage, 4)) == (411.0, 0.9501)
    assert round(coverage(NOISE, NOISE.half_width(0.95, 3), 3), 4) == 0.9504
    two_cells = DiscreteLaplace(Fraction(100), Fraction(1), 2)
    cell, difference = adjusted_bands(two_cells, (450, 150), (Fraction(600),))
    assert cell.width < 300
    assert difference.width < 411


def test_words_of_worth():
    words = "all values lie within ± 7 rows at once with probability 95 %"
    assert Joint(Fraction(7), 3, 0.951).sentence("rows") == words
    assert Cells(("on time", "late"), (1963.0, 44.0), 63.0).words == "late (44 ± 63) is noise"
    expected = Expectation((100.0, 250.0), None, "assumed")
    assert expected.words("hours") == "from 100 to 250 hours are"
    for size, unit, said in ((7, "", "7 is"), (7, "rows", "7 rows are"), (1, "rows", "1 row is")):
        assert Expectation((size,), None, "assumed").words(unit) == f"about {said}"
    bands = Band(20.0, 0.95), Band(27.0, 0.95)
    assert Worth(*bands, 30.0, expected).sentence("minutes") == "good: differences above 27 minutes show"
    noisy = DiscreteLaplace(Fraction(7), Fraction(1), cells=2)
    sentence = worth(noisy, Expectation((80.0, 20.0), None, "the belief")).sentence()
    assert sentence == "rough: only differences above 29 show"


def test_changes_and_their_price():
    assert [_rounded_down(value) for value in (Fraction("2.64999"), Fraction(1, 3), Fraction(1, 3000))] == [
        2.64, 0.333, 0.000333
    ]  # fmt: skip
    split = Change(("table", 0, "epsilon"), 0.5, "use"), Change(("source", "budget"), 2)
    assert list(by_section(split)) == ['[[table]] "use"', "[source]"]
    assert _weaker(4.3, 1.0) == (
        "a weaker promise: who is 50 % sure of something hidden can become 98.7 % sure, not 73.2 %"
    )


def test_windows_in_words():
    assert HOURS.words.startswith("The window is 2026-01-05 to 2026-01-12, its end not included, in steps of 1 hour.")
    assert (HOURS.start, HOURS.days, HOURS.spans) == ("2026-01-05 00:00", "5 to 11 January 2026", {"day": "56.8"})
    assert [assumption.text for assumption in HOURS.assumptions[1:]] == [
        "A whole day: against someone who knows all other steps, the noise alone gives epsilon 56.8.",
    ]
    half = Window("2026-01-05T10:30:00 to 2026-01-12", "30 minutes", "Europe/Berlin", clock="Europe/Berlin")
    assert (half.start, half.clock_words) == ("2026-01-05 10:30", "on clocks in Europe/Berlin")
    assert Window("2026-01-05 to 2026-01-05T01:00:00", "1 hour", None).days == "5 January 2026, 00:00 to 01:00"
    assert _between(date(2026, 1, 5), date(2026, 1, 5)) == "5 January 2026"
    assert _between(date(2025, 12, 29), date(2026, 1, 4)) == "29 December 2025 to 4 January 2026"
    assert Stays({"still": "about 10 minutes", "walking": "about 4 minutes"}).words == (
        "On average 'still' lasts about 10 minutes at a time, 'walking' about 4 minutes."
    )


def test_texts_of_published_tables():
    assert [cells.guarded(text) for text in ("=1+1", "'tis", "-1", "well")] == ["'=1+1", "''tis", "-1", "well"]
    assert cells.Rows({"row": [0, 1], "place": ["north", "south"]})[1] == {"row": 1, "place": "south"}
    assert cells.names_of([], [(0.0, 1.5)]) == ("x", "y")
    assert cells.names_of(["activity"], ["rest"]) == ("activity",)
    assert digest_of(b"")[:23] == "sha256:e3b0c44298fc1c14"
    box = (0.0, 0.0, 1.0, 2.0), {"cell": "a"}
    assert json.loads(geo_json(iter([box])))["features"][0]["properties"] == {"cell": "a"}


def test_values_in_words():
    assert [is_off_zero(*ends) for ends in ((-19, 107), (0, 126), (-133, -7), (-133, -7, True))] == [
        False, True, False, True
    ]  # fmt: skip
    assert [measured(*size) for size in ((137.0, "rows"), (1.0, "steps of 1 day"), (1.0, "people"), (2.5, ""))] == [
        "137 rows", "1 step of 1 day", "1 person", "2.5"
    ]  # fmt: skip
    queries = {"kind": "count"}, {"kind": "count", "duration": "1/12"}, {"kind": "mean"}
    assert list(map(exact_word, queries)) == ["count", "time", "value"]
    assert with_possible([{"value": 3}, {"value": -1}], (0, 40)) == [
        {"value": 3, "possible": True}, {"value": -1, "possible": False}
    ]  # fmt: skip
    rule = Rule({"kind": "count"})
    assert rule.of({"value": 44, "low": -19, "high": 107}) is False
    assert rule.of({"value": 7, "low": None, "high": None}) is None
    assert [readable(value) for value in (Fraction(6, 2), Fraction(1, 4), "yes")] == [3, 0.25, "yes"]
    assert readable(Fraction(4, 3), float_at_most) == 1.3333333333333335
    rows = {"value": 12345}, {cells.UPPER: 12345}, {cells.UPPER: "safe"}, {cells.UPPER: 45, cells.MARK: "dangerous"}
    assert list(map(in_words, rows)) == ["12,345", "at most 12,345", "safe", "dangerous: at most 45"]
    assert error_words(63, 2, "", "count") == "Every value is within ±63 of the exact count (95 %, both at once)."
    assert error_words(5, 1, "", "value") == "The value is within ±5 of the exact value (95 %)."
    assert error_words(5, 3, "", "value") == "Every value is within ±5 of the exact value (95 %, all 3 at once)."


def test_intervals_estimates_and_frames():
    low, high = Interval(3, 9, 0.95, 4)
    assert (low, high) == (3, 9)
    assert str(Interval(3, 9, 0.95, 4)) == (
        "3 to 9 (95 % over the noise, all 4 cells at once; noise only, not sampling error)"
    )
    assert str(Estimate(2016.4, 1990, 2041, (2010.0, 1900, 2120))) == (
        "about 2,016.4 (1,990 to 2,041 with probability 95 % if the belief is true)"
    )
    assert as_frame({"cell": ["still"], "value": [6]}, "polars").rows() == [("still", 6)]
