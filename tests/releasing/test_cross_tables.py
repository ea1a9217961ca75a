"""Files that count combinations of columns: `query = "histogram"` with `by`, against a count of the rows by hand."""

import csv
from collections import Counter
from fractions import Fraction
from itertools import product
from pathlib import Path
from typing import Any

import pytest
from tests.releasing.attribute_files import SCHOOL, STAFF, written
from tests.support.engines import ENGINES
from tests.support.releases import assert_refused, cells, refusal_of

import takifugu as tf

RECORDS = {'query = "count"\nattribute = "smokes"\nstates = ["yes"]': "ASKED"}
PARAMETERS = {'query = "count"\nattribute = "height"\nstates = ["big"]': "ASKED"}


def asking(folder: Path, kind: str, question: str) -> Path:
    changes = {"records": RECORDS, "parameters": PARAMETERS}[kind]
    return written(folder, kind, dict.fromkeys(changes, question))


def counted(text: str, *columns: str) -> Counter[str]:
    """Return how many rows have each combination, by hand; hours are in classes, and a missing one counts as 30."""
    counts = Counter[str]()
    for row in csv.DictReader(text.splitlines()):
        if "hours" in row:
            number = {"?": 30.0, "inf": 30.0}.get(row["hours"])
            number = float(row["hours"]) if number is None else number
            row["hours"] = "10" if number < 20 else "30" if number < 40 else "50"
        counts[", ".join(row[name] for name in columns)] += 1
    return counts


@pytest.mark.parametrize(("kind", "text", "question", "columns"), [
    ("records", STAFF, 'query = "histogram"\nby = ["team", "hours"]', ("team", "hours")),
    ("records", STAFF, 'query = "histogram"\nby = "hours"\nattribute = "smokes"', ("hours", "smokes")),
    ("records", STAFF, 'query = "histogram"\nby = ["smokes", "team", "hours"]', ("smokes", "team", "hours")),
    ("records", STAFF, 'query = "histogram"\nby = "team"', ("team",)),
    ("parameters", SCHOOL, 'query = "histogram"\nby = ["height", "marks"]', ("height", "marks")),
])  # fmt: skip
def test_it_counts_each_combination(tmp_path: Path, kind: str, text: str, question: str, columns: Any) -> None:
    counts, right = cells(asking(tmp_path, kind, question)), counted(text, *columns)
    assert {cell: count for cell, count in counts.items() if count} == right
    values = [sorted({cell.split(", ")[place] for cell in counts}) for place in range(len(columns))]
    assert sorted(counts) == sorted(map(", ".join, product(*values)))  # every combination has a cell


@pytest.mark.sampled(3)
@pytest.mark.parametrize("engine", ENGINES)
def test_every_engine_counts_the_same(tmp_path: Path, engine: str) -> None:
    rows = list(csv.DictReader(STAFF.splitlines()))
    columns = {name: ("text", [row[name] for row in rows]) for name in ("smokes", "team", "hours")}
    path = asking(tmp_path, "records", 'query = "histogram"\nby = ["team", "hours"]')
    assert cells(path, ENGINES[engine](columns)) == cells(path)


def test_a_total_and_the_states_of_the_attribute(tmp_path: Path) -> None:
    path = asking(tmp_path, "records", 'query = "histogram"\nby = "team"\nattribute = "smokes"\nstates = ["yes"]\n'
                  "total = 40")  # fmt: skip
    smoking = counted(STAFF, "team", "smokes")
    assert cells(path) == {cell: Fraction(smoking[cell], 40) for cell in ("a, yes", "b, yes")}
    tf.release_file(path, anyway=True)
    assert [row["cell"] for row in tf.read_table(tmp_path / "out" / "smokers.csv")] == ["a, yes", "b, yes"]


@pytest.mark.parametrize(("kind", "question", "key", "message"), [
    ("records", 'query = "histogram"\nby = ["team", "heigth"]', "by", "no column 'heigth'"),
    ("records", 'query = "histogram"\nby = ["team", "team"]', "by", "named twice"),
    ("records", 'query = "histogram"\nby = "team"\nattribute = "team"', "by", "named twice"),
    ("records", 'query = "histogram"\nby = []', "by", "is []"),
    ("records", 'query = "histogram"\nby = "team"\nstates = ["a"]', "states", "none is named"),
    ("records", 'query = "histogram"\nby = "team"\nattribute = "smokes"\nstates = ["yess"]', "states", "'yes'"),
    ("records", 'query = "count"\nby = "team"\nattribute = "smokes"\nstates = ["yes"]', "by", "publish a histogram"),
    ("records", 'query = "mean"\nby = "team"\nattribute = "hours"', "by", "publish a histogram"),
    ("records", 'query = "histogram"', "attribute", "is missing"),
])  # fmt: skip
def test_what_is_wrong_with_it(tmp_path: Path, kind: str, question: str, key: str, message: str) -> None:
    assert_refused(asking(tmp_path, kind, question), f"release[0].{key}", message)


def test_real_numbers_have_no_cells(tmp_path: Path) -> None:
    path = written(tmp_path, "normal", {'query = "mean"\nattribute = "weight"': 'query = "histogram"\nby = "weight"'})
    assert "real numbers, which have no cells" in str(refusal_of(path))
