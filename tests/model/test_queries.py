"""Queries as integer tables: answers, D(N), grids, plain forms and bad input."""

import itertools
import json
from fractions import Fraction
from functools import partial
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.support import query_oracles

import takifugu as tf
from takifugu.core.errors import DataError, InputError, Unsupported
from takifugu.model.queries import Additive, Identity, Linear, Mean, Query, Sum, from_dict, implied_grid, resolved

NUMBERS = (0, 1, Fraction(5, 2), -3)
NAMES = ("a", "b", "c")


def chain(k: int, length: int, states: tuple[Any, ...]) -> tf.MarkovChain:
    return tf.MarkovChain(np.full((k, k), 1 / k), length, states=states[:k])


@st.composite
def questions(draw: st.DrawFn) -> tuple[Query, tf.MarkovChain]:
    """A query and a chain of up to four entries over up to three states that it fits."""
    k, length = draw(st.integers(1, 3)), draw(st.integers(1, 4))
    named = draw(st.booleans())
    states: tuple[Any, ...] = NAMES[:k] if named else NUMBERS[:k]
    codes = {s: draw(st.sampled_from([0, 1, -2, "0.25", Fraction(1, 3)])) for s in states} if named else None
    entries = draw(st.none() | st.sets(st.integers(0, length - 1), min_size=1))
    grid = draw(st.sampled_from([None, "0.5", "0.3", 2]))
    weights = draw(st.lists(st.sampled_from([0, 1, -1, 2, "0.5", "1/3"]), min_size=length, max_size=length))
    chosen = None if entries is None else tuple(entries)
    options = {"codes": codes, "entries": chosen, "grid": grid}
    queries = [
        tf.Count(states[0], chosen), tf.Count(list(states), chosen), Sum(**options), Mean(**options),
        tf.Histogram(states, draw(st.none() | st.integers(1, 7)), chosen), Linear(weights, codes, grid),
    ]  # fmt: skip
    return draw(st.sampled_from(queries)), chain(k, length, states)


def every_data_set(belief: tf.MarkovChain):
    return itertools.product(range(len(belief.states)), repeat=belief.length)


@given(questions())
@settings(max_examples=150)
def test_answers_are_those_of_the_definition(question: tuple[Query, tf.MarkovChain]) -> None:
    query, belief = question
    resolved, form = query.resolve(belief), query.to_dict()
    for values in every_data_set(belief):
        true = query_oracles.answer(form, [belief.states[v] for v in values])
        assert tuple(a * resolved.grid for a in resolved.evaluate(np.array(values))) == true
        by_entry = sum((resolved.contribution(i)[v] for i, v in enumerate(values)), np.zeros(resolved.cells, int))
        assert tuple(int(a) * resolved.grid for a in by_entry) == true


@given(questions(), st.data())
@settings(max_examples=80)
def test_change_is_the_largest_over_all_data_sets(question: tuple[Query, tf.MarkovChain], data: st.DataObject) -> None:
    query, belief = question
    changed = sorted(data.draw(st.sets(st.integers(0, belief.length - 1))))
    resolved, alphabets = query.resolve(belief), [belief.states] * belief.length
    true = query_oracles.largest_change(query.to_dict(), alphabets, changed)
    assert resolved.change(changed) * resolved.grid == true
    assert sum(int(resolved.entry_changes()[i]) for i in changed) == resolved.change(changed)
    of_each = [query_oracles.largest_change(query.to_dict(), alphabets, [entry]) for entry in changed]
    assert resolved.farthest(changed) * resolved.grid == max(of_each, default=0)


@given(questions())
def test_forms_read_back_through_json(question: tuple[Query, tf.MarkovChain]) -> None:
    query, belief = question
    if any(isinstance(s, Fraction) for s in belief.states) and not isinstance(query, Linear | Sum | Mean):
        return  # a framework refuses states that JSON cannot write
    again = from_dict(json.loads(json.dumps(query.to_dict())))
    assert again.to_dict() == query.to_dict()
    assert again.describe() == query.describe()
    first, second = query.resolve(belief), again.resolve(belief)
    assert (first.grid, first.labels, first.key) == (second.grid, second.labels, second.key)


def table(*columns: tuple[Any, ...]) -> tf.JointTable:
    rows = list(itertools.product(*columns))
    return tf.JointTable(rows, [Fraction(1, len(rows))] * len(rows), names=[f"c{i}" for i in range(len(columns))])


