"""A release file that randomises a column: from a CSV and a public reference file to a certificate; what is refused."""

import json
import math
import re
import traceback
from collections import Counter
from fractions import Fraction as F
from pathlib import Path
from typing import Any

import polars
import pytest
from tests.support.commands import succeed
from tests.support.failing import FULL, failing
from tests.support.release_files import believe, changed, publish, read_from, release_text
from tests.support.releases import assert_says, put, refused, spent

import takifugu as tf
from takifugu.accounting.ledger import DRAWN, Ledger
from takifugu.audit import exact_loss, joint_loss
from takifugu.core.errors import (
    BudgetExceeded,
    CompositionRefused,
    DataError,
    ReadingChanged,
    SpecError,
    TakifuguError,
)
from takifugu.mechanisms.local.senders import Sender
from takifugu.releasing.certificates.checksum import read_certificate
from takifugu.releasing.file.loading import load
from takifugu.releasing.publishing import orders

PLACES = release_text(
    read_from("checkins", "people.csv", unit="person", value=["x", "y"], rows_per_person=3, entries="March",
              budget={"epsilon": 4, "delta": 0.01}),
    believe("populations", source="a public survey of other people", rows_independent=True, units_independent=True,
            box={"first": [0, 4], "second": [0, 2], "cells": [4, 2], "metres": [1000, 500]},
            reference={"file": "survey.csv", "population": "status", "smoothing": 1}),
    publish("places", "each-value", epsilon=1.5),
)  # fmt: skip
#: The same by one mechanism, for tests of what none of them changes.
BY_NAME = PLACES + 'mechanism = "planar-laplace"\n'
WORDS = release_text(
    read_from("answers", "people.csv", value="place", rows_per_person=1, budget=1),
    believe("populations", source="a test", values=["north", "south"],
            laws={"home": ["0.75", "0.25"], "out": ["0.25", "0.75"]}),
    publish("answers", "each-value", epsilon=0.5),
)  # fmt: skip


def places_in(folder: Path, text: str = PLACES, people: str = "") -> Path:
    """Write a survey, some people and a release file about their places."""
    folder.mkdir(exist_ok=True)
    survey = ["status,x,y"]
    for number in range(400):
        x, y = (number * 7 % 40) / 10, (number * 3 % 20) / 10
        survey.append(f"{'home' if x + number % 3 < 2.5 else 'out'},{x},{y}")
    rows = ["person,x,y"]
    for number in range(60):
        rows += [f"p{number},{(number * 11 + row * 5) % 40 / 10},{number % 20 / 10}" for row in range(1 + number % 3)]
    (folder / "survey.csv").write_text("\n".join(survey) + "\n")
    return put(folder, {"release.toml": text, "people.csv": people or "\n".join(rows) + "\n"})


def people_of(folder: Path) -> list[int]:
    """Return how many people have each past in the ledger of a folder."""
    return Ledger.open(folder / "ledger.db").view().people.sizes


def answers_in(folder: Path, text: str = WORDS, values: str = "north\nsouth\nnorth\n" * 20) -> Path:
    return put(folder, {"release.toml": text, "people.csv": "place\n" + values})


def refusal_at(file: Path, kind: type[TakifuguError] = DataError, where: str = "") -> str:
    """Return why a release is refused, which names nobody."""
    error = refused(file, kind=kind)
    assert where in str(error)
    traced = "".join(traceback.format_exception(error))
    assert not re.search(r"\bp(7|59)\b", traced)  # a folder's random name may hold these letters
    return str(error)


