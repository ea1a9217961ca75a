"""The tables of a release file: which query each one publishes about a belief, and which key an error is about."""

from fractions import Fraction as F
from pathlib import Path
from typing import Any

import pytest

import takifugu as tf
from takifugu.core.errors import InputError
from takifugu.model.beliefs.domain import Domain
from takifugu.model.queries import check, name_of, sections_of
from takifugu.model.queries.sections import EACH_ROW, ENTRIES, POLICY, WHOLE_COLUMNS, known_value, spelled

TABLE = tf.JointTable([(0, "x"), (1, "y"), (2, "x")], [0.5, 0.25, 0.25], ["age", "sex"])
CHAIN = tf.MarkovChain([[0.5, 0.5], [0.5, 0.5]], 3)
ROWS = tf.Records(TABLE, 10)
PEOPLE = Domain.of(5, ["ill", "well"])
HERE = Path()


def query(rows: str, name: str, belief: Any, **keys: Any) -> Any:
    return sections_of(rows)[name](query=name, **keys).query_about(belief, HERE)


def test_every_table_is_listed_by_the_name_that_it_has_in_a_file() -> None:
    for rows in (*ENTRIES, WHOLE_COLUMNS, EACH_ROW, POLICY):
        sections = sections_of(rows)
        assert sections
        assert {name: name_of(section) for name, section in sections.items()} == {name: name for name in sections}
    assert name_of(tf.Count) == name_of(Path) == ""  # no section


@pytest.mark.parametrize(("name", "keys", "expected"), [
    ("histogram", {"states": ("1", 0), "total": 4}, tf.Histogram([1, 0], 4)),
    ("histogram", {"variables": ("sex",)}, tf.Histogram(entries=["sex"])),
    ("histogram", {"variables": ("sex",), "states": ("y",)}, tf.Histogram(["y"], entries=["sex"])),
    ("count", {"states": ("0", "x"), "variables": ("age", "sex")}, tf.Count([0, "x"], ["age", "sex"])),
    ("count", {"states": ("2",)}, tf.Count([2])),
    ("sum", {"attribute": "age", "grid": "1/2"}, tf.Sum("age", grid="1/2")),
    ("sum", {"variables": ("sex",), "codes": {"x": 0, "y": "1/3"}},
     tf.Sum(codes={"x": 0, "y": F(1, 3)}, entries=["sex"])),
    ("mean", {"attribute": "sex", "codes": {"x": 0, "y": 2}}, tf.Mean("sex", {"x": 0, "y": 2})),
    ("mean", {"codes": {"0": 1, "1": 2, "2": 3, "x": 0, "y": 2}}, tf.Mean(codes={0: 1, 1: 2, 2: 3, "x": 0, "y": 2})),
    ("identity", {"attribute": "age", "grid": 2}, tf.Identity("age", 2)),
    ("identity", {"attribute": "sex", "codes": {"x": 0, "y": 1}}, tf.Identity("sex", codes={"x": 0, "y": 1})),
    ("median", {"variables": ("age",)}, tf.Median(entries=["age"])),
    ("median", {"states": ("y", "x"), "variables": ("sex",)}, tf.Median(states=["y", "x"], entries=["sex"])),
    ("quantile", {"share": ("0.1", "0.9"), "codes": {"x": 0, "y": 2}, "variables": ("sex",)},
     tf.Quantile(["0.1", "0.9"], {"x": 0, "y": 2}, entries=["sex"])),
    ("mode", {"states": ("1", "2"), "variables": ("age",)}, tf.Mode([1, 2], ["age"])),
    ("top-k", {"k": 2, "variables": ("age",)}, tf.TopK(2, entries=["age"])),
    ("count-above", {"thresholds": ("1/2", 1), "variables": ("age",)}, tf.CountAbove(["1/2", 1], entries=["age"])),
])  # fmt: skip
def test_values_and_columns_are_those_of_the_belief(name: str, keys: dict[str, Any], expected: Any) -> None:
    assert query(ENTRIES[1], name, TABLE, **keys) == expected


