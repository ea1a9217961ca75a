"""How much Gaussian noise: golden sigmas, errata E1 and E8a, safety, and sigmas that are too small."""

import math
from fractions import Fraction
from typing import Any

import mpmath
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.support.golden import golden, transport_laws
from tests.support.laws_oracles import gaussian_divergence
from tests.support.normal_oracles import largest_shift, mpf, shifted_delta
from tests.support.strategies import exact_laws

from takifugu.core.errors import InputError
from takifugu.numbers import Pmf, w_infinity
from takifugu.numbers.after_noise.gaussian import (
    PRINTED_CONSTANT,
    PROVED_CONSTANT,
    deviation_per_shift,
    gaussian_analytic_sigma,
    gaussian_delta,
    gaussian_rule_a,
    gaussian_rule_b,
    log_shifted_delta,
)
from takifugu.numbers.after_noise.gaussian import shifted_delta as rounded_delta
from takifugu.numbers.after_noise.hockey_stick import gaussian_exact_sigma

CASES = [(name, case) for name, cases in golden()["gaussian_sigma"].items() for case in cases]
EPSILONS = [0.01, 0.1, 0.5, 1, 2, 5, 10, 30]
DELTAS = [1e-6, 1e-4, 0.01, 0.1, 0.5, 0.9]


def closed_form(shift: Any, sigma: Any, epsilon: Any) -> mpmath.mpf:
    with mpmath.workdps(60):
        return shifted_delta(mpf(shift) / mpf(sigma), epsilon)


@pytest.mark.sampled(3)
@pytest.mark.parametrize(("name", "case"), CASES)
def test_golden_sigmas(name: str, case: str) -> None:
    expected = golden()["gaussian_sigma"][name][case]
    epsilon, delta = case.split(",")
    p, q = (Pmf(list(law), list(law.values())) for law in transport_laws()[name])
    distance = w_infinity(p, q)
    assert gaussian_exact_sigma(p, q, epsilon, delta) == pytest.approx(float(expected["exact"]), rel=5e-11)
    assert gaussian_analytic_sigma(distance, epsilon, delta) == pytest.approx(float(expected["analytic"]), rel=5e-11)
    printed = gaussian_rule_b(distance, epsilon, delta, PRINTED_CONSTANT)
    assert printed == pytest.approx(float(expected["thm3b_0_41"]), rel=1e-10)
    at_one = gaussian_rule_a(distance, min(Fraction(epsilon), 1), delta) * min(1.0, 1 / float(epsilon))
    used = at_one if float(epsilon) > 1 else gaussian_rule_a(distance, epsilon, delta)
    assert used == pytest.approx(float(expected["thm3a"]), rel=1e-10)


@pytest.mark.sampled(5)
@pytest.mark.parametrize("epsilon", EPSILONS)
@pytest.mark.parametrize("delta", DELTAS)
def test_errata_e1(epsilon: float, delta: float) -> None:
    analytic = gaussian_analytic_sigma(3, epsilon, delta)
    for constant in (PRINTED_CONSTANT, PROVED_CONSTANT):
        sigma = gaussian_rule_b(3, epsilon, delta, constant)
        assert closed_form(3, sigma, epsilon) <= delta
        assert analytic <= sigma
    assert closed_form(3, analytic, epsilon) <= mpmath.mpf(delta)
    assert closed_form(3, analytic * (1 - 1e-10), epsilon) > mpmath.mpf(delta)
    if epsilon <= 1:
        assert closed_form(3, gaussian_rule_a(3, epsilon, delta), epsilon) <= delta


@pytest.mark.parametrize("shift", [Fraction(1), Fraction(3, 7), Fraction(10**6)])
@pytest.mark.parametrize("epsilon", [Fraction(1, 1000), Fraction(1, 3), Fraction(1)])
@pytest.mark.parametrize("delta", [Fraction(1, 10**9), Fraction(1, 7), Fraction(9, 10)])
def test_the_rules_are_rounded_up(shift: Fraction, epsilon: Fraction, delta: Fraction) -> None:
    with mpmath.workdps(40):
        move, rate, chance = (mpmath.mpf(x.numerator) / x.denominator for x in (shift, epsilon, delta))
        reach = mpmath.mpf(PROVED_CONSTANT) / mpmath.cbrt(chance)
        for sigma, exact in (
            (gaussian_rule_a(shift, epsilon, delta), mpmath.sqrt(2 * mpmath.log(1.25 / chance)) * move / rate),
            (gaussian_rule_b(shift, epsilon, delta), move / rate * (reach + mpmath.sqrt(reach**2 + rate / 2))),
        ):
            assert exact <= sigma <= exact * (1 + mpmath.mpf(2) ** -46)