@pytest.mark.slow
def test_from_places_and_a_survey_to_randomised_places_with_a_certificate(tmp_path: Path) -> None:
    (table,) = tf.release_file(places_in(tmp_path)).tables
    centres = {(x + 0.5, y + 0.5) for x in range(4) for y in range(2)}
    assert [row["row"] for row in table.rows] == list(range(120))
    assert {(row["x"], row["y"]) for row in table.rows} <= centres
    certificate = read_certificate(tmp_path / "release-published/places.certificate.json")
    assert (certificate.epsilon, certificate.delta, certificate.definition) == ("1.5", "0", "distribution")
    framework = tf.Framework.from_dict(next(iter(certificate.frameworks.values())))
    belief: Any = framework.beliefs[0]
    assert (belief.rows, belief.independent, belief.measure, belief.source) == (
        3, True, "m", "a public survey of other people"
    )  # fmt: skip
    assert belief.distance((0.5, 0.5), (1.5, 1.5)) == math.hypot(1000, 500)
    assert_says(
        tmp_path / "release-published/places.certificate.txt",
        "It protects which population each person belongs to. The values themselves",
        "No person has more than 3 rows.", "the rows of a person are independent of each other",
        "How many rows there are, and their order, is public.", "m per row, at worst",
        "a public survey of other people",
        "is added to the count of each value", "No row of 'March' is under another name, too",
    )  # fmt: skip
    assert "what is sent from the ringed place" in (tmp_path / "release-published/places.report.html").read_text()
    assert people_of(tmp_path) == [60]  # they have one past, and have spent alike


def test_the_counts_of_the_survey_are_smoothed_by_hand(tmp_path: Path) -> None:
    belief: Any = load(places_in(tmp_path)).belief
    rows = [line.split(",") for line in (tmp_path / "survey.csv").read_text().splitlines()[1:]]
    for name, law in zip(belief.populations, belief.laws, strict=True):
        mine = [(min(int(float(x)), 3), min(int(float(y)), 1)) for status, x, y in rows if status == name]
        counts = Counter(mine)
        cells = [(x, y) for y in range(2) for x in range(4)]
        assert belief.values == tuple((x + 0.5, y + 0.5) for x, y in cells)
        assert law == tuple(F(counts[cell] + 1, len(mine) + 8) for cell in cells)


@pytest.mark.slow
def test_other_rows_of_the_same_people_add_up_where_their_batches_are_named(tmp_path: Path) -> None:
    file = places_in(tmp_path, BY_NAME)
    tf.release_file(file)
    file.write_text(BY_NAME.replace('entries = "March"', 'entries = "April"'))
    tf.release_file(file, output=tmp_path / "april")
    assert F(2999, 1000) < spent(tmp_path, "checkins").epsilon <= 3  # what both tell
    file.write_text(BY_NAME.replace('entries = "March"\n', ""))
    with pytest.raises(ReadingChanged):
        tf.release_file(file, output=tmp_path / "unknown")
    with pytest.raises(BudgetExceeded):
        tf.release_file(file, output=tmp_path / "unknown", other_entries=True)


@pytest.mark.parametrize(("where", "step", "error", "is_drawn"), [
    (orders, "place", FULL, True), (Sender, "send", OSError(5, "no randomness"), False),
])  # fmt: skip
def test_resume_gives_the_paid_column(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, where: Any, step: str, error: Exception, is_drawn: bool
) -> None:
    file = answers_in(tmp_path)
    with failing(monkeypatch, where, step, error), pytest.raises((TakifuguError, OSError)):
        tf.release_file(file)
    assert not (tmp_path / "release-published/answers.csv").exists()
    (waiting,) = Ledger.open(tmp_path / "ledger.db").pending()
    assert (waiting.state == DRAWN) == is_drawn
    (done,) = tf.resume(tmp_path / "ledger.db")
    assert not done.problem
    rows = done.outcome.tables[0].rows  # type: ignore[union-attr]
    assert tf.read_table(tmp_path / "release-published/answers.csv") == rows
    assert len(rows) == 60
    assert spent(tmp_path, "answers").epsilon == F(1, 2)
    assert not Ledger.open(tmp_path / "ledger.db").pending()


@pytest.mark.slow
def test_dummies_and_bits_are_lines_of_their_row(tmp_path: Path) -> None:
    tupling = ("epsilon = 0.5", 'epsilon = 0.5\ndelta = 0.2\nmechanism = "tupling"\ndummies = 4')
    text = changed(WORDS, ("budget = 1\n", "budget = { epsilon = 1, delta = 0.5 }\n"), tupling)
    (table,) = tf.release_file(answers_in(tmp_path, text)).tables
    assert Counter(row["row"] for row in table.rows) == dict.fromkeys(range(60), 5)
    assert table.certificate.delta == "0.2"


