"""One release file, one integer: whatever the engine, whether rows are counted or read, wherever they come from."""

import subprocess
import sys
from datetime import UTC, datetime, timedelta
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.releasing import files, mutants
from tests.support.answers import stand_in, true_answer
from tests.support.counting import counts_of
from tests.support.engines import ENGINES, Columns, spark, write_csv, write_parquet
from tests.support.on_spark import running
from tests.support.release_files import EXPECT, believe, changed, publish, read_from, release_text
from tests.support.releases import put

import takifugu as tf
from takifugu.accounting.ledger import Amount, Ledger
from takifugu.core.errors import DataError, SpecError
from takifugu.numbers.noise import InsecureSeededEntropyForTests
from takifugu.releasing.file.loading import load
from takifugu.releasing.planning import plan as planning
from takifugu.releasing.planning.prices import Prices, epsilons_of, prices
from takifugu.releasing.publishing import run

GAPS = (5, 6, 11)


def columns() -> Columns:
    """Return the rows of three people, with missing states, steps without a row, and rows without a name."""
    rows = []
    for unit, pieces in files.LENGTHS.items():
        for piece, length in enumerate(pieces):
            for t in [t for t in range(length) if t not in GAPS]:
                state = None if t == 7 else ["sitting", "walking", "lying", "still"][t * t % 4]
                rows.append((None if len(rows) == 3 else unit, piece, 2 * t, state))
    kinds = {"Who is it?": "text", "run no.": "int", "t [min]": "int", "état; raw": "text"}
    return {name: (kind, values) for (name, kind), values in zip(kinds.items(), zip(*rows, strict=True), strict=True)}


SPEC = f"""
{files.SPEC}
mechanism = "group-dp"

[[table]]
name = "walks"
query = "count"
states = ["walking"]
epsilon = 1
per = "unit"
mechanism = "group-dp"
""".replace("budget = 10", 'budget = 10\nnulls = "unobserved"\nwhere = """\"Who is it?\" IS NOT NULL"""')


def answers(plan: planning.Plan) -> list[tuple[str, str | None, tuple[int, ...]]]:
    """Return the true integers of a plan: for this test's eyes only."""
    return [(t.name, q.unit, true_answer(q.calibration, q.data)) for t in plan.tables for q in t.questions]


@pytest.fixture
def where(tmp_path: Path) -> Path:
    path = files.write(tmp_path, SPEC)
    write_csv(tmp_path / "data.csv", columns())
    return path


@pytest.mark.slow
def test_every_engine_gives_the_same_integers(where: Path) -> None:
    from_file = planning.plan(load(where))
    expected = answers(from_file)
    assert len(expected) == 7
    counted = {unit: list(answer) for name, unit, answer in expected if name == "time-use-units"}
    rows = list(zip(*(values for _, values in columns().values()), strict=True))
    for unit, (still, walking) in counted.items():
        mine = [state for who, _, _, state in rows if who == unit and state is not None]
        assert walking == mine.count("walking")
        assert still == len(mine) - walking
    for name, make in ENGINES.items():
        plan = planning.plan(load(where, make(columns())))
        assert answers(plan) == expected, name
        assert [c.scale for t in plan.tables for c in t.calibrations] == [
            c.scale for t in from_file.tables for c in t.calibrations
        ]


@pytest.mark.spark
def test_spark_gives_the_same_integers(where: Path, session: Any) -> None:
    plan = planning.plan(load(where, spark(session, columns())))
    assert answers(plan) == answers(planning.plan(load(where)))


session = pytest.fixture(scope="module")(running)

