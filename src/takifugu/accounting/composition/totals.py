"""Sums that do not depend on the order of their terms: exact while the common denominator is short, then rounded up."""

from __future__ import annotations

import math
from collections.abc import Sequence
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
    >>> Total.of_all([third, third]).value, third.times(6).value
    (Fraction(2, 3), Fraction(2, 1))
    """

    rounded: int  # the first: of unlike sums it differs
    denominator: int
    exact: Fraction

    @staticmethod
    def of(term: Fraction) -> Total:
        rounded = math.ceil(term * 2**BITS)
        if term.denominator <= LONGEST:
            return Total(rounded, term.denominator, term)
        return Total(rounded, 0, Fraction(0))

    @staticmethod
    def of_all(terms: Sequence[Total]) -> Total:
        """Return the sum of sums.

        >>> Total.of_all([Total.of(Fraction(1, n)) for n in (2, 3, 6)]).value
        Fraction(1, 1)
        """
        common, rounded = 1, sum(term.rounded for term in terms)
        for term in terms:
            common = math.lcm(common, term.denominator)  # 0 where one of them is
            if not 0 < common <= LONGEST:
                return Total(rounded, 0, Fraction(0))
        units = sum(term.exact.numerator * (common // term.exact.denominator) for term in terms)
        return Total(rounded, common, Fraction(units, common))

    def times(self, count: int) -> Total:
        """Return the sum of so many such sums."""
        return Total(self.rounded * count, self.denominator, self.exact * count)

    @property
    def value(self) -> Fraction:
        return self.exact if self.denominator else Fraction(self.rounded, 2**BITS)
