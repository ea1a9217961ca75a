"""Which numbers a true value can be, against every data set; what noise leads outside of them is seen to be so."""

from dataclasses import replace
from fractions import Fraction
from itertools import product
from typing import Any

import pytest
from tests.support.pages import check_page

import takifugu as tf
from takifugu.model.queries.by import By
from takifugu.releasing.postprocess.readability import possible_ends
from takifugu.releasing.report.document import report_html

CHAIN = tf.MarkovChain([[0.5, 0.5], [0.5, 0.5]], length=4, states=["calm", "busy"])
NUMBERS = tf.MarkovChain([[0.5, 0.5], [0.5, 0.5]], length=4, states=[3, 8])


def released(belief: Any, query: Any) -> Any:
    calibration = tf.calibrate(tf.Pufferfish(tf.every_entry(), belief), query, 1, mechanism="group")
    return tf.release(calibration, [belief.states[0]] * 4)


@pytest.mark.parametrize(("belief", "query", "answer"), [
    (CHAIN, tf.Count("busy"), lambda data: [data.count("busy")]),
    (CHAIN, tf.Histogram(), lambda data: [data.count("busy"), data.count("calm")]),
    (NUMBERS, tf.Mean(), lambda data: [Fraction(sum(data), 4)]),
    (CHAIN, By(tf.Count("busy"), {"00": [0, 2, 3], "01": [1]}, "hour"),
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
    page = check_page(report_html(noisy))
    cells = [cell.text for row in page.all("table")[0].all("tr")[1:] for cell in row.children[1:]]
    assert cells == ["2", f"{value}" if is_possible else f"{value} *"]
    assert ("* The noise led there: no true value is below 0 or above 4." in page.text) == (not is_possible)
    assert "hatched: no true value lies there" in page.all("svg")[0].text


def test_noise_is_faded_in_the_table_and_said_to_be_so() -> None:
    noisy = released(tf.MarkovChain([[0.5, 0.5], [0.5, 0.5]], 400, states=["calm", "busy"]), tf.Histogram())
    half = noisy.randomiser.half_width(0.95, 2)
    page = check_page(report_html(replace(noisy, values=(Fraction(half), Fraction(half - 1)))))
    assert [cell.attributes["class"] for cell in page.all("td")[:2]] == ["number", "number noise"]
    assert "Faded: noise" in page.text
