"""Release files that hide a property of whole columns: reading, faults, ledger and certificates, in both settings."""

import csv
import json
import re
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from tests.releasing.attribute_files import BODIES, FILES, SCHOOL, STAFF, written
from tests.support.commands import succeed
from tests.support.engines import ENGINES, Columns
from tests.support.releases import by_cells, faults_of, refused, spent

import takifugu as tf
from takifugu.core.errors import BudgetExceeded, CompositionRefused, DataError
from takifugu.releasing.file.loading import load
from takifugu.releasing.planning.plan import plan

#: What the files of `attribute_files` publish, by hand, in grid units of each.
ANSWERS = {"records": 16, "parameters": 30}


def answers(path: Path, data: Any = None) -> list[Any]:
    """Return the exact answers of a file, in answer units."""
    questions = [question for table in plan(load(path, data)).tables for question in table.questions]
    return [answer for question in questions for answer in by_cells(question).values()]


@pytest.mark.parametrize("kind", ["records", "parameters"])
def test_rows_are_counted_as_by_hand(tmp_path: Path, kind: str) -> None:
    assert answers(written(tmp_path, kind)) == [ANSWERS[kind]]


def test_numbers_are_rounded_and_added_as_by_hand(tmp_path: Path) -> None:
    rows = list(csv.DictReader(BODIES.splitlines(), delimiter=";"))
    total = sum(round(float(row["weight"]) * 2) for row in rows) * Fraction(1, 2)
    assert answers(written(tmp_path, "normal")) == [total / 60]


def as_columns(text: str, separator: str, kinds: dict[str, str], missing: tuple[str, ...] = ()) -> Columns:
    rows = list(csv.DictReader(text.splitlines(), delimiter=separator))
    made: dict[str, tuple[str, list[Any]]] = {}
    for name, kind in kinds.items():
        values: list[Any] = [None if row[name] in missing else row[name] for row in rows]
        if kind == "float":
            values = [None if value is None else float(value) for value in values]
        made[name] = (kind, [int(v) for v in values] if kind == "int" else values)
    return made


@pytest.mark.slow
@pytest.mark.sampled(3)
@pytest.mark.parametrize("engine", ENGINES)
def test_every_engine_reads_the_same(tmp_path: Path, engine: str) -> None:
    frames = {
        "records": as_columns(STAFF, ",", {"smokes": "text", "team": "text", "hours": "float"}, ("",)),
        "normal": as_columns(BODIES, ";", {"weight": "float", "income": "float"}),
        "parameters": as_columns(SCHOOL, ",", {"marks": "int", "height": "text"}),
    }
    for kind, columns in frames.items():
        path = written(tmp_path / kind, kind)
        from_file, given = load(path), load(path, ENGINES[engine](columns))
        (one,), (other,) = from_file.kind.units(from_file), given.kind.units(given)
        held = [getattr(unit.data, "totals", unit.data) for unit in (one, other)]
        assert held[0] == held[1], kind


@pytest.mark.sampled(5)
@pytest.mark.parametrize("kind", FILES)
@pytest.mark.parametrize("rows", [0, 1, 59])
def test_another_number_of_rows_is_refused_without_telling_it(tmp_path: Path, kind: str, rows: int) -> None:
    lines = FILES[kind][2].splitlines(keepends=True)
    path = written(tmp_path, kind, data="".join([*lines[: 1 + min(rows, len(lines) - 2)]]))
    refusal = str(refused(path, kind=DataError))
    assert re.search(r"another number of rows than belief.records|no rows", refusal)
    assert not re.search(rf"\b{rows}\b", refusal), refusal


