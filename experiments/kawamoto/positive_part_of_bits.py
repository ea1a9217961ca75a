"""E[(c + sum_x B_x d_x)_+] of independent bits of one probability, enclosed from both sides.

As in `positive_part`: every d_x is split, keeping its mean given B_x, onto two neighbours on a lattice, which
makes the sum larger in convex order, and what that adds is bounded from the law of the split sum. Here the law is
convolved bit by bit from positive terms, so that every mass keeps its relative accuracy and nothing is lost to a
transform.
"""

from __future__ import annotations

import math
from functools import partial

import numpy as np
import numpy.typing as npt

from takifugu.core.errors import InputError
from takifugu.numbers.distributions.positive_part import Enclosure, least_gap, step_of

Floats = npt.NDArray[np.float64]

_UNIT = 2.0**-53
_FIRST, _MOST = 2**12, 2**18
_NARROW = 1e-6


def mean_positive_part_of_bits(
    constant: float, weights: Floats, probability: float, narrow: float = _NARROW
) -> Enclosure:
    """Enclose E[(constant + sum of weights of the bits 1)_+].

    Bits are independent, each 1 with `probability`. The enclosure is at most `narrow` wide relative to the upper end,
    or as narrow as 2**18 lattice points allow. Raises InputError for numbers that are not finite or a probability
    outside [0, 1].

    >>> found = mean_positive_part_of_bits(-1.0, np.array([1.0, 1.0]), 0.5)
    >>> found.low <= 0.25 <= found.high
    True
    """
    weights = np.asarray(weights, dtype=float)
    if not (np.isfinite(weights).all() and math.isfinite(constant)) or not 0 <= probability <= 1:
        raise InputError("the weights must be finite numbers, and the probability between 0 and 1").at("weights")
    reach = float(np.abs(weights).sum())
    top = constant + float(np.maximum(weights, 0).sum())
    if top <= 0:
        return Enclosure(0.0, max(0.0, top + 4 * len(weights) * _UNIT * (reach + abs(constant))))
    best, points = Enclosure(0.0, top * (1 + 1e-12)), _FIRST
    while points <= _MOST:
        enclosure = _on_lattice(constant, weights, probability, reach, points)
        best = Enclosure(max(best.low, enclosure.low), min(best.high, enclosure.high))
        if best.high - best.low <= narrow * best.high:
            break
        points *= 4
    return best


def _on_lattice(constant: float, weights: Floats, probability: float, reach: float, points: int) -> Enclosure:
    count = len(weights)
    step = step_of(weights, np.ones(count), reach / (points - 2 * count - 2)) if reach else 1.0
    nearest = np.rint(weights / step)
    moved = np.abs(weights - nearest * step)
    is_whole = moved <= 2.0**-44 * np.abs(weights)
    below = np.floor(weights / step)
    shares = np.where(is_whole, 0.0, weights / step - below)
    below = np.where(is_whole, nearest, below).astype(np.int64)
    first = int(np.minimum(below, 0).sum())
    law = np.zeros(int(np.maximum(below + 1, 0).sum()) - first + 2)
    law[-first], low, high = 1.0, -first, -first
    exact, chance = law, 1.0
    for place in np.argsort(~is_whole, kind="stable").tolist():  # bits on the lattice first
        if not is_whole[place] and chance == 1.0:
            exact = law.copy()
        low, high = _add_bit(law, low, high, int(below[place]), float(shares[place]), probability)
        chance *= 1.0 if is_whole[place] else 1 - probability
    at = (constant + step * (np.arange(len(law)) + first)).astype(np.float64)
    mean = float(np.maximum(at, 0.0) @ law)
    relative = (8 * count + len(law)) * _UNIT
    place = 8 * count * _UNIT * (reach + abs(constant)) + float(moved[is_whole].sum())
    gap = 0.0
    if not is_whole.all():
        # Where no bit of a split weight is 1, nothing was split.
        split = np.maximum(law * (1 + relative) - chance * exact * (1 - relative), 0.0)
        likely = partial(_mass_within, split, np.abs(at))
        gap = least_gap(likely, step, count)
    return Enclosure(max(mean * (1 - relative) - place - gap, 0.0), mean * (1 + relative) + place)


def _add_bit(law: Floats, low: int, high: int, below: int, share: float, probability: float) -> tuple[int, int]:
    """Add a bit to the sum in law[low : high + 1]."""
    old = law[low : high + 1]
    low_now, high_now = low + min(below, 0), high + max(below + (share > 0), 0)
    new = np.zeros(high_now - low_now + 1)
    for shift, mass in ((0, 1 - probability), (below, probability * (1 - share)), (below + 1, probability * share)):
        if mass:
            new[low + shift - low_now : high + shift - low_now + 1] += mass * old
    law[low_now : high_now + 1] = new
    return low_now, high_now


def _mass_within(law: Floats, distances: Floats, reach: float) -> float:
    """Return the mass of a law no farther out than `reach`, right up to a relative 1e-9."""
    return float(law[distances <= reach].sum())
