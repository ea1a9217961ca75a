"""Normal noise against a shift: the exact delta, the least noise that keeps one, and the printed rules of Ding22.

Let r be the shift in deviations. Then (Balle and Wang 2018, Theorem 8)

    delta(epsilon; r) = Phi(r/2 - epsilon/r) - e^epsilon Phi(-r/2 - epsilon/r)

grows with r, by phi(r/2 - epsilon/r). Newton's steps for log delta that start at a private r rise to the largest one
and never pass it (docs/theory/one-answer.md#one-answer-concave).
"""

from __future__ import annotations

import math
from fractions import Fraction
from functools import lru_cache
from typing import TYPE_CHECKING

from takifugu.core.errors import InputError
from takifugu.numbers.after_noise.laplace_pair import above, below
from takifugu.numbers.distributions.exact_ratio import BITS
from takifugu.numbers.rationals import Number, as_delta, as_epsilon, as_fraction, as_mpf

if TYPE_CHECKING:
    from mpmath import mpf

#: Half of the 0.83732 that the proof of Ding22 Theorem 3(b) needs; 0.41 is printed there (errata E1).
PROVED_CONSTANT = 0.41866
#: For reproducing the paper only: a step of its proof fails with it, although the claim holds.
PRINTED_CONSTANT = 0.41
_LEAST_DELTA = Fraction(1, 10**250)
#: A delta nearer to 1 counts as this one.
_LARGEST_DELTA = 1 - Fraction(1, 2**60)
#: Computed deltas are raised by 2**-_SAFE, far above what they lose; a largest shift is cut to so many digits.
_SAFE, _DIGITS = 160, 96


def shifted_delta(ratio_squared: Fraction, epsilon: Number) -> float:
    """Return delta(epsilon) of two normals of one variance, rounded up; `ratio_squared` is (distance)^2 / variance."""
    budget = as_epsilon(epsilon)
    if 0 < ratio_squared < min(budget, budget**2 / 2**14):  # it is below exp(-2048), the tail beyond 64 deviations
        return math.ulp(0.0)
    return float_up(_shifted(ratio_squared, budget)) if ratio_squared else 0.0


def log_shifted_delta(ratio_squared: Fraction, epsilon: Fraction) -> float:
    """Return the logarithm of `shifted_delta` to the nearest float, also far below the least float."""
    from mpmath import mp

    with mp.workprec(BITS):
        return float(mp.log(_shifted(ratio_squared, epsilon)))


def gaussian_delta(sensitivity: Number, sigma: Number, epsilon: Number) -> float:
    """Return the exact delta of normal noise against a shift, rounded up."""
    shift, noise = _not_negative(sensitivity, "sensitivity"), _not_negative(sigma, "sigma")
    budget = as_epsilon(epsilon)
    if not noise:
        return 1.0 if shift else 0.0
    return shifted_delta((shift / noise) ** 2, budget)


@lru_cache(maxsize=256)
def deviation_per_shift(epsilon: Fraction, delta: Fraction) -> Fraction:
    """Return 1/r, rounded up by at most 2**-90, for the largest shift r in deviations that keeps (epsilon, delta)."""
    # A normal distribution keeps it for a distance D exactly from the deviation D/r on.
    from mpmath import mp

    budget, failure = as_epsilon(epsilon), min(positive_delta(delta), _LARGEST_DELTA)
    with mp.workprec(_bits(0, _order(budget))):
        e, goal = as_mpf(budget), as_mpf(failure)
        deviations = mp.sqrt(-2 * mp.log(goal))
        start = max(2.5 * goal, 2 * e / (deviations + mp.sqrt(deviations**2 + 2 * e)))
    with mp.workprec(_bits(mp.mag(start), _order(budget))):
        r, step = start, mp.inf
        while step > mp.ldexp(r, -_DIGITS):
            here = _told(r, e)
            step = mp.log(goal / here) * here / mp.npdf(e / r - r / 2)
            r += step
        order = int(mp.mag(r)) - _DIGITS
        unit = Fraction(2) ** order
        shift = int(mp.floor(mp.ldexp(r, -order))) * unit
    while _shifted(shift**2, budget) > goal:  # rounded up it may exceed delta by a hair
        shift -= unit
    return 1 / shift


def gaussian_analytic_sigma(sensitivity: Number, epsilon: Number, delta: Number) -> float:
    """Return the least sigma with `gaussian_delta` at most delta, rounded up (Balle and Wang 2018)."""
    shift, budget, failure = _not_negative(sensitivity, "sensitivity"), as_epsilon(epsilon), positive_delta(delta)
    return above(shift * deviation_per_shift(budget, failure))


def gaussian_rule_a(sensitivity: Number, epsilon: Number, delta: Number) -> float:
    """Return sqrt(2 log(1.25/delta)) sensitivity/epsilon, for epsilon up to 1 (Ding22 Theorem 3(a), errata E8a)."""
    shift, budget, failure = _not_negative(sensitivity, "sensitivity"), as_epsilon(epsilon), positive_delta(delta)
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
    """Return the sigma of Ding22 Theorem 3(b), far above the analytic one, for comparison."""
    shift, budget, failure = _not_negative(sensitivity, "sensitivity"), as_epsilon(epsilon), positive_delta(delta)
    reach = constant / math.cbrt(below(failure))
    return _rounded_up((reach + math.sqrt(reach**2 + float(budget) / 2)) * above(shift / budget))


def _shifted(ratio_squared: Fraction, epsilon: Fraction) -> mpf:
    """Return delta(epsilon; r), raised by 2**-_SAFE, for r^2 above 0."""
    from mpmath import mp

    if ratio_squared > 2**20 and ratio_squared > 4 * epsilon:  # it is above 1 - 2 exp(-r^2/32)
        return mp.mpf(1)
    with mp.workprec(_bits(_order(ratio_squared) // 2, _order(epsilon))):
        return _told(mp.sqrt(as_mpf(ratio_squared)), as_mpf(epsilon)) * (1 + mp.ldexp(1, -_SAFE))


def _told(r: mpf, epsilon: mpf) -> mpf:
    """Return delta(epsilon; r) in the digits of mpmath's context."""
    from mpmath import mp

    return upper_tail(epsilon / r - r / 2) - mp.exp(epsilon) * upper_tail(epsilon / r + r / 2)


def _bits(order: int, epsilon_order: int) -> int:
    """Return enough digits for r and epsilon of these orders: the two tails may differ by a share r/b^2 only."""
    return BITS + 4 * (abs(order) + max(0, epsilon_order))


def _order(value: Fraction) -> int:
    return value.numerator.bit_length() - value.denominator.bit_length()


def upper_tail(z: mpf) -> mpf:
    """Return P(Z > z), Z standard normal, in the digits of mpmath's context."""
    from mpmath import mp

    return mp.erfc(z / mp.sqrt(2)) / 2


def float_up(value: mpf) -> float:
    """Return a probability as a float, rounded up."""
    nearest = float(value)
    return min(1.0, nearest if nearest >= value else math.nextafter(nearest, math.inf))


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


def positive_delta(delta: Number) -> Fraction:
    """Read a delta for which there is enough normal noise; InputError for others."""
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
