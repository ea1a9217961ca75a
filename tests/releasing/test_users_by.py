"""Files that count combinations of columns, of people by group and of records: against a count by hand."""

import csv
import itertools
import random
from collections import Counter
from fractions import Fraction
from itertools import product
from pathlib import Path
from typing import Any

import pytest
from tests.releasing import attribute_files
from tests.releasing.attribute_files import SCHOOL, STAFF
from tests.support.engines import ENGINES
from tests.support.release_files import EXPECT, believe, changed, group, publish, read_from, release_text
from tests.support.releases import assert_refused, cells, put, refusal_of

import takifugu as tf
from takifugu.accounting.ledger import Ledger
from takifugu.core.errors import DataError
from takifugu.releasing.file.loading import load
from takifugu.releasing.planning.plan import plan

Row = tuple[str, str, str]

FILE = release_text(
    read_from("census", "census.csv", value=["age", "sex"], budget=8.0),
    believe("users", size=60, values=[["young", "f"], ["young", "m"], ["old", "f"], ["old", "m"]],
            probabilities=["0.3", "0.3", "0.2", "0.2"]),
    publish("both", "histogram", by=["age", "sex"], epsilon=1.0),
    output="out", expect=EXPECT,
)  # fmt: skip
GROUPED = release_text(
    read_from("census", "census.csv", value="age", group="ward", budget=8.0),
    believe("users"),
    group("A", 40, ["young", "old"], ["0.5", "0.5"]),
    group("B", 20, ["young", "old"], ["0.1", "0.9"]),
    publish("both", "histogram", by="ward", epsilon=1.0),
    output="out", expect=EXPECT,
)  # fmt: skip


def people() -> list[Row]:
    """Return 40 people of ward A and 20 of ward B, in any order: ward, age, sex."""
    draw = random.Random(2)
    rows = [(ward, draw.choice(["young", "old"]), draw.choice("fm")) for ward in 40 * "A" + 20 * "B"]
    draw.shuffle(rows)
    return rows


def written(folder: Path, text: str, *changes: tuple[str, str], rows: Any = None) -> Path:
    lines = map(",".join, [("ward", "age", "sex"), *(rows or people())])
    return put(folder, {"census.toml": changed(text, *changes), "census.csv": "\n".join(lines) + "\n"})


def scale(path: Path) -> Any:
    (table,) = plan(load(path)).tables
    return table.questions[0].calibration.randomiser.laplace_scale


def test_combinations_of_columns_are_counted(tmp_path: Path) -> None:
    right = Counter(f"{age}, {sex}" for _, age, sex in people())
    path = written(tmp_path, FILE)
    assert cells(path) == right
    assert scale(path) == 2  # a row moves one cell up and another one down
    assert cells(written(tmp_path, FILE, ('by = ["age", "sex"]\n', ""))) == right


@pytest.mark.parametrize(("value", "word"), [
    ("nullif(age, 'old')", "nothing"), ("CASE age WHEN 'old' THEN 'zzz' ELSE age END", "'zzz'"),
])  # fmt: skip
def test_a_value_that_would_be_lost_is_refused_whoever_is_there(tmp_path: Path, value: str, word: str) -> None:
    """A table with somebody old was refused, and its neighbour published: that it was told that nobody is old."""
    young = [(ward, "young", sex) for ward, _, sex in people()]
    for number, rows in enumerate((young, [(young[0][0], "old", young[0][2]), *young[1:]])):
        path = written(tmp_path / str(number), GROUPED, ('value = "age"', f'value = "{value}"'), rows=rows)
        assert_refused(path, "source.value", f"reads the value 'old' as {word}")


def test_one_row_moves_a_cross_table_by_two(tmp_path: Path) -> None:
    """By enumeration of all tables of three people, and of everybody that one of them may be instead."""
    values = ["young, f", "young, m", "old, f"]
    users = tf.IndependentUsers([dict.fromkeys(values, Fraction(1, 3))] * 3)
    answer = tf.Histogram().resolve(users)
    worst = 0
    for data in itertools.product(values, repeat=3):
        for other in values:
            one, two = Counter(data), Counter((other, *data[1:]))
            worst = max(worst, sum(abs(one[v] - two[v]) for v in values))
    assert worst == answer.change([0]) == 2


@pytest.mark.sampled(3)
@pytest.mark.parametrize("engine", ["", *sorted(ENGINES)])
def test_every_engine_counts_the_same_and_a_missing_value_as_declared(engine: str, tmp_path: Path) -> None:
    draw = random.Random(3)
    ages = [None if n % 5 == 0 else draw.choice([3.0, 29.5, 30.0, 64.0, 99.0]) for n in range(60)]
    sexes, wards = [draw.choice([1, 2]) for _ in ages], [ward for ward, *_ in people()]
    bins = ('value = ["age", "sex"]', 'value = ["age", "sex"]\nbins = { age = { young = [0, 30], old = [30, 120] } }')
    texts = [["" if value is None else str(value) for value in column] for column in (wards, ages, sexes)]
    rows = [*zip(*texts, strict=True)]
    text = FILE.replace('"f"', "1").replace('"m"', "2")
    path = written(tmp_path, text, bins, missing('{ age = "old" }'), rows=rows)
    columns: Any = {"age": ("float", ages), "sex": ("int", sexes), "ward": ("text", wards)}
    pairs = zip(ages, sexes, strict=True)
    right = Counter(f"{'old' if age is None or age >= 30 else 'young'}, {sex}" for age, sex in pairs)
    assert cells(path, ENGINES[engine](columns) if engine else None) == right


