"""Laplace noise on densities: the least whose log-ratio stays within epsilon everywhere.

The line is cut into cells, each taken as a mass at its middle, and tails by a mean of exponentials: the largest ratio
is that at a middle (docs/theory/one-answer.md#one-answer-18). Two normal distributions of different deviations have no
finite W-infinity, but a finite loss after Laplace noise.
"""

from __future__ import annotations

import math
from fractions import Fraction
from functools import lru_cache

import numpy as np

from takifugu.core.errors import Unsupported
from takifugu.numbers.atoms import Floats
from takifugu.numbers.densities import Continuous
from takifugu.numbers.densities.excess import distance_from
from takifugu.numbers.densities.moves import farthest_move
from takifugu.numbers.densities.normal import Normal, NormalMixture
from takifugu.numbers.densities.truncated import Truncated
from takifugu.numbers.search import smallest_safe

#: Cells of the line, and more than the rounding of a sum over them.
CELLS, _ROUNDING = 2**18, 2.0**-40
#: Below this a sum may have lost digits.
_UNDERFLOW = 1e-280
#: How many deviations beyond the middle of a normal tail weighted by e^(x/b) the cells end.
_BEYOND = 8.0
#: How closely the least scale is sought; the cells leave more open.
_TOLERANCE = 2.0**-24
#: Doublings of the noise before the search gives up.
_DOUBLINGS = 60


def laplace_loss(p: Continuous, q: Continuous, scale: float) -> float:
    """Bound the largest log-ratio of two noisy densities, either way, from above.

    It is infinite where the scale is too small beside the densities. Raises Unsupported as `least_laplace_noise`.

    >>> round(laplace_loss(Normal(0, 1), Normal(1, 1), 2.0), 3)
    0.5
    """
    (p_low, p_high), (q_low, q_high) = ends_of(p, scale), ends_of(q, scale)
    first, last = min(p_low, q_low), max(p_high, q_high)
    half = ((last - first) / CELLS / 2 + 2.0**-50 * max(abs(first), abs(last))) / scale
    if half > 1:
        return math.inf
    (p_least, p_most), (q_least, q_most) = _noisy(p, first, last, scale), _noisy(q, first, last, scale)
    if min(p_least.min(), q_least.min()) < _UNDERFLOW:
        return math.inf
    largest = float(np.maximum(p_most / q_least, q_most / p_least).max())
    if not math.isfinite(largest):  # not a number where a deviation is all but 0
        return math.inf
    return (math.log(largest) + 2 * half + _ROUNDING) * (1 + 2.0**-50)


def least_laplace_noise(p: Continuous, q: Continuous, epsilon: Fraction, rounding: Fraction) -> Fraction:
    """Return the least scale that keeps epsilon, rounded up.

    It is never above that of W-infinity, and 0 where none is needed. What is read lies within `rounding` of a number
    with one of the densities. Raises Unsupported where no noise is seen to serve.

    >>> round(float(least_laplace_noise(Normal(0, 1), Normal(1, 2), Fraction(1), Fraction(0))), 3)
    1.823
    """
    if not rounding and distance_from(p, q, 0.0) <= epsilon:
        return Fraction(0)
    moved = 2 * float(rounding) * (1 + 2.0**-50)

    def judge(scale: float) -> tuple[float, bool]:
        loss = (laplace_loss(p, q, scale) + moved / scale) * (1 + 2.0**-50)
        return loss, loss <= epsilon

    try:
        most = (Fraction(farthest_move(p, q)) + 2 * rounding) / epsilon
    except Unsupported:  # W-infinity is infinite
        most = None
    safe = max(p.deviation, q.deviation, abs(p.mean - q.mean)) if most is None else float(most)
    for _ in range(_DOUBLINGS):
        if judge(safe)[1]:
            least = Fraction(smallest_safe(judge, safe, float(epsilon), _TOLERANCE))
            return least if most is None else min(least, most)
        if most is not None:
            return most
        safe *= 2
    raise Unsupported("no Laplace noise is seen to keep so small an epsilon: give a larger one")


def _noisy(law: Continuous, first: float, last: float, scale: float) -> tuple[Floats, Floats]:
    """Bound 2b times the noisy density at the middles.

    The width of a cell is left out.
    """
    step = (last - first) / CELLS / scale
    least, most = _masses(law, first, last)  # type: ignore[arg-type]  # every kind is frozen
    tails = np.zeros(CELLS)
    tails[0], tails[-1] = _beyond(law, first, scale, -1), _beyond(law, last, scale, 1)
    return _spread(least, step), _spread(most + tails, step)


@lru_cache(maxsize=4)
def _masses(law: Continuous, first: float, last: float) -> tuple[Floats, Floats]:
    """Bound the masses of the cells."""
    cuts = np.linspace(first, last, CELLS + 1)
    least, most = law.mass(cuts[:-1], cuts[1:])
    low, high = law.range
    return least, np.where((cuts[1:] < low) | (cuts[:-1] > high), 0.0, most)


def _spread(masses: Floats, step: float) -> Floats:
    """Return the sum of m_j e^(-step |i - j|) over j, by i."""
    rising, falling = masses.copy(), masses.copy()
    reach = 1
    while reach < CELLS:  # of so many neighbours to one side, then of twice as many
        share = math.exp(-step * reach)
        rising[reach:], falling[:-reach] = (
            rising[reach:] + share * rising[:-reach], falling[:-reach] + share * falling[reach:],
        )  # fmt: skip
        reach *= 2
    return rising + falling - masses


def ends_of(law: Continuous, scale: float = math.inf) -> tuple[float, float]:
    """Return ends beyond which next to nothing counts, with Laplace noise, or nothing is."""
    low, high = law.range
    tails = [(part, _BEYOND * part.deviation + part.deviation * (part.deviation / scale)) for _, part in _normals(law)]
    if math.isinf(low):
        low = min(part.mean - reach for part, reach in tails)
    if math.isinf(high):
        high = max(part.mean + reach for part, reach in tails)
    return low, high


def _beyond(law: Continuous, end: float, scale: float, sign: int) -> float:
    """Bound E[e^(|X - end|/scale)] over what lies beyond, to one side."""
    from scipy.special import erfcx

    if math.isfinite(law.range[0 if sign < 0 else 1]):
        return 0.0
    total = 0.0
    for weight, part in _normals(law):
        u = sign * (end - part.mean) / part.deviation
        total += weight * math.exp(-u * u / 2) * float(erfcx((u - part.deviation / scale) / math.sqrt(2))) / 2
    return total * (1 + 2.0**-40)


def _normals(law: Continuous) -> list[tuple[float, Normal]]:
    """Return the normals of an infinite range, each with at least its weight."""
    match law:
        case Normal():
            return [(1.0, law)]
        case NormalMixture():
            return list(law.parts)
        case Truncated():
            return [(weight / law.share[0], part) for weight, part in _normals(law.whole)]
        case _:
            return []
