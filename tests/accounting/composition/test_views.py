"""How a framework reads a query that was calibrated for another one: by names, by steps, or at its worst; by hand."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from tests.support.ledger_tools import laplace, promised

import takifugu as tf
from takifugu.accounting.composition import Charge, charge_of
from takifugu.accounting.composition.views import Read, Steps, View, inside
from takifugu.analysis.guarantee import Covers
from takifugu.core.errors import TakifuguError
from takifugu.mechanisms import group
from takifugu.model.beliefs.chains.pieces import IndependentPieces
from takifugu.model.frameworks import Framework, Pufferfish, between
from takifugu.model.queries import Count, Identity, Linear, Query, Sum
from takifugu.model.secrets.of_entries import entry, every_entry
from takifugu.numbers.distributions.pmf import Pmf

FAIR = [[0.5, 0.5], [0.5, 0.5]]
COIN = {0: 0.5, 1: 0.5}
UNEVEN = Linear([5, 0, 2])


def steps(length: int, states: Any = None, secrets: Any = None) -> Framework:
    return Pufferfish(secrets or every_entry(), tf.MarkovChain(FAIR, length, states=states))


def pieces(*lengths: int, secrets: Any = None) -> Framework:
    return Pufferfish(secrets or every_entry(), IndependentPieces(tf.MarkovChain(FAIR, 1), lengths))


def users(count: int = 3, names: Any = None, secrets: Any = None) -> Framework:
    return Pufferfish(secrets or every_entry(), tf.IndependentUsers([COIN] * count, names=names))


def network(*names: str) -> Framework:
    return Pufferfish(every_entry(), tf.BayesianNetwork([(name, [0, 1], [], [0.5, 0.5]) for name in names]))


def charge(about: Framework, query: Query, **changes: Any) -> Charge:
    return replace(charge_of(laplace(about, query, 1, Covers.ENTRIES)), **changes)


def view(framework: Framework) -> View:
    return View(framework, framework.fingerprint())


def read_as(about: Framework, one: Charge) -> tuple[list[Any], Any, bool] | None:
    """Return what each entry moves the answer by, what all do, and whether they were not matched; in answer units."""
    read = view(about).read(about.beliefs[0], one)
    if read is None:
        return None
    return [int(change) * read.grid for change in read.changes], read.total, read.is_blind


# One release under one belief.


def test_a_frameworks_own_release_is_read_as_it_was_calibrated() -> None:
    for about in (steps(3), pieces(2, 1), users(), users(names=list("abc")), network("a", "b", "c")):
        mine = charge(about, UNEVEN)
        assert read_as(about, mine) == ([5, 0, 2], 7, False)
        assert read_as(about, replace(mine, change=Fraction(99), entry_change=Fraction(99), answers=())) == (
            [5, 0, 2], 7, False
        )  # fmt: skip
        assert read_as(about, replace(mine, names=())) == ([5, 0, 2], 7, False)
        assert read_as(about, replace(mine, change=None)) is read_as(about, replace(mine, entry_change=None)) is None


def test_entries_with_names_are_matched_by_name() -> None:
    one = charge(network("a", "b", "c"), UNEVEN)
    assert read_as(network("c", "a", "b"), one) == ([2, 5, 0], 7, False)
    assert read_as(users(names=list("bac")), charge(users(names=list("abc")), UNEVEN)) == ([0, 5, 2], 7, False)
    assert read_as(network("a", "b", "d"), one) is None
    assert read_as(network("a", "b"), one) is None


def test_without_names_on_one_side_every_entry_may_be_any() -> None:
    for about, other in ((users(), users(names=list("abc"))), (users(names=list("abc")), users())):
        one = charge(other, UNEVEN)
        assert read_as(about, one) == ([5, 5, 5], 7, True)
        assert read_as(about, replace(one, entry_change=Fraction(11, 2))) == ([6, 6, 6], 7, True)
        assert read_as(about, replace(one, change=Fraction(99))) == ([5, 5, 5], 15, True)
    one = charge(network("a", "b", "c"), UNEVEN)
    assert read_as(steps(3), one) == ([5, 5, 5], 7, True)
    assert read_as(steps(2), one) == ([5, 5, 5], 7, True)  # three steps of a sequence
    assert read_as(steps(2), charge(network("a", "b", "c"), Count(1))) == ([1, 1, 1], 3, True)
    assert read_as(users(), charge(users(names=list("abc")), Linear([0, 0, 0]))) == ([0, 0, 0], 0, True)


def test_what_adds_up_something_else_counts_with_the_largest_change_where_it_reads() -> None:
    small, large = steps(3, states=[0, 1]), steps(3, states=[0, 10])
    for query, expected in ((Sum(), [10, 10, 10]), (Sum(entries=[0, 2]), [10, 0, 10])):
        total = sum(expected)
        assert read_as(large, charge(small, query)) == (expected, total, False)
        assert read_as(small, charge(large, query)) == (expected, total, False)
    assert read_as(large, charge(small, UNEVEN)) == ([50, 0, 50], 70, False)
    assert read_as(small, charge(large, UNEVEN)) == ([50, 0, 50], 70, False)
    known = charge(small, Linear(["1/2", "3/2", 0]), framework="another", entry_change=Fraction(7, 4))
    assert read_as(small, known) == ([Fraction(1, 2), Fraction(3, 2), 0], 2, False)
    assert read_as(small, replace(known, answers=charge(small, UNEVEN).answers)) == ([2, 2, 0], 2, False)  # in halves
    alike = charge(small, UNEVEN)
    assert read_as(steps(3, states=[0, 1], secrets=entry(0, 0, 1)), replace(alike, framework="another")) == (
        [5, 0, 2], 7, False
    )  # fmt: skip
    assert read_as(small, replace(alike, framework="another", answers=("first", alike.answers[0]))) == (
        [5, 0, 2], 7, False
    )  # fmt: skip


def test_a_sequence_of_another_length_is_read_at_its_own() -> None:
    for about in (steps(2), pieces(1, 1)):
        assert read_as(about, charge(steps(3), UNEVEN)) == ([5, 0, 2], 7, False)
        assert read_as(about, charge(steps(3), Count(1))) == ([1, 1, 1], 3, False)
        assert read_as(about, charge(steps(3, states=["a", "b"]), Count("a"))) is None
    assert read_as(users(2), charge(users(3), Count(1))) is None


def test_beside_two_laws_nothing_is_known_of_entries() -> None:
    pair = between(Pmf([0, 10], [0.5, 0.5]), Pmf([1, 11], [0.5, 0.5]))
    assert read_as(pair, charge(steps(3), UNEVEN)) is None
    mine = charge_of(promised(pair, Identity(), group.MECHANISM))
    assert mine.entries == 0
    assert read_as(pair, mine) is read_as(users(), mine) is None
    assert read_as(steps(3), charge(steps(3), Count(1), entries=0)) is None
    (laws,) = pair.beliefs
    assert read_as(pair, charge(users(laws.size), Count(1))) is read_as(pair, replace(mine, entries=laws.size)) is None


def test_a_release_is_read_once_and_as_long_as_it_is_known() -> None:
    about = view(users())
    belief, one = about.framework.beliefs[0], charge(users(), UNEVEN)
    first = about.read(belief, one)
    assert about.read(belief, one) is first
    for weight in range(1, 20):  # the memory of what is gone is used again
        read = about.read(belief, charge(users(), Linear([weight * 2, 1, 0])))
        assert read is not None
        assert read.total == weight * 2 + 1


# Whole promises.


def test_reading_alike_is_adding_up_the_same_under_every_belief() -> None:
    one = charge(steps(3), UNEVEN, framework="another")
    assert view(steps(3)).reads_alike(one)
    assert view(steps(4)).reads_alike(one)
    assert not view(steps(3, states=[0, 7])).reads_alike(one)
    assert not view(users(4)).reads_alike(one)
    both = Pufferfish(every_entry(), [tf.MarkovChain(FAIR, 3), IndependentPieces(tf.MarkovChain(FAIR, 1), [2, 1])])
    mixed = Pufferfish(every_entry(), [both.beliefs[0], users().beliefs[0]])  # the second is about three entries only
    longer = charge(steps(4), Linear([1, 2, 3, 4]), framework="another")
    assert view(both).reads_alike(longer)
    assert not view(mixed).reads_alike(longer)
    for about, other in ((users(), users(names=list("abc"))), (users(names=list("abc")), users())):
        assert view(about).reads_alike(charge(other, UNEVEN))  # all of them may change, whoever is who
    assert view(both).reads_alike(one)
    assert not view(both).reads_alike(replace(one, answers=("unknown",)))
    assert view(both).reads_alike(replace(one, answers=("unknown",), framework=both.fingerprint()))
    assert view(both).reads_alike(replace(one, answers=("unknown",), framework=both.fingerprint()))


@pytest.mark.parametrize(
    ("about", "expected"),
    [
        (users(), True),
        (users(secrets=entry(1, 0, 1)), False),
        (users(names=list("abc"), secrets=entry(1, 0, 1)), True),
        (users(secrets=[entry(n, 0, 1) for n in range(3)]), True),
        (users(secrets=[entry(n, 0, 1) for n in (0, 0, 1)]), False),
        (steps(3, secrets=entry(1, 0, 1)), True),
        (pieces(2, 1), True),
        (pieces(2, 1, secrets=entry(0, 0, 1)), False),
        (pieces(2, 1, secrets=[entry(0, 0, 1), entry(2, 0, 1)]), True),
        (Pufferfish(entry(0, 0, 1), [tf.MarkovChain(FAIR, 3), pieces(2, 1).beliefs[0]]), False),
    ],
)
def test_where_every_component_that_may_be_meant_holds_a_secret(about: Framework, expected: bool) -> None:
    assert view(about).has_secrets_everywhere is expected


# Runs.


def runs(about: Framework, one: Charge) -> list[tuple[int, int]] | None:
    covered = view(about).runs(about.beliefs[0], one)  # type: ignore[arg-type]
    return None if covered is None else [(run.start, run.stop) for run in covered]


def test_the_sequences_of_a_release() -> None:
    cut = charge(pieces(2, 1, 3), Linear([1] * 6))
    assert runs(pieces(2, 1, 3), cut) == runs(pieces(4, 4), cut) == [(0, 2), (2, 3), (3, 6)]
    for parts in ((2, 1, 3), (4, 2)):  # one sequence does not say how they lie in it
        assert runs(steps(6), charge(pieces(*parts), Linear([1] * 6))) is None
    assert runs(steps(2), charge(steps(6), Linear([1] * 6))) == [(0, 6)]
    assert runs(pieces(2, 1), charge(steps(6), Linear([1] * 6))) == [(0, 6)]
    old = replace(cut, lengths=())
    assert runs(pieces(2, 1, 3), old) == [(0, 2), (2, 3), (3, 6)]
    assert runs(pieces(4, 2), old) is None
    assert runs(pieces(4, 2), replace(cut, lengths=(2, 1))) is None
    one = charge(steps(1), Linear([1]))
    assert runs(steps(1), one) == runs(steps(9), replace(one, framework="another")) == [(0, 1)]


def secret_runs(about: Framework, reads: Sequence[Any] = ()) -> list[tuple[int, int, int, list[int]]]:
    given = [None if read is None else Read(np.array(read), Fraction(1), Fraction(9)) for read in reads]
    hidden = view(about).secret_runs(about.beliefs[0], given)
    return [(number, run.start, run.stop, list(family.entries)) for number, run, family in hidden]


def test_components_that_hold_a_secret() -> None:
    assert secret_runs(pieces(2, 1, 3)) == [(0, 0, 2, [0, 1]), (1, 2, 3, [0]), (2, 3, 6, [0, 1, 2])]
    assert secret_runs(pieces(2, 1, 3, secrets=entry(4, 0, 1))) == [(2, 3, 6, [1])]
    assert secret_runs(steps(3, secrets=[entry(1, 0, 1), entry(2, 0, 1)])) == [(0, 0, 3, [1]), (0, 0, 3, [2])]
    start = tf.MarkovChain(FAIR, 1, initial=(1.0, 0.0))  # every piece starts in 0, for certain
    assert secret_runs(Pufferfish(every_entry(), IndependentPieces(start, [1, 2]))) == [(1, 1, 3, [0, 1])]


def test_of_users_who_are_alike_one_is_enough() -> None:
    assert secret_runs(users()) == [(0, 0, 1, [0])]
    assert secret_runs(users(), [None, [2, 2, 2]]) == [(0, 0, 1, [0])]
    assert secret_runs(users(), [[2, 2, 3], None]) == [(0, 0, 1, [0]), (2, 2, 3, [0])]
    assert secret_runs(users(), [[2, 2, 3], [1, 4, 4]]) == [(n, n, n + 1, [0]) for n in range(3)]
    assert secret_runs(users(secrets=entry(1, 0, 1)), [[2, 2, 3]]) == [(1, 1, 2, [0])]
    sure = tf.IndependentUsers([{0: 1.0, 1: 0.0}, COIN])
    assert secret_runs(Pufferfish(every_entry(), sure)) == [(1, 1, 2, [0])]


def test_a_property_of_columns_is_held_by_all_records_together() -> None:
    table = tf.JointTable([(0, 1), (1, 0), (1, 2)], [0.5, 0.25, 0.25], names=["ill", "x"])
    known, other = tf.dataset_property("x", "sum"), tf.dataset_property("ill", "mean")
    assert secret_runs(Pufferfish([known, other], tf.Records(table, 3))) == [(0, 0, 3, [0, 1, 2])] * 2


def test_chosen_entries_inside_a_run() -> None:
    for first, last in ((0, 9), (2, 4), (3, 5), (0, 3), (5, 9), (7, 9), (0, 1)):
        expected = [e - 2 for e in range(2, 6) if first <= e < last]
        assert list(inside(range(first, last), range(2, 6))) == expected
        assert inside(tuple(range(first, last)), range(2, 6)) == tuple(expected)


def test_a_step_has_no_name() -> None:
    named = charge(network("a", "b", "c"), Count(1, entries=["a"]))
    assert read_as(steps(2), named) is None
    with pytest.raises(TakifuguError, match="no name 'a'"):
        Steps(3, (0, 1)).position("a")
