"""Release files with tables by a public attribute of units: counted by hand, charged once, refused."""

import itertools
import json
import math
import random
from collections import Counter
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from tests.support import cell_oracles
from tests.support.commands import succeed
from tests.support.release_files import EXPECT, believe, changed, publish, read_from, release_text
from tests.support.releases import assert_refused, cells, put, refused

import takifugu as tf
from takifugu.accounting.composition import charge_of
from takifugu.accounting.composition.composing import joint
from takifugu.releasing.file.loading import load
from takifugu.releasing.planning.plan import plan
from takifugu.releasing.planning.questions import debits_of

FILE = release_text(
    read_from("clinic", "clinic.csv", value="state", unit="who", order="minute", step=1, roster="people.csv",
              budget=20.0),
    believe("markov-chain", states=["calm", "busy"], matrix=[[0.9, 0.1], [0.4, 0.6]], units_independent=True),
    publish("table", "histogram", by="ward", epsilon=0.5, mechanism="quilt-exact"),
    output="out", expect=EXPECT,
)  # fmt: skip
CODED = 'codes = { calm = 0, busy = 2 }\nby = "ward"'
Row = tuple[str, str, int, int, str]


def recorded(people: int = 12, wards: str = "AB") -> list[Row]:
    """Return rows of person, ward, floor, minute, state; the rows of a person stand anywhere."""
    draw, rows = random.Random(5), list[Row]()
    for who in range(people):
        ward, floor = draw.choice(wards), draw.choice([1, 2])
        rows += [(str(who), ward, floor, t, draw.choice(["calm", "busy"])) for t in range(draw.choice([40, 60]))]
    draw.shuffle(rows)
    return rows


def listed(rows: list[Row]) -> str:
    """Return the public list of who is in which ward, and on which floor."""
    return "\n".join(["who,ward,floor", *sorted({",".join(map(str, row[:3])) for row in rows})]) + "\n"


def written(folder: Path, *changes: tuple[str, str], rows: list[Row] | None = None, people: str = "") -> Path:
    rows = rows or recorded()
    lines = ["who,minute,state", *(f"{row[0]},{row[3]},{row[4]}" for row in rows)]
    files = {"clinic.toml": changed(FILE, *changes), "clinic.csv": "\n".join(lines) + "\n"}
    return put(folder, {**files, "people.csv": people or listed(rows)})


@pytest.mark.sampled(2)
@pytest.mark.parametrize(("query", "of"), [
    ("count", lambda states: states.count("busy")), ("sum", lambda states: 2 * states.count("busy")),
    ("mean", lambda states: Fraction(2 * states.count("busy"), len(states))),
])  # fmt: skip
def test_other_queries_are_told_by_ward(tmp_path: Path, query: str, of: Any) -> None:
    question = 'query = "count"\nstates = ["busy"]\nby = "ward"' if query == "count" else f'query = "{query}"\n{CODED}'
    sums = cells(written(tmp_path, ('query = "histogram"\nby = "ward"', question)))
    states = {ward: [row[4] for row in recorded() if row[1] == ward] for ward in "AB"}
    assert sums == {ward: of(states[ward]) for ward in "AB"}


@pytest.mark.parametrize(("people", "names"), [
    ("select who, if(ward = 'A', 0, 1) as ward from read_csv('people.csv', all_varchar = true)", "01"),
    ("select who, ward = 'A' as ward from read_csv('people.csv', all_varchar = true)", ("true", "false")),
])  # fmt: skip
def test_attributes_are_columns_of_a_select(tmp_path: Path, people: str, names: Any) -> None:
    right = Counter({f"{names['AB'.index(row[1])]}, {row[4]}": 0 for row in recorded()})
    right.update(f"{names['AB'.index(row[1])]}, {row[4]}" for row in recorded())
    assert cells(written(tmp_path, ('"people.csv"', f'"{people}"'))) == right


@pytest.mark.mutants
def test_who_has_no_row_is_nobody_without_a_calendar_and_has_its_steps_in_one(tmp_path: Path) -> None:
    people = listed(recorded()) + "nobody,B,1\n"
    for changes in ((), (CALENDAR,)):
        assert cells(written(tmp_path, *changes, people=people)) == cells(written(tmp_path, *changes))
        charged = dict(debits(written(tmp_path, *changes, people=people)))
        assert len(charged) == (13 if changes else 12)
        assert not changes or charged["nobody"].entries == 60


