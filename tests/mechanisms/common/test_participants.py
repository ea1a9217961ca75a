"""Noise that counts on other components' randomness: what it is worth to the people behind them, who know their own."""

from fractions import Fraction
from typing import Any

import pytest
from tests.mechanisms.common.test_whole_laws import one_law
from tests.support import participants_oracles as oracle
from tests.support.chain_oracles import exact_rows, joint_law, stationary_vector
from tests.support.laws_oracles import laplace_loss_on

import takifugu as tf
from takifugu.analysis.answer_laws import users
from takifugu.analysis.problem import Problem
from takifugu.mechanisms import gaussian_exact, laplace_exact
from takifugu.mechanisms.common import shares

LAPLACE, NORMAL = laplace_exact.MECHANISM, gaussian_exact.MECHANISM
BIASED = [[0.9, 0.1], [0.3, 0.7]]
WORDS = "nobody who sees it knows what the other components add: against someone who does, epsilon is at most "


def problem_of(belief: Any, query: Any, epsilon: Any = 1, delta: Any = 0) -> Problem:
    return Problem(tf.Pufferfish(tf.every_entry(), belief), query, Fraction(epsilon), Fraction(delta))


def stated(bound: Any) -> float:
    """The epsilon against someone who knows all others, as the only condition says it."""
    (condition,) = bound.conditions
    assert condition.startswith(WORDS)
    return float(condition.removeprefix(WORDS))


def joints(matrix: Any, lengths: Any) -> list[oracle.Component]:
    exact = exact_rows(matrix)
    return [joint_law(exact, n, stationary_vector(exact)) for n in lengths]


@pytest.mark.mutants
@pytest.mark.parametrize("name", ["pieces", "network", "cliques", "users"])
def test_who_knows_all_others_is_met_by_every_joint_state(name: str) -> None:
    """Whatever the belief is called: the promise against everybody else, and what is left of it to participants."""
    bound: Any = NORMAL.bound(problem_of(one_law(3)[name], tf.Count(1), 1, Fraction(1, 20)))
    drawn: Any = [{(0,): Fraction(7, 10), (1,): Fraction(3, 10)}] * 3
    sigma, epsilon = float(bound.randomiser.scale), stated(bound)
    assert oracle.normal_excess(drawn, [1] * 3, sigma, 1) == pytest.approx(0.05, rel=1e-6)
    assert oracle.normal_excess(drawn, [1] * 3, sigma, epsilon, 2) <= 0.05
    assert oracle.normal_excess(drawn, [1] * 3, sigma, epsilon * 0.985, 2) > 0.05  # rounded up to three digits
    assert oracle.normal_excess(drawn, [1] * 3, sigma, epsilon, 1) <= 0.05  # who knows fewer loses no more


@pytest.mark.mutants
def test_pieces_of_several_lengths_state_the_worst_of_them() -> None:
    lengths = [2, 1, 3]
    problem = problem_of(tf.IndependentPieces(tf.MarkovChain(BIASED, 3), lengths), tf.Count(1), 1, Fraction(1, 50))
    bound: Any = NORMAL.bound(problem)
    drawn, sigma, epsilon = joints(BIASED, lengths), float(bound.randomiser.scale), stated(bound)
    assert sigma > 0
    assert oracle.normal_excess(drawn, [1] * 6, sigma, 1) <= 0.02
    assert oracle.normal_excess(drawn, [1] * 6, sigma, epsilon, 2) <= 0.02
    assert oracle.normal_excess(drawn, [1] * 6, sigma, epsilon * 0.985, 2) > 0.02


def odd_ones(count: int) -> tf.BayesianNetwork:
    """Components of a fair secret bit and a number that is 1 given 0, and 0 or 2 given 1: alone it is read off."""
    nodes: list[Any] = []
    for i in range(count):
        nodes += [(f"s{i}", [0, 1], [], [0.5, 0.5])]
        nodes += [(f"x{i}", [0, 1, 2], [f"s{i}"], [[0.01, 0.98, 0.01], [0.49, 0.02, 0.49]])]
    return tf.BayesianNetwork(nodes)


