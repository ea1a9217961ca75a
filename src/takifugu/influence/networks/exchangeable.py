"""People of whom a random number is ill, all sets of one size equally likely: the exact loss of one of them.

With one c for all others the average likelihood G(m) over the sets of m ill others moves by at most c from m to m + 1,
and a likelihood of the number alone attains it: l = c_i + log sup q1.G / q0.G over |log G(m + 1) - log G(m)| <= c, q1
and q0 the laws of the others' number if one is ill or well; and with 1 and 0 exchanged. lambda is too small if and only
if H_0 > 0, where H_n = d_n, H_m = d_m + e^(+-c) H_(m+1) (the sign of H_(m+1)), d = q1 - lambda q0: the best G rises and
falls as fast as it may. Source: section 7 of docs/theory/influence.md.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from takifugu.core.arrays import FloatArray
from takifugu.influence.profiles.suprema import LARGEST_POWER
from takifugu.numbers.outward_rounding import UNIT, sum_up, up

#: The search for lambda ends at this relative distance; what it returns is then proved, in steps of this size.
CLOSE = 1e-14


def exchangeable_loss(number: Sequence[float], for_itself: float, for_others: float) -> FloatArray:
    """Return the loss of well (0) against ill (1), shape (2, 2).

    The loss is 0 where one of them is impossible. `number` is the law of how many of all are ill, on 0 .. people;
    `for_itself` is c of the secret, `for_others` the largest c of the others (exact if they are all the same).

    >>> exchangeable_loss([0.5, 0.1, 0.1, 0.1, 0.2], 0.5, 0.5).round(6).tolist()
    [[0.0, 1.377195], [1.445124, 0.0]]
    """
    law = np.asarray(number, dtype=float)
    people = len(law) - 1
    ill = law[1:] * np.arange(1, people + 1)
    well = law[:-1] * np.arange(people, 0, -1)
    if not ill.any() or not well.any():
        return np.zeros((2, 2))
    ill, well = ill / ill.sum(), well / well.sum()
    error = (people + 8) * UNIT
    loss = np.zeros((2, 2))
    loss[1, 0] = sum_up(for_itself, supremum_of_number(ill, well, for_others, error))
    loss[0, 1] = sum_up(for_itself, supremum_of_number(well, ill, for_others, error))
    return loss


def supremum_of_number(p: FloatArray, q: FloatArray, c: float, error: float = 0.0) -> float:
    """Bound log sup p.G/q.G over all slowly changing G.

    Such G have |log G(m + 1) - log G(m)| <= c; `error` is relative, of p and q.

    >>> round(supremum_of_number(np.array([0.0, 1.0]), np.array([1.0, 0.0]), 0.25), 12)
    0.25
    """
    most = float(up((len(p) - 1) * c))
    if most > LARGEST_POWER:
        return most
    ratio = 1.0
    for _ in range(200):  # Dinkelbach: the best G for a lambda that is too small gives the next one
        better = _ratio(p, q, c, ratio)
        if better <= ratio * (1 + CLOSE):
            break
        ratio = better
    step = CLOSE
    while _may_exceed(p, q, c, ratio):
        ratio, step = ratio * (1 + step), 2 * step
    log_ratio = up(math.log(ratio) * (1 + 4 * UNIT) + 4 * UNIT + 2 * error * (1 + error))
    return min(float(log_ratio), most)


def _ratio(p: FloatArray, q: FloatArray, c: float, ratio: float) -> float:
    """Return p.G / q.G for the best G."""
    rises = np.zeros(len(p))
    later = 0.0  # H_(m+1)
    for m in reversed(range(len(p))):
        rises[m] = c if later > 0 else -c  # from m to m + 1
        later = float(p[m] - ratio * q[m] + math.exp(rises[m]) * later)
    exponents = np.concatenate([[0.0], np.cumsum(rises[:-1])])
    best = np.exp(exponents - exponents.max())
    return float(p @ best / (q @ best))


def _may_exceed(p: FloatArray, q: FloatArray, c: float, ratio: float) -> bool:
    """Return whether H_0, rounded up at each step, is positive."""
    rise, fall = math.exp(c) * (1 + 4 * UNIT), math.exp(-c) * (1 - 4 * UNIT)
    later = 0.0
    for m in reversed(range(len(p))):
        difference = up(p[m] - ratio * q[m] * (1 - 2 * UNIT))
        factor = rise if later > 0 else fall
        later = float(up(difference + up(factor * later)))
    return later > 0
