"""What is kept of a release so that any framework can be charged for it: numbers that a person can check, no data."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.support.ledger_tools import laplace, pieces, promised, steps, users

import takifugu as tf
from takifugu.accounting.composition import Charge, charge_of, compose
from takifugu.accounting.composition.charges import HASHED_AT_ONCE, answer_hash
from takifugu.accounting.composition.losses import noise_loss
from takifugu.analysis.guarantee import Covers
from takifugu.core.errors import InputError
from takifugu.mechanisms import group_dp, wasserstein
from takifugu.model.frameworks import Framework, Pufferfish, distribution_pair
from takifugu.model.queries import Additive, Count, Histogram, Identity, Linear, Mean, Query, Sum, registry
from takifugu.numbers import Pmf


def network(*nodes: tuple[Any, ...]) -> Framework:
    """Return fair coins: each (name,) or, with a parent, (name, parent) a copy that is off now and then."""
    return Pufferfish(tf.every_entry(), tf.BayesianNetwork([
        (name, [0, 1], above, [[0.9, 0.1], [0.1, 0.9]] if above else [0.5, 0.5]) for name, *above in nodes
    ]))  # fmt: skip


def charge(about: Framework, query: Query, scale: Any = 10, **options: Any) -> Charge:
    return charge_of(laplace(about, query, scale, Covers.ENTRIES), **options)


def changes(one: Charge) -> tuple[Fraction | None, Fraction | None, Fraction | None]:
    return one.change, one.entry_change, one.scale


def test_a_charge_keeps_the_changes_of_all_entries_and_of_one() -> None:
    for about in (steps(3), pieces(2, 1), users(), network("a", "b", "c")):
        assert changes(charge(about, Linear([5, 0, 2]))) == (7, 5, 10)
        assert changes(charge(about, Linear([0, 0, 0]))) == (0, 0, 10)
        assert changes(charge(about, Linear(["1/2", "-3/2", 0]))) == (2, Fraction(3, 2), 5)  # ten halves
        assert changes(charge(about, Histogram())) == (6, 2, 10)
    for farthest in (13, 6.5):
        pair = distribution_pair(Pmf([0, 5], [0.5, 0.5]), Pmf([0.5, farthest], [0.5, 0.5]))
        one = charge_of(promised(pair, Identity(), group_dp.MECHANISM))
        assert changes(one) == (farthest, farthest, farthest)
        assert (one.entries, one.names, one.lengths, one.answers) == (0, (), (), ())


@pytest.mark.parametrize("unit", [1, 0.5, 0.001, 1000])
def test_the_unit_of_two_laws_does_not_change_what_releases_cost(unit: float) -> None:
    """Answers in thousands are no safer: the change of a pair of laws was once counted in grid units of grid units."""
    pair = distribution_pair(Pmf([0, 10 * unit], [0.5, 0.5]), Pmf([unit, 11 * unit], [0.5, 0.5]))
    one = promised(pair, Identity(), wasserstein.MECHANISM)
    charged = charge_of(one)
    assert float(charged.change or 0) == pytest.approx(11 * unit)
    assert float(noise_loss(charged, charged.change)) == pytest.approx(11)
    assert float(compose([one, one]).epsilon) == pytest.approx(22)  # the true loss is 11.31


def test_a_charge_says_which_entries_it_means() -> None:
    assert (charge(steps(3), Count(1)).entries, charge(steps(3), Count(1)).lengths) == (3, (3,))
    assert charge(pieces(2, 1), Count(1)).lengths == (2, 1)
    assert (charge(users(), Count(1)).lengths, charge(users(), Count(1)).names) == ((), ())
    assert charge(users(names=list("abc")), Count(1)).names == ("a", "b", "c")
    assert charge(network(("a", "b"), "b"), Count(1)).names == ("a", "b")  # as they were listed, not as they are kept
    both = Pufferfish(tf.every_entry(), [users().beliefs[0], users(names=list("abc")).beliefs[0]])
    assert charge(both, Count(1)).names == ("a", "b", "c")
    mixed = Pufferfish(tf.every_entry(), [steps(3).beliefs[0], pieces(2, 1).beliefs[0]])
    assert (charge(mixed, Count(1)).lengths, charge(mixed, Count(1)).entries) == ((), 3)
    assert charge(Pufferfish(tf.every_entry(), [steps(3).beliefs[0]] * 2), Count(1)).lengths == (3,)


@pytest.mark.parametrize("at", [1.5, True, False, "1"])
def test_a_place_is_a_step_of_one_sequence(at: Any) -> None:
    with pytest.raises(InputError, match="it is the step where"):
        charge(steps(3), Count(1), at=at)
    for step in (4, -4):  # steps of a calendar are counted from 1970
        assert charge(steps(3), Count(1), at=step).at == charge(pieces(3), Count(1), at=step).at == step
    for about in (pieces(2, 1), users(), network("a", "b")):
        with pytest.raises(InputError, match="where one sequence starts"):
            charge(about, Count(1), at=0)


def test_a_pooled_mean_is_a_sum_with_the_scale_to_match() -> None:
    for states, grid in (([0, 1], Fraction(1)), ([0.0, 0.25], Fraction(1, 4))):
        pool, unit = pieces(2, 2, states=states), pieces(2, states=states)
        charged = charge_of(laplace(pool, Mean(), 10, Covers.COMPONENT), unit)
        assert (charged.query["kind"], charged.entries) == ("sum", 2)
        assert changes(charged) == (2 * grid, grid, 10 * grid)  # of the mean it is a quarter of that


def test_entries_that_are_numbered_are_those_of_one_reading() -> None:
    for query in (Linear([1, 1]), Count(1, entries=[0]), Sum(entries=[0]), Mean(entries=[0])):
        assert query.numbers_entries
        with pytest.raises(InputError, match="numbers the rows of all people together"):
            charge(pieces(1, 1), query, framework=pieces(1))
        assert charge(pieces(1, 1), query, framework=pieces(1, 1)).entries == 2
    for query in (Count(1), Sum(), Mean(), Histogram(), Identity()):
        assert not query.numbers_entries


def hashed(about: Framework, query: Query) -> str:
    (belief,) = about.beliefs
    return answer_hash(query.resolve(belief), belief)


def test_a_hash_is_of_what_is_added_up_and_of_nothing_else() -> None:
    different = [Linear([1, 2, 3]), Linear([1, 3, 2]), Linear(["1/2", 1, "3/2"]), Count(1), Count(0), Histogram()]
    assert len({hashed(steps(3), query) for query in different}) == len(different)
    assert hashed(steps(3), Count(1)) == hashed(pieces(2, 1), Count(1)) != hashed(steps(4), Count(1))
    assert hashed(steps(3, states=["a", "b"]), Count("b")) == hashed(steps(3), Count(1))
    assert len(hashed(steps(3), Count(1))) == 32
    (belief,) = steps(2).beliefs
    one, two = (
        Additive(Fraction(1), ("count",), (np.array(table, dtype=np.int64),), np.array(weights, dtype=np.int64))
        for weights, table in (([1], [[1], [0], [1]]), ([1, 1], [[0], [1]]))
    )
    assert answer_hash(one, belief) != answer_hash(two, belief)  # the same four numbers, read otherwise


@pytest.mark.parametrize("length", [1, 3, 2 * HASHED_AT_ONCE, 2 * HASHED_AT_ONCE + 5])
def test_a_hash_in_pieces_is_that_of_whole_arrays(length: int) -> None:
    (belief,) = steps(1).beliefs
    places = np.arange(length, dtype=np.int64)
    for weights, numbers in ((np.ones_like(places), None), (places % 3, None), (places // 7 % 2, places // 5 % 2)):
        tables = tuple(np.array(table, dtype=np.int64) for table in ([[0], [1]], [[1], [2]]))
        answer = Additive(Fraction(1), ("count",), tables, weights, numbers)
        digest = hashlib.sha256(repr((answer.grid, answer.labels)).encode())
        for array in (weights, *tables, *(() if numbers is None else (numbers,))):
            digest.update(repr(array.shape).encode() + array.tobytes())
        assert answer_hash(answer, belief) == digest.hexdigest()[:32]


weights = st.lists(st.integers(0, 3), min_size=3, max_size=3)


@settings(max_examples=30, deadline=None)
@given(st.lists(st.sampled_from([2, 3]), min_size=3, max_size=3), weights)
def test_entries_with_different_values_are_hashed_in_the_listed_order(sizes: list[int], given: list[int]) -> None:
    """Two tables of numbers, of which each entry has one: equal answers have equal hashes, however they are kept."""

    def about(reverse: bool) -> Framework:
        nodes: list[Any] = []
        for place, (name, size) in enumerate(zip("abc", sizes, strict=True)):
            law = [Fraction(1, size)] * size
            above = ["abc"[place + 1]] if reverse and place < 2 else []
            nodes.append((name, list(range(size)), above, [law] * sizes[place + 1] if above else law))
        return Pufferfish(tf.every_entry(), tf.BayesianNetwork(nodes))

    query = Linear(given)
    assert hashed(about(False), query) == hashed(about(True), query)
    other = Linear([*given[:2], given[2] + 1])
    assert hashed(about(False), other) != hashed(about(True), query)


@dataclass(frozen=True)
class Forgetful(Query):
    """A query that counts the entries of one state, and writes down another one."""

    state: int
    written: int

    def resolve(self, entries: Any) -> Any:
        return Count(self.state).resolve(entries)

    def to_dict(self) -> dict[str, Any]:
        return {"kind": "test-forgetful", "state": self.written}

    @staticmethod
    def from_dict(data: Any) -> Forgetful:
        return Forgetful(data["state"], data["state"])

    def describe(self) -> str:
        return "a count"


def test_a_query_that_reads_back_as_another_has_no_charge(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(registry.KINDS._known, "test-forgetful", Forgetful)
    about = steps(3)
    honest = charge(about, Forgetful(1, 1))
    assert honest.answers == charge(about, Count(1)).answers
    with pytest.raises(InputError, match="reads back from its to_dict as one that adds up something else"):
        charge(about, Forgetful(1, 0))
