"""Beside a table's noise its report has ordinary and group noise: what a reader becomes, and right guesses."""

from typing import Any

import pytest
from tests.support.pages import check_page

import takifugu as tf
from takifugu.releasing.report.document import report_html

CHAIN = tf.MarkovChain([[0.9, 0.1], [0.4, 0.6]], length=40, states=["still", "walking"])
DATA = ["still"] * 30 + ["walking"] * 10


def rows_of(query: Any, chain: Any = CHAIN, data: Any = None, **options: Any) -> list[list[str]]:
    """Return the rows of the table of noises, none where there is no such table."""
    calibration = tf.calibrate(tf.Pufferfish(tf.every_entry(), chain), query, 1, **options)
    page = check_page(report_html(tf.release(calibration, data or DATA)))
    tables = [table for table in page.all("table") if "other noise" in " ".join(x.text for x in table.all("caption"))]
    return [[cell.text.strip() for cell in row.all("th", "td")] for table in tables for row in table.all("tr")]


def test_three_noises_stand_side_by_side() -> None:
    header, ordinary, takifugu, group = rows_of(tf.Count("walking"))
    assert header == ["noise of the same epsilon", "scale", "50 % can become", "in odds", "right guesses"]
    assert ordinary == ["ordinary, for one step alone", "1", "96.5 %", "1 to 1 → 27.1 to 1", "63.4 %"]
    assert takifugu == ["Takifugu's", "3.33638", "73.2 %", "1 to 1 → 2.72 to 1", "60.3 %"]
    assert group == ["for a whole recording", "40", "51.9 %", "1 to 1 → 1.08 to 1", "51.8 %"]


def test_of_several_cells_there_is_no_average() -> None:
    header, *rows = rows_of(tf.Histogram())
    assert header[-1] == "in odds"
    assert [row[1:3] for row in rows] == [["2", "96.5 %"], ["6.67275", "73.2 %"], ["80", "51.9 %"]]


@pytest.mark.parametrize("options", [{"mechanism": "group-dp"}, {"delta": 0.01, "mechanism": "influence-gaussian"}])
def test_where_nothing_was_compared_there_is_nothing(options: Any) -> None:
    assert rows_of(tf.Count("walking"), **options) == []


@pytest.mark.parametrize("chain", [
    tf.MarkovChain([[0.7, 0.1, 0.1, 0.1]] * 4, length=9), tf.MarkovChain([[0.9, 0.1], [0.4, 0.6]], 9, initial="any"),
])  # fmt: skip
def test_where_no_posterior_is_computed_there_is_nothing(chain: Any) -> None:
    assert rows_of(tf.Count(1), chain, [0, 1, 0, 0, 1, 0, 0, 0, 0]) == []
