"""What an expression may depend on: each rule by two tables that differ in one hidden value, with and without it."""

import csv
import random
from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import duckdb
import pyarrow as pa
import pytest
from tests.support.rounds import rounds

from takifugu.core.errors import TakifuguError
from takifugu.data.relation import roles
from takifugu.data.relation.keys import Source
from takifugu.data.relation.relation import Relation
from takifugu.data.relation.source import opened_table
from takifugu.data.sql.faults import RowFault

STATES = ("x", "y", "n")
KEYS: dict[str, Any] = {"unit": "id", "order": "t", "value": "v", "step": 1, "nulls": "unobserved"}
COVERED = {"from": 0, "until": 9, "gaps": "hidden", "roster": ["A", "B", "C"]}
READ = "read_csv('a.csv')"


@pytest.fixture
def without_rules(monkeypatch: pytest.MonkeyPatch) -> Callable[[], None]:
    return lambda: monkeypatch.setattr(roles, "check_dependence", lambda *_: None)


def tables(folder: Path, hidden: str) -> None:
    """Write households' members with one hidden value, and a table of households with it, too."""
    rows = [["id", "t", "v", "h"], ["A", "0", hidden, "1"], ["A", "1", "y", "1"], ["B", "0", "y", "1"], ["C", "0", "x",
        "1"],
            ["C", "1", "x", "1"], ["C", "2", "x", "1"]]  # fmt: skip
    with (folder / "a.csv").open("w", newline="") as file:
        csv.writer(file).writerows(rows)
    (folder / "b.csv").write_text(f"h,z\n1,{hidden}\n")
    (folder / "w.csv").write_text(f"id,h0,h1\nA,{hidden},y\nB,x,y\n")
    (folder / "empty.csv").write_text(f"id,0,1\nA,{hidden.replace('n', '')},y\nB,x,y\n")


def outcome(folder: Path, keys: dict[str, Any]) -> tuple[Any, Counter[tuple[str, str]]]:
    """Return what is public (names, lengths, gaps), and the private counts."""
    file = {} if "sql" in keys else {"file": "a.csv"}
    with opened_table({**KEYS, **file, **keys}, STATES, folder) as source:
        if keys.get("rows") == "answers":
            groups = source.answers()
            counts = Counter(
                {("", str(code)): int(n) for (code,), n in zip(groups.codes.tolist(), groups.rows, strict=True)}
            )
            return int(groups.rows.sum()), counts
        counts_ = source.counts()
        names = counts_.names[0].tolist()
        public = [(name, int(counts_.lengths[n]), counts_.observed(n)) for n, name in enumerate(names)]
        by_state = {(name, s): int(counts_.counts[n, k]) for n, name in enumerate(names) for k, s in enumerate(STATES)}
        return public, Counter(by_state)


def moved(one: Counter[tuple[str, str]], other: Counter[tuple[str, str]]) -> int:
    """Return how many entries differ, at least."""
    return max(sum((one - other).values()), sum((other - one).values()))


#: A source that a rule refuses, what two tables show without the rule, and the source that is right.
SEVERAL = "several entries change"
PUBLIC = "public things change"
WIDE = "read_csv('empty.csv')"
TURN = "with w as (from read_csv('w.csv')) select id, 0 as t, h0 as v from w union all select id, 1, {} from w"
SWAPPED = f"""select * from (select id, t, v, h as w from {READ} union all
    select id, (t::int + 4)::varchar, h, v from {READ}) where v <> 'n' and w <> 'n'"""
