"""Normal densities that are cut to a range, and densities straight between points, with noise, in many digits."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache

import numpy as np
from mpmath import mp, mpf

from takifugu.audit.hills import (
    CELLS,
    LAPLACE_REACH,
    REACH,
    Curve,
    Hill,
    bells,
    between,
    normal_bell,
    standard,
    steps,
    top_of,
)
from takifugu.core.errors import Unsupported
from takifugu.core.plain import Plain

#: Most cells of a cut density with noise.
_MOST_CELLS = 2000
#: Nodes and weights of Gauss and Legendre: exact for polynomials of degree 23.
_NODES = tuple(np.transpose(np.polynomial.legendre.leggauss(12)).tolist())


def cut(normals: Sequence[tuple[mpf, mpf, mpf]], low: mpf, high: mpf) -> Curve:
    """Return normal densities cut to a range, without noise."""
    total = _inside(normals, low, high)
    whole = bells([(w, m, normal_bell(s)) for w, m, s in normals])

    def within(hill: Hill) -> Hill:
        return Hill(lambda y: hill.at(y) if low <= y <= high else mp.mpf(0), min(max(hill.peak, low), high))

    def mass(left: mpf, right: mpf) -> mpf:
        first, last = max(left, low), min(right, high)
        if first >= last:
            return mp.mpf(0)
        return whole.mass(first, last) / total

    ends = [y for y in whole.ends if low < y < high]
    ends += filter(mp.isfinite, (low, high))
    parts = tuple((w / total, (within(hill),)) for w, (hill,) in whole.parts)
    return Curve(parts, mass, tuple(ends))


def cut_with_noise(normals: Sequence[tuple[mpf, mpf, mpf]], low: mpf, high: mpf, noise: mpf) -> Curve:
    """Return normal densities cut to a range, with normal noise."""
    total = _inside(normals, low, high)
    parts = [(w / total, _noisy_cut(m, s, low, high, noise)) for w, m, s in normals]
    left_end, right_end = _reached(normals, low, high)
    first, last = left_end - REACH * noise, right_end + REACH * noise
    count = max(CELLS, math.ceil((last - first) / (2 * noise)))
    if count > _MOST_CELLS:
        raise Unsupported("the noise is so small beside a density that is cut that the audit would take too long")
    ends = steps(first, last, count)
    noisy = Curve(tuple(parts), lambda left, right: mp.mpf(0), ends)

    def mass(left: mpf, right: mpf) -> mpf:
        left, right = max(left, first), min(right, last)
        if left >= right:
            return mp.mpf(0)
        pieces = max(1, math.ceil((right - left) / (2 * noise)))
        half, terms = (right - left) / (2 * pieces), []
        for piece in range(pieces):
            middle = left + half * (2 * piece + 1)
            for node, weight in _NODES:
                terms.append(half * weight * noisy.at(middle + half * node))
        return mp.fsum(terms)

    return Curve(noisy.parts, mass, ends)


def _inside(normals: Sequence[tuple[mpf, mpf, mpf]], low: mpf, high: mpf) -> mpf:
    """Return the mass of weighted normals inside a range."""
    return mp.fsum(w * normal_bell(s).mass(low - m, high - m) for w, m, s in normals)


def _reached(normals: Sequence[tuple[mpf, mpf, mpf]], low: mpf, high: mpf) -> tuple[mpf, mpf]:
    """Return the ends of nearly all mass of normals inside a range."""
    first, last = mp.inf, mp.ninf
    for _, m, s in normals:
        first, last = min(first, m - REACH * s), max(last, m + REACH * s)
    return max(low, first), min(high, last)


def _noisy_cut(m: mpf, s: mpf, low: mpf, high: mpf, noise: mpf) -> tuple[Hill, Hill]:
    """Return the noisy normal density, and its probability to lie inside."""
    spread = mp.sqrt(s**2 + noise**2)
    width = s * noise / spread

    def chance(y: mpf) -> mpf:
        centre = (m * noise**2 + y * s**2) / spread**2
        return between((low - centre) / width, (high - centre) / width)

    middle = (low + high) / 2  # infinite, as the range is
    normal = Hill(cache(lambda y: standard((y - m) / spread) / spread), m)
    return normal, Hill(cache(chance), (middle * spread**2 - m * noise**2) / s**2)


def cut_with_laplace(normals: Sequence[tuple[mpf, mpf, mpf]], low: mpf, high: mpf, b: mpf) -> Curve:
    """Return normal densities cut to a range, with Laplace noise of scale b."""
    total = _inside(normals, low, high)

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
            mass = mp.mpf(0)
            if y > low:
                mass = between((low - m) / s, (min(y, high) - m) / s)
            masses.append(w * (mass + (behind - before) / 2))
        return mp.fsum(masses) / total

    first, last = _reached(normals, low, high)
    ends = steps(first - LAPLACE_REACH * b, last + LAPLACE_REACH * b, 4 * CELLS)
    parts = tuple((w / total, (hill(m, s),)) for w, m, s in normals)
    return Curve(parts, lambda left, right: below(right) - below(left), ends)


@dataclass(frozen=True, eq=False)
class Repeated:
    """Noise by the repeated integrals of its distribution function, in its `scale`; it is none where that is 0."""

    scale: mpf
    integral: Callable[[mpf, int], mpf]
    reach: mpf


@dataclass(frozen=True, eq=False)
class Line:
    """A density that goes straight from `left` at `low` to `right` at `high`, with noise."""

    low: mpf
    high: mpf
    left: mpf
    right: mpf
    noise: Repeated

    def integral(self, y: mpf, order: int) -> mpf:
        """Return the noisy density of order 0, or the mass below of order 1."""
        s, slope = self.noise.scale, (self.right - self.left) / (self.high - self.low)
        total = mp.mpf(0)
        for end, height, sign in ((self.low, self.left, 1), (self.high, self.right, -1)):
            u = (y - end) / s
            of_step, of_slope = self.noise.integral(u, order), self.noise.integral(u, order + 1)
            total += sign * (height * of_step + slope * s * of_slope) * s**order
        return total

    def hill(self) -> Hill:
        """Return the density, log-concave as the line and the noise are, with its top where the line is."""
        return top_of(lambda y: max(self.integral(y, 0), mp.mpf(0)), self.low, self.high)


def noisy_table(description: Plain, low: mpf, high: mpf, noise: Repeated) -> Curve:
    """Return a table with noise, cut to a range first."""
    points = list(zip(map(mp.mpf, description["points"]), map(mp.mpf, description["heights"]), strict=True))
    lines: list[Line] = []
    for (a, left), (b, right) in itertools.pairwise(points):
        first, last = max(a, low), min(b, high)
        if first < last and (left or right):
            slope = (right - left) / (b - a)
            lines.append(Line(first, last, left + slope * (first - a), left + slope * (last - a), noise))
    total = mp.fsum((line.high - line.low) * (line.left + line.right) / 2 for line in lines)
    start, end = lines[0].low - noise.reach, lines[-1].high + noise.reach

    def mass(left: mpf, right: mpf) -> mpf:
        return mp.fsum(line.integral(right, 1) - line.integral(left, 1) for line in lines) / total

    parts = tuple((1 / total, (line.hill(),)) for line in lines)
    return Curve(parts, mass, steps(start, end, 2 * CELLS))
