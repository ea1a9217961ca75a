"""quilt-exact: reference values, every quilt of short sequences, the true loss of what is released."""

import math
from fractions import Fraction
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.support import quilt_oracles
from tests.support.golden import golden
from tests.support.quilt_cases import Case, binary, bound, cases, problem, random_chain, reversible_chain, scale
from tests.support.quilt_oracles import exact_chain_quilt, exact_loss, joint_tensor, quilt_scale

import takifugu as tf
from takifugu.analysis.guarantee import Covers
from takifugu.influence.quilts import mqm_exact
from takifugu.influence.quilts.scores import exact_scale, scores
from takifugu.mechanisms.group_dp import MECHANISM as GROUP
from takifugu.mechanisms.quilts import APPROX as QUILT_APPROX
from takifugu.mechanisms.quilts import EXACT as QUILT_EXACT
from takifugu.model.secrets.of_entries import entry

EPSILONS = [Fraction(1, 5), Fraction(1), Fraction(3)]


@pytest.mark.sampled(5)
@pytest.mark.parametrize("name", golden()["quilt_exact_binary_chain"])
@pytest.mark.parametrize("start", ["any", "stationary"])
def test_reference_values(name: str, start: str) -> None:
    words = dict(word.split("=") for word in name.split(","))
    chain = binary(float(words["p0"]), float(words["p1"]), int(words["T"]), start)
    expected = golden()["quilt_exact_binary_chain"][name][start]
    assert float(scale(chain, tf.Count(1), words["eps"])) == pytest.approx(expected, rel=1e-9)


@settings(max_examples=40, deadline=None)
@given(cases(longest=7, starts=("given",)), st.sampled_from(EPSILONS), st.data())
def test_no_subset_of_entries_asks_for_less(case: Case, epsilon: Fraction, data: st.DataObject) -> None:
    length = case.chain.length
    weights = data.draw(st.lists(st.integers(0, 3), min_size=length, max_size=length))
    (joint,) = case.tensors
    if not any(len(set(np.argwhere(joint > 0)[:, i])) > 1 for i in range(length)):
        return
    query = tf.Linear(weights, codes=dict(enumerate(range(len(case.chain.states)))))
    changes = problem(case.chain, query, epsilon).parts[0].answer.entry_changes()
    expected = quilt_scale(joint, changes, float(epsilon))
    assert float(scale(case.chain, query, epsilon)) == pytest.approx(expected, rel=1e-9, abs=1e-12)


@settings(max_examples=15, deadline=None)
@given(cases(longest=4, states=2, starts=("given", "stationary"), zeros=False), st.sampled_from(EPSILONS))
def test_no_parting_into_near_quilt_and_remote_asks_for_less(case: Case, epsilon: Fraction) -> None:
    (joint,) = case.tensors
    if min(case.chain.marginal(0)) == 0:
        return
    changes = [1.0] * case.chain.length
    expected = quilt_scale(joint, changes, float(epsilon), quilt_oracles.all_quilts)
    assert expected == pytest.approx(quilt_scale(joint, changes, float(epsilon), quilt_oracles.separating_quilts))
    assert float(scale(case.chain, tf.Count(1), epsilon)) == pytest.approx(expected, rel=1e-9)


@pytest.mark.sampled(3)
@pytest.mark.parametrize("start", ["stationary", "any", "given"])
def test_longer_sequences_agree_with_every_entry_and_every_pair_of_distances(start: str) -> None:
    rng = np.random.default_rng(11)
    for k, length, epsilon in [(2, 40, 1.0), (3, 25, 0.7), (3, 40, 2.0), (4, 18, 4.0)]:
        initial: Any = list(rng.dirichlet(np.ones(k))) if start == "given" else start
        chain = random_chain(rng, k, length, initial)
        weights = [1] * length if k != 3 else rng.integers(0, 3, length).tolist()
        query = tf.Linear(weights, codes={0: 0, 1: 1, 2: 3, 3: 1})
        changes = problem(chain, query, 1).parts[0].answer.entry_changes()
        expected = exact_chain_quilt(chain.matrix, initial, changes, epsilon)
        assert float(scale(chain, query, epsilon)) == pytest.approx(expected, rel=1e-9)