@pytest.mark.sampled(2)
@pytest.mark.parametrize(("kind", "old", "new", "words"), [
    ("records", "no,b,0.5,4", "never,b,0.5,4", 'a value in "smokes" that is not declared'),
    ("records", "no,b,0.5,4", "No,b,0.5,4", 'row 4: a value in "smokes" that is a declared one up to case'),
    ("records", "no,b,0.5,4", ",b,0.5,4", 'nothing in "smokes"'),
    ("records", "no,b,0.5,4", "no,b,SENTINEL,4",
     'a text in "hours" that is no number: bins and sums are of numbers; sql = "SELECT'),
    ("records", "no,b,0.5,4", "yes,b,0.5,4", "combination of values"),
    ("records", "smokes,team", "smoking,team", "staff.csv has no 'smokes'"),
    ("parameters", "1,big", "4,big", 'a value in "marks" that is not declared'),
    ("normal", "40.000;70.00", "40.000;SENTINEL", 'a text in "weight" that is no number'),
    ("normal", "40.000;70.00", "40.000;70,0000", """commas are decimal, as in 1,5, replace("weight", ',', '.')"""),
    ("normal", "40.000;70.00", "40.000;", 'nothing in "weight"'),
    ("normal", "40.000;70.00", "40.000;inf", 'nothing in "weight"'),
])  # fmt: skip
def test_what_breaks_a_rule_of_the_data(tmp_path: Path, kind: str, old: str, new: str, words: str) -> None:
    rows = FILES[kind][2]
    assert old in rows
    refusal = str(refused(written(tmp_path, kind, data=rows.replace(old, new, 1))))
    assert words in refusal
    assert "SENTINEL" not in refusal


def test_a_fit_with_decimal_commas_is_read_by_a_select(tmp_path: Path) -> None:
    moments = "mean = [70, 40]\ncovariance = [[144, 60], [60, 100]]\n"
    path = written(tmp_path, "normal", {moments: 'fit = { file = "public.csv" }\n'})
    public = BODIES.partition("\n")[0] + "\n" + "".join(f"{30 + n % 7},5;{60 + n % 9},25;q{n}\n" for n in range(30))
    (tmp_path / "public.csv").write_text(public, encoding="utf-8")
    (line,) = faults_of(path).items()
    fix = '''file = "select replace("weight", ',', '.') as "weight", ... from ..."'''
    assert line == ("belief", f"public.csv: column 'weight' has texts that are no numbers; {fix}")
    numbers = ", ".join(f"replace({name}, ',', '.') as {name}" for name in ("weight", "income"))
    select = f"select {numbers} from read_csv('public.csv', delim = ';', all_varchar = true)"
    path.write_text(path.read_text().replace('"public.csv" }', f'"{select}" }}'))
    assert load(path).belief is not None


def test_a_fit_without_a_source_is_read_and_the_missing_source_is_told(tmp_path: Path) -> None:
    moments = "mean = [70, 40]\ncovariance = [[144, 60], [60, 100]]\n"
    path = written(tmp_path, "normal", {moments: 'fit = { file = "public.csv" }\n'})
    (tmp_path / "public.csv").write_text("weight,height\n" + "70,40\n" * 30, encoding="utf-8")
    text = path.read_text()
    path.write_text(text[: text.index("[source]")] + text[text.index("[belief]") :])
    assert "source" in faults_of(path)


def test_what_texts_and_missing_numbers_may_count_as_can_be_pasted(tmp_path: Path) -> None:
    rows = FILES["normal"][2].replace("40.000;70.00", "40.000;ND")
    line = pasted(written(tmp_path / "a", "normal", data=rows), 'a text in "weight"', r"(sql = .*) in place of")
    as_missing = {'file = "bodies.csv"': line.replace("'NA'", "'ND'")}
    path = written(tmp_path / "b", "normal", as_missing, rows)
    counts_as = pasted(path, 'nothing in "weight"', r"counts as: (missing = \{ \"weight\" = \d+ \}) under \[belief\]")
    counted = as_missing | {'resolution = "0.5"\n': f'resolution = "0.5"\n{counts_as}\n'}
    path = written(tmp_path / "c", "normal", counted, rows)
    assert answers(path)[0] == answers(written(tmp_path / "d", "normal"))[0] + (110 - Fraction(70)) / 60


def pasted(path: Path, words: str, pattern: str) -> str:
    """Return the line that a refusal tells to write."""
    refusal = str(refused(path, kind=DataError))
    assert words in refusal
    line = re.search(pattern, refusal)
    assert line is not None, refusal
    return line[1]


