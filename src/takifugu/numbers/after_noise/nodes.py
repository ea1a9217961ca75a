"""A density as point masses at the nodes of Gauss and Legendre, as good as itself once normal noise is added.

Let |p^(j)| <= H sqrt(j!) r^j for every j on a cell of length h, and K be the density of N(0, s^2). With n nodes the
integral of p(x) K(y - x) over the cell is missed by c h^(2n+1) times a mean of its derivative of order 2n in x, where
c = n!^4/((2n + 1) (2n)!^3), and the integral of |K^(k)| is at most sqrt(k!)/s^k. So the missed parts of all y add up to

    c h^(2n+1) H sqrt((2n)!) (r + 1/s)^(2n)

at most (docs/theory/one-answer.md, Theorem 17). The bounds H and r are those of each kind of density.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from takifugu.core.errors import Unsupported
from takifugu.numbers.atoms import Floats
from takifugu.numbers.densities import Continuous
from takifugu.numbers.densities.normal import Normal, NormalMixture
from takifugu.numbers.densities.tabulated import Tabulated
from takifugu.numbers.densities.truncated import Truncated
from takifugu.numbers.densities.uniform_mean import UniformMean
from takifugu.numbers.distributions.pmf import Pmf

#: Nodes of a cell, the largest h (r + 1/s), and how many point masses there are at most.
NODES, STEP, MOST = 12, 2.0, 20_000
_PLACES, _WEIGHTS = np.polynomial.legendre.leggauss(NODES)
#: c sqrt((2n)!) of the bound, and more than the rounding of nodes and weights.
_CONSTANT = math.factorial(NODES) ** 4 / ((2 * NODES + 1) * math.factorial(2 * NODES) ** 2.5)
_OF_WEIGHTS, _OF_PLACES = 2.0**-46, 2.0**-50
#: Cramer's constant over sqrt(2 pi): the derivatives of the normal density are at most that times sqrt(j!).
_CRAMER = 1.0865 / math.sqrt(2 * math.pi)
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
    """Return point masses, and their distance from the law.

    It is in total variation, once noise `sigma` is added. None where they would be more than 20,000. Raises Unsupported
    for a density that is no kind of this package.

    >>> law, distance = point_masses(Tabulated([0, 1, 2], [0, 1, 0]), 0.5)
    >>> len(law.values), distance < 1e-12
    (48, True)
    """
    places, weights = list[Floats](), list[Floats]()
    distance = count = 0.0
    pieces = list(_pieces(law))
    for piece in pieces:
        width, rate = piece.high - piece.low, piece.rate + 1 / sigma
        cells = max(1, math.ceil(width * rate / STEP))
        count += cells * NODES
        if count > MOST:
            return None
        half = width / cells / 2
        middles = piece.low + half * (2 * np.arange(cells) + 1)
        places.append((middles[:, None] + half * _PLACES).ravel())
        weights.append(np.tile(half * _WEIGHTS, cells))
        distance += width * (2 * half * rate) ** (2 * NODES) * _CONSTANT * piece.height
    x = np.concatenate(places)
    least, most = law.bounds(x, x)
    masses = np.concatenate(weights) * (np.maximum(least, 0.0) + most) / 2
    total = math.fsum(masses)
    ends = np.array([-math.inf, pieces[-1].high]), np.array([pieces[0].low, math.inf])
    distance += float((np.concatenate(weights) * (most - np.maximum(least, 0.0))).sum() + law.mass(*ends)[1].sum())
    moved = float(np.abs(x).max() + x[-1] - x[0]) / sigma  # a rounded node is noticed as a shift is
    distance += 2 * abs(total - 1) + _OF_WEIGHTS + _OF_PLACES * moved
    return Pmf(x, masses / total), distance


def _pieces(law: Continuous) -> Iterator[Piece]:
    """Yield the smooth pieces in order; beyond them is next to nothing."""
    match law:
        case Truncated():
            low, high = law.range
            for piece in _pieces(law.whole):
                if max(piece.low, low) < min(piece.high, high):
                    yield Piece(max(piece.low, low), min(piece.high, high), piece.height / law.share[0], piece.rate)
        case Normal():
            yield _of_normals(((1.0, law),))
        case NormalMixture():
            yield _of_normals(law.parts)
        case Tabulated():
            heights = (law.pdf(np.array(law.points)) * (1 + 2.0**-40)).tolist()
            for (low, high), ends in zip(pairwise(law.points), pairwise(heights), strict=True):
                if any(ends):
                    yield Piece(low, high, max(ends), abs(ends[1] - ends[0]) / ((high - low) * max(ends)) + 2.0**-30)
        case UniformMean():  # each derivative is a difference of two densities of one number less, all at most 1
            per_step = law.count / (law.high - law.low)
            knots = [law.low + (law.high - law.low) * k / law.count for k in range(law.count)] + [law.high]
            for low, high in pairwise(knots):
                yield Piece(low, high, per_step, 2 * per_step)
        case _:
            raise Unsupported(f"the smoothness of {law.describe()} is not known")


def _of_normals(parts: tuple[tuple[float, Normal], ...]) -> Piece:
    low = min(part.mean - _REACH * part.deviation for _, part in parts)
    high = max(part.mean + _REACH * part.deviation for _, part in parts)
    height = math.fsum(weight * _CRAMER / part.deviation for weight, part in parts)
    return Piece(low, high, height, max(1 / part.deviation for _, part in parts))
