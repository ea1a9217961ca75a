"""SQL and expressions: what is not on the list of what is allowed is refused, and nothing is read that is not named."""

import random
import re
from collections import Counter
from collections.abc import Iterator
from itertools import product
from pathlib import Path
from typing import Any

import duckdb
import pytest

from takifugu.core.errors import InputError, TakifuguError, faults_in
from takifugu.data.relation.keys import Source
from takifugu.data.relation.roles import Opened, open_source
from takifugu.data.sql import allowed
from takifugu.data.sql.judge import Judge
from takifugu.data.sql.scopes import Rows, Scope, together
from takifugu.data.sql.tree import expression, parsed

KEYS: dict[str, Any] = {"unit": "who", "order": "t", "value": "v", "step": "1h"}
READ = "read_csv('a.csv')"
FUNCTIONS = (
    duckdb.connect()
    .execute("select distinct function_name, function_type, stability from duckdb_functions() order by all")
    .fetchall()
)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "a.csv").write_text("who,t,v,w\nAna,2026-01-05T00:00,x,1\nAna,2026-01-05T01:00,y,2\n")
    (tmp_path / "secret.csv").write_text("who,t\nGeheim,2\n")
    duckdb.sql("select 'Ana' as who, 1 as t, 'x' as v").write_parquet(str(tmp_path / "p.parquet"))
    return tmp_path


def opened(folder: Path, **keys: Any) -> Opened:
    if "sql" not in keys:
        keys.setdefault("file", "a.csv")
    return open_source(Source.of(KEYS | keys, ["x", "y"]), folder, str(folder / "temporary"))


def refused(folder: Path, **keys: Any) -> str:
    with pytest.raises(TakifuguError) as error:
        opened(folder, **keys)
    words = error.value.line
    assert not any(value in words for value in ("Ana,", "Geheim", "LINE 1", "Original Line", "Traceback")), words
    assert all(fault.where for fault in faults_in(error.value)), words
    return words


