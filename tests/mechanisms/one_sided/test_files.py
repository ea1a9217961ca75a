"""Release files under a policy: what they read, refuse and say; bad input releases nothing and costs nothing."""

import json
import math
from dataclasses import replace
from fractions import Fraction as F
from itertools import product
from pathlib import Path
from typing import Any

import pytest
from tests.conformance.release_files import invoke
from tests.support.commands import succeed
from tests.support.release_files import believe, hide, publish, read_from, release_text

import takifugu as tf
from takifugu.accounting.ledger import Ledger
from takifugu.core.errors import CalibrationRefused, DataError, SpecError, TakifuguError
from takifugu.mechanisms.one_sided.safe_cells import SafeCells
from takifugu.releasing.certificates.wording import meaning_of
from takifugu.releasing.file.loading import load
from takifugu.releasing.planning.plan import plan

FILE = release_text(
    read_from("infected", "visits.csv", unit="who", value="where", budget=2.0),
    believe("asymmetric", places=["bar", "shop", "gym"], most=2),
    hide(visits="all"),
    publish("safe", "safe", at_most=3, epsilon=1.0),
)
ROWS = "who,where\n" + "".join(f"p{i},gym\n" for i in range(9)) + "p1,gym\np1,bar\np2,shop\n"


def written(folder: Path, text: str = FILE, rows: str = ROWS, **others: str) -> Path:
    (folder / "visits.csv").write_text(rows, encoding="utf-8")
    for name, content in others.items():
        (folder / name.replace("_", ".")).write_text(content, encoding="utf-8")
    (folder / "release.toml").write_text(text, encoding="utf-8")
    return folder / "release.toml"


def one_unit(file: Any) -> Any:
    """Return the one unit of a file that can be planned."""
    plan(file)
    (unit,) = file.kind.units(file)
    return unit


def counts(file: Path) -> list[int]:
    unit = one_unit(load(file))
    return unit.data[0].tolist()  # type: ignore[no-any-return]


def untouched(folder: Path) -> bool:
    """Whether nothing was published, and a ledger, if there is one, has spent nothing."""
    ledger = folder / "ledger.db"
    spent = [row.spent.epsilon for row in Ledger.open(ledger).show()] if ledger.exists() else []
    return not (folder / "release-published").exists() and not any(spent)


def test_persons_count_once_at_a_place_however_many_rows_say_so(tmp_path: Path) -> None:
    assert counts(written(tmp_path)) == [1, 1, 9]


def test_from_the_file_to_the_table(tmp_path: Path) -> None:
    outcome = tf.release_file(written(tmp_path))
    (table,) = outcome.tables
    cells = {row["cell"]: row["safe_or_at_most"] for row in table.rows}
    assert cells["gym"] != "safe"
    assert cells["gym"] >= 9
    upper = f"at most {cells['gym']}"
    elsewhere = ("--output", tmp_path / "printed", "--idempotency-key", "2")
    again = invoke("release", tmp_path / "release.toml", "--allow-useless", *elsewhere)
    assert "gym   at most " in again.output, again.output
    assert upper in (tmp_path / "release-published" / "safe.report.html").read_text()
    assert upper in str(table.releases[0][1])
    assert upper in table.releases[0][1]._repr_html_()
    assert "safe or at most" in str(table)
    assert tf.read_table(tmp_path / "release-published" / "safe.csv") == tuple(
        {**row, "low": None, "high": None} for row in table.rows
    )
    text = " ".join((tmp_path / "release-published" / "safe.certificate.txt").read_text().split())
    for words in (
        "never wrong", "The data are complete", "No person was at more than 2 of the places",
        "such data are refused, so a published table reveals it, which epsilon does not count",
        "people of whom it is not true are not protected", "The list of places is public",
    ):  # fmt: skip
        assert words in text, words
    certificate = json.loads((tmp_path / "release-published" / "safe.certificate.json").read_text())
    assert certificate["definition"] == "asymmetric"
    assert "p1" not in (tmp_path / "release-published" / "safe.report.html").read_text()


