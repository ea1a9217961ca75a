"""Report noisy max, one-sided (ours, not in a paper): which count is the largest, and a value never below it.

Publish the place i and the value z_i of the largest z_j = f_j + K_j, K_j geometric with P(K >= k) = e^(-epsilon k), the
first of several; public is which place comes first.

**Claim.** If along an allowed move no f_j rises and none falls by more than 1, then P(i, z | X) <= e^epsilon P(i, z |
X'), however many counts fall. *Proof.* P(i, z) = P(z_i = z) prod over j < i of P(z_j < z) prod over j > i of P(z_j <=
z). The first factor changes by e^epsilon at most, as z >= f_i >= f'_i; each other one is the probability that f_j + K_j
is below some bound, which does not fall when f_j does. ∎ And z = max z_j >= z_j >= f_j for every j: no count exceeds z.

The ordinary report noisy max pays twice as much where one move raises some counts and lowers others, and publishes no
value (Dwork and Roth 2014, Claim 3.9).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np

from takifugu.core.plain import set_fields
from takifugu.mechanisms.one_sided.sparse import checked_counts
from takifugu.numbers.rationals import Number, as_epsilon

if TYPE_CHECKING:
    from takifugu.numbers.noise import Entropy


@dataclass(frozen=True)
class NoisyMax:
    """The place of the largest count and an upper bound of it, at a cost of `epsilon` in all."""

    epsilon: Fraction

    def __init__(self, epsilon: Number) -> None:
        set_fields(self, epsilon=as_epsilon(epsilon))

    def draw(self, counts: object, entropy: Entropy | None = None) -> tuple[int, int]:
        """Return the number of a place and a value above every count.

        Raises InputError for no counts, DataError for counts that are negative or not whole.

        >>> NoisyMax(1000).draw([3, 8, 8])
        (1, 8)
        """
        from takifugu.numbers.noise import SystemEntropy, geometric, total

        private = checked_counts(counts)
        noisy = total(private, geometric(1 / self.epsilon, private.size, entropy or SystemEntropy()))
        place = int(np.argmax(noisy))
        return place, int(noisy[place])

    def log_probability(self, counts: Sequence[int], place: int, value: int) -> float:
        """Return log P(place, value | counts); -inf if impossible.

        >>> round(NoisyMax(1).log_probability([1, 0], 0, 1), 6)  # (1 - 1/e)(1 - 1/e^2): the other at most 1
        -0.604089
        """
        step = float(self.epsilon)
        if value < max(counts):
            return -math.inf
        log_mass = math.log(-math.expm1(-step)) - step * (value - counts[place])
        for other, count in enumerate(counts):
            if other != place:
                room = value - count + (other > place)  # z_j <= z after the place, z_j < z before it
                if room == 0:
                    return -math.inf
                log_mass += math.log(-math.expm1(-step * room))
        return log_mass