ONE = f"select id, '0' as t, v from (select distinct id, v from {READ}) qualify count(*) over (partition by id) = 1"
LOSSES: dict[str, tuple[str, dict[str, Any], dict[str, Any] | None]] = {
    "a value carried forward": (
        SEVERAL, {"sql": f"select id, t, min(v) over (partition by id order by t) as v from {READ}"}, None),
    "the first value of a unit": (
        SEVERAL, {"sql": f"select id, t, first_value(v) over (partition by id order by t) as v from {READ}"}, None),
    "an answer of a household joined to its members": (
        SEVERAL, {"sql": f"select id, t, z as v from {READ} a join read_csv('b.csv') b on a.h = b.h"}, None),
    "states that are rare are dropped": (
        SEVERAL, {"sql": f"from {READ} qualify count(*) over (partition by v) >= 3", **COVERED},
        {"sql": f"from {READ} qualify count(*) over (partition by h) >= 3", **COVERED}),
    "a column twice below itself": (
        SEVERAL,
            {"sql": TURN.format("h0")},
        {"sql": TURN.format("h1")}),
    "a value that decides about its own row and another": (
        SEVERAL, {"sql": SWAPPED, "value": "CASE v WHEN '1' THEN 'x' ELSE v END", **COVERED}, None),
    "when depends on the value": (
        PUBLIC, {"order": "CASE v WHEN 'n' THEN 5 ELSE t::int END"}, {"order": "t::int + 2"}),
    "whose depends on the value": (
        PUBLIC, {"unit": "id || CASE v WHEN 'n' THEN '2' ELSE '' END"}, {"unit": "id || '2'"}),
    "the recording depends on the value": (PUBLIC, {"recording": "v"}, {"recording": "h"}),
    "which rows depends on the value": (PUBLIC, {"where": "v <> 'n'"}, {"where": "v <> 'n'", **COVERED}),
    "which rows of sql depends on the value": (
        PUBLIC, {"sql": f"from {READ} where v <> 'n'"}, {"sql": f"from {READ} where v <> 'n'", **COVERED}),
    "rows that a join drops": (
        PUBLIC, {"sql": f"select a.* from {READ} a join (from (values ('x'), ('y')) k(s)) k on a.v = k.s"},
        {"sql": f"select a.* from {READ} a left join (from (values ('x'), ('y')) k(s)) k on a.v = k.s"}),
    "cells that UNPIVOT drops": (
        PUBLIC,
            {"sql": f"from (unpivot {WIDE} on \"0\", \"1\" into name t value v)"},
        {"sql": f"from {WIDE} unpivot include nulls (v for t in (\"0\", \"1\"))", **COVERED}),
    "answers that are nobody's, without equal ones": (
        PUBLIC, {"sql": f"select distinct v from {READ}", "rows": "answers", "unit": None, "order": None, "step": None},
        {"sql": f"select v from {READ}", "rows": "answers", "unit": None, "order": None, "step": None}),
    "DISTINCT inside, and its rows counted": (
        PUBLIC,
            {"sql": ONE}, None),
    "answers of those with one answer": (
        PUBLIC, {"where": "v <> 'n'", "rows": "answers", "unit": "id || t", "order": None, "step": None},
        {"where": "v <> 'n'", "rows": "answers", "unit": "id || t", "order": None, "step": None, "roster": ["A0", "A1",
        "B0", "C0", "C1", "C2"]}),
}  # fmt: skip


def test_a_filter_by_a_hidden_answer_is_told_what_then_works(tmp_path: Path) -> None:
    """A roster was proposed, which the release files of records refuse."""
    tables(tmp_path, "x")
    answers = {"rows": "answers", "unit": None, "order": None, "step": None, "sql": f"select v from {READ}"}
    with pytest.raises(TakifuguError) as error:
        outcome(tmp_path, {**answers, "where": "v <> 'n'"})
    assert "roster" not in error.value.line
    assert "keep such rows with a value of their own, such as CASE WHEN" in error.value.line
    _, kept = outcome(tmp_path, {**answers, "value": "CASE WHEN v <> 'n' THEN v ELSE 'y' END"})
    assert kept


@pytest.mark.mutants
@pytest.mark.parametrize("name", LOSSES)
def test_a_rule_refuses_what_loses_more_than_is_charged(
    name: str, tmp_path: Path, without_rules: Callable[[], None]
) -> None:
    how, keys, right = LOSSES[name]
    seen = list[tuple[Any, Counter[tuple[str, str]]]]()
    for hidden in ("x", "y", "n"):
        tables(tmp_path, hidden)
        with pytest.raises(TakifuguError) as error:
            outcome(tmp_path, keys)
        assert error.value.where[0] in ("sql", "where", "value", "unit", "order", "recording"), error.value.line
        if right is not None:
            seen.append(outcome(tmp_path, right))
    for public, counts in seen:  # what is right tells nothing in public, and one value is one entry
        assert public == seen[0][0]
        assert moved(counts, seen[0][1]) <= 1
    without_rules()
    lost = list[tuple[Any, Counter[tuple[str, str]]]]()
    for hidden in ("x", "y", "n"):
        tables(tmp_path, hidden)
        lost.append(outcome(tmp_path, keys))
    if how == PUBLIC:
        assert any(public != lost[0][0] for public, _ in lost)
    else:
        assert max(moved(one[1], other[1]) for one in lost for other in lost) > 1


