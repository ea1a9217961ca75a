"""A state that `value` or `sql` reads as nothing is refused: which values are missing is not hidden, and states are."""

import gc
import math
import weakref
from pathlib import Path
from typing import Any

import pytest

from takifugu.core.errors import InputError
from takifugu.data.relation.source import opened_table
from takifugu.data.relation.types import check_types
from takifugu.data.relation.visits import Grid
from takifugu.data.values.bins import Bins, Classes

KEYS: dict[str, Any] = {"order": "t", "step": 1, "nulls": "unobserved"}
BINS = {"low": [0, 10], "high": [10, math.inf]}
ILL = ("nullif(v, 'ill')", "CASE WHEN v = 'ill' THEN NULL ELSE v END", "CASE v WHEN 'well' THEN 'well' END",
       "regexp_replace(v, 'ill', '')")  # fmt: skip

#: How `sql` makes columns of one column of the file, how it goes on, and the value that reads them.
FOLLOWED = (
    ("select *, v = 'ill' as bad", "", "CASE WHEN bad THEN NULL ELSE v END"),
    ("with a as (select *, v = 'ill' as bad", ") from a", "CASE WHEN bad THEN NULL ELSE v END"),
    ("with a as (select *, v = 'ill' as bad", "), b as (select *, not bad as good from a) from b",
     "CASE WHEN good THEN v END"),
    ("select *, v as w", "", "CASE WHEN w <> 'ill' THEN v END"),
    ("select t, v, v = 'ill' as bad, case when bad then null else v end as s", "", "s"),
    ("select * replace (case when v = 'ill' then 'NA' else v end as v)", "", "nullif(v, 'NA')"),
)


#: Values of two columns of states that are missing by whether both are alike.
ALIKE = (
    "CASE WHEN v < n THEN v WHEN v > n THEN n END", "nullif(least(v, n), greatest(v, n))",
    "CASE WHEN v LIKE n THEN v END", "if(v LIKE n, v, NULL)", "substr(v, 1, length(v) * (v || n = 'wellwell')::int)",
)
#: How somebody who is ill is told among several columns.
AMONG = (
    "v || n = 'ill12'", "v = 'ill' AND n::int > 6", "n = '12' AND q = '0' AND v = 'ill'",
    f"v = 'ill' AND n NOT IN ({', '.join(map(repr, map(str, range(100, 160))))}) AND n = '999'",
)
AMONG_MANY = "v = 'ill' AND e || f || g || h || n <> ''"
IN_TABLE = "v in (select 'ill' from read_csv('a.csv'))"


def reading(folder: Path, keys: dict[str, Any], states: list[str]) -> str:
    (folder / "a.csv").write_text("t,v,n,e,f,g,h,q\n0,well,12,1,2,3,4,0\n")
    keys = {"value": "v"} | keys
    with opened_table({**KEYS, **keys} | ({} if "sql" in keys else {"file": "a.csv"}), states, folder) as source:
        return str(source.reading)


@pytest.mark.parametrize(("keys", "state"), [
    *(({"value": value}, "ill") for value in ILL),
    *(({"sql": f"select t, {value} as v from read_csv('a.csv')"}, "ill") for value in ILL[:2]),
    ({"sql": "select * replace (nullif(v, 'ill') as v) from read_csv('a.csv')"}, "ill"),
    ({"sql": "with a as (select b.t, nullif(b.v, 'ill') as v from read_csv('a.csv') b) from a"}, "ill"),
    ({"value": "CASE WHEN n::double < 10 THEN n END", "bins": BINS}, "high"),
    ({"value": "CASE WHEN n::double < 100 THEN n END", "bins": BINS}, "high"),
    ({"value": "CASE WHEN n::double NOT BETWEEN 6 AND 7.5 THEN n END", "bins": BINS}, "low"),
    ({"sql": "select t, case when n::double <= 1e6 then n end as v from read_csv('a.csv')", "bins": BINS}, "high"),
    ({"value": "nullif(v, 'ill')", "rows": "changes", "from": 0, "until": 9}, "ill"),
    *(({"sql": f"{sql} from read_csv('a.csv')" + tail, "value": value}, "ill") for sql, tail, value in FOLLOWED),
    ({"value": "CASE WHEN n = 'good' AND v <> 'ill' THEN v END"}, "ill"),
    ({"value": "CASE WHEN v <> 'ill' THEN v WHEN n <> '' THEN n END"}, "ill"),
    ({"value": ILL[0], "nulls": "refuse"}, "ill"),  # that it is published tells that nobody is ill
    ({"value": "CASE WHEN v = 'ill' THEN v::int::varchar ELSE v END"}, "ill"),
    *(({"value": f"CASE WHEN {among} THEN NULL ELSE v END"}, "ill") for among in AMONG),
    pytest.param({"value": f"CASE WHEN {AMONG_MANY} THEN NULL ELSE v END"}, "ill", marks=pytest.mark.mutants),
    ({"sql": f"select *, {IN_TABLE} as bad from read_csv('a.csv')", "value": "CASE WHEN NOT bad THEN v END"}, "ill"),
])  # fmt: skip
def test_a_state_that_is_read_as_nothing_is_refused(tmp_path: Path, keys: dict[str, Any], state: str) -> None:
    """How many were ill stood on the certificate as the number of steps without a value, and no noise hid it."""
    with pytest.raises(InputError, match=f"^(sql|value) reads the value '{state}' as nothing"):
        reading(tmp_path, keys, ["low", "high"] if "bins" in keys else ["ill", "well"])


