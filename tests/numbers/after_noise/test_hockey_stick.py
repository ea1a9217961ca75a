"""Divergences after noise: closed forms, plain quadrature in mpmath, and the examples of errata E11."""

import math
from fractions import Fraction
from typing import Any

import mpmath
import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from scipy.special import ndtr
from tests.support.laws_oracles import gaussian_divergence, laplace_divergence
from tests.support.pair_cases import monotone_by_hand, relaxed_by_hand
from tests.support.strategies import epsilons, exact_laws, float_laws

from takifugu.core.errors import InputError
from takifugu.numbers.after_noise.gaussian import gaussian_delta
from takifugu.numbers.after_noise.gaussian_pair import ndtr_error
from takifugu.numbers.after_noise.hockey_stick import gaussian_hockey_stick, masses_within
from takifugu.numbers.after_noise.noised import RelaxedPair
from takifugu.numbers.distributions.pmf import Pmf
from takifugu.numbers.transport.on_the_line import unmatched_mass

FLU = Pmf.from_counts([0, 1, 2, 3], [3, 1, 1, 1]), Pmf.from_counts([1, 2, 3, 4], [1, 1, 1, 1])
sizes = st.sampled_from([0.05, 0.4, 1.0, 3.0, 20.0])


def table(law: Pmf) -> dict[Any, Any]:
    return dict(law.items())


@pytest.mark.mutants
def test_the_allowance_for_ndtr_holds() -> None:
    places = np.concatenate((np.linspace(-37.5, 8.0, 4001), -np.geomspace(1e-8, 1.0, 200)))
    with mpmath.workdps(40):
        for place, value, allowed in zip(places.tolist(), ndtr(places).tolist(), ndtr_error(places), strict=True):
            truth = mpmath.erfc(-mpmath.mpf(place) / mpmath.sqrt(2)) / 2
            assert abs(mpmath.mpf(value) / truth - 1) < allowed / 2


@settings(max_examples=40)
@given(st.one_of(st.tuples(exact_laws(), exact_laws()), st.tuples(float_laws(), float_laws())), sizes, epsilons)
def test_gaussian_divergence_is_enclosed(pair: tuple[Pmf, Pmf], sigma: float, epsilon: Any) -> None:
    p, q = pair
    low, high = gaussian_hockey_stick(p, q, sigma, epsilon)
    truth = gaussian_divergence(table(p), table(q), sigma, epsilon)
    assert mpmath.mpf(low) <= truth <= mpmath.mpf(high)
    assert high - low <= 1e-12 * (1 + math.exp(epsilon))
    assert high - low <= 1e-6 * high + 1e-290


@settings(max_examples=60)
@given(st.integers(1, 30), sizes, epsilons)
def test_a_shift_has_the_closed_form(shift: int, sigma: float, epsilon: Any) -> None:
    low, high = gaussian_hockey_stick(Pmf([0], [1]), Pmf([shift], [1]), sigma, epsilon)
    closed = gaussian_delta(shift, sigma, epsilon)
    assert low <= closed * (1 + 1e-15)
    assert closed <= high * (1 + 1e-15)
    assume(closed > 1e-250)
    assert high - low <= 1e-11 * (1 - math.log(closed)) * closed  # larger exponents, fewer digits


def test_tails_keep_their_digits() -> None:
    low, high = gaussian_hockey_stick(Pmf([0, 9], [0.5, 0.5]), Pmf([1, 9], [0.5, 0.5]), 1.0, 25)
    truth = gaussian_divergence({0: 0.5, 9: 0.5}, {1: 0.5, 9: 0.5}, 1.0, 25)
    assert 1e-140 < low <= truth <= high < low * (1 + 1e-8)
    far, near = Pmf([0, 10**6], [0.5, 0.5]), Pmf([0, 10**6 + 1], [0.5, 0.5])
    low, high = gaussian_hockey_stick(far, near, 1.0, 1)
    assert low <= gaussian_delta(1, 1, 1) / 2 <= high <= low * (1 + 1e-7)


@given(exact_laws(), exact_laws(), exact_laws(), epsilons)
def test_more_noise_never_hurts(p: Pmf, q: Pmf, noise: Pmf, epsilon: Any) -> None:
    small, large = (gaussian_hockey_stick(p, q, sigma, epsilon) for sigma in (0.7, 0.9))
    assert large[0] <= small[1]
    assert gaussian_hockey_stick(p.convolve(noise), q.convolve(noise), 0.7, epsilon)[0] <= small[1]


@given(exact_laws(), exact_laws(), epsilons, st.sampled_from([Fraction(0), Fraction(1, 7), Fraction(1, 2)]))
def test_masses_are_compared_exactly(p: Pmf, q: Pmf, epsilon: Any, delta: Fraction) -> None:
    within = masses_within(p, q, epsilon, delta)
    masses = table(q)
    divergence = sum(max(m - math.exp(epsilon) * masses.get(x, 0), 0) for x, m in p.items())
    assert within == (divergence <= float(delta) + (1e-15 if within else -1e-15))


