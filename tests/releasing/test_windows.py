"""Release files that publish windows of a declared calendar, again and again."""

import gc
import random
import re
from datetime import date, datetime, timedelta
from fractions import Fraction
from pathlib import Path
from typing import Any

import duckdb
import pytest
from tests.support.commands import succeed, words_of
from tests.support.release_files import EXPECT, believe, changed, publish, read_from, release_text
from tests.support.releases import assert_says, put, refused, spent

import takifugu as tf
from takifugu.accounting.ledger import Ledger
from takifugu.core.errors import CalibrationRefused, InputError, SpecError
from takifugu.data.times import moments
from takifugu.releasing.file.loading import load
from takifugu.releasing.planning.outlook import outlook
from takifugu.releasing.planning.plan import plan
from takifugu.releasing.publishing.run import release_file

START = datetime(2026, 1, 5)
INFLUENCE = ('"quilt-exact"', '"influence"')
HOUR = timedelta(hours=1)
FILE = release_text(
    read_from("ward", "ward.csv", value="state", order="hour", step="1h", from_="2026-01-05", until=date(2026, 2, 2),
              budget=2.0),
    believe("markov-chain", states=["calm", "busy"], matrix=[[0.9, 0.1], [0.4, 0.6]]),
    publish("busy", "count", states=["busy"], epsilon=0.5, mechanism="quilt-exact", every="week"),
    output="out", expect=EXPECT,
)  # fmt: skip


def written(folder: Path, *changes: tuple[str, str], rows: str | None = None, weeks: int = 4) -> Path:
    data = recorded(weeks) if rows is None else rows
    return put(folder, {"ward.toml": changed(FILE, *changes), "ward.csv": data})


def recorded(weeks: int, missing: int = 50) -> str:
    draw, state, lines = random.Random(1), "calm", ["hour,state"]
    for step in range(168 * weeks):
        state = draw.choices(["calm", "busy"], [0.9, 0.1] if state == "calm" else [0.4, 0.6])[0]
        lines += [] if step % missing == 7 else [f"{(START + step * HOUR).isoformat()},{state}"]
    return "\n".join(lines) + "\n"


def one_week(path: Path) -> Fraction:
    """Return what the first window costs: less than it promises, where its noise hides more than that."""
    cost = outlook(load(path), 1).rows[0].epsilon
    assert 0 < cost <= Fraction(1, 2)
    return cost


@pytest.mark.slow
def test_every_week_at_once_and_one_by_one_cost_the_same_as_planned(tmp_path: Path) -> None:
    at_once, one_by_one = written(tmp_path / "a"), written(tmp_path / "b")
    outcome = release_file(at_once)
    weeks = [f"2026-W{week:02}" for week in (2, 3, 4, 5)]
    assert [table.name for table in outcome.tables] == [f"busy-{week}" for week in weeks]
    for week in weeks:
        (table,) = release_file(one_by_one, window=week).tables
        assert table.name == f"busy-{week}"
    assert spent(tmp_path / "a", "ward") == spent(tmp_path / "b", "ward")
    assert spent(tmp_path / "a", "ward").epsilon == one_week(at_once)
    page = tmp_path / "b" / "out" / "busy-2026-W03.certificate.txt"
    assert_says(page, "The window is 2026-01-12 to 2026-01-19", "A whole week")


def in_zone(zone: str) -> str:
    """Return the keys of clock times that are declared to be those of a zone."""
    return f"order = \"hour::timestamp AT TIME ZONE '{zone}'\"\ntimezone = \"{zone}\""


PUBLIC = ('step = "1h"', 'step = "1h"\ngaps = "public"')


