"""The hockey-stick divergence of finite laws with exact masses, enclosed: sum over y of (p(y) - e^epsilon q(y))_+."""

from __future__ import annotations

import math
from collections.abc import Iterable
from fractions import Fraction
from typing import Any

from mpmath import iv

from takifugu.laws.positive_part import Enclosure

_BITS = 120


def divergence(masses: Iterable[tuple[Fraction, Fraction]], epsilon: Fraction) -> Enclosure:
    """Return the sum of (p - e^epsilon q)_+ over pairs (p, q), in floats below and above it.

    >>> divergence([(Fraction(3, 4), Fraction(1, 4)), (Fraction(1, 4), Fraction(3, 4))], Fraction(0))
    Enclosure(low=0.5, high=0.5)
    """
    before = iv.prec
    iv.prec = _BITS
    try:
        factor = iv.exp(_interval(epsilon))
        total = iv.mpf(0)
        for p, q in masses:
            value = _interval(p) - factor * _interval(q)
            total += iv.mpf([max(value.a, 0), max(value.b, 0)])
        return Enclosure(_below(total.a), _above(total.b))
    finally:
        iv.prec = before


def sum_of_powers(epsilon: Fraction, count: int) -> Enclosure:
    """Return 1 + e^epsilon + ... + e^((count - 1) epsilon), in floats below and above it (infinite, if need be).

    >>> sum_of_powers(Fraction(0), 3).high
    3.0
    """
    before = iv.prec
    iv.prec = _BITS
    try:
        factor, total = iv.exp(_interval(epsilon)), iv.mpf(0)
        for _ in range(count):
            total = 1 + factor * total
        return Enclosure(_below(total.a), _above(total.b))
    finally:
        iv.prec = before


def _interval(value: Fraction) -> Any:
    return iv.mpf(value.numerator) / iv.mpf(value.denominator)


def _above(value: Any) -> float:
    found = float(value)
    return found if found >= value else math.nextafter(found, math.inf)


def _below(value: Any) -> float:
    found = float(value)
    return found if found <= value else math.nextafter(found, -math.inf)
