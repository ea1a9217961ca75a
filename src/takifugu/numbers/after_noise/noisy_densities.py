"""Normal noise on densities: the least that keeps (epsilon, delta), both ways, by masses at the nodes of Gauss.

With N(0, s^2) added each part of a mixture of normals has the variance d^2 + s^2, so the divergence of the noisy
densities is enclosed as that of any two (`excess`). Its root is rounded by 2^-52 relative, which the bounds of a normal
density allow for many times over. Any other density is taken as point masses within t of it (`nodes`), in total
variation after the noise, and delta is that of the point masses and t_p + e^epsilon t_q more. The divergence falls when
s grows, as more noise is post-processing. Source: docs/theory/one-answer.md#one-answer-17.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise

import numpy as np

from takifugu.core.errors import Unsupported
from takifugu.core.escaping import at_least
from takifugu.numbers.after_noise.hockey_stick import gaussian_hockey_stick
from takifugu.numbers.atoms import Floats
from takifugu.numbers.densities import Continuous
from takifugu.numbers.densities.bates import Bates
from takifugu.numbers.densities.excess import LARGEST, density_hockey_stick
from takifugu.numbers.densities.normal import Normal, NormalMixture
from takifugu.numbers.densities.piecewise_linear import PiecewiseLinear
from takifugu.numbers.densities.truncated import Truncated
from takifugu.numbers.distributions.pmf import Pmf
from takifugu.numbers.search import doubled, smallest_safe

#: Nodes of a cell, the largest h (r + 1/s), and how many point masses there are at most.
NODES, STEP, MOST = 12, 2.0, 20_000
_PLACES, _WEIGHTS = np.polynomial.legendre.leggauss(NODES)
#: c sqrt((2n)!) of the bound, and more than the rounding of nodes and weights.
_CONSTANT = math.factorial(NODES) ** 4 / ((2 * NODES + 1) * math.factorial(2 * NODES) ** 2.5)
_OF_WEIGHTS, _OF_PLACES = 2.0**-46, 2.0**-50
#: Cramer's constant over sqrt(2 pi): the derivatives of the normal density are at most that times sqrt(j!).
CRAMER = 1.0865 / math.sqrt(2 * math.pi)
#: In deviations: beyond it is a mass of 1e-23.
_REACH = 10.0


@dataclass(frozen=True)
class Piece:
    """A cell on which the derivatives have one bound: |p^(j)| <= height sqrt(j!) rate^j."""

    low: float
    high: float
    height: float
    rate: float


def point_masses(law: Continuous, sigma: float) -> tuple[Pmf, float] | None:
    """Return point masses and their total variation from the density after the noise; None above 20,000 of them."""
    pieces = list(_pieces(law))
    nodes = nodes_of(pieces, sigma)
    if nodes is None:
        return None
    x, weights, missed = nodes
    least, most = law.bounds(x, x)
    ends = np.array([-math.inf, pieces[-1].high]), np.array([pieces[0].low, math.inf])
    missed += float((weights * (most - np.maximum(least, 0.0))).sum() + law.mass(*ends)[1].sum())
    return of_nodes(x, weights * (np.maximum(least, 0.0) + most) / 2, sigma, missed)


def nodes_of(pieces: Sequence[Piece], sigma: float, step: float = STEP) -> tuple[Floats, Floats, float] | None:
    """Return the pieces' nodes in order, their weights, and the mass that a sum misses; None above 20,000 nodes."""
    places, weights = list[Floats](), list[Floats]()
    missed = count = 0.0
    for piece in pieces:
        width, rate = piece.high - piece.low, piece.rate + 1 / sigma
        # At most `step` wide, in units of the smoothness.
        cells = max(1, math.ceil(width * rate / step))
        count += cells * NODES
        if count > MOST:
            return None
        half = width / cells / 2
        middles = piece.low + half * (2 * np.arange(cells) + 1)
        places.append((middles[:, None] + half * _PLACES).ravel())
        weights.append(np.tile(half * _WEIGHTS, cells))
        missed += width * (2 * half * rate) ** (2 * NODES) * _CONSTANT * piece.height
    return np.concatenate(places), np.concatenate(weights), missed


