"""`group-dp` and `record-dp`: what each really promises by enumeration, and how it composes."""

from fractions import Fraction
from functools import partial
from typing import Any

import mpmath
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.support.chain_oracles import exact_rows, joint_law, largest_over_pairs
from tests.support.chain_questions import chains, loss_of
from tests.support.pair_cases import bound_by
from tests.support.vector_oracles import vector_loss

import takifugu as tf
from takifugu.analysis.bounds import Bound, Refusal
from takifugu.analysis.guarantee import Covers
from takifugu.analysis.problem import Problem
from takifugu.analysis.sensitivity import entry_change
from takifugu.mechanisms.group_dp import MECHANISM
from takifugu.mechanisms.record_dp import MECHANISM as ENTRY
from takifugu.model.beliefs.chains.chain import MarkovChain
from takifugu.model.frameworks import Framework, Pufferfish
from takifugu.model.queries import Count, Histogram, Linear, Mean, Query, Sum
from takifugu.model.secrets.of_entries import attribute, entry, every_entry
from takifugu.numbers.rationals import decimal_up

BINARY = [[0.9, 0.1], [0.4, 0.6]]
group = partial(bound_by, MECHANISM)


def hidden_chain(length: int, **how: Any) -> Framework:
    return Pufferfish(tf.every_entry(), tf.MarkovChain(BINARY, length, **how))


@pytest.mark.parametrize(("query", "change"), [
    (Count(1), 100),
    (Count([0, 1]), 0),
    (Sum(), 100),
    (Mean(), 1),
    (Histogram(), 200),
    (Histogram(total=100), 2),
    (Linear([1] + [0] * 99), 1),
    (Linear([Fraction(1, 2)] * 100), 50),
    (Count(1, entries=range(10)), 10),
])  # fmt: skip
def test_scale_is_the_change_of_everything_over_epsilon(query: Query, change: int) -> None:
    bound = group(hidden_chain(100), query, Fraction(1, 2))
    assert bound.randomiser.scale == 2 * change
    assert bound.randomiser.kind == ("discrete-laplace" if change else "none")
    assert bound.covers is Covers.EVERYTHING
    assert dict(bound.witness.numbers) == {"D": change}


def test_independent_pieces_need_the_largest_and_compose_as_data() -> None:
    pieces = tf.IndependentPieces(tf.MarkovChain(BINARY, 1), [3, 5, 2])
    bound = group(Pufferfish(tf.every_entry(), pieces), Count(1))
    assert (bound.randomiser.scale, bound.covers) == (5, Covers.COMPONENT)
    assert bound.witness.comparison.startswith("any values of steps 3 to 7")
    alone = group(Pufferfish(tf.every_entry(), pieces), Count(1, entries=[3, 4]))
    assert (alone.randomiser.scale, alone.covers) == (2, Covers.EVERYTHING)


@given(st.integers(1, 10**6), st.builds(Fraction, st.integers(1, 10**9), st.integers(1, 10**9)))
def test_scales_never_round_down(length: int, epsilon: Fraction) -> None:
    belief = tf.ReversibleChains(0.2, 0.5, min(length, 50))
    bound = group(Pufferfish(tf.every_entry(), belief), Linear([length] * belief.length), epsilon)
    exact = Fraction(length * belief.length) / epsilon
    assert exact <= bound.randomiser.scale <= exact * (1 + Fraction(1, 10**9))


@st.composite
def small_questions(draw: st.DrawFn) -> tuple[tf.MarkovChain, Query]:
    belief = draw(chains(longest=3))
    return belief, draw(st.sampled_from([Count(1), Sum(), Histogram(), Linear([1, 2, 0][: belief.length])]))


def largest_loss(belief: tf.MarkovChain, query: Query, units: Fraction) -> Any:
    """The largest true loss of all comparisons under discrete Laplace noise, from the full joint law."""
    answer = query.resolve(belief)
    joint = joint_law(exact_rows(belief.matrix.tolist()), belief.length, [Fraction(p) for p in belief.initial])
    contribution = [[tuple(map(int, row)) for row in answer.contribution(i)] for i in range(belief.length)]
    with mpmath.workdps(30):
        scale = mpmath.mpf(units.numerator) / units.denominator
        return largest_over_pairs(joint, contribution, lambda p, q: vector_loss(p, q, scale))


