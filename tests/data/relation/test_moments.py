"""A moment has no clocks of its own: what would be those of the connection, in which nobody lives, is refused.

DuckDB's hour() of half past midnight in Berlin is 22 or 23 where the connection's clocks show UTC.
"""

import re
import tomllib
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from takifugu.core.errors import DataError, TakifuguError
from takifugu.data.relation.source import opened_table

START = datetime(2026, 7, 1, 22, 30, tzinfo=UTC)  # half past midnight in Berlin
KEYS: dict[str, Any] = {"unit": "p", "order": "t", "value": "v", "step": "1h", "timezone": "Europe/Berlin"}
STATES = ["x", "22", "0"]


def frame() -> Any:
    moments = [START + timedelta(hours=hour) for hour in range(2)]
    clocks = [moment.replace(tzinfo=None) for moment in moments]
    columns = {"p": ["Ana"] * 2, "v": ["x"] * 2, "t": pa.array(moments, pa.timestamp("us", "UTC")), "c": clocks}
    columns["m"] = columns["t"]
    return pa.table({**columns, "s": [moment.isoformat() for moment in moments], "n": ["2026-07-01 22:30"] * 2})


def counted(folder: Path, **keys: Any) -> list[int]:
    with opened_table({**KEYS, **keys}, STATES, folder, frame()) as source:
        counts: list[int] = source.counts().counts[0].tolist()
        return counts


def test_an_hour_is_that_of_clocks_in_a_declared_zone(tmp_path: Path) -> None:
    here = "CASE WHEN hour(m AT TIME ZONE 'Europe/Berlin') = 0 THEN '0' ELSE 'x' END"
    assert counted(tmp_path, value=here) == [1, 0, 1]
    assert counted(tmp_path, sql=f"select p, t, m, {here} as v from data") == [1, 0, 1]


@pytest.mark.sampled(2)
@pytest.mark.parametrize("sql", [
    "hour(t)", "date_trunc('day', t)", "strftime(t, '%H')", "date_part('hour', t)", "dayname(t)", "t::date",
    "t::varchar", "substr(t::varchar, 12, 2)", "concat('', t)", "t || ''", "c::timestamptz", "n::timestamptz",
    "try_cast(n as timestamptz)", "t < c", "t >= '2026-07-01'", "t between '2026-07-01' and t", "coalesce(t, c)",
    "CASE WHEN v = 'x' THEN t ELSE c END", "t in (c, t)", "greatest(t, '2026-07-01')", "t - c",
    "nullif(t, '2026-07-01')",
    "make_timestamptz(2026, 7, 1, 0, 30, 0.0)", "datediff('day', t, t)", "list_value(t)", "abs(hour(t))",
    "CASE WHEN hour(t) = 22 THEN 1 END", "lower(t::text)", "last_day(t)", "if(v = 'x', t, c)",
])  # fmt: skip
def test_what_shows_clocks_of_the_connection_is_refused_in_roles_and_in_sql(sql: str, tmp_path: Path) -> None:
    value = f"CASE WHEN ({sql}) IS NULL THEN '0' ELSE 'x' END"
    places = (
        {"sql": f"select p, t, {value} as v from data"},
        {"sql": f"select * from (select *, {sql} as o from data) where o is not null"},
        {"sql": f"with a as (select * replace ({value} as v) from data) from a"},
        {"sql": f"select * from data where ({sql}) is not null"},
        {"sql": f"select * from data qualify row_number() over (partition by p, {sql} order by t, n) > 0"},
        {"where": f"({sql}) is not null"},
    )
    for keys in ({"value": value}, places[len(sql) % len(places)]):  # each expression in a place, each place with some
        with pytest.raises(TakifuguError, match="of clocks somewhere"):
            counted(tmp_path, **keys)


def test_tables_of_two_kinds_of_times_are_not_put_below_each_other(tmp_path: Path) -> None:
    with pytest.raises(TakifuguError, match="clocks below moments by UNION"):
        counted(tmp_path, sql="select p, v, t from data union all select p || '2', v, c from data")
    other = "(select p as q from data) b on cast(hour(a.t) as varchar) = b.q"
    with pytest.raises(TakifuguError, match="of clocks somewhere"):
        counted(tmp_path, sql=f"select a.* from data a join {other}")


