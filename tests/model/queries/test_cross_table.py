"""Cross tables of records: what they count, how far they move (by every pair of data sets), what they refuse."""

from __future__ import annotations

import json
from itertools import product
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.support import cross_oracles as oracle

import takifugu as tf
from takifugu.analysis.questions.evaluating import evaluate, value_indices
from takifugu.core.errors import InputError
from takifugu.model import queries

ALPHABETS = {"age": ("old", "young"), "sex": ("f", "m"), "smokes": (0, 1)}
EVERY = tuple(product(*ALPHABETS.values()))

COLUMNS = st.lists(st.sampled_from([*ALPHABETS]), min_size=1, unique=True).flatmap(
    lambda names: st.one_of(
        st.just(names),
        st.fixed_dictionaries({n: st.lists(st.sampled_from(ALPHABETS[n]), min_size=1, unique=True) for n in names}),
    )
)
ROWS = st.lists(st.sampled_from(EVERY), min_size=1, max_size=4, unique=True)


def records_of(rows: list[Any], records: int) -> tf.Records:
    return tf.Records(tf.JointTable(rows, [1 / len(rows)] * len(rows), names=[*ALPHABETS]), records)


def cells_of(columns: Any, belief: Any) -> tuple[list[int], list[Any]]:
    """Return the places of the columns, and the combinations that have cells."""
    known = dict(zip(belief.columns, (belief.table.alphabet(i) for i in range(3)), strict=True))
    values = [columns[n] if isinstance(columns, dict) else known[n] for n in columns]
    return [[*ALPHABETS].index(n) for n in columns], list(product(*values))


@settings(max_examples=50, deadline=None)
@given(COLUMNS, ROWS, st.integers(1, 2), st.data())
def test_it_counts_and_moves_as_all_data_sets_say(columns: Any, rows: list[Any], records: int, data: Any) -> None:
    belief = records_of(rows, records)
    query = tf.CrossTable(columns)
    try:
        answer = belief.resolve(query)
    except InputError:  # a value with a cell that no row has
        assert isinstance(columns, dict)
        return
    places, cells = cells_of(columns, belief)
    assert answer.labels == tuple(", ".join(map(str, cell)) for cell in cells)
    sample = data.draw(st.lists(st.sampled_from(rows), min_size=records, max_size=records))
    assert list(evaluate(answer, value_indices(belief, sample))) == oracle.table(sample, places, cells)
    for moved in range(1, records + 1):
        assert answer.change(range(moved)) == oracle.change_of_records(rows, records, moved, places, cells)
    again = queries.from_dict(json.loads(json.dumps(query.to_dict())))
    assert again == query
    assert again.describe() == query.describe()


@settings(max_examples=12, deadline=None)
@given(COLUMNS, st.integers(1, 2))
def test_whole_columns_move_it_as_all_data_sets_say(columns: Any, records: int) -> None:
    coins = {"few": {0: "0.7", 1: "0.3"}, "many": {0: "0.4", 1: "0.6"}}
    prior = tf.JointTable([(a, b, c) for a, b, c in product(["few", "many"], repeat=3)], [1 / 8] * 8, [*ALPHABETS])
    laws = {name: {level: dict(zip(ALPHABETS[name], law.values(), strict=True)) for level, law in coins.items()}
            for name in ALPHABETS}  # fmt: skip
    belief = tf.Parameters(prior, laws, records)
    answer = belief.resolve(tf.CrossTable(columns))
    names = [belief.described[i].name for i in range(3)]
    alphabets = {column.name: column.states for column in belief.described}
    rows = list(product(*(alphabets[name] for name in names)))
    values = [columns[n] if isinstance(columns, dict) else alphabets[n] for n in columns]
    places, cells = [names.index(n) for n in columns], list(product(*values))
    for near in [(0,), (1,), (2,), (0, 2), (0, 1, 2)]:
        entries = [belief.position(names[place]) for place in near]
        assert answer.change(entries) == oracle.change_of_columns(rows, records, near, places, cells)
    sample = rows[:records]
    assert list(evaluate(answer, value_indices(belief, sample))) == oracle.table(sample, places, cells)


