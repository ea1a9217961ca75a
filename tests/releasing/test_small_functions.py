"""Functions of one line's worth: a value and its words, example by example."""

from __future__ import annotations

from datetime import date
from fractions import Fraction

import pytest

from takifugu.analysis.randomisers import DiscreteLaplace
from takifugu.core.errors import InputError
from takifugu.core.escaping import float_at_most
from takifugu.releasing.advice.bands import Band, Joint
from takifugu.releasing.advice.budgets import _rounded_down
from takifugu.releasing.advice.changes import Change, by_section
from takifugu.releasing.advice.remedies import _weaker
from takifugu.releasing.advice.worth import Cells, Expectation, Worth, worth
from takifugu.releasing.certificates import cells
from takifugu.releasing.certificates.facts import Stays, Window, _between
from takifugu.releasing.file.problems import blamed, blamed_keys, broken, fault, stranger
from takifugu.releasing.file.toml_words import in_toml
from takifugu.releasing.postprocess.estimate import Estimate
from takifugu.releasing.postprocess.intervals import is_off_zero, measured
from takifugu.releasing.postprocess.readability import exact_word
from takifugu.releasing.postprocess.readable import in_words, readable
from takifugu.releasing.report.published import error_words


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


def test_faults_and_the_keys_that_they_blame():
    rules = (True, "table.0.by", "is missing", 'write by = "hour"'), (False, "table.1.by", "is missing", "")
    empty = InputError("is empty", fix="leave it out").at("where")
    faults = [
        fault(("table", 0, "grid"), "is missing", 'write grid = "0.01"'), *broken(*rules),
        stranger(("source", "default_state"), "gone", "state", ["away", "home"]),
        blamed(InputError("net.bif: 'a' has an unknown parent 'c'"), "belief", "file"), *blamed_keys(empty, "source"),
    ]  # fmt: skip
    assert [one.line for one in faults] == [
        'table[0].grid: is missing; write grid = "0.01"', 'table[0].by: is missing; write by = "hour"',
        "source.default_state: 'gone' is no state; write one of ['away', 'home']",
        "belief.file: net.bif: 'a' has an unknown parent 'c'; repair it", "source.where: is empty; leave it out",
    ]  # fmt: skip


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
    values = Fraction("2.64999"), Fraction(1, 3), Fraction(1, 3000)
    assert [_rounded_down(value) for value in values] == [2.64, 0.333, 0.000333]
    split = Change(("table", 0, "epsilon"), 0.5, "use"), Change(("source", "budget"), 2)
    assert list(by_section(split)) == ['[[table]] "use"', "[source]"]
    assert _weaker(4.3, 1.0) == (
        "a weaker promise: who is 50 % sure of something hidden can become 98.7 % sure, not 73.2 %"
    )


def test_windows_in_words():
    hours = Window("2026-01-05 to 2026-01-12", "1 hour", None, {"one day": "56.8"})
    assert hours.words.startswith("The window is 2026-01-05 to 2026-01-12, its end not included, in steps of 1 hour.")
    assert (hours.start, hours.days, hours.spans) == ("2026-01-05 00:00", "5 to 11 January 2026", {"day": "56.8"})
    assert hours.not_hidden == (
        "a whole day: against someone who knows all other steps, the noise alone gives epsilon 56.8",
    )
    half = Window("2026-01-05T10:30:00 to 2026-01-12", "30 minutes", "Europe/Berlin", clock="Europe/Berlin")
    assert (half.start, half.clock_words) == ("2026-01-05 10:30", "on clocks in Europe/Berlin")
    assert Window("2026-01-05 to 2026-01-05T01:00:00", "1 hour", None).days == "5 January 2026, 00:00 to 01:00"
    assert _between(date(2026, 1, 5), date(2026, 1, 5)) == "5 January 2026"
    assert _between(date(2025, 12, 29), date(2026, 1, 4)) == "29 December 2025 to 4 January 2026"
    assert Stays({"still": "about 10 minutes", "walking": "about 4 minutes"}).words == (
        "On average 'still' lasts about 10 minutes at a time, 'walking' about 4 minutes."
    )


def test_values_in_words():
    ends = (-19, 107), (0, 126), (-133, -7), (-133, -7, True)
    assert [is_off_zero(*each) for each in ends] == [False, True, False, True]
    sizes = (137.0, "rows"), (1.0, "steps of 1 day"), (1.0, "people"), (2.5, "")
    assert [measured(*size) for size in sizes] == ["137 rows", "1 step of 1 day", "1 person", "2.5"]
    queries = {"kind": "count"}, {"kind": "count", "duration": "1/12"}, {"kind": "mean"}
    assert list(map(exact_word, queries)) == ["count", "time", "value"]
    assert [readable(value) for value in (Fraction(6, 2), Fraction(1, 4), "yes")] == [3, 0.25, "yes"]
    assert readable(Fraction(4, 3), float_at_most) == 1.3333333333333335
    rows = {"value": 12345}, {cells.UPPER: 12345}, {cells.UPPER: "safe"}, {cells.UPPER: 45, cells.MARK: "dangerous"}
    assert list(map(in_words, rows)) == ["12,345", "at most 12,345", "safe", "dangerous: at most 45"]
    assert error_words(63, 2, "rows", "count") == (
        "Every value is within ±63 rows of the exact count (95 %, all 2 at once)."
    )
    assert str(Estimate(2016.4, 1990, 2041, (2010.0, 1900, 2120))) == (
        "about 2,016.4 (1,990 to 2,041 with probability 95 % if the belief is true)"
    )