@pytest.mark.sampled(6)
@pytest.mark.parametrize("sql", [
    "t", "t + INTERVAL '1 hour' - INTERVAL '60 min'", "s::timestamptz", "coalesce(t, s::timestamptz)",
    "time_bucket(INTERVAL '30 min', t)", "c AT TIME ZONE 'UTC'",
    "(t AT TIME ZONE 'Asia/Tokyo') AT TIME ZONE 'Asia/Tokyo'",
    "make_timestamptz(epoch_us(t))", "to_timestamp(epoch(t)::bigint)", "strptime(s, '%Y-%m-%dT%H:%M:%S%z')",
    "CASE WHEN t > timestamptz '2026-01-01 00:00:00+01' THEN t END", "greatest(t, t)", "nullif(t, NULL)",
    "if(t = t and t - t < INTERVAL '1 hour', t, t)",
])  # fmt: skip
def test_moments_that_are_moments_everywhere_are_read(sql: str, tmp_path: Path) -> None:
    assert counted(tmp_path, order=sql) == [2, 0, 0]
    assert counted(tmp_path, sql=f"select p, v, {sql} as t from data") == [2, 0, 0]
    ordered = f"select p, v, lag({sql}, 0) over (partition by p order by t) as t from data"
    assert counted(tmp_path, sql=ordered) == [2, 0, 0]


def test_the_bucket_of_a_step_can_be_pasted(tmp_path: Path) -> None:
    """Steps of seven minutes are counted from 1970, of texts with an offset, too."""
    for order in ("t", "s"):
        keys = {
            "order": order,
            "step": "7min",
            "from": datetime(2026, 7, 1, tzinfo=UTC),
            "until": datetime(2026, 7, 2, 22, 40, tzinfo=UTC),
        }
        with pytest.raises(TakifuguError) as error:
            counted(tmp_path, **keys)
        (line,) = re.findall("order = .*", error.value.line)
        assert counted(tmp_path, **{**keys, **tomllib.loads(line)}) == [2, 0, 0]


TEXTS = ("2026-07-01T10:00:00Z", "2026-07-01 10:00+02", "2026-07-01 10:00:00.5-0130", "2026-07-01 10:00 PM",
         "2026-07-01 10:00 Europe/Paris")  # fmt: skip


@pytest.mark.mutants
@pytest.mark.parametrize("text", TEXTS)
def test_what_a_cast_to_clocks_would_drop_is_refused(text: str, tmp_path: Path) -> None:
    """DuckDB 2.0 drops it, in any cast and in columns of read_csv(): ten of the evening was ten of the morning."""
    (tmp_path / "a.csv").write_text(f"p,s,v\na,2026-07-01 09:00,x\na,{text},x\n")
    (tmp_path / "a.jsonl").write_text(f'{{"p": "a", "s": "{text}", "v": "x"}}\n')
    keys: dict[str, Any] = {**KEYS, "order": "s", "timezone": None}
    for kind in ("timestamp", "datetime", "date", "timestamp_s", "time"):
        columns = f"columns = {{p: 'VARCHAR', s: '{kind}', v: 'VARCHAR'}}"
        for more in (
            {"file": "a.csv", "order": f"date '2026-01-01' + cast(s as {kind})" if kind == "time" else f"s::{kind}"},
            {"file": "a.csv", "value": f"coalesce(try_cast(s as {kind})::varchar, v)"},
            {"sql": f"select p, cast(s as {kind}) as s, v from read_csv('a.csv')"},
            {"sql": f"from read_csv('a.csv', header = true, {columns})"},
            {"sql": f"from read_json('a.jsonl', {columns})"},
        ):
            with pytest.raises(DataError, match="more behind its time, such as an offset from UTC or PM") as error:
                opened_table({**keys, **more}, STATES, tmp_path)
            assert text not in error.value.line


@pytest.mark.parametrize(("kind", "text", "words"), [
    ("TIMESTAMPTZ", "2026-07-01 10:00", "no offset from UTC"), ("INTEGER", "1_000", "reads as another number"),
])  # fmt: skip
def test_columns_of_read_csv_are_casts(kind: str, text: str, words: str, tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text(f"p,s,v\na,{text},x\n")
    sql = f"from read_csv('a.csv', header = true, columns = {{p: 'VARCHAR', s: '{kind}', v: 'VARCHAR'}})"
    with pytest.raises(DataError, match=words):
        opened_table({**KEYS, "order": "s", "sql": sql}, STATES, tmp_path)


@pytest.mark.parametrize("zone", [None, "Europe/Berlin"])
def test_the_printed_line_makes_one_of_two_kinds_of_times(zone: str | None, tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("p,s,v\na,2026-07-01T10:00:00,x\na,2026-07-01T10:00:00+01:00,x\n")
    keys = {**KEYS, "file": "a.csv", "order": "s", "timezone": zone}
    with pytest.raises(DataError, match="holds some") as error, opened_table(keys, STATES, tmp_path) as source:
        source.counts()
    order, _, other = error.value.fix.partition(", with your formats, and ")
    with opened_table({**keys, **tomllib.loads(order), **tomllib.loads(other)}, STATES, tmp_path) as source:
        times = source.opened.relation.rows('select epoch("order") from "takifugu source"')
    assert [int(time) for (time,) in times] == [1782892800, 1782896400]  # 8 and 9 o'clock in UTC
