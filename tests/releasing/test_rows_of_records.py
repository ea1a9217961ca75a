"""Rows of people, users and networks are read as one typed relation: by expressions, by type, and never by a guess."""

import random
from collections import Counter
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from tests.support.release_files import EXPECT, believe, group, hide, publish, read_from, release_text
from tests.support.releases import cells, put, refusal_of

from takifugu.releasing.file.loading import load

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
