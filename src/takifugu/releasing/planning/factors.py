"""The largest factor of all epsilons with which a file's windows fit a budget.

Factors are numbered: equal steps up to 1, and equally many from each power of 2 to the next. Costs are nearly
proportional to the factor, and each takes calibrations, so places are proposed by the line through two costs.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction

#: Steps up to 1, and from each power of 2 to the next: a factor is too small by at most 1 part in so many.
FINENESS = 1024
#: No factor reaches 2 to this power.
MOST_DOUBLINGS = 7
#: A search takes at most so many costs more than one by halves.
MORE_THAN_HALVING = 4

#: A factor with its cost.
_Cost = tuple[Fraction, Fraction]


def largest_factor(cost: Callable[[Fraction], Fraction | None], budget: Fraction, now: Fraction) -> Fraction | None:
    """Return the largest numbered factor with a cost within the budget, or None."""
    # the cost rises with the factor, is `now` at 1, and None without a promise; a returned factor was seen to fit
    good, bad = (FINENESS, FINENESS * (1 + MOST_DOUBLINGS)) if now <= budget else (0, FINENESS)
    last, earlier = (Fraction(1), now), (Fraction(0), Fraction(0))
    is_refused = good > 0
    left = (bad - good).bit_length() + MORE_THAN_HALVING
    while bad - good > 1:
        left -= 1
        place = number_of(_meeting(last, earlier, budget))
        if place >= bad and is_refused:
            place = (good + bad) // 2
        most = 2**left  # the widest bracket that halving would still close in time
        place = min(max(place, good + 1, bad - most), bad - 1, good + most)
        factor = factor_of(place)
        charged = cost(factor)
        if charged is not None and charged <= budget:
            good = place
        else:
            bad, is_refused = place, charged is None
        if charged is not None:
            last, earlier = (factor, charged), last
    return factor_of(good) if good else None


def _meeting(last: _Cost, earlier: _Cost, budget: Fraction) -> Fraction:
    """Return where the line through two costs meets the budget, or a factor beyond all."""
    rise = (last[1] - earlier[1]) / (last[0] - earlier[0])
    if rise <= 0:
        return Fraction(2**MOST_DOUBLINGS)
    return max(last[0] + (budget - last[1]) / rise, Fraction(0))


def factor_of(number: int) -> Fraction:
    """Return a numbered factor: number 512 is 0.5, 1024 is 1, 1536 is 1.5, 2048 is 2, 3072 is 4."""
    doublings, rest = divmod(number, FINENESS)
    if not doublings:
        return Fraction(rest, FINENESS)
    return Fraction(2 ** (doublings - 1) * (FINENESS + rest), FINENESS)


def number_of(factor: Fraction) -> int:
    """Return the number of the last factor up to this one."""
    if factor < 1:
        return math.floor(factor * FINENESS)
    doublings = math.floor(factor).bit_length() - 1
    return math.floor((factor * Fraction(1, 2**doublings) + doublings) * FINENESS)
