"""A number observed with normal noise, given that it lies in one set or in another: a bound on delta(epsilon).

Let g be standard normal and Y = g + k W, W standard normal and independent: an answer, in units of the part of its
deviation that g explains; k^2 is what is not explained, the noise included, next to what is. Given g in U, a union of
intervals, g has the density phi/P(U) on U, where |phi^(j)| <= 1.0865 sqrt(j!) e^(-x^2/4)/sqrt(2 pi) (Cramer). So point
masses at Gauss's nodes stand for it, within a proven distance in total variation once k W is added, and delta is
theirs and what they may be off (`noisy_densities`). More noise is post-processing, so delta falls in k.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from fractions import Fraction
from typing import Any

import numpy as np

from takifugu.core.errors import Unsupported
from takifugu.core.escaping import at_least
from takifugu.numbers.after_noise.hockey_stick import LARGEST_EPSILON
from takifugu.numbers.after_noise.noisy_densities import CRAMER, Piece, masses_delta, nodes_of, of_nodes
from takifugu.numbers.distributions.pmf import Pmf
from takifugu.numbers.search import doubled, smallest_safe

#: The open ends of a set's intervals, in increasing order, infinite where there is no end.
Intervals = tuple[tuple[float, float], ...]
#: Point masses in place of a law, and their distance from it after the noise.
Masses = tuple[Pmf, float]

#: Where almost all of the answer's variance is explained, more noise is taken than is needed: Y is next to g itself.
LEAST_NOISE = 2.0**-7
#: Noise of 2^40, beyond which two laws are next to equal for every set that can be told from nothing.
_DOUBLINGS = 41
#: Sets of less mass than this are not told from nothing.
_LEAST_MASS = 1e-25
#: So much farther, squared, than an interval's nearest point its tails hold less than e^-64 of it.
_TAIL, _BEYOND = 128.0, 2.0**-80
#: Above this epsilon the delta of this epsilon counts, too: distances weigh e^epsilon.
_LARGE = Fraction(12)
#: Cells so wide miss 2^-24 of what the widest do.
_STEP = 1.0


def sets_delta(left: Intervals, right: Intervals, noise: float, epsilon: float) -> float:
    """Bound delta(epsilon) of Y given g in `left` against `right`, from above; `noise` is k."""
    # Within about 1e-13 (1 + e^epsilon) of delta.
    return _delta(point_masses(left, noise), point_masses(right, noise), noise, epsilon)


def _delta(p: Masses | None, q: Masses | None, noise: float, epsilon: float) -> float:
    """Return the bound of `sets_delta` from the point masses of both sets."""
    if noise < LEAST_NOISE or p is None or q is None:
        return 1.0
    budgets = {min(Fraction(epsilon), LARGEST_EPSILON), min(Fraction(epsilon), _LARGE)}
    return min(1.0, *(masses_delta(p, q, noise, budget) for budget in budgets))


def point_masses(intervals: Intervals, noise: float) -> Masses | None:
    """Return point masses in place of g given a set, and their distance; None where that is not known."""
    nodes = nodes_of(list(_pieces(intervals)), max(noise, LEAST_NOISE), _STEP)
    if nodes is None:
        return None
    x, weights, missed = nodes
    masses = weights * np.exp(-x * x / 2) / math.sqrt(2 * math.pi)
    total = math.fsum(masses)
    if total - missed < _LEAST_MASS:
        raise Unsupported(
            f"the belief gives one of the sets a probability below {_LEAST_MASS:g}", fix="compare sets that can occur"
        )
    rounded = 2.0**-50 * float((masses * (2 + x * x)).sum()) / total
    return of_nodes(x, masses / total, noise, 2 * (missed / (total - missed) + rounded + _BEYOND))


def _pieces(intervals: Intervals) -> Iterator[Piece]:
    """Yield the intervals without tails, with a bound on the derivatives of the normal density there."""
    for low, high in intervals:
        nearest = max(low, -high, 0.0)
        far = math.sqrt(nearest**2 + _TAIL)
        yield Piece(max(low, -far), min(high, far), CRAMER * math.exp(-(nearest**2) / 4), 1.0)


def least_noise(left: Intervals, right: Intervals, epsilon: float, delta: float) -> float:
    """Return the least k for delta in both directions, rounded up, never below 2**-7."""

    def excess(noise: float) -> float:
        p, q = point_masses(left, noise), point_masses(right, noise)
        return max(_delta(p, q, noise, epsilon), _delta(q, p, noise, epsilon))

    safe = doubled(excess, 1.0, delta, _DOUBLINGS)
    if safe is None:
        raise Unsupported(
            f"delta {at_least(delta)} is too small to be judged for sets as unlikely as these",
            fix="give a larger delta",
        )
    if safe == 1 and excess(LEAST_NOISE) <= delta:
        return LEAST_NOISE
    return smallest_safe(excess, safe, delta)


def standardised(
    intervals: Sequence[tuple[Fraction | float | None, Fraction | float | None]], mean: Any, deviation: float
) -> Intervals:
    """Return intervals of g in deviations from its mean."""
    moved = []
    for low, high in intervals:
        least = -math.inf if low is None else float(low - mean) / deviation
        most = math.inf if high is None else float(high - mean) / deviation
        moved.append((least, most))
    return tuple(moved)
