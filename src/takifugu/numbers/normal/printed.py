"""Zhang22's Algorithm 1 and Theorem 2 as printed: variances as functions of every epsilon, for comparison.

The constant sqrt(2 log(1.25/delta)) is proved for epsilon up to 1; the exact delta first exceeds delta between epsilon
5.75 (delta = .1) and 8.8 (delta = 1e-6) (errata E8a).
"""

from __future__ import annotations

import math
from fractions import Fraction
from functools import lru_cache

from takifugu.core.errors import InputError
from takifugu.numbers.rationals import Number, as_delta, as_epsilon, as_fraction


@lru_cache(maxsize=256)
def printed_per_shift(epsilon: Fraction, delta: Fraction) -> Fraction:
    """Return 2 log(1.25/delta)/epsilon^2, the printed variance for shift 1, rounded up by 2**-90."""
    # No promise for every epsilon: `shifted_delta` of the whole variance is.
    if not as_delta(delta):
        raise InputError("delta is 0", rule="Gaussian noise cannot give a pure promise", fix="give one above 0").at(
            "delta"
        )
    from mpmath import mp

    with mp.workprec(200):
        c_squared = 2 * mp.log(mp.mpf(5 * delta.denominator) / (4 * delta.numerator))
        raised = Fraction(int(mp.ceil(mp.ldexp(c_squared, 100)) + 1), 2**100)
    return raised / as_epsilon(epsilon) ** 2


def accuracy(variance: Number, beta: Number) -> float:
    """Return alpha with P(|noise| > alpha) = beta for N(0, variance) (Zhang22 Theorem 2)."""
    from scipy.special import ndtri

    chance = as_delta(beta, "beta")
    if not chance:
        raise InputError("beta is 0", rule="normal noise has no largest value", fix="give one above 0").at("beta")
    return math.sqrt(as_fraction(variance, "the variance")) * float(-ndtri(float(chance) / 2))
