"""Words of messages and certificates: numbers on the safe side, near names, rules, readings, and people."""

from collections.abc import Callable
from fractions import Fraction

import pytest

from takifugu.core.assumptions import sentence
from takifugu.core.column_words import is_told, people_of, words_in
from takifugu.core.errors import InputError, SpecError, raise_gathered
from takifugu.core.escaping import (
    as_arguments,
    as_exact_as,
    at_least,
    at_most,
    command,
    float_at_least,
    float_at_most,
    in_markup,
    number,
    on_one_line,
    option,
    plus_minus,
    power_at_most,
    promised,
    visible,
)
from takifugu.core.nearest import apart, did_you_mean, first_of, nearest, unknown
from takifugu.core.people import People
from takifugu.core.plain import either, to_plain, to_text, toml_of
from takifugu.core.readings import are_never_the_same, differences, same_entries, side_by_side, with_entries
from takifugu.core.rules import (
    check_any,
    check_as_many,
    check_known,
    check_printable,
    check_type,
    check_written_apart,
    no_law,
    pairs_of,
    requires,
    too_large,
    unwritable,
)


def test_controls_are_written_out() -> None:
    assert visible("a\x1b[2Jb\u202ec") == "a\\x1b[2Jb\\u202ec"
    assert (in_markup("a\u202eb"), in_markup("\uffff")) == ("a\\u202eb", "\ufffd")
    assert on_one_line("a\nb\x07") == "a\\x0ab\\x07"


def test_numbers_have_the_digits_that_people_read() -> None:
    assert [*map(number, (5.0, 1 / 3, None, 12345678, 1e-6))] == ["5", "0.333333", "-", "12,345,678", "1e-6"]
    assert [number(value, digits=4) for value in (1234.5678, -12345.0, 3e9)] == ["1,235", "-12,345", "3e9"]
    assert (number("a"), number(True)) == ("a", "yes")
    assert [as_exact_as(1374.55, half) for half in (52, 5.5, 0)] == [1375.0, 1374.5, 1374.55]
    assert [*map(plus_minus, (31, 2.58334, 123456.5, 0.000123456))] == ["31", "2.59", "123,457", "0.000124"]


def test_bounds_are_rounded_to_the_safe_side() -> None:
    third = Fraction(1, 3)
    assert [*map(at_most, (third, 0.1, Fraction(10**9, 3)))] == ["0.333334", "0.1", "3.33334e8"]
    assert (at_most(third, digits=2), at_least(2 * third, digits=2)) == ("0.34", "0.66")
    assert [*map(at_least, (2 * third, 0.1))] == ["0.666666", "0.1"]
    assert (promised(third, Fraction(0)), promised(1, 1e-300)) == ("epsilon 0.333334", "epsilon 1, delta 1e-300")
    assert [*map(float_at_most, (Fraction(4, 3), Fraction(1, 10)))] == [1.3333333333333335, 0.1]
    assert [*map(float_at_least, (Fraction(5, 3), Fraction(1, 10)))] == [1.6666666666666665, 0.1]
    assert [*map(power_at_most, (1, third, 0, 100))] == ["e^1 < 2.719", "e^0.333334 < 1.396", "e^0 = 1", "e^100"]


def test_commands_and_options_are_quoted_for_a_shell() -> None:
    assert command("ledger", "resume", "a study/ledger.db") == "`takifugu ledger resume 'a study/ledger.db'`"
    assert option("order", "day, time") == "--order 'day, time'"
    words = as_arguments("--rows samples (now), or --order 'day, time', 1h")
    assert words == "rows='samples' (now), or order='day, time', 1h"


def test_near_names_are_found() -> None:
    assert first_of(["still", "walking"]) == "['still', 'walking']"
    assert first_of(range(33)) == "['0', '1', '2'] and 30 more"
    assert did_you_mean("walkin", ["still", "walking"]) == "; did you mean 'walking'?"
    assert [apart("s1O", "s10"), apart("oen", "one"), apart("lonn", "lon"), apart("s1O", "s31")] == [0.25, 1, 1, 2]
    assert nearest("walkin", ["still", "walking"]) == "one of ['still', 'walking']"
    columns = ["age", "ages", "wage", "town", "sex", "name", "street"]
    assert nearest("agee", columns) == "one of ['age', 'ages', 'wage'] or 4 more"
    of_another_type = unknown("the belief has no state '1'", "1", [0, 1])
    assert (of_another_type.rule, of_another_type.fix) == ("the value is the number 1, and not the text '1'", "write 1")