def test_a_table_by_group_and_columns(tmp_path: Path) -> None:
    values = 'values = [["young", "f"], ["young", "m"], ["old", "f"], ["old", "m"]]'
    path = written(
        tmp_path, GROUPED, ('value = "age"', 'value = ["age", "sex"]'), ('values = ["young", "old"]', values),
        ('["0.5", "0.5"]', '["0.25", "0.25", "0.25", "0.25"]'), ('["0.1", "0.9"]', '["0.1", "0.4", "0.4", "0.1"]'),
        ('by = "ward"', 'by = ["ward", "age", "sex"]'),
    )  # fmt: skip
    assert cells(path) == Counter(map(", ".join, people()))
    assert scale(path) == 2


def test_people_who_are_absent_are_so_in_every_column(tmp_path: Path) -> None:
    rows = [(ward, *(("absent", "absent") if n % 7 == 0 else rest)) for n, (ward, *rest) in enumerate(people())]
    absence = ("size = 60", 'size = 60\npresence = "0.8"\nabsence = "removed"')
    counts = cells(written(tmp_path, FILE, absence, ("[[table]]", "[hide]\npresence = true\n[[table]]"), rows=rows))
    assert counts == Counter(f"{age}, {sex}" for _, age, sex in rows if age != "absent")
    with pytest.raises(DataError):
        cells(written(tmp_path, FILE, absence, rows=[("A", "absent", "f"), *rows[1:]]))


TABLE = release_text(
    read_from("census", "census.csv", unit="ward"),
    believe("joint-table", source="a test", units_independent=True, columns=["age", "sex"],
            rows=[["young", "f"], ["old", "m"]], probabilities=["0.5", "0.5"]),
    publish("both", "histogram", by=["age", "sex"], epsilon=1.0),
    expect=EXPECT,
)  # fmt: skip


@pytest.mark.parametrize(("text", "changes", "place", "message"), [
    (TABLE, [], "table[0].by", 'belief.kind = "users"'),
    (FILE, [('by = ["age", "sex"]', 'by = ["age", "ses"]')], "table[0].by", "did you mean 'sex'"),
    (FILE, [('by = ["age", "sex"]', 'by = "age"')], "table[0].by", "add up its cells"),
    (FILE, [('by = ["age", "sex"]', 'by = ["sex", "age"]')], "table[0].by", "in their order"),
    (FILE, [('by = ["age", "sex"]', 'by = "diagnosis"')], "table[0].by", "a part of each user's value"),
    (FILE, [('query = "histogram"', 'query = "count"\nstates = ["old, f"]')], "table[0].by", "histogram"),
    (FILE, [('["age", "sex"]\nbudget', '["age", "age"]\nbudget')], "source.value", "twice"),
    (FILE, [('["young", "f"],', '["young", "f", "x"],')], "belief.values", "one value for each column"),
    (FILE, [('["young", "f"],', '"young",')], "belief.values", "one value for each column"),
    (FILE, [('["young", "f"],', '["young, f", "m"],'), ('["young", "m"]', '["young", "f, m"]')], "belief.values",
     "written alike"),
    (FILE, [('["age", "sex"]\nbudget', '["age", "sex"]\nbins = { agee = { young = [0, 9] } }\nbudget')],
     "source.bins.agee", "no column of source.value"),
    (GROUPED, [('values = ["young", "old"]\nprobabilities = ["0.1", "0.9"]',
                'values = [["young"], "old"]\nprobabilities = ["0.1", "0.9"]')], "belief.groups[1].values", "single"),
])  # fmt: skip
def test_files_that_are_refused(tmp_path: Path, text: str, changes: Any, place: str, message: str) -> None:
    assert_refused(written(tmp_path, text, *changes), place, message)


def missing(values: str) -> tuple[str, str]:
    """Return the change of a file that declares what missing values count as."""
    return 'kind = "users"', f'kind = "users"\nmissing = {values}'


def test_a_missing_value_without_a_rule_is_refused_with_what_to_write(tmp_path: Path) -> None:
    rows = [(ward, "" if n % 5 == 0 else age, sex) for n, (ward, age, sex) in enumerate(people())]
    for text in (FILE, GROUPED):
        with pytest.raises(DataError) as caught:
            cells(written(tmp_path, text, rows=rows))
        assert 'missing = { age = "no answer" }' in caught.value.fix
    by_ward = cells(written(tmp_path, GROUPED, missing('{ age = "old" }'), rows=rows))
    assert by_ward == Counter(f"{ward}, {age or 'old'}" for ward, age, _ in rows)