def test_errata_e8a_the_classical_rule_is_refused_where_it_fails() -> None:
    with pytest.raises(InputError, match="at most 1"):
        gaussian_rule_a(1, 10, 1e-5)
    classical = gaussian_rule_a(1, 1, 1e-5) / 10
    assert closed_form(1, classical, 10) == pytest.approx(2.27e-5, rel=3e-3)


@given(st.floats(0.01, 50), st.floats(0.01, 100), st.floats(0.01, 20))
def test_the_closed_form_is_rounded_up(shift: float, sigma: float, epsilon: float) -> None:
    delta, truth = gaussian_delta(shift, sigma, epsilon), closed_form(shift, sigma, Fraction(repr(epsilon)))
    assert mpmath.mpf(delta) >= truth - mpmath.mpf("1e-50")
    assert delta <= float(truth) * (1 + 1e-15) + 5e-324


def test_edges_of_the_closed_form() -> None:
    assert gaussian_delta(0, 1, 1) == 0.0
    assert gaussian_delta(1, 0, 1) == 1.0
    assert gaussian_analytic_sigma(0, 1, 1e-5) == 0.0
    assert gaussian_delta(0, 0, 1) == 0.0
    assert gaussian_delta(1, 1e6, 1) == 5e-324


#: Shifts in deviations, and epsilon over them.
MOVES = [1e-300, 1e-70, 1e-20, 1e-7, 9e-7, 1.1e-6, 1e-3, 0.1, 0.7, 3.0, 40.0]
TILTS = [0.0, 0.5, 3.0]


def test_the_delta_of_a_shift_is_exact_however_small_it_is() -> None:
    with mpmath.workdps(120):
        for move in (*MOVES, *(10.0**-power for power in range(66, 77))):
            for tilt in TILTS:
                square, epsilon = Fraction(move) ** 2, Fraction(move * tilt)
                true = shifted_delta(move, epsilon)
                log = mpmath.log(true)
                assert abs(mpf(log_shifted_delta(square, epsilon)) - log) <= abs(log) * 2.0**-50 + 1e-15
                if epsilon:
                    assert true <= mpf(rounded_delta(square, epsilon)) <= true * (1 + mpf(2) ** -51) + 5e-324


EXTREMES = [Fraction(1, 10**300), Fraction(1, 10**12), Fraction(1, 10), Fraction(1), Fraction(20), Fraction(10**12)]
PRIVATE = [Fraction(1, 10**250), Fraction(1, 10**20), Fraction(1, 10**5), Fraction(1, 2), 1 - Fraction(1, 10**9)]


@pytest.mark.sampled(11)
@pytest.mark.parametrize("epsilon", EXTREMES)
@pytest.mark.parametrize("delta", PRIVATE)
def test_the_deviation_per_shift_is_enough_and_the_least(epsilon: Fraction, delta: Fraction) -> None:
    with mpmath.workdps(120):
        least, found = 1 / largest_shift(epsilon, delta), mpf(deviation_per_shift(epsilon, delta))
        assert least <= found <= least * (1 + mpf(2) ** -90)
        sigma = gaussian_analytic_sigma(3, epsilon, delta)
        assert 3 * least <= mpf(sigma) <= 3 * least * (1 + mpf(2) ** -52)


@given(st.floats(1e-3, 50), st.floats(1.01, 3), st.floats(0.01, 20))
def test_the_logarithm_of_delta_is_concave_in_the_shift(move: float, factor: float, epsilon: float) -> None:
    """So that Newton's steps, which begin at a private shift, never pass the largest."""
    shifts = [Fraction(move), Fraction(move) * (1 + Fraction(factor)) / 2, Fraction(move) * Fraction(factor)]
    low, middle, high = (log_shifted_delta(shift**2, Fraction(epsilon)) for shift in shifts)
    assert low <= middle <= high
    assert 2 * middle >= low + high - 1e-12 * abs(low)


def test_a_delta_next_to_one_counts_as_a_smaller_one() -> None:
    one, next_to_one = Fraction(1), [1 - Fraction(1, 2**60), 1 - Fraction(1, 10**30)]
    assert len({deviation_per_shift(one, delta) for delta in next_to_one}) == 1
    assert deviation_per_shift(one, 1 - Fraction(1, 2**59)) > deviation_per_shift(one, next_to_one[0]) > 0


