"""What keys of today did to odd tables is one line of SQL, and reads what was meant."""

from pathlib import Path
from typing import Any

import pytest

from takifugu.data.relation.source import opened_table

DAY = {"from": "2026-10-25", "until": "2026-10-26"}
KEYS: dict[str, Any] = {"unit": "who", "order": "t", "value": "v", "step": "1h", "nulls": "unobserved"}

THREE = "{who: 'VARCHAR', t: 'VARCHAR', v: 'VARCHAR'}"
NEXT = "lead(t) over (partition by who order by t)"

#: The lines of a file, the keys that read it, and its counts of x and y.
RECIPES: dict[str, tuple[str, dict[str, Any], list[list[int]]]] = {
    "a format of times": ("who;t;v\nA;05.01.2026 10:00;x", {"order": "strptime(t, '%d.%m.%Y %H:%M')"}, [[1, 0]]),
    "seconds since 1970": ("who;t;v\nA;1767607200;x", {"order": "to_timestamp(t::bigint)", "timezone": "UTC"}, [[1,
    0]]),
    "a date and a time": ("who;d;t;v\nA;2026-01-05;10:00;x", {"order": "d::timestamp + t::interval"}, [[1, 0]]),
    "a clock that is rounded": (
        "who;t;v\nA;2026-01-05T09:59:40;x",
        {"order": "time_bucket(INTERVAL '1 hour', t::timestamp + INTERVAL '30 min')"}, [[1, 0]]),
    "a word for missing": ("who;t;v\nA;2026-01-05T10:00;NA", {"value": "nullif(v, 'NA')"}, [[0, 0]]),
    "rows that are there twice": (
        "who,t,v\nA,2026-01-05T10:00,x\nA,2026-01-05T10:00,x", {"sql": "select distinct * from read_csv('a.csv')"}, [[1,
        0]]),
    "the row that was written last": (
        "who,t,v,at\nA,2026-01-05T10:00,x,1\nA,2026-01-05T10:00,y,2",
        {"sql": "from read_csv('a.csv') qualify row_number() over (partition by who, t order by \"at\" desc) = 1"}, [[0,
        1]]),
    "a wide table": (
        "id,2026-01-05T10:00,2026-01-05T11:00\nA,x,y",
        {"sql": "from read_csv('a.csv') unpivot include nulls (v for t in (columns(* exclude (id))))", "unit": "id"},
        [[1, 1]]),
    "months": (
        "who,t,v\nA,2026-01,x\nA,2026-02,y", {"order": "datediff('month', date '2000-01-01', (t || '-01')::date)",
        "step": 1}, [[1, 1]]),
    "days of Excel": ("who,t,v\nA,46027,x", {"order": "date '1899-12-30' + t::int", "step": "1d"}, [[1, 0]]),
    "no header": (
        "A;2026-01-05T10:00;x",
        {"sql": f"from read_csv('a.csv', header = false, delim = ';', columns = {THREE})"}, [[1, 0]]),
    "short lines": (
        "who,t,v,w\nA,2026-01-05T10:00,x", {"sql": "from read_csv('a.csv', null_padding = true)"}, [[1, 0]]),
    "decimal commas": (
        "who;t;v\nA;2026-01-05T10:00;1.234,5", {"value": "replace(replace(v, '.', ''), ',', '.')::double",
        "bins": {"x": [0, 1000], "y": [1000, 2000]}}, [[0, 1]]),
    "names with .0": (
        "who,t,v\n7.0,2026-01-05T10:00,x", {"unit": r"regexp_replace(who, '^([0-9]{1,15})[.]0$', '\1')"}, [[1, 0]]),
    "a duration": (
        "who,t,d,v\nA,2026-10-25T10:00,7200,x",
        {"rows": "stays", "end": "t::timestamp + to_seconds(d::int)", **DAY, "roster": ["A"], "default_state": "y"},
        [[2, 22]]),
    "stays that end where the next one starts": (
        "who,t,end,v\nA,2026-10-25T10:00,2026-10-25T15:00,x\nA,2026-10-25T12:00,2026-10-25T13:00,x",
        {"rows": "stays", "end": "end", **DAY, "roster": ["A"], "default_state": "y",
         "sql": f"select * replace (least(\"end\", {NEXT}) as \"end\") from read_csv('a.csv')"}, [[3, 21]]),
    "clocks that show an hour twice": (
        "who,t,v\nA,2026-10-25 01:00,y\nA,2026-10-25 02:00,x\nA,2026-10-25 02:00,y\nA,2026-10-25 03:00,x",
        {"timezone": "Europe/Paris", "order": "t", "sql": """
            with lines as (select *, row_number() over () as line from read_csv('a.csv'))
            select who, v, t::timestamp at time zone 'Europe/Paris' - CASE
                WHEN row_number() over (partition by who, t order by line) = 1
                    and count(*) over (partition by who, t) = 2
                THEN INTERVAL 1 hour ELSE INTERVAL 0 hour END as t
            from lines"""}, [[2, 2]]),
}  # fmt: skip


@pytest.mark.sampled(3)
@pytest.mark.parametrize("name", RECIPES)
def test_an_odd_table_is_read_by_a_line_of_sql(name: str, tmp_path: Path) -> None:
    text, keys, counts = RECIPES[name]
    (tmp_path / "a.csv").write_text(text + "\n")
    file = {} if "sql" in keys else {"file": "a.csv"}
    with opened_table({**KEYS, **file, **keys}, ["x", "y"], tmp_path) as source:
        read = source.counts()
    assert read.counts.tolist() == counts
    assert read.complete.all() or name == "a word for missing"