@pytest.mark.parametrize(("kind", "line", "words"), [
    ("normal", 'unit = "who"', "source.unit"),
    ("normal", 'roster = ["p1"]', "source.roster"),
    ("normal", 'nulls = "unobserved"', "source.nulls"),
    ("normal", 'value = "weight"', "source.value"),
    ("records", 'missing = ["?"]', "source.missing"),
    ("records", "where = \"smokes = 'yes'\"", "which rows there are depends on 'smokes'"),
    ("parameters", 'where = "marks > 1"', "source.where"),
])  # fmt: skip
def test_columns_have_no_keys_of_people_and_no_filter_of_what_is_hidden(
    tmp_path: Path, kind: str, line: str, words: str
) -> None:
    place = f'file = "{FILES[kind][1]}"\n'
    assert words in str(refused(written(tmp_path, kind, {place: f"{place}{line}\n"})))


def test_rows_that_where_leaves_out_are_no_records(tmp_path: Path) -> None:
    rows = BODIES + "1000;1000;total\n"
    place = 'file = "bodies.csv"\n'
    path = written(tmp_path / "a", "normal", {place: f"{place}where = \"who <> 'total'\"\n"}, rows)
    assert answers(path) == answers(written(tmp_path / "b", "normal"))


@pytest.mark.parametrize(("more", "is_refused"), [("", True), ("no,a,3,3\n", False)], ids=["a copy", "a row more"])
@pytest.mark.parametrize("columns", [["smokes", "team", "hours"], ["hours", "smokes", "team"]])
def test_a_copy_of_the_data_in_another_order_is_no_public_file(
    tmp_path: Path, columns: list[str], more: str, is_refused: bool
) -> None:
    text, _, _ = FILES["records"]
    rows = text[text.index("columns = [") : text.index("\n\n[belief.classes.hours]")]
    fit = f'fit = {{ file = "copy.csv", columns = {json.dumps(columns)} }}'
    path = written(tmp_path, "records", {rows: fit})
    header, *lines = STAFF.splitlines(keepends=True)
    (tmp_path / "copy.csv").write_text("".join([header, *sorted(lines), more]))
    if is_refused:
        assert "has the rows of the private data" in faults_of(path)["belief.fit.file"]
    else:
        assert load(path).belief is not None


def test_another_reading_of_a_column_asks_whether_the_entries_are_the_same(tmp_path: Path) -> None:
    readings = [load(written(tmp_path / name, "records", changes)).reading for name, changes in (
        ("as it is", {}),
        ("other classes", {"ends = [20, 40]": "ends = [21, 40]"}),
        ("other missing ones", {"missing = 30\n": "missing = 50\n"}),
    )]  # fmt: skip
    assert len({*readings}) == 3
    replaced = {'resolution = "0.5"\n': 'resolution = "0.5"\nmissing = { weight = 70 }\n'}
    as_it_is, other = written(tmp_path / "c", "normal"), written(tmp_path / "d", "normal", replaced)
    assert load(as_it_is).reading != load(other).reading


@pytest.mark.slow
def test_values_that_are_clipped_or_replaced_are_on_the_certificate(tmp_path: Path) -> None:
    rule = {'resolution = "0.5"\n': 'resolution = "0.5"\nmissing = { weight = 70 }\n'}
    rows = BODIES.replace("40.000;70.00", "40.000;999").replace("40.143;69.67", "40.143;nan")
    plain, path = written(tmp_path / "plain", "normal"), written(tmp_path / "clipped", "normal", rule, rows)
    assert answers(path)[0] == answers(plain)[0] + (200 - 70 + Fraction("0.5")) / 60
    (table,) = tf.release_file(path).tables
    assumed = " | ".join(map(str, table.certificate.assumptions))
    for words in ("count as the end", "A missing or infinite value of 'weight' counts as 70", "to multiples of 0.5"):
        assert words in assumed


def test_classes_are_on_the_certificate(tmp_path: Path) -> None:
    (table,) = tf.release_file(written(tmp_path, "records"), allow_useless=True).tables
    assumed = " | ".join(map(str, table.certificate.assumptions))
    assert "'hours' are read in classes: below 20 as 10, from 20 to below 40 as 30, at least 40 as 50" in assumed
    assert "A missing value counts as 30" in assumed
    assert "The number of records is public" in assumed


