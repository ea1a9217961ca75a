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
from tests.support.strategies import exact_laws

from takifugu.core.errors import InputError
from takifugu.numbers import Pmf, w_infinity
from takifugu.numbers.after_noise.gaussian import (
    PRINTED_CONSTANT,
    PROVED_CONSTANT,
    gaussian_analytic_sigma,
    gaussian_delta,
    gaussian_exact_sigma,
    gaussian_rule_a,
    gaussian_rule_b,
)

CASES = [(name, case) for name, cases in golden()["gaussian_sigma"].items() for case in cases]
EPSILONS = [0.01, 0.1, 0.5, 1, 2, 5, 10, 30]
DELTAS = [1e-6, 1e-4, 0.01, 0.1, 0.5, 0.9]


def closed_form(shift: Any, sigma: Any, epsilon: Any) -> mpmath.mpf:
    with mpmath.workdps(60):
        d, s, e = mpmath.mpf(shift), mpmath.mpf(sigma), mpmath.mpf(epsilon)
        return mpmath.ncdf(d / (2 * s) - e * s / d) - mpmath.exp(e) * mpmath.ncdf(-d / (2 * s) - e * s / d)


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
    assert gaussian_delta(1, 1e6, 1) == 5e-324


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


def test_a_sigma_cut_by_a_hundredth_fails() -> None:
    p, q = Pmf.from_counts([0, 1, 2, 3], [3, 1, 1, 1]), Pmf.from_counts([1, 2, 3, 4], [1, 1, 1, 1])
    sigma = gaussian_exact_sigma(p, q, 1, 1e-5)
    assert divergence(p, q, sigma * 0.99, 1) > 1e-5
    assert divergence(p, q, sigma / 2, 1) > 1e-3


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
    lambda: gaussian_analytic_sigma(10**300, Fraction(1, 10**300), 0.1),
    lambda: gaussian_rule_b(1, 1, -0.1),
    lambda: gaussian_exact_sigma(Pmf([0], [1]), Pmf([1], [1]), 1, 0),
    lambda: gaussian_exact_sigma(Pmf([0], [1]), Pmf([1], [1]), math.inf, 0.1),
])  # fmt: skip
def test_bad_input(call: Any) -> None:
    with pytest.raises(InputError):
        call()


def test_large_budgets() -> None:
    p, q = Pmf([0, 1], [0.5, 0.5]), Pmf([1, 2], [0.5, 0.5])
    assert gaussian_exact_sigma(p, q, 10**6, 1e-5) == gaussian_exact_sigma(p, q, 600, 1e-5)
    assert gaussian_analytic_sigma(1, 10**4, 1e-5) == pytest.approx(math.sqrt(1 / (2 * 10**4)), rel=0.05)


def divergence(p: Pmf, q: Pmf, sigma: float, epsilon: Any) -> mpmath.mpf:
    laws = dict(p.items()), dict(q.items())
    return max(gaussian_divergence(*laws, sigma, epsilon), gaussian_divergence(*laws[::-1], sigma, epsilon))