@pytest.mark.sampled(2)
@pytest.mark.parametrize("keys", [
    {"value": "nullif(v, 'NA')"}, {"value": "lower(v)"}, {"value": "nullif(v, 'NA')", "nulls": "refuse"},
    {"value": "CASE n WHEN '1' THEN 'ill' WHEN '12' THEN 'well' END"},
    {"sql": "select t, v, nullif(n, 'ill') as note from read_csv('a.csv')"},
    {"value": "nullif(n::double, 99999)", "bins": {"ill": BINS["low"], "well": BINS["high"]}},
    {"value": "CASE WHEN n::int NOT IN (97, 98, 99) THEN n END", "bins": {"ill": BINS["low"], "well": BINS["high"]}},
    {"value": "CASE WHEN n = 'good' THEN v END"}, {"value": "CASE WHEN n <> 'bad' AND v <> 'NA' THEN v END"},
    {"value": "coalesce(v, n)"},
    {"sql": "select *, v = 'NA' as bad from read_csv('a.csv')", "value": "CASE WHEN bad THEN NULL ELSE v END"},
    {"sql": "select *, n = '99' as bad from read_csv('a.csv')", "value": "CASE WHEN NOT bad THEN v END"},
    {"value": "CASE WHEN n::double <= 100 THEN n END", "bins": {"ill": BINS["low"], "well": [10, 100]}},
])  # fmt: skip
def test_a_word_that_is_no_state_may_stand_for_nothing(tmp_path: Path, keys: dict[str, Any]) -> None:
    assert reading(tmp_path, keys, ["ill", "well"])


@pytest.mark.sampled(5)
@pytest.mark.parametrize("nulls", ["refuse", "unobserved"])
@pytest.mark.parametrize("value", [
    "CASE v WHEN 'ill' THEN 'bad' ELSE v END", "CASE WHEN n = '12' AND v = 'ill' THEN 'bad' ELSE v END"
])  # fmt: skip
def test_a_state_that_is_read_as_no_state_is_refused(tmp_path: Path, nulls: str, value: str) -> None:
    """Such a row is refused, so what is published would tell that there is none."""
    with pytest.raises(InputError, match=r"^value reads the value 'ill' as 'bad', which is none of them"):
        reading(tmp_path, {"value": value, "nulls": nulls}, ["ill", "well"])
    assert reading(tmp_path, {"value": value, "nulls": nulls}, ["bad", "well"])


@pytest.mark.sampled(5)
@pytest.mark.parametrize("nulls", ["unobserved", "refuse"])
@pytest.mark.parametrize("value", ["CASE WHEN n::double > 20 THEN 9999 ELSE n::double END",
                                   "CASE WHEN n::int >= 10 THEN '9999' ELSE n END"])
def test_a_number_that_is_moved_out_of_all_bins_is_refused(tmp_path: Path, nulls: str, value: str) -> None:
    bins = {"low": [-10, 10], "high": [10, 30]}
    with pytest.raises(InputError, match=r"^value reads the value 'high' as '9999(\.0)?', which is none of them"):
        reading(tmp_path, {"value": value, "nulls": nulls, "bins": bins}, [])
    assert reading(tmp_path, {"value": value, "nulls": nulls, "bins": {**bins, "ill": [30, 10_000]}}, [])


@pytest.mark.parametrize("value", ALIKE)
def test_a_value_that_is_there_if_two_columns_are_alike_is_refused(tmp_path: Path, value: str) -> None:
    """Nothing held a state beside the one that was tried, so that a comparison of both was never seen."""
    with pytest.raises(InputError, match=r"^value reads the value '(ill|well)' as nothing"):
        reading(tmp_path, {"value": value}, ["ill", "well"])