@pytest.mark.sampled(2)
@pytest.mark.parametrize(("kind", "hidden", "setting", "believed"), [
    ("records", "the share of 'b' in 'team' of the records at hand, up to a difference of 0.1",
     "what these very records add up to, not a parameter of the population", "40 independent records"),
    ("normal", "the mean of 'income' of the records at hand, up to a difference of 2",
     "what these very records add up to, not a parameter of the population", "jointly normal columns"),
    ("parameters", "the parameter of 'height' in the population",
     "a parameter of the population that the records come from, not what these records add up to", "50 records"),
])  # fmt: skip
def test_a_sentence_says_what_is_hidden(tmp_path: Path, kind: str, hidden: str, setting: str, believed: str) -> None:
    (table,) = tf.release_file(written(tmp_path, kind), allow_useless=True).tables
    page = " ".join(table.certificate.text().split())
    (sentence,) = re.findall(r"In short (.*?) Guarantee", page)
    for words in (hidden, setting, believed, "against readers whose model", "Single rows are not protected."):
        assert words in sentence, sentence
    report = (tmp_path / "out" / f"{table.name}.report.html").read_text(encoding="utf-8")
    assert "Single rows" in report
    is_part = kind != "parameters"  # of which all values are compared
    assert ("of two compared values of a secret, the output" in page) == is_part
    assert ("Nothing is promised for values that are too far apart" in report) == (kind != "parameters")
    assert table.certificate.definition == "attribute"


@pytest.mark.sampled(3)
@pytest.mark.parametrize(("kind", "changes", "place", "words"), [
    ("normal", {"[60, 100]]": "[60, 10]]"}, "belief.covariance", "positive semidefinite"),
    ("normal", {"[60, 100]]": "[61, 100]]"}, "belief.covariance", "symmetric"),
    ("normal", {"mean = [70, 40]": "mean = [70]"}, "belief.mean", "1 means and 2 columns"),
    ("normal", {"records = 60": "records = 1"}, "belief.records", "from 2"),
    ("normal", {"records = 60": "records = 0"}, "belief.records", "write records"),
    ("normal", {'resolution = "0.5"': 'resolution = "0.5"\noutside = "clip"'}, "belief.outside", "clipped; leave"),
    ("normal", {", income = [-50, 200]": "", '"0.5"': "1e-9", "records = 60": "records = 10000000"},
     "belief.ranges.income", "too large for a sum in steps of 1/1000000000; write its range"),
    ("normal", {"weight = [20, 200]": "weight = [200, 20]"}, "belief.ranges.weight", "bound"),
    ("normal", {"weight = [20, 200]": "weihgt = [20, 200]"}, "belief.ranges.weihgt", "no column"),
    ("normal", {'resolution = "0.5"': "resolution = 0"}, "belief.resolution", "above 0"),
    ("normal", {'resolution = "0.5"\n': ""}, "belief.resolution", "is missing"),
    ("normal", {'"income", function': '"wealth", function'}, "hide.property.attribute", "no column 'wealth'"),
    ("normal", {", max_difference = 2": ""}, "hide.property", "max_difference"),
    ("normal", {", max_difference = 2": ", max_difference = 0"}, "hide.property.max_difference", "above 0"),
    ("normal", {", max_difference = 2": ", sets = [{ below = 50 }, { at_least = 49 }]"}, "hide.property.sets",
     "overlap"),
    ("normal", {", max_difference = 2": ", sets = [{ below = 50 }, {}]"}, "hide.property.sets", "no end"),
    ("normal", {'attribute = "weight"': 'attribute = "wieght"'}, "table[0].attribute", "did you mean 'weight'"),
    ("normal", {'query = "mean"': 'query = "count"\nstates = [1]'}, "table[0].query", ""),
    ("normal", {"property =": "parameter ="}, "hide.parameter.function", "not a known key"),
    ("normal", {"ranges = {": "others = [{ mean = [72], covariance = [[1, 0], [0, 1]] }]\nranges = {"},
     "belief.others[0].mean", "1 means and 2 columns"),
    ("records", {'file = "staff.csv"':
                 "sql = \"select * replace (nullif(team, 'b') as team) from read_csv('staff.csv')\""},
     "source.sql", "reads the value 'b' as nothing"),
    ("records", {"records = 40": "records = 0"}, "belief.records", "write records"),
    ("records", {'attribute = "team"': 'attribute = "teem"'}, "hide.property.attribute", "no column 'teem'"),
    ("records", {'of = "b"': 'of = "c"'}, "hide.property.of", "has no value"),
    ("records", {', of = "b"': ""}, "hide.property", "share"),
    ("records", {"ends = [20, 40]": "ends = [40, 20]"}, "belief.classes.hours.ends", "must rise"),
    ("records", {"values = [10, 30, 50]": "values = [10, 30]"}, "belief.classes.hours.values", "3 classes"),
    ("records", {"missing = 30\n": "missing = 31\n"}, "belief.classes.hours.missing", "30"),
    ("records", {"[belief.classes.hours]": "[belief.classes.hour]"}, "belief.classes.hour", "no column"),
    ("records", {'["a", 10, "no"]': '["a", 11, "no"]'}, "belief.rows", "none of its classes"),
    ("records", {'probabilities = ["0.2"': 'probabilities = ["0.3"'}, "belief.rows", "sum"),
    ("records", {'states = ["yes"]': 'states = ["yess"]'}, "table[0].states", "did you mean 'yes'"),
    ("records", {'states = ["yes"]': 'where = { smokes = "yes" }'}, "table[0].where", "does not belong"),
    ("records", {"property = {": "parameter = { attribute = \"team\" }\nrecord = {",
                 ', function = "share", of = "b"': ""}, "hide.parameter", "the population"),
    ("parameters", {'attribute = "height" }': 'attribute = "weight" }'}, "hide.parameter", "weight"),
    ("parameters", {'attribute = "height" }': 'attribute = "height", values = ["tall", "huge"] }'},
     "hide.parameter.values", "huge"),
    ("parameters", {'tall = ["0.4", "0.6"]': 'tall = ["0.4", "0.5"]'}, "belief.columns.height", "sum"),
    ("parameters", {'tall = ["0.4", "0.6"]': 'tall = ["0.4"]'}, "belief.columns.height", "1 probabilities"),
    ("parameters", {"[belief.columns.height]": "[belief.columns.size]"}, "belief.columns.size", "there is none 'size'"),
    ("parameters", {'"0.4", "0.1", "0.4", "0.1"': '"0.4", "0.1", "0.4"'}, "belief.prior", ""),
    ("parameters", {'parameter = { attribute = "height" }': ""}, "hide", "hides nothing"),
    ("parameters", {"parameter = {": "record = {"}, "hide.record", "the records at hand"),
])  # fmt: skip
def test_faults_name_their_place(tmp_path: Path, kind: str, changes: dict[str, str], place: str, words: str) -> None:
    messages = faults_of(written(tmp_path, kind, changes))
    assert words in messages[place], messages


