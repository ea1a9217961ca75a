"""p-sensitivity against every data set of a few people and every allowed move of one of them."""

import json
from fractions import Fraction
from itertools import product
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.model.policies.test_policy import VALUES, policies
from tests.support.policies import policy as relation_of
from tests.support.policies import reaches, subsets

from takifugu.core.errors import DataError, InputError, Unsupported
from takifugu.mechanisms.one_sided import Monotone, Policy, Visits, any_of, checked, none_of, sensitivity, visits
from takifugu.model import queries
from takifugu.model.beliefs.domain import Domain
from takifugu.model.policies.places import counts_of
from takifugu.model.policies.sensitivity import Change, Sensitivity
from takifugu.model.queries import AtMost, Count, Histogram, Linear, Query, Sum, Visitors

F = Fraction
CODES = {"a": F(0), "b": F(1, 2), "c": F(-3), "d": F(2)}
DIRECTIONS = {
    (False, False): "constant", (False, True): "decreasing", (True, False): "increasing", (True, True): "none",
}  # fmt: skip
#: A query over two people with values of VALUES, and the same as a function of the data.
QUERIES: list[tuple[Query, Any]] = [
    (Count("a"), lambda data: [sum(x == "a" for x in data)]),
    (Count(["a", "c"]), lambda data: [sum(x in "ac" for x in data)]),
    (Histogram(), lambda data: [sum(x == v for x in data) for v in VALUES]),
    (Histogram(total=4), lambda data: [F(sum(x == v for x in data), 4) for v in VALUES]),
    (Sum(codes=CODES), lambda data: [sum(CODES[x] for x in data)]),
    (Linear([2, -3], codes=CODES), lambda data: [2 * CODES[data[0]] - 3 * CODES[data[1]]]),
    (Linear([0, 1], codes=CODES), lambda data: [CODES[data[1]]]),
    (AtMost(Histogram(), 1), lambda data: [sum(x == v for x in data) for v in VALUES]),
]


def check(computed: Any, slow: tuple[list[Any], list[Any], Any]) -> None:
    up, down, total = slow
    assert [str(c.direction) for c in computed.changes] == [
        DIRECTIONS[u > 0, d > 0] for u, d in zip(up, down, strict=True)
    ]
    assert [c.amount for c in computed.changes] == [max(u, d) for u, d in zip(up, down, strict=True)]
    assert computed.total == total


@given(policies, st.sampled_from(QUERIES))
def test_sums_over_listed_values(both: Any, question: tuple[Query, Any]) -> None:
    policy, functions = both
    slow = reaches(relation_of(*functions), VALUES, 2, question[1])
    check(sensitivity(policy, Domain.of(2, VALUES), question[0]), slow)


@given(policies)
def test_records_that_differ_in_their_values(both: Any) -> None:
    """One person cannot be "a", the other is "a" or "d": the moves of each are those between its own values."""
    policy, functions = both
    domain = Domain((("b", "c"), ("a", "d")))
    computed = sensitivity(policy, domain, Histogram())
    cells = ("b", "c", "a", "d")
    up, down, total = [0] * 4, [0] * 4, 0
    for alphabet in domain.alphabets:
        one = reaches(relation_of(*functions), alphabet, 1, lambda data: [int(data[0] == v) for v in cells])
        up = [max(a, b) for a, b in zip(up, one[0], strict=True)]
        down = [max(a, b) for a, b in zip(down, one[1], strict=True)]
        total = max(total, one[2])
    check(computed, (up, down, total))


@pytest.mark.sampled(5)
@pytest.mark.parametrize("weights", [(2, -3), (-3, 2), (-1, -2), (0, -1), (3, 1)])
@pytest.mark.parametrize("value", VALUES)
@pytest.mark.parametrize("is_hidden", [True, False])
def test_weights_of_either_sign_turn_the_moves(weights: tuple[int, int], value: str, is_hidden: bool) -> None:
    """One value alone is hidden, or all others are: moves that only rise or fall, which few random policies are."""
    relation = relation_of(lambda record: (record != value) is is_hidden)
    slow = reaches(relation, VALUES, 2, lambda data: [weights[0] * CODES[data[0]] + weights[1] * CODES[data[1]]])
    predicate = none_of(value) if is_hidden else any_of(value)
    computed = sensitivity(Policy.of(predicate), Domain.of(2, VALUES), Linear(weights, codes=CODES))
    check(computed, slow)
    if computed.worst is not None:
        record, before, after = computed.worst
        assert abs(weights[record] * (CODES[after] - CODES[before])) == computed.total


def test_records_that_are_rounded_by_weight_move_by_their_own_numbers() -> None:
    def answer(data: Any) -> list[int]:
        return [round(CODES[data[0]]) + round(5 * CODES[data[1]])]

    slow = reaches(relation_of(lambda record: record != "d"), VALUES, 2, answer)
    query = Linear([1, 5], codes=CODES, grid=1)
    check(sensitivity(Policy.of(none_of("d")), Domain.of(2, VALUES), query), slow)


