"""What [expect] says of cells belongs to the tables that have them; a name of no table is refused, also by `check`."""

from pathlib import Path

import pytest
from tests.releasing.advice.test_advice import of_example
from tests.support.release_files import changed
from tests.support.releases import refusal_of

import takifugu as tf
from takifugu.releasing.advice.checking import check

WEEKDAY = '\n[[table]]\nname = "by-weekday"\nquery = "count"\nstates = ["heating"]\nby = "weekday"\nepsilon = 1.0\n'


def households(folder: Path, *changes: tuple[str, str]) -> Path:
    """Return the example with a second table, by weekday."""
    path = of_example("households", folder)
    path.write_text(changed(path.read_text(encoding="utf-8"), *changes) + WEEKDAY, encoding="utf-8")
    return path


@pytest.mark.mutants
def test_a_second_table_needs_no_expectation_of_its_own(tmp_path: Path) -> None:
    path = households(tmp_path)
    assert [table.name for table in check(path).tables] == ["hot-water", "by-weekday"]
    hours, weekdays = tf.advise(path).tables
    assert "23" not in hours.worth.cells.labels
    assert weekdays.worth.cells.labels == weekdays.labels
    assert len(tf.release_file(path).tables) == 2


def test_each_table_takes_the_names_of_its_own_cells(tmp_path: Path) -> None:
    hours, weekdays = tf.advise(households(tmp_path, ('"23", "00"', '"23", "Sunday", "00"'))).tables
    assert {*hours.labels} - {*hours.worth.cells.labels} == {"23", "00", "01", "02", "03", "04", "05"}
    assert {*weekdays.labels} - {*weekdays.worth.cells.labels} == {"Sunday"}


@pytest.mark.parametrize("ask", [check, tf.advise, tf.release_file])
def test_a_cell_of_no_table_is_refused(ask, tmp_path: Path) -> None:
    path = households(tmp_path, ('"23", "00"', '"24", "00"'))
    assert "'24', which is no cell of the table" in str(refusal_of(path, by=ask))


def test_values_are_those_of_the_table_that_has_their_cells(tmp_path: Path) -> None:
    days = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
    values = "values = { " + ", ".join(f"{day} = 300" for day in days) + " }\nunimportant"
    hours, weekdays = tf.advise(households(tmp_path, ("unimportant", values))).tables
    assert weekdays.cells == (300.0,) * 7
    assert hours.worth.expectation.source.startswith("the means of")