WARD = release_text(
    read_from("ward", "hours.parquet", unit="who", value="lower(state)", order="t", step="1h", from_="2026-03-28",
              until="2026-03-31", timezone="Europe/Berlin", where="kind <> 'TEST'", nulls="unobserved", budget=99)
    + "\nengine",
    believe("markov-chain", states=["still", "walking"], matrix=[[0.8, 0.2], [0.3, 0.7]], units_independent=True),
    publish("walks", "count", states=["walking"], epsilon=1, per="both"),
    publish("hours", "histogram", by=["hour"], epsilon=9, from_="2026-03-29", to="2026-03-30"),
    expect=EXPECT,
)  # fmt: skip


def write_ward(folder: Path) -> None:
    """Write the hours of three people around the night on which clocks in Berlin skip one, in any order."""
    start, states = datetime(2026, 3, 27, 23, tzinfo=UTC), ["Still", "walking", "still", None]
    rows = [(who, start + timedelta(hours=n), states[n * (n + 3) % 11 % 4], "TEST" if n % 7 == 2 else "day")
            for who in ("zoë", "Bob, jr.", "007") for n in range(71)]  # fmt: skip
    rows = rows[::2] + rows[1::2]
    kinds = {"who": "text", "t": "zoned", "state": "text", "kind": "text"}
    write_parquet(folder / "hours.parquet", {
        name: (kind, values) for (name, kind), values in zip(kinds.items(), zip(*rows, strict=True), strict=True)
    })  # fmt: skip


@pytest.mark.spark
def test_a_release_file_is_published_through_spark_as_from_a_file(tmp_path: Path, session: Any) -> None:
    """The same noise around the same integers, from one test seed."""
    published = []
    for engine in ("", 'engine = "spark"'):
        folder = put(tmp_path / f"on{engine[10:-1]}", {"ward.toml": WARD.replace("engine", engine)}).parent
        write_ward(folder)
        plan = planning.plan(load(folder / "ward.toml"))
        outcome = run.publish(plan, entropy=InsecureSeededEntropyForTests(1), allow_useless=True)
        spent = Ledger.open(folder / "ledger.db").spent("ward")
        facts = [(t.certificate.assumptions, t.certificate.to_dict()["answers"]) for t in outcome.tables]
        published.append((answers(plan), [t.rows for t in outcome.tables], spent, facts))
    assert session.range(3).count() == 3  # a session that ran already goes on
    assert published[0] == published[1]


@pytest.mark.spark
def test_a_command_starts_spark_and_publishes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYSPARK_SUBMIT_ARGS", "--master local[2] --conf spark.ui.enabled=false pyspark-shell")
    monkeypatch.setenv("SPARK_LOCAL_IP", "127.0.0.1")
    cells = []
    for engine in ("", 'engine = "spark"'):
        folder = put(tmp_path / f"on{engine[10:-1]}", {"ward.toml": WARD.replace("engine", engine)}).parent
        write_ward(folder)
        done = subprocess.run(
            [sys.executable, "-m", "takifugu", "release", "ward.toml", "--new-ledger", "--allow-useless"], cwd=folder,
            capture_output=True, text=True, timeout=300,
        )  # fmt: skip
        assert done.returncode == 0, done.stderr
        assert "TEST" not in (done.stdout + done.stderr).replace("<> 'TEST'", "")
        files = sorted(path.relative_to(folder) for path in (folder / "ward-published").iterdir())
        tables = [path.read_text().splitlines() for path in sorted((folder / "ward-published").glob("*.csv"))]
        cells.append((files, [line.rsplit(",", 6)[0] for table in tables for line in table]))
    assert cells[0] == cells[1]


@pytest.mark.slow
def test_a_frame_is_published_as_the_file_says(where: Path) -> None:
    (where.parent / "data.csv").unlink()
    outcome = tf.release_file(where, data=ENGINES["polars"](columns()), output=where.parent / "elsewhere",
                              other_entries=True)  # fmt: skip
    assert [t.name for t in outcome.tables] == ["time-use-units", "time-use-pooled", "walks"]
    assert outcome.tables[0].files[0].parent.name == "elsewhere"
    assumptions = [*map(str, outcome.tables[0].certificate.assumptions)]
    assert 'Rows count where "Who is it?" IS NOT NULL. Nothing is guaranteed about others.' in assumptions
    with pytest.raises(SpecError, match=r"source\.value: value names 'état; raw', which is no column"):
        load(where, ENGINES["pandas"]({k: v for k, v in columns().items() if k != "état; raw"}))