@pytest.mark.mutants
def test_gaps_are_hidden_unless_they_are_public(tmp_path: Path) -> None:
    hidden = plan(load(written(tmp_path)))
    scale = hidden.tables[0].calibrations[0].scale
    assert all(question.calibration.scale == scale for table in hidden.tables for question in table.questions)
    thin = recorded(4, missing=8)
    assert plan(load(written(tmp_path, rows=thin))).tables[0].calibrations[0].scale == scale
    public = plan(load(written(tmp_path, PUBLIC, rows=thin)))
    assert public.tables[0].calibrations[0].query.entries is not None
    assert "Which steps are missing: it is not published" in " ".join(map(str, hidden.facts))
    assert "Which steps were observed is public." in map(str, public.facts)
    with pytest.raises(CalibrationRefused, match="hidden"):
        plan(load(written(tmp_path, ('"quilt-exact"', '"laplace-exact"'))))
    plan(load(written(tmp_path, ('"quilt-exact"', '"laplace-exact"'), PUBLIC)))


@pytest.mark.sampled(3)
@pytest.mark.parametrize(("changes", "rows", "place"), [
    ([('every = "week"', 'window = "2026-W09"')], None, "table[0].window"),
    ([('every = "week"', 'window = "last week"')], None, "table[0].window"),
    ([('every = "week"', 'from = "2026-01-05"')], None, "table[0].to"),
    ([('every = "week"', 'from = "2026-01-05T00:30"\nto = "2026-01-06"')], None, "table[0].from"),
    ([('every = "week"', 'from = "2026-01-06"\nto = "2026-01-06"')], None, "table[0].to"),
    ([('every = "week"', 'window = "2026-W03"\nfrom = "2026-01-05"')], None, "table[0].window"),
    ([("until = 2026-02-02\n", "")], None, "table[0].every"),
    ([("until = 2026-02-02", 'until = "2026-01-01"')], None, "source.until"),
    ([('from = "2026-01-05"\n', "")], None, "source.from"),
    ([('step = "1h"\n', "")], None, "source.step"),
    ([('"count"', '"mean"'), ('states = ["busy"]', "codes = {calm = 0, busy = 1}")], None, "table[0].query"),
    ([("matrix = ", "initial = [1, 0]\nmatrix = ")], None, "belief.initial"),
    ([], "hour,state\n2026-01-04T23:00,calm\n2026-01-05T00:00,calm\n", "source.until"),
    ([], "hour,state\n2026-01-31T23:00,calm\n2026-02-02T00:00,calm\n", "source.until"),
    ([], "hour,state\n2026-01-06T00:30,calm\n2026-01-06T01:30,calm\n", "source.step"),
    ([], "hour,state\n2026-01-06T00:00,calm\n2026-01-06T00:00,busy\n", "source.order"),
])  # fmt: skip
def test_bad_windows_release_nothing(tmp_path: Path, changes: Any, rows: str | None, place: str) -> None:
    Ledger.open(tmp_path / "ledger.db")
    refusal = str(refused(written(tmp_path, *changes, rows=rows)))
    assert place in refusal
    assert not re.search("23:00|00:30,calm", refusal)


@pytest.mark.mutants
@pytest.mark.parametrize(("today", "local", "has_ended"), [
    ("2026-01-11T23:30+00:00", "", False),
    ("2026-01-12T00:00+00:00", "", True),
    ("2026-01-12T00:30+01:00", "", True),  # by the clock of this machine, where the file has no zone
    ("2026-01-12T00:30+01:00", "UTC", False),
    ("2026-01-11T19:00-05:00", "", True),  # in UTC
])  # fmt: skip
def test_a_window_that_has_not_ended_is_not_paid_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, today: str, local: str, has_ended: bool
) -> None:
    zone = [('order = "hour"', in_zone(local))] if local else []
    path = written(tmp_path, *zone, ("until = 2026-02-02", ""), INFLUENCE)
    monkeypatch.setattr(moments, "now", lambda: datetime.fromisoformat(today))
    foreseen = tf.dry_run(path, window="2026-W02")
    assert any("has not ended" in words for words in foreseen.refusals) is not has_ended
    if has_ended:
        assert release_file(path, window="2026-W02").tables
        return
    refusal = str(refused(path, kind=CalibrationRefused, window="2026-W02"))
    assert "2026-01-05 to 2026-01-12, which has not ended" in refusal
    assert "--allow-useless" in refusal
    assert release_file(path, window="2026-W02", allow_useless=True).tables