@pytest.mark.mutants
def test_a_frame_a_grid_and_values(tmp_path: Path) -> None:
    import pandas as pd

    grid = FILE.replace('value = "where"', 'value = ["lon", "lat"]').replace(
        'places = ["bar", "shop", "gym"]', "grid = { x = [0, 3], y = [0, 2], columns = 3, rows = 2 }"
    )
    file = written(tmp_path, grid)
    frame = pd.DataFrame({"who": ["a", "a", "b", "b"], "lon": [0.5, 0.7, 3.0, 0.1], "lat": [0.1, 0.2, 2.0, 0.9]})
    unit = one_unit(load(file, frame))
    assert unit.data.tolist() == [[2, 0, 0, 0, 0, 1]]
    outside = frame.assign(lon=[0.5, 0.7, 3.1, 0.1])
    with pytest.raises(DataError, match=r'row 3: a place in "lon", "lat" that is not declared') as refused:
        plan(load(file, outside))
    inside = 'where = \'"lon" BETWEEN 0.0 AND 3.0 AND "lat" BETWEEN 0.0 AND 2.0\''
    assert inside in str(refused.value)
    filtered = written(tmp_path, grid.replace("value = ", f"{inside}\nvalue = "))
    unit = one_unit(load(filtered, outside))
    assert unit.data.tolist() == [[2, 0, 0, 0, 0, 0]]
    file = written(tmp_path, grid)
    for number in ("x", "nan", "inf", "1e400", "1_0"):
        with pytest.raises(DataError, match="no finite number"):
            plan(load(file, frame.assign(lon=[number, "1", "2", "3"])))


VALUES = FILE.replace('unit = "who"\nvalue = "where"\n', 'value = "where"\n').replace(
    'places = ["bar", "shop", "gym"]\nmost = 2', 'values = ["bar", "shop", "gym"]\npeople = 12'
).replace('visits = "all"', 'policy = [{ none_of = ["bar"] }, { none_of = ["bar", "shop"] }]').replace(
    "at_most = 3", 'at_most = 3\nstates = ["bar"]'
)  # fmt: skip


def test_predicates_over_declared_values(tmp_path: Path) -> None:
    file = written(tmp_path, VALUES)
    (table,) = tf.release_file(file).tables
    assert [row["cell"] for row in table.rows] == ["count"]
    text = " ".join(table.certificate.text().split())
    assert "It protects that a record has 'bar' (not that it has not) and that a record has 'bar' or 'shop'" in text
    assert "How many people there are is public." in text
    assert " place" not in text.replace("such as a visit to one of two places", "")  # its sentences once were of places
    (tmp_path / "more").mkdir()
    rising = written(tmp_path / "more", VALUES.replace('states = ["bar"]', 'states = ["gym"]'))
    with pytest.raises(CalibrationRefused, match='"safe"'):
        tf.release_file(rising)
    assert untouched(tmp_path / "more")