def test_a_record_that_is_not_read_moves_nothing() -> None:
    """A sum of some records with values of their own ended in an IndexError."""
    domain = Domain((("a", "b"), ("a", "d"), ("b", "d")))
    for query in (Sum(codes=CODES, entries=[1]), Linear([0, 1, 0], codes=CODES)):
        check(sensitivity(Policy.of(none_of("d")), domain, query), ([0], [2], 2))


@st.composite
def places(draw: st.DrawFn) -> tuple[Visits, tuple[str, ...] | None]:
    """A domain of a few places, and those that are counted."""
    there = VALUES
    most = draw(st.sampled_from([None, 1, 2, 3, 4]))
    chosen = draw(st.one_of(st.none(), st.lists(st.sampled_from(there), min_size=1, max_size=4, unique=True)))
    return Visits.of(there, most), chosen if chosen is None else tuple(chosen)


@given(policies, places())
@settings(max_examples=200)
def test_places_are_never_called_monotone_where_they_are_not(both: Any, question: Any) -> None:
    """From the structure alone: an upper bound of every cell's moves, and of all of them together."""
    (policy, functions), (domain, chosen) = both, question
    cells = VALUES if chosen is None else chosen
    records = subsets(VALUES, domain.largest)
    up, down, total = reaches(relation_of(*functions), records, 1, lambda data: [int(v in data[0]) for v in cells])
    computed = sensitivity(policy, domain, Visitors(chosen))
    for change, rise, fall in zip(computed.changes, up, down, strict=True):
        assert change.amount >= max(rise, fall)
        assert not rise or change.direction in (Monotone.INCREASING, Monotone.NONE)
        assert not fall or change.direction in (Monotone.DECREASING, Monotone.NONE)
    assert computed.total >= total


@given(places(), st.lists(st.sampled_from(VALUES), min_size=1, max_size=4, unique=True))
def test_for_predicates_of_one_place_each_it_is_exact(question: Any, hidden: list[str]) -> None:
    domain, chosen = question
    cells = VALUES if chosen is None else chosen
    records = subsets(VALUES, domain.largest)
    for policy, functions in [
        (visits(hidden), [lambda r, v=v: v not in r for v in hidden]),
        (visits(), [lambda r, v=v: v not in r for v in VALUES]),
        (Policy.of(*(any_of(v) for v in VALUES)), [lambda r, v=v: v in r for v in VALUES]),
        (Policy(), []),
    ]:
        slow = reaches(relation_of(*functions), records, 1, lambda data: [int(v in data[0]) for v in cells])
        computed = sensitivity(policy, domain, Visitors(chosen))
        check(computed, slow)


@given(policies, places())
def test_a_function_is_looked_at_record_by_record(both: Any, question: Any) -> None:
    (policy, functions), (domain, chosen) = both, question
    cells = VALUES if chosen is None else chosen
    odd = checked("test-size", 1, lambda record: len(record) < 2)
    together, slow = policy.intersected(Policy.of(odd)), [*functions, lambda record: len(record) < 2]
    records = subsets(VALUES, domain.largest)
    computed = sensitivity(together, domain, Visitors(chosen))
    check(computed, reaches(relation_of(*slow), records, 1, lambda data: [int(v in data[0]) for v in cells]))


def test_a_function_over_many_places_is_taken_to_allow_every_move() -> None:
    domain = Visits.of([f"p{i}" for i in range(40)], most=3)
    odd = Policy.of(checked("test-many", 1, lambda record: True))
    computed = sensitivity(odd, domain, Visitors())
    assert (computed.direction, computed.total) == (Monotone.NONE, 6)
    with pytest.raises(Unsupported, match="more than 4,096"):
        domain.as_records(1)


def test_what_protects_everything_is_called_ordinary() -> None:
    """N3: p = True meets the printed condition, allows every move, and nothing is monotone."""
    for everything in (Policy(), Policy.of(checked("test-true", 1, lambda record: True)), Policy.of(any_of(*VALUES))):
        computed = sensitivity(everything, Domain.of(3, VALUES), Histogram())
        assert computed.is_ordinary
        assert "no cell is monotone" in computed.describe()
        assert "ordinary differential privacy" in computed.describe()
    assert not sensitivity(visits(), Visits.of("AB"), Visitors()).is_ordinary


def test_visits_fall_by_the_number_of_places_that_one_person_had() -> None:
    many = Visits.of([f"place {i}" for i in range(5000)], most=24)
    computed = sensitivity(visits(), many, AtMost(Visitors(), 5))
    assert (computed.direction, computed.total, len(computed.changes)) == (Monotone.DECREASING, 24, 5000)
    assert "cells can only fall, by up to 24" in computed.describe()
    assert sensitivity(visits(), many, Visitors(["place 7"])).total == 1
    rest = sensitivity(visits(["place 0"]), many, Visitors(["place 0", "place 1"]))
    assert [c.direction for c in rest.changes] == [Monotone.DECREASING, Monotone.NONE]
    assert rest.direction is Monotone.NONE


