"""Every kind of query, resolved and evaluated against what its words say, by hand."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import pytest
from tests.conformance.suite import check_query

import takifugu as tf
from takifugu.model.beliefs.domain import Domain
from takifugu.model.queries.every_change import EveryChange
from takifugu.model.queries.registry import KINDS

CHAIN = tf.MarkovChain([[0.9, 0.1], [0.4, 0.6]], 4, states=["still", "walking"])
NUMBERS = tf.MarkovChain([[0.5, 0.25, 0.25]] * 3, 3, states=[-1, 0, 4])
TABLE = tf.JointTable([("a", 1), ("b", 2)], [0.5, 0.5], ["who", "what"])
VISITED = Domain.of(3, [frozenset(), frozenset("A"), frozenset("B"), frozenset("AB")])
ROWS = tf.FromPopulations({"home": {"a": "0.8", "b": "0.2"}, "out": {"a": "0.3", "b": "0.7"}}, rows=3)
WALK = ["still", "walking", "walking", "still"]
CODES = {"still": 0, "walking": "3/2"}

EXAMPLES: tuple[tuple[Any, Any, list[Any], list[Any]], ...] = (
    (tf.Count("walking"), CHAIN, WALK, [2]),
    (tf.Count("walking", entries=[0, 1]), CHAIN, WALK, [1]),
    (tf.Count(["still", "walking"]), CHAIN, WALK, [4]),
    (tf.Sum(), NUMBERS, [-1, 4, 4], [7]),
    (tf.Sum(codes=CODES), CHAIN, WALK, [3]),
    (tf.Mean(), NUMBERS, [-1, 4, 4], [Fraction(7, 3)]),
    (tf.Mean("what"), TABLE, ["b", 2], [2]),
    (tf.Histogram(), CHAIN, WALK, [2, 2]),
    (tf.Histogram(states=["walking"], total=4), CHAIN, WALK, [Fraction(1, 2)]),
    (tf.Linear([1, -1, 2, 0], codes=CODES), CHAIN, WALK, [Fraction(3, 2)]),
    (tf.Identity("what"), TABLE, ["a", 1], [1]),
    (tf.AtMost(tf.Histogram(), {"still": 1, "walking": "5/2"}), CHAIN, WALK, [2, 2]),
    (tf.Visitors(), VISITED, [frozenset("AB"), frozenset(), frozenset("A")], [2, 1]),
    (tf.EachValue(dummies=2, batch="one", columns=("x",)), ROWS, ["b", "a", "b"], [1, 0, 1]),
    (tf.By(tf.Count("walking"), {"am": [0, 1], "pm": [2, 3]}, "half"), CHAIN, WALK, [1, 1]),
    (tf.By(tf.Histogram(), {"all": range(4), "pm": [2, 3]}), CHAIN, WALK, [2, 2, 1, 1]),
    (tf.By(tf.Sum(), [("odd", [1])]), NUMBERS, [-1, 4, 4], [4]),
    (tf.By(tf.Mean(), {"a": [0, 1], "b": [0, 1, 2]}), NUMBERS, [-1, 4, 4], [Fraction(3, 2), Fraction(7, 3)]),
    (tf.TopK(2), CHAIN, WALK, [1, 1, 0]),  # half of each count, and of all others
    (tf.TopK(1, states=["walking", "still"], entries=[1]), CHAIN, WALK, [Fraction(1, 2), 0, 0]),
    (tf.Quantile("0.9", states=[4, -1]), NUMBERS, [-1, 4, 0], [Fraction(1, 2), Fraction(1, 2), Fraction(1, 2)]),
    (tf.Median(), NUMBERS, [-1, 4, 4], [Fraction(1, 2), 0, 1, 0]),
    (tf.CountAbove([0, -2]), NUMBERS, [-1, 4, 4], [2, 3]),
    (tf.CountAbove("1/2", codes=CODES, entries=[0, 1]), CHAIN, WALK, [1]),
    (EveryChange(), CHAIN, WALK, [1, 1]),  # half a histogram
    (tf.Together([tf.Count("walking"), tf.Mean(codes=CODES)]), CHAIN, WALK, [2, Fraction(3, 4)]),
)


@pytest.mark.parametrize(("query", "belief", "data", "expected"), EXAMPLES, ids=lambda v: getattr(v, "describe", str)())
def test_it_is_what_its_words_say(query: Any, belief: Any, data: list[Any], expected: list[Any]) -> None:
    check_query(query, belief, data, expected)


def test_every_kind_of_query_is_among_the_examples() -> None:
    of_records = {"count-rows", "cross-table", "statistic"}  # have no entries: tests/model/queries
    assert {query.to_dict()["kind"] for query, *_ in EXAMPLES} == set(KINDS.names) - of_records