FAULTS: list[tuple[str, str, str]] = [
    ("at_most = 3", "at_most = -3", "table[0].at_most"),
    ("at_most = 3", "at_most = nan", "table[0].at_most"),
    ("at_most = 3", "at_most = { bar = 1 }", "table[0].at_most"),
    ("at_most = 3\n", "", "table[0].at_most"),
    ("at_most = 3", "at_most = 3\nlimit = 0", "table[0].limit"),
    ("at_most = 3", 'at_most = 3\nplaces = ["pub"]', "table[0].places"),
    ("at_most = 3", 'at_most = 3\nstates = ["bar"]', "table[0].states"),
    ('query = "safe"', 'query = "count"', "table[0].query"),
    ('query = "safe"\nat_most = 3', 'query = "visitors"\nat_most = 3', "table[0].at_most"),
    ('visits = "all"', 'visits = ["pub"]', "hide.visits"),
    ('visits = "all"', 'policy = [{ none_of = ["pub"] }]', "hide.policy"),
    ('visits = "all"', "policy = [{}]", "hide.policy[0]"),
    ('visits = "all"\n', "", "hide"),
    ('places = ["bar", "shop", "gym"]', "places = []", "belief.places"),
    ('places = ["bar", "shop", "gym"]', 'places = ["bar", "bar"]', "belief.places"),
    ('places = ["bar", "shop", "gym"]', 'places = { file = "none.csv", column = "place" }', "belief.places"),
    ('places = ["bar", "shop", "gym"]\n', "", "belief"),
    ('places = ["bar", "shop", "gym"]', "grid = { x = [1, 0], y = [0, 1], columns = 2, rows = 2 }", "source.value"),
    ("most = 2", "most = 0", "belief.most"),
    ("most = 2", "people = 7", "belief.people"),
    ('unit = "who"\n', "", "source.unit"),
    ('value = "where"', 'value = "elsewhere"', "source.value"),
    ('value = "where"', 'value = ["where", "who"]', "source.value"),
    ("[hide]", "[prior]\ncounts = [0, 1]\nshares = [0.5, 0.6]\n[hide]", "prior.shares"),
    ("[hide]", "[prior]\ncounts = [0]\nshares = [0.5, 0.5]\n[hide]", "prior.shares"),
    ("[hide]", "[prior]\ncounts = [0, -1]\nshares = [0.5, 0.5]\n[hide]", "prior.counts"),
]


@pytest.mark.parametrize(("old", "new", "place"), FAULTS)
def test_faults_of_the_file_are_told_with_their_place(tmp_path: Path, old: str, new: str, place: str) -> None:
    assert old in FILE
    with pytest.raises(SpecError) as refusal:
        load(written(tmp_path, FILE.replace(old, new)))
    assert any(problem.startswith(f"{place}:") for problem in refusal.value.problems), refusal.value.problems
    assert untouched(tmp_path)


def test_a_policy_that_protects_nothing_is_refused(tmp_path: Path) -> None:
    both = ", ".join(f'{{ {kind} = ["{v}"] }}' for v in ("bar", "shop", "gym") for kind in ("none_of", "any_of"))
    with pytest.raises(SpecError, match="the policy protects nothing"):
        load(written(tmp_path, FILE.replace('visits = "all"', f"policy = [{both}]")))


@pytest.mark.sampled(3)
@pytest.mark.parametrize(("rows", "message"), [
    (ROWS + "p1,shop\n", "a record has more places than the 2 that are declared"),
    (ROWS + "Zoe,pub\n", "row 13: a place in \"where\" that is not declared"),
    (ROWS + ",bar\n", "row 13: nothing in \"who\""), (ROWS + "Zoe,\n", "row 13: no place in \"where\""),
    (ROWS + "Zoe,Gym\n", "row 13: a value in \"where\" that is a declared one up to case"),
    (ROWS + "Zoe\u0308,bar\nZo\u00eb,gym\n", "written in two ways"), ("who,where\n", "no rows"),
])  # fmt: skip
def test_data_that_break_a_rule_are_refused_and_name_nobody(tmp_path: Path, rows: str, message: str) -> None:
    file = written(tmp_path, rows=rows)
    with pytest.raises(TakifuguError) as raised:
        tf.release_file(file)
    assert message in str(raised.value)
    assert "Zo" not in str(raised.value)
    assert "pub'" not in str(raised.value)
    assert untouched(tmp_path)
    assert invoke("release", file).exit_code != 0
    assert untouched(tmp_path)


def test_a_list_of_places_that_is_the_data_is_refused(tmp_path: Path) -> None:
    text = FILE.replace('places = ["bar", "shop", "gym"]', 'places = { file = "visits.csv", column = "where" }')
    with pytest.raises(SpecError, match="is the private data itself"):
        load(written(tmp_path, text))
    copied = FILE.replace('places = ["bar", "shop", "gym"]', 'places = { file = "places.csv", column = "where" }')
    with pytest.raises(SpecError, match="has the rows of the private data"):
        load(written(tmp_path, copied, places_csv=ROWS))
    public = written(tmp_path, copied, places_csv="where\nshop\nbar\ngym\npark\n")
    assert sorted(counts(public)) == [0, 1, 1, 9]


