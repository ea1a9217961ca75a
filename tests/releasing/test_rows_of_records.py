"""Rows of people, users and networks are read as one typed relation: by expressions, by type, and never by a guess."""

import random
from collections import Counter
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from tests.support.release_files import EXPECT, believe, group, hide, publish, read_from, release_text
from tests.support.releases import cells, put, refusal_of, refused

from takifugu.core.errors import DataError, SpecError, TakifuguError
from takifugu.releasing.advice.leaving_out import in_place_of_good, left_out
from takifugu.releasing.file.kind import assumptions_of
from takifugu.releasing.file.loading import load
from takifugu.releasing.file.public import same_rows
from takifugu.releasing.file.relation_keys import UNOPENED

BIF = """\
network clinic { }
variable smoke { type discrete [ 2 ] { yes, no }; }
variable cough { type discrete [ 2 ] { yes, no }; }
probability ( smoke ) { table 0.3, 0.7; }
probability ( cough | smoke ) { (yes) 0.3, 0.7; (no) 0.6, 0.4; }
"""


def users(value: Any = "answer", size: int = 4, belief: dict[str, Any] | None = None, **keys: Any) -> str:
    """Write a release file of users who answer yes or no."""
    return release_text(
        read_from("survey", "data.csv", value=value, budget=5, **keys),
        believe("users", **{"size": size, "values": ["yes", "no"], "probabilities": [0.5, 0.5]} | (belief or {})),
        publish("answers", "histogram", epsilon=1),
        expect=EXPECT,
    )  # fmt: skip


def network(**keys: Any) -> str:
    """Write a release file of patients who follow a network."""
    return release_text(
        read_from("clinic", "data.csv", unit="patient", budget=5, **keys),
        believe("network", file="clinic.bif", units_independent=True),
        hide(variable="smoke"),
        publish("found", "count", states=["yes"], variables=["cough"], epsilon=1),
        expect=EXPECT,
    )  # fmt: skip


def joint(**keys: Any) -> str:
    """Write a release file of people whose joint counts are those of a public file."""
    return release_text(
        read_from("people", "data.csv", unit="person", budget=5, **keys),
        believe("joint-table", source="a census", units_independent=True,
                fit={"file": "public.csv", "columns": ["a", "b"]}),
        publish("b", "identity", attribute="b", codes={"x": 0, "y": 1}, epsilon=1),
        expect=EXPECT,
    )  # fmt: skip


def written(folder: Path, text: str, data: str = "", **files: str) -> Path:
    return put(folder, {"release.toml": text, "clinic.bif": BIF, "data.csv": data, **files})


def records(path: Path, data: object = None) -> Any:
    file = load(path, data)
    return {unit.name: unit.data for unit in file.kind.units(file)}


def test_values_groups_and_people_may_be_expressions(tmp_path: Path) -> None:
    text = users(value="lower(trim(answer))", where="kind <> 'total'")
    data = "kind,answer\nperson,Yes\nperson, no\ntotal,4\nperson,NO\nperson,yes\n"
    assert cells(written(tmp_path, text, data)) == {"yes": 2, "no": 2}
    text = users(group="upper(ward)", belief={"size": 4}).replace("size = 4\n", "").replace(
        'values = ["yes", "no"]\nprobabilities = [0.5, 0.5]',
        "\n".join(["", group("A", 1, ["yes", "no"], [0.5, 0.5]), group("B", 3, ["yes", "no"], [0.5, 0.5])]),
    )  # fmt: skip
    rows = "ward,answer\na,yes\nb,no\nB,no\nb,yes\n"
    file = load(written(tmp_path, text, rows))
    assert [unit.data for unit in file.kind.units(file)] == [["yes", "yes", "no", "no"]]
    text = network(where="ward <> 'x'").replace('"patient"', '"id || \'/\' || ward"')
    by_person = records(written(tmp_path, text, "id,ward,smoke,cough\n1,a,yes,no\n1,b,no,no\n2,x,-,-\n"))
    assert by_person == {"1/a": {"smoke": "yes", "cough": "no"}, "1/b": {"smoke": "no", "cough": "no"}}


