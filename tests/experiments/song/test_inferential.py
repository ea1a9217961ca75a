"""The baseline of Song17: influence by enumeration, the golden values, the corrected closed form, and the true loss."""

import itertools
import math
from fractions import Fraction as F
from typing import Any

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from tests.support import network_oracles as oracle
from tests.support.golden import golden

import takifugu as tf
from song.inferential import chain_gamma, chain_spread, inferential_noise, matrix_spread, network_gamma, spread_of
from takifugu.analysis.bounds import Refusal
from takifugu.analysis.problem import Problem
from takifugu.core.errors import Unsupported
from takifugu.model.queries import Count, Linear, Query
from takifugu.model.secrets.of_entries import entry as entry_secret
from takifugu.numbers import Pmf
from takifugu.numbers.rationals import as_epsilon

CHAIN = [[0.9, 0.1], [0.4, 0.6]]
GOLDEN = golden()["quilt_exact_binary_chain"]


def noise_of(framework: tf.Pufferfish, query: Query, epsilon: float | F) -> Any:
    """Return the noise, or the words of a refusal."""
    noise = inferential_noise(Problem(framework, query, as_epsilon(epsilon)))
    return noise.reason if isinstance(noise, Refusal) else noise


def chain_spec(matrix: list[list[float]], start: list[float], length: int) -> oracle.Spec:
    nodes: oracle.Spec = [("x0", [0, 1], [], start)]
    return [*nodes, *((f"x{t}", [0, 1], [f"x{t - 1}"], matrix) for t in range(1, length))]


def gamma_by_enumeration(law: oracle.Law, i: int, j: int) -> float:
    """Return 1/2 log of the largest P(X_i = s | x_-i)/P(X_i = s | x'_-i) over x, x' that differ at j only."""
    size = len(next(iter(law)))
    others = [v for v in range(size) if v != i]
    rest = oracle.marginal(law, tuple(others))
    worst = 0.0
    for x, mass in law.items():
        for y in {z[j] for z in law} - {x[j]}:
            other = tuple(y if v == j else x[v] for v in range(size))
            below = rest.get(tuple(other[v] for v in others))
            if mass and below:
                share = law.get(other, 0.0) / below
                mine = mass / rest[tuple(x[v] for v in others)]
                worst = max(worst, 0.5 * math.log(mine / share) if share else math.inf)
    return worst


def corrected_closed_form(p0: float, p1: float) -> float:
    """Return Song17 Appendix B.10 with 1 - p0 for p0 (errata X6)."""
    q = 1 - p0
    one = ((1 - q) ** 2 + (1 - p1) * q) / ((1 - p1) * (1 - q) + p1 * (1 - p1))
    two = (q * (1 - q) + q * p1) / ((1 - p1) * q + p1**2)
    factors = [(1 - p1) / (1 - q), p1 / q]
    return 0.5 * max(abs(math.log(f * g)) for f, g in itertools.product(factors, (one, two)))


@pytest.mark.parametrize("name", list(GOLDEN))
def test_golden_values(name: str) -> None:
    p0, p1, length, epsilon = (text.split("=")[1] for text in name.split(","))
    a, b = float(p0), float(p1)
    chain, expected = tf.MarkovChain([[a, 1 - a], [1 - b, b]], int(length)), GOLDEN[name]
    framework = tf.Pufferfish(tf.every_entry(), chain)
    assert chain_gamma(chain) == pytest.approx(expected["gamma"], abs=1e-9)
    spread = spread_of(chain)
    assert spread == chain_spread(chain_gamma(chain), int(length))
    assert spread.norm == pytest.approx(expected["gk16_norm"], abs=1e-9)
    noise = noise_of(framework, Count(1), F(epsilon))
    if expected["gk16_scale"] is None:
        assert "spectral norm" in noise
    else:
        assert float(noise.scale) == pytest.approx(expected["gk16_scale"], rel=1e-9)


