"""Which values can be told from their noise: one rule, and the column `readable` wherever a table is published."""

import csv
import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from fractions import Fraction
from itertools import product
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.releasing.advice.test_cells import trains
from tests.releasing.publishing.test_states import small
from tests.releasing.test_remedies import ONE
from tests.support.commands import invoke, succeed, words_of
from tests.support.pages import check_page

import takifugu as tf
from takifugu.analysis.randomisers import DiscreteLaplace
from takifugu.releasing.advice.worth import Cells
from takifugu.releasing.postprocess.readability import Rule, possible_ends


@given(value=st.integers(-500, 500), half=st.integers(0, 300))
def test_a_count_is_readable_from_its_error_on(value: int, half: int) -> None:
    row = {"value": value, "low": value - half, "high": value + half}
    assert Rule({"kind": "histogram"}).of(row) == (value >= half)
    assert Rule({"kind": "sum"}).of(row) == (abs(value) >= half)
    before = Cells(("late",), (float(value),), float(half)).noisy == ()
    assert before == Rule({"kind": "count"}).of(row), "before and after a release there is one rule"


@pytest.mark.parametrize(("matters", "answer"), [(None, None), (2.0, False), (3.0, True)])
def test_a_mean_is_readable_where_its_error_does_not_matter(matters: float | None, answer: bool | None) -> None:
    row = {"value": 0.1, "low": -2.9, "high": 3.1}
    assert Rule({"kind": "mean"}, matters).of(row) is answer
    assert Rule({"kind": "by", "query": {"kind": "mean"}}, matters).of(row) is answer


def test_what_has_no_interval_has_no_column() -> None:
    rows = [{"cell": "first", "value": "red", "low": None, "high": None}]
    assert Rule({"kind": "top-k"}).added(rows) == rows


def test_table_json_report_picture_and_terminal_say_it_alike(tmp_path: Path) -> None:
    file = trains(tmp_path)
    printed = invoke("release", file).stdout
    folder = tmp_path / "trains-published"
    with (folder / "punctuality.csv").open() as table:
        answers = {row["cell"]: row["readable"] for row in csv.DictReader(table)}
    assert answers["on time"] == "true"
    rows = tf.read_table(folder / "punctuality.csv")
    assert [row["readable"] for row in rows] == [row["value"] >= row["value"] - row["low"] for row in rows]
    succeed("report", folder, "--as", "json")
    written = json.loads((folder / "punctuality.table.json").read_text())
    assert [row["readable"] for row in written["rows"]] == [row["readable"] for row in rows]
    field = next(field for field in written["fields"] if field["name"] == "readable")
    assert field["type"] == "boolean"
    if answers["late"] == "false":  # ten trains, and an error of sixty or so
        assert "  ~0" in next(line for line in printed.splitlines() if line.startswith("late"))
    again = json.loads(invoke("release", "--json", file).stdout)
    assert [row["readable"] for row in again["tables"][0]["rows"]] == [row["readable"] for row in rows]


@pytest.mark.mutants
def test_what_mattered_is_read_back_from_the_table(tmp_path: Path) -> None:
    """The certificate does not hold what matters to a reader, so a table that is read again asks its file."""
    (tmp_path / "t.csv").write_text("v\n" + "\n".join(str(i % 5) for i in range(400)))
    file = tmp_path / "t.toml"
    file.write_text(
        'ledger = "t.db"\n[source]\nname = "t"\nfile = "t.csv"\nvalue = "v"\nbudget = 9\n'
        '[belief]\nkind = "users"\nunits_independent = true\nsize = 400\n'
        'values = [0, 1, 2, 3, 4]\nprobabilities = [0.2, 0.2, 0.2, 0.2, 0.2]\n'
        'source = "assumed"\n[[table]]\nname = "m"\nquery = "mean"\ngrid = 0.01\nepsilon = 1\n'
        '[table.expect]\nmatters = 1\nsource = "a hunch"\n'
    )
    (table,) = tf.release_file(file, new_ledger=True).tables
    assert [row["readable"] for row in table.rows] == [True]
    (same,) = tf.release_file(file).tables
    assert same.since is not None
    assert same.rows == table.rows
    assert Fraction(str(table.rows[0]["value"])) > 0


def _drawing(values: Iterator[int]) -> Callable[..., tuple[Fraction, ...]]:
    def draw(self: DiscreteLaplace, answer: Sequence[Fraction], entropy: object) -> tuple[Fraction, ...]:
        return tuple(Fraction(next(values)) for _ in answer)

    return draw


