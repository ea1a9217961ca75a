"""The Wasserstein mechanisms, all mass moved or all but delta: W-infinity by enumeration, golden values, the audit."""

import math
from fractions import Fraction
from functools import partial
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.support.chain_oracles import answer_law_given, largest_over_pairs, w_infinity_of
from tests.support.chain_strategies import chains, contributions, joint_laws, table_joint, tables, weights, with_secrets
from tests.support.golden import golden, transport_laws
from tests.support.laws_oracles import laplace_divergence, least_distance
from tests.support.pair_cases import bound_by, pair_of, random_budget, random_pair
from tests.support.rounds import rounds

import takifugu as tf
from takifugu.analysis.bounds import Bound
from takifugu.analysis.guarantee import Covers
from takifugu.analysis.problem import Problem
from takifugu.analysis.randomisers import DiscreteLaplace, Exact
from takifugu.audit import exact_loss, joint_loss
from takifugu.mechanisms.laplace_exact import MECHANISM as LAPLACE_EXACT
from takifugu.mechanisms.wasserstein import MECHANISM
from takifugu.mechanisms.wasserstein_delta import MECHANISM as DELTA
from takifugu.model.frameworks import Framework, Pufferfish, distribution_pair
from takifugu.model.secrets.of_entries import attribute, entry, every_entry
from takifugu.numbers import Pmf

STICKY = [[0.95, 0.05], [0.05, 0.95]]
budgets = st.sampled_from([Fraction(1, 5), Fraction(1), Fraction(5)])
bound = partial(bound_by, MECHANISM)
FLU = transport_laws()["flu_004"]


def moved(promise: Bound) -> float:
    return dict(promise.witness.numbers)["w_infinity"]


def hide(belief: tf.MarkovChain | tf.JointTable | tf.IndependentPieces) -> Framework:
    return Pufferfish(every_entry(), belief)


@pytest.mark.parametrize("name", golden()["chain_sum_w_infinity"])
def test_golden_sums_of_binary_chains(name: str) -> None:
    p0, p1, length = (Fraction(part.split("=")[1]) for part in name.split(","))
    chain = tf.MarkovChain([[float(p0), float(1 - p0)], [float(1 - p1), float(p1)]], int(length))
    bounded = bound(hide(chain), tf.Sum())
    assert moved(bounded) == golden()["chain_sum_w_infinity"][name]
    assert moved(bounded) <= bounded.randomiser.scale <= moved(bounded) * (1 + 1e-10)
    assert bounded.covers is Covers.OUTPUT


@settings(max_examples=50)
@given(st.data(), chains(length=(1, 5)), budgets)
def test_it_is_the_largest_w_infinity_of_all_joint_states(
    data: st.DataObject, chain: tf.MarkovChain, epsilon: Fraction
) -> None:
    query = tf.Linear(data.draw(weights(chain.length)), grid=1)
    joints, table = joint_laws(chain, as_typed=True), contributions(query.resolve(chain))
    largest = 0
    for i in range(chain.length):
        hulls = [[law for j in joints if (law := answer_law_given(j, table, i, a))] for a in range(len(chain.states))]
        moves = [w_infinity_of(p, q) for a, one in enumerate(hulls) for other in hulls[:a] for p in one for q in other]
        largest = max([largest, *moves])
    framework = with_secrets(chain)
    bounded = bound(framework, query, epsilon)
    assert moved(bounded) == largest
    assert 0 <= bounded.randomiser.scale * epsilon - largest <= 1e-9 * largest
    assert exact_loss(framework, query, bounded.randomiser).upper <= epsilon + 1e-12


@settings(max_examples=40)
@given(st.booleans().flatmap(tables), budgets)
def test_tables_agree_with_enumeration(table: tf.JointTable, epsilon: Fraction) -> None:
    framework, query = with_secrets(table), tf.Sum(grid=1)
    joint, contribution = table_joint(table), contributions(query.resolve(table))
    largest = largest_over_pairs(joint, contribution, w_infinity_of)
    bounded = bound(framework, query, epsilon)
    if table.total is not None:
        assert moved(bounded) == largest
        assert bounded.randomiser.scale == Fraction(largest) / epsilon
    assert moved(bounded) <= bounded.randomiser.scale * epsilon
    assert exact_loss(framework, query, bounded.randomiser).upper <= epsilon + 1e-12