def test_a_window_goes_to_the_tables_of_its_length(tmp_path: Path) -> None:
    once = written(tmp_path, ('every = "week"', 'window = "2026-W02"'))
    with pytest.raises(InputError, match="no table is published regularly"):
        tf.dry_run(once, window="2026-W02")
    busy = {"states": ["busy"], "epsilon": 0.5}
    daily = publish("daily", "count", every="day", **busy), publish("once", "count", window="2026-W02", **busy)
    path = put(tmp_path, {"ward.toml": "\n".join([FILE, *daily])})
    for window, names in (("2026-W03", {"busy-2026-W03", "once"}), ("2026-01-14", {"daily-2026-01-14", "once"})):
        assert {item.name for item in load(path, window=window).spec.table} == names, "a table of one window stays"
    with pytest.raises(SpecError) as refused:  # no table is published each month: all are tried, and none has it
        load(path, window="2026-02")
    assert {fault.where[:2] for fault in refused.value.faults} == {("table", 0), ("table", 1)}


@pytest.mark.slow
def test_a_year_is_planned_before_the_first_release(tmp_path: Path) -> None:
    path = written(tmp_path)
    year = outlook(load(path), 52)
    assert year.rows[-1].releases == 52
    assert year.rows[-1].epsilon == one_week(path)
    assert year.rows[-1].added == 26
    assert year.fits is not None
    assert 7.3 < year.fits < 7.4
    assert [row.epsilon for row in year.rows] == sorted(row.epsilon for row in year.rows)
    assert outlook(load(written(tmp_path, SLOW_CHAIN)), 12).rows[-1].epsilon < 0.2  # .8586 by quilts
    least = outlook(load(written(tmp_path, SLOW_CHAIN, INFLUENCE)), 12)
    assert 0.5 < float(least.rows[-1].epsilon) < 0.6
    assert not (tmp_path / "ledger.db").exists()


def test_a_plan_takes_the_windows_of_one_person_and_of_all_for_one_table_each(tmp_path: Path) -> None:
    """Each week of a table with per = "both" was taken for a table of its own, published every week."""
    people = [
        ("budget = 2.0", 'unit = "who"\nbudget = 2.0'), ("matrix = ", "units_independent = true\nmatrix = "),
        ("epsilon = 0.5", 'epsilon = 0.5\nper = "both"'), ('"quilt-exact"', '"group-dp"'),
    ]  # fmt: skip
    seen = outlook(load(written(tmp_path, *people, rows="who,hour,state\n")), 2, is_sought=False)
    assert [(name, steps) for name, steps, *_ in seen.windows] == [("busy-units", 168), ("busy-pooled", 168)]
    assert [row.added for row in seen.rows] == [1, 2]


SLOW_CHAIN = ("[[0.9, 0.1], [0.4, 0.6]]", "[[0.99, 0.01], [0.02, 0.98]]")