def test_one_row_moves_two_however_many_cells_there_are() -> None:
    rows = list(product(range(6), range(5)))
    belief = tf.Records(tf.JointTable(rows, [1 / 30] * 30, names=["a", "b"]), 1000)
    answer = belief.resolve(tf.CrossTable(["a", "b"]))
    assert (answer.cells, answer.change([3]), answer.change(range(1000))) == (30, 2, 2000)
    assert answer.coordinate_change([0]) == 1


def test_rows_columns_and_the_total_of_its_cells_are_those_of_the_records() -> None:
    belief = records_of([*EVERY], 50)
    data = [EVERY[n] for n in np.random.default_rng(3).integers(len(EVERY), size=50)]
    values = value_indices(belief, data)
    both = dict(zip(belief.resolve(tf.CrossTable(["age", "sex"])).labels,
                    evaluate(belief.resolve(tf.CrossTable(["age", "sex"])), values), strict=True))  # fmt: skip
    alone = evaluate(belief.resolve(tf.CrossTable(["age"])), values)
    assert (both["old, f"] + both["old, m"], both["young, f"] + both["young, m"]) == alone
    assert sum(both.values()) == 50


@pytest.mark.parametrize(("columns", "where"), [
    ([], "columns"), ("age", "columns"), (3, "columns"), (["age", "age"], "columns"), ([3], "columns"),
    ({"age": []}, "columns"), ({"age": [["x"]]}, "states"),
])  # fmt: skip
def test_what_it_refuses(columns: Any, where: str) -> None:
    with pytest.raises(InputError) as refusal:
        tf.CrossTable(columns)
    assert refusal.value.where[0] == where


@pytest.mark.parametrize("total", [0, -1, 1.5, True, "x"])
def test_a_total_is_a_public_whole_number(total: Any) -> None:
    with pytest.raises(InputError) as refusal:
        tf.CrossTable(["age"], total=total)
    assert refusal.value.where == ("total",)


@pytest.mark.parametrize(("columns", "message"), [
    (["agee"], "did you mean 'age'"), ({"age": ["yung"]}, "did you mean 'young'"),
])  # fmt: skip
def test_an_unknown_name_is_told_with_the_nearest_one(columns: Any, message: str) -> None:
    with pytest.raises(InputError, match=message):
        records_of([*EVERY], 3).resolve(tf.CrossTable(columns))


def test_cells_that_are_written_alike_are_refused() -> None:
    belief = tf.Records(tf.JointTable([("a, b", "c"), ("a", "b, c")], [0.5, 0.5], names=["x", "y"]), 3)
    with pytest.raises(InputError, match="could not be told apart"):
        belief.resolve(tf.CrossTable(["x", "y"]))


def test_too_large_a_table_is_refused() -> None:
    names = list("abcdefgh")
    rows = [tuple(int(i == j) * n for i in range(8)) for j in range(8) for n in range(9)]
    belief = tf.Records(tf.JointTable(list(dict.fromkeys(rows)), [1 / 65] * 65, names=names), 3)
    with pytest.raises(InputError, match="at most 10,000,000"):
        belief.resolve(tf.CrossTable(names))


def test_it_requires_records() -> None:
    coin = tf.Pufferfish(tf.every_entry(), tf.JointTable([(0,), (1,)], [0.5, 0.5]))
    with pytest.raises(InputError, match="requires a belief over records"):
        tf.calibrate(coin, tf.CrossTable(["x1"]), 1)


@pytest.mark.parametrize(("columns", "labels", "parts"), [
    (["a", "b"], ["x, 1", "y, 2"], (("x", "1"), ("y", "2"))), (["a", "b"], ["x, y, 1"], None), (["a"], ["x"], None),
    ({"a": ["x, y"], "b": [1]}, ["x, y, 1"], (("x, y", "1"),)), (["a", "b", "c"], ["x, 1, 2"], None),
])  # fmt: skip
def test_labels_are_told_apart_where_they_can_be(columns: Any, labels: list[str], parts: Any) -> None:
    assert tf.CrossTable.two_way(tf.CrossTable(columns).to_dict(), labels) == parts
