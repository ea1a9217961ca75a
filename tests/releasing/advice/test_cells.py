"""Cell by cell: what is smaller than its error is named, a table with such a cell is not good, nor is one of noise."""

from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.support.release_files import believe, publish, read_from, release_text
from tests.support.releases import put

import takifugu as tf
from takifugu.analysis.randomisers import DiscreteLaplace
from takifugu.core.errors import SpecError
from takifugu.releasing.advice.worth import GOOD, ROUGH, Cells, Expectation, Verdict, Worth, cells_that_count, worth

LABELS = ("on time", "late", "cancelled")


def judged(values: tuple[float, ...], scale: int, error: float, unimportant: tuple[str, ...] = ()) -> Worth:
    labels = LABELS[: len(values)]
    noise = DiscreteLaplace(Fraction(scale), Fraction(1), cells=len(values))
    cells = cells_that_count(labels, values, error, unimportant)
    return worth(noise, Expectation(values, None, "assumed"), cells=cells)


def test_a_cell_that_is_noise_is_named_and_the_table_is_not_good() -> None:
    """Of 2,000 rows 44 are late: 'differences above 70 rows show' was called good."""
    table = judged((1956.0, 44.0), 17, 63.0)
    assert table.sentence("rows") == "rough: late (44 ± 63) is noise; only differences above 70 rows show"
    assert judged((1956.0, 44.0), 17, 63.0, ("late",)).sentence("rows") == "good: differences above 70 rows show"
    assert judged((1956.0, 44.0), 17, 44.0).verdict is Verdict.GOOD


def test_a_table_of_noise_is_useless() -> None:
    assert judged((50.0, 44.0), 17, 63.0).verdict is Verdict.USELESS
    assert judged((50.0, 44.0, 0.0), 17, 63.0).verdict is Verdict.USELESS
    assert judged((90.0, 44.0, 0.0), 17, 63.0).verdict is Verdict.ROUGH


def test_a_rough_table_is_not_called_useless_because_one_of_its_values_came_small() -> None:
    """Loans of a week: 187, 54, 103 and 35 ± 48 were 'do not compare these rows', and three could be read."""
    before = judged((115.0, 118.0, 94.0), 11, 48.0)
    assert before.sentence().startswith("rough: only differences above")
    assert before.cells is not None
    came = replace(before, cells=before.cells.published(LABELS, [187.0, 103.0, 35.0], 48.0))
    assert came.sentence().startswith("rough: cancelled (35 ± 48) is noise; only differences above")
    noise = replace(before, cells=before.cells.published(LABELS, [18.0, 10.0, 35.0], 48.0))
    assert noise.verdict is Verdict.USELESS
    empty = replace(before, cells=before.cells.published(LABELS, [8.0, -7.0, 3.0], 48.0))  # as where rows are missing
    assert empty.sentence().startswith("useless: every cell is noise (± 48), and from ")


def by_the_rule(values: tuple[float, ...], error: float) -> Verdict | None:
    """Say what the rule says of the cells alone; None where every cell can be read."""
    readable = [abs(value) >= error for value in values]
    if all(readable):
        return None
    return Verdict.ROUGH if any(readable) else Verdict.USELESS


sizes = st.lists(st.floats(0, 1000).filter(lambda size: size == 0 or size > 1e-3), min_size=2, max_size=3).map(tuple)


@given(values=sizes, error=st.floats(0.1, 500), scale=st.integers(1, 200))
def test_a_verdict_follows_the_rule(values: tuple[float, ...], error: float, scale: int) -> None:
    if not any(values):
        return
    table = judged(values, scale, error)
    least = by_the_rule(values, error)
    order = [Verdict.GOOD, Verdict.ROUGH, Verdict.USELESS]
    if least is None:
        assert table.verdict is not Verdict.USELESS or table.shows_nothing
    else:
        assert order.index(table.verdict) >= order.index(least)
    assert (table.verdict is Verdict.GOOD) == (table.ratio <= GOOD)
    assert (table.verdict is Verdict.USELESS) == (table.ratio > ROUGH)


@given(values=sizes, error=st.floats(0.1, 400), more=st.floats(1, 100))
def test_more_noise_is_never_worth_more(values: tuple[float, ...], error: float, more: float) -> None:
    if any(values):
        assert judged(values, 9, error).ratio <= judged(values, 9, error + more).ratio


def test_many_cells_are_named_by_the_first_of_them() -> None:
    labels = tuple(f"{hour:02d}" for hour in range(6))
    some = Cells(labels, (1.0, 2.0, 3.0, 4.0, 5.0, 90.0), 20.0)
    assert some.words == "00, 01, 02 and 2 more are noise (± 20)"
    assert Cells(labels[:2], (1.0, 2.0), 20.0).words == "every cell is noise (± 20)"
    assert Cells(labels[:3], (1.0, 2.0, 30.0), 20.0).words == "00 and 01 are noise (± 20)"
    assert Cells((), (), 20.0).ratio == 0
    hours = Cells(("00, parked", "00, riding", "01, riding"), (90.0, 1.0, 2.0), 20.0)
    assert hours.words == "00, riding and 01, riding are noise (± 20)"
    assert Cells((*hours.labels, "02, riding"), (*hours.values, 3.0), 20.0).words == (
        "00, riding; 01, riding and 02, riding are noise (± 20)"
    )


TRAINS = release_text(
    read_from("trains", "trains.csv", value="state", budget=1.0),
    believe("users", size=2000, values=["on time", "late"], probabilities=[0.978, 0.022], source="assumed"),
    publish("punctuality", "histogram", epsilon=0.1),
    ledger="trains.db",
)


def trains(folder: Path, more: str = "") -> Path:
    return put(folder, {"trains.toml": TRAINS + more, "trains.csv": "state\n" + "on time\n" * 1990 + "late\n" * 10})


@pytest.mark.mutants
def test_what_is_expected_is_judged_before_and_what_was_published_after(tmp_path: Path) -> None:
    file = trains(tmp_path)
    (table,) = tf.advise(file).tables
    assert "late (44 ± " in table.sentence
    assert table.sentence.startswith("rough: ")
    assert table.to_dict()["noise"] == ["late"]
    outcome = tf.release_file(file, new_ledger=True)
    (published,) = outcome.tables
    assert repr(outcome) == "<Outcome: punctuality>"
    assert repr(published).startswith("<Published punctuality: how often each state occurs")
    assert published.plot().svg in published._repr_html_()
    report = (tmp_path / "trains-published" / "punctuality.report.html").read_text(encoding="utf-8")
    late = next(row for row in published.rows if row["cell"] == "late")
    assert f"late ({late['value']} ± " in report or late["readable"]
    assert ('fill-opacity="0.200"' in report) != late["readable"]


def test_what_nobody_needs_is_declared(tmp_path: Path) -> None:
    declared = '[table.expect]\nsource = "a hunch"\nunimportant = ["late"]\n'
    (table,) = tf.advise(trains(tmp_path, declared)).tables
    assert table.sentence.startswith("good: ")
    with pytest.raises(SpecError, match="'delayed', which is no cell of the table") as refused:
        tf.advise(trains(tmp_path, declared.replace('"late"', '"delayed"')))
    assert "on time" in str(refused.value)