@pytest.mark.mutants
def test_entries_near_a_known_beginning_use_it_as_their_node() -> None:
    rng = np.random.default_rng(21)
    for k, length, weights in [(2, 60, [1] * 60), (3, 45, [1] * 45), (3, 45, [int(w) for w in rng.integers(0, 3, 45)])]:
        start = [1.0, *[0.0] * (k - 1)]
        slow = 0.9 * np.eye(k) + 0.1 * random_chain(rng, k, 1).matrix
        chain = tf.MarkovChain(slow, length, start)
        query = tf.Linear(weights, codes={0: 0, 1: 1, 2: 3})
        changes = problem(chain, query, 1).parts[0].answer.entry_changes()
        expected = exact_chain_quilt(chain.matrix, start, changes, 2.0)
        assert float(scale(chain, query, 2)) == pytest.approx(expected, rel=1e-9)


@settings(max_examples=30, deadline=None)
@given(cases(longest=5, starts=("given",)), st.sampled_from(EPSILONS), st.data())
def test_true_loss_of_a_weighted_sum_is_at_most_epsilon(case: Case, epsilon: Fraction, data: st.DataObject) -> None:
    length = case.chain.length
    weights = data.draw(st.lists(st.sampled_from([0, 1, 7]), min_size=length, max_size=length))
    (joint,) = case.tensors
    if not any(len(set(np.argwhere(joint > 0)[:, i])) > 1 for i in range(length)):
        return
    b = scale(case.chain, tf.Linear(weights, codes={0: 0, 1: 1, 2: 3}), epsilon)
    if b > 0:
        answer = tf.Linear(weights, codes={0: 0, 1: 1, 2: 3}).resolve(case.chain)
        loss = exact_loss(joint, lambda path: answer.evaluate(np.array(path)), [b])
        assert loss <= float(epsilon) * (1 + 1e-12)


@pytest.mark.sampled(5)
@pytest.mark.parametrize("start", ["stationary", [0.9, 0.1, 0.0]])
@pytest.mark.parametrize("epsilon", [0.5, 3])
def test_true_loss_of_a_histogram_is_at_most_epsilon(start: Any, epsilon: float) -> None:
    chain = tf.MarkovChain([[0.6, 0.3, 0.1], [0.2, 0.7, 0.1], [0.3, 0.3, 0.4]], 4, start)
    b = scale(chain, tf.Histogram(), epsilon)
    joint = joint_tensor(chain.matrix, chain.marginal(0), 4)
    loss = exact_loss(joint, lambda path: np.bincount(path, minlength=3).tolist(), [b] * 3)
    assert 0.25 * epsilon < loss <= epsilon
    assert b == pytest.approx(2 * float(scale(chain, tf.Count(0), epsilon)), rel=1e-9)


def test_bound_names_the_worst_entry_its_values_and_its_quilt() -> None:
    bounded = bound(binary(0.9, 0.6, 100), tf.Count(1), 1)
    assert bounded.covers is Covers.ENTRIES
    assert bounded.delta == 0
    numbers = dict(bounded.witness.numbers)
    assert bounded.randomiser.scale >= numbers["D"] / (1 - numbers["influence"])
    assert float(bounded.randomiser.scale) == pytest.approx(numbers["D"] / (1 - numbers["influence"]), rel=1e-10)
    assert " = 1 against step " in bounded.witness.comparison
    assert bounded.witness.detail.startswith("quilt: steps ")


