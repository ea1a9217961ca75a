"""Wasserstein with mass delta left behind: the table of errata E11, the divergence by an oracle, edges."""

from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.support.chain_strategies import chains, weights, with_secrets
from tests.support.laws_oracles import laplace_divergence, least_distance
from tests.support.pair_cases import bound_by, random_budget, random_pair
from tests.support.pair_cases import pair_of as pair

import takifugu as tf
from takifugu.analysis.guarantee import Covers
from takifugu.analysis.randomisers import Exact
from takifugu.mechanisms.wasserstein import MECHANISM as PURE
from takifugu.mechanisms.wasserstein_delta import MECHANISM

FLU = (
    {0: Fraction(1, 2), 1: Fraction(1, 6), 2: Fraction(1, 6), 3: Fraction(1, 6)},
    dict.fromkeys(range(1, 5), Fraction(1, 4)),
)
TAIL = {0: Fraction(99, 100), 50: Fraction(1, 100)}, {0: Fraction(99, 100), 1: Fraction(1, 100)}


@pytest.mark.parametrize(("laws", "delta", "move"), [
    (FLU, Fraction(1, 4), 1), (FLU, Fraction(1, 5), 2), (FLU, Fraction(1, 2), 0), (TAIL, Fraction(1, 100), 0),
    (TAIL, Fraction(99, 10**4), 49),
])  # fmt: skip
def test_the_table(laws: Any, delta: Fraction, move: int) -> None:
    bounded = bound_by(MECHANISM, pair(laws), delta=delta)
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
        noise = bound_by(MECHANISM, pair(laws), None, epsilon, delta).randomiser
        assert noise.scale * epsilon == least_distance(*laws, delta)
        assert noise.scale <= bound_by(PURE, pair(laws), None, epsilon).randomiser.scale
        assert tf.true_delta(pair(laws), epsilon, tf.Identity(), noise).upper <= delta + 1e-20
        if noise.scale:
            for p, q in (laws, laws[::-1]):
                assert laplace_divergence(p, q, noise.scale, epsilon) <= delta


@pytest.mark.mutants
@settings(max_examples=8)
@given(st.data(), chains(length=(1, 4)), st.sampled_from(["1/10", "1/1000"]))
def test_chains(data: st.DataObject, chain: Any, delta: str) -> None:
    framework, query = with_secrets(chain), tf.Linear(data.draw(weights(chain.length)), grid=1)
    noise = bound_by(MECHANISM, framework, query, 1, delta).randomiser
    assert tf.true_delta(framework, 1, query, noise).lower <= Fraction(delta) + Fraction(1, 10**12)


def test_scaling_and_swapping() -> None:
    for seed in range(30):
        p, q = random_pair(seed)
        delta = Fraction(1, 30)
        doubled = {2 * x: m for x, m in p.items()}, {2 * x: m for x, m in q.items()}
        one, swapped, twice = (
            bound_by(MECHANISM, pair(laws), delta=delta).randomiser.scale for laws in ((p, q), (q, p), doubled)
        )
        assert (swapped, twice) == (one, 2 * one)


def test_a_tiny_delta_on_rounded_masses_falls_back_on_the_pure_scale() -> None:
    framework = tf.Pufferfish(tf.every_entry(), tf.MarkovChain([[0.9, 0.1], [0.4, 0.6]], 8))
    bounded = bound_by(MECHANISM, framework, tf.Count(1), 1, Fraction(1, 10**18))
    assert bounded.randomiser == bound_by(PURE, framework, tf.Count(1)).randomiser