def test_a_file_of_places_is_read_as_their_list_is(tmp_path: Path) -> None:
    for places in ('["bar", "gym", "park", "shop"]', '{ file = "places.csv", column = "where" }'):
        text = FILE.replace('["bar", "shop", "gym"]', places)
        assert counts(written(tmp_path, text, places_csv="where\nshop\nbar\ngym\npark\n")) == [1, 9, 0, 1]


def test_without_a_bound_a_limit_is_what_makes_it_cheap(tmp_path: Path) -> None:
    free = FILE.replace("most = 2\n", "")
    scales = {}
    limited = free.replace("at_most = 3", "at_most = 3\nlimit = 1")
    for name, text in {"all": free, "limit": limited, "most": FILE}.items():
        (question,) = plan(load(written(tmp_path, text))).tables[0].questions
        scales[name] = question.calibration.scale
    assert scales == pytest.approx({"all": 3, "limit": 1, "most": 2}, rel=1e-9)


def test_the_dry_run_says_what_to_expect_at_this_epsilon(tmp_path: Path) -> None:
    prior = "[prior]\ncounts = [0, 3, 9]\nshares = [0.5, 0.25, 0.25]\n[hide]"
    foreseen = tf.dry_run(written(tmp_path, FILE.replace("[hide]", prior)))
    words = " ".join(str(foreseen).split())
    a = 2.718281828459045**-0.5
    share = (0.5 * (1 - a**4) + 0.25 * (1 - a)) / 0.75
    assert f"{100 * share:.3g} % of the places with at most 3 are expected to be called safe" in words
    assert "0: 86.5 %" in words
    assert "above 3 never" in words
    result = invoke("release", "--dry-run", tmp_path / "release.toml")
    assert result.exit_code == 0
    assert "none is called safe wrongly" in " ".join(result.stdout.split())
    assert untouched(tmp_path)


@pytest.mark.parametrize("limit", [None, 1, 2, 5])
@pytest.mark.parametrize(("cells", "alpha", "counts"), [(4, None, (0, 2, 6)), (3, F(1, 10), (0, 4, 6))])
def test_the_expected_shares_are_those_of_every_order(cells: int, alpha: Any, counts: Any, limit: Any) -> None:
    """Against enumeration of who comes before, and of what each would be called if it is asked."""
    noise = SafeCells(F(1), F(1), cells, (2,), limit, F(cells), alpha)
    shares, names = dict(zip(counts, (F(1, 2), F(1, 4), F(1, 4)), strict=True)), ("safe", "undecided", "dangerous")
    whole, called = dict.fromkeys(names, 0.0), dict.fromkeys(names, 0.0)
    for data, marks in product(product(shares, repeat=cells), product(names, repeat=cells)):
        mass, used = float(math.prod(shares[count] for count in data)), 0
        for count, mark in zip(data, marks, strict=True):
            safe, danger = noise.chance(count, 2), noise.chance_of_danger(count, 2)
            mass *= {"safe": safe, "dangerous": danger, "undecided": 1 - safe - danger}[mark]
        for count, mark in zip(data, marks, strict=True):
            is_answered = limit is None or used < limit
            right = "safe" if count <= 2 else "dangerous"
            whole[right] += mass
            called[right] += mass * (is_answered and mark == right)
            used += is_answered and mark != "safe"
    shares_enumerated = tuple(called[mark] / whole[mark] for mark in ("safe", "dangerous"))
    assert noise.expected_shares(shares, 2) == pytest.approx(shares_enumerated, rel=1e-12)


def test_two_files_of_one_source_share_its_budget(tmp_path: Path) -> None:
    tf.release_file(written(tmp_path))
    more = FILE.replace('name = "safe"', 'name = "numbers"')
    more = more.replace('query = "safe"\nat_most = 3', 'query = "visitors"')
    tf.release_file(written(tmp_path, more))
    spent = Ledger.open(tmp_path / "ledger.db").spent("infected")
    assert spent.epsilon == 2
    third = more.replace('name = "numbers"', 'name = "again"')
    with pytest.raises(TakifuguError, match="has epsilon 0 left of a budget of epsilon 2"):
        tf.release_file(written(tmp_path, third))