def of_nodes(x: Floats, masses: Floats, sigma: float, missed: float) -> tuple[Pmf, float]:
    """Return masses of sum nearly 1 at nodes as a law, and its distance from what they miss so much of."""
    total = math.fsum(masses)
    moved = float(np.abs(x).max() + x[-1] - x[0]) / sigma  # a rounded node is noticed as a shift is
    distance = missed + 2 * abs(total - 1) + _OF_WEIGHTS + _OF_PLACES * moved
    return Pmf(x, masses / total), distance


def _pieces(law: Continuous) -> Iterator[Piece]:
    """Yield the smooth pieces in order; beyond them is next to nothing."""
    match law:
        case Truncated():
            low, high = law.range
            for piece in _pieces(law.whole):
                if max(piece.low, low) < min(piece.high, high):
                    yield Piece(max(piece.low, low), min(piece.high, high), piece.height / law.share[0], piece.rate)
        case Normal() | NormalMixture():
            low = min(part.mean - _REACH * part.deviation for _, part in law.parts)
            high = max(part.mean + _REACH * part.deviation for _, part in law.parts)
            height = math.fsum(weight * CRAMER / part.deviation for weight, part in law.parts)
            yield Piece(low, high, height, max(1 / part.deviation for _, part in law.parts))
        case PiecewiseLinear():
            heights = (law.pdf(np.array(law.points)) * (1 + 2.0**-40)).tolist()
            for (low, high), ends in zip(pairwise(law.points), pairwise(heights), strict=True):
                if any(ends):
                    yield Piece(low, high, max(ends), abs(ends[1] - ends[0]) / ((high - low) * max(ends)) + 2.0**-30)
        case Bates():  # each derivative is a difference of two densities of one number less, all at most 1
            per_step = law.count / (law.high - law.low)
            knots = [law.low + (law.high - law.low) * k / law.count for k in range(law.count)] + [law.high]
            for low, high in pairwise(knots):
                yield Piece(low, high, per_step, 2 * per_step)
        case _:
            raise Unsupported(f"the smoothness of {law.describe()} is not known")


#: Doublings of the noise before the search gives up.
_DOUBLINGS = 200


def _with_normal_noise(law: Continuous, sigma: float) -> Normal | NormalMixture | None:
    """Return the density with normal noise; None unless it is normal or a mixture."""
    if isinstance(law, Normal):
        return Normal(law.mean, math.hypot(law.deviation, sigma))
    if isinstance(law, NormalMixture):
        deviations = [math.hypot(deviation, sigma) for deviation in law.deviations]
        return NormalMixture(law.weights, law.means, deviations)
    return None


def noisy_delta(p: Continuous, q: Continuous, sigma: float, epsilon: float) -> float:
    """Bound both divergences of the noisy densities from above; 1 where the noise is too small beside them."""
    budget = min(epsilon, LARGEST)
    if not sigma:
        return max(density_hockey_stick(p, q, budget), density_hockey_stick(q, p, budget))
    first, second = _with_normal_noise(p, sigma), _with_normal_noise(q, sigma)
    if first is not None and second is not None:
        return max(density_hockey_stick(first, second, budget), density_hockey_stick(second, first, budget))
    left, right = point_masses(p, sigma), point_masses(q, sigma)
    if left is None or right is None:
        return 1.0
    return max(masses_delta(left, right, sigma, budget), masses_delta(right, left, sigma, budget))


def masses_delta(p: tuple[Pmf, float], q: tuple[Pmf, float], sigma: float, epsilon: float | Fraction) -> float:
    """Return the divergence of point masses after the noise, and what they may be off."""
    missed = p[1] + math.exp(epsilon) * q[1]
    return (gaussian_hockey_stick(p[0], q[0], sigma, epsilon)[1] + missed) * (1 + 2.0**-50)


def least_normal_noise(p: Continuous, q: Continuous, epsilon: Fraction, delta: Fraction) -> float:
    """Return the least deviation that keeps (epsilon, delta), rounded up; 0 where none is needed."""
    budget = float(epsilon) * (1 - 2.0**-52)  # a float below it

    def excess(sigma: float) -> float:
        return noisy_delta(p, q, sigma, budget)

    if excess(0.0) <= delta:
        return 0.0
    safe = doubled(excess, max(p.deviation, q.deviation, abs(p.mean - q.mean)), delta, _DOUBLINGS)
    if safe is None:
        raise Unsupported(f"no normal noise is seen to keep a delta of {at_least(delta)}: give a larger one")
    return smallest_safe(excess, safe, delta)