def test_a_predicate_of_two_places_leaves_neither_monotone() -> None:
    """E6 in another dress: "at neither A nor B" allows {A} -> {B}."""
    computed = sensitivity(Policy.of(none_of("A", "B")), Visits.of("AB", most=1), Visitors())
    assert [c.direction for c in computed.changes] == [Monotone.NONE] * 2


def test_counts_are_of_people_and_each_person_counts_once() -> None:
    domain = Visits.of(["bar", "shop", "gym"], most=2)
    data = {"Ana": ["bar", "bar", "shop"], "Ben": {"bar"}, "Cy": []}
    counts = counts_of(domain, data)
    assert counts.tolist() == [[2, 1, 0]]
    assert counts_of(domain, [["gym"], ["bar", "gym"]]).tolist() == [[1, 0, 2]]
    assert domain.resolve(Visitors(["gym", "bar"])).evaluate(counts) == (0, 2)
    rows = domain.as_records(3)
    place = {v: i for i, v in enumerate(rows.alphabet(0))}
    indices = np.array([place[frozenset(visited)] for visited in data.values()])
    assert Visitors(["gym", "bar"]).resolve(rows).evaluate(indices) == (0, 2)


@pytest.mark.parametrize("wrong", [
    {"Zoe": ["bar", "shop", "gym"]}, {"Zoe": ["elsewhere"]}, {"Zoe": "bar"}, "bar", 3, [3], [["bar"], 3],
    np.array([[1, 2]]), np.array([[1, -1, 0]]), np.array([[1.0, 2.0, 0.0]]),
])  # fmt: skip
def test_data_that_break_a_rule_are_refused_and_nobody_is_named(wrong: Any) -> None:
    domain = Visits.of(["bar", "shop", "gym"], most=2)
    with pytest.raises(DataError) as refusal:
        counts_of(domain, wrong)
    assert "Zoe" not in str(refusal.value)
    assert "elsewhere" not in str(refusal.value)


def test_more_places_than_declared_are_refused_and_never_cut() -> None:
    with pytest.raises(DataError, match='cutting records down could make "safe" wrong'):
        counts_of(Visits.of("abc", most=1), [["a", "b"]])


@pytest.mark.parametrize("wrong", [
    lambda: Visits.of([]), lambda: Visits(("a", "a")), lambda: Visits((1, "1")), lambda: Visits.of("ab", most=0),
    lambda: Visits.of("ab").resolve(Count("a")), lambda: Visits.of("ab").resolve(Visitors(["c"])),
    lambda: Visits.of("ab").position("c"), lambda: Visitors([]), lambda: AtMost(Visitors(), -1),
    lambda: AtMost(Visitors(), float("nan")), lambda: AtMost(Visitors(), 5, limit=0), lambda: AtMost(Visitors(), {}),
    lambda: AtMost(AtMost(Visitors(), 1), 1), lambda: AtMost(Sum(grid=1), 1),  # type: ignore[arg-type]
    lambda: Visits.of("ab").resolve(AtMost(Visitors(), {"a": 1})),
    lambda: Visits.of("ab").resolve(AtMost(Visitors(), {"a": 1, "b": 2, "c": 3})),
    lambda: sensitivity(visits(["c"]), Visits.of("ab"), Visitors()), lambda: Visitors().resolve(Domain.of(2, [0, 1])),
])  # fmt: skip
def test_bad_input(wrong: Any) -> None:
    with pytest.raises(InputError):
        wrong()


def test_thresholds_are_rounded_down_on_the_answers_grid() -> None:
    domain = Visits.of("ab")
    assert AtMost(Visitors(), "5.4").steps(domain.resolve(Visitors())) == (5, 5)
    assert AtMost(Visitors(), {"b": 3, "a": 0.5}).steps(domain.resolve(Visitors())) == (0, 3)
    halves = Sum(codes={"a": F(1, 2), "b": 0})
    assert AtMost(halves, "5.4").steps(halves.resolve(Domain.of(20, "ab"))) == (10,)  # 5.0 in halves, not 5.5


@pytest.mark.parametrize("query", [
    Visitors(), Visitors(["a", 3]), AtMost(Visitors(), 5), AtMost(Visitors(["a"]), {"a": "7/2"}, limit=3),
    AtMost(Histogram(total=7), 2),
])  # fmt: skip
def test_queries_read_back(query: Query) -> None:
    assert queries.from_dict(json.loads(json.dumps(query.to_dict()))) == query
    assert query.describe()


def test_every_pair_of_directions_has_a_name() -> None:
    assert {(r, f): str(Monotone.of(r, f)) for r, f in product((False, True), repeat=2)} == DIRECTIONS
    moving = [Monotone.INCREASING, Monotone.DECREASING, Monotone.NONE]
    for first, second in product(moving, repeat=2):
        moves = Sensitivity((Change(first, Fraction(1)), Change(second, Fraction(2))), Fraction(3))
        assert moves.direction is (first if first is second else Monotone.NONE)