@pytest.mark.slow
def test_commands_say_the_loss_of_a_row_and_not_that_of_a_count(tmp_path: Path) -> None:
    file = places_in(tmp_path)
    assert "planar-laplace" in succeed("cost", "--all", file).stdout
    said = succeed("cost", file).stdout
    assert "expected loss of one row" in said
    assert "L1" not in said
    assert "L1" not in succeed("advise", file).stdout
    assert json.loads(succeed("release", "--json", file).stdout)["tables"][0]["sent"] == 120
    report = (tmp_path / "release-published/places.report.html").read_text()
    assert "expected loss of one row" in report
    assert "Values are multiples" not in report


@pytest.mark.sampled(3)
@pytest.mark.parametrize(("row", "what"), [
    ("p7,1.0,nan", "missing or not finite"), ("p7,inf,1.0", "missing or not finite"),
    ("p7,,1.0", "missing or not finite"),
    ("p7,4.5,1.0", "outside of the declared box"), ("p7,1.0,-0.25", "outside of the declared box"),
    ("p7,xyzzy,1.0", "row 2: column 'x' has texts that are no numbers"),
    (",1.0,1.0", 'row 2: nothing in "person"'), ("p7 ,1.0,1.0", 'row 2: a name in "person" with blanks'),
    ("7.0,1.0,1.0", 'row 2: a name in "person" with a point'),
])  # fmt: skip
def test_a_faulty_row_refuses_the_whole_column(tmp_path: Path, row: str, what: str) -> None:
    refusal = refusal_at(places_in(tmp_path, people=f"person,x,y\np59,1.0,1.0\n{row}\n"), where="source")
    assert what in refusal
    assert not any(number in refusal for number in ("4.5", "0.25", "xyzzy"))


def test_a_column_of_an_expression_is_called_by_it(tmp_path: Path) -> None:
    text = changed(WORDS, ('value = "place"', 'value = "lower(upper(place))"'))
    (table,) = tf.release_file(answers_in(tmp_path, text)).tables
    assert [*table.rows[0]][-1] == "lower(upper(place))"
    assert tf.read_table(tmp_path / "release-published/answers.csv") == table.rows


@pytest.mark.mutants
def test_rows_that_where_leaves_out_keep_the_numbers_of_the_others(tmp_path: Path) -> None:
    text = changed(PLACES, ('unit = "person"\n', "unit = \"person\"\nwhere = \"person <> 'sum'\"\n"))
    file = places_in(tmp_path, text, "person,x,y\np1,1,1\nsum,9,9\np2,1,1\n")
    assert len(tf.release_file(file).tables[0].rows) == 2
    refusal = refusal_at(places_in(tmp_path / "a", text, "person,x,y\np1,1,1\nsum,9,9\np2,1,a\n"))
    assert "row 3: column 'y'" in refusal


@pytest.mark.parametrize(("line", "place", "words"), [
    ("where = \"place <> 'west'\"", "source.where", "which rows there are depends on 'place'"),
    ('unit = "place"', "source.unit", "depends on 'place', as value does"),
    ('roster = ["Ana"]', "source.roster", "not a known key"),
    ('nulls = "unobserved"', "source.nulls", "not a known key"),
    ('missing = ["NA"]', "source.missing", "key of before"),
    ("list_units = true", "source.list_units", "key of before"),
])  # fmt: skip
def test_no_key_lets_rows_depend_on_what_is_hidden(tmp_path: Path, line: str, place: str, words: str) -> None:
    text = changed(WORDS, ('value = "place"\n', f'value = "place"\n{line}\n'))
    if line.startswith("unit"):
        text = text.replace('kind = "populations"', 'kind = "populations"\nunits_independent = true')
    assert words in refusal_at(answers_in(tmp_path, text), SpecError, place)


def test_distinct_rows_of_people_with_several_are_refused(tmp_path: Path) -> None:
    """A person's equal values would be one row: how many rows there are is public."""
    select = "sql = \"select distinct person, x, y from read_csv('people.csv', delim = ',', all_varchar = true)\""
    file = places_in(tmp_path, changed(PLACES, ('file = "people.csv"', select)))
    assert "DISTINCT" in refusal_at(file, SpecError, "source.sql")


