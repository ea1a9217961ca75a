"""Wasserstein with mass delta left behind: the table of errata E11, the divergence by an oracle, edges."""

from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.support.chain_strategies import chains, weights, with_secrets
from tests.support.laws_oracles import laplace_divergence, least_distance
from tests.support.pair_cases import pair_of as pair
from tests.support.pair_cases import random_budget, random_pair

import takifugu as tf
from takifugu.analysis.bounds import Bound
from takifugu.analysis.guarantee import Covers
from takifugu.analysis.problem import Problem
from takifugu.analysis.randomisers import Exact
from takifugu.mechanisms.wasserstein import MECHANISM as PURE
from takifugu.mechanisms.wasserstein_delta import MECHANISM
from takifugu.model.frameworks import Framework

FLU = (
    {0: Fraction(1, 2), 1: Fraction(1, 6), 2: Fraction(1, 6), 3: Fraction(1, 6)},
    dict.fromkeys(range(1, 5), Fraction(1, 4)),
)
TAIL = {0: Fraction(99, 100), 50: Fraction(1, 100)}, {0: Fraction(99, 100), 1: Fraction(1, 100)}


def bound(framework: Framework, epsilon: Any, delta: Any, query: Any = None) -> Bound:
    bounded = MECHANISM.bound(Problem(framework, query or tf.Identity(), Fraction(epsilon), Fraction(delta)))
    assert isinstance(bounded, Bound), bounded
    return bounded


@pytest.mark.parametrize(("laws", "delta", "move"), [
    (FLU, Fraction(1, 4), 1), (FLU, Fraction(1, 5), 2), (FLU, Fraction(1, 2), 0), (TAIL, Fraction(1, 100), 0),
    (TAIL, Fraction(99, 10**4), 49),
])  # fmt: skip
def test_the_table(laws: Any, delta: Fraction, move: int) -> None:
    bounded = bound(pair(laws), 1, delta)
    assert bounded.randomiser.scale == move
    assert (bounded.delta, bounded.covers) == (delta, Covers.OUTPUT)
    assert (bounded.randomiser == Exact(bounded.randomiser.grid)) is (move == 0)


@pytest.mark.parametrize("seeds", [
    range(3), pytest.param(range(3, 24), marks=pytest.mark.mutants),
])  # fmt: skip
def test_it_is_enough(seeds: range) -> None:
    for seed in seeds:
        laws, epsilon = random_pair(seed), random_budget(seed)
        delta = [Fraction(1, 1000), Fraction(1, 20), Fraction(1, 4)][seed % 3]
        noise = bound(pair(laws), epsilon, delta).randomiser
        assert noise.scale * epsilon == least_distance(*laws, delta)
        pure = PURE.bound(Problem(pair(laws), tf.Identity(), epsilon))
        assert isinstance(pure, Bound)
        assert noise.scale <= pure.randomiser.scale
        assert tf.true_delta(pair(laws), epsilon, tf.Identity(), noise).upper <= delta + 1e-20
        if noise.scale:
            for p, q in (laws, laws[::-1]):
                assert laplace_divergence(p, q, noise.scale, epsilon) <= delta


@pytest.mark.mutants
@settings(max_examples=8)
@given(st.data(), chains(length=(1, 4)), st.sampled_from(["1/10", "1/1000"]))
def test_chains(data: st.DataObject, chain: Any, delta: str) -> None:
    framework, query = with_secrets(chain), tf.Linear(data.draw(weights(chain.length)), grid=1)
    noise = bound(framework, 1, delta, query).randomiser
    audit = tf.true_delta(framework, 1, query, noise)
    assert audit.lower <= Fraction(delta) + Fraction(1, 10**12)


def test_scaling_and_swapping() -> None:
    for seed in range(30):
        p, q = random_pair(seed)
        delta = Fraction(1, 30)
        one = bound(pair((p, q)), 1, delta).randomiser.scale
        assert bound(pair((q, p)), 1, delta).randomiser.scale == one
        doubled = {2 * x: m for x, m in p.items()}, {2 * x: m for x, m in q.items()}
        assert bound(pair(doubled), 1, delta).randomiser.scale == 2 * one


def test_a_tiny_delta_on_rounded_masses_falls_back_on_the_pure_scale() -> None:
    framework = tf.Pufferfish(tf.every_entry(), tf.MarkovChain([[0.9, 0.1], [0.4, 0.6]], 8))
    bounded = bound(framework, 1, Fraction(1, 10**18), tf.Count(1))
    pure = PURE.bound(Problem(framework, tf.Count(1), Fraction(1)))
    assert isinstance(pure, Bound)
    assert bounded.randomiser == pure.randomiser
