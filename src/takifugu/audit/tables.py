"""Densities that are straight between points, with noise, in many digits."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from dataclasses import dataclass

from mpmath import mp, mpf

from takifugu.audit.hills import CELLS, Curve, Hill, steps, top_of
from takifugu.core.plain import Plain


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
        """Return the density, log-concave with its top where the line is.

        The line and the noise are log-concave, too.
        """
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
