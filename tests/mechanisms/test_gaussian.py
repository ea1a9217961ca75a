"""Normal noise: golden sigmas, delta of the rounded noise by a sum over the grid, order, edges."""

from fractions import Fraction
from typing import Any

import pytest
from tests.support.golden import golden, transport_laws
from tests.support.pair_cases import bound_by, random_pair, rounded_normal_delta
from tests.support.pair_cases import pair_of as pair
from tests.support.rounds import rounds

import takifugu as tf
from takifugu.analysis.bounds import Refusal
from takifugu.analysis.guarantee import Covers
from takifugu.analysis.problem import Problem
from takifugu.analysis.randomisers import Exact, RoundedNormal
from takifugu.mechanisms.gaussian_exact import MECHANISM as EXACT
from takifugu.mechanisms.normal_by_rule import ANALYTIC, RULE_A, RULE_B
from takifugu.numbers import Pmf

ALL = (EXACT, ANALYTIC, RULE_A, RULE_B)
Laws = tuple[dict[int, Fraction], dict[int, Fraction]]


def largest_delta(laws: Laws, noise: Any, epsilon: Fraction) -> Any:
    """The delta of the rounded noise, both ways, laws in units of the noise's grid."""
    steps = [{int(x / noise.grid): m for x, m in law.items()} for law in laws]
    sigma = noise.scale / noise.grid
    return max(rounded_normal_delta(p, q, sigma, epsilon) for p, q in (steps, steps[::-1]))


@pytest.mark.mutants
@pytest.mark.parametrize("name", golden()["gaussian_sigma"])
def test_golden_sigmas(name: str) -> None:
    laws = transport_laws()[name]
    for key, sigmas in golden()["gaussian_sigma"][name].items():
        epsilon, delta = (Fraction(part) for part in key.split(","))
        exact, analytic, b = (bound_by(m, pair(laws), None, epsilon, delta) for m in (EXACT, ANALYTIC, RULE_B))
        assert float(exact.randomiser.scale) == pytest.approx(float(sigmas["exact"]), rel=1e-9)
        assert float(analytic.randomiser.scale) == pytest.approx(float(sigmas["analytic"]), rel=1e-9)
        assert dict(b.witness.numbers)["printed_sigma"] == pytest.approx(float(sigmas["thm3b_0_41"]), rel=1e-9)
        assert b.randomiser.scale > Fraction(sigmas["thm3b_0_41"])
        if epsilon > 1:
            refusal = RULE_A.bound(Problem(pair(laws), tf.Identity(), epsilon, delta))
            assert isinstance(refusal, Refusal)
            assert "at most 1" in refusal.reason
        else:
            a = bound_by(RULE_A, pair(laws), None, epsilon, delta)
            assert float(a.randomiser.scale) == pytest.approx(float(sigmas["thm3a"]), rel=1e-9)
        assert (exact.covers, exact.delta) == (Covers.OUTPUT, delta)


def check_pair(seed: int) -> None:
    laws = random_pair(seed)
    epsilon = [Fraction(1, 4), Fraction(1), Fraction(2)][seed % 3]
    delta = [Fraction(1, 100), Fraction(1, 10**5), Fraction(1, 5), Fraction(1, 10**8)][seed % 4]
    noises = [bound_by(m, pair(laws), None, epsilon, delta).randomiser for m in ALL if m is not RULE_A or epsilon <= 1]
    assert noises[0].scale <= noises[1].scale * (1 + Fraction(1, 10**9)), seed
    assert all(noises[1].scale <= noise.scale for noise in noises[2:]), seed
    for noise in noises[:2]:
        if noise.kind == "none":
            assert tf.exact_delta(pair(laws), epsilon, tf.Identity(), noise).upper <= delta + 1e-20
        else:
            assert largest_delta(laws, noise, epsilon) <= delta * (1 + 1e-9) + 1e-13, seed
    swapped = bound_by(EXACT, pair(laws[::-1]), None, epsilon, delta).randomiser
    assert swapped.scale == pytest.approx(noises[0].scale, rel=1e-9)


@pytest.mark.mutants
@pytest.mark.parametrize("seeds", rounds(3, 20, 1000, parts=20))
def test_order_and_the_delta_of_the_noise_that_is_drawn(seeds: range) -> None:
    for seed in seeds:
        check_pair(seed)


def test_the_exact_sigma_is_nearly_tight() -> None:
    laws = transport_laws()["flu_004"]
    delta = Fraction(1, 1000)
    noise = bound_by(EXACT, pair(laws), tf.Identity(grid="1/10"), 1, delta).randomiser
    assert noise.grid == Fraction(1, 10)
    largest = largest_delta(laws, noise, Fraction(1))
    assert Fraction(99, 100) * delta < largest <= delta
    # Mutants: half of the noise, and noise 1 % too small.
    for factor, least in ((Fraction(1, 2), 10), (Fraction(99, 100), Fraction(101, 100))):
        less = RoundedNormal(noise.scale * factor, noise.grid)
        assert largest_delta(laws, less, Fraction(1)) > least * delta


def test_rounded_masses_pay_for_their_doubt() -> None:
    # Whether the last 1e-17 of mass must move by 50 is not decided by these floats; delta pays for it.
    p, q = Pmf([0, 1, 50], [0.1, 0.2, 0.7]), Pmf([0, 1, 50], [0.1 + 1e-16, 0.2, 0.7])
    sigma = bound_by(ANALYTIC, tf.distribution_pair(p, q), delta="1/100000").randomiser.scale
    assert sigma < 10
    # Not where delta is as small as the doubt.
    assert bound_by(ANALYTIC, tf.distribution_pair(p, q), delta=Fraction(1, 10**15)).randomiser.scale > 50


def test_laws_that_keep_the_promise_themselves_need_no_noise() -> None:
    laws = {0: Fraction(1, 2), 9: Fraction(1, 2)}, {0: Fraction(51, 100), 9: Fraction(49, 100)}
    assert bound_by(EXACT, pair(laws), delta="1/1000").randomiser == Exact(Fraction(9))


def test_a_tiny_delta_is_compared() -> None:
    framework = pair(({0: Fraction(1)}, {1: Fraction(1)}))
    assert len(tf.compare(framework, tf.Identity(), 1, Fraction(1, 10**260))) > 10