@given(small_questions(), st.sampled_from([Fraction(1, 4), 1, 3]))
@settings(max_examples=60)
def test_no_comparison_loses_more_than_epsilon(question: tuple[tf.MarkovChain, Query], epsilon: Fraction) -> None:
    belief, query = question
    bound = group(Pufferfish(tf.every_entry(), belief), query, epsilon)
    if bound.randomiser.kind == "none":
        assert not query.resolve(belief).entry_changes().any()
        return
    units = bound.randomiser.scale / bound.randomiser.grid
    assert largest_loss(belief, query, units) <= epsilon + mpmath.mpf(10) ** -20


FAIR = [[0.5, 0.5], [0.5, 0.5]]


def bound_of(framework: Framework, query: Query, epsilon: Any = 1) -> Bound:
    bound = bound_by(ENTRY, framework, query, epsilon)
    assert bound.delta == 0
    return bound


def test_scale_is_what_hides_one_entry() -> None:
    framework = Pufferfish(every_entry(), MarkovChain(BINARY, 50))
    assert bound_of(framework, Count(1), 2).randomiser.scale == Fraction(1, 2)
    assert bound_of(framework, Histogram(), 2).randomiser.scale == 1
    assert bound_of(framework, Linear([3] + [1] * 49), 2).randomiser.scale == Fraction(3, 2)
    one = Pufferfish(entry(5, 0, 1), MarkovChain(BINARY, 50))
    assert bound_of(one, Linear([3] + [1] * 49), 2).randomiser.scale == Fraction(1, 2)


def test_correlated_steps_promise_between_one_and_all() -> None:
    framework = Pufferfish(every_entry(), MarkovChain(BINARY, 100))
    bound = bound_of(framework, Count(1))
    assert 2 < bound.epsilon < 20
    assert bound.covers is Covers.ENTRIES
    assert bound_of(Pufferfish(every_entry(), MarkovChain(FAIR, 100)), Count(1)).epsilon == pytest.approx(1, rel=1e-9)


@pytest.mark.mutants
@given(chains(), st.sampled_from(["count", "sum", "linear"]), st.sampled_from([Fraction(1, 2), 2]))
@settings(max_examples=60)
def test_the_promise_is_true(belief: MarkovChain, kind: str, epsilon: Fraction) -> None:
    query = {"count": Count(1), "sum": Sum(), "linear": Linear([2, 1, 0, 1, 3][: belief.length])}[kind]
    bound = bound_of(Pufferfish(every_entry(), belief), query, epsilon)
    assert loss_of(belief, query, bound.randomiser.scale) <= bound.epsilon + Fraction(1, 10**15)


def test_noise_without_a_changing_secret_is_refused_where_others_tell() -> None:
    framework = Pufferfish(entry(0, 0, 1), MarkovChain(BINARY, 3))
    refusal = ENTRY.bound(Problem(framework, Linear([0, 1, 1]), Fraction(1)))
    assert isinstance(refusal, Refusal)
    assert "correlated" in refusal.reason
    unread = Pufferfish(entry(0, 0, 1), tf.IndependentPieces(MarkovChain(BINARY, 1), [1, 1]))
    elsewhere = bound_of(unread, Linear([0, 1]))
    assert (elsewhere.randomiser.kind, elsewhere.covers) == ("none", Covers.COMPONENT)
    assert bound_of(unread, Linear([0, 0])).covers is Covers.EVERYTHING


def test_only_secret_entries_count() -> None:
    table = tf.JointTable([(0, 10), (1, 20)], [0.5, 0.5], names=["bit", "income"])
    framework = Pufferfish(attribute("bit", 0, 1), table)
    assert entry_change(Problem(framework, Linear([1, 1]), Fraction(1))) == 1
    assert bound_of(framework, Linear([1, 1])).epsilon == 11


@given(st.fractions(Fraction(1, 10**9), 10**9))
def test_promises_round_up_to_short_decimals(value: Fraction) -> None:
    short = decimal_up(value)
    assert value <= short <= value * (1 + Fraction(1, 10**10))
    assert 10**40 % short.denominator == 0