@pytest.mark.parametrize("value", [
    "CASE WHEN n <> q THEN v END", "CASE n WHEN 'ill' THEN v END", "if(n LIKE 'ill', v, NULL)", "coalesce(v, n)",
    "CASE n WHEN 'a' THEN v WHEN 'b' THEN q END", "coalesce(nullif(v, 'NA'), n)",
])  # fmt: skip
def test_a_value_may_be_there_by_what_other_columns_say(tmp_path: Path, value: str) -> None:
    assert reading(tmp_path, {"value": value}, ["ill", "well"])


@pytest.mark.parametrize("value", ["n::double * 2", "n::int - 8", "greatest(n::int, -10)", "n::double % 24", "n"])
def test_numbers_may_be_computed_for_bins(tmp_path: Path, value: str) -> None:
    assert reading(tmp_path, {"value": value, "bins": {"low": [-10, 10], "high": [10, 30]}}, [])


@pytest.mark.mutants
@pytest.mark.parametrize("value", ["v", "lower(v)", "CASE WHEN v || n = 'ill12' THEN v ELSE v END"])
def test_a_table_is_gone_as_soon_as_nobody_has_it(tmp_path: Path, value: str) -> None:
    """What was tried in vain kept its callers' frames, and so the private folder, until garbage was collected."""
    (tmp_path / "a.csv").write_text("t,v,n\n0,well,12\n")
    gc.collect()
    gc.disable()
    try:
        table = opened_table({**KEYS, "value": value, "file": "a.csv"}, ["ill", "well"], tmp_path)
        seen = weakref.ref(table)
        table.counts()
        del table
        assert seen() is None
    finally:
        gc.enable()


SICK = ["ill", "well"]
ANSWERS = {"rows": "answers"}
OF_SQL = "select *, {} as w from read_csv('a.csv', all_varchar = true)"
AGES = Classes([18, 65])


@pytest.mark.sampled(2)
@pytest.mark.parametrize(("keys", "known", "words"), [
    ({"value": "nullif(v, 'ill')"}, [SICK], "value reads the value 'ill' as nothing"),
    ({"value": "CASE v WHEN 'ill' THEN 'zzz' ELSE v END"}, [SICK], "value reads the value 'ill' as 'zzz'"),
    ({"value": ["n", "nullif(v, 'ill')"]}, [["1", "40"], SICK], "value reads the value 'ill' as nothing"),
    ({"value": ["nullif(n, '40')", "v"]}, [["1", "40"], SICK], "value reads the value '40' as nothing"),
    ({"value": "w", "sql": OF_SQL.format("nullif(v, 'ill')")}, [SICK], "sql reads the value 'ill' as nothing"),
    ({"value": "w", "sql": OF_SQL.format("replace(v, 'ill', 'z')")}, [SICK], "sql reads the value 'ill' as 'z'"),
    ({"value": "nullif(v, 'ill')", "nulls": "unobserved"}, [SICK], "value reads the value 'ill' as nothing"),
    ({"value": "CASE WHEN n::int < 18 THEN n END"}, [AGES], "value reads the value 'from 18 to below 65' as nothing"),
    ({"value": "CASE WHEN n::int < 10 THEN n END"}, [Bins(BINS)], "value reads the value 'high' as nothing"),
])  # fmt: skip
def test_an_answer_that_would_be_lost_is_refused_whoever_is_there(
    tmp_path: Path, keys: dict[str, Any], known: Any, words: str
) -> None:
    """A table with somebody who is ill, and 40, was refused, and its neighbour was published."""
    for row in ("ill,40", "well,1"):
        (tmp_path / "a.csv").write_text(f"v,n\n{row}\nwell,1\n")
        file = {} if "sql" in keys else {"file": "a.csv"}
        with opened_table({**ANSWERS, **file, **keys}, (), tmp_path, known=known) as source:
            for read in (source.answers, source.listed, lambda: check_types(source.opened)):
                with pytest.raises(InputError, match=f"^{words}"):
                    read()


