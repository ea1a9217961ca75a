"""Ibis tables of DuckDB's are read as DuckDB's relations; the rows of other engines are copied, once."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import duckdb
import pytest

from takifugu.core.errors import DataError
from takifugu.data import Layout, Recode, open_frame, pieces

ibis = pytest.importorskip("ibis")

ROWS = """
    select 'p' || i // 50 as who, timestamp '2026-03-29' + to_minutes(i % 50 * 15) as at,
        case i % 7 when 0 then ' walking ' when 1 then null else 'still' end as state
    from range(400) r(i) where i % 11 <> 3
"""
RULES = Layout("state", "who", order="at", step="15min", nulls="unobserved")
STATES = Recode(("still", "walking"))


def counted(data: Any) -> list[Any]:
    return [(p.unit, p.length, p.observed, p.counts.tolist()) for p in pieces(open_frame(data), RULES, STATES)]


def test_an_expression_has_the_integers_of_its_relation() -> None:
    connection = ibis.duckdb.connect()
    connection.raw_sql(f"create table log as {ROWS}")
    log = connection.table("log")
    expected = counted(duckdb.sql(ROWS))
    assert len(expected) == 8
    assert counted(log) == expected
    assert counted(log.filter(log.who != "p3")) == [one for one in expected if one[0] != "p3"]
    assert counted(ibis.memtable(duckdb.sql(ROWS).to_arrow_table())) == expected


def test_the_rows_of_another_engine_are_copied(tmp_path: Path) -> None:
    lite = ibis.sqlite.connect(tmp_path / "a.db")
    lite.raw_sql("create table log (who text, at text, state text)").close()
    rows = duckdb.sql(f"select who, cast(\"at\" as text), state from ({ROWS})").fetchall()
    with closing(sqlite3.connect(tmp_path / "a.db")) as file, file:
        file.executemany("insert into log values (?, ?, ?)", rows)
    assert counted(lite.table("log")) == counted(duckdb.sql(ROWS))


def test_a_table_that_vanishes_is_said(tmp_path: Path) -> None:
    connection = ibis.duckdb.connect()
    connection.raw_sql(f"create table log as {ROWS}")
    log = connection.table("log")
    connection.raw_sql("drop table log")
    with pytest.raises(DataError, match="the Ibis table cannot be read: duckdb failed"):
        open_frame(log)