EXPRESSIONS = (
    "random()", "uuid()", "gen_random_uuid()", "now()", "today()", "current_date", "current_timestamp", "localtime",
    "get_current_time()", "age(t::timestamp)", "getenv('HOME')", "current_setting('threads')", "getvariable('a')",
    "current_user", "version()", "nextval('s')", "setseed(.5)", "txid_current()", "current_query()", "error('x')",
    "write_log('x')", "sleep_ms(1)", "count(*)", "max(v)", "any_value(v)", "first(v)", "list(v)", "string_agg(v, ',')",
    "sum(w) over ()", "row_number() over ()", "lag(v) over (order by t)", "(select 1)", "(select v)",
    "(select content from read_text('secret.csv'))", "v in (select who from read_csv('secret.csv'))",
    "exists(select 1)", "array(select 1)", "unnest([1, 2])", "*", "columns(*)", "columns('v')", "$1", "?",
    "x -> x + 1", "list_transform([v], lambda x: x)", "list_reduce([1], lambda a, b: a)", "apply([v], x -> x)",
    "v collate nocase", "v::blob", "v::bit", "v::int[]", "v::struct(a int)", "v::map(int, int)", "v::made_up",
    "hash(v)",
    "sin(w::double)", "exp(w::double)", "rowid", "filename", "main.lower(v)", "system.main.lower(v)", "a.b.c.d",
    "no_such_column", "no_such_function(v)", "lower(v) filter (where true)", "lower(distinct v)", "list_sort([v])",
    "query('select 1')", "read_text('secret.csv')", "glob('*')", "json_serialize_sql('select 1')",
    "json_execute_serialized_sql('{}')", "getenv(v)", "pg_sleep(1)", "typeof(v)", "v; drop table x", "v -- ",
    "1) from x --",
    "v as w", "v, w", "distinct v", "v from a", "v where true", "v limit 1", "v order by 1", "v union select 1",
    "create_sort_key(v, 'a')", "in_search_path('a', 'b')", "stats(v)", "vector_type(v)", "alias(v)", "get_type(v)",
    "enum_range(v)", "md5_number(v)", "generate_series(1, 2)", "range(3)", "try(error('x'))", "cast(v as made_up)",
    "nfc_normalize(v, v) over ()", "make_type('int')", "replace_type(v, v, v)", "map(['a'], [1])['a'] over ()",
    "v::uuid::blob", "list_value(v)[1] || (select 1)", "struct_pack(a := v).a || random()", "[random()]",
    "{'a': random()}", "CASE WHEN random() < .5 THEN v ELSE w END", "coalesce(v, uuid()::varchar)",
    "nullif(v, current_user)", "v IN (random()::varchar, 'x')", "v BETWEEN 'a' AND getenv('HOME')",
    "lower(getenv('PATH'))", "strftime(now(), '%Y')", "date_diff('day', t::timestamp, now()::timestamp)",
    "age(now())", "current_schema()", "current_database()", "current_catalog", "session_user", "user",
    "pg_typeof(v)", "pi() * random()", "v || current_time::varchar", "extract(epoch from now())",
    "date_trunc('day', current_timestamp)", "epoch_ms(now())", "to_days(random()::int)",
    "quantile_cont(w::double, .5)", "mode(v)", "arg_max(v, w)", "median(w::int)", "count(v) over (partition by who)",
    "first_value(v) over (order by t)", "ntile(4) over (order by t)", "rank() over ()", "lag(v, 1) over ()",
    "max(v) filter (where w = '1')", "(values ('x'))", "(from read_csv('secret.csv') select who)",
    "v = any(select who from read_csv('secret.csv'))", "(select max(v) from a)", "not exists (select 1)",
    "array_agg(v)", "histogram(v)", "approx_count_distinct(v)", "list_filter([v], x -> x = v)",
    "list_aggregate([v], 'count')", "list_transform(['a'], x -> getenv(x))", "[x for x in [v]]",
    "unnest(string_split(v, ','))", "regexp_split_to_table(v, ',')", "string_split(v, ',')[random()::int]",
    "a.csv.v", "\"no such\"", "$v", ":v", "v IS DISTINCT FROM uuid()::varchar", "try_cast(random() as varchar)",
    "v::made_up[]", "v::varchar collate de", "v COLLATE nfc", "sniff_csv('a.csv')", "read_blob('secret.csv')",
    "parquet_scan('p.parquet')", "from_json(v, '\"x\"')", "system('ls')", "shell('ls')", "load_extension('x')",
    "pragma_version()", "duckdb_settings()", "pg_read_file('x')", "format('{}', random())", "printf('%s', now())",
    "set_config('threads', '1')", "current_setting('home_directory')", "v; attach 'x.db'", "v) from x; --", "v /* ",
    "'unclosed", "\"unclosed", "v ||", "", " ", "case", "v as", "v v", "select v", "from a", "\u0000", "v\u0000w",
    "DEFAULT", "row(v, random())", "md5(random()::varchar)", "sha256(uuid()::varchar)",
    "levenshtein(v, (select 'x'))", "greatest(v, (select 'x'))", "v like (select 'x')",
    "time_bucket(interval 1 hour, now())", "v is null or (select true)", "columns(*)::varchar", "columns(c -> true)",
    "COLUMNS(['v'])", "t.*", "v.*", "* exclude (t)", "* replace (1 as v)", "v in (values ('x'))",
)  # fmt: skip
ROLES = ("unit", "order", "value", "where")
FINE = {("value", "v -- ")}


@pytest.mark.sampled(2)
@pytest.mark.parametrize("text", EXPRESSIONS)
def test_an_expression_outside_the_list_is_refused(text: str) -> None:
    if text == "v -- ":  # a comment
        return
    scope = Scope((("", Rows.of(0, ["who", "t", "v", "w"])),), {})
    with pytest.raises(InputError):
        Judge("value").value(expression(text, "value"), scope)


@pytest.mark.slow
@pytest.mark.parametrize(("role", "text"), [pair for pair in product(ROLES, EXPRESSIONS) if pair not in FINE])
def test_no_expression_does_more_than_compute_one_value_of_a_row(role: str, text: str, folder: Path) -> None:
    refused(folder, **{role: text})


