"""Normal vectors that differ by a shift: how much isotropic noise hides it.

N(m, C) and N(m + v, C) with noise N(0, s^2 I) are told apart like two numbers whose means lie r deviations apart,
r^2 = v' (C + s^2 I)^-1 v: project on the line of v in the metric of C + s^2 I. With r_0 the largest distance that keeps
(epsilon, delta), r <= r_0 holds exactly where C + s^2 I - v v'/r_0^2 is positive semidefinite, that is where
s^2 >= lambda_max(v v'/r_0^2 - C).
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

import numpy as np

from takifugu.numbers.normal.matrices import Matrix, form, is_semidefinite, largest_eigenvalue, solved
from takifugu.numbers.normal.pair import variance_per_shift


def least_isotropic_variance(
    shift: Sequence[Fraction], covariance: Matrix, epsilon: Fraction, delta: Fraction
) -> Fraction:
    """Return the least s^2 >= 0 against a normal vector's shift.

    It is rounded up. For one number it is the square of the shift over r_0^2, less the variance.

    >>> one, two = ((Fraction(1),),), ((Fraction(1),) * 2,) * 2
    >>> once = least_isotropic_variance([Fraction(2)], one, Fraction(1), Fraction(1, 10**5))
    >>> twice = least_isotropic_variance([Fraction(2)] * 2, two, Fraction(1), Fraction(1, 10**5))
    >>> round(float(twice / once), 12)
    2.0
    """
    needed = variance_per_shift(epsilon, delta)
    if not any(shift):
        return Fraction(0)
    moves = np.array(shift, dtype=object)
    lacking = needed * np.outer(moves, moves) - np.array(covariance, dtype=object)
    if is_semidefinite(-lacking):
        return Fraction(0)
    return max(Fraction(0), largest_eigenvalue(lacking))


def distance_squared(shift: Sequence[Fraction], covariance: Matrix, added: Fraction = Fraction(0)) -> Fraction | None:
    """Return v' (C + s^2 I)^-1 v exactly, or None off the plane.

    >>> distance_squared([Fraction(2)], ((Fraction(1),),), Fraction(3))
    Fraction(1, 1)
    """
    noisy = np.array(covariance, dtype=object) + added * np.eye(len(shift), dtype=int).astype(object)
    solution = solved(noisy, shift)
    return None if solution is None else form(solution, noisy, solution)
