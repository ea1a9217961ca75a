"""The nearest numbers that add up and are not negative: exact least squares in rational numbers, and whole numbers.

x minimises sum (x_i - v_i)^2/s_i + (sum x - t)^2/s_t: x_i = v_i - s_i m, or max(0, v_i - s_i m), at the m with sum x(m)
= t + s_t m (Lagrange; Karush, Kuhn and Tucker). With s_t = 0 and equal s it is the projection on {sum x = t}, or on the
simplex {x >= 0, sum x = t}.
"""

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
    """Return the x nearest to values and a total by weighted least squares, x >= 0 where `nonnegative`."""
    # A variance of 0 means that the number must be kept (a negative one is 0 where `nonnegative`).
    if nonnegative and total < 0 and total_variance == 0:
        raise InputError("values that are not negative cannot sum to less than 0").at("total")
    fixed = sum((_clipped(v, nonnegative) for v, s in zip(values, variances, strict=True) if s == 0), Fraction(0))
    moving = sorted((v / s, v, s) for v, s in zip(values, variances, strict=True) if s > 0)
    height, slope = fixed - total + sum(v for _, v, _ in moving), total_variance + sum(s for _, _, s in moving)
    # Between the v_i/s_i both sides of sum x(m) = t + s_t m are straight lines.
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
    """Round values, which sum to within 1 of `total`, down or up to the nearest whole numbers with that sum."""
    floors = list(map(math.floor, values))
    left = total - sum(floors)
    # The largest remainders go up; of equal ones the larger number in `first`, then the earlier one.
    order = sorted(range(len(values)), key=lambda i: (floors[i] - values[i], -first[i], i))
    lucky = set(order[:left])
    return tuple(f + (i in lucky) for i, f in enumerate(floors))


def _clipped(value: Fraction, nonnegative: bool) -> Fraction:
    return max(value, Fraction(0)) if nonnegative else value