def test_masses_at_the_edge() -> None:
    with mpmath.workdps(80):
        log_two = Fraction(mpmath.nstr(mpmath.log(2), 70))
    p, q = Pmf([0, 1], [Fraction(1, 2), Fraction(1, 2)]), Pmf([0, 1], [Fraction(1, 4), Fraction(3, 4)])
    assert masses_within(p, q, log_two + Fraction(1, 10**60), Fraction(0))
    assert not masses_within(p, q, log_two - Fraction(1, 10**60), Fraction(0))
    assert masses_within(Pmf([0], [1]), Pmf([1], [1]), 1, Fraction(1))
    assert not masses_within(Pmf([0], [1]), Pmf([1], [1]), 1, Fraction(999, 1000))


# errata E11: what partial transport leaves unmatched bounds delta; the exact delta of flu at w = 1 is 0.1152.
def test_errata_e11_unmatched_mass_bounds_delta() -> None:
    delta = laplace_divergence(table(FLU[0]), table(FLU[1]), 1, 1)
    assert delta == pytest.approx(0.1152, abs=5e-5)
    assert delta <= unmatched_mass(*FLU, 1)


@settings(max_examples=30)
@given(exact_laws(), exact_laws(), epsilons, st.sampled_from([Fraction(1, 3), 1, 2, 5]))
def test_unmatched_mass_bounds_delta(p: Pmf, q: Pmf, epsilon: Any, distance: Any) -> None:
    lost = unmatched_mass(p, q, distance)
    scale = Fraction(distance) / Fraction(epsilon)
    assert laplace_divergence(table(p), table(q), scale, epsilon) <= lost + 1e-15


@pytest.mark.parametrize("grid", [0.1, 1.0, 7.0])
def test_rounding_the_noisy_answer_is_post_processing(grid: float) -> None:
    sigma, epsilon = 1.3, 1.0
    cells = np.arange(-40, 45, grid)
    p, q = (sum(m * ndtr((cells - float(x)) / sigma) for x, m in zip(law.values, law.probabilities, strict=True))
            for law in FLU)  # fmt: skip
    rounded = np.maximum(np.diff(p) - math.exp(epsilon) * np.diff(q), 0.0).sum()
    assert rounded <= gaussian_hockey_stick(*FLU, sigma, epsilon)[1] + 1e-14
    if grid == 0.1:
        assert rounded > 0.99 * gaussian_hockey_stick(*FLU, sigma, epsilon)[0]


def test_bad_input() -> None:
    for sigma in (-1.0, math.nan, math.inf):
        with pytest.raises(InputError, match="sigma"):
            gaussian_hockey_stick(*FLU, sigma, 1)
    with pytest.raises(InputError, match="epsilon"):
        gaussian_hockey_stick(*FLU, 1.0, 0)
    with pytest.raises(InputError, match="sigma is 0"):
        gaussian_hockey_stick(*FLU, 0.0, 1)


NEAR = Fraction(1, 10**9)


@settings(max_examples=25, deadline=None)
@given(exact_laws(fractional=False), exact_laws(fractional=False), st.sampled_from([0.125, 1.0, 3.0, 12.5]))
def test_the_conditions_hold_at_the_scale_and_not_below_it(p: Pmf, q: Pmf, epsilon: float) -> None:
    pair, budget = RelaxedPair.of(p, q), Fraction(epsilon)
    laws = [list(zip(of.values.tolist(), of.masses.tolist(), strict=True)) for of in (p, q)]
    plan = monotone_by_hand(*({x: Fraction(m, sum(m for _, m in law)) for x, m in law} for law in laws))
    scale = pair.smallest(budget)
    assert (scale == 0) == all(x == y for x, y in plan)
    assert not pair.holds(Fraction(0), budget)
    if scale:
        assert relaxed_by_hand(plan, epsilon * (1 + 1e-15), scale)
        assert not relaxed_by_hand(plan, epsilon, scale * (1 - 1e-9))
        assert pair.holds(Fraction(scale) * (1 + NEAR), budget)
        assert not pair.holds(Fraction(scale) * (1 - NEAR), budget)
        for tried in (scale / 2, scale, 3 * scale):
            assert relaxed_by_hand(plan, pair.loss(tried), tried)
            assert not relaxed_by_hand(plan, pair.loss(tried) - 1e-10, tried)


@pytest.mark.parametrize("epsilon", [Fraction(1, 100), Fraction(7)])
def test_a_shift_needs_its_length_over_epsilon_and_what_is_alike_nothing(epsilon: Fraction) -> None:
    law, shifted = (Pmf.from_counts([start, start + 1, start + 5], [2, 1, 1]) for start in (0, 3))
    assert RelaxedPair.of(law, law).smallest(epsilon) == 0.0
    assert RelaxedPair.of(law, shifted).smallest(epsilon) == pytest.approx(float(3 / epsilon), rel=1e-9)
    half = Pmf.from_counts([Fraction(1, 2), Fraction(3, 2), Fraction(11, 2)], [2, 1, 1])
    assert RelaxedPair.of(half, law).smallest(epsilon) == pytest.approx(float(Fraction(1, 2) / epsilon), rel=1e-9)
