"""Mangat's randomised response (Mangat 1994; Takagi21 §I): who is in the group says so, others do with e^-epsilon.

One bit, at its source: "yes" is sensitive, "no" is not. "Yes" always answers yes; "no" answers no with probability 1 -
e^-epsilon. P(y | yes) <= e^epsilon P(y | no) for both answers, and nothing the other way: an answer of no is true. It
is AGeo with n = 1, for p = "the bit is no".
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np

from takifugu.core.arrays import BoolArray
from takifugu.core.errors import DataError, InputError
from takifugu.core.plain import set_fields
from takifugu.numbers.rationals import Number, as_epsilon

if TYPE_CHECKING:
    from takifugu.numbers.noise import Entropy


@dataclass(frozen=True)
class Mangat:
    """Mangat's randomised response with this epsilon; bits are True for "yes".

    >>> round(Mangat(1).probability(False, True), 6), Mangat(1).probability(True, False)
    (0.367879, 0.0)
    """

    epsilon: Fraction

    def __init__(self, epsilon: Number) -> None:
        set_fields(self, epsilon=as_epsilon(epsilon))

    def probability(self, bit: bool, answer: bool) -> float:
        """Return P(answer | bit)."""
        if bit:
            return float(answer)
        false_yes = math.exp(-self.epsilon)
        return false_yes if answer else -math.expm1(-self.epsilon)

    def randomise(self, bits: object, entropy: Entropy | None = None) -> BoolArray:
        """Draw each bit's answer, exactly and independently.

        Raises DataError for anything but true and false.

        >>> Mangat(1).randomise([True, True])
        array([ True,  True])
        """
        from takifugu.numbers.noise import SystemEntropy, bernoulli_exp

        column = np.asarray(bits)
        if column.ndim != 1 or (column.size and column.dtype != np.bool_):
            raise DataError("the bits are no column of true and false", fix="compare the column with a value first")
        numerator, denominator = self.epsilon.as_integer_ratio()
        coins = bernoulli_exp(numerator, denominator, column.size, entropy or SystemEntropy())
        return np.asarray(column.astype(np.bool_) | coins)

    def estimate(self, yes: int, people: int) -> tuple[float, float]:
        """Estimate the number of yes, unbiased, with its standard deviation.

        The estimate is (yes - people q)/(1 - q), q = e^-epsilon; the deviation is that for the estimate cut to what is
        possible. The number of answers of yes is itself an upper bound that never fails. Raises InputError unless 0 <=
        yes <= people.

        >>> estimate, deviation = Mangat(1).estimate(600, 1000)
        >>> round(estimate, 2), round(deviation, 2)
        (367.21, 19.19)
        """
        if not 0 <= yes <= people or people < 1:
            raise InputError("the number of answers of yes is not between 0 and the number of people").at("yes")
        q, complement = math.exp(-self.epsilon), -math.expm1(-self.epsilon)
        estimate = (yes - people * q) / complement
        people_without = people - min(max(estimate, 0.0), float(people))
        return estimate, math.sqrt(people_without * q / complement)