@pytest.mark.sampled(5)
@pytest.mark.parametrize("epsilon", ["0.1", "1/3", "1", "7"])
@pytest.mark.parametrize("start", ["stationary", "any", [0.2, 0.3, 0.5]])
def test_independent_entries_need_what_one_entry_needs(epsilon: str, start: Any) -> None:
    chain = tf.MarkovChain([[0.2, 0.3, 0.5]] * 3, 50, start)
    assert scale(chain, tf.Count(1), Fraction(epsilon)) == 1 / Fraction(epsilon)
    assert scale(chain, tf.Histogram(), Fraction(epsilon)) == 2 / Fraction(epsilon)


def test_what_is_not_observed_costs_nothing() -> None:
    # The only observed entry is far from the secret: the quilt between them lets the noise vanish (errata E14).
    chain = binary(0.7, 0.6, 60)
    secret = entry(50, 0, 1)
    assert scale(chain, tf.Count(1, entries=(0,)), 1, secret=secret) == 0
    assert bound(chain, tf.Count(1, entries=(0,)), 1, secret=secret).randomiser.kind == "none"
    assert scale(chain, tf.Count(1, entries=(49,)), Fraction(1, 10), secret=secret) > 0


def test_influence_of_exactly_epsilon_is_enough_without_a_near_set_that_counts_and_not_with_one() -> None:
    half = np.array([0.5])
    assert scores(np.array([0.0]), half, 0.5).tolist() == [0.0]
    assert scores(np.array([3.0]), half, 0.5).tolist() == [math.inf]
    assert scores(np.array([0.0]), np.array([1e100]), 0.5).tolist() == [math.inf]
    assert exact_scale(0.0, 0.5, Fraction(1, 2)) == 0
    # T = 2, only entry 0 observed and entry 1 secret: without noise as soon as epsilon reaches e({X_0}).
    chain = binary(0.9, 0.6, 2)
    e = math.log(0.6 / 0.1)
    secret = entry(1, 0, 1)
    assert scale(chain, tf.Count(1, entries=(0,)), e * (1 + 1e-12), secret=secret) == 0
    assert float(scale(chain, tf.Count(1, entries=(0,)), e * (1 - 1e-12), secret=secret)) == pytest.approx(1 / e)


def test_short_and_degenerate_sequences() -> None:
    assert scale(binary(0.9, 0.6, 1), tf.Count(1), 2) == Fraction(1, 2)
    assert scale(binary(0.9, 0.6, 1, "any"), tf.Count(1), 2) == Fraction(1, 2)
    assert scale(binary(0.9, 0.6, 2), tf.Count(1), Fraction(1, 100)) == 200
    assert scale(tf.MarkovChain([[0, 1], [1, 0]], 40), tf.Count(1), 1) == 40
    assert scale(binary(1.0, 1.0, 40, "any"), tf.Count(1), 1) == 40
    absorbing = tf.MarkovChain([[1, 0], [0.5, 0.5]], 12, [0.5, 0.5])
    joint = joint_tensor(absorbing.matrix, [0.5, 0.5], 12)
    assert float(scale(absorbing, tf.Count(1), 1)) == pytest.approx(12)
    assert exact_loss(joint[(slice(None),) * 6 + (0,) * 6], lambda path: [sum(path)], [12]) < 1
    # A value that the chain leaves for ever has stationary mass zero: only the others are secrets.
    left = tf.MarkovChain([[0.5, 0.25, 0.25], [0, 0.5, 0.5], [0, 0.5, 0.5]], 20)
    assert scale(left, tf.Count(2), 1) == 1


@settings(max_examples=25, deadline=None)
@given(cases(longest=40, starts=("given", "any")), st.sampled_from(EPSILONS), st.data())
def test_never_above_group(case: Case, epsilon: Fraction, data: st.DataObject) -> None:
    length = case.chain.length
    weights = data.draw(st.lists(st.integers(0, 4), min_size=length, max_size=length))
    query = tf.Linear(weights, codes={0: 0, 1: 1, 2: 3})
    if all(sum(case.chain.possible(i)) < 2 for i in range(length)):
        return
    assert scale(case.chain, query, epsilon) <= scale(case.chain, query, epsilon, GROUP)