@pytest.mark.parametrize(("name", "keys", "where"), [
    ("histogram", {"states": ("3",)}, "states"), ("histogram", {"variables": ("sex",), "states": ("1",)}, "states"),
    ("histogram", {"variables": ("town",)}, "variables"), ("count", {"states": ("z",)}, "states"),
    ("sum", {"attribute": "town"}, "attribute"), ("sum", {"attribute": "age", "codes": {"x": 1}}, "codes"),
    ("mean", {"variables": ("age",), "codes": {"x": 1}}, "codes"), ("identity", {"attribute": "town"}, "attribute"),
])  # fmt: skip
def test_what_the_belief_does_not_know_is_said_of_its_key(name: str, keys: dict[str, Any], where: str) -> None:
    with pytest.raises(InputError) as refusal:
        query(ENTRIES[1], name, TABLE, **keys)
    assert refusal.value.where[0] == where


def test_a_value_is_known_by_its_text_and_no_two_have_one() -> None:
    assert spelled([1, "a"]) == {"1": 1, "a": "a"}
    assert known_value("1", spelled([1, "a"])) == known_value(1, spelled([1, "a"])) == 1
    with pytest.raises(InputError, match="written alike"):
        spelled([1, "1"])
    with pytest.raises(InputError, match="did you mean 'still'"):
        known_value("stil", {"still": "still"}, "states")


def test_weights_are_one_for_each_entry_and_not_all_0(tmp_path: Path) -> None:
    (tmp_path / "weights.csv").write_text("1,0\n1/2\n", encoding="utf-8")
    linear = sections_of(ENTRIES[0])["linear"]
    for weights in ((1, 0, "1/2"), "weights.csv"):
        assert linear(query="linear", weights=weights).query_about(CHAIN, tmp_path) == tf.Linear([1, 0, "1/2"])
    coded = linear(query="linear", weights=(1, 1, 1), codes={"0": 5, "1": 7}, grid=1)
    assert coded.query_about(CHAIN, HERE) == tf.Linear([1, 1, 1], {0: 5, 1: 7}, 1)
    for weights in ((0, 0, "0"), ("one",)):
        with pytest.raises(InputError) as refusal:
            linear(query="linear", weights=weights).query_about(CHAIN, HERE)
        assert refusal.value.where == ("weights",)


@pytest.mark.parametrize(("name", "keys", "expected"), [
    ("histogram", {"attribute": "age"}, tf.Histogram(None, None, ["age"])),
    ("histogram", {"attribute": ("sex",), "states": ("y",), "total": 10}, tf.Histogram(["y"], 10, ["sex"])),
    ("histogram", {"by": "age"}, tf.CrossTable({"age": [0, 1, 2]})),
    ("histogram", {"attribute": "sex", "by": ("age",), "total": 5},
     tf.CrossTable({"age": [0, 1, 2], "sex": ["x", "y"]}, 5)),
    ("histogram", {"attribute": "age", "by": "sex", "states": ("2", "0")},
     tf.CrossTable({"sex": ["x", "y"], "age": [2, 0]})),
    ("mean", {"attribute": "age", "grid": "1/2"}, tf.Mean("age", grid="1/2")),
    ("mean", {"attribute": ("sex",), "codes": {"x": 1, "y": 3}}, tf.Mean("sex", {"x": 1, "y": 3})),
    ("sum", {"attribute": ("age", "age"), "grid": 2}, tf.JointQuery([tf.Sum("age", grid=2)] * 2, 2)),
    ("linear", {"weights": {"sex": "1/2"}, "grid": 3}, tf.Linear([0, "1/2"], grid=3)),
    ("count", {"attribute": "age", "states": ("1", "2")}, tf.CountRows({"age": [1, 2]})),
    ("count-rows", {"where": {"age": "1", "sex": ("x", "y")}, "any_of": True},
     tf.CountRows({"age": [1], "sex": ["x", "y"]}, any_of=True)),
])  # fmt: skip
def test_tables_about_whole_columns(name: str, keys: dict[str, Any], expected: Any) -> None:
    made = query(WHOLE_COLUMNS, name, ROWS, **keys)
    assert made.to_dict() == expected.to_dict()