STATEMENTS = (
    "", "select", "selec x", "select 1", "values (1)", "show tables", "describe x", "pragma version", "set threads = 1",
    "attach 'x.db'", "copy (select 1) to 'o.csv'", f"create table x as from {READ}", "load json", "install httpfs",
    "call pragma_version()", "explain select 1", f"from {READ}; from {READ}", f"delete from {READ}",
    "export database 'x'",
    "from read_csv('a.csv', delim = concat(',', ''))", "from read_csv('a.csv', delim = lower(','))",
    f"from {READ} limit 1", f"from {READ} offset 1", f"from {READ} limit 50%", f"from {READ} using sample 50%",
    f"select * from {READ} tablesample 3", f"select distinct on (who) * from {READ}", f"from {READ} group by all",
    f"select who, count(*) as v, t from {READ} group by all", f"select who, t, max(v) as v from {READ} group by who, t",
    f"select who from {READ} group by who having count(*) > 1", f"from {READ} a join {READ} b on a.t < b.t",
    f"from {READ} a, {READ} b", f"from {READ} natural join {READ} b", f"from {READ} a positional join {READ} b",
    f"from {READ} a asof join {READ} b on a.t >= b.t", f"from {READ} a full join {READ} b on a.t = b.t",
    f"from {READ} a right join {READ} b on a.t = b.t", f"from {READ} a cross join {READ} b",
    f"from {READ} a join {READ} b on a.who = b.who or true", f"from {READ} a join {READ} b on true",
    f"from {READ} a, lateral (select a.v as z) b", f"from (pivot {READ} on v using count(*))",
    f"with recursive r as (select 1 as n union all select n + 1 from r) from r, {READ}",
    f"from (with s as (from {READ}) from s)", f"from {READ} except from {READ}", f"from {READ} intersect from {READ}",
    "from 'a.csv'", "from a.csv", "from no_such_table", "from duckdb_tables()", "from duckdb_settings()",
    "from duckdb_secrets()", "from range(3)", "from generate_series(1, 3)", "from read_text('a.csv')",
    "from read_blob('a.csv')", "from glob('*')", "from sniff_csv('a.csv')", "from query('select 1')",
    "from query_table('x')", "from parquet_metadata('p.parquet')", "from read_csv_auto('a.csv')",
    "from test_all_types()",
    "from read_csv('a' || '.csv')", "from read_csv(getenv('X'))", "from read_csv(['a.csv', lower('A.csv')])",
    "from read_csv()", "from read_csv('no such.csv')", "from read_csv('https://example.org/x.csv')",
    "from read_csv('s3://a/b.csv')",
    "from read_csv('a.csv', all_varchar = false)", "from read_csv('a.csv', auto_detect = true)",
    "from read_csv('a.csv', sample_size = 1)", "from read_csv('a.csv', ignore_errors = true)",
    "from read_csv('a.csv', types = {'w': 'INT'})", "from read_csv('a.csv', dateformat = '%d')",
    "from read_csv('a.csv', columns = {'a': 'VARCHAR'})", "from read_csv('a.csv', header = false)",
    "from read_csv('a.csv', delim = lower(','))", "from read_csv('a.csv', delim = '')",
    "from read_csv('a.csv', skip = -1)",
    "from read_csv('a.csv', store_rejects = true)", "from read_csv('a.csv', union_by_name = true)",
    "from read_csv('a.csv', columns = {'a': 'BLOB'}, header = true)", "from read_csv('a.csv', comment = '#')",
    "from read_parquet('p.parquet', hive_partitioning = true)",
    "from read_parquet('p.parquet', encryption_config = {k: 'x'})",
    "from read_json('a.csv')", "from read_json('a.csv', auto_detect = true)", "from read_parquet('a.csv')",
    f"select *, random() as q from {READ}", f"select * replace (now() as t) from {READ}",
    f"from {READ} where random() < .5",
    f"from {READ} qualify random() < .5", f"from {READ} order by random()", f"from {READ} order by (select 1)",
    f"select *, (select 1) as q from {READ}", f"from {READ} where exists (select 1)",
    f"from {READ} a where v in (select a.v)",
    f"from {READ} where who in (select who, t from read_csv('secret.csv'))",
    f"from {READ} where who > all (select who from read_csv('secret.csv'))",
    f"select *, row_number() over () as n from {READ} where w <> '2'",
    f"select *, row_number() over (partition by who) as n from {READ}",
    f"select *, sum(w::int) over (order by t rows between 1 preceding and current row) as n from {READ}",
    f"select *, list(v) over (order by t) as n from {READ}",
    f"select *, first_value(v order by t) over () as n from {READ}",
    f"select *, ntile(2) over (order by t) as n from {READ}", f"select *, string_agg(v) over () as n from {READ}",
    f"select *, count(*) filter (where true) over () as n from {READ}", f"select unnest([1, 2]) as n, * from {READ}",
    f"from {READ} window w as (order by random()) qualify row_number() over w = 1", f"from {READ} as a(x, y) where $1",
    f"select columns(c -> c like 'v%') from {READ}", f"from {READ} at (version => 1)", f"from {READ} with ordinality",
    f"select who, t, v from {READ} union all select who, t from {READ}", f"with s(x) as (from {READ}) from s",
    f"with a as (from {READ}), A as (from {READ}) from a", "from information_schema.tables", "from pg_catalog.pg_class",
    "from sqlite_master", f"from {READ} where who = ANY(select who from read_csv('secret.csv') group by who)",
    "from read_csv('../../../etc/passwd', delim = ':', header = false, columns = {'a': 'VARCHAR'})",
    f"from {READ} union from {READ} except from {READ}",
    f"select * from {READ} where who in (from read_text('secret.csv') select content)",
    f"from (select * from {READ} limit 1)", f"from (from {READ} using sample 1)",
    "with s as materialized (from read_text('secret.csv')) from s",
    f"with s as (select * from {READ} order by random() limit 1) from s", "from read_csv_auto(['a.csv'])",
    "from read_ndjson('a.csv')", "from read_json_objects('a.csv')", "from read_ndjson_auto('a.csv')",
    "from 'a.csv' s", "from '*.csv'", "from 'https://example.org/p.parquet'", "from 's3://a/p.parquet'",
    "from read_parquet('https://example.org/p.parquet')", "from read_parquet(['p.parquet', 's3://a/b.parquet'])",
    "from read_csv('/etc/passwd', delim = ':', header = false, columns = {'a': 'VARCHAR'}) limit 1",
    "from read_csv('a.csv', encoding = 'utf-16', sample_size = -1)", "from read_csv('a.csv', nullstr = 'x')",
    "from read_csv('a.csv', allow_quoted_nulls = false)", "from read_csv('a.csv', max_line_size = 10)",
    "from read_csv('a.csv', parallel = false)", "from read_csv('a.csv', names = ['a', 'b'])",
    "from read_csv('a.csv', decimal_separator = ',')", "from read_csv('a.csv', normalize_names = true)",
    "from read_csv('a.csv', hive_partitioning = true)", "from read_csv('a.csv', compression = 'gzip')",
    "from read_csv('a.csv', rejects_table = 'r')", "from read_csv('a.csv', timestampformat = '%d')",
    "from read_csv(null)", "from read_csv(1)", "from read_csv('')", "from read_csv(['a.csv', null])",
    "from read_csv((select 'a.csv'))", "from read_csv($1)", "from read_csv(?)",
    "from read_csv(current_setting('home_directory'))", "from icu_calendar_names()", "from pragma_database_size()",
    "from duckdb_functions()", "from duckdb_logs()", "from duckdb_memory()", "from duckdb_temporary_files()",
    "from pg_timezone_names()", "from repeat('x', 3)", "from repeat_row('x', num_rows = 3)",
    "from summary((select 1))", "from unnest([1, 2])", "from checkpoint()", "from force_checkpoint()",
    "from arrow_scan(1, 2, 3)", "from pandas_scan(1)", "from seq_scan('a')", "from postgres_scan('', '', '')",
    "from sqlite_scan('x', 'y')", "from iceberg_scan('x')", "from delta_scan('x')", "from st_read('x')",
    "from which_secret('s3://a', 's3')", "from pg_prepared_statements", "from duckdb_columns",
    "from temp.information_schema.columns", "from system.information_schema.tables", "vacuum", "checkpoint", "begin",
    "commit", "rollback", "detach x", "use x", "drop view a", "alter table a add column b int", "update a set v = 1",
    f"insert into a from {READ}", "truncate a", "prepare p as select 1", "execute p", "deallocate p",
    "reset threads", "comment on table a is 'x'", "create macro f(x) as x",
    "create or replace temp view v as select 1", "create type x as enum ('a')", "create secret s (type s3)",
    "create function f() as 1", "create index i on a (v)", "create schema s", "create sequence q",
    "import database 'x'", "summarize a", "analyze", "describe select 1", f"explain analyze from {READ}",
    "copy a from 'a.csv'", "copy (from read_text('secret.csv')) to 'out.txt'", "force install x",
    "update extensions", f"pivot {READ} on v using count(*)",
    f"select * from {READ} pivot (count(*) for v in ('x'))", f"select who, v from {READ} group by rollup (who, v)",
    f"select who, v from {READ} group by cube (who, v)",
    f"select who from {READ} group by grouping sets ((who), ())",
    f"select who, v, t from {READ} having count(*) > 1", f"select sum(count(*)) over () as n from {READ}",
    f"select arg_max(v, t) as v from {READ}", f"from {READ} a left join {READ} b on a.who < b.who",
    f"from {READ} a anti join {READ} b on a.v <> b.v",
    f"from {READ} a join lateral (from {READ} b where b.who = a.who) c on true",
    f"from {READ} a, unnest([a.v]) b(x)", f"from {READ} a join {READ} b using (v) qualify random() < 1",
    f"from {READ} a semi join {READ} b on random() < .5",
    f"select * from {READ} where v = (select max(v) from {READ})",
    f"select * from {READ} where (who, t) in (select who, max(t) from {READ} group by who)",
    f"select (select v from {READ} b where b.who = a.who limit 1) as v from {READ} a",
    f"select *, (from {READ} select count(*)) as n from {READ}",
    f"select *, nth_value(v, 2) over (order by random()) as n from {READ}",
    f"select *, lead(v) over (order by uuid()) as n from {READ}",
    f"select *, sum(w::double) over (partition by random() > .5) as n from {READ}",
    f"select *, row_number() over w as n from {READ} window w as (partition by who)",
    f"select *, lag(v, random()::int) over (partition by who order by t) as n from {READ}",
    f"select *, max(v) over (order by t range between interval 1 day preceding and current row) as n from {READ}",
    f"select *, list_sort(list(v) over ()) as n from {READ}",
    f"select a.*, n from {READ} a left join (from (values ('Ana', random())) k(z, n)) b on a.who = b.z",
    f"select a.*, n from {READ} a left join (from (values ('Ana', (select 1))) k(z, n)) b on a.who = b.z",
    f"from (unpivot {READ} on (v || w) into name k value x)",
    f"from (unpivot {READ} on (v, w), (w, t) into name k value x, y)",
)  # fmt: skip


