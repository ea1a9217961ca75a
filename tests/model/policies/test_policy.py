"""Policies against every predicate, every record and breadth-first search over data sets."""

import json
import math
from collections.abc import Callable
from itertools import product
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.support.policies import datasets, distances, subsets
from tests.support.policies import policy as relation_of

from takifugu.core.errors import InputError
from takifugu.mechanisms.one_sided import Policy, Visits, any_of, checked, none_of, visits
from takifugu.model import secrets
from takifugu.model.beliefs import domain
from takifugu.model.policies.predicates import EachOf, Predicate

VALUES = ("a", "b", "c", "d")

#: A rule of a policy, and the same predicates as functions.
Rule = tuple[Any, list[Callable[[Any], bool]]]


def has(record: Any, values: tuple[str, ...]) -> bool:
    return any(v in record for v in values) if isinstance(record, frozenset) else record in values


def _none(values: tuple[str, ...]) -> Rule:
    return none_of(*values), [lambda record: not has(record, values)]


def _any(values: tuple[str, ...]) -> Rule:
    return any_of(*values), [lambda record: has(record, values)]


def _each(values: tuple[str, ...] | None) -> Rule:
    return EachOf(values), [lambda record, v=v: not has(record, (v,)) for v in (VALUES if values is None else values)]


def rules(values: tuple[str, ...] = VALUES) -> st.SearchStrategy[Rule]:
    some = st.lists(st.sampled_from(values), min_size=1, max_size=len(values), unique=True).map(tuple)
    return st.one_of(some.map(_none), some.map(_any), some.map(_each), st.just(_each(None)))


policies = st.lists(rules(), max_size=3).map(
    lambda parts: (Policy.of(*(rule for rule, _ in parts)), [p for _, functions in parts for p in functions])
)
records = st.one_of(st.sampled_from(VALUES), st.sampled_from(subsets(VALUES, 4)))


@given(policies, records, records)
def test_a_move_is_allowed_where_every_predicate_that_holds_still_holds(both: Any, before: Any, after: Any) -> None:
    policy, functions = both
    assert policy.allows(before, after) == relation_of(*functions)(before, after)
    each = policy.predicates(VALUES)
    assert policy.allows(before, after) == relation_of(*each)(before, after)


@given(policies, st.sampled_from([VALUES, tuple(subsets(VALUES[:3], 3))]))
def test_it_is_a_preorder_on_records(both: Any, values: Any) -> None:
    policy, _ = both
    assert all(policy.allows(x, x) for x in values)
    for x, y, z in product(values, repeat=3):
        assert not (policy.allows(x, y) and policy.allows(y, z)) or policy.allows(x, z)


@given(policies, st.data())
def test_the_distance_is_that_of_paths_through_data_sets(both: Any, data: st.DataObject) -> None:
    policy, functions = both
    values = data.draw(st.sampled_from([VALUES[:3], tuple(subsets(VALUES[:2], 2))]))
    one, other = (tuple(data.draw(st.lists(st.sampled_from(values), min_size=3, max_size=3))) for _ in range(2))
    paths = distances(one, datasets(values, 3), relation_of(*functions))
    assert policy.distance(one, other) == paths.get(other, math.inf)


@given(policies, policies, records, records)
def test_intersected_policies_allow_what_both_allow(one: Any, two: Any, before: Any, after: Any) -> None:
    both = one[0].intersected(two[0])
    assert both.allows(before, after) == (one[0].allows(before, after) and two[0].allows(before, after))
    assert both == both.intersected(one[0])


@given(policies)
def test_it_survives_json_and_has_words(both: Any) -> None:
    policy, _ = both
    again = secrets.from_dict(json.loads(json.dumps(policy.to_dict())))
    assert again == policy
    assert policy.describe().strip()


def test_e4_one_bit_the_only_pair_that_is_excluded() -> None:
    """Policy p = "the value is 0": of all ordered pairs 0 -> 1 alone is excluded."""
    policy = Policy.of(none_of(1))
    assert [(x, y) for x, y in product((0, 1), repeat=2) if not policy.allows(x, y)] == [(0, 1)]


