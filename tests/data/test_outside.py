"""Tables of engines that others bring: Ibis, PostgreSQL, and from outside the package."""

import copy
import gc
import pickle
import sqlite3
import tempfile
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import duckdb
import polars
import pytest
from tests.support.commands import ended, succeed
from tests.support.postgres import cluster
from tests.support.release_files import believe, publish, release_text, section

from takifugu.core.errors import DataError, EngineError, InputError, TakifuguError
from takifugu.data import Engine, Layout, Recode, open_frame, pieces
from takifugu.data import register_engine as register
from takifugu.data.engines import outside
from takifugu.releasing.file.kind import ReleaseFile
from takifugu.releasing.file.loading import load
from takifugu.releasing.planning.plan import plan
from takifugu.releasing.publishing.run import release_file


class Ring:
    """A table of an unknown library."""

    def __init__(self, columns: dict[str, list[Any]]) -> None:
        self.columns = columns


COLUMNS = {"who": ["a", "a", "b"], "minute": [1, 0, 0], "state": ["s", "w", "s"]}
STATES = Recode(("s", "w"))


@pytest.fixture(autouse=True)
def nothing_stays(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(outside, "_ENGINES", copy.deepcopy(outside._ENGINES))


@pytest.mark.parametrize("make", [
    polars.DataFrame, lambda columns: polars.LazyFrame(columns),
    lambda columns: duckdb.from_arrow(polars.DataFrame(columns).to_arrow()),
])  # fmt: skip
def test_its_tables_are_opened(make: Any) -> None:
    with pytest.raises(InputError, match="the data is a tests Ring"):
        open_frame(Ring(COLUMNS))
    register(Engine("ring", lambda data: isinstance(data, Ring), lambda ring: make(ring.columns)))
    table = open_frame(Ring(COLUMNS))
    assert table.names == ("who", "minute", "state")
    recorded = pieces(table, Layout("state", unit="who", order="minute"), STATES)
    assert [(piece.unit, piece.counts.tolist()) for piece in recorded] == [("a", [1, 1]), ("b", [1, 0])]
    with pytest.raises(DataError, match="keeps no order") as caught:
        pieces(table, Layout("state", unit="who"), STATES)
    assert caught.value.where == ("order",)


def test_rows_may_have_an_order_of_their_own_and_what_narwhals_knows_is_not_taken_away() -> None:
    register(Engine("ring", lambda data: isinstance(data, Ring), lambda ring: polars.DataFrame(ring.columns), True))
    recorded = pieces(open_frame(Ring(COLUMNS)), Layout("state", unit="who"), STATES)
    assert [piece.length for piece in recorded] == [2, 1]
    register(Engine("greedy", lambda data: True, lambda data: polars.DataFrame({"x": [1]})))
    assert open_frame(polars.DataFrame(COLUMNS)).names == ("who", "minute", "state")


def test_its_failures_are_not_quoted() -> None:
    def broken(ring: Ring) -> Any:
        raise RuntimeError(f"row {ring.columns['who']} is odd")

    register(Engine("ring", lambda data: isinstance(data, Ring), broken))
    with pytest.raises(EngineError, match="its engine failed") as caught:
        open_frame(Ring({"who": ["secret"]}))
    assert "secret" not in str(caught.value)
    assert b"secret" not in pickle.dumps(caught.value)


def test_bad_engines_are_refused() -> None:
    engine = Engine("ring", lambda data: False, lambda data: data)
    register(engine)
    for bad, rule in ((engine, "registered already"), (Engine("polars", bool, list), "registered already"),
                      (Engine("", bool, list), "under a name"), ("ring", "no engine"),
                      (Engine("odd", bool, 3), "no engine")):  # type: ignore[arg-type]  # fmt: skip
        with pytest.raises(InputError, match=rule):
            register(bad)  # type: ignore[arg-type]


# Ibis tables of DuckDB's are read as DuckDB's relations; the rows of other engines are copied, once.


ibis = pytest.importorskip("ibis")

ROWS = """
    select 'p' || i // 50 as who, timestamp '2026-03-29' + to_minutes(i % 50 * 15) as at,
        case i % 7 when 0 then ' walking ' when 1 then null else 'still' end as state
    from range(400) r(i) where i % 11 <> 3
"""
RULES = Layout("state", "who", order="at", step="15min", nulls="unobserved")
GAITS = Recode(("still", "walking"))


def counted(data: Any) -> list[Any]:
    return [(p.unit, p.length, p.observed, p.counts.tolist()) for p in pieces(open_frame(data), RULES, GAITS)]


def assert_counted(table: Any, rows: str) -> None:
    """Assert that an Ibis table has the integers of DuckDB's rows, whole or filtered."""
    expected = counted(duckdb.sql(rows))
    assert len(expected) == 8
    assert counted(table) == expected
    assert counted(table.filter(table.who != "p3")) == [one for one in expected if one[0] != "p3"]


def test_an_expression_has_the_integers_of_its_relation_until_it_vanishes() -> None:
    connection = ibis.duckdb.connect()
    connection.raw_sql(f"create table log as {ROWS}")
    log = connection.table("log")
    assert_counted(log, ROWS)
    assert_counted(ibis.memtable(duckdb.sql(ROWS).to_arrow_table()), ROWS)
    connection.raw_sql("drop table log")
    with pytest.raises(DataError, match="the Ibis table cannot be read: duckdb failed"):
        open_frame(log)


def test_the_rows_of_another_engine_are_copied(tmp_path: Path) -> None:
    lite = ibis.sqlite.connect(tmp_path / "a.db")
    lite.raw_sql("create table log (who text, at text, state text)").close()
    rows = duckdb.sql(f'select who, cast("at" as text), state from ({ROWS})').fetchall()
    with closing(sqlite3.connect(tmp_path / "a.db")) as file, file:
        file.executemany("insert into log values (?, ?, ?)", rows)
    assert counted(lite.table("log")) == counted(duckdb.sql(ROWS))


# Tables of PostgreSQL's, by Ibis and from the command line: the integers of DuckDB, and one state of the table.


psycopg = pytest.importorskip("psycopg", exc_type=ImportError)

MINUTES = """
    select 'p' || floor(i / 50.0)::int as who, timestamp '2026-03-29' + (i % 50) * interval '15 minutes' as at,
        case i % 7 when 0 then ' walking ' when 1 then null else 'still' end as state, i as "other.one"
    from generate_series(0, 399) r(i) where i % 11 <> 3
"""
FILE = release_text(
    section("[source]", name="minutes", rows="samples", unit="who", order="at", step="15min", value="state",
            nulls="unobserved", budget=5) + "\n{source}",
    believe("markov-chain", states=["still", "walking"], matrix=[[0.9, 0.1], [0.4, 0.6]], units_independent=True),
    publish("time", "histogram", epsilon=1),
    output="out", expect={"source": "a test", "matters": 100000},
)  # fmt: skip


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


def written(folder: Path, source: str = 'engine = "postgres"\ntable = "study.minutes"') -> Path:
    (folder / "f.toml").write_text(FILE.format(source=source), encoding="utf-8")
    return folder / "f.toml"


def counts(file: ReleaseFile) -> list[tuple[object, list[int]]]:
    return [(p.unit, p.counts.tolist()) for t in plan(file).tables for q in t.questions for p in q.data.pieces]


@pytest.mark.slow
def test_an_ibis_table_has_the_integers_of_duckdb(settings: dict[str, str]) -> None:
    assert_counted(table(), MINUTES)


@pytest.mark.slow
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
    of = [[(p.unit, p.length, p.counts.tolist()) for p in pieces(open_frame(data), rules, GAITS)]
          for data in (table("typed"), duckdb.sql(query))]  # fmt: skip
    assert of[0] == of[1]
    assert len(of[0]) == 3


@pytest.mark.slow
def test_the_command_line_has_the_integers_of_duckdb(settings: dict[str, str], tmp_path: Path) -> None:
    path = written(tmp_path)
    expected = counts(load(written(tmp_path, ""), duckdb.sql(MINUTES)))
    assert counts(load(written(tmp_path))) == expected
    succeed("release", path)
    assert (tmp_path / "out" / "time.csv").exists()
    assert not [*Path(tempfile.gettempdir()).glob("takifugu-rows-*/rows.duckdb")]


@pytest.mark.slow
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


@pytest.mark.slow
def test_a_table_that_vanishes_is_said_and_nothing_is_released(settings: dict[str, str], tmp_path: Path) -> None:
    minutes, path = table(), written(tmp_path, "")
    execute("drop table study.minutes")
    with pytest.raises(TakifuguError, match="the Ibis table cannot be read: postgres failed"):
        release_file(path, minutes)
    assert sorted(one.name for one in tmp_path.iterdir()) == ["f.toml"]


@pytest.mark.slow
@pytest.mark.parametrize(("source", "words"), [
    ('engine = "postgres"\ntable = "study.nights"', "source.table: PostgreSQL finds no table 'study.nights'"),
    ('engine = "postgres"\ntable = "nowhere.minutes"', "source.table: PostgreSQL finds no table 'nowhere.minutes'"),
    ('engine = "postgres"\nfile = "minutes.parquet"', "the engine 'postgres' opens tables"),
    ('engine = "postgres"', "has nothing to open"),
])  # fmt: skip
def test_what_is_not_there_is_said_in_one_line(
    settings: dict[str, str], tmp_path: Path, source: str, words: str
) -> None:
    done = ended(2, "release", written(tmp_path, source))
    assert words in done.stderr
    assert "nothing happened" in " ".join(done.stderr.split())
    assert sorted(one.name for one in tmp_path.iterdir()) == ["f.toml"]


@pytest.mark.slow
def test_a_server_that_is_not_there_is_said(
    settings: dict[str, str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PGPORT", "1")
    with pytest.raises(TakifuguError, match="PostgreSQL gives no connection"):
        release_file(written(tmp_path))