@pytest.mark.parametrize(("keys", "where"), [
    ({}, "attribute"), ({"attribute": "town"}, "attribute"), ({"by": "town"}, "by"),
    ({"by": "age", "states": ("1",)}, "states"), ({"attribute": ("age", "sex"), "states": ("1",)}, "states"),
    ({"attribute": ("age", "sex")}, "attribute"), ({"attribute": "age", "by": ("sex", "age")}, "by"),
    ({"by": ("sex", "sex")}, "by"), ({"attribute": "age", "states": ("x",)}, "states"),
])  # fmt: skip
def test_a_histogram_of_whole_columns_that_names_too_little_or_too_much(keys: dict[str, Any], where: str) -> None:
    with pytest.raises(InputError) as refusal:
        query(WHOLE_COLUMNS, "histogram", ROWS, **keys)
    assert refusal.value.where == (where,)
    section = sections_of(WHOLE_COLUMNS)["histogram"]
    assert section(query="histogram", **keys).blamed == ("by" if "by" in keys else "attribute")


@pytest.mark.parametrize(("name", "keys", "where", "blamed"), [
    ("mean", {"attribute": "town"}, "attribute", "attribute"),
    ("sum", {"attribute": ("age", "town")}, "attribute", "attribute"),
    ("sum", {"attribute": "age", "codes": {"x": 1}}, "codes", "codes"),
    ("linear", {"weights": {"town": 1}}, "weights", "weights"),
    ("count", {"attribute": "town", "states": ("1",)}, "attribute", "attribute"),
    ("count", {"attribute": "age", "states": ("x",)}, "states", "attribute"),
    ("count-rows", {"where": {"age": "x"}}, "where", "where"),
])  # fmt: skip
def test_what_whole_columns_do_not_have_is_said_of_its_key(
    name: str, keys: dict[str, Any], where: str, blamed: str
) -> None:
    with pytest.raises(InputError) as refusal:
        query(WHOLE_COLUMNS, name, ROWS, **keys)
    assert refusal.value.where[0] == where
    assert sections_of(WHOLE_COLUMNS)[name](query=name, **keys).blamed == blamed


def test_real_numbers_have_no_cells() -> None:
    class Masses:
        columns = ("height", "mass")

    with pytest.raises(InputError, match="'mass' holds real numbers") as refusal:
        query(WHOLE_COLUMNS, "histogram", Masses(), by="mass")
    assert refusal.value.where == ("by",)


def test_tables_about_people_under_a_policy_and_about_each_row() -> None:
    assert query(POLICY, "count", PEOPLE, states=("ill",)) == tf.Count(["ill"])
    with pytest.raises(InputError, match="name at least one"):
        query(POLICY, "count", PEOPLE)
    assert query(POLICY, "visitors", PEOPLE, places=("bar",)) == tf.Visitors(["bar"])
    assert query(POLICY, "visitors", PEOPLE) == tf.Visitors()
    assert query(POLICY, "safe", PEOPLE, at_most=5, places=("bar",)) == tf.AtMost(tf.Visitors(["bar"]), 5)
    assert query(POLICY, "safe", PEOPLE, at_most=5, limit=2, states=("ill",)) == tf.AtMost(tf.Count(["ill"]), 5, 2)
    assert query(EACH_ROW, "each-value", PEOPLE, dummies=3) == tf.LocalValue(3)


def test_a_query_that_could_not_be_read_back_is_refused_and_says_why() -> None:
    class Half(tf.Query):
        def resolve(self, entries: Any) -> Any: ...

    class Unknown(Half):
        def to_dict(self) -> dict[str, Any]:
            return {"kind": "unknown"}

        def describe(self) -> str:
            return "nothing"

    class Pretending(Unknown):
        def to_dict(self) -> dict[str, Any]:
            return {"kind": "count"}

    refused: list[tuple[Any, str]] = [
        (Half(), r"lacks describe, to_dict"), (Unknown(), "kind 'unknown' is registered by nobody"),
        (Pretending(), "'count', which is another type"), (tf.Count, "the query is"), ("count", "the query is 'count'"),
    ]  # fmt: skip
    for wrong, message in refused:
        with pytest.raises(InputError, match=message):
            check(wrong)
    check(tf.Count(1))