def test_point_starts_are_no_proof_for_any_start() -> None:
    anyhow, *starts = (hide(tf.MarkovChain(STICKY, 4, initial=start)) for start in ("any", [1, 0], [0, 1], [0.5, 0.5]))
    assert [moved(bound(framework, tf.Count(1))) for framework in starts] == [3.0, 3.0, 4.0]
    bounded = bound(anyhow, tf.Count(1))
    assert moved(bounded) == 4.0
    assert "started in 0" in bounded.witness.comparison
    # A mutant that looks at point starts only is caught.
    assert exact_loss(anyhow, tf.Count(1), DiscreteLaplace(Fraction(3), Fraction(1))).lower > 1.2
    assert exact_loss(anyhow, tf.Count(1), bounded.randomiser).upper <= 1


@pytest.mark.parametrize("number", [Fraction, float])
def test_a_tiny_mass_far_away_is_not_ignored(number: type) -> None:
    tiny = number(Fraction(1, 10**13))
    framework = distribution_pair(Pmf([0, 50], [1 - tiny, tiny]), Pmf([0, 1], [1 - tiny, tiny]))
    bounded = bound(framework)
    assert moved(bounded) == 49
    assert exact_loss(framework, tf.Identity(), bounded.randomiser).upper <= 1
    assert exact_loss(framework, tf.Identity(), DiscreteLaplace(Fraction(1), Fraction(1))).lower > 20
    if number is Fraction:
        least = bound_by(LAPLACE_EXACT, framework).randomiser
        assert float(least.scale) == pytest.approx(1.6406928, abs=1e-6)
        assert 1 - 1e-8 < exact_loss(framework, tf.Identity(), least).upper <= 1


def test_x1_and_x2_and_their_exclusive_or() -> None:
    rows = [(a, b, a ^ b) for a in (0, 1) for b in (0, 1)]
    framework = Pufferfish(attribute("x1", 0, 1), tf.JointTable(rows, [Fraction(1, 4)] * 4, names=["x1", "x2", "both"]))
    bounded = bound(framework, tf.Identity("both"))
    assert bounded.randomiser == Exact(Fraction(1))
    bit = DiscreteLaplace(Fraction(1), Fraction(1))
    alone = [(tf.Identity("x1"), bit), (tf.Identity("x2"), bit), (tf.Identity("both"), bounded.randomiser)]
    assert [round(joint_loss(framework, [release]).loss, 12) for release in alone] == [1, 0, 0]
    assert joint_loss(framework, alone).loss == pytest.approx(2, abs=1e-12)
    exact = [(tf.Identity("both"), bounded.randomiser), (tf.Identity("x2"), Exact(Fraction(1)))]
    assert joint_loss(framework, exact).loss == math.inf


def test_independent_pieces_are_one_piece() -> None:
    chain = tf.MarkovChain([[0.9, 0.1], [0.4, 0.6]], 5)
    pieces = tf.IndependentPieces(chain, [5, 3, 5])
    bounded = bound(hide(pieces), tf.Count(1))
    assert moved(bounded) == 3
    assert bounded.witness.comparison == "step 0 = 0 against step 0 = 1"


def test_answer_units() -> None:
    chain = tf.MarkovChain([[0.9, 0.1], [0.4, 0.6]], 5, states=[0, 2.5])
    bounded = bound(hide(chain), tf.Sum())
    assert moved(bounded) == float(bounded.randomiser.scale) == 7.5


