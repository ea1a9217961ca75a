"""Normal densities that are cut to a range, with noise, in many digits."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from functools import cache

import numpy as np
from mpmath import mp, mpf

from takifugu.audit.hills import CELLS, LAPLACE_REACH, REACH, Curve, Hill, bells, between, normal_bell, standard, top_of
from takifugu.core.errors import Unsupported

#: Most cells of a cut density with noise.
_MOST_CELLS = 2000
#: Nodes and weights of Gauss and Legendre: exact for polynomials of degree 23.
_NODES = tuple(zip(*(column.tolist() for column in np.polynomial.legendre.leggauss(12)), strict=True))


def cut(normals: Sequence[tuple[mpf, mpf, mpf]], low: mpf, high: mpf) -> Curve:
    """Return normal densities cut to a range, without noise."""
    total = mp.fsum(w * normal_bell(s).mass(low - m, high - m) for w, m, s in normals)
    whole = bells([(w, m, normal_bell(s)) for w, m, s in normals])

    def within(hill: Hill) -> Hill:
        return Hill(lambda y: hill.at(y) if low <= y <= high else mp.mpf(0), min(max(hill.peak, low), high))

    def mass(left: mpf, right: mpf) -> mpf:
        first, last = max(left, low), min(right, high)
        return whole.mass(first, last) / total if first < last else mp.mpf(0)

    ends = [*(y for y in whole.ends if low < y < high), *filter(mp.isfinite, (low, high))]
    parts = tuple((w / total, (within(hill),)) for w, (hill,) in whole.parts)
    return Curve(parts, mass, tuple(ends))


def cut_with_noise(normals: Sequence[tuple[mpf, mpf, mpf]], low: mpf, high: mpf, noise: mpf) -> Curve:
    """Return normal densities cut to a range, with normal noise."""
    total = mp.fsum(w * normal_bell(s).mass(low - m, high - m) for w, m, s in normals)
    parts = [(w / total, _noisy_cut(m, s, low, high, noise)) for w, m, s in normals]
    first = max(low, min(m - REACH * s for _, m, s in normals)) - REACH * noise
    last = min(high, max(m + REACH * s for _, m, s in normals)) + REACH * noise
    count = max(CELLS, math.ceil((last - first) / (2 * noise)))
    if count > _MOST_CELLS:
        raise Unsupported("the noise is so small beside a density that is cut that the audit would take too long")
    ends = tuple(first + (last - first) * k / count for k in range(count + 1))
    noisy = Curve(tuple(parts), lambda left, right: mp.mpf(0), ends)

    def mass(left: mpf, right: mpf) -> mpf:
        left, right = max(left, first), min(right, last)
        pieces = max(1, math.ceil((right - left) / (2 * noise))) if left < right else 0
        half = (right - left) / (2 * (pieces or 1))
        middles = [left + half * (2 * k + 1) for k in range(pieces)]
        nodes = itertools.product(middles, _NODES)
        return mp.fsum(half * w * noisy.at(middle + half * node) for middle, (node, w) in nodes)

    return Curve(noisy.parts, mass, ends)


def _noisy_cut(m: mpf, s: mpf, low: mpf, high: mpf, noise: mpf) -> tuple[Hill, Hill]:
    """Return the noisy normal density, and its probability to lie inside."""
    spread = mp.sqrt(s**2 + noise**2)
    width = s * noise / spread

    def chance(y: mpf) -> mpf:
        centre = (m * noise**2 + y * s**2) / spread**2
        return between((low - centre) / width, (high - centre) / width)

    middle = (low + high) / 2  # infinite, as the range is
    return Hill(cache(lambda y: standard((y - m) / spread) / spread), m), Hill(
        cache(chance), (middle * spread**2 - m * noise**2) / s**2
    )


def cut_with_laplace(normals: Sequence[tuple[mpf, mpf, mpf]], low: mpf, high: mpf, b: mpf) -> Curve:
    """Return normal densities cut to a range, with Laplace noise of scale b."""
    total = mp.fsum(w * normal_bell(s).mass(low - m, high - m) for w, m, s in normals)

    def sides(m: mpf, s: mpf, y: mpf) -> tuple[mpf, mpf]:
        """Return the weighted masses before and behind y."""
        place, tilt = min(max(y, low), high), s / b
        before = between((low - m) / s - tilt, (place - m) / s - tilt)
        behind = between((place - m) / s + tilt, (high - m) / s + tilt)
        return mp.exp(tilt**2 / 2 - (y - m) / b) * before, mp.exp(tilt**2 / 2 + (y - m) / b) * behind

    def hill(m: mpf, s: mpf) -> Hill:
        return top_of(lambda y: mp.fsum(sides(m, s, y)) / (2 * b), max(low, m - REACH * s), min(high, m + REACH * s))

    def below(y: mpf) -> mpf:
        masses: list[mpf] = []
        for w, m, s in normals:
            before, behind = sides(m, s, y)
            inside = between((low - m) / s, (min(y, high) - m) / s) if y > low else mp.mpf(0)
            masses.append(w * (inside + (behind - before) / 2))
        return mp.fsum(masses) / total

    first = max(low, min(m - REACH * s for _, m, s in normals)) - LAPLACE_REACH * b
    last = min(high, max(m + REACH * s for _, m, s in normals)) + LAPLACE_REACH * b
    ends = tuple(first + (last - first) * k / (4 * CELLS) for k in range(4 * CELLS + 1))
    parts = tuple((w / total, (hill(m, s),)) for w, m, s in normals)
    return Curve(parts, lambda left, right: below(right) - below(left), ends)