def test_a_select_may_be_longer_than_the_name_of_a_file_and_a_name_may_not(tmp_path: Path) -> None:
    columns = ", ".join(f"answer as a{number}" for number in range(50))
    select = f"select {columns}, answer from read_csv('data.csv', all_varchar = true)"
    text = users().replace('file = "data.csv"', f'sql = "{select}"')
    assert cells(written(tmp_path, text, "answer\nyes\nno\nno\nno\n")) == {"yes": 1, "no": 3}
    long = refusal_of(written(tmp_path, f'output = "{"é" * 128}"\n{users()}'))
    assert "255 bytes at most" in str(long)


@pytest.mark.mutants
def test_counts_are_those_of_a_loop_over_random_rows(tmp_path: Path) -> None:
    """Whatever the columns are made of, texts, bins and missing answers count as a loop in Python counts them."""
    for seed in range(12):
        rng, size = random.Random(seed), random.Random(seed).randint(1, 30)
        rows = [(rng.choice(["f", "m", ""]), rng.choice(["0", "29.5", "30", "120"])) for _ in range(size)]
        expected = Counter(f"{sex or 'f'}, {'young' if float(age) < 30 else 'old'}" for sex, age in rows)
        text = users(
            ["sex", "age"], size, bins={"age": {"old": [30, 120], "young": [0, 30]}},
            belief={"values": [[s, a] for s in "fm" for a in ("young", "old")], "probabilities": [0.25] * 4,
                    "missing": {"sex": "f"}},
        )  # fmt: skip
        path = written(tmp_path, text, "\n".join(["sex,age", *map(",".join, rows)]) + "\n")
        assert Counter(cells(path)) == expected, seed
        frame = pl.DataFrame({"sex": [sex or None for sex, _ in rows], "age": [float(age) for _, age in rows]})
        assert Counter(cells(path, frame)) == expected, seed


@pytest.mark.parametrize(("column", "words"), [
    (pl.Series([1.0, 2.0, 1.0, 2.0]), "holds numbers with a point (DOUBLE)"),
    (pl.Series([1, 2, 1, 2]).cast(pl.Decimal(5, 2)), "holds numbers with a point (DECIMAL"),
    (pl.Series(["2026-01-05"] * 4).str.to_date(), "holds DATE"),
])  # fmt: skip
def test_values_are_of_a_type_that_has_states(column: Any, words: str, tmp_path: Path) -> None:
    """The type is judged before a row is read; the line that is printed mends it."""
    numbers = {"values": ["1", "2"], "probabilities": [0.5, 0.5]}
    path = written(tmp_path, users(belief=numbers))
    (fault,) = refusal_of(path, pl.DataFrame({"answer": column})).faults
    assert fault.where == ("source", "value")
    assert words in fault.what
    line = fault.fix.rpartition("value = ")[2]
    path.write_text(path.read_text().replace('value = "answer"', f"value = {line}"))
    if "DATE" not in words:
        assert cells(path, pl.DataFrame({"answer": column})) == {"1": 2, "2": 2}
    several = written(tmp_path, users(["answer", "sex"], belief={"values": [["1", "f"]], "probabilities": [1]}))
    frame = pl.DataFrame({"answer": column, "sex": ["f"] * 4})
    assert 'column "answer" holds' in str(refusal_of(several, frame))
    of_network = written(tmp_path, network())
    frame = pl.DataFrame({"patient": list("abcd"), "smoke": column, "cough": ["yes"] * 4})
    assert 'sql = "SELECT * REPLACE (cast(' in str(refusal_of(of_network, frame))


def test_true_and_false_whole_numbers_and_names_of_categories_are_states(tmp_path: Path) -> None:
    path = written(tmp_path, users(belief={"values": ["true", "false"], "probabilities": [0.5, 0.5]}))
    assert cells(path, pl.DataFrame({"answer": [True, False, True, True]})) == {"true": 3, "false": 1}
    path = written(tmp_path, users())
    words = pl.Series(["yes", "no", "no", "no"], dtype=pl.Categorical)
    assert cells(path, pl.DataFrame({"answer": words})) == {"yes": 1, "no": 3}


