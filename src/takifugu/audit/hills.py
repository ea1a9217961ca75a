"""Densities in many digits as sums of hills: what rises up to one peak and falls behind it.

The least and the largest value of a hill on a cell are those at the ends and the peak.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache

from mpmath import mp, mpf

#: A function of a place, or of two.
Function = Callable[[mpf], mpf]


@dataclass(frozen=True)
class Hill:
    """A function with one peak, rising before it and falling behind."""

    at: Function
    peak: mpf

    def bounds(self, low: mpf, high: mpf) -> tuple[mpf, mpf]:
        """Return its least and its largest value from `low` to `high`."""
        ends = self.at(low), self.at(high)
        if low < self.peak < high:
            return min(ends), self.at(self.peak)
        return min(ends), max(ends)


@dataclass(frozen=True)
class Curve:
    """A density: a sum of weighted products of hills, with the mass between two places."""

    parts: tuple[tuple[mpf, tuple[Hill, ...]], ...]
    mass: Callable[[mpf, mpf], mpf]
    #: The ends of its cells: all but 1e-18 of the mass lies between the first and the last.
    ends: tuple[mpf, ...]
    #: Equal of two log-concave densities where one is the other, moved from one `centre` to another.
    shape: object = None
    centre: mpf | None = None

    def at(self, y: mpf) -> mpf:
        terms = []
        for weight, hills in self.parts:
            terms.append(weight * mp.fprod(hill.at(y) for hill in hills))
        return mp.fsum(terms)

    def bounds(self, low: mpf, high: mpf) -> tuple[mpf, mpf]:
        """Bound the density from `low` to `high`."""
        least, most = mp.mpf(0), mp.mpf(0)
        for weight, hills in self.parts:
            lowers, uppers = zip(*(hill.bounds(low, high) for hill in hills), strict=True)
            least += weight * mp.fprod(lowers)
            most += weight * mp.fprod(uppers)
        return least, most


#: Deviations of a normal distribution beyond which it has a mass of 1e-19; cells on each side of a peak.
REACH, CELLS = 9, 12
#: Scales of a Laplace distribution beyond which it has a mass of 1e-19.
LAPLACE_REACH = 42


@dataclass(frozen=True, eq=False)
class Bell:
    """A density symmetric about 0 and falling on both sides."""

    height: Function
    tail: Function
    reach: mpf
    #: Bells of equal shape are equal, and log-concave.
    shape: tuple[object, ...]

    def mass(self, low: mpf, high: mpf) -> mpf:
        """Return its mass between two places, from the smaller tails."""
        if low >= 0:
            return self.tail(low) - self.tail(high)
        if high <= 0:
            return self.mass(-high, -low)
        return 1 - self.tail(-low) - self.tail(high)


def normal_bell(s: mpf) -> Bell:
    return Bell(lambda d: standard(d / s) / s, cache(lambda d: beyond(d / s)), REACH * s, ("normal", s))


def laplace_bell(s: mpf, b: mpf) -> Bell:
    """Return the bell of a normal of deviation s plus a Laplace number of scale b."""
    # Height (A + B)/(2 b), A = e^{s^2/(2 b^2) - d/b} Phi(d/s - s/b), B with -d for d; tail 1 - Phi(d/s) + (A - B)/2.

    def side(d: mpf) -> mpf:
        if not s:
            return mp.exp(-d / b) * (mp.mpf(d > 0) + mp.mpf(d == 0) / 2)
        return mp.exp(s**2 / (2 * b**2) - d / b) * beyond(s / b - d / s)

    def tail(d: mpf) -> mpf:
        normal_tail = beyond(d / s) if s else mp.mpf(d == 0) / 2
        return normal_tail + (side(d) - side(-d)) / 2

    reach = REACH * s + LAPLACE_REACH * b
    return Bell(lambda d: (side(d) + side(-d)) / (2 * b), cache(tail), reach, ("laplace", s, b))


def bells(bells: Sequence[tuple[mpf, mpf, Bell]]) -> Curve:
    """Return the sum of weighted bells, each about a centre."""
    parts = [(w, (Hill(moved(bell.height, centre), centre),)) for w, centre, bell in bells]

    def mass(low: mpf, high: mpf) -> mpf:
        return mp.fsum(w * bell.mass(low - centre, high - centre) for w, centre, bell in bells)

    ends: list[mpf] = []
    for _, centre, bell in bells:
        ends += [centre + bell.reach * k / CELLS for k in range(-CELLS, CELLS + 1)]
    if len(bells) > 1:
        return Curve(tuple(parts), mass, tuple(ends))
    ((_, centre, bell),) = bells
    return Curve(tuple(parts), mass, tuple(ends), bell.shape, centre)


def moved(height: Function, centre: mpf) -> Function:
    return cache(lambda y: height(abs(y - centre)))


def steps(first: mpf, last: mpf, count: int) -> tuple[mpf, ...]:
    """Divide a stretch into `count` equal cells; return their ends."""
    return tuple(first + (last - first) * k / count for k in range(count + 1))


def top_of(at: Function, low: mpf, high: mpf) -> Hill:
    """Return a hill whose peak lies between two places, sought by thirds."""
    at = cache(at)
    first, last = low, high
    for _ in range(2 * mp.dps):  # a top is flat: half the digits of its place are all digits of its height
        left, right = first + (last - first) / 3, last - (last - first) / 3
        if at(left) < at(right):
            first = left
        else:
            last = right
    return Hill(at, (first + last) / 2)


def standard(z: mpf) -> mpf:
    """Return the standard normal density."""
    return mp.exp(-z * z / 2) / mp.sqrt(2 * mp.pi)


def beyond(z: mpf) -> mpf:
    """Return P(Z > z)."""
    return mp.erfc(z / mp.sqrt(2)) / 2


def between(left: mpf, right: mpf) -> mpf:
    """Return P(left < Z < right), from the smaller tails."""
    if left > 0:
        left, right = -right, -left
    return beyond(-right) - beyond(-left)
