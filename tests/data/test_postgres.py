"""Tables of PostgreSQL's, by Ibis and from the command line: the integers of DuckDB, and one state of the table."""

from __future__ import annotations

import gc
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import duckdb
import pytest
from click.testing import CliRunner, Result
from tests.support.postgres import cluster

from takifugu.cli import main
from takifugu.core.errors import TakifuguError
from takifugu.data import Layout, Recode, open_frame, pieces
from takifugu.releasing.file.kind import ReleaseFile
from takifugu.releasing.file.loading import load
from takifugu.releasing.planning.plan import plan
from takifugu.releasing.publishing.run import release_file

ibis = pytest.importorskip("ibis")
psycopg = pytest.importorskip("psycopg", exc_type=ImportError)

pytestmark = pytest.mark.slow

MINUTES = """
    select 'p' || floor(i / 50.0)::int as who, timestamp '2026-03-29' + (i % 50) * interval '15 minutes' as at,
        case i % 7 when 0 then ' walking ' when 1 then null else 'still' end as state, i as "other.one"
    from generate_series(0, 399) r(i) where i % 11 <> 3
"""
RULES = Layout("state", "who", order="at", step="15min", nulls="unobserved")
STATES = Recode(("still", "walking"))
FILE = """
ledger = "ledger.db"
output = "out"
[expect]
source = "a test"
matters = 100000
[source]
name = "minutes"
{source}
rows = "samples"
unit = "who"
order = "at"
step = "15min"
value = "state"
nulls = "unobserved"
budget = 5
[belief]
kind = "markov-chain"
states = ["still", "walking"]
matrix = [[0.9, 0.1], [0.4, 0.6]]
units_independent = true
[[release]]
name = "time"
query = "histogram"
epsilon = 1
"""


@pytest.fixture(scope="module")
def server() -> Iterator[dict[str, str]]:
    with cluster() as settings:
        yield settings


@pytest.fixture
def settings(server: dict[str, str], monkeypatch: pytest.MonkeyPatch) -> Iterator[dict[str, str]]:
    for name, value in server.items():
        monkeypatch.setenv(name, value)
    execute("drop schema if exists study cascade", "create schema study", f"create table study.minutes as {MINUTES}")
    yield server
    gc.collect()


def execute(*statements: str) -> None:
    with psycopg.connect(autocommit=True) as connection:
        for statement in statements:
            connection.execute(statement)


def table(name: str = "minutes") -> Any:
    return ibis.postgres.from_connection(psycopg.connect(autocommit=True)).table(name, database="study")


def counted(data: Any) -> list[Any]:
    return [(p.unit, p.length, p.observed, p.counts.tolist()) for p in pieces(open_frame(data), RULES, STATES)]


def written(folder: Path, source: str = 'engine = "postgres"\ntable = "study.minutes"') -> Path:
    (folder / "f.toml").write_text(FILE.format(source=source), encoding="utf-8")
    return folder / "f.toml"


def counts(file: ReleaseFile) -> list[tuple[object, list[int]]]:
    return [(p.unit, p.counts.tolist()) for t in plan(file).tables for q in t.questions for p in q.data.pieces]


def invoke(*words: object) -> Result:
    return CliRunner().invoke(main, [str(word) for word in words], catch_exceptions=False)


def test_an_ibis_table_has_the_integers_of_duckdb(settings: dict[str, str]) -> None:
    expected = counted(duckdb.sql(MINUTES))
    assert len(expected) == 8
    minutes = table()
    assert counted(minutes) == expected
    assert counted(minutes.filter(minutes.who != "p3")) == [one for one in expected if one[0] != "p3"]


@pytest.mark.parametrize(("order", "step"), [
    ("(timestamp '2026-03-29' + (i % 50) * interval '15 minutes')::timestamptz", "15min"),
    ("(date '2026-03-01' + (i % 50)::int)::date", "1d"), ("(i % 50)::numeric(6, 1) / 2", 0.5),
    ("(i % 50)::smallint", 1), ("(i % 50)::double precision / 4", 0.25), ("(i % 50)::varchar(9)", 1),
])  # fmt: skip
def test_an_order_of_any_type_has_the_steps_of_duckdb(settings: dict[str, str], order: str, step: object) -> None:
    state = "case when i % 3 = 0 then 'walking' else 'still' end"
    query = f"select floor(i / 50.0)::int as who, {order} as at, {state} as state from generate_series(0, 149) r(i)"
    execute(f"create table study.typed as {query}")
    rules = Layout("state", "who", order="at", step=step, nulls="unobserved")  # type: ignore[arg-type]
    of = [[(p.unit, p.length, p.counts.tolist()) for p in pieces(open_frame(data), rules, STATES)]
          for data in (table("typed"), duckdb.sql(query))]  # fmt: skip
    assert of[0] == of[1]
    assert len(of[0]) == 3


def test_the_command_line_has_the_integers_of_duckdb(settings: dict[str, str], tmp_path: Path) -> None:
    path = written(tmp_path)
    expected = counts(load(written(tmp_path, ""), duckdb.sql(MINUTES)))
    assert counts(load(written(tmp_path))) == expected
    done = invoke("release", path)
    assert done.exit_code == 0, done.output
    assert (tmp_path / "out" / "time.csv").exists()
    assert not [*Path(tempfile.gettempdir()).glob("takifugu-rows-*/rows.duckdb")]


def test_all_scans_read_one_state_of_the_table(settings: dict[str, str], tmp_path: Path) -> None:
    path = written(tmp_path)
    before = counts(load(path))
    gc.collect()
    file = load(path)
    execute("delete from study.minutes where who <> 'p1'")
    again = load(path)  # while somebody has the table
    assert counts(file) == before
    assert counts(again) == before
    del file, again
    gc.collect()
    assert [unit for unit, _ in counts(load(path))] == ["p1"]


def test_a_table_that_vanishes_is_said_and_nothing_is_released(settings: dict[str, str], tmp_path: Path) -> None:
    minutes, path = table(), written(tmp_path, "")
    execute("drop table study.minutes")
    with pytest.raises(TakifuguError, match="the Ibis table cannot be read: postgres failed"):
        release_file(path, minutes)
    assert sorted(one.name for one in tmp_path.iterdir()) == ["f.toml"]


@pytest.mark.parametrize(("source", "words"), [
    ('engine = "postgres"\ntable = "study.nights"', "source.table: PostgreSQL finds no table 'study.nights'"),
    ('engine = "postgres"\ntable = "nowhere.minutes"', "source.table: PostgreSQL finds no table 'nowhere.minutes'"),
    ('engine = "postgres"\nfile = "minutes.parquet"', "the engine 'postgres' opens tables"),
    ('engine = "postgres"', "has nothing to open"),
])  # fmt: skip
def test_what_is_not_there_is_said_in_one_line(
    settings: dict[str, str], tmp_path: Path, source: str, words: str
) -> None:
    done = invoke("release", written(tmp_path, source))
    assert done.exit_code == 2
    assert words in done.stderr
    assert "nothing happened" in " ".join(done.stderr.split())
    assert sorted(one.name for one in tmp_path.iterdir()) == ["f.toml"]


def test_a_server_that_is_not_there_is_said(
    settings: dict[str, str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PGPORT", "1")
    with pytest.raises(TakifuguError, match="PostgreSQL gives no connection"):
        release_file(written(tmp_path))