@pytest.mark.parametrize(("values", "where"), [
    ('{ aeg = "old" }', ("belief", "missing")), ('{ age = "odl" }', ("belief", "missing", "age")),
    ('{ sex = "old" }', ("belief", "missing", "sex")),
])  # fmt: skip
def test_a_missing_value_that_counts_as_none_is_refused(values: str, where: tuple[str, ...], tmp_path: Path) -> None:
    refusal = refusal_of(written(tmp_path, FILE, missing(values)))
    assert [fault.where for fault in refusal.faults] == [where]


QUESTIONS = {
    "records": 'query = "count"\nattribute = "smokes"\nstates = ["yes"]',
    "parameters": 'query = "count"\nattribute = "height"\nstates = ["big"]',
}


def asking(folder: Path, kind: str, question: str) -> Path:
    return attribute_files.written(folder, kind, {QUESTIONS[kind]: question})


def counted(text: str, *columns: str) -> Counter[str]:
    """Return how many rows have each combination, by hand; hours are in classes, and a missing one counts as 30."""
    counts = Counter[str]()
    for row in csv.DictReader(text.splitlines()):
        if "hours" in row:
            number = {"": 30.0, "inf": 30.0}.get(row["hours"])
            number = float(row["hours"]) if number is None else number
            row["hours"] = "10" if number < 20 else "30" if number < 40 else "50"
        counts[", ".join(row[name] for name in columns)] += 1
    return counts


@pytest.mark.sampled(3)
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


def test_a_total_and_the_states_of_the_attribute(tmp_path: Path) -> None:
    path = asking(tmp_path, "records", 'query = "histogram"\nby = "team"\nattribute = "smokes"\nstates = ["yes"]\n'
                  "total = 40")  # fmt: skip
    smoking = counted(STAFF, "team", "smokes")
    assert cells(path) == {cell: Fraction(smoking[cell], 40) for cell in ("a, yes", "b, yes")}


@pytest.mark.parametrize(("question", "key", "message"), [
    ('query = "histogram"\nby = ["team", "heigth"]', "by", "no column 'heigth'"),
    ('query = "histogram"\nby = ["team", "team"]', "by", "named twice"),
    ('query = "histogram"\nby = "team"\nattribute = "team"', "by", "named twice"),
    ('query = "histogram"\nby = []', "by", "is empty"),
    ('query = "histogram"\nby = "team"\nstates = ["a"]', "states", "none is named"),
    ('query = "histogram"\nby = "team"\nattribute = "smokes"\nstates = ["yess"]', "states", "'yes'"),
    ('query = "count"\nby = "team"\nattribute = "smokes"\nstates = ["yes"]', "by", "publish a histogram"),
    ('query = "mean"\nby = "team"\nattribute = "hours"', "by", "publish a histogram"),
    ('query = "histogram"', "attribute", "is missing"),
])  # fmt: skip
def test_what_is_wrong_with_it(tmp_path: Path, question: str, key: str, message: str) -> None:
    assert_refused(asking(tmp_path, "records", question), f"table[0].{key}", message)


@pytest.mark.mutants
def test_people_of_groups_have_no_numbers(tmp_path: Path) -> None:
    """Who is alone in a group loses 1 by each of two means, in whatever order the groups, or others, are listed."""
    rows = [("A", "young", "f"), *(("B", "young", "f" if n else "m") for n in range(20))]

    def wards(*names: str) -> list[str]:
        return [group(name, 1 if name in "Am" else 20, ["young", "old"], ["0.5", "0.5"]) for name in names]

    def spent(*changes: tuple[str, str], **answers: str) -> Fraction:
        folder = tmp_path / str(len(changes))
        folder.mkdir()
        mean = publish("both", "mean", codes={"young": 0, "old": 1}, by="ward", epsilon=1.0, mechanism="record-dp")
        census = read_from("census", "census.csv", value="age", group="ward", budget=8.0)
        text = release_text(census, believe("users"), *wards("A", "B"), mean, output="out", expect=EXPECT)
        tf.release_file(written(folder, text, rows=rows), allow_useless=True)
        path = written(folder, text, ('"both"', '"again"'), *changes, rows=rows)
        tf.release_file(path, allow_useless=True, **answers)
        return Ledger.open(folder / "ledger.db").spent("census").epsilon

    listed = "\n\n".join(wards("A", "B"))
    assert spent((listed, "\n\n".join(wards("B", "A")))) == 2
    by_sex = (listed, "\n\n".join(wards("f", "m"))), ('group = "ward"', 'group = "sex"'), ('by = "ward"', 'by = "sex"')
    assert spent(*by_sex, same_entries="one census") == 2