@given(st.data())
def test_counts_and_rows_agree(data: st.DataObject) -> None:
    """The oracle is the path that reads every entry."""
    states = ["a", "b", "c"]
    walk = st.lists(st.sampled_from([*states, None]), min_size=1, max_size=6)
    walks = data.draw(st.lists(walk, min_size=1, max_size=4))
    if all(s is None for walk in walks for s in walk):
        return
    lengths = [len(walk) for walk in walks]
    chain = tf.MarkovChain(np.full((3, 3), 1 / 3), max(lengths), states=states)
    belief = chain if len(walks) == 1 else tf.IndependentPieces(chain, lengths)
    query = data.draw(st.sampled_from([
        tf.Count("b"), tf.Count(["a", "c"]), tf.Histogram(), tf.Histogram(["c", "a"], total=7),
        tf.Sum(codes={"a": 0, "b": "1/2", "c": -3}), tf.Sum(codes={"a": 1, "b": 0.26, "c": 2}, grid="0.25"),
    ]))  # fmt: skip
    calibration = stand_in(belief, query)
    counted = counts_of([[None if state is None else states.index(state) for state in walk] for walk in walks], 3)
    assert true_answer(calibration, counted) == true_answer(calibration, walks[0] if len(walks) == 1 else walks)


def test_counts_cannot_answer_what_they_do_not_hold() -> None:
    chain = tf.MarkovChain([[0.5, 0.5], [0.5, 0.5]], 3, states=["a", "b"])
    calibration = stand_in(chain, tf.Linear([1, 2, 3], {"a": 0, "b": 1}))
    with pytest.raises(DataError, match="weighs entries differently"):
        true_answer(calibration, counts_of([[0, 1, 1]], 2))
    with pytest.raises(DataError, match="other sequences"):
        true_answer(calibration, counts_of([[0, 1]], 2))


def one(folder: Path, **changes: Any) -> Path:
    mutants.write_data(folder)
    raw = mutants.ONE
    for path, value in changes.items():
        raw = mutants.changed(raw, path.replace("__", "."), value)
    return put(folder, {"release.toml": mutants.toml(raw)})


@pytest.mark.slow
def test_a_linear_query_and_one_hidden_entry(tmp_path: Path) -> None:
    where = one(tmp_path, table__0__epsilon=2000, source__budget={"epsilon": 9000, "delta": 1e-6})
    plan = planning.plan(load(where))
    outcome = run.publish(plan, entropy=InsecureSeededEntropyForTests(1))
    (row,) = outcome.tables[0].rows  # still, walking, still: weights 1, 0, 1/2 and walking counts 1
    assert row["value"] == 0
    assert outcome.tables[0].certificate.hidden == ("whether the value at place 1 is 'still' or 'walking'",)
    (source,) = Ledger.open(tmp_path / "ledger.db").show()
    assert source.budget == Amount(9000, Fraction(1, 10**6))
    where = one(tmp_path, table__0__weights=[3, "1/4", 5], table__0__epsilon=2000)
    ((_, _, answer),) = answers(planning.plan(load(where)))
    assert Fraction(answer[0]) * planning.plan(load(where)).tables[0].calibrations[0].randomiser.grid == Fraction(1, 4)


@pytest.mark.slow
def test_weights_may_lie_in_a_file(tmp_path: Path) -> None:
    (tmp_path / "w.csv").write_text("3,0.25\n5\n", encoding="utf-8")
    written = answers(planning.plan(load(one(tmp_path, table__0__weights=[3, "1/4", 5]))))
    assert answers(planning.plan(load(one(tmp_path, table__0__weights="w.csv")))) == written