def test_columns_with_different_values_add_up_and_changes_are_upper_bounds() -> None:
    belief = table((0, 1), (10, 20, 40))
    alphabets = [belief.alphabet(i) for i in range(2)]
    for query in (Sum(), Mean(), Linear([1, "0.5"]), tf.Histogram(), tf.Count([0, 20])):
        resolved = query.resolve(belief)
        form = query.to_dict()
        if isinstance(query, tf.Histogram):
            form = {**form, "states": [0, 1, 10, 20, 40]}
        for values in itertools.product(range(2), range(3)):
            true = query_oracles.answer(form, [alphabets[i][v] for i, v in enumerate(values)])
            assert tuple(a * resolved.grid for a in resolved.evaluate(np.array(values))) == true
        for changed in ([0], [1]):
            assert resolved.change(changed) * resolved.grid == query_oracles.largest_change(form, alphabets, changed)
        assert resolved.change([0, 1]) * resolved.grid >= query_oracles.largest_change(form, alphabets, [0, 1])


def test_one_column_is_read_by_name_and_others_may_be_words() -> None:
    belief = table(("x", "y"), (1, 4))
    for query in (Sum("c1"), Identity("c1"), Mean("c1")):
        resolved = query.resolve(belief)
        assert list(resolved.entry_changes()) == [0, 3]
        assert [resolved.evaluate(np.array(v))[0] * resolved.grid for v in [(0, 0), (1, 1)]] == [1, 4]
    weighted = Linear([0, 2]).resolve(belief)
    assert weighted.change([0, 1]) * weighted.grid == 6


def test_cells_have_names() -> None:
    belief = chain(2, 2, (0, 1))
    queries: dict[str, Query] = {"count": tf.Count(1), "sum": Sum(), "mean": Mean(), "linear": Linear([1, 1])}
    assert all(query.resolve(belief).labels == (name,) for name, query in queries.items())
    assert tf.Histogram().resolve(belief).labels == ("0", "1")


def test_a_declared_grid_rounds_each_product_half_to_even() -> None:
    resolved = Linear([1, 3], codes={"a": 0, "b": "0.5"}, grid=1).resolve(chain(2, 2, NAMES))
    assert [resolved.evaluate(np.array(v)) for v in [(1, 0), (0, 1), (1, 1)]] == [(0,), (2,), (2,)]


def test_many_different_weights_share_one_table_when_they_fit_the_grid() -> None:
    weights = [Fraction(i, 1000) for i in range(5000)]
    resolved = Linear(weights).resolve(chain(2, 5000, (0, 1)))
    assert (len(resolved.tables), resolved.grid) == (1, Fraction(1, 1000))
    assert list(resolved.entry_changes()) == list(range(5000))


def test_implied_grid_is_the_greatest_common_divisor() -> None:
    assert implied_grid([Fraction(3, 4), Fraction(1, 2)]) == Fraction(1, 4)
    assert implied_grid([0, 0]) == 1
    assert implied_grid([-50, 100]) == 50
    assert implied_grid([0.1, 0.3]) == Fraction(1, 10)
    assert implied_grid([Fraction(1, 10**6), 3]) == Fraction(1, 10**6)
    for finer in (1e-7, Fraction(1, 10**6 + 1)):
        with pytest.raises(Unsupported, match=r"finer than 1/1000000.*declare one"):
            implied_grid([finer])


def test_numpy_values_become_plain_ones() -> None:
    query = tf.Count(np.str_("a"), np.array([0, 2]))  # type: ignore[arg-type]
    assert json.loads(json.dumps(query.to_dict())) == {"kind": "count", "states": ["a"], "entries": [[0, 0], [2, 2]]}
    assert type(tf.Count(np.int64(3)).state) is int
    assert type(tf.Histogram(total=np.int64(3)).total) is int  # type: ignore[arg-type]


def test_keys_tell_different_shares_apart() -> None:
    weights = [1, 2, 1, 2]
    whole = Linear(weights, codes={"a": 0, "b": "0.4"}, grid=1).resolve(chain(2, 4, NAMES))
    first, second, other = (whole.restrict(s) for s in (slice(0, 2), slice(2, 4), slice(1, 3)))
    assert first.key == second.key != other.key