def debits(path: Path) -> list[tuple[str, Any]]:
    """Return every unit and what it is charged, once for each answer that reads it."""
    listed = debits_of([question for table in plan(load(path)).tables for question in table.questions])
    return [(unit, debit.charge) for debit in listed for unit in debit.units or [""]]


def test_a_mean_over_a_ward_is_charged_as_the_sum_that_it_divides(tmp_path: Path) -> None:
    path = written(tmp_path, ('query = "histogram"\nby = "ward"', f'query = "mean"\n{CODED}'))
    (table,) = plan(load(path)).tables
    scale = table.questions[0].calibration.randomiser.laplace_scale
    rows, sizes = recorded(), Counter(row[1] for row in recorded())
    ward = {row[0]: row[1] for row in rows}
    for unit, charge in debits(path):
        assert charge.scale == scale * sizes[ward[unit]]
        assert charge.query["kind"] == "sum"
        assert charge.entry_change == 2
        # what a step moves over the scale is the same either way
        assert charge.entry_change / charge.scale == Fraction(2, sizes[ward[unit]]) / scale


def test_what_a_step_moves_is_what_the_mean_of_its_own_ward_moves(tmp_path: Path) -> None:
    """By enumeration: the largest change of the table over all pairs of data that differ in some steps of one unit."""
    matrix = [[0.9, 0.1], [0.4, 0.6]]
    chain = tf.MarkovChain(matrix, 2, states=["calm", "busy"])
    sizes, ward = (2, 1, 2), ("A", "B", "A")
    about = tf.Pufferfish(tf.every_entry(), tf.IndependentPieces(chain, sizes))
    codes = {"calm": 0, "busy": 2}
    entries = {"A": [0, 1, 3, 4], "B": [2]}
    for query, of in [
        (tf.Histogram(), lambda states: [states.count("calm"), states.count("busy")]),
        (tf.Mean(codes=codes), lambda states: [Fraction(sum(codes[s] for s in states), len(states))]),
    ]:
        table = tf.GroupBy(query, entries, by="ward")
        made = tf.calibrate(about, table, 1, mechanism="group-dp")

        def cells_of(data: Any, of: Any = of) -> list[Any]:
            return [x for w in "AB" for x in of([data[i] for i in entries[w]])]

        first = 0
        for unit, size in enumerate(sizes):
            worst = Fraction(0)
            for one in itertools.product(["calm", "busy"], repeat=5):
                for moved in itertools.product(["calm", "busy"], repeat=size):
                    other = (*one[:first], *moved, *one[first + size :])
                    gap = sum(abs(a - b) for a, b in zip(cells_of(one), cells_of(other), strict=True))
                    worst = max(worst, Fraction(gap))
            alone = tf.Pufferfish(tf.every_entry(), chain.with_length(size))
            held = Fraction(len(entries[ward[unit]])) if isinstance(query, tf.Mean) else Fraction(1)
            plain = tf.Sum(codes=codes) if isinstance(query, tf.Mean) else query
            charge = charge_of(made, alone, scope="pooled", share=(plain, held))
            assert charge.change / charge.scale == worst / made.randomiser.laplace_scale
            first += size


@pytest.mark.parametrize("mechanism", ["group-dp", "quilt-exact"])
@pytest.mark.parametrize("alike", [True, False])
def test_two_tables_reveal_no_more_than_a_unit_is_charged(mechanism: str, alike: bool) -> None:
    """Against a list of all data of three units: a table by ward, and one by floor or over all."""
    matrix, sizes = [[0.9, 0.1], [0.4, 0.6]], (2, 3, 1)
    chain = tf.MarkovChain(matrix, 3)
    start, law = (0.8, 0.2), {}
    for path in itertools.product((0, 1), repeat=6):
        parts = [path[:2], path[2:5], path[5:]]
        steps = [matrix[x][y] for part in parts for x, y in itertools.pairwise(part)]
        law[path] = math.prod([*(start[part[0]] for part in parts), *steps])
    wards = [[0, 1, 5], [2, 3, 4]]
    other = [list(range(6))] if alike else [[0, 1], [2, 3, 4, 5]]
    pool = tf.Pufferfish(tf.every_entry(), tf.IndependentPieces(chain, sizes))
    tables = [tf.GroupBy(tf.Count(1), {str(n): cell for n, cell in enumerate(table)}) for table in (wards, other)]
    made = [tf.calibrate(pool, table, 1, mechanism=mechanism) for table in tables]
    charged = []
    for size in sizes:
        alone = tf.Pufferfish(tf.every_entry(), chain.with_length(size))
        charges = [charge_of(c, alone, scope="pooled", reading="one", share=(tf.Count(1), Fraction(1))) for c in made]
        charged.append(joint(alone, charges).epsilon)
    scales = [float(c.randomiser.laplace_scale) for c in made]
    loss = cell_oracles.joint_loss(law, list(zip((wards, other), scales, strict=True)))
    assert 0 < loss <= float(max(charged)) + 1e-9
    narrow = [scale / 3 for scale in scales]  # a unit charged for a third of what it moves would be found out
    assert cell_oracles.joint_loss(law, list(zip((wards, other), narrow, strict=True))) > float(max(charged))