def test_distinct_rows_of_a_person_who_may_have_several_would_show_which_are_equal(
    tmp_path: Path, without_rules: Callable[[], None]
) -> None:
    keys = {"sql": f"select distinct id, v from {READ}", "rows": "answers", "unit": "id", "value": "v"}

    def rows(rows_per_person: int | None) -> int:
        with opened_table({**keys, "rows_per_person": rows_per_person}, (), tmp_path) as source:
            return len(source.texts(["unit"]))

    for hidden in ("x", "y"):
        tables(tmp_path, hidden)
        with pytest.raises(TakifuguError, match="DISTINCT"):
            rows(3)
        rows(None)  # where a second row is refused, and rows have no order
    without_rules()
    lost = set[int]()
    for hidden in ("x", "y"):
        tables(tmp_path, hidden)
        lost.add(rows(3))
    assert len(lost) == 2


#: How rows that are published one by one are put in order, and the same by public columns.
SORTED = {
    f"from {READ} order by v": f"from {READ} order by t, id desc",
    f"from {READ} order by h, 3, t": f"from {READ} order by 2, 1",
    f"select distinct * from {READ}": f"select distinct id, t, h, w from (select *, 'x' as w from {READ})",
    f"from (select *, v || h as k from {READ}) order by k": f"from (select *, t || h as k from {READ}) order by k, id",
    f"with s as (from {READ} order by lower(v)) from s": f"with s as (from {READ} order by id, t) from s",
    f"select *, count(*) over (partition by v) as n from {READ}":
        f"select *, count(*) over (partition by h) as n from {READ}",
    f"select a.*, z from {READ} a left join (from (values ('x', 1), ('y', 2)) k(s, z)) k on a.v = k.s":
        f"select a.*, z from {READ} a left join (from (values ('1', 1), ('2', 2)) k(s, z)) k on a.h = k.s",
    f"select *, v in (select z from read_csv('b.csv')) as k from {READ}":
        f"select *, id in (select h from read_csv('b.csv')) as k from {READ}",
}  # fmt: skip


@pytest.mark.sampled(3)
@pytest.mark.parametrize("sql", SORTED)
def test_rows_that_are_published_one_by_one_are_in_an_order_that_does_not_depend_on_values(
    sql: str, tmp_path: Path
) -> None:
    """Sorted by its value, each row told its rank, whatever was sent of it."""
    keys = {"rows": "answers", "unit": "id || t", "value": "v" if "as w" not in SORTED[sql] else "w"}

    def order(sql: str, **more: Any) -> list[Any]:
        with opened_table({**keys, **more, "sql": sql}, (), tmp_path) as source:
            return source.texts(["unit"])

    tables(tmp_path, "x")
    with pytest.raises(TakifuguError, match=r"^the order of rows depends on 'v', as value does"):
        order(sql, rows_per_person=1, value="v")
    assert len(order(sql, value="v")) == 6  # counts have no order
    right = list[list[Any]]()
    for hidden in ("x", "y", "n"):
        tables(tmp_path, hidden)
        right.append(order(SORTED[sql], rows_per_person=1))
    assert right[0] == right[1] == right[2]


def test_rows_that_are_sorted_by_their_value_show_it(tmp_path: Path, without_rules: Callable[[], None]) -> None:
    """The mutant: nothing is refused that depends on what is hidden."""
    without_rules()
    keys = {"rows": "answers", "unit": "id || t", "value": "v", "rows_per_person": 1}
    for sql in (f"from {READ} order by v, id, t", f"select distinct * from {READ}"):
        seen = set[tuple[Any, ...]]()
        for hidden in ("x", "y", "n"):
            tables(tmp_path, hidden)
            with opened_table({**keys, "sql": sql}, (), tmp_path) as source:
                seen.add(tuple(source.texts(["unit"])))
        assert len(seen) > 1