def test_what_cannot_be_true_is_called_so_everywhere(tmp_path: Path) -> None:
    """Of 40 rows at most 40 walk, and none less than 0: the table, its JSON, the terminal and the report say it."""
    toml = small(tmp_path, ONE)
    drawn = iter((-7, 45))
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(DiscreteLaplace, "draw", _drawing(drawn))
        outcome = invoke("release", toml)
    assert outcome.exit_code == 0, outcome.output
    rows = tf.read_table(tmp_path / "out" / "both.csv")
    assert [row["possible"] for row in rows] == [False, False]
    succeed("report", tmp_path / "out", "--as", "json")
    data = json.loads((tmp_path / "out" / "both.table.json").read_text())
    assert [row["possible"] for row in data["rows"]] == [False, False]
    assert outcome.output.count("impossible") == 3
    assert "impossible: no exact count can be there" in words_of(outcome)
    assert "-7 *" in (tmp_path / "out" / "both.report.html").read_text()
    again = invoke("release", "--json", toml)
    assert [row["possible"] for table in json.loads(again.stdout)["tables"] for row in table["rows"]] == [False, False]


# Which numbers a true value can be, against every data set; what noise leads outside of them is seen to be so.
CHAIN = tf.MarkovChain([[0.5, 0.5], [0.5, 0.5]], length=4, states=["calm", "busy"])
NUMBERS = tf.MarkovChain([[0.5, 0.5], [0.5, 0.5]], length=4, states=[3, 8])


def released(belief: Any, query: Any) -> Any:
    calibration = tf.calibrate(tf.Pufferfish(tf.every_entry(), belief), query, 1, mechanism="group-dp")
    return tf.release(calibration, [belief.states[0]] * 4)


@pytest.mark.parametrize(("belief", "query", "answer"), [
    (CHAIN, tf.Count("busy"), lambda data: [data.count("busy")]),
    (CHAIN, tf.Histogram(), lambda data: [data.count("busy"), data.count("calm")]),
    (NUMBERS, tf.Mean(), lambda data: [Fraction(sum(data), 4)]),
    (CHAIN, tf.GroupBy(tf.Count("busy"), {"00": [0, 2, 3], "01": [1]}, "hour"),
     lambda data: [[data[i] for i in hours].count("busy") for hours in ((0, 2, 3), (1,))]),
])  # fmt: skip
def test_the_ends_are_those_of_all_data_sets(belief: Any, query: Any, answer: Any) -> None:
    values = [value for data in product(belief.states, repeat=4) for value in answer(data)]
    assert possible_ends(released(belief, query).certificate) == (min(values), max(values))


def test_records_are_read_by_their_belief() -> None:
    table = tf.JointTable([("young",), ("old",)], [0.5, 0.5], names=["age"])
    framework = tf.Pufferfish(tf.every_entry("age"), tf.Records(table, 7))
    noisy = tf.release(tf.calibrate(framework, tf.CrossTable(["age"]), 1), {"age": ["old"] * 7})
    assert possible_ends(noisy.certificate) == (0, 7)


def test_a_certificate_that_was_edited_has_no_ends() -> None:
    certificate = released(CHAIN, tf.Count("busy")).certificate
    assert possible_ends(replace(certificate, frameworks={})) is None
    edited = tuple(replace(answer, query={"kind": "nothing"}) for answer in certificate.answers)
    assert possible_ends(replace(certificate, answers=edited)) is None


@pytest.mark.parametrize(("value", "is_possible"), [(-1, False), (0, True), (4, True), (5, False)])
def test_a_value_outside_has_a_star_and_lies_in_what_is_hatched(value: int, is_possible: bool) -> None:
    noisy = replace(released(CHAIN, tf.Histogram()), values=(Fraction(2), Fraction(value)))
    page = check_page(tf.report_html(noisy))
    cells = [cell.text for row in page.all("table")[0].all("tr")[1:] for cell in row.children[1:]]
    assert cells == ["2", f"{value}" if is_possible else f"{value} *"]
    assert ("* The noise led there: no true value is below 0 or above 4." in page.text) == (not is_possible)
    assert "hatched: no true value lies there" in page.all("svg")[0].text


def test_noise_is_faded_in_the_table_and_said_to_be_so() -> None:
    noisy = released(tf.MarkovChain([[0.5, 0.5], [0.5, 0.5]], 400, states=["calm", "busy"]), tf.Histogram())
    half = noisy.randomiser.half_width(0.95, 2)
    page = check_page(tf.report_html(replace(noisy, values=(Fraction(half), Fraction(half - 1)))))
    assert [cell.attributes["class"] for cell in page.all("td")[:2]] == ["number", "number noise"]
    assert "Faded: noise" in page.text