@pytest.mark.sampled(3)
@pytest.mark.parametrize(("p0", "p1"), list(itertools.product(range(1, 10), repeat=2)))
def test_the_corrected_closed_form_is_the_influence_of_inner_nodes(p0: int, p1: int) -> None:
    a, b = p0 / 10, p1 / 10
    chain = tf.MarkovChain([[a, 1 - a], [1 - b, b]], 5)
    # Stationary end nodes never exceed the inner ones.
    assert chain_gamma(chain) == pytest.approx(corrected_closed_form(a, b), abs=1e-9)
    assert chain_gamma(chain) <= 0.5 * abs(math.log(a * b / ((1 - a) * (1 - b)))) + 1e-9


@settings(max_examples=20, deadline=None)
@given(st.integers(1, 9), st.integers(1, 9), st.integers(1, 99), st.integers(1, 5))
@example(8, 7, 99, 5)  # a rare first value has more influence
def test_chains_by_enumeration(p0: int, p1: int, first: int, length: int) -> None:
    matrix = [[p0 / 10, 1 - p0 / 10], [1 - p1 / 10, p1 / 10]]
    start = [first / 100, 1 - first / 100]
    law = oracle.joint_law(chain_spec(matrix, start, length), [f"x{t}" for t in range(length)])
    pairs = [(i, j) for i in range(length) for j in range(length) if i != j]
    every = {pair: gamma_by_enumeration(law, *pair) for pair in pairs}
    assert chain_gamma(tf.MarkovChain(matrix, length, start)) == pytest.approx(max(every.values(), default=0), abs=1e-9)
    assert max((g for (i, j), g in every.items() if abs(i - j) > 1), default=0) < 1e-12


@settings(max_examples=20, deadline=None)
@given(st.integers(0, 10**6), st.integers(1, 5))
def test_networks_by_enumeration(seed: int, size: int) -> None:
    spec = oracle.random_network(np.random.default_rng(seed), size)
    net = tf.BayesianNetwork(spec)
    law = oracle.joint_law(spec, [str(n) for n in net.names])
    gamma = network_gamma(net)
    for i, j in itertools.permutations(range(size), 2):
        assert gamma[i, j] == pytest.approx(gamma_by_enumeration(law, i, j), abs=1e-9)


@settings(max_examples=25, deadline=None)
@given(st.fractions(0, F(1, 2), max_denominator=10**9), st.integers(1, 12))
def test_spreads_are_at_least_those_of_exact_elimination(number: F, length: int) -> None:
    gamma = F(float(number))
    factors, totals = [F(0)], [F(0)]
    for _ in range(length):  # (I - Gamma) x = 1, from the first row to the last and back
        pivot = 1 - gamma * factors[-1]
        factors, totals = [*factors, gamma / pivot], [*totals, (1 + gamma * totals[-1]) / pivot]
    solution = [F(0)]
    for factor, total in zip(factors[:0:-1], totals[:0:-1], strict=True):
        solution.append(total + factor * solution[-1])
    matrix = float(gamma) * (np.eye(length, k=1) + np.eye(length, k=-1))
    for spread in (chain_spread(float(gamma), length), matrix_spread(matrix)):
        assert spread.norm < 1
        assert max(solution) <= spread.row_sum <= max(solution) * (1 + F(1, 10**9) / F(1 - spread.norm))


@pytest.mark.parametrize("start", [[1, 0, 0], [0, 0, 1], [0.25, 0.75, 0]])
@pytest.mark.parametrize("length", [2, 3, 4])
@pytest.mark.parametrize("matrix", [
    [[0.5, 0.25, 0.25], [0.125, 0.5, 0.375], [0.25, 0.5, 0.25]],
    [[0, 0.25, 0.75], [0, 0.5, 0.5], [0, 0.75, 0.25]],  # nobody comes back to the first value
])  # fmt: skip
def test_values_that_never_stand_there_have_no_influence(
    matrix: list[list[float]], start: list[float], length: int
) -> None:
    nodes: oracle.Spec = [("x0", [0, 1, 2], [], start)]
    nodes += [(f"x{t}", [0, 1, 2], [f"x{t - 1}"], matrix) for t in range(1, length)]
    law = oracle.joint_law(nodes, [f"x{t}" for t in range(length)])
    largest = max(gamma_by_enumeration(law, i, j) for i in range(length) for j in (i - 1, i + 1) if 0 <= j < length)
    gamma = chain_gamma(tf.MarkovChain(matrix, length, start))
    assert largest <= gamma * (1 + 1e-12) + 1e-12
    if length == 2 or matrix[0][0]:
        assert gamma == pytest.approx(largest, abs=1e-9)