def test_types_do_not_depend_on_values(tmp_path: Path) -> None:
    """One 1.5 among whole numbers changes a type where DuckDB finds types, and changes none here."""
    texts = [f"id,t,v\nA,0,{value}\nA,1,2\n" for value in ("1", "1.5")]
    sniffed, ours = list[str](), list[str]()
    for text in texts:
        (tmp_path / "a.csv").write_text(text)
        sniffed.append(str(duckdb.read_csv(str(tmp_path / "a.csv")).types[2]))
        with opened_table({**KEYS, "file": "a.csv"}, STATES, tmp_path) as source:
            ours.append(source.reading)
        (tmp_path / "a.jsonl").write_text('{{"id": "A", "t": 0, "v": {}}}\n'.format(text.split(",")[4].split()[0]))
        with opened_table({**KEYS, "file": "a.jsonl"}, STATES, tmp_path) as source:
            ours.append(source.reading)
    assert sniffed[0] != sniffed[1]
    assert ours[:2] == ours[2:]


@pytest.mark.parametrize(("states", "rows"), [
    (("0", "1", "x"), ([0, 1, 1], ["0", "1", "x"])), (("true", "false", "?"), ([True, False], ["true", "?"])),
    (("-1", "2", "NA"), ([-1, 2], ["-1", "NA"])),
])  # fmt: skip
def test_the_type_of_a_frame_tells_no_states(states: tuple[str, ...], rows: tuple[list[Any], ...]) -> None:
    """As pandas reads a file, a column is of numbers where nobody is in the state x; certificates showed it."""
    readings = set[str]()
    for values in rows:
        frame = pa.table({"t": range(len(values)), "v": values})
        with opened_table({"order": "t", "value": "v", "step": 1}, states, Path(), frame) as source:
            readings.add(source.reading)
    assert len(readings) == 1
    assert '\nvalue: "v"\n' in readings.pop()