@pytest.mark.sampled(6)
@pytest.mark.parametrize("text", STATEMENTS)
def test_no_statement_does_more_than_read_the_files_that_it_names(text: str, folder: Path) -> None:
    refused(folder, sql=text)


def test_there_are_four_hundred_attacks() -> None:
    assert len({*EXPRESSIONS, *STATEMENTS}) >= 400


NAMES = sorted(
    {name for name, kind, _ in FUNCTIONS if name.isidentifier() and kind in ("scalar", "macro", "aggregate")}
)


@pytest.mark.mutants
def test_every_function_outside_the_list_is_refused() -> None:
    scope = Scope((("", Rows.of(0, ["v"])),), {})
    for name in NAMES:
        if name in allowed.SCALARS:
            continue
        with pytest.raises(InputError):
            Judge("value").value(expression(f'"{name}"(v)', "value"), scope)


_BY_ZONE = """
    + - century date_diff date_part date_sub date_trunc datediff datepart datesub datetrunc day dayname dayofmonth
    dayofweek dayofyear decade era hour isodow isoyear julian last_day make_timestamptz microsecond millennium
    millisecond minute month monthname quarter second strftime time_bucket timezone week weekday weekofyear year
    yearweek
"""
#: Functions that DuckDB marks because they depend on the zone of the session, which is UTC.
BY_ZONE = frozenset(_BY_ZONE.split())