def test_a_name_of_the_belief_is_a_column_and_never_an_expression(tmp_path: Path) -> None:
    """A column that is called a-b is not the difference of a and b, 1 is no constant, and Smoke is not smoke."""
    for name, header in (("a-b", "patient,a,b,cough"), ("1", "patient,a,b,cough"), ("smoke", "patient,Smoke,x,cough")):
        bif = BIF.replace("smoke", name)
        text = network().replace('"smoke"', f'"{name}"')
        path = written(tmp_path, text, f"{header}\np,yes,yes,no\n", **{"clinic.bif": bif})
        assert f"source.file: the first line of data.csv has no '{name}'" in str(refusal_of(path))
        frame = pl.DataFrame({column: ["yes"] for column in header.split(",")})
        assert f"source.file: the data has no column '{name}'" in str(refusal_of(path, frame))


@pytest.mark.parametrize(("text", "where"), [
    (users(roster=["Ana"]), "roster"), (users(nulls="unobserved"), "nulls"), (users(engine="spark"), "engine"),
    (users(unit="person"), "unit"), (network(nulls="unobserved"), "nulls"), (network(value="smoke"), "value"),
    (users(order="t"), "order"), (users(missing=["NA"]), "missing"), (users(null_keys="drop"), "null_keys"),
    (network(null_keys="drop"), "null_keys"), (network(header=3), "header"), (users(decimal=","), "decimal"),
])  # fmt: skip
def test_keys_that_no_row_of_records_is_read_by_are_refused(text: str, where: str, tmp_path: Path) -> None:
    (fault,) = refusal_of(written(tmp_path, text), UNOPENED).faults
    assert fault.where == ("source", where)


@pytest.mark.parametrize(("keys", "where"), [
    ({"where": "answer <> 'yes'"}, "where"), ({"group": "answer"}, "group"),
    ({"value": "random()"}, "value"), ({"value": "(select 1)"}, "value"), ({"value": "count(*)"}, "value"),
    ({"value": "answer ||"}, "value"), ({"value": "anser"}, "value"), ({"group": "wrd"}, "group"),
])  # fmt: skip
def test_what_rows_may_not_depend_on_is_refused_at_its_key(keys: dict[str, str], where: str, tmp_path: Path) -> None:
    """Without the rule about `where` the number of rows would tell the answers that it leaves out."""
    text = users(**keys)
    if "group" in keys:
        text = text.replace("size = 4\nvalues", "values").replace(
            'values = ["yes", "no"]\nprobabilities = [0.5, 0.5]', "\n" + group("A", 4, ["yes", "no"], [0.5, 0.5])
        )
    (fault,) = refusal_of(written(tmp_path, text, "answer,ward\nyes,A\nno,A\nno,A\nno,A\n")).faults
    assert fault.where == ("source", where)


def test_what_columns_of_the_belief_may_not_be_is_refused_where_they_are_written(tmp_path: Path) -> None:
    """Each column of these kinds is a value, and no key of their [source] names it."""
    rows = "read_csv('data.csv', all_varchar = true)"
    select = f"select patient, smoke, max(cough) over () as cough from {rows}"
    text = network().replace('file = "data.csv"', f'sql = "{select}"')
    (fault,) = refusal_of(written(tmp_path, text, "patient,smoke,cough\n1,yes,no\n")).faults
    assert fault.where == ("source", "sql")
    assert "goes into several rows" in str(fault)


def test_every_fault_of_rows_is_told_with_its_column_and_row_and_no_value(tmp_path: Path) -> None:
    data = "patient,smoke,cough\na,yes,no\nb,geheim,no\nc,,geheim\na,yes,Yes\n"
    caught = refused(written(tmp_path, network(), data))
    lines = [fault.line for fault in getattr(caught, "faults", [caught])]
    text = "\n".join(lines)
    for words in ("row 4: a second row", 'row 3: nothing in "smoke"', 'row 2: a value in "smoke" that is not declared',
                  'row 4: a value in "cough" that is a declared one'):  # fmt: skip
        assert words in text
    assert "geheim" not in text