def test_places_outside_of_the_box_are_clamped_only_on_request(tmp_path: Path) -> None:
    people = "person,x,y\np1,1.0,1.0\np7,400,-3\n"
    text = PLACES.replace("metres = [1000, 500] }", 'metres = [1000, 500], outside = "clamp" }')
    (table,) = tf.release_file(places_in(tmp_path, text, people)).tables
    assert len(table.rows) == 2
    assert "A place outside the box counts as the nearest one inside." in map(str, table.certificate.assumptions)


@pytest.mark.sampled(2)
@pytest.mark.parametrize(("rows", "where"), [
    pytest.param("p7,1.0,1.0\n" * 4, "rows_per_person", id="more rows than declared"),
    pytest.param("Jos\u00e9,1,1\nJose\u0301,1,1\n", "two ways", id="two spellings of one name"),
    pytest.param("7,1,1\n" * 3 + "007,1,1\n" * 3, "two ways", id="six rows of one budget"),
])  # fmt: skip
def test_more_rows_than_declared_are_refused_naming_nobody(tmp_path: Path, rows: str, where: str) -> None:
    refusal = refusal_at(places_in(tmp_path, people=f"person,x,y\n{rows}"), where=where)
    assert where == "two ways" or "4" not in refusal


@pytest.mark.parametrize(("values", "where"), [("north\nelsewhere\n", "source.value"), ("", "source")])
def test_a_value_that_is_not_declared_refuses_the_whole_column(tmp_path: Path, values: str, where: str) -> None:
    refusal = refusal_at(answers_in(tmp_path, values=values), where=where)
    assert "elsewhere" not in refusal
    assert not values or "row 2: column 'place' has a value that is not declared" in refusal


@pytest.mark.slow
def test_the_private_column_is_no_reference_unless_that_is_declared(tmp_path: Path) -> None:
    people = "person,status,x,y\n" + "".join(f"p{n},{'home' if n % 2 else 'out'},{n % 4},{n % 2}\n" for n in range(40))
    private = PLACES.replace('file = "survey.csv"', 'file = "people.csv"')
    at_file = (SpecError, "belief.reference.file")
    assert "private data itself" in refusal_at(places_in(tmp_path, private, people), *at_file)
    (tmp_path / "copy.csv").write_text(people)
    copied = private.replace('reference = { file = "people.csv"', 'reference = { file = "copy.csv"')
    file = places_in(tmp_path, copied, people)
    assert "has the rows of the private data" in refusal_at(file, *at_file)
    file.write_text(copied.replace("smoothing = 1 }", "smoothing = 1, from_private_data = true }"))
    (table,) = tf.release_file(file).tables
    assert any("the promise does not cover that" in words for words in map(str, table.certificate.assumptions))
    assert not any("other people." in words for words in map(str, table.certificate.assumptions))
    assert any("counted in the private rows" in words for words in map(str, table.certificate.assumptions))


def test_different_supports_are_refused_or_aligned(tmp_path: Path) -> None:
    text = WORDS.replace('values = ["north", "south"]', 'values = ["north", "south", "west"]')
    text = text.replace('["0.75", "0.25"]', '["0.75", "0.25", 0]')
    text = text.replace('["0.25", "0.75"]', '["0.25", "0.5", "0.25"]')
    assert "impossible in the population" in refusal_at(answers_in(tmp_path, text), SpecError, "belief.supports")
    (tmp_path / "release.toml").write_text(text.replace('source = "a test"', 'source = "a test"\nsupports = "align"'))
    assert tf.release_file(tmp_path / "release.toml").tables[0].certificate.epsilon == "0.5"