def test_no_allowed_function_gives_another_value_tomorrow() -> None:
    by_name: dict[str, set[str]] = {}
    for name, kind, stability in FUNCTIONS:
        if kind in ("scalar", "aggregate"):
            by_name.setdefault(name, set()).add(stability)
    unstable = {name for name in allowed.SCALARS if by_name.get(name, {"CONSISTENT"}) - {"CONSISTENT"}}
    assert unstable <= BY_ZONE
    of_rows = {name for name, kind, _ in FUNCTIONS if kind in ("scalar", "macro")}
    assert not {name for name, kind, _ in FUNCTIONS if kind in ("aggregate", "pragma")} & allowed.SCALARS - of_rows


def test_every_allowed_function_is_one_of_duckdb() -> None:
    parsed = {"->", "->>", "coalesce", "ifnull", "like_escape", "struct_pack"}  # nodes of their own
    assert not allowed.SCALARS - {name for name, _, _ in FUNCTIONS} - parsed


@pytest.mark.sampled(3)
@pytest.mark.parametrize("text", [
    f"from {READ}", f"select who, t, lower(v) as v from {READ}", f"from {READ} where w <> '1'",
    f"select distinct * from {READ}",
    f"from {READ} qualify row_number() over (partition by who order by t desc) = 1",
    f"with s as (from {READ}) from s order by t",
    f"select * exclude (w) replace (trim(v) as v) from {READ}", f"select columns('who|t|v') from {READ}",
    f"select a.* from {READ} a join (values ('Ana')) k(n) on a.who = k.n",
    f"from {READ} a left join (from (values ('Ana', 1)) k(n, z)) b on a.who = b.n",
    f"from {READ} where who in (select who from read_csv('secret.csv'))",
    f"from {READ} a semi join read_csv('secret.csv') b on a.who = b.who",
    "select who, 1 as t, 'x' as v, v as z from read_parquet('p.parquet')", "from 'p.parquet'",
    f"select who, t, v from {READ} where who = 'Ana' union all select who, t, w from {READ} where who = 'Ben'",
    f"select *, lead(t) over (partition by who order by t) as n from {READ}",
    f"select who, t, v, count(*) over (partition by who) as n from {READ}",
    "from read_csv('a.csv', delim = ',', quote = '\"', escape = '\"', header = true, "
    "columns = {who: 'VARCHAR', t: 'VARCHAR', v: 'VARCHAR', w: 'INTEGER'})",
])  # fmt: skip
def test_what_people_write_is_allowed(text: str, folder: Path) -> None:
    opened(folder, sql=text).relation.close()


