"""Channels on finitely many outputs: exponential choice, the optimal channel, their losses, errors, draws."""

import itertools
import math
from collections import Counter
from fractions import Fraction as F
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from mpmath import mp
from tests.support.goodness_of_fit import chi_squared_p
from tests.support.pair_cases import bound_by, pair_of, random_budget, random_pair
from tests.support.rounds import rounds

import takifugu as tf
from takifugu.analysis.guarantee import Covers
from takifugu.analysis.problem import Problem
from takifugu.analysis.questions.compared import TwoLaws
from takifugu.analysis.randomisers.choices import ChannelChoice, Choice, ExponentialChoice
from takifugu.core.errors import InputError, Unsupported
from takifugu.mechanisms.common import finite_outputs
from takifugu.mechanisms.common.finite_outputs import FiniteProblem, Side, certified, finite_problem
from takifugu.mechanisms.kantorovich_exponential import MECHANISM as EXPONENTIAL
from takifugu.mechanisms.kantorovich_exponential import exponential_rows, largest_rate
from takifugu.mechanisms.laplace_exact import MECHANISM as LAPLACE
from takifugu.mechanisms.optimal import MECHANISM as OPTIMAL
from takifugu.model.frameworks import Framework, distribution_pair
from takifugu.numbers import Pmf
from takifugu.numbers.distributions.channel import Channel
from takifugu.numbers.noise import InsecureSeededEntropyForTests
from takifugu.numbers.transport.bottleneck import bottleneck

BITS = distribution_pair(Pmf([0], [1]), Pmf([1], [1]))


def pair(seed: int) -> Framework:
    return pair_of(random_pair(seed))


def mean_error(noise: Any) -> float:
    """Return the error under the prior: what the linear program minimises. Other noise has one error."""
    return noise.mean_error() if isinstance(noise, Choice) else noise.expected_error()


def largest_loss(mu: dict[Any, F], nu: dict[Any, F], rows: Any) -> float:
    """sup over outputs of |log of the two output probabilities|, for exact rows {answer: {output: probability}}."""
    worst = 0.0
    for p, q in ((mu, nu), (nu, mu)):
        for y in {y for row in rows.values() for y in row}:
            one, two = (sum(m * rows[x].get(y, 0) for x, m in law.items()) for law in (p, q))
            if one:
                worst = max(worst, math.log(one / two) if two else math.inf)
    return worst


def rows_of(noise: Choice) -> dict[Any, dict[Any, F]]:
    return {x * noise.grid: {y * noise.grid: m for y, m in noise.channel.row(x).items()} for x in noise.channel.inputs}


def error_after_clamping(framework: Framework, noise: Any, outputs: list[int]) -> float:
    """Expected |output - answer| when the noisy answer is moved to the nearest output, mean over the two laws."""
    belief: Any = framework.beliefs[0]
    edges = [(a + b) / 2 for a, b in itertools.pairwise(outputs)]
    total = 0.0
    for law in (belief.left, belief.right):
        for x, p in law.items():
            for k in range(-400, 420):
                near = outputs[int(np.searchsorted(edges, k))]
                total += float(p) / 2 * math.exp(noise.log_mass(k - int(x))) * abs(near - int(x))
    return total