@pytest.mark.parametrize(
    ("check", "words"),
    [
        (lambda: check_any([], "no state"), "no state: its list is empty; name at least one"),
        (lambda: check_known(["walkin"], ["still", "walking"], "no state"),
         "no state 'walkin': write one of ['still', 'walking']; did you mean 'walking'?"),
        (lambda: check_as_many([1, 2], "means", ["height"], "columns"),
         "there are 2 means and 1 columns: give one for each"),
        (lambda: check_printable(["a\x1b[2Jb"], "the states"),
         "the states 'a\\x1b[2Jb': a name is printed and published, and this one holds a control character; remove it, "
         "or map the value to another name"),
        (lambda: check_written_apart([1, "1"], "the states"),
         "the states 1 and '1': they are written alike, and results could not be told apart; rename one of them"),
        (lambda: check_type(3, str, "a policy", "write visits()"),
         "a value of type int is not a policy: write visits()"),
        (lambda: pairs_of([1], "the pairs", "pairs", "[(0, 1)]"),
         "the pairs: 1 is no pair: give a list, such as [(0, 1)]"),
    ],
)  # fmt: skip
def test_rules_word_their_error_once(check: Callable[[], object], words: str) -> None:
    with pytest.raises(InputError) as caught:
        check()
    assert str(caught.value) == words


def test_errors_name_the_rule_and_the_fix() -> None:
    sums = "the probabilities of row 3 sum to 100: they must be finite, not negative, and sum to 1; "
    assert str(no_law("row 3", 100.0)) == f"{sums}these are per cent: divide each by 100"
    assert str(no_law("row 3", 0.9)).endswith("sum to 1; divide each by their sum")
    assert str(too_large("the answer", 10**12, 10**6, "combinations", "name fewer columns")) == (
        "the answer needs about 10^12 combinations: at most 1,000,000 are computed; name fewer columns"
    )
    assert str(unwritable("the query names", b"a")) == (
        "the query names b'a' of type bytes: a file could not read it back; write text, a number, true or false"
    )
    assert str(requires("the count", "a belief over records", "Records(table, n)")) == (
        "the count: it requires a belief over records; give Records(table, n)"
    )


def test_several_faults_are_raised_as_one() -> None:
    with pytest.raises(SpecError) as caught:
        raise_gathered([InputError("is missing").at("order"), InputError("is missing").at("step")])
    assert caught.value.problems == ("order: is missing", "step: is missing")


def test_readings_are_compared_line_by_line() -> None:
    before, now = "file: text\nvalue: a", "file: text\nvalue: b\nwhere: c"
    assert differences(before, now) == [("value: a", "value: b"), ("", "where: c")]
    assert side_by_side(before, "file: text\nvalue: b") == "  before: value: a\n  now:    value: b"
    assert are_never_the_same("step: 1h", "step: 15min") == "step: 15min"
    assert same_entries("unit: a", "unit: a\nvalue: b") == "the same entries"
    assert same_entries("unit: a", "unit: lower(a)") == "the same entries, under the same names"
    # the hour of ten o'clock in Berlin was charged once as 10 and once as 9 UTC, where they were called the same
    assert "the same entries, of clocks that showed UTC" in same_entries("step: 3600s", "step: 3600s\ntimes: moments")
    assert with_entries("file: text", "ward.csv") == 'file: text\nentries: "ward.csv"'


def test_people_have_the_noun_of_their_column() -> None:
    assert sorted(words_in("GPS_Länge")) == ["gps", "lange"]
    assert [is_told(column) for column in ("household_id", "who", "Name", "Stellplatz")] == [True, True, True, False]
    assert [people_of(column).many for column in ("household_id", "userId", "who")] == ["households", "users", "people"]
    assert not people_of(None).are_named
    assert (people_of("Stellplatz", "parking bay").many, people_of(None, "guest").one) == ("parking bays", "guest")


def test_people_are_counted_in_words() -> None:
    cars = People("car")
    assert [cars.counted(1), cars.counted(6), cars.each_of(6)] == ["one car", "6 cars", "each of 6 cars"]
    assert (cars.whose("pooled"), People(are_named=False).counted(1)) == ("all cars together", "the whole source")
    assert [People(word).a_one for word in ("household", "agent", "user")] == ["a household", "an agent", "a user"]
    many = [People(word).many for word in ("person", "family", "class", "cow")]
    assert many == ["people", "families", "classes", "cows"]


def test_plain_data_is_json_and_toml() -> None:
    assert to_plain((Fraction(1, 2), ("a", 3), {1: (None,)})) == ["0.5", ["a", 3], {"1": [None]}]
    assert [*map(to_text, (Fraction(1, 10), Fraction(1, 3), Fraction(4)))] == ["0.1", "1/3", "4"]
    written = toml_of(["it's", 'a "b"', 1, 0.5, True, {"x y": 1}])
    assert written == '["it\'s", "a \\"b\\"", 1, 0.5, true, { "x y" = 1 }]'
    assert either(["first", "last", 3]) == '"first" or "last" or 3'
    assert sentence("its length is public") == "Its length is public."
