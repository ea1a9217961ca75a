"""The nearest numbers that add up and are not negative: exact least squares in rational numbers, and whole numbers."""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction

from takifugu.core.errors import InputError


def nearest(
    values: Sequence[Fraction],
    variances: Sequence[Fraction],
    total: Fraction,
    total_variance: Fraction,
    nonnegative: bool,
) -> tuple[Fraction, ...]:
    """Return the x nearest to values and a total, perhaps nonnegative.

    x minimises sum (x_i - v_i)^2/s_i + (sum x - t)^2/s_t, over x >= 0 where `nonnegative`. v are `values` with
    variances s >= 0, t is `total` with variance s_t >= 0; a variance of 0 means that the number must be kept (a
    negative one is 0 where `nonnegative`). With s_t = 0 and equal s this is the Euclidean projection on {sum x = t}, or
    on the simplex {x >= 0, sum x = t}.

    The minimum is x_i = v_i - s_i m, or max(0, v_i - s_i m), at the m with sum x(m) = t + s_t m (Lagrange,
    Karush-Kuhn-Tucker); the left side falls and the right side grows, and between the v_i/s_i both are straight lines.

    Raises InputError where nothing fits: numbers that must be kept do not add up, or a negative total with x >= 0.

    >>> nearest([Fraction(3), Fraction(-1), Fraction(2)], [Fraction(1)] * 3, Fraction(4), Fraction(0), True)
    (Fraction(5, 2), Fraction(0, 1), Fraction(3, 2))
    """
    if nonnegative and total < 0 and total_variance == 0:
        raise InputError("values that are not negative cannot sum to less than 0").at("total")
    fixed = sum((_clipped(v, nonnegative) for v, s in zip(values, variances, strict=True) if s == 0), Fraction(0))
    moving = sorted((v / s, v, s) for v, s in zip(values, variances, strict=True) if s > 0)
    height, slope = fixed - total + sum(v for _, v, _ in moving), total_variance + sum(s for _, _, s in moving)
    for zero_at, v, s in moving if nonnegative else ():
        if height <= zero_at * slope:
            break
        height, slope = height - v, slope - s  # this one stays at 0
    if slope == 0 and height != 0:
        raise InputError(
            "the values and their total carry no noise and do not agree", rule="they are not about the same data"
        ).at("total")
    shift = height / slope if slope else Fraction(0)
    moved = []
    for value, variance in zip(values, variances, strict=True):
        moved.append(_clipped(value - variance * shift if variance else value, nonnegative))
    return tuple(moved)


def whole(values: Sequence[Fraction], total: int, first: Sequence[Fraction]) -> tuple[int, ...]:
    """Round values down or up to whole numbers with sum `total`.

    The values sum to within 1 of `total`. What rounding down leaves over goes, one each, to the largest remainders; of
    equal remainders to the larger number in `first`, then to the earlier one. Of all whole numbers with this sum these
    are nearest to the values, and none is negative where no value is.

    >>> whole([Fraction(5, 2), Fraction(0), Fraction(3, 2)], 4, [3, -1, 2])
    (3, 0, 1)
    """
    floors = list(map(math.floor, values))
    left = total - sum(floors)
    order = sorted(range(len(values)), key=lambda i: (floors[i] - values[i], -first[i], i))
    lucky = set(order[:left])
    return tuple(f + (i in lucky) for i, f in enumerate(floors))


def _clipped(value: Fraction, nonnegative: bool) -> Fraction:
    return max(value, Fraction(0)) if nonnegative else value