def test_a_secret_that_takes_one_value_is_refused(tmp_path: Path) -> None:
    certain = {
        '["b", 10, "no"], ["b", 30, "yes"], ["b", 50, "yes"]': '["a", 10, "yes"], ["a", 30, "yes"], ["a", 50, "no"]',
        'of = "b"': 'of = "a"',
    }
    (line,) = faults_of(written(tmp_path, "records", certain)).values()
    assert re.search("one value|probability zero|nothing would be hidden", line), line


HIDDEN = 'property = { attribute = "income", function = "mean", max_difference = 2 }'


@pytest.mark.parametrize("resolution", ["0", "-1", '"abc"', '"nan"', "1e400"])
@pytest.mark.parametrize("ranges", ["ranges = { weight = [20, 200], income = [-50, 200] }\n", ""])
def test_a_wrong_resolution_is_told_once_and_not_of_the_ranges(tmp_path: Path, resolution: str, ranges: str) -> None:
    declared = "ranges = { weight = [20, 200], income = [-50, 200] }\n"
    changes = {'resolution = "0.5"': f"resolution = {resolution}", declared: ranges}
    faults = faults_of(written(tmp_path, "normal", changes))
    assert [*faults] == ["belief.resolution"]
    assert re.search("above 0|must be a finite number", faults["belief.resolution"])


