"""Two normal laws of a number or a vector: the exact delta(epsilon), and the least variance to add.

Where their variances are equal they are told apart as by a shift (`after_noise.gaussian`).

For N(m, v) and N(m', v') with v != v' the log-ratio of the densities is a quadratic, and the first exceeds e^epsilon
times the second between its two roots (v < v') or outside them (v > v'). Noise N(0, s^2) adds s^2 to both variances;
more of it is post-processing, so delta(epsilon) falls in s^2, in both directions.

Vectors N(m, C) and N(m + v, C) with noise N(0, s^2 I) are told apart like two numbers whose means lie r deviations
apart, r^2 = v' (C + s^2 I)^-1 v: project on the line of v in the metric of C + s^2 I. With r_0 the largest distance
that keeps (epsilon, delta), r <= r_0 holds exactly where C + s^2 I - v v'/r_0^2 is positive semidefinite, that is where
s^2 >= lambda_max(v v'/r_0^2 - C).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np

from takifugu.numbers.after_noise.gaussian import (
    deviation_per_shift,
    float_up,
    shifted_delta,
    upper_tail,
)
from takifugu.numbers.normal.matrices import Matrix, form, is_semidefinite, largest_eigenvalue, solved
from takifugu.numbers.rationals import Number, as_epsilon, as_mpf
from takifugu.numbers.search import smallest_safe

if TYPE_CHECKING:
    from mpmath import mpf

#: Binary digits of everything here; results are raised by 2**-_SAFE, far above what they lose by cancellation.
_BITS, _SAFE = 480, 120


@dataclass(frozen=True)
class Normal:
    """The normal law of one number."""

    mean: Fraction
    variance: Fraction

    def with_noise(self, variance: Fraction) -> Normal:
        """Return the law after independent normal noise."""
        return Normal(self.mean, self.variance + variance)


def pair_delta(left: Normal, right: Normal, epsilon: Number) -> float:
    """Return the least delta with left(S) <= e^epsilon right(S) + delta for all S, rounded up."""
    budget = as_epsilon(epsilon)
    if left == right:
        return 0.0
    if not left.variance or not right.variance:
        return 1.0  # a point and another law share nothing, or a null set
    if left.variance == right.variance:
        return shifted_delta((left.mean - right.mean) ** 2 / left.variance, budget)
    return float_up(_of_two(left, right, budget))


def noisy_pair_delta(left: Normal, right: Normal, added: Fraction, epsilon: Fraction) -> float:
    """Return the least delta both ways once noise of variance `added` is on both, rounded up."""
    left, right = left.with_noise(added), right.with_noise(added)
    return max(pair_delta(left, right, epsilon), pair_delta(right, left, epsilon))


def least_added_variance(left: Normal, right: Normal, epsilon: Fraction, delta: Fraction) -> Fraction:
    """Return the least s^2 of noise, added to both, for (epsilon, delta) both ways, rounded up."""
    # By at most 2**-90 of the whole variance for equal variances, else by 2**-35 of itself.
    if left.variance == right.variance:
        needed = ((left.mean - right.mean) * deviation_per_shift(epsilon, delta)) ** 2
        return max(Fraction(0), needed - left.variance)

    def excess(sigma: float) -> float:
        return noisy_pair_delta(left, right, Fraction(sigma) ** 2, epsilon)

    if excess(0.0) <= delta:
        return Fraction(0)
    start = math.sqrt(max(left.variance, right.variance) + (left.mean - right.mean) ** 2)
    while excess(start) > delta:
        start *= 2
    return Fraction(smallest_safe(excess, start, delta)) ** 2


def _of_two(left: Normal, right: Normal, epsilon: Fraction) -> mpf:
    """Return the divergence from the log-ratio's two roots."""
    from mpmath import mp

    apart = (left.variance - right.variance) / left.variance
    # Of variances that are nearly equal so many digits cancel, and of two tails twice as many.
    nearness = max(0, apart.denominator.bit_length() - abs(apart.numerator).bit_length())
    with mp.workprec(_BITS + 4 * nearness):
        v, w, d = as_mpf(left.variance), as_mpf(right.variance), as_mpf(left.mean - right.mean)
        e = as_mpf(epsilon)
        a, b, c = as_mpf(apart) / (2 * w), d / w, d * d / (2 * w) + mp.log(w / v) / 2 - e
        discriminant = b * b - 4 * a * c
        if discriminant <= 0:
            return mp.mpf(0)  # a < 0 and the ratio nowhere exceeds e^epsilon; a > 0 has two roots
        far = -(b + mp.sign(b) * mp.sqrt(discriminant)) / 2 if b else mp.sqrt(discriminant) / 2
        low, high = sorted((far / a, c / far))
        s, t = mp.sqrt(v), mp.sqrt(w)

        def between(scale: mpf, shift: mpf) -> mpf:
            x, y = (low + shift) / scale, (high + shift) / scale
            return upper_tail(x) - upper_tail(y) if x > 0 else upper_tail(-y) - upper_tail(-x)

        def outside(scale: mpf, shift: mpf) -> mpf:
            return upper_tail(-(low + shift) / scale) + upper_tail((high + shift) / scale)

        mass = between if a < 0 else outside
        return _raised(mass(s, 0) - mp.exp(e) * mass(t, d))


def _raised(value: mpf) -> mpf:
    from mpmath import mp

    return max(value, mp.mpf(0)) * (1 + mp.ldexp(1, -_SAFE)) + mp.ldexp(1, -4000)


def least_isotropic_variance(
    shift: Sequence[Fraction], covariance: Matrix, epsilon: Fraction, delta: Fraction
) -> Fraction:
    """Return the least s^2 against a normal vector's shift v, lambda_max(v v'/r_0^2 - C), rounded up."""
    needed = deviation_per_shift(epsilon, delta) ** 2
    if not any(shift):
        return Fraction(0)
    if not any(map(any, covariance)):
        return needed * _squared(shift)
    moves = np.array(shift, dtype=object)
    lacking = needed * np.outer(moves, moves) - np.array(covariance, dtype=object)
    if is_semidefinite(-lacking):
        return Fraction(0)
    return max(Fraction(0), largest_eigenvalue(lacking))


def distance_squared(shift: Sequence[Fraction], covariance: Matrix, added: Fraction = Fraction(0)) -> Fraction | None:
    """Return v' (C + s^2 I)^-1 v exactly, None off the plane."""
    if added and not any(map(any, covariance)):
        return _squared(shift) / added
    noisy = np.array(covariance, dtype=object) + added * np.eye(len(shift), dtype=int).astype(object)
    solution = solved(noisy, shift)
    return None if solution is None else form(solution, noisy, solution)


def _squared(shift: Sequence[Fraction]) -> Fraction:
    return sum((move * move for move in shift), Fraction(0))