@pytest.mark.mutants
@pytest.mark.parametrize("kind", ["double", "float", "real"])
def test_a_sum_over_a_window_is_one_of_the_set_of_rows(kind: str, folder: Path) -> None:
    """Of 0.1, 0.2 and 0.3 it was 0.6 or 0.6000000000000001, by their order."""
    text = "select * exclude (w), sum({w}) over (partition by who) + 1 as n from {READ}"
    for w in (f"w::{kind}", f"w::{kind} * 2"):
        words = refused(folder, sql=text.format(w=w, READ=READ))
        assert "adds floats over a window" in words
        (mended,) = re.findall(r"sum\((cast\(.* AS decimal\(18, 6\)\))\)", words)
        opened(folder, sql=text.format(w=mended, READ=READ)).relation.close()
    for w in ("w::int", "w::decimal(5, 2)", "(w = '1')::int", "w::hugeint"):
        opened(folder, sql=text.format(w=w, READ=READ)).relation.close()


TABLES = {"a": ("who", "t", "v", "w"), "b": ("who", "z")}
#: One of everything that is allowed, over two tables.
ALLOWED = (
    "select who, t::varchar(3) as t, CASE v WHEN 'x' THEN lower(v) ELSE w END as q, v between 'a' and 'x' as r, "
    "v in ('x', w) as s, v is null and not (w = '1') as u, coalesce(v, w) as c from a where w <> '1' and t < '3'",
    "select distinct * from a order by t desc", "from a order by count(*) over (partition by who)",
    "select try_cast(t as int) as v, v || w as z, z || '.' as y from a",
    "from a qualify row_number() over (partition by who order by t desc nulls last, v, w) = 1",
    "select * exclude (w) replace (trim(v) as v) rename (t as z) from a", "select * rename (v as w, w as v) from a",
    "select columns('who|t|v') from a",
    "select a.*, n from a left join (from (values ('x', '1')) k(z, n)) b on a.v = b.z and a.w = b.n",
    "from a where who in (select who from b where z > '1')", "from a where who not in (select z from b)",
    "select x.* from a x(who, q) semi join b using (who)", "from a anti join b on a.v = b.z",
    "from a join b using (who)", "from a join b using (who) left join (from b) c using (who)",
    "select a.who, z from a left join b on a.v = b.who", "from (from a where v = 'x') c(i) where t <> 'x'",
    "select who, t, v from a union all select who, w, t from a where w = '2'", "from b union select v, w from a",
    "select *, lead(t) over (partition by who order by t, v, w) as n, count(*) over (partition by v) as m from a",
    "from (unpivot a on v, w into name k value x)", "from a unpivot include nulls (x for k in (v, w))",
    "from (unpivot a on columns(* exclude (who, t)) into name k value x)",
    "select who, t from a where v > '3' union all select who, w from a where v > '2'",
    "select distinct who, v from a union all select who, z from b",
    "select d.v from (select distinct v, w from a) d", "select w from (from a qualify min(v) over (order by t) = 'x')",
)  # fmt: skip