@pytest.mark.sampled(2)
@pytest.mark.parametrize(("hidden", "words"), [
    ('parameter = { attribute = "income", map = "mean", interval = [38, 42] }', "in the population"),
    ('record = { attribute = "income", max_difference = 20 }', "'income', up to a difference of 20"),
    ('property = { attribute = ["income", "weight"], function = [1, "-0.5"], max_difference = 1 }', "-0.5 times"),
    ('property = [{ attribute = "income", function = "sum", pairs = [[2400, 2500]] }, '
     '{ attribute = "weight", function = "mean", max_difference = 1 }]', "the sum of 'income'"),
    pytest.param(
        'property = { attribute = "income", function = "mean", sets = [{ below = 40 }, { at_least = 40 }] }',
        "below 40 or at least 40", marks=pytest.mark.slow,
    ),
])  # fmt: skip
def test_what_a_normal_belief_hides(tmp_path: Path, hidden: str, words: str) -> None:
    changes = {HIDDEN: hidden, "delta = 1e-05\n": "delta = 1e-05\nallow_zero_noise = true\n"}
    if "sets" in hidden:  # other distributions than one and its translate: numbers are read as they are
        changes["ranges = { weight = [20, 200], income = [-50, 200] }\n"] = ""
    (table,) = tf.release_file(written(tmp_path, "normal", changes)).tables
    assert words in "; ".join(table.certificate.hidden)
    assert table.certificate.definition == ("pufferfish" if "record" in hidden else "attribute")


@pytest.mark.slow
def test_several_columns_are_published_together(tmp_path: Path) -> None:
    weight = 'attribute = "weight"\n'
    both = answers(written(tmp_path, "normal", {weight: 'attribute = ["weight", "income"]\n'}))
    alone = [answers(written(tmp_path / name, "normal", {weight: f'attribute = "{name}"\n'}))[0]
             for name in ("weight", "income")]  # fmt: skip
    assert both == alone
    weights = {f'query = "mean"\n{weight}': 'query = "linear"\nweights = { income = 2, weight = -1 }\n'}
    assert answers(written(tmp_path / "linear", "normal", weights)) == [60 * (2 * alone[1] - alone[0])]


@pytest.mark.slow
@pytest.mark.parametrize("kind", FILES)
def test_a_promise_about_one_output_is_the_only_one(tmp_path: Path, kind: str) -> None:
    changes = {"\n[belief]\n": "single_release = true\n\n[belief]\n"}
    if kind != "normal":
        changes["epsilon = 1.0\n"] = 'epsilon = 1.0\nmechanism = "laplace-exact"\n'
    path = written(tmp_path, kind, changes)
    tf.release_file(path, allow_useless=True)
    name = load(path).source.name
    before = spent(tmp_path, name)
    with pytest.raises((CompositionRefused, BudgetExceeded)):
        tf.release_file(path, replace=load(path).items[0].name, idempotency_key="K", allow_useless=True)
    assert spent(tmp_path, name) == before


@pytest.mark.slow
def test_noise_is_enough_for_each_law_that_is_listed(tmp_path: Path) -> None:
    other_law = {"[[144, 60], [60, 100]]": "[[144, 90], [90, 100]]", "[70, 40]": "[72, 41]"}
    others = "others = [{ mean = [72, 41], covariance = [[144, 90], [90, 100]] }]\nranges = {"
    calibrations = []
    for changes in ({}, other_law, {"ranges = {": others}):
        (table,) = plan(load(written(tmp_path, "normal", changes))).tables
        calibrations.append(table.calibrations[0])
    first, second, several = calibrations
    assert several.scale == max(first.scale, second.scale) > first.scale
    assert tf.exact_delta(several).upper <= several.delta
    assert tf.exact_delta(replace(several, randomiser=first.randomiser)).lower > several.delta
    laws = [belief.describe().rpartition("; ")[2] for belief in several.framework.beliefs]
    assert laws == ["distribution 1 of 2)", "distribution 2 of 2)"]


@pytest.mark.parametrize(("section", "says"), [
    ('fit = { file = "public.csv" }', True),
    ('fit = { file = "public.csv", confidence = 0.95 }', True),
    ('fit = { file = "public.csv", private = true }', False),
])  # fmt: skip
def test_beside_a_fitted_normal_stands_how_normal_its_rows_are(tmp_path: Path, section: str, says: bool) -> None:
    rows = "".join(f"{40 + i % 13};{70 - 0.04 * i * i}\n" for i in range(60))
    (tmp_path / "public.csv").write_text(f"income;weight\n{rows}", encoding="utf-8")
    path = written(tmp_path, "normal", {"mean = [70, 40]\ncovariance = [[144, 60], [60, 100]]\n": f"{section}\n"})
    path.write_text(path.read_text().replace("[[table]]", "[[table]]\nallow_zero_noise = true"))
    words = succeed("cost", str(path)).stdout
    assert words.count("Jarque and Bera") == says
