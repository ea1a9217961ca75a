"""Group noise: golden values, its promise by enumeration, and how it composes."""

from fractions import Fraction
from functools import partial
from typing import Any

import mpmath
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.support.chain_oracles import answer_law_given, exact_rows, joint_law
from tests.support.golden import transport_laws
from tests.support.pair_cases import bound_by, pair_of
from tests.support.vector_oracles import vector_loss

import takifugu as tf
from takifugu.analysis.guarantee import Covers
from takifugu.mechanisms.group import MECHANISM
from takifugu.model.frameworks import Framework, Pufferfish, between
from takifugu.model.queries import Count, Histogram, Identity, Linear, Mean, Query, Sum

BINARY = [[0.9, 0.1], [0.4, 0.6]]


group = partial(bound_by, MECHANISM)


def chain(length: int, **how: Any) -> Framework:
    return Pufferfish(tf.every_entry(), tf.MarkovChain(BINARY, length, **how))


def test_flu_needs_four_over_epsilon() -> None:
    flu = pair_of(transport_laws()["flu_004"])
    for epsilon in (Fraction(1, 2), 1, 3):
        bound = group(flu, Identity(), epsilon)
        assert bound.randomiser.scale == Fraction(4) / Fraction(epsilon)
        assert (bound.covers, bound.epsilon, bound.delta) == (Covers.EVERYTHING, epsilon, 0)


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
    bound = group(chain(100), query, Fraction(1, 2))
    assert bound.randomiser.scale == 2 * change
    assert bound.randomiser.kind == ("discrete-laplace" if change else "none")
    assert bound.covers is Covers.EVERYTHING
    assert dict(bound.witness.numbers) == {"D": change}


def test_every_belief_is_served() -> None:
    beliefs = [
        tf.MarkovChain(BINARY, 7, "any"),
        tf.MarkovChainClass(0.2, 0.5, 7),
        tf.JointTable([(0,) * 7, (1,) * 7], [0.5, 0.5]),
    ]
    for belief in beliefs:
        assert group(Pufferfish(tf.every_entry(), belief), Sum()).randomiser.scale == 7
    assert group(Pufferfish(tf.every_entry(), beliefs[:2]), Sum()).covers is Covers.EVERYTHING


def test_independent_pieces_need_the_largest_and_compose_as_data() -> None:
    pieces = tf.IndependentPieces(tf.MarkovChain(BINARY, 1), [3, 5, 2])
    bound = group(Pufferfish(tf.every_entry(), pieces), Count(1))
    assert (bound.randomiser.scale, bound.covers) == (5, Covers.COMPONENT)
    assert bound.witness.comparison.startswith("any values of steps 3 to 7")
    alone = group(Pufferfish(tf.every_entry(), pieces), Count(1, entries=[3, 4]))
    assert (alone.randomiser.scale, alone.covers) == (2, Covers.EVERYTHING)


def test_two_laws_off_any_common_grid_get_continuous_noise() -> None:
    bound = group(between(tf.Pmf([0.0, 2**0.5], [0.5, 0.5]), tf.Pmf([1.0], [1.0])), Identity(), 2)
    assert bound.randomiser.kind == "rounded-laplace"
    assert 1 <= bound.randomiser.scale / (Fraction(2**0.5) / 2) < 1 + Fraction(1, 10**9)


@given(st.integers(1, 10**6), st.builds(Fraction, st.integers(1, 10**9), st.integers(1, 10**9)))
def test_scales_never_round_down(length: int, epsilon: Fraction) -> None:
    belief = tf.MarkovChainClass(0.2, 0.5, min(length, 50))
    bound = group(Pufferfish(tf.every_entry(), belief), Linear([length] * belief.length), epsilon)
    exact = Fraction(length * belief.length) / epsilon
    assert exact <= bound.randomiser.scale <= exact * (1 + Fraction(1, 10**9))


@st.composite
def small_questions(draw: st.DrawFn) -> tuple[tf.MarkovChain, Query]:
    k, length = draw(st.integers(2, 3)), draw(st.integers(1, 3))
    rows = [draw(st.lists(st.integers(0, 5), min_size=k, max_size=k).filter(any)) for _ in range(k)]
    start = draw(st.lists(st.integers(0, 5), min_size=k, max_size=k).filter(lambda n: sum(map(bool, n)) > 1))
    belief = tf.MarkovChain([[n / sum(r) for n in r] for r in rows], length, [n / sum(start) for n in start])
    query = draw(st.sampled_from([Count(1), Sum(), Histogram(), Linear([1, 2, 0][:length])]))
    return belief, query


def losses(belief: tf.MarkovChain, query: Query, units: Fraction) -> list[Any]:
    """The true loss of every comparison under discrete Laplace noise, from the full joint law."""
    answer = query.resolve(belief)
    joint = joint_law(exact_rows(belief.matrix.tolist()), belief.length, [Fraction(p) for p in belief.initial])
    contribution = [[tuple(map(int, row)) for row in answer.contribution(i)] for i in range(belief.length)]
    each = []
    with mpmath.workdps(30):
        scale = mpmath.mpf(units.numerator) / units.denominator
        for entry in range(belief.length):
            laws = [answer_law_given(joint, contribution, entry, v) for v in range(len(belief.states))]
            each += [vector_loss(p, q, scale) for p in laws for q in laws if p and q and p is not q]
    return each


@given(small_questions(), st.sampled_from([Fraction(1, 4), 1, 3]))
@settings(max_examples=60)
def test_no_comparison_loses_more_than_epsilon(question: tuple[tf.MarkovChain, Query], epsilon: Fraction) -> None:
    belief, query = question
    bound = group(Pufferfish(tf.every_entry(), belief), query, epsilon)
    if bound.randomiser.kind == "none":
        assert not query.resolve(belief).entry_changes().any()
        return
    assert max(losses(belief, query, bound.randomiser.scale / bound.randomiser.grid)) <= epsilon + mpmath.mpf(10) ** -20