def test_secrets_of_probability_zero_are_skipped() -> None:
    chain = tf.MarkovChain([[0.9, 0.1, 0.0], [0.4, 0.6, 0.0], [0.5, 0.5, 0.0]], 5)
    table = tf.JointTable([(0, 0), (1, 1), (9, 9)], [Fraction(1, 2), Fraction(1, 2), Fraction(0)])
    assert moved(bound(hide(chain), tf.Count(1))) == 3
    assert moved(bound(hide(table), tf.Sum())) == 2
    first = tf.MarkovChain([[0.9, 0.1], [0.4, 0.6]], 5, initial=[1, 0])
    assert moved(bound(Pufferfish([entry(0, 0, 1), entry(4, 0, 1)], first), tf.Count(1))) == moved(
        bound(Pufferfish(entry(4, 0, 1), first), tf.Count(1))
    )


def test_cost_is_predicted_before_anything_runs() -> None:
    long = tf.MarkovChain([[0.9, 0.1], [0.4, 0.6]], 100_000)
    problem = Problem(hide(long), tf.Count(1), Fraction(1))
    assert MECHANISM.cost(problem).operations > 1e12 > problem.work_limit
    short = Problem(hide(tf.MarkovChain([[0.9, 0.1], [0.4, 0.6]], 100)), tf.Count(1), Fraction(1))
    assert 1e5 < MECHANISM.cost(short).operations < 1e8


TAIL = {0: Fraction(99, 100), 50: Fraction(1, 100)}, {0: Fraction(99, 100), 1: Fraction(1, 100)}


@pytest.mark.parametrize(("laws", "delta", "move"), [
    (FLU, Fraction(1, 4), 1), (FLU, Fraction(1, 5), 2), (FLU, Fraction(1, 2), 0), (TAIL, Fraction(1, 100), 0),
    (TAIL, Fraction(99, 10**4), 49),
])  # fmt: skip
def test_the_table_of_errata_e11(laws: Any, delta: Fraction, move: int) -> None:
    bounded = bound_by(DELTA, pair_of(laws), delta=delta)
    assert bounded.randomiser.scale == move
    assert (bounded.delta, bounded.covers) == (delta, Covers.OUTPUT)
    assert (bounded.randomiser == Exact(bounded.randomiser.grid)) is (move == 0)


@pytest.mark.mutants
@pytest.mark.parametrize("seeds", rounds(3, 24))
def test_it_is_enough(seeds: range) -> None:
    for seed in seeds:
        laws, epsilon = random_pair(seed), random_budget(seed)
        delta = [Fraction(1, 1000), Fraction(1, 20), Fraction(1, 4)][seed % 3]
        noise = bound_by(DELTA, pair_of(laws), None, epsilon, delta).randomiser
        assert noise.scale * epsilon == least_distance(*laws, delta)
        assert noise.scale <= bound_by(MECHANISM, pair_of(laws), None, epsilon).randomiser.scale
        assert tf.exact_delta(pair_of(laws), epsilon, tf.Identity(), noise).upper <= delta + 1e-20
        if noise.scale:
            for p, q in (laws, laws[::-1]):
                assert laplace_divergence(p, q, noise.scale, epsilon) <= delta


@pytest.mark.mutants
@settings(max_examples=8)
@given(st.data(), chains(length=(1, 4)), st.sampled_from(["1/10", "1/1000"]))
def test_chains_keep_delta(data: st.DataObject, chain: Any, delta: str) -> None:
    framework, query = with_secrets(chain), tf.Linear(data.draw(weights(chain.length)), grid=1)
    noise = bound_by(DELTA, framework, query, 1, delta).randomiser
    assert tf.exact_delta(framework, 1, query, noise).lower <= Fraction(delta) + Fraction(1, 10**12)


def test_a_tiny_delta_on_rounded_masses_falls_back_on_the_pure_scale() -> None:
    framework = hide(tf.MarkovChain([[0.9, 0.1], [0.4, 0.6]], 8))
    bounded = bound_by(DELTA, framework, tf.Count(1), 1, Fraction(1, 10**18))
    assert bounded.randomiser == bound_by(MECHANISM, framework, tf.Count(1)).randomiser