@pytest.mark.parametrize(("make", "says"), [
    (lambda: tf.Count([]), "names? at least one"),
    (lambda: tf.Count("a", []), "names? at least one"),
    (lambda: tf.Count("a", [1.5]), "whole numbers"),
    (lambda: tf.Count("a", [-1]), "whole numbers"),
    (lambda: tf.Count("a", [True]), "whole numbers"),
    (lambda: tf.Count("a", 3), "list of entry numbers"),
    (lambda: Sum("age", entries=[0]), "one of them"),
    (lambda: Mean("age", entries=[0]), "one of them"),
    (lambda: Sum(grid=0), "above 0"),
    (lambda: Sum(grid=float("nan")), "finite"),
    (lambda: Identity(grid=-1), "above 0"),
    (lambda: tf.Histogram("walking"), "give a list"),
    (lambda: tf.Histogram([]), "at least one state"),
    (lambda: tf.Histogram(["a", "a"]), "each once"),
    (lambda: tf.Histogram(total=0), "whole number from 1"),
    (lambda: tf.Histogram(total=2.5), "whole number from 1"),
    (lambda: tf.Histogram(total=float("nan")), "whole number from 1"),
    (lambda: tf.Histogram(total=True), "whole number from 1"),
    (lambda: Linear(["x"]), "finite number"),
    (lambda: Linear([float("inf")]), "finite number"),
    (lambda: Linear("12"), "list of numbers"),
    (lambda: Linear(3), "list of numbers"),
    (lambda: from_dict({"kind": "summ"}), "did you mean 'sum'"),
    (lambda: from_dict({}), "write one of"),
])  # fmt: skip
def test_bad_queries_say_what_to_write(make: Any, says: str) -> None:
    with pytest.raises(InputError, match=says):
        make()


@pytest.mark.parametrize(("query", "says"), [
    (tf.Count("walkin"), "did you mean 'walking'"),
    (tf.Histogram(["still", "runing"]), "has no state 'runing'"),
    (tf.Count("still", [0, 9]), "entries 0 to 2"),
    (Sum(), "give codes"),
    (Sum(codes={"still": 0}), "no code for state 'walking'"),
    (Sum(codes={"still": 0, "walking": "one"}), "finite number"),
    (Sum("age"), "no column"),
    (Identity(), "publishes one value"),
    (Linear([1, 2]), "2 weights"),
    (Sum(codes={"still": 0, "walking": 2**70}, grid=1), "coarser grid"),
    (Sum(codes={"still": 0, "walking": 2**62}, grid=1), "coarser grid"),
])  # fmt: skip
def test_queries_that_do_not_fit_the_belief_say_why(query: Query, says: str) -> None:
    belief = chain(2, 3, ("still", "walking"))
    with pytest.raises(InputError, match=says):
        query.resolve(belief)


def test_too_fine_a_grid_must_be_declared() -> None:
    belief = chain(2, 3, ("still", "walking"))
    codes = {"still": 0, "walking": "0.12345678"}
    with pytest.raises(Unsupported, match="declare one"):
        Sum(codes=codes).resolve(belief)
    assert Sum(codes=codes, grid="0.01").resolve(belief).grid == Fraction(1, 100)


def test_data_that_do_not_fit_are_refused_without_being_shown() -> None:
    resolved = tf.Count(0).resolve(chain(2, 3, (0, 1)))
    for values in ([0, 1], [0, 1, 2], [0, 1, -1]):
        with pytest.raises(DataError) as caught:
            resolved.evaluate(np.array(values))
        assert not any(c.isdigit() for c in str(caught.value))
    unread = Linear([1, 0, 1]).resolve(chain(2, 3, (0, 1)))
    assert unread.evaluate(np.array([1, -1, 1])) == (2,)


@pytest.mark.parametrize("make", [partial(Sum, None), partial(Mean, None), partial(Linear, [1, 1]), Identity])
def test_codes_are_the_querys_own(make) -> None:
    codes = {"a": 0, "b": 1}
    query = make(codes=codes)
    codes["b"] = 100
    assert query.to_dict()["codes"] == [["a", "0"], ["b", "1"]]
    for wrong in ([0.5], 3, "ab"):
        with pytest.raises(InputError, match="codes is"):
            make(codes=wrong)


def test_what_json_would_not_tell_apart_is_not_resolved_as_one_query() -> None:
    """The text of a long array leaves its middle out, and a number as a name becomes text."""

    class Listed(Query):
        def __init__(self, weights: Any) -> None:
            self.weights = weights

        def resolve(self, entries: Any) -> Additive:
            values = self.weights.values() if isinstance(self.weights, dict) else self.weights
            return Linear([int(w) for w in values]).resolve(entries)

        def describe(self) -> str:
            return "weights"

        def to_dict(self) -> dict[str, Any]:
            return {"kind": "listed", "weights": self.weights}

    wide = chain(2, 1100, (0, 1))
    small, large = np.zeros(1100, dtype=np.int64), np.zeros(1100, dtype=np.int64)
    small[500], large[500] = 1, 1000
    assert repr(small) == repr(large)
    answers = [resolved(Listed(weights), wide) for weights in (small, large)]
    assert [answer.change([500]) * answer.grid for answer in answers] == [1, 1000]
    again = Listed(small)
    assert resolved(again, wide) is resolved(again, wide)
    pair = chain(2, 2, (0, 1))
    mixed = [Listed({1: 3, 2: 5}), Listed({"1": 4, "2": 5})]
    assert len({resolved(query, pair).key for query in mixed}) == 2
