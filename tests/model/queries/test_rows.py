"""Counts of records by their columns: what they count, what they refuse, how they are written."""

from __future__ import annotations

import json
from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st

import takifugu as tf
from takifugu.model import queries

STATES = ("a", "b", "c")
CONDITIONS = st.dictionaries(st.sampled_from("xyz"), st.sets(st.sampled_from(STATES), min_size=1), min_size=1)


@given(CONDITIONS, st.booleans())
def test_a_record_is_counted_as_the_conditions_say(where: dict[str, set[str]], any_of: bool) -> None:
    query = tf.CountRows(where, any_of)
    for x, y, z in product(STATES, repeat=3):
        record = {"x": x, "y": y, "z": z}
        met = [record[column] in states for column, states in where.items()]
        assert query.holds(record) == (max(met) if any_of else min(met))
    again = queries.from_dict(json.loads(json.dumps(query.to_dict())))
    assert again == query
    assert again.describe() == query.describe()


@pytest.mark.parametrize("where", [{}, {"x": []}, {3: "a"}, {"x": "a", 3: "a"}])
def test_what_it_refuses(where: object) -> None:
    with pytest.raises(tf.errors.InputError) as refusal:
        tf.CountRows(where)  # type: ignore[arg-type]
    assert "where" in refusal.value.where


@pytest.mark.parametrize(("where", "message"), [
    ({"heigth": "tall"}, "did you mean 'height'"), ({"height": "tal"}, "did you mean 'tall'"),
])  # fmt: skip
def test_an_unknown_name_is_told_with_the_nearest_one(where: dict[str, str], message: str) -> None:
    with pytest.raises(tf.errors.InputError, match=message):
        tf.CountRows(where).check({"height": ("tall", "short")})


def test_it_requires_records() -> None:
    coin = tf.Pufferfish(tf.every_entry(), tf.JointTable([(0,), (1,)], [0.5, 0.5]))
    with pytest.raises(tf.errors.InputError, match="requires a belief over records"):
        tf.calibrate(coin, tf.CountRows({"x1": 1}), 1)
