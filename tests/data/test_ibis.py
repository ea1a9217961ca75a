"""Ibis tables of DuckDB's are read as DuckDB's relations; those of other engines are refused."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import duckdb
import pytest

from takifugu.core.errors import InputError
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
    assert counted(ibis.memtable(duckdb.sql(ROWS).arrow().read_all())) == expected


def test_another_engine_is_refused_by_name(tmp_path: Path) -> None:
    lite = ibis.sqlite.connect(tmp_path / "a.db")
    lite.raw_sql("create table log (who text, at text, state text)")
    with pytest.raises(InputError, match="an Ibis table of sqlite") as caught:
        open_frame(lite.table("log"))
    assert "to_pyarrow" in str(caught.value)