def test_where_is_true_or_false_for_each_row(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("id,t,v,w\nA,0,x,1\nA,1,y,\nB,0,y,2\n")
    keys = {**KEYS, "file": "a.csv"}
    with opened_table({**keys, "where": "w <> '2'"}, STATES, tmp_path) as source, pytest.raises(TakifuguError) as error:
        source.counts()
    assert error.value.line == (
        "where: row 2: where is neither true nor false; each row counts or does not count; "
        "where = \"coalesce(w <> '2', false)\""
    )
    with opened_table({**keys, "where": "coalesce(w <> '2', false)"}, STATES, tmp_path) as source:
        assert source.counts().counts.tolist() == [[1, 0, 0]]
        assert source.left_out()[1] == 2


LINES = "id,t,v\nA,0,1\nA,1,2\nA,sum,3\n,,\n"


@pytest.mark.sampled(3)
@pytest.mark.parametrize(("more", "said"), [
    ({"where": "t <> 'sum'"}, "where: row 4: where is neither true nor false"),
    ({"where": "coalesce(t <> 'sum', false)"}, ""),
    ({"where": "t IN ('0', '1')"}, "where: row 4: where is neither true nor false"),
    ({"where": "coalesce(t <> 'sum', false)", "value": "cast('n' || v AS bigint)"}, "value: value casts a value"),
    ({"where": "cast(t AS bigint) < 2"}, "where: where casts a value"),
    ({}, "order: order casts a value"),
])  # fmt: skip
def test_a_fault_of_one_expression_is_that_of_its_key_in_the_rows_that_count(
    more: dict[str, Any], said: str, tmp_path: Path
) -> None:
    (tmp_path / "a.csv").write_text(LINES)
    keys = {**KEYS, "file": "a.csv", "order": "cast(t AS bigint)", "value": "'n' || v", **more}
    with opened_table(keys, ("n1", "n2"), tmp_path) as source:
        if not said:
            assert source.counts().counts.tolist() == [[1, 1]]
            return
        with pytest.raises(TakifuguError) as error:
            source.counts()
    assert error.value.line.startswith(said)
    assert not isinstance(error.value, RowFault) or not error.value.others


def test_of_a_change_that_perhaps_does_not_count_nothing_else_is_told(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("id,t,v\nA,0,x\nB,1,y\n,,\n")
    keys = {**KEYS, "file": "a.csv", "rows": "changes", "order": "cast(t AS bigint)", "where": "t <> '9'"}
    calendar = {"from": 0, "until": 5, "roster": ["A", "B"], "default_state": "x"}
    with opened_table({**keys, **calendar}, STATES, tmp_path) as source, pytest.raises(RowFault) as error:
        source.counts()
    assert error.value.message.startswith("row 3: where is neither true nor false")
    assert error.value.others == ()


# -- random sql, roles and where, over pairs of tables that differ in one cell

SCALARS = [
    "v",
    "w",
    "lower(v)",
    "v || w",
    "coalesce(v, w)",
    "CASE WHEN v = 'x' THEN w ELSE 'y' END",
    "nullif(v, 'n')",
    "h",
    "n",
    "z",
    "id",
]
FROM = [
    READ, f"(select * from {READ})", f"(select * replace (lower(v) as v) from {READ})",
    f"(select a.*, z from {READ} a left join read_csv('b.csv') b on a.h = b.h)",
    f"(select a.*, z from {READ} a join read_csv('b.csv') b on a.h = b.h)",
    f"(select a.*, z from {READ} a left join (from (values ('x', 'y'), ('y', 'x')) k(s, z)) k on a.v = k.s)",
    f"(select *, lag(v) over (partition by id order by t, h) as n from {READ})",
    f"(select *, count(*) over (partition by id) as n from {READ})",
    f"(select *, row_number() over (partition by id order by t) as n from {READ})",
    f"(select distinct * from {READ})",
    f"(select id, t, v, w, h from {READ} union all select id, t || '5', w, v, h from {READ})",
    f"(select id, t, v, v as w, h from {READ} union all select id, t || '6', w, w, h from {READ})",
    f"(select id, h, t, q as w, v from (unpivot {READ} on v, w into name q value v))",
    f"(select id, h, t || q as t, q as w, v from {READ} unpivot include nulls (v for q in (v, w)))",
    f"(from {READ} qualify row_number() over (partition by id order by t, h) <= 2)",
    f"(from {READ} qualify count(*) over (partition by v) > 1)",
    f"(select * from {READ} where v in (select z from read_csv('b.csv')))",
    f"(select * from {READ} a semi join read_csv('b.csv') b on a.h = b.h)",
]  # fmt: skip
WHERE = ["", "", "", " where w <> 'n'", " where v <> 'n'", " where t <> '1'", " where v = w or h = '1'"]
TAIL = [
    "",
    "",
    "",
    " qualify row_number() over (partition by id, t order by h, w) = 1",
    " qualify max(w) over (partition by id) > 'n'",
]
UNITS = ["id", "id", "id", "id || h", "id || w", "upper(id)"]
ORDERS = ["t", "t", "t", "t || length(v)", "t::int + 1", "t || h"]


def random_keys(rng: random.Random) -> dict[str, Any]:
    column = rng.choice([*SCALARS[:2], *SCALARS])
    distinct = rng.choice(["", "", "", "distinct "])
    keys: dict[str, Any] = {
        "sql": f"select {distinct}* from {rng.choice(FROM)} s{rng.choice(WHERE)}{rng.choice(TAIL)}",
        "unit": rng.choice(UNITS),
        "order": rng.choice(ORDERS), "value": column, "step": 1, "nulls": "unobserved",
    }  # fmt: skip
    if rng.random() < 0.2:
        keys["where"] = rng.choice(["w <> 'n'", "v <> 'n'", "h = '1'"])
    if rng.random() < 0.4:
        keys |= {"from": 0, "until": 999, "gaps": "hidden", "roster": ["A", "B", "C"]}
    return keys


def random_tables(rng: random.Random) -> tuple[list[list[str]], list[list[str]]]:
    rows = []
    for unit in "ABC":
        for t in range(rng.randint(1, 3)):
            rows.append([unit, str(t), rng.choice("xyn"), rng.choice("xyn"), rng.choice("12")])
    return rows, [["1", rng.choice("xyn")], ["2", rng.choice("xyn")]]


def write(folder: Path, rows: list[list[str]], others: list[list[str]]) -> None:
    lines = ["id,t,v,w,h", *map(",".join, rows)]
    (folder / "a.csv").write_text("\n".join(lines) + "\n")
    (folder / "b.csv").write_text("\n".join(["h,z", *map(",".join, others)]) + "\n")


def opened_rows(folder: Path, keys: dict[str, Any]) -> tuple[Any, list[tuple[Any, ...]]] | None:
    """Return the opened source and its rows (unit, order, value), None where it is refused."""
    try:
        opened = roles.open_source(Source.of(keys, STATES), folder, str(folder))
        relation: Relation = opened.relation
        rows = relation.rows(
            'select unit::varchar, "order"::varchar, value0::varchar, "where" from "takifugu source"'
            if "where" in opened.roles
            else 'select unit::varchar, "order"::varchar, value0::varchar from "takifugu source"'
        )
        relation.close()
    except TakifuguError:
        return None
    return opened, rows


def check_pair(seed: int, folder: Path) -> str:
    """Compare two tables that differ in one cell: what does not come from it is alike, and a value is in one row."""
    rng = random.Random(seed)
    keys, (rows, others) = random_keys(rng), random_tables(rng)
    write(folder, rows, others)
    first = opened_rows(folder, keys)
    if first is None:
        return "refused"
    opened, before = first
    is_other = rng.random() < 0.2
    table, names = (others, ["h", "z"]) if is_other else (rows, ["id", "t", "v", "w", "h"])
    row, column = rng.randrange(len(table)), rng.randrange(len(names))
    table[row][column] = {"id": "A", "t": "4", "h": "2"}.get(names[column], rng.choice("xyn"))
    write(folder, rows, others)
    second = opened_rows(folder, keys)
    if second is None:
        return "refused"
    _, after = second
    if any(max(Counter(row[:2] for row in some).values(), default=0) > 1 for some in (before, after)):
        return "refused"  # a tie
    cell = (1 if is_other else 0, names[column])  # in the order of FROM
    of = {name: role.cells for name, role in opened.roles.items()}
    deciding = {**opened.filters, **of.get("where", {})}
    if cell not in deciding and "select distinct * from" not in keys["sql"]:  # which depends on all columns
        for places, roles in (((0,), ["unit"]), ((1,), ["order"]), ((2,), ["value0"]), ((0, 1), ["unit", "order"])):
            if all(cell not in of[role] for role in roles):
                assert Counter(tuple(r[p] for p in places) for r in before) == Counter(
                    tuple(r[p] for p in places) for r in after
                ), (seed, keys, roles)
    if cell in of["value0"]:  # a hidden value: one entry, and nothing public
        one, other = Counter(before), Counter(after)
        assert sum((one - other).values()) <= 1, (seed, keys)
        assert sum((other - one).values()) <= 1, (seed, keys)
        if not opened.source.is_covered:
            assert Counter(r[:2] for r in before) == Counter(r[:2] for r in after), (seed, keys)
        return "hidden"
    return "public"


@pytest.mark.mutants
@pytest.mark.parametrize("seeds", [
    [4006], *rounds(5, 25),
    *(pytest.param(range(n, n + 1300), marks=pytest.mark.slow) for n in range(1000, 7500, 1300)),
])  # fmt: skip
def test_random_pairs_differ_where_a_value_goes_and_nowhere_else(tmp_path: Path, seeds: Sequence[int]) -> None:
    said = Counter(check_pair(seed, tmp_path) for seed in seeds)
    assert said["hidden"] >= (len(seeds) + 6) // 26, said


def test_a_key_of_another_type_would_meet_two_rows(tmp_path: Path) -> None:
    """7 is equal to the texts 7 and 07, so a record would go into two rows."""
    (tmp_path / "a.csv").write_text("id,t,v,h\nA,0,x,7\n")
    (tmp_path / "b.csv").write_text("h,z\n7,1\n07,2\n")
    joined = "select id, t || z as t, v from (select * replace (h::int as h) from {}) a "
    joined += "join read_csv('b.csv') b on a.h = b.h"
    for sql in (joined.format(READ), joined.format(READ).replace("on a.h = b.h", "using (h)")):
        with pytest.raises(TakifuguError, match="two types"), opened_table({**KEYS, "sql": sql}, STATES, tmp_path):
            pass


def test_a_first_line_that_is_a_row_is_not_told(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("Geheim,Krebs,Krebs\nAna,x,y\n")
    for keys in ({"file": "a.csv"}, {"sql": f"select unit, t, v from {READ}"}, {"sql": f"from {READ}"}):
        with pytest.raises(TakifuguError) as error, opened_table({**KEYS, **keys}, STATES, tmp_path):
            pass
        assert "Geheim" not in error.value.line
        assert "Krebs" not in error.value.line


def test_categories_of_a_frame_are_not_told(tmp_path: Path) -> None:
    import pandas as pd

    frame = pd.DataFrame({"id": ["A", "B"], "t": [0, 0], "v": ["x", "Krebs"]})
    frame = frame.astype({"v": "category", "t": "category"})
    with opened_table({**KEYS, "order": "t::varchar"}, STATES, tmp_path, frame) as source:
        assert "Krebs" not in source.reading
    with opened_table(KEYS, STATES, tmp_path, frame) as source, pytest.raises(TakifuguError) as error:
        source.counts()
    assert "Krebs" not in error.value.line