def check_pair(seed: int) -> None:
    mu, nu = random_pair(seed)
    epsilon, framework = random_budget(seed), pair(seed)
    best, choice = (bound_by(m, framework, None, epsilon) for m in (OPTIMAL, EXPONENTIAL))
    for promise in (best, choice):
        noise = promise.randomiser
        assert promise.covers is Covers.OUTPUT
        if isinstance(noise, Choice):
            assert largest_loss(mu, nu, rows_of(noise)) <= epsilon + 1e-14, seed
            assert tf.exact_loss(framework, tf.Identity(), noise).upper <= epsilon + 1e-14, seed
            assert dict(promise.witness.numbers)["measured_epsilon"] <= epsilon
    errors = [mean_error(promise.randomiser) for promise in (best, choice)]
    assert errors[0] <= errors[1] * (1 + 1e-6) + 1e-7, seed
    if seed % 10 == 0:
        grid = F(best.randomiser.grid)
        outputs = [int(y * grid) for y in finite_problem(Problem(framework, tf.Identity(), epsilon)).outputs]
        laplace = bound_by(LAPLACE, framework, None, epsilon).randomiser
        if grid == 1 and laplace.scale:
            assert errors[0] <= error_after_clamping(framework, laplace, outputs) * (1 + 1e-6), seed
    if isinstance(choice.randomiser, ExponentialChoice):
        move = dict(choice.witness.numbers)["largest_move"] / float(choice.randomiser.grid)
        assert 0.4999 * epsilon <= choice.randomiser.rate * F(move) <= epsilon, seed


@pytest.mark.mutants
@pytest.mark.parametrize("seeds", rounds(10, 200, 1000, parts=8))
def test_loss_audit_and_error(seeds: range) -> None:
    for seed in seeds:
        check_pair(seed)


def test_randomised_response_is_the_best_channel_of_one_bit() -> None:
    for epsilon in (F(1, 10), F(1), F(4)):
        best, choice = (bound_by(m, BITS, None, epsilon).randomiser.expected_error() for m in (OPTIMAL, EXPONENTIAL))
        assert best == pytest.approx(1 / (1 + math.exp(epsilon)), rel=1e-7)
        assert choice == pytest.approx(best, rel=1e-6)


def test_the_mean_error_is_that_over_the_hypotheses() -> None:
    choice = bound_by(OPTIMAL, distribution_pair(Pmf([0], [1]), Pmf([1, 2], [F(1, 2)] * 2))).randomiser
    assert isinstance(choice, ChannelChoice)
    assert choice.prior == (0.5, 0.25, 0.25)
    assert choice.expected_error() > choice.mean_error()
    with pytest.raises(Unsupported, match="no scale"):
        _ = choice.scale


def test_a_constant_normaliser_needs_no_factor_of_two() -> None:
    def around(x: Any, y: Any) -> int:
        return min((x - y) % 12, (y - x) % 12)

    def flipped(x: Any, y: Any) -> int:
        return sum(a != b for a, b in zip(x, y, strict=True))

    cube = list(itertools.product((0, 1), repeat=3))
    for points, metric, one, two in ((list(range(12)), around, 2, 11), (cube, flipped, (0, 0, 0), (1, 1, 0))):
        plan = bottleneck([one], [1], [two], [1], metric)
        rate = largest_rate([(x, y) for x, y, _ in plan.moves], points, metric, 1)
        assert rate == pytest.approx(1 / plan.distance, rel=1e-9)
        rows = exponential_rows([one, two], points, metric, rate)
        assert np.abs(np.log(rows[0] / rows[1])).max() == pytest.approx(1, rel=1e-9)


ROWS = st.lists(st.lists(st.integers(0, 5), min_size=3, max_size=3).filter(any), min_size=2, max_size=2)


@settings(max_examples=60)
@given(ROWS, st.lists(st.integers(1, 5), min_size=6, max_size=6), st.sampled_from([0.0, 0.25]))
def test_what_is_measured_is_the_largest_loss_and_what_rounded_masses_may_add(
    laws: list[list[int]], weights: list[int], margin: float
) -> None:
    rows = [(one, 6 - one, other) for one, other in zip(weights[:3], weights[3:], strict=True)]
    channel = Channel.of([0, 1, 2], [0, 1, 2], [[F(m, sum(row)) for m in row] for row in rows])
    both = tuple(map(tuple, laws))
    sides = (Side(0, 0, 0.0, "one"), Side(0, 1, margin, "two"), Side(1, 0, margin / 2, "three"))
    finite = FiniteProblem((F(0), F(1), F(2)), (0, 1, 2), both, sides, (1 / 3,) * 3)
    p, q = (
        [sum(F(m, sum(law)) * channel.row(x).get(y, 0) for x, m in enumerate(law)) for y in range(3)] for law in laws
    )
    with mp.workdps(40):
        true = max(abs(mp.log(mp.mpf((a / b).numerator) / (a / b).denominator)) for a, b in zip(p, q, strict=True))
        measured, where = finite.measured(channel)
        if len({*channel.masses}) > 1 and (p != q or margin):
            assert true + margin <= measured <= true + margin + 1e-14
            assert where == "two" or not true + margin


