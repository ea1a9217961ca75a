"""How much Gaussian noise: the closed form for one shift, the rules of Ding22, and the least for two finite laws."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import TYPE_CHECKING

from takifugu.core.errors import InputError
from takifugu.numbers.after_noise.hockey_stick import LARGEST_EPSILON, gaussian_hockey_stick, masses_within
from takifugu.numbers.after_noise.laplace_pair import above, below
from takifugu.numbers.distributions.exact_ratio import BITS
from takifugu.numbers.distributions.pmf import Pmf
from takifugu.numbers.rationals import Number, as_delta, as_epsilon, as_fraction
from takifugu.numbers.search import SCALE_TOLERANCE, smallest_safe
from takifugu.numbers.transport.on_the_line import w_infinity_candidates

if TYPE_CHECKING:
    from mpmath import mpf

#: Half of the 0.83732 that the proof of Ding22 Theorem 3(b) needs; 0.41 is printed there (errata E1).
PROVED_CONSTANT = 0.41866
PRINTED_CONSTANT = 0.41
_LEAST_DELTA = Fraction(1, 10**250)


def gaussian_delta(sensitivity: Number, sigma: Number, epsilon: Number) -> float:
    """Return the exact delta of Gaussian noise against a shift, rounded up.

    Phi(D/(2s) - e s/D) - e^e Phi(-D/(2s) - e s/D) for D = sensitivity, s = sigma, e = epsilon (Balle and Wang 2018,
    Theorem 8), with many digits.

    Raises InputError when sensitivity or sigma is negative or not finite, or epsilon is not above zero.

    >>> round(gaussian_delta(1, 3.730631634, 1), 9)
    1e-05
    """
    shift, noise = _not_negative(sensitivity, "sensitivity"), _not_negative(sigma, "sigma")
    budget = as_epsilon(epsilon)
    if not shift:
        return 0.0
    if not noise:
        return 1.0
    from mpmath import mp

    with mp.workprec(BITS):
        half, tilt = as_mpf(shift / noise) / 2, as_mpf(budget * noise / shift)
        delta = upper_tail(tilt - half) - mp.exp(as_mpf(budget)) * upper_tail(tilt + half)
        return min(1.0, math.nextafter(float(delta), math.inf))


def gaussian_analytic_sigma(sensitivity: Number, epsilon: Number, delta: Number) -> float:
    """Return the least sigma with gaussian_delta at most delta.

    Source: Balle and Wang 2018. Rounded up by at most 2**-36 relative; 0.0 for sensitivity 0.

    Raises InputError as `gaussian_delta`, and unless 1e-250 <= delta < 1.

    >>> round(gaussian_analytic_sigma(2, 1, 1e-5), 8)
    7.46126327
    """
    shift, budget, failure = _not_negative(sensitivity, "sensitivity"), as_epsilon(epsilon), _positive_delta(delta)
    if not shift:
        return 0.0

    def judge(sigma: float) -> tuple[float, bool]:
        excess = gaussian_delta(shift, sigma, budget)
        return excess, excess <= below(failure)

    start = above(shift / budget)
    while not judge(start)[1]:
        start *= 2
    return smallest_safe(judge, start, float(failure), SCALE_TOLERANCE)


def gaussian_rule_a(sensitivity: Number, epsilon: Number, delta: Number) -> float:
    """Return sqrt(2 log(1.25/delta)) sensitivity/epsilon, proved for epsilon <= 1.

    Source: Ding22 Theorem 3(a). Raises InputError as `gaussian_analytic_sigma`, and for epsilon above 1, where the rule
    can fail (errata E8a).

    >>> round(gaussian_rule_a(2, 1, 1e-5), 8)
    9.68961053
    """
    shift, budget, failure = _not_negative(sensitivity, "sensitivity"), as_epsilon(epsilon), _positive_delta(delta)
    if budget > 1:
        raise InputError(
            f"epsilon is {epsilon!r}",
            rule="this rule is proved for epsilon at most 1",
            fix="use gaussian_analytic_sigma",
        ).at("epsilon")
    return _rounded_up(math.sqrt(2 * math.log(1.25 / below(failure))) * above(shift / budget))


def gaussian_rule_b(
    sensitivity: Number, epsilon: Number, delta: Number, constant: float = PROVED_CONSTANT
) -> float:  # fmt: skip
    """Return the sigma of Ding22 Theorem 3(b), far above the analytic one.

    sensitivity/epsilon (k + sqrt(k^2 + epsilon/2)), k = constant/delta^(1/3), for comparison. The default constant is
    the one that the proof gives. PRINTED_CONSTANT is for reproducing the paper only: a step of its proof fails with it,
    although the claim holds (errata E1).

    Raises InputError as `gaussian_analytic_sigma`.

    >>> [round(gaussian_rule_b(2, 1, 1e-5, constant), 3) for constant in (PROVED_CONSTANT, PRINTED_CONSTANT)]
    [77.756, 76.148]
    """
    shift, budget, failure = _not_negative(sensitivity, "sensitivity"), as_epsilon(epsilon), _positive_delta(delta)
    reach = constant / math.cbrt(below(failure))
    return _rounded_up((reach + math.sqrt(reach**2 + float(budget) / 2)) * above(shift / budget))


def gaussian_exact_sigma(p: Pmf, q: Pmf, epsilon: Number, delta: Number) -> float:
    """Return the least sigma for (epsilon, delta) of p and q, mutually.

    The enclosed divergence is at most delta at the answer, which is at most 2**-36 relative above a sigma where that is
    not established. 0.0 when the masses themselves satisfy it, decided exactly. Never above the analytic sigma of
    W-infinity by more than rounding (errata E1).

    Raises InputError unless epsilon is above zero and 1e-250 <= delta < 1.

    >>> p, q = Pmf.from_counts([0, 1, 2, 3], [3, 1, 1, 1]), Pmf.from_counts([1, 2, 3, 4], [1, 1, 1, 1])
    >>> round(gaussian_exact_sigma(p, q, 1, 1e-5), 8)
    5.38222026
    """
    budget, failure = min(as_epsilon(epsilon), LARGEST_EPSILON), _positive_delta(delta)
    if masses_within(p, q, budget, failure) and masses_within(q, p, budget, failure):
        return 0.0

    def judge(sigma: float) -> tuple[float, bool]:
        excess = max(gaussian_hockey_stick(p, q, sigma, budget)[1], gaussian_hockey_stick(q, p, sigma, budget)[1])
        return excess, excess <= below(failure)

    start = gaussian_analytic_sigma(Fraction(w_infinity_candidates(p, q)[-1]), budget, failure)
    slack = SCALE_TOLERANCE / 4
    while not judge(start)[1]:
        start, slack = start * (1 + slack), 2 * slack
    return smallest_safe(judge, start, float(failure), SCALE_TOLERANCE / 2)


def upper_tail(z: mpf) -> mpf:
    """Return P(Z > z), Z standard normal, in the digits of mpmath's context."""
    from mpmath import mp

    return mp.erfc(z / mp.sqrt(2)) / 2


def as_mpf(value: Fraction) -> mpf:
    """Return a rational in the digits of mpmath's context."""
    from mpmath import mp

    return mp.mpf(value.numerator) / value.denominator


def _rounded_up(value: float) -> float:
    """Outweigh the few roundings of a printed formula."""
    return value * (1 + 2.0**-48)


def _not_negative(value: Number, name: str) -> Fraction:
    # A computed float is the binary fraction that it is, not the decimal that it prints as.
    is_computed = isinstance(value, float) and math.isfinite(value)
    number = Fraction(value) if is_computed else as_fraction(value, name, name)
    if number < 0:
        raise InputError(f"{name} is {value!r}", rule="it must not be negative").at(name)
    return number


def _positive_delta(delta: Number) -> Fraction:
    failure = as_delta(delta)
    if not failure:
        raise InputError(
            "delta is 0", rule="Gaussian noise cannot give a pure promise", fix="give a delta above 0, or use Laplace"
        ).at("delta")
    if failure < _LEAST_DELTA:
        raise InputError(
            f"delta is {delta!r}", rule="normal tails are computed down to 1e-250", fix="use Laplace noise"
        ).at("delta")
    return failure