@pytest.mark.mutants
@pytest.mark.parametrize(("mechanism", "keys"), [
    ("group-dp", 'from = "2026-01-05"\nuntil = "2026-05-01"\nstep = "1d"'),  # February has 28 days, March 31
    ("influence", 'from = "2026-03-27"\nuntil = "2026-04-01"\nstep = "1h"'),  # in Berlin the third day has 23 hours
])  # fmt: skip
def test_a_plan_counts_the_steps_that_each_window_has(tmp_path: Path, keys: str, mechanism: str) -> None:
    every = "month" if "1d" in keys else "day"
    toml = changed(
        FILE, ('step = "1h"\nfrom = "2026-01-05"\nuntil = 2026-02-02', keys), ('"quilt-exact"', f'"{mechanism}"'),
        ('every = "week"', f'every = "{every}"'), SLOW_CHAIN, ("budget = 2.0", "budget = 9.0"),
        *([('order = "hour"', in_zone("Europe/Berlin"))] if every == "day" else []),
    )  # fmt: skip
    path = put(tmp_path, {"ward.toml": toml, "ward.csv": "hour,state\n2026-03-28T00:00,calm\n"})
    names = [item.period for item in load(path).items]
    foreseen = outlook(load(path), len(names)).rows
    later = outlook(load(path, window=names[1]), 2).rows[-1].epsilon
    release_file(path, allow_useless=True)
    assert spent(tmp_path, "ward").epsilon == foreseen[-1].epsilon
    (tmp_path / "ledger.db").unlink()
    for name in names[1:3]:
        release_file(path, allow_useless=True, window=name, output=tmp_path / name, new_ledger=True)
    assert spent(tmp_path, "ward").epsilon == later


@pytest.mark.mutants
@pytest.mark.parametrize("before", ['window = "2026-W02"', ""], ids=["one window", "all of a calendar"])
def test_a_week_that_was_published_under_a_plain_name_is_not_paid_for_again(tmp_path: Path, before: str) -> None:
    week, more = ("2026-02-02", "2026-01-12"), ('every = "week"', before)
    path = written(tmp_path, week, more, weeks=1)
    release_file(path)
    paid = spent(tmp_path, "ward")
    outcome = release_file(written(tmp_path, weeks=1), window="2026-W02")
    assert [table.name for table in outcome.new] == []
    assert [table.name for table in outcome.there] == ["busy"]
    assert spent(tmp_path, "ward") == paid
    assert not (tmp_path / "out" / "busy-2026-W02.csv").exists()
    again = release_file(written(tmp_path, weeks=1), window="2026-W02", replace="busy", idempotency_key="2")
    assert [table.name for table in again.new] == ["busy-2026-W02"]
    other = release_file(written(tmp_path, ("epsilon = 0.5", "epsilon = 0.4"), weeks=2), window="2026-W03")
    assert [table.name for table in other.new] == ["busy-2026-W03"]


@pytest.mark.mutants
def test_what_is_published_is_said_with_the_next_window_and_the_line_to_paste(tmp_path: Path) -> None:
    path = written(tmp_path, weeks=1)
    succeed("release", path, "--window", "2026-W02")
    said = words_of(succeed("release", path, "--window", "2026-W02"))
    assert f"Next is 2026-W03, which is over on 2026-01-19: `takifugu release {path} --window 2026-W03`" in said
    put(tmp_path, {"ward.csv": recorded(2)})
    assert "Published busy-2026-W03" in words_of(succeed("release", path, "--window", "2026-W03"))


@pytest.mark.mutants
def test_a_database_is_free_again_after_its_release(tmp_path: Path) -> None:
    """It is closed by the release, and not by the next collection of garbage: DuckDB opens no file twice."""
    source = read_from("beds", "beds.duckdb", rows="samples", order="t", step=1, value="state", budget=9)
    chain = believe("markov-chain", states=["x", "y"], matrix=[[0.5, 0.5], [0.4, 0.6]])
    table = publish("n", "count", states=["x"], epsilon=1)
    path = put(tmp_path, {"r.toml": release_text(source, chain, table, expect={"source": "a test", "matters": 1000})})
    with duckdb.connect(str(tmp_path / "beds.duckdb")) as made:
        rows = "select i as t, case when i % 3 = 0 then 'x' else 'y' end as state from range(30) r(i)"
        made.execute(f"create table t as {rows}")
    gc.collect()
    gc.disable()
    try:
        outcome = release_file(path, allow_useless=True)
        duckdb.connect(str(tmp_path / "beds.duckdb")).close()
        assert len(outcome.tables) == 1
    finally:
        gc.enable()
