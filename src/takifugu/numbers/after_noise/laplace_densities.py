"""Laplace noise on densities: the least whose log-ratio stays within epsilon everywhere.

The line is cut into cells, each taken as a mass at its middle, enclosed, and tails by a mean of exponentials: the
largest ratio is that at a middle (docs/theory/one-answer.md#one-answer-18). Two normal distributions of different
deviations have no finite W-infinity, but a finite loss after Laplace noise.
"""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np

from takifugu.core.errors import Unsupported
from takifugu.numbers.densities import Continuous, cell_masses
from takifugu.numbers.densities.excess import distance_from
from takifugu.numbers.densities.moves import farthest_move
from takifugu.numbers.densities.tails import ends_of, weight_beyond
from takifugu.numbers.extended.floats import Wide
from takifugu.numbers.extended.laplace_smoothing import losses_between
from takifugu.numbers.search import doubled, smallest_safe

#: Cells of the line.
CELLS = 2**18
#: The rows that are compared: the most of one law with the least of the other.
_MOST_AND_LEAST = np.array([[1, 2], [3, 0]])
#: Doublings of the noise before the search gives up.
_DOUBLINGS = 60


def laplace_loss(p: Continuous, q: Continuous, scale: float) -> float:
    """Bound the largest log-ratio of two noisy densities either way; infinite where the scale is too small."""
    (p_low, p_high), (q_low, q_high) = ends_of(p, scale), ends_of(q, scale)
    first, last = min(p_low, q_low), max(p_high, q_high)
    half = ((last - first) / CELLS / 2 + 2.0**-50 * max(abs(first), abs(last))) / scale
    if half > 1:
        return math.inf
    masses = (cell_masses(law, first, last, CELLS) for law in (p, q))  # type: ignore[arg-type]  # every kind is frozen
    rows = np.concatenate([*masses])
    for law, most in ((p, rows[1]), (q, rows[3])):
        most[0] += weight_beyond(law, first, scale, -1)
        most[-1] += weight_beyond(law, last, scale, 1)
    if not (np.isfinite(rows).all() and rows.any(axis=1).all()):  # a deviation is all but 0
        return math.inf
    step = (Fraction(last) - Fraction(first)) / CELLS / Fraction(scale)
    largest = float(losses_between(Wide.of(rows), _MOST_AND_LEAST, step, 0.0).max())
    return (largest + 2 * half) * (1 + 2.0**-50)


def least_laplace_noise(p: Continuous, q: Continuous, epsilon: Fraction, rounding: Fraction) -> Fraction:
    """Return the least scale that keeps epsilon, rounded up, at most that of W-infinity; 0 where none is needed."""
    if not rounding and distance_from(p, q, 0.0) <= epsilon:
        return Fraction(0)
    # A number that is read lies within `rounding` of one with the density.
    moved = 2 * float(rounding) * (1 + 2.0**-50)

    def loss(scale: float) -> float:
        return (laplace_loss(p, q, scale) + moved / scale) * (1 + 2.0**-50)

    try:
        most = (Fraction(farthest_move(p, q)) + 2 * rounding) / epsilon
    except Unsupported:  # W-infinity is infinite
        most = None
    if most is None:
        safe = doubled(loss, max(p.deviation, q.deviation, abs(p.mean - q.mean)), epsilon, _DOUBLINGS)
    elif loss(float(most)) > epsilon:  # the cells are too wide to tell
        return most
    else:
        safe = float(most)
    if safe is None:
        raise Unsupported("no Laplace noise is seen to keep so small an epsilon: give a larger one")
    least = Fraction(smallest_safe(loss, safe, epsilon))
    return least if most is None else min(least, most)