@pytest.mark.mutants
def test_a_table_by_ward_says_that_wards_are_public(tmp_path: Path) -> None:
    result = succeed("release", written(tmp_path))
    assert "by ward" in result.output
    page = (tmp_path / "out" / "table.report.html").read_text()
    assert all(f">{part}<" in page for part in ("A", "B", "calm", "busy"))  # a table of two ways
    rows = tf.read_table(tmp_path / "out" / "table.csv")
    assert [row["cell"] for row in rows] == ["A, calm", "A, busy", "B, calm", "B, busy"]
    content = json.loads((tmp_path / "out" / "table.certificate.json").read_text())
    assert "Which person has which 'ward' is public." in [line["text"] for line in content["assumptions"]]
    besides = json.dumps({key: value for key, value in content.items() if key != "answers"})  # a noisy count may be 10
    assert not any(f'"{who}"' in besides for who in ("10", "11"))  # no names of units
    assert content["query"]["cells"][0][1] == [[0, sum(row[1] == "A" for row in recorded()) - 1]]


CALENDAR = ("step = 1", "step = 1\nfrom = 0\nuntil = 60")


@pytest.mark.parametrize(("ward", "message"), [
    ("", "says nothing of 'ward' for somebody"), ("A,1\n5,B", "the roster names one twice"),
    ("A,1,1", "line 13 of people.csv"), (None, "row 21 and 39 more: a person that the roster lacks"),
])  # fmt: skip
def test_rosters_that_break_the_rules_are_refused_without_being_told(
    tmp_path: Path, ward: str | None, message: str
) -> None:
    people = [line for line in listed(recorded()).splitlines() if not line.startswith("5,")]
    people += [] if ward is None else [f"5,{ward},1"]
    refusal = str(refused(written(tmp_path, people="\n".join(people))))
    assert refusal.startswith(f"source.roster: {message}")
    assert len(refusal.splitlines()) == 1


@pytest.mark.sampled(3)
@pytest.mark.parametrize(("changes", "place", "message"), [
    ([('by = "ward"', 'by = "diagnosis"')], "table[0].by", 'part of the states ("flu, busy"), or publish records'),
    ([('by = "ward"', 'by = "wrad"')], "table[0].by", "did you mean 'ward'"),
    ([('by = "ward"', 'by = ["ward", "floor"]')], "table[0].by", "one table by each"),
    ([('by = "ward"', 'by = ["ward", "hour"]'), CALENDAR], "table[0].by", "one table by each"),
    ([('by = "ward"', 'by = "ward"\nper = "unit"')], "table[0].per", 'per = "pooled"'),
    ([('by = "ward"', 'by = "ward"\nper = "both"')], "table[0].per", 'per = "pooled"'),
    ([('query = "histogram"', 'query = "linear"\nweights = [1]\ncodes = { calm = 0, busy = 1 }')], "table[0].by",
     "a sum with codes"),
    ([('unit = "who"\n', "")], "source.roster", "it names people"),
    ([('roster = "people.csv"\n', "")], "table[0].by", "declare a roster with their names and a column 'ward'"),
    ([('"people.csv"', '["1", "2"]')], "table[0].by", "'ward' is no public attribute"),
    ([('"people.csv"', "\"select who, ward as hour from read_csv('people.csv', all_varchar = true)\""),
      ('by = "ward"', 'by = "hour"')], "source.roster", "rename the column"),
    ([('by = "ward"', 'by = "hour"')], "table[0].by", "needs a declared calendar"),
])  # fmt: skip
def test_files_that_are_refused(tmp_path: Path, changes: Any, place: str, message: str) -> None:
    assert_refused(written(tmp_path, *changes), place, message)