@pytest.mark.mutants
@settings(max_examples=10)
@given(exact_laws(), exact_laws(), st.sampled_from([Fraction(1, 2), 1, 3]), st.sampled_from([1e-8, 1e-3, 0.2]))
def test_the_exact_sigma_is_safe_and_least(p: Pmf, q: Pmf, epsilon: Any, delta: float) -> None:
    sigma = gaussian_exact_sigma(p, q, epsilon, delta)
    assert sigma == pytest.approx(gaussian_exact_sigma(q, p, epsilon, delta), rel=1e-10)
    assert sigma <= gaussian_analytic_sigma(w_infinity(p, q), epsilon, delta) * (1 + 1e-10)
    if sigma:
        limit = mpmath.mpf(Fraction(repr(delta)).numerator) / Fraction(repr(delta)).denominator
        assert divergence(p, q, sigma, epsilon) <= limit
        assert divergence(p, q, sigma * (1 - 1e-9), epsilon) > limit


@pytest.mark.mutants
@settings(max_examples=8)
@given(exact_laws(fractional=False), exact_laws(fractional=False), st.integers(2, 9))
def test_sigmas_scale(p: Pmf, q: Pmf, factor: int) -> None:
    one, many = (gaussian_exact_sigma(p.scale(f), q.scale(f), 1, 1e-4) for f in (1, -factor))
    assert many == pytest.approx(factor * one, rel=1e-10)


@pytest.mark.parametrize("call", [
    lambda: gaussian_delta(-1, 1, 1),
    lambda: gaussian_delta(1, math.nan, 1),
    lambda: gaussian_delta(1, 1, 0),
    lambda: gaussian_analytic_sigma(1, 1, 0),
    lambda: gaussian_analytic_sigma(1, 1, 1),
    lambda: gaussian_analytic_sigma(1, 1, Fraction(1, 10**300)),
    lambda: gaussian_analytic_sigma(10**300, Fraction(1, 10**300), 1e-20),
    lambda: gaussian_rule_b(1, 1, -0.1),
    lambda: gaussian_exact_sigma(Pmf([0], [1]), Pmf([1], [1]), 1, 0),
    lambda: gaussian_exact_sigma(Pmf([0], [1]), Pmf([1], [1]), math.inf, 0.1),
])  # fmt: skip
def test_bad_input(call: Any) -> None:
    with pytest.raises(InputError):
        call()


@pytest.mark.mutants
def test_large_budgets() -> None:
    p, q = Pmf([0, 1], [0.5, 0.5]), Pmf([1, 2], [0.5, 0.5])
    assert gaussian_exact_sigma(p, q, 10**6, 1e-5) == gaussian_exact_sigma(p, q, 600, 1e-5)
    assert gaussian_analytic_sigma(1, 10**4, 1e-5) == pytest.approx(math.sqrt(1 / (2 * 10**4)), rel=0.05)


def divergence(p: Pmf, q: Pmf, sigma: float, epsilon: Any) -> mpmath.mpf:
    laws = dict(p.items()), dict(q.items())
    return max(gaussian_divergence(*laws, sigma, epsilon), gaussian_divergence(*laws[::-1], sigma, epsilon))


@pytest.mark.parametrize("epsilon", [1e-9, 1.0, 1e4, 1e9])
def test_any_shift_has_a_delta(epsilon: float) -> None:
    """A shift whose square is no float raised OverflowError."""
    for shift in (1e150, 1e155, 1e308):
        assert gaussian_delta(shift, 1, epsilon) == 1
    for shift in (1e-155, 1e-300, 5e-324):
        exact = 0.4 * shift if epsilon < 1e-100 else 0.0
        assert exact < gaussian_delta(shift, 1, epsilon) <= 5e-324
    # on both sides of each end the deltas are in order, and right
    for ratio in (2**20, epsilon * 4, epsilon, epsilon**2 / 2**14):
        deltas = [rounded_delta(Fraction(ratio) * Fraction(side), epsilon) for side in ("0.999", "1.001")]
        exact_ones = [float(shifted_delta(mpf(ratio * side) ** 0.5, epsilon)) for side in (0.999, 1.001)]
        assert deltas == sorted(deltas)
        for delta, near in zip(deltas, exact_ones, strict=True):
            assert near * (1 - 1e-9) <= delta <= near * (1 + 1e-9) + 5e-324
