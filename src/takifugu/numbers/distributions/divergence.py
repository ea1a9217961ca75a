"""The hockey-stick divergence of finite laws with exact masses, enclosed: sum over y of (p(y) - e^epsilon q(y))_+.

e^epsilon lies between two neighbouring multiples of 2**-120; with either the sum is one of integers, and exact.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from fractions import Fraction
from itertools import chain

from takifugu.numbers.distributions.positive_part import Enclosure
from takifugu.numbers.rationals import float_above, float_below, in_common_unit

BITS = 120
#: Beyond this, e^epsilon q exceeds p for any masses with fewer than 14,000 bits; a smaller epsilon is safe above.
_LARGEST = Fraction(10_000)


def divergence(masses: Iterable[tuple[Fraction, Fraction]], epsilon: Fraction) -> Enclosure:
    """Enclose the sum of (p - e^epsilon q)_+ over pairs (p, q)."""
    numbers, unit = in_common_unit(chain.from_iterable(masses))
    return divergence_in_units(zip(numbers[::2], numbers[1::2], strict=True), unit, epsilon)


def divergence_in_units(masses: Iterable[tuple[int, int]], unit: int, epsilon: Fraction) -> Enclosure:
    """Enclose the sum of (p - e^epsilon q)_+ over masses in multiples of 1/unit."""
    low, high = power_bounds(epsilon)
    least = most = 0
    for p, q in masses:
        scaled = p << BITS
        most += max(scaled - low * q, 0)
        least += max(scaled - high * q, 0) if q == 0 or epsilon <= _LARGEST else 0
    return Enclosure(float_below(Fraction(least, unit << BITS)), float_above(Fraction(most, unit << BITS)))


def power_bounds(epsilon: Fraction) -> tuple[int, int]:
    """Enclose e^epsilon 2**120 by whole numbers, equal for epsilon 0."""
    capped = min(epsilon, _LARGEST)
    if not capped:
        return 1 << BITS, 1 << BITS
    from mpmath import iv

    before = iv.prec
    iv.prec = 2 * BITS
    try:
        power = iv.exp(iv.mpf(capped.numerator) / iv.mpf(capped.denominator)) * iv.mpf(2) ** BITS
        return math.floor(_fraction(power.a)), math.ceil(_fraction(power.b))
    finally:
        iv.prec = before


def _fraction(value: object) -> Fraction:
    """Return an end of an interval exactly."""
    from mpmath import mp

    mantissa, exponent = mp.convert(value).man_exp
    exact: Fraction = int(mantissa) * Fraction(2) ** int(exponent)
    return exact