def judged(tree: Any) -> tuple[Judge, Rows]:
    tables = {name: Rows.of(number, columns) for number, (name, columns) in enumerate(TABLES.items())}
    judge = Judge("sql", tables, lambda name, pattern: bool(re.search(pattern, name)), is_expression=False)
    return judge, judge.select(tree)


def nodes_within(tree: Any, key: str = "") -> Iterator[tuple[str, Any]]:
    """Yield all that has named fields, with the name of what it stands in."""
    if isinstance(tree, dict):
        yield key, tree
        for name, value in tree.items():
            yield from nodes_within(value, name)
    for value in tree if isinstance(tree, list) else ():
        yield from nodes_within(value, key)


@pytest.mark.sampled(3)
@pytest.mark.parametrize("text", ALLOWED)
def test_a_field_that_nobody_knows_is_refused_wherever_it_stands(text: str) -> None:
    tree = parsed(text, "sql")
    judged(tree)
    for key, node in nodes_within(tree):
        if key in ("literal", "case_checks", "arguments", "replace_list", "rename_list", "key") and "type" not in node:
            continue  # a text, or a pair of nodes
        node["invented"] = "x"
        with pytest.raises(InputError):
            judged(tree)
        del node["invented"]


@pytest.mark.parametrize("text", [
    "from a where count(*) over (partition by who) > 1", "from a join b on count(*) over () = b.z",
    "from (values (row_number() over (order by 1))) k(x)", "from a join b on a.who = b.who and a.v > 'x'",
    "from a left join b on a.who = b.who and b.z > 'x'", "from a semi join b on a.v <> 'x' and a.who = b.who",
    "from a join (b join (from (values ('x')) k(n)) c on b.z = c.n) on a.who = b.who",
])  # fmt: skip
def test_windows_see_all_rows_and_joins_meet_at_equal_columns_one_by_one(text: str) -> None:
    with pytest.raises(InputError):
        judged(parsed(text, "sql"))


