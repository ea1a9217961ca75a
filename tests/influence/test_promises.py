"""What Laplace noise of a given scale promises, and what calibrations promise together: by hand."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from typing import Any

import pytest
from tests.support.ledger_tools import laplace, made

import takifugu as tf
from takifugu.accounting.composition import compose
from takifugu.analysis.guarantee import Covers
from takifugu.analysis.problem import Problem
from takifugu.analysis.randomisers import RoundedNormal
from takifugu.core.errors import InputError
from takifugu.influence.promise import promise_of
from takifugu.model.beliefs.chains.pieces import IndependentPieces
from takifugu.model.frameworks import Framework, Pufferfish, between
from takifugu.model.queries import Count, Identity, Linear
from takifugu.model.secrets.of_entries import every_entry
from takifugu.numbers.distributions.pmf import Pmf

WHOLE, DATA, QUILT, SINGLE = Covers
FAIR = [[0.5, 0.5], [0.5, 0.5]]
HALF, LITTLE = Fraction(1, 2), Fraction(1, 1000)


def steps(length: int, rows: Any = FAIR) -> Framework:
    return Pufferfish(every_entry(), tf.MarkovChain(rows, length))


def users(count: int) -> Framework:
    return Pufferfish(every_entry(), tf.IndependentUsers([{0: 0.5, 1: 0.5}] * count))


def promised(about: Framework, query: Any, scale: Any = 10) -> tuple[Fraction, Covers]:
    promise = promise_of(Problem(about, query, Fraction(1)), Fraction(scale))
    return round(promise.epsilon, 9), promise.covers


def test_the_smaller_of_the_components_change_and_the_quilts() -> None:
    assert promised(steps(3), Linear([5, 0, 2])) == (HALF, QUILT)
    assert promised(steps(3), Linear(["1/2", "3/2", 0])) == (Fraction(15, 100), QUILT)
    assert promised(steps(3), Linear([5, 0, 2]), "1/2") == (10, QUILT)
    assert promised(steps(2), Linear([200, 1]), 200) == (1, QUILT)  # better by half a per cent
    pieces = Pufferfish(every_entry(), IndependentPieces(tf.MarkovChain(FAIR, 1), [2, 1]))
    assert promised(pieces, Linear([1, 4, 2])) == (Fraction(4, 10), QUILT)
    assert promised(pieces, Linear([2, 3, 4])) == (Fraction(4, 10), QUILT)  # the second piece


def test_where_quilts_are_no_better_the_kind_that_composes_better_is_kept() -> None:
    assert promised(users(3), Linear([5, 0, 2])) == (HALF, DATA)
    assert promised(users(3), Linear([5, 0, 0])) == (HALF, WHOLE)
    twins = Pufferfish(every_entry(), tf.JointTable([(0, 0, 0), (1, 1, 1)], [HALF, HALF]))
    assert promised(twins, Linear([5, 0, 2])) == (Fraction(7, 10), WHOLE)
    assert promised(steps(3), Linear([0, 0, 0])) == (0, WHOLE)
    clique = Pufferfish(every_entry(), tf.CliqueInfection([list("ab")], {2: [0.5, 0, 0.5]}))
    assert promised(clique, Linear([1, 2])) == (Fraction(3, 10), WHOLE)


def test_noise_beside_two_laws_covers_their_span() -> None:
    for unit in (1, 0.5):
        pair = between(Pmf([0, 10 * unit], [0.5, 0.5]), Pmf([unit, 11 * unit], [0.5, 0.5]))
        assert promised(pair, Identity()) == (round(Fraction(11 * unit) / 10, 9), WHOLE)


# Together.


def test_together_the_strictest_framework_decides_and_says_by_which_rule() -> None:
    slow, fast = steps(3, [[0.99, 0.01], [0.01, 0.99]]), steps(3)
    both = [laplace(about, Count(1), 10, QUILT, Fraction(3, 10)) for about in (slow, fast)]
    for order in (both, both[::-1]):
        together = compose(order)
        assert 0.59 < together.epsilon < 0.6  # under the slow one nearly all of three steps count, twice
        assert together.covers is QUILT
        assert together.conditions == (
            "2 releases together, by the rule 'joint loss'",
            "each release's query, noise and stopping depend on the data through past outputs only",
        )
    conditioned = replace(both[0], guarantee=replace(both[0].guarantee, conditions=("a condition",)))
    assert compose([conditioned]).conditions == (
        "a condition", "each release's query, noise and stopping depend on the data through past outputs only"
    )  # fmt: skip


def test_together_the_strictest_kind_of_all_frameworks_counts() -> None:
    """The single is one under its own framework; the other one knows its noise alone."""
    slow, fast = steps(3, [[0.99, 0.01], [0.01, 0.99]]), steps(3)
    both = [laplace(slow, Count(1), 10, SINGLE, LITTLE), laplace(fast, Count(1), 10, WHOLE, Fraction(3, 10))]
    assert compose(both).covers is compose(both[::-1]).covers is SINGLE


def test_together_deltas_add_and_the_kind_is_the_strictest() -> None:
    about = users(3)
    noise = RoundedNormal(Fraction(9), Fraction(1))
    whole, data = (made(about, Count(1), noise, kind, HALF, LITTLE) for kind in (WHOLE, DATA))
    assert compose([whole]).conditions == ()
    assert compose([whole, data]).conditions == ("2 releases together, by the rule 'sum'",)
    together = compose([whole, data, data])
    assert (together.epsilon, together.delta, together.covers) == (3 * HALF, 3 * LITTLE, DATA)
    with pytest.raises(InputError, match="nothing to compose"):
        compose([])


def test_singles_count_by_their_noise_where_that_is_less() -> None:
    about = users(3)
    single, data = (laplace(about, Count(1), 10, kind, HALF) for kind in (SINGLE, DATA))
    for times in (1, 5, 6, 50):  # each is 1/10 of a user, and promises 1/2
        assert compose([single] * times).epsilon == Fraction(times, 10)
    assert compose([single, data]).epsilon == Fraction(2, 10)
