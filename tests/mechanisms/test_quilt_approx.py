"""quilt-approx: Lemma B.4 as corrected, Algorithms 3 and 5 against literal loops, one chain's own constants."""

import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.support.golden import golden
from tests.support.quilt_cases import binary, bound, problem, reversible_chain, scale
from tests.support.quilt_oracles import basic_markov_quilt, exact_loss, joint_tensor, lemma_b4, max_influence

import takifugu as tf
from takifugu.influence.quilts.mqm_approx import ClassInfluence, Constants, reversible_constants
from takifugu.influence.quilts.mqm_approx import lemma_b4 as bound_b4
from takifugu.mechanisms.quilts import APPROX as QUILT_APPROX


def class_scale(pi: float, g: float, length: int, epsilon: Any) -> float:
    return float(scale(tf.ReversibleChains(pi, g, length), tf.Count(1), epsilon, QUILT_APPROX))


@pytest.mark.parametrize("name", golden()["quilt_class_pi_g"])
def test_reference_values(name: str) -> None:
    case, epsilon = golden()["quilt_class_pi_g"][name], name.split("eps=")[1]
    needed = class_scale(case["pi"], case["g"], 100, epsilon)
    assert needed == pytest.approx(case["basic"], rel=1e-9)
    assert needed == pytest.approx(case["fast"], rel=1e-9)


@settings(max_examples=60, deadline=None)
@given(st.floats(0.01, 0.5), st.floats(0.01, 1.0), st.integers(1, 400))
def test_bound_is_the_printed_formula_rounded_up(pi: float, g: float, n: int) -> None:
    here, printed = float(bound_b4(np.array([n]), pi, g)[0]), lemma_b4(n, pi, g)
    if math.isfinite(printed) and math.exp(-g * n) < pi * (1 - 1e-9):
        assert printed * (1 - 1e-9) - 1e-15 <= here <= printed * (1 + 1e-6) + 1e-12
    else:
        assert here > 15


@pytest.mark.parametrize("seed", range(4))
def test_bound_is_never_below_the_exact_influence_under_any_start(seed: int) -> None:
    rng = np.random.default_rng(seed)
    k, length = 2 + seed % 2, 6
    chain = reversible_chain(rng, k, length)
    constants = reversible_constants(chain)
    assert isinstance(constants, Constants)
    influence = ClassInfluence(constants.pi, constants.g, constants.defect)
    for law in [*np.eye(k), *rng.dirichlet(np.ones(k), size=5), chain.stationary]:
        joint = joint_tensor(chain.matrix, law, length)
        for i in range(1, length):
            for a in range(1, i + 1):
                assert max_influence(joint, [i - a], i) <= influence.before(i, a)[-1, 0]
                for b in range(1, length - i):
                    both = float(influence.largest(np.array([i]), a, b)[0])
                    assert max_influence(joint, [i - a, i + b], i) <= both


def test_a_node_after_the_entry_is_missing_only_where_the_sequence_ends() -> None:
    # T = 20, pi = 1/2, g = 0.8, entry 11 of 20: with a = 10 and b = 1 both nodes are real (errata E3, i).
    influence = ClassInfluence(0.5, 0.8)
    both = float(influence.largest(np.array([10]), 10, 1)[0])
    joint = joint_tensor([[0.6, 0.4], [0.4, 0.6]], [0.5, 0.5], 12)
    exact = max_influence(joint, [0, 11], 10)
    assert exact == pytest.approx(0.4055, abs=1e-4)
    assert both >= exact
    assert 2 * lemma_b4(10, 0.5, 0.8) == pytest.approx(0.00268, abs=1e-5)
    assert class_scale(0.5, 0.8, 20, 0.3) == pytest.approx(50.5, abs=0.05)
    assert class_scale(0.5, 0.8, 20, 0.3) == pytest.approx(basic_markov_quilt(20, 0.5, 0.8, 0.3), rel=1e-9)


def test_influence_of_exactly_epsilon_is_not_enough() -> None:
    e = Fraction(lemma_b4(3, 0.4, 0.8))
    for epsilon in (e, e * (1 - Fraction(1, 10**13)), e * (1 + Fraction(1, 10**13))):
        needed = class_scale(0.4, 0.8, 4, epsilon)
        assert math.isfinite(needed)
        assert needed == pytest.approx(4 / float(e), rel=1e-9)


def test_distance_condition_is_for_real_nodes_and_strict() -> None:
    # errata E3, iii: entry 1 has a = 1 < log(1/pi)/g before it, and no node there.
    first = scale(tf.ReversibleChains(0.4, 0.8, 20), tf.Count(1), 1, QUILT_APPROX, tf.entry(0, 0, 1))
    assert float(first) == pytest.approx(5.0284, abs=5e-5)
    influence = ClassInfluence(math.exp(-2.0), 1.0)
    assert influence.after(0, 3)[1, 0] > 20
    assert influence.after(0, 3)[2, 0] < 2