@pytest.mark.mutants
def test_a_second_table_about_the_same_rows_is_charged_what_both_tell_or_refused(tmp_path: Path) -> None:
    second = '[[table]]\nname = "again"\nquery = "each-value"\nepsilon = 0.25\n'
    with pytest.raises((BudgetExceeded, CompositionRefused)):
        tf.release_file(answers_in(tmp_path, WORDS.replace("budget = 1\n", "budget = 0.5\n") + second))
    assert not (tmp_path / "release-published").exists() or not list((tmp_path / "release-published").glob("*.csv"))
    noisy = WORDS.replace("budget = 1\n", "budget = 5\n") + second
    outcome = tf.release_file(answers_in(tmp_path, noisy))
    both: list[Any] = [table.releases[0][1].calibration for table in outcome.tables]
    true = joint_loss(both[0].framework, [(of.query, of.randomiser) for of in both])
    assert float(outcome.reservation.spent.epsilon) == pytest.approx(true.loss, rel=1e-6)


@pytest.mark.slow
def test_what_is_paid_for_some_people_is_not_drawn_for_others(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Rows do not say whose they are: equal rows of other people are another release, and these pay for it."""
    def about(*people: str) -> Path:
        return places_in(tmp_path, BY_NAME, "person,x,y\n" + "".join(f"{name},1.5,0.5\n" for name in people))

    with failing(monkeypatch, Sender, "send", OSError(5, "no randomness")), pytest.raises((TakifuguError, OSError)):
        tf.release_file(about("Ana", "Ben"))
    ledger = tmp_path / "ledger.db"
    about("Eva", "Ben")
    assert "is not what was paid for" in tf.resume(ledger)[0].problem
    assert tf.release_file(about("Eva", "Ben")).completed is None
    book = Ledger.open(ledger)
    assert (sum(people_of(tmp_path)), len(book.payments()), len(book.pending())) == (3, 2, 1)


def test_labels_that_a_spreadsheet_would_run_come_back_as_they_were(tmp_path: Path) -> None:
    labels = ["=1+1", "a,b", "'tis", 'say "no"']
    text = WORDS.replace('["north", "south"]', json.dumps(labels))
    text = text.replace('value = "place"', 'value = "row"\nentries = "March"')
    text = text.replace('["0.75", "0.25"]', '["0.4", "0.3", "0.2", "0.1"]')
    text = text.replace('["0.25", "0.75"]', '["0.1", "0.2", "0.3", "0.4"]')
    (tmp_path / "release.toml").write_text(text)
    (table,) = tf.release_file(tmp_path / "release.toml", polars.DataFrame({"row": labels * 30})).tables
    again = tf.read_table(tmp_path / "release-published/answers.csv")
    assert again == table.rows
    assert {row["value"] for row in again} == {*labels}  # a column called row would be taken for its number
    lines = (tmp_path / "release-published/answers.csv").read_text().splitlines()
    assert not any(line.partition(",")[2].lstrip('"').startswith("=") for line in lines)


@pytest.mark.slow
def test_another_source_of_the_same_people_counts_at_what_is_told_of_values(tmp_path: Path) -> None:
    text = PLACES.replace("budget = { epsilon = 4", "budget = { epsilon = 400")
    file = places_in(tmp_path, text.replace("epsilon = 1.5", 'epsilon = 1.5\nmechanism = "randomised-response"'))
    first = tf.release_file(file)
    noise: Any = first.tables[0].releases[0][1].randomiser
    file.write_text(file.read_text().replace('name = "checkins"', 'name = "visits"\nsame_people = true'))
    outcome = tf.release_file(file, output=tmp_path / "visits")
    assert float(outcome.reservation.spent.epsilon) == pytest.approx(1.5 + 3 * noise.local_loss())


THREE = {"near": ["0.6", "0.3", "0.1"], "middle": ["0.2", "0.6", "0.2"], "far": ["0.1", "0.2", "0.7"]}
APART = {"near": {"middle": 1, "far": 2}, "middle": {"far": 1}}


def answers(budget: int, belief: dict[str, Any], **keys: Any) -> str:
    """Write a release file about an answer of each person, in a batch that has a name."""
    return release_text(
        read_from("answers", "people.csv", value="place", rows_per_person=1, entries="May", budget=budget),
        believe("populations", **{"source": "a test", "values": [0, 1, 2], **belief}),
        publish("answers", "each-value", **keys),
    )


def by_distance(metric: Any) -> str:
    return answers(1, {"laws": THREE, "metric": metric}, epsilon=0.5)


@pytest.mark.slow
@pytest.mark.parametrize("metric", ["w-infinity", APART], ids=["w-infinity", "declared"])
def test_a_file_keeps_epsilon_per_distance_with_certificate_audit_and_ledger(tmp_path: Path, metric: Any) -> None:
    file = answers_in(tmp_path, by_distance(metric), "0\n1\n2\n" * 10)
    (table,) = tf.release_file(file).tables
    calibration = table.releases[0][1].calibration
    assert 0.49 < exact_loss(calibration).loss <= 0.5
    certificate = read_certificate(tmp_path / "release-published/answers.certificate.json")
    assert (certificate.epsilon, certificate.definition) == ("0.5", "extended-distribution")
    assert_says(
        tmp_path / "release-published/answers.certificate.txt", "the better the nearer two are",
        "is at most e^(0.5 d) times as likely from one population as from another one at distance d",
        "'near' and 'middle' are 1 apart",
    )  # fmt: skip
    assert spent(tmp_path, "answers").epsilon == F(1, 2)
    for command in (("audit", file), ("cost", "--all", file)):
        result = succeed(*command)
    assert "in all at a distance of 1" in " ".join(result.output.split())
    assert "belief off by" not in result.output  # epsilon + 2 Delta is said of one distance only
    tf.release_file(file, output=tmp_path / "again", idempotency_key="2")  # the same rows again cost what both tell
    true = joint_loss(calibration.framework, [(calibration.query, calibration.randomiser)] * 2)
    assert 0.5 < float(spent(tmp_path, "answers").epsilon) == pytest.approx(true.loss, rel=1e-6)


def within(mechanism: str = "restricted-laplace") -> str:
    return answers(9, {"laws": THREE}, epsilon=1.5, mechanism=mechanism, radius=1)


def test_a_file_sends_nothing_farther_than_its_radius(tmp_path: Path) -> None:
    file = answers_in(tmp_path, within("RL"), "0\n" * 500)
    (table,) = tf.release_file(file).tables
    assert {row["place"] for row in table.rows} == {"0", "1"}
    calibration = table.releases[0][1].calibration
    assert calibration.mechanism == "restricted-laplace"
    assert 1.49 < exact_loss(calibration).loss <= 1.5
    page = tmp_path / "release-published/answers.certificate.txt"
    assert_says(page, "randomised within 1", "Kawamoto and Murakami 2019")
    succeed("audit", file)


SPREAD = answers(9, {"values": [0, 1, 2, 3], "largest_mass": 0.4, "populations": ["home", "out"]}, epsilon=1)


@pytest.mark.slow
def test_a_file_declares_that_no_value_is_likelier_than_a_mass(tmp_path: Path) -> None:
    file = answers_in(tmp_path, SPREAD, "0\n1\n2\n3\n" * 9)
    (table,) = tf.release_file(file).tables
    calibration = table.releases[0][1].calibration
    assert 0.9 < exact_loss(calibration).upper <= 1 + 1e-9
    page = tmp_path / "release-published/answers.certificate.txt"
    assert_says(page, "likelier than 0.4", "Outside of the class of populations")
    for command in (("audit", file), ("cost", "--all", file), ("advise", file)):
        succeed(*command)


METRIC = "{ near = { middle = 1, far = 2 }, middle = { far = 1 } }"
FAULTY = {
    "places": PLACES, "words": WORDS, "distance": by_distance(APART), "radius": within(), "class": SPREAD,
}  # fmt: skip


@pytest.mark.parametrize(("about", "old", "new", "place", "what"), [
    ("places", 'value = ["x", "y"]\n', "", "source.value", "is missing"),
    ("places", "units_independent = true\n", "", "belief.units_independent", "must be declared"),
    ("places", "first = [0, 4]", "first = [4, 0]", "belief.box.first", "must have an inside"),
    ("places", "cells = [4, 2]", "cells = [1, 1]", "belief.box.cells", "two different cells"),
    ("places", "metres = [1000, 500]", "degrees = true, metres = [1, 1]", "belief.box.metres", "beside degrees"),
    ("places", "smoothing = 1", "smoothing = -1", "belief.reference.smoothing", "must not be negative"),
    ("places", 'population = "status"', 'population = "stats"', "belief.reference",
     "the first line of survey.csv has no 'stats'"),
    ("places", '"survey.csv"', '"nowhere.csv"', "belief.reference.file", "nowhere.csv"),
    ("places", "smoothing = 1 }", 'smoothing = 1, populations = ["home", "away"] }', "belief.reference",
     "no row of 'away'"),
    ("places", "epsilon = 1.5", 'epsilon = 1.5\nmechanism = "tupling"', "table[0].dummies", "is missing"),
    ("places", "epsilon = 1.5", "epsilon = 1.5\ndummies = 3", "table[0].delta", "never improve a pure promise"),
    ("places", "epsilon = 1.5", 'epsilon = 1.5\nmechanism = "optimum"', "table[0].mechanism", "mean 'optimal'"),
    ("places", "rows_per_person = 3", "rows_per_person = -3", "source.rows_per_person", "greater than or equal"),
    ("places", "box = {", "boxes = {", "belief.boxes", "is not a known key"),
    ("places", 'file = "people.csv"',
     "sql = \"select * replace (case when y::double < 0.5 then y end as y) from read_csv('people.csv')\"", "source.sql",
     "reads the value '0.0 to 2.0' as nothing"),
    ("words", 'value = "place"', "value = \"nullif(place, 'north')\"", "source.value", "reads the value 'north' as"),
    ("words", '["0.75", "0.25"]', '["1", "0"]', "belief", "one value only"),
    ("words", '["0.75", "0.25"]', '["0.75", "0.35"]', "belief", "sum to 1.1"),
    ("words", 'values = ["north", "south"]', 'values = ["north", "north"]', "belief", "repeat"),
    ("words", 'home = ["0.75", "0.25"], ', "", "belief", "fewer than two populations"),
    ("words", 'values = ["north", "south"]\n', "", "belief.values", "is missing"),
    ("distance", "far = 2", "far = 3", "belief.metric", "triangle inequality"),
    ("distance", "far = 2 }, middle = { far = 1 } }", "far = 1 } }", "belief.metric",
     "no distance between 'middle' and 'far'"),
    ("distance", "middle = 1, far = 2", "middle = 0, far = 1", "belief.metric", "above 0 between two populations"),
    ("distance", "middle = { far = 1 }", "far = { near = 1, middle = 1 }", "belief.metric", "the same both ways"),
    ("distance", METRIC, '"w-1"', "belief.metric", "w-infinity"),
    ("distance", METRIC, "3", "belief.metric", "metric"),
    ("radius", "radius = 1", "radius = 0.5", "radius", "cuts all noise: no other value is nearer than 1"),
    ("radius", "radius = 1", "radius = -1", "radius", "must not be negative"),
    ("radius", '"restricted-laplace"', '"exponential"', "radius", "cuts no noise of this mechanism"),
    ("radius", "radius = 1\n", "", "radius", "is missing: noise is cut there"),
    ("class", "mass = 0.4", "mass = 0.2", "belief", "write 1/4 at least"),
    ("class", "mass = 0.4", "mass = 1.5", "belief", "1 at most"),
    ("class", "mass = 0.4", "mass = 0.4\nlaws = { home = [0.25, 0.25, 0.25, 0.25], out = [0.25, 0.25, 0.25, 0.25] }",
     "belief", "laws or reference or largest_mass"),
    ("class", 'populations = ["home", "out"]\n', "", "belief", "belongs to largest_mass"),
])  # fmt: skip
def test_a_fault_is_told_at_its_key(tmp_path: Path, about: str, old: str, new: str, place: str, what: str) -> None:
    text = changed(FAULTY[about], (old, new))
    values = "north\nsouth\n" if about == "words" else "0\n1\n2\n"
    file = places_in(tmp_path, text) if about == "places" else answers_in(tmp_path, text, values)
    assert what in refusal_at(file, SpecError, place)
