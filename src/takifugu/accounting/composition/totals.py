"""Sums that do not depend on the order of their terms: exact while the common denominator is short, then rounded up."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction

#: Terms of sums that are not exact are rounded up to multiples of 2 to minus this power.
BITS = 60
#: Sums are exact up to this common denominator of their terms.
LONGEST = 2**256


@dataclass(frozen=True)
class Total:
    """A sum in any order of terms: `exact`, or else `rounded` up.

    `denominator` is the least common one of all terms, 0 from the first one on that makes it too long; `rounded` is in
    units of 2^-60. Another term never makes the value smaller.

    >>> third = Total.of(Fraction(1, 3))
    >>> (third + third + third).value, third.times(6).value
    (Fraction(1, 1), Fraction(2, 1))
    """

    exact: Fraction
    denominator: int
    rounded: int

    @staticmethod
    def of(term: Fraction) -> Total:
        rounded = math.ceil(term * 2**BITS)
        if term.denominator <= LONGEST:
            return Total(term, term.denominator, rounded)
        return Total(Fraction(0), 0, rounded)

    def __add__(self, other: Total) -> Total:
        common = math.lcm(self.denominator, other.denominator)  # 0 where one of them is
        rounded = self.rounded + other.rounded
        if not 0 < common <= LONGEST:
            return Total(Fraction(0), 0, rounded)
        return Total(self.exact + other.exact, common, rounded)

    def times(self, count: int) -> Total:
        """Return the sum of so many such sums."""
        return Total(self.exact * count, self.denominator, self.rounded * count)

    @property
    def value(self) -> Fraction:
        return self.exact if self.denominator else Fraction(self.rounded, 2**BITS)