@pytest.mark.mutants
@pytest.mark.parametrize("text", ALLOWED)
def test_what_changes_with_a_column_is_said_to_come_from_it(text: str) -> None:
    """One cell of random tables is drawn again: each column of the answer that is another one follows it, and one row
    of it at most, but where the cell is said to go into several."""
    judge, rows = judged(parsed(text, "sql"))
    chance, connection, followed = random.Random(text), duckdb.connect(), 0
    for _ in range(30):
        content = {
            name: [chance.choices("123xyB", k=len(columns)) for _ in range(4)] for name, columns in TABLES.items()
        }
        before = answered(connection, text, content, judge)
        if before is None:
            continue
        assert [name for name, _ in before] == [name for name, _ in rows.columns]
        for scan, (name, columns) in enumerate(TABLES.items()):
            for place, column in enumerate(columns):
                drawn = [list(row) for row in content[name]]
                chance.choice(drawn)[place] = chance.choice("123xyB")
                after = answered(connection, text, {**content, name: drawn}, judge)
                for (_, cells), (_, one), (_, other) in zip(rows.columns, before, after or before, strict=True):
                    moved = max((one - other).total(), (other - one).total())
                    places = together(cells, rows.inner().filters).get((scan, column), ())
                    assert moved <= len(places) or len(places) > 1
                    followed += moved
    assert followed


def answered(
    connection: Any, text: str, content: dict[str, list[list[str]]], judge: Judge
) -> list[tuple[str, Counter[str]]] | None:
    """Return the columns of an answer, each with what it holds in any order; None where a check refuses the tables."""
    for name, table in content.items():
        values = ", ".join(str(tuple(row)) for row in table)
        connection.execute(f"create or replace table {name} as from (values {values}) x({', '.join(TABLES[name])})")
    if any(connection.execute(check.sql).fetchall() for check in judge.checks):
        return None
    answer = connection.execute(text)
    names, table = [column[0] for column in answer.description], answer.fetchall()
    return [(name, Counter(str(row[place]) for row in table)) for place, name in enumerate(names)]


def test_a_connection_is_locked(folder: Path) -> None:
    relation = opened(folder).relation
    assert len(relation.rows(f"from read_csv('{folder / 'a.csv'}')")) == 2
    statements = (
        "set enable_external_access = true", "set threads = 3", "from read_text('secret.csv')", "attach 'x.db'",
        "copy (select 1) to 'o.csv'", "from glob('*')", "install httpfs", "from read_csv('secret.csv')",
        f"from read_csv('{folder / 'secret.csv'}')",
    )  # fmt: skip
    for statement in statements:
        with pytest.raises(TakifuguError):
            relation.rows(statement)
    assert not (folder / "o.csv").exists()


def test_errors_of_duckdb_quote_no_row(folder: Path) -> None:
    """A cast that fails, a line that is cut and a byte that is no text are told by rule and number alone."""
    from takifugu.data.relation.counts import counted

    (folder / "a.csv").write_bytes(b"who,t,v\nGeheim,1,x\nGeheim,2\n")
    (folder / "b.csv").write_bytes(b"who,t,v\nGeheim,1,x\nGeheim,2,Geh\xe9im\n")
    times = {"order": "strptime(who, '%d')", "step": "1d"}
    for keys in ({"order": "cast(who as bigint)"}, {}, {"file": "b.csv"}, times):
        with pytest.raises(TakifuguError) as error:
            counted(opened(folder, **{"step": 1, **keys}), None)
        assert "Geh" not in error.value.line
        assert error.value.__suppress_context__ or error.value.__context__ is None


def test_a_text_that_is_nested_too_deeply_or_too_long_is_told(folder: Path) -> None:
    refused(folder, value="(" * 3000 + "v" + ")" * 3000)
    refused(folder, value="lower(" * 900 + "v" + ")" * 900)
    refused(folder, sql=f"from {'(from ' * 200}{READ}{')' * 200}" + " " * 100_000)
    refused(folder, value="v || " * 20_000 + "v")


@pytest.mark.parametrize("bins", [{"low": [0, 1]}, {"v": {"low": [0, 1]}, "low": [0, 1]}])
def test_bins_of_several_columns_are_told_by_their_names(folder: Path, bins: dict[str, Any]) -> None:
    said = refused(folder, value=["v", "w"], bins=bins)
    assert "bins = { v = { low = [0, 10], high = [10, 20] }, w = { low = [0, 10], high = [10, 20] } }" in said