def test_products_too_small_for_floats_are_refused() -> None:
    """1e-160 times 1e-160 is 0 as a float: what would follow it would seem impossible."""
    for matrix, start in (
        ([[0.5, 0.5], [1e-160, 1]], [1, 1e-160]), ([[1, 1e-160], [1e-160, 1]], [0.5, 0.5]),
    ):  # fmt: skip
        with pytest.raises(Unsupported, match="below 1e-270"):
            chain_gamma(tf.MarkovChain(matrix, 3, start))
    assert chain_gamma(tf.MarkovChain([[0.5, 0.5], [1e-130, 1]], 3, [0.5, 0.5])) > 100


@settings(max_examples=12, deadline=None)
@given(st.integers(35, 65), st.integers(35, 65), st.integers(1, 6), st.sampled_from([0.3, 1.0, 3.0]))
def test_the_true_loss_is_at_most_epsilon(p0: int, p1: int, length: int, epsilon: float) -> None:
    a, b = p0 / 100, p1 / 100
    framework = tf.Pufferfish(tf.every_entry(), tf.MarkovChain([[a, 1 - a], [1 - b, b]], length))
    noise = noise_of(framework, Count(1), epsilon)
    if not isinstance(noise, str):
        assert tf.exact_loss(framework, Count(1), noise).upper <= epsilon * (1 + 1e-9)


@settings(max_examples=20, deadline=None)
@given(st.integers(0, 10**6), st.integers(1, 4), st.sampled_from([0.5, 2.0]))
def test_the_true_loss_of_networks_is_at_most_epsilon(seed: int, size: int, epsilon: float) -> None:
    net = tf.BayesianNetwork(oracle.random_network(np.random.default_rng(seed), size))
    framework, query = tf.Pufferfish(tf.every_entry(), net), Count(1, entries=[net.names[0]])
    noise = noise_of(framework, query, epsilon)
    if not isinstance(noise, str):
        assert tf.exact_loss(framework, query, noise).upper <= epsilon * (1 + 1e-9)


@pytest.mark.parametrize(("framework", "words"), [
    (tf.Pufferfish(tf.every_entry(), tf.MarkovChain(CHAIN, 5, "any")), "unknown initial distribution"),
    (tf.Pufferfish(tf.every_entry(), tf.MarkovChain([[1, 0], [0.4, 0.6]], 3, [0.5, 0.5])), "spectral norm inf"),
    (tf.Pufferfish(tf.every_entry(), tf.PeriodicChain([CHAIN, CHAIN], 5, [0, 1, 0, 1, 0])), "known for chains and net"),
    (tf.distribution_pair(Pmf([0], [1]), Pmf([1], [1])), "no values that influence"),
])  # fmt: skip
def test_what_the_theorem_does_not_cover(framework: tf.Pufferfish, words: str) -> None:
    query = tf.Identity() if "no values" in words else Count(1)
    assert words in noise_of(framework, query, 1)


@pytest.mark.sampled(7)
@pytest.mark.parametrize("weights", [[1, 1000], [1000, 1], [0, 7], [3, 1, 50], [0, 0, 9]])
@pytest.mark.parametrize("entry", [0, 1])
def test_an_entry_that_is_no_secret_counts_as_much(weights: list[int], entry: int) -> None:
    """The theorem is about noise that hides every single entry: one that is not secret tells about its neighbours."""
    chain = tf.MarkovChain([[0.6, 0.4], [0.4, 0.6]], length=len(weights))
    framework = tf.Pufferfish(entry_secret(entry, 0, 1), chain)
    noise = noise_of(framework, Linear(weights), 0.1)
    assert noise.scale >= 2 * max(weights) / 0.1
    assert tf.exact_loss(framework, Linear(weights), noise).loss <= 0.1