def test_rounded_masses_may_move_a_ratio_as_far_as_they_are_off(monkeypatch: pytest.MonkeyPatch) -> None:
    laws = Pmf([0, 1], [F(1, 2), F(1, 2)]), Pmf([0, 1], [F(1, 4), F(3, 4)])
    compared = [(TwoLaws(*laws, 0.1), lambda: "the two")]
    monkeypatch.setattr(finite_outputs, "whole_laws", lambda problem: compared)
    (side,) = finite_problem(Problem(BITS, tf.Identity(), F(1))).sides
    assert math.log(1.1 / 0.9) <= side.margin <= 0.23


@pytest.mark.mutants
@pytest.mark.parametrize("mechanism", [OPTIMAL, EXPONENTIAL])
def test_draws_have_the_masses_and_the_test_sees_a_wrong_channel(mechanism: Any) -> None:
    noise, wrong = (bound_by(mechanism, pair(0), None, epsilon).randomiser for epsilon in (2, F(19, 10)))
    assert isinstance(noise, Choice)
    entropy, size = InsecureSeededEntropyForTests(5), 20_000
    x = noise.channel.inputs[2]
    drawn = Counter(noise.draw([x], entropy)[0] for _ in range(size))
    counts = np.array([drawn[y * noise.grid] for y in noise.channel.outputs])
    assert counts.sum() == size
    right, other = (np.array([float(n.mass(x, y)) for y in noise.channel.outputs]) for n in (noise, wrong))
    assert chi_squared_p(counts[right > 0], right[right > 0]) > 1e-6
    shifted = 0.95 * right + 0.05 / len(right)
    assert chi_squared_p(counts, shifted) < 1e-6
    assert other.sum() == pytest.approx(1)


def test_auto_never_takes_them() -> None:
    table = {row.name: row for row in tf.compare(pair(3), tf.Identity(), 1)}
    others = [row.expected_error for name, row in table.items() if row.expected_error is not None and name != "optimal"]
    best = tf.calibrate(pair(3), tf.Identity(), 1, mechanism="optimal", allow_zero_noise=True)
    assert mean_error(best.randomiser) < min(others)
    assert mean_error(best.randomiser) < best.expected_error == table["optimal"].expected_error
    assert table["kantorovich-exponential"].status == "possible"
    assert table["optimal"].status == "refused by default"  # it tells two neighbouring answers apart
    assert "by name only" in table["kantorovich-exponential"].reason
    noise = [row for row in table.values() if row.status in ("chosen", "possible") and "by name only" not in row.reason]
    taken = tf.calibrate(pair(3), tf.Identity(), 1, single_release=True)
    assert table[taken.mechanism] in noise
    errors = [row.expected_error for row in noise if row.expected_error is not None]
    assert taken.expected_error <= min(errors) * (1 + 1e-9)


def test_bad_input() -> None:
    with pytest.raises(InputError, match="at least one output"):
        largest_rate([(0, 1)], [], lambda x, y: abs(x - y), 1)
    with pytest.raises(InputError, match="triangle inequality"):
        largest_rate([(0, 2)], [0, 1, 2], lambda x, y: (x - y) ** 2, 1)


def test_masses_too_rough_for_the_promise() -> None:
    finite = finite_problem(Problem(BITS, tf.Identity(), F(1)))
    assert certified(finite, np.eye(2), F(1, 10**9))[1] <= 1e-9
    with pytest.raises(Unsupported, match="no channel"):
        certified(finite, np.eye(2), F(-1))