def test_rows_that_are_left_out_are_counted_for_the_owner_and_never_good_by_default(tmp_path: Path) -> None:
    data = "kind,answer\n" + "p,yes\n" * 4 + "t,-\n" * 2
    file = load(written(tmp_path, users(where="kind = 'p'"), data))
    assert in_place_of_good(file).startswith("rows may be left out (where = ")
    assert in_place_of_good(file, is_seen=True).startswith("2 of 6 rows do not count (where = ")
    assert left_out(load(written(tmp_path, users(), data))) is None
    select = "from read_csv('data.csv') where kind = 'p'"
    file = load(written(tmp_path, users(sql=select).replace('file = "data.csv"\n', ""), data))
    assert f"The rows are those of {select}" in map(str, assumptions_of(file))
    assert in_place_of_good(file) == in_place_of_good(file, is_seen=True) == "rows may be left out (a filter in sql)"
    file = load(written(tmp_path, users(where="kind = 'p'"), data))
    assert "Rows count where kind = 'p'. Nothing is guaranteed about others." in map(str, assumptions_of(file))


@pytest.mark.parametrize("change", ["", "order", "where", "numbers", "frame"])
def test_a_public_file_with_the_private_rows_is_refused_however_they_are_written(change: str, tmp_path: Path) -> None:
    rows = [("x", "x"), ("x", "y"), ("y", "x"), ("y", "y"), ("y", "y")]
    public = "a,b\n" + "".join(f"{a},{b}\n" for a, b in rows)
    if change == "order":
        rows.reverse()
    private = "person,b,a\n" + "".join(f"p{n},{b},{a}\n" for n, (a, b) in enumerate(rows))
    keys = {"where": "person <> 'nobody'"} if change == "where" else {}
    if change == "where":
        private += "nobody,x,x\n"
    path = written(tmp_path, joint(**keys), private, **{"public.csv": public})
    frame = pl.read_csv(tmp_path / "data.csv") if change == "frame" else None
    if change == "numbers":  # 7 in one file is 7.0 in another
        counts = {("7",): 2, ("8.5",): 1}
        text = users(size=3, belief={"values": ["a", "b"]}, bins={"a": [0, 8], "b": [8, 9]})
        table = load(written(tmp_path, text), pl.DataFrame({"answer": [7.0, 8.5, 7.0]})).table
        assert same_rows(counts, table, ["answer"])
        assert not same_rows({("7",): 1, ("8.5",): 2}, table, ["answer"])
        assert not same_rows(counts, table, ["other"])
        return
    assert "has the rows of the private data" in str(refusal_of(path, frame))
    (tmp_path / "public.csv").write_text(public + "y,x\n")
    load(path, frame)


def test_what_decides_how_rows_are_read_is_in_the_reading(tmp_path: Path) -> None:
    """Of records the columns are no part of it: a column of the same person is another question about them."""
    data = "patient,smoke,cough,answer,ward\np,yes,no,yes,A\nq,no,no,no,A\n"
    files = [
        users(size=2), users("lower(answer)", 2), users(size=2, where="ward = 'A'"),
        users(size=2, belief={"missing": {"answer": "no"}}), network(), network(where="ward = 'A'"),
    ]
    readings = [load(written(tmp_path, text, data)).reading for text in files]
    assert len(set(readings)) == len(readings)
    assert 'belief.missing: {"answer": "no"}' in readings[3]
    assert "smoke" not in readings[4]


def test_bad_rows_spend_nothing(tmp_path: Path) -> None:
    with pytest.raises((DataError, SpecError)) as caught:
        records(written(tmp_path, network(), "patient,smoke,cough\n7.0,yes,no\n"))
    assert "with a point or an exponent" in str(caught.value)
    for unit, words in (("1e+05", "with a point or an exponent"), ("Total", "has a name of totals")):
        path = written(tmp_path, network(), f"patient,smoke,cough\n{unit},yes,no\n")
        assert words in str(refused(path, kind=TakifuguError))