def secret_bits(count: int) -> Problem:
    """The bits are secret, not the numbers."""
    framework = tf.Pufferfish([tf.attribute(f"s{i}", 0, 1) for i in range(count)], odd_ones(count))
    return Problem(framework, tf.Linear([0, 1] * count, grid=1), Fraction(1), Fraction(0))


def test_laplace_noise_that_others_lower_says_what_it_is_worth_to_them() -> None:
    bound: Any = LAPLACE.bound(secret_bits(2))
    scale, epsilon = float(bound.randomiser.scale), stated(bound)
    assert scale < 0.9 * float(LAPLACE.bound(secret_bits(1)).randomiser.scale)  # type: ignore[union-attr]
    given_bit = [[1, 98, 1], [49, 2, 49]]
    one = {(s, x): Fraction(given_bit[s][x], 200) for s in (0, 1) for x in (0, 1, 2)}
    pairs = [
        tuple(oracle.law_of_answer([one, one], [0, 1, 0, 1], 0, bit, known) for bit in (0, 1)) for known in ((), (1,))
    ]
    all_unknown, all_known = (float(laplace_loss_on([*p, *q], p, q, scale, 30)) for p, q in pairs)
    assert all_unknown == pytest.approx(1, rel=1e-6)
    assert all_known <= epsilon <= all_known * 1.011


@pytest.mark.mutants
def test_pure_noise_that_others_cannot_lower_has_no_condition() -> None:
    """Beyond all answers other components change no ratio."""
    for length in (3, 150):
        pieces = tf.IndependentPieces(tf.MarkovChain(BIASED, length), [length, length])
        bound: Any = LAPLACE.bound(problem_of(pieces, tf.Count(1)))
        alone: Any = LAPLACE.bound(problem_of(tf.MarkovChain(BIASED, length), tf.Count(1)))
        assert float(bound.randomiser.scale) == pytest.approx(float(alone.randomiser.scale), rel=1e-9)
        assert bound.conditions == ()


def test_no_noise_promises_nothing_to_those_who_know_the_others() -> None:
    bound: Any = NORMAL.bound(problem_of(one_law(100)["pieces"], tf.Count(1), 1, Fraction(1, 10**5)))
    assert bound.randomiser.scale == 0
    assert bound.conditions == (WORDS.replace("epsilon is at most ", "nothing is promised"),)


@pytest.mark.sampled(9)
@pytest.mark.parametrize(("name", "number", "limit"), [
    ("pieces", 30, (shares, "MOST_SMOOTHED")), ("network", 30, (shares, "MOST_SMOOTHED")),
    ("cliques", 30, (shares, "MOST_SMOOTHED")), ("users", 40, (users, "MOST_WORK")),
])  # fmt: skip
def test_beyond_a_limit_nobody_else_is_counted_on(
    name: str, number: int, limit: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(*limit, 0)
    bound, alone = (
        NORMAL.bound(problem_of(one_law(count)[name], tf.Count(1), 1, Fraction(1, 10**5))) for count in (number, 1)
    )
    assert float(bound.randomiser.scale) == pytest.approx(float(alone.randomiser.scale), rel=1e-9)
    assert bound.witness.detail.endswith(shares.ALONE) or name == "users"
    assert bound.conditions == ()


@pytest.mark.mutants
def test_the_default_never_counts_on_what_others_know() -> None:
    """Only by name, or where nothing else is ever released."""
    for name in ("pieces", "users"):
        framework = tf.Pufferfish(tf.every_entry(), one_law(12)[name])
        usual = tf.calibrate(framework, tf.Count(1), 1, 1e-5)
        only = tf.calibrate(framework, tf.Count(1), 1, 1e-5, single_release=True)
        assert not usual.is_only_release
        assert usual.guarantee.conditions == ()
        assert only.expected_error <= usual.expected_error
