"""Entry noise: what it really promises when entries are correlated, and that the promise is true and not vacuous."""

from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.support.chain_questions import chains, loss_of
from tests.support.pair_cases import bound_by

from takifugu.analysis.bounds import Bound, Refusal
from takifugu.analysis.guarantee import Covers
from takifugu.analysis.problem import Problem
from takifugu.analysis.sensitivity import entry_change
from takifugu.influence.promise import promise_of
from takifugu.mechanisms.entry import MECHANISM
from takifugu.model.beliefs.chains.chain import MarkovChain, MarkovChainClass
from takifugu.model.beliefs.chains.pieces import IndependentPieces
from takifugu.model.beliefs.table import JointTable
from takifugu.model.frameworks import Framework, Pufferfish
from takifugu.model.queries import Count, Histogram, Linear, Query, Sum
from takifugu.model.secrets.of_entries import attribute, entry, every_entry
from takifugu.numbers.rationals import decimal_up

BINARY = [[0.9, 0.1], [0.4, 0.6]]
COPY = [[1.0, 0.0], [0.0, 1.0]]
FAIR = [[0.5, 0.5], [0.5, 0.5]]


def bound_of(framework: Framework, query: Query, epsilon: Any = 1) -> Bound:
    bound = bound_by(MECHANISM, framework, query, epsilon)
    assert bound.delta == 0
    return bound


def test_scale_is_what_hides_one_entry() -> None:
    framework = Pufferfish(every_entry(), MarkovChain(BINARY, 50))
    assert bound_of(framework, Count(1), 2).randomiser.scale == Fraction(1, 2)
    assert bound_of(framework, Histogram(), 2).randomiser.scale == 1
    assert bound_of(framework, Linear([3] + [1] * 49), 2).randomiser.scale == Fraction(3, 2)
    one = Pufferfish(entry(5, 0, 1), MarkovChain(BINARY, 50))
    assert bound_of(one, Linear([3] + [1] * 49), 2).randomiser.scale == Fraction(1, 2)


def test_independent_entries_keep_the_promise() -> None:
    pieces = IndependentPieces(MarkovChain(BINARY, 1), [1] * 6)
    bound = bound_of(Pufferfish(every_entry(), pieces), Count(1), Fraction(1, 3))
    assert (bound.epsilon, bound.covers, bound.conditions) == (Fraction(1, 3), Covers.COMPONENT, ())
    single = bound_of(Pufferfish(every_entry(), MarkovChain(BINARY, 1)), Count(1))
    assert (single.epsilon, single.covers) == (1, Covers.EVERYTHING)


def test_a_copied_state_multiplies_the_loss_by_the_length() -> None:
    """The promise that was asked would be false: the true loss is 8, not 1."""
    copies = MarkovChain(COPY, 8, [0.5, 0.5])
    for belief in (copies, JointTable([(0,) * 8, (1,) * 8], [0.5, 0.5])):
        bound = bound_of(Pufferfish(every_entry(), belief), Sum())
        assert bound.epsilon == 8
        assert bound.covers is Covers.EVERYTHING
        assert "does not protect correlated data" in bound.conditions[0]
    assert loss_of(copies, Sum(), bound.randomiser.scale) > 7.9


def test_correlated_steps_promise_between_one_and_all() -> None:
    framework = Pufferfish(every_entry(), MarkovChain(BINARY, 100))
    bound = bound_of(framework, Count(1))
    assert 2 < bound.epsilon < 20
    assert bound.covers is Covers.ENTRIES
    assert bound_of(Pufferfish(every_entry(), MarkovChain(FAIR, 100)), Count(1)).epsilon == pytest.approx(1, rel=1e-9)


def test_classes_have_promises_too() -> None:
    bound = bound_of(Pufferfish(every_entry(), MarkovChainClass(0.3, 0.9, 200)), Sum())
    assert 1 < bound.epsilon < 200
    assert bound.covers is Covers.ENTRIES


@given(chains(), st.sampled_from(["count", "sum", "linear"]), st.sampled_from([Fraction(1, 2), 2]))
@settings(max_examples=60)
def test_the_promise_is_true(belief: MarkovChain, kind: str, epsilon: Fraction) -> None:
    query = {"count": Count(1), "sum": Sum(), "linear": Linear([2, 1, 0, 1, 3][: belief.length])}[kind]
    bound = bound_of(Pufferfish(every_entry(), belief), query, epsilon)
    assert loss_of(belief, query, bound.randomiser.scale) <= bound.epsilon + Fraction(1, 10**15)


def test_noise_without_a_changing_secret_is_refused_where_others_tell() -> None:
    framework = Pufferfish(entry(0, 0, 1), MarkovChain(BINARY, 3))
    refusal = MECHANISM.bound(Problem(framework, Linear([0, 1, 1]), Fraction(1)))
    assert isinstance(refusal, Refusal)
    assert "correlated" in refusal.reason
    unread = Pufferfish(entry(0, 0, 1), IndependentPieces(MarkovChain(BINARY, 1), [1, 1]))
    elsewhere = bound_of(unread, Linear([0, 1]))
    assert (elsewhere.randomiser.kind, elsewhere.covers) == ("none", Covers.COMPONENT)
    assert bound_of(unread, Linear([0, 0])).covers is Covers.EVERYTHING


def test_only_secret_entries_count() -> None:
    table = JointTable([(0, 10), (1, 20)], [0.5, 0.5], names=["bit", "income"])
    framework = Pufferfish(attribute("bit", 0, 1), table)
    assert entry_change(Problem(framework, Linear([1, 1]), Fraction(1))) == 1
    assert bound_of(framework, Linear([1, 1])).epsilon == 11


def test_larger_scales_promise_more() -> None:
    problem = Problem(Pufferfish(every_entry(), MarkovChain(BINARY, 60)), Count(1), Fraction(1))
    promises = [promise_of(problem, Fraction(scale)).epsilon for scale in (1, 2, 4, 8, 1000)]
    assert promises == sorted(promises, reverse=True)
    assert promises[-1] <= Fraction(60, 1000)


@given(st.fractions(Fraction(1, 10**9), 10**9))
def test_promises_round_up_to_short_decimals(value: Fraction) -> None:
    short = decimal_up(value)
    assert value <= short <= value * (1 + Fraction(1, 10**10))
    assert 10**40 % short.denominator == 0