def test_e7_the_path_goes_down_to_the_data_set_with_fewer() -> None:
    """n = 3, t = 1, X = (0, 0, 0): no path leads up from X; the useful distance is d(X', X) = 2 = t + 1 - m."""
    policy = Policy.of(none_of(1))
    dangerous = [data for data in product((0, 1), repeat=3) if sum(data) > 1]
    assert min(policy.distance((0, 0, 0), data) for data in dangerous) == math.inf
    assert min(policy.distance(data, (0, 0, 0)) for data in dangerous) == 2


def test_visits_hide_where_people_were_and_not_where_they_were_not() -> None:
    places = subsets("AB", 2)
    assert all(visits().allows(v, w) == (w <= v) for v, w in product(places, repeat=2))
    assert not visits().allows(frozenset("A"), frozenset("B"))  # who knows "exactly one of A, B" may learn which
    some = visits(["A"])
    assert some.allows(frozenset("A"), frozenset("B"))
    assert not some.allows(frozenset("B"), frozenset("AB"))


def test_formulas_of_predicates_are_refused() -> None:
    a, b = none_of("A"), none_of("B")
    for wrong in (lambda: a | b, lambda: a & b, lambda: a or b, lambda: a and b, lambda: not a):
        with pytest.raises(InputError, match="a policy is no formula"):
            wrong()
    assert ~a == any_of("A")
    assert ~~a == a


def test_a_predicate_that_raises_says_so_without_what_it_saw() -> None:
    def broken(record: Any) -> bool:
        raise ValueError(f"secret {record}")

    policy = Policy.of(checked("broken", 1, broken))
    with pytest.raises(InputError, match="'broken' raises ValueError") as raised:
        policy.allows("Ana", "Ben")
    assert "Ana" not in str(raised.value)
    assert raised.value.__cause__ is None
    with pytest.raises(InputError, match="returns a str"):
        Policy.of(checked("wordy", 1, lambda record: "yes")).allows(1, 2)


def test_a_function_has_a_name_and_a_version_and_is_found_again() -> None:
    even = checked("is-even", 7, lambda record: record % 2 == 0)
    plain = json.loads(json.dumps(Policy.of(even).to_dict()))
    assert secrets.from_dict(plain) == Policy.of(even)
    plain["rules"][0]["version"] = 8
    with pytest.raises(InputError, match="nobody has defined"):
        secrets.from_dict(plain)
    for wrong in (lambda: checked("", 1, bool), lambda: checked("x", -1, bool), lambda: checked("x", 1, None)):  # type: ignore[arg-type]
        with pytest.raises(InputError):
            wrong()


class Odd(Predicate):
    """A predicate that no file has, so that a ledger cannot know what it is."""


@pytest.mark.parametrize("wrong", [
    lambda: Policy.of(Odd()), lambda: none_of(), lambda: any_of(), lambda: visits([]), lambda: none_of(frozenset("A")),
    lambda: Policy.of("ill"), lambda: Policy.of(none_of("a")).distance("ab", "a"),
    lambda: Policy.of(none_of("ill")).check_known(["well", "il"]), lambda: Policy().family(None),
    lambda: secrets.from_dict({"kind": "policy", "rules": [{"kind": "some-of"}]}),
])  # fmt: skip
def test_bad_policies(wrong: Any) -> None:
    with pytest.raises(InputError):
        wrong()


def test_no_predicate_is_ordinary_differential_privacy() -> None:
    assert Policy().is_ordinary
    assert Policy().allows(0, 1)
    assert "ordinary differential privacy" in Policy().describe()
    assert Policy().distance((0, 1, 1), (1, 1, 0)) == 2


@pytest.mark.parametrize("most", [None, 1, 3])
def test_a_domain_of_places_survives_json(most: Any) -> None:
    one = Visits.of(["bar", "shop", 3], most)
    assert domain.from_dict(json.loads(json.dumps(one.to_dict()))) == one
    assert one.position(3) == 2


def test_places_are_named_in_words_up_to_four() -> None:
    few, many = EachOf(tuple("abcd")).describe(), EachOf(tuple("abcde")).describe()
    assert few == "that a person was at 'a' or 'b' or 'c' or 'd' (not that they were not)"
    assert many == "that a person was at 'a' or 'b' or 'c' or 'd' or another one of 5 places (not that they were not)"