@pytest.mark.mutants
@pytest.mark.parametrize("start", ["stationary", "any", [1.0, 0.0, 0.0]])
def test_never_above_quilt_approx(start: Any) -> None:
    rng = np.random.default_rng(7)
    for _ in range(8):
        chain = reversible_chain(rng, 3, 60, start)
        weights = [int(w) for w in rng.integers(0, 3, 60)]
        for epsilon in EPSILONS:
            for query in (tf.Count(1), tf.Linear(weights)):
                assert scale(chain, query, epsilon) <= scale(chain, query, epsilon, QUILT_APPROX)


@pytest.mark.sampled(3)
@pytest.mark.parametrize("start", ["stationary", "any", [0.9, 0.1]])
def test_shorter_sequences_never_ask_for_more(start: Any) -> None:
    chain = binary(0.9, 0.7, 1, start)
    scales = [scale(chain.with_length(n), tf.Count(1), 1) for n in (1, 2, 3, 5, 8, 12, 13, 14, 20, 40, 200)]
    assert all(a <= b for a, b in pairwise(scales))
    pieces = tf.IndependentPieces(chain, [5, 40, 40, 13, 1])
    assert scale(pieces, tf.Count(1), 1) == scale(chain.with_length(40), tf.Count(1), 1)
    witness = bound(pieces, tf.Count(1), 1).witness
    assert "step" in witness.comparison


@pytest.mark.mutants
@pytest.mark.parametrize("start", ["any", "stationary", [1.0, 0.0, 0.0, 0.0]])
def test_a_long_sequence_asks_for_what_a_wide_enough_one_does(start: Any) -> None:
    chain = random_chain(np.random.default_rng(4), 4, 1)
    short, long = tf.MarkovChain(chain.matrix, 400, start), tf.MarkovChain(chain.matrix, 200_000, start)
    assert float(scale(long, tf.Count(1), 1)) == pytest.approx(float(scale(short, tf.Count(1), 1)), rel=1e-10)


@pytest.mark.mutants
def test_unobserved_steps_of_a_long_sequence() -> None:
    rng = np.random.default_rng(9)
    chain = binary(0.9, 0.8, 3000)
    seen = tuple(int(i) for i in np.flatnonzero(rng.random(3000) < 0.5))
    bounded = bound(chain, tf.Count(1, entries=seen), 1)
    assert bounded.randomiser.scale < scale(chain, tf.Count(1), 1)
    worst = int(bounded.witness.comparison.split()[1])
    window = slice(max(0, worst - 40), worst + 41)
    changes = problem(chain, tf.Count(1, entries=seen), 1).parts[0].answer.entry_changes()
    # Far from the ends a window around the worst entry says the same.
    near = exact_chain_quilt(chain.matrix, "stationary", changes[window], 1.0)
    assert float(bounded.randomiser.scale) == pytest.approx(near, rel=1e-9)


def test_memory_limit_keeps_the_bound_sound_and_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    chain = tf.MarkovChain([[0.97, 0.03], [0.02, 0.98]], 400)
    full = scale(chain, tf.Count(1), 1)
    monkeypatch.setattr(mqm_exact, "MOST_HELD", 4 * 30)
    bounded = bound(chain, tf.Count(1), 1)
    assert full < bounded.randomiser.scale <= 400
    assert "farther than 30 steps were not searched" in bounded.witness.detail


def test_cost_is_predicted_before_the_work() -> None:
    quick, slow = binary(0.6, 0.7, 10_000), binary(0.999, 0.998, 10_000)
    costs = [QUILT_EXACT.cost(problem(c, tf.Count(1), 1)) for c in (quick, quick.with_length(100_000), slow)]
    assert costs[0].operations < costs[1].operations < 10 * costs[0].operations
    assert costs[0].operations < costs[2].operations
    assert costs[0].memory < costs[2].memory