@pytest.mark.mutants
@pytest.mark.parametrize(("changes", "words"), [
    ({"table__0__weights": [1, 2]}, r"table\[0\]\.weights: has 2 numbers, and the sequence has 3 entries"),
    ({"hide__entry": 3}, r"hide\.entry: the secret is about entry 3"),
])  # fmt: skip
def test_weights_are_those_of_entries_and_a_hidden_entry_exists(tmp_path: Path, changes: Any, words: str) -> None:
    with pytest.raises(SpecError, match=words):
        planning.plan(load(one(tmp_path, **changes)))


@pytest.mark.slow
def test_a_linear_query_reads_nothing_where_nothing_was_observed(tmp_path: Path) -> None:
    lines = [f"{mutants.AT},{mutants.RAW}", "0,walking", "2,", "4,walking"]
    for weights, read in (([1, 0, "1/2"], (1, 0, Fraction(1, 2))), ([1, 5, 2], (1, 0, 2))):
        where = one(tmp_path, source__nulls="unobserved", table__0__weights=weights)
        (tmp_path / "one.csv").write_text("\n".join(lines) + "\n", encoding="utf-8")
        plan = planning.plan(load(where))
        assert plan.tables[0].calibrations[0].query.weights == read  # type: ignore[attr-defined]
    assert [answer for _, _, answer in answers(plan)] == [(3,)]


@pytest.mark.slow
def test_a_fit_with_confidence_is_a_class_of_chains(tmp_path: Path) -> None:
    fit = ("matrix = [[0.8, 0.2], [0.3, 0.7]]", 'fit = { file = "public.csv", confidence = 0.99 }')
    where = files.write(tmp_path, changed(files.SPEC, fit))
    (tmp_path / "public.csv").write_text(files.data({"p": (900,), "q": (700,)}), encoding="utf-8")
    plan = planning.plan(load(where))
    belief = plan.tables[1].calibrations[0].framework.beliefs[0].to_dict()["chain"]
    assert belief["kind"] == "chain-region"
    assert "estimated from public.csv" in belief["source"]
    text = run.publish(plan).tables[1].certificate.text()
    assert all(words in text for words in ("0.99", "cover"))


def priced(where: Path, epsilons: str) -> list[Prices]:
    """Return what the tables of a release file cost at other epsilons."""
    file = load(where)
    return list(prices(file, planning.aims_as_needed(file, planning.unwatched), epsilons_of(epsilons)))


@pytest.mark.slow
def test_a_release_file_can_be_priced_at_other_epsilons(where: Path) -> None:
    tables = priced(where, "0.5,1,4")
    assert [(table.name, [float(row.epsilon) for row in table.rows]) for table in tables] == [
        (name, [0.5, 1, 4]) for name in ("time-use-units", "time-use-pooled", "walks")
    ]
    assert {table.unit for table in tables if table.scope == "unit"} == {"zoë"}
    calibrations = {table.name: row.calibration for table in tables for row in table.rows if row.epsilon == 1}
    for table in planning.plan(load(where)).tables:
        longest = [q.calibration for q in table.questions if q.unit in ("zoë", None)]
        assert calibrations[table.name] is not None
        assert [c.scale for c in longest] == [calibrations[table.name].scale]  # type: ignore[union-attr]
        assert [c.mechanism for c in longest] == [calibrations[table.name].mechanism]  # type: ignore[union-attr]


def test_what_is_refused_has_a_reason_instead_of_a_price(tmp_path: Path) -> None:
    where = files.write(tmp_path, files.SPEC.replace("epsilon = 1.0", 'epsilon = 1.0\nmechanism = "optimal"'))
    rows = [row for table in priced(where, "1") for row in table.rows]
    assert [row.calibration for row in rows] == [None, None]
    assert all("optimal does not apply" in row.reason for row in rows)
