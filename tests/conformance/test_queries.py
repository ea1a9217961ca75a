"""Every kind of query, resolved and evaluated against what its words say, by hand."""

import random
from dataclasses import replace
from fractions import Fraction
from itertools import product
from typing import Any

import numpy as np
import pytest
from tests.conformance.suite import check_query
from tests.support import query_oracles

import takifugu as tf
from takifugu.model.beliefs.domain import Domain
from takifugu.model.queries.additive.counts import EveryChange
from takifugu.model.queries.registry import KINDS
from takifugu.model.queries.resolving.summing import resolved

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
    (tf.LocalValue(dummies=2, batch="one", columns=("x",)), ROWS, ["b", "a", "b"], [1, 0, 1]),
    (tf.GroupBy(tf.Count("walking"), {"am": [0, 1], "pm": [2, 3]}, "half"), CHAIN, WALK, [1, 1]),
    (tf.GroupBy(tf.Histogram(), {"all": range(4), "pm": [2, 3]}), CHAIN, WALK, [2, 2, 1, 1]),
    (tf.GroupBy(tf.Sum(), [("odd", [1])]), NUMBERS, [-1, 4, 4], [4]),
    (tf.GroupBy(tf.Mean(), {"a": [0, 1], "b": [0, 1, 2]}), NUMBERS, [-1, 4, 4], [Fraction(3, 2), Fraction(7, 3)]),
    (tf.TopK(2), CHAIN, WALK, [1, 1, 0]),  # half of each count, and of all others
    (tf.TopK(1, states=["walking", "still"], entries=[1]), CHAIN, WALK, [Fraction(1, 2), 0, 0]),
    (tf.Quantile("0.9", states=[4, -1]), NUMBERS, [-1, 4, 0], [Fraction(1, 2), Fraction(1, 2), Fraction(1, 2)]),
    (tf.Median(), NUMBERS, [-1, 4, 4], [Fraction(1, 2), 0, 1, 0]),
    (tf.CountAbove([0, -2]), NUMBERS, [-1, 4, 4], [2, 3]),
    (tf.CountAbove("1/2", codes=CODES, entries=[0, 1]), CHAIN, WALK, [1]),
    (EveryChange(), CHAIN, WALK, [1, 1]),  # half a histogram
    (tf.JointQuery([tf.Count("walking"), tf.Mean(codes=CODES)]), CHAIN, WALK, [2, Fraction(3, 4)]),
)


@pytest.mark.parametrize(("query", "belief", "data", "expected"), EXAMPLES, ids=lambda v: getattr(v, "describe", str)())
def test_it_is_what_its_words_say(query: Any, belief: Any, data: list[Any], expected: list[Any]) -> None:
    check_query(query, belief, data, expected)


PEOPLE = tf.JointTable([("a", 0), ("a", 1), ("b", 0), ("b", 2)], [Fraction(1, 4)] * 4, ["group", "ill"])
RECORDS = tf.Records(PEOPLE, 3)
LEVELS = tf.BayesianNetwork([("x", [0, 1], [], [0.5, 0.5]), ("y", [0, 1], ["x"], [[0.7, 0.3], [0.4, 0.6]])])
DRAWN = {0: {0: "1/2", 4: "1/4", 7: "1/4"}, 1: {0: "1/4", 4: "1/4", 7: "1/2"}}
POPULATION = tf.Parameters(LEVELS, {"x": DRAWN, "y": DRAWN}, 3)
SPREAD = tf.Statistic("conformance-spread", 1, ["x", "y"], lambda x, y: (max(x) - min(y)) / 3, 7, grid="1/2")

OF_RECORDS: tuple[tuple[Any, Any], ...] = (
    (tf.CountRows({"group": "a", "ill": [0, 2]}), RECORDS),
    (tf.CountRows({"group": "b", "ill": 1}, any_of=True), RECORDS),
    (tf.CrossTable(["ill", "group"]), RECORDS),
    (tf.CrossTable({"group": ["b"], "ill": [2, 0]}, total=3), RECORDS),
    (tf.CountRows({"x": 4, "y": [0, 7]}), POPULATION),
    (tf.CrossTable(["y", "x"]), POPULATION),
    (SPREAD, POPULATION),
)


def answers(query: Any, belief: Any, values: Any) -> list[Fraction]:
    """Return the answer by the query's tables, in answer units."""
    answer = resolved(query, belief)
    return [Fraction(cell) * answer.grid for cell in answer.evaluate(np.array(values))]


def some_of(every: list[Any], most: int = 100) -> list[Any]:
    return every if len(every) <= most else random.Random(5).sample(every, most)


def check_resolved(query: Any, belief: Any) -> None:
    """Set a query's tables against its definition, on all data sets or some of them."""
    alphabets = [belief.alphabet(entry) for entry in range(belief.size)]
    for values in some_of([*product(*(range(len(alphabet)) for alphabet in alphabets))]):
        data = [alphabet[value] for alphabet, value in zip(alphabets, values, strict=True)]
        true = query_oracles.answer(query.to_dict(), data, belief.names, alphabets)
        assert answers(query, belief, values) == list(true), f"{query.describe()} of {data}"


@pytest.mark.parametrize(("query", "belief"), [(query, belief) for query, belief, *_ in EXAMPLES],
                         ids=[query.describe()[:40] for query, *_ in EXAMPLES])  # fmt: skip
def test_its_tables_are_its_definition_on_every_data_set(query: Any, belief: Any) -> None:
    check_resolved(query, belief)


@pytest.mark.parametrize(("query", "belief"), OF_RECORDS, ids=[query.describe()[:40] for query, _ in OF_RECORDS])
def test_queries_of_records_are_their_definition(query: Any, belief: Any) -> None:
    if isinstance(belief, tf.Records):
        columns, rows = belief.columns, belief.table.rows
        alphabets = [belief.table.alphabet(place) for place in range(len(columns))]
        cases = [(list(chosen), [rows[row] for row in chosen]) for chosen in product(range(len(rows)), repeat=3)]
    else:
        columns = tuple(column.name for column in belief.described)
        alphabets = [column.states for column in belief.described]
        every = [*product(range(3), repeat=2)]
        cases = [
            ([list(record) for record in chosen], [tuple(alphabets[c][v] for c, v in enumerate(r)) for r in chosen])
            for chosen in product(every, repeat=3)
        ]
    for values, data in some_of(cases):
        if query is SPREAD:
            x, y = zip(*data, strict=True)
            true = [Fraction(round((max(x) - min(y)) / Fraction(3) / Fraction(1, 2)), 2)]
        else:
            true = list(query_oracles.answer(query.to_dict(), data, columns, alphabets))
        assert answers(query, belief, values) == true, f"{query.describe()} of {data}"


def test_every_kind_of_query_has_an_oracle() -> None:
    of_records = {query.to_dict()["kind"] for query, _ in OF_RECORDS}
    assert {query.to_dict()["kind"] for query, *_ in EXAMPLES} | of_records == set(KINDS.names)


NOT_LOCAL = [number for number, (query, *_) in enumerate(EXAMPLES) if not isinstance(query, tf.LocalValue)]


@pytest.mark.parametrize("number", NOT_LOCAL)
def test_tables_twice_as_large_are_noticed(number: int, monkeypatch: pytest.MonkeyPatch) -> None:
    query, belief, *_ = EXAMPLES[number]
    right = resolved(query, belief)
    wrong = replace(right, tables=tuple(2 * table for table in right.tables))
    monkeypatch.setattr("tests.conformance.test_queries.resolved", lambda *_: wrong)
    with pytest.raises(AssertionError):
        check_resolved(query, belief)