@pytest.mark.sampled(3)
@pytest.mark.parametrize(("keys", "known"), [
    ({"value": ["v", "CASE WHEN v = 'ill' THEN NULL ELSE n END"]}, [SICK, ["1", "40"]]),
    ({"value": ["CASE v WHEN 'well' THEN n END", "v"]}, [["1", "40"], SICK]),
    ({"value": ["v", "nullif(n, '1') || nullif(v, 'ill')"]}, [SICK, ["40ill", "40well"]]),
    ({"value": ["v", "CASE WHEN v <> 'ill' THEN n END"]}, [SICK, AGES]),
    ({"value": ["v", "w"], "sql": OF_SQL.format("case when v <> 'ill' then n end")}, [SICK, ["1", "40"]]),
    ({"value": ["n", "CASE WHEN n::int < 18 THEN v END"]}, [AGES, SICK]),
])  # fmt: skip
def test_an_answer_that_is_there_by_another_one_is_refused(tmp_path: Path, keys: dict[str, Any], known: Any) -> None:
    """Where nobody is ill such a table was published, and else refused."""
    for row in ("ill,40", "well,1"):
        (tmp_path / "a.csv").write_text(f"v,n\n{row}\nwell,1\n")
        file = {} if "sql" in keys else {"file": "a.csv"}
        refused = pytest.raises(InputError, match=r"has a value that is missing if [vn] is '(ill|from 18 to below 65)'")
        with opened_table({**ANSWERS, **file, **keys}, (), tmp_path, known=known) as source, refused:
            source.answers()


@pytest.mark.sampled(3)
@pytest.mark.parametrize(("value", "known"), [
    (["v", "CASE WHEN v = 'ill' THEN n ELSE '1' END"], [SICK, ["1", "40"]]), (["v", "v"], [SICK, SICK]),
    (["n", "least(n::int, 20)"], [AGES, AGES]), (["n", "n::double / 7"], [AGES, AGES]),
    (["v", "coalesce(n, v)"], [SICK, ["1", "40", *SICK]]),
])  # fmt: skip
def test_an_answer_may_be_computed_of_another_one(tmp_path: Path, value: list[str], known: Any) -> None:
    (tmp_path / "a.csv").write_text("v,n\nill,40\nwell,1\n")
    with opened_table({**ANSWERS, "file": "a.csv", "value": value}, (), tmp_path, known=known) as source:
        assert source.answers().rows.sum() == 2


@pytest.mark.sampled(3)
@pytest.mark.parametrize(("keys", "known", "may_miss"), [
    ({"value": "nullif(v, 'ill')"}, [SICK], [True]), ({"value": "CASE WHEN n::int < 18 THEN n END"}, [AGES], [True]),
    ({"value": "CASE WHEN n::int < 18 THEN n END"}, [Classes([18, 65], missing=2)], [False]),
    ({"value": ["n", "nullif(v, 'ill')"]}, [["1", "40"], SICK], [False, True]),
    ({"value": ["v", "nullif(n, 'ill')"]}, [SICK, ["1", "40"]], []),
    ({"value": "nullif(v, 'NA')"}, [SICK], []), ({"value": "CASE v WHEN 'krank' THEN 'ill' ELSE v END"}, [SICK], []),
])  # fmt: skip
def test_what_is_missing_may_be_declared_as_an_answer(
    tmp_path: Path, keys: dict[str, Any], known: Any, may_miss: list[bool]
) -> None:
    (tmp_path / "a.csv").write_text("v,n\nill,40\nwell,1\n")
    with opened_table({**ANSWERS, "file": "a.csv", **keys}, (), tmp_path, known=known, may_miss=may_miss) as source:
        assert source.answers().rows.sum() == 2


@pytest.mark.sampled(2)
@pytest.mark.parametrize(("value", "known", "state"), [
    ("nullif(v, 'bar')", ["bar", "gym"], "bar"), ("CASE v WHEN 'bar' THEN 'home' ELSE v END", ["bar", "gym"], "bar"),
    (["CASE WHEN x::int < 2 THEN x END", "y"], Grid((0, 2, 4), (0, 2, 4)), "2 to 4"),
    (["x", "nullif(greatest(y::double, 2), 2)"], Grid((0, 2, 4), (0, 2, 4)), "0 to 2"),
])  # fmt: skip
def test_a_place_that_would_be_lost_is_refused_whoever_was_there(
    tmp_path: Path, value: Any, known: Any, state: str
) -> None:
    for row in ("Ben,bar,3,1", "Ben,gym,1,3"):
        (tmp_path / "a.csv").write_text(f"who,v,x,y\n{row}\nAna,gym,1,3\n")
        keys = {"rows": "visits", "unit": "who", "value": value, "file": "a.csv"}
        with (
            opened_table(keys, (), tmp_path, known=known.bins if isinstance(known, Grid) else [known]) as source,
            pytest.raises(InputError, match=f"^value reads the value '{state}' as "),
        ):
            source.visits(known if isinstance(known, Grid) else None)