@settings(max_examples=80, deadline=None)
@given(
    st.sampled_from([0.05, 0.1, 0.3, 0.4, 0.5]),
    st.sampled_from([0.1, 0.2, 0.5, 0.8, 1.0]),
    st.integers(1, 30),
    st.sampled_from([0.2, 1.0, 2.0, 6.0]),
)
def test_a_class_needs_what_all_quilts_of_all_entries_say(pi: float, g: float, length: int, epsilon: float) -> None:
    expected = basic_markov_quilt(length, pi, g, epsilon)
    assert class_scale(pi, g, length, epsilon) == pytest.approx(expected, rel=1e-9)


def test_long_sequences_ask_for_what_a_wide_enough_one_does() -> None:
    assert class_scale(0.1, 0.05, 300_000, 1) == pytest.approx(class_scale(0.1, 0.05, 2000, 1), rel=1e-10)
    weights = [3] + [1] * 4999
    assert float(scale(tf.ReversibleChains(0.3, 0.5, 5000), tf.Linear(weights), 1, QUILT_APPROX)) == pytest.approx(
        float(scale(tf.ReversibleChains(0.3, 0.5, 200), tf.Linear(weights[:200]), 1, QUILT_APPROX)), rel=1e-10
    )


def test_weights_and_secrets_that_differ_are_searched_entry_by_entry() -> None:
    rng = np.random.default_rng(0)
    pi, g, length, epsilon = 0.3, 0.7, 25, 1.5
    weights = [int(w) for w in rng.integers(0, 4, length)]
    sums = np.concatenate([[0], np.cumsum(weights)])
    best = []
    for i in range(length):
        options = []
        for a in range(1, i + 2):
            for b in range(1, length - i + 1):
                e = (0.0 if a == i + 1 else 2 * lemma_b4(a, pi, g)) + (0.0 if b == length - i else lemma_b4(b, pi, g))
                change = sums[i + b] - sums[i - a + 1]
                if e < epsilon or (change == 0 and e <= epsilon):
                    options.append(0.0 if change == 0 else change / (epsilon - e))
        best.append(min(options))
    belief = tf.ReversibleChains(pi, g, length)
    assert float(scale(belief, tf.Linear(weights), epsilon, QUILT_APPROX)) == pytest.approx(max(best), rel=1e-9)
    for i in (0, 7, 24):
        alone = scale(belief, tf.Linear(weights), epsilon, QUILT_APPROX, tf.entry(i, 0, 1))
        assert float(alone) == pytest.approx(best[i], rel=1e-9)


def test_one_chain_uses_its_own_constants() -> None:
    for p0, p1 in [(0.9, 0.6), (0.5, 0.5), (0.2, 0.7)]:
        needed = float(scale(binary(p0, p1, 100), tf.Count(1), 2, QUILT_APPROX))
        pi, g = min(1 - p0, 1 - p1) / (2 - p0 - p1), 1 - abs(p0 + p1 - 1)
        assert needed == pytest.approx(class_scale(pi, g, 100, 2), rel=1e-9)
    pieces = tf.IndependentPieces(binary(0.9, 0.6, 10), [100, 3, 7])
    assert float(scale(pieces, tf.Count(1), 2, QUILT_APPROX)) == pytest.approx(
        float(scale(binary(0.9, 0.6, 100), tf.Count(1), 2, QUILT_APPROX)), rel=1e-9
    )


@pytest.mark.parametrize("law", [[1.0, 0.0], [0.3, 0.7], [0.0, 1.0]])
def test_true_loss_is_at_most_epsilon_for_chains_of_the_class(law: list[float]) -> None:
    for p0, p1 in [(0.6, 0.6), (0.55, 0.7), (0.4, 0.45)]:
        pi, g = min(1 - p0, 1 - p1) / (2 - p0 - p1), 1 - abs(p0 + p1 - 1)
        b = scale(tf.ReversibleChains(pi * 0.999, g * 0.999, 9), tf.Count(1), 2.5, QUILT_APPROX)
        assert b < Fraction(9) / Fraction(5, 2)
        assert exact_loss(joint_tensor([[p0, 1 - p0], [1 - p1, p1]], law, 9), lambda path: [sum(path)], [b]) <= 2.5


def test_witness_and_cost() -> None:
    bounded = bound(tf.ReversibleChains(0.2, 0.4, 100), tf.Count(1), 1, QUILT_APPROX)
    assert bounded.witness.comparison == "any two values of step 50"
    assert bounded.witness.detail == "quilt: steps 36 and 62; near set: steps 37 to 61"
    assert QUILT_APPROX.cost(problem(tf.ReversibleChains(0.2, 0.4, 1000), tf.Count(1), 1)).operations > 1000