def test_another_policy_about_the_same_people_is_refused_with_a_way_out(tmp_path: Path) -> None:
    tf.release_file(written(tmp_path))
    other = (
        FILE.replace('name = "safe"', 'name = "bar"')
        .replace('visits = "all"', 'visits = ["bar"]')
        .replace("at_most = 3", 'at_most = 3\nplaces = ["bar"]')
    )
    with pytest.raises(TakifuguError, match="give both frameworks the predicates of both policies"):
        tf.release_file(written(tmp_path, other))


def test_a_certificate_that_was_not_written_so_has_no_meaning(tmp_path: Path) -> None:
    (table,) = tf.release_file(written(tmp_path)).tables
    assert len(meaning_of(table.certificate)) == 2
    for query in ({"kind": "at-most"}, {"kind": "at-most", "threshold": "much"}, {"kind": ["at-most"]}, {}):
        assert meaning_of(replace(table.certificate, query=query)) == ()


GRID = FILE.replace('value = "where"', 'value = ["lon", "lat"]').replace(
    'places = ["bar", "shop", "gym"]', "grid = { x = [0, 3], y = [0, 1], columns = 3, rows = 1 }"
)  # fmt: skip
POINTS = "who,lon,lat\n" + "".join(f"p{i},1.5,0.5\n" for i in range(30)) + "p1,0.5,0.5\n"


def test_three_marks_and_a_public_order_are_keys_of_a_file(tmp_path: Path) -> None:
    text = GRID.replace("at_most = 3", 'at_most = 3\nalpha = 0.01\nlimit = 1\nfirst = "outskirts"')
    file = written(tmp_path, text.replace("epsilon = 1.0", "epsilon = 50.0").replace("2.0", "60.0"), POINTS)
    words = " ".join(str(tf.dry_run(file)).split())
    assert "one of 4 or more is always called dangerous, and one of at most 3 with probability 0.01 at most" in words
    (table,) = tf.release_file(file, allow_useless=True).tables
    assert [row["cell"] for row in table.rows] == ["r0c0", "r0c2", "r0c1"]
    assert [row["mark"] for row in table.rows] == ["safe", "safe", "dangerous"]
    rows = tf.read_table(tmp_path / "release-published" / "safe.csv")
    assert [row["mark"] for row in rows] == ["safe", "safe", "dangerous"]
    assert rows[2]["safe_or_at_most"] >= 30
    succeed("report", tmp_path / "release-published", "--as", "datapackage")
    described = json.loads((tmp_path / "release-published" / "safe.datapackage.json").read_text())
    names = [field["name"] for field in described["resources"][0]["schema"]["fields"]]
    assert names == ["cell", "safe_or_at_most", "low", "high", "mark", "x", "y"]


@pytest.mark.parametrize(("text", "problem"), [
    (FILE.replace("at_most = 3", "at_most = 3\nalpha = 0"), "table[0].alpha"),
    (FILE.replace("at_most = 3", "at_most = 3\nalpha = 1.5"), "between 0 and 1"),
    (FILE.replace("at_most = 3", 'at_most = 3\nfirst = "outskirts"'), "table[0].first: is of the boxes of a grid"),
    (GRID.replace("at_most = 3", 'at_most = 3\nfirst = "middle"'), "table[0].first"),
    (GRID.replace("at_most = 3", 'at_most = 3\nfirst = "outskirts"\nplaces = ["r0c1", "r9c9"]'), "r9c9"),
])  # fmt: skip
def test_marks_and_orders_that_are_none(tmp_path: Path, text: str, problem: str) -> None:
    with pytest.raises(SpecError) as refused:
        load(written(tmp_path, text, POINTS))
    assert any(problem in fault for fault in refused.value.problems), refused.value.problems
