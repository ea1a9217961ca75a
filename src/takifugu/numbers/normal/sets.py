"""A number observed with normal noise, given that it lies in one set or in another: the exact delta(epsilon).

Let g be standard normal and Y = g + k W, W standard normal and independent: an answer, in units of the part of its
deviation that g explains; k^2 is what is not explained, the noise included, next to what is. For a set U of values of
g the density of Y given g in U is phi(y) Q_U(y) / P(U) at y = Y / sqrt(1 + k^2), where Q_U(y) = P(g in U | Y) is a sum
of differences of Phi at (end - rho y) / c, rho = 1/sqrt(1 + k^2), c = k rho. More noise is post-processing, so delta
falls in k.

H = Q_U/P(U) - e^epsilon Q_V/P(V) decides where U is likelier than e^epsilon times V:
  * two disjoint intervals: the normal density is totally positive of order two (Karlin 1968, chapter 1), so Q_U/Q_V is
    monotone in y, H changes sign once, and the place is found by halving;
  * several intervals: cells are cut until on each the sign of H is certain (a difference of two Phi has one maximum, so
    its range on a cell is known), or what is doubtful weighs nothing. Doubtful cells are charged in full.
phi H is then integrated where it is positive, by Gauss and Legendre's rule with 24 points on segments of length at
most c. The integrand is entire. On the ellipse around a segment whose half-axes add up to 4 half-lengths imaginary
parts stay below .94 c, where |phi| and each |Q| grow by at most e^.45, so |phi H| <= 1/P(U) + e^epsilon/P(V): the
rule's error is below 2**-90 of that for each unit of length (Trefethen 2013, Theorem 19.3), and is charged.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import Any

import numpy as np

from takifugu.core.errors import Unsupported
from takifugu.core.escaping import at_least
from takifugu.numbers.after_noise.gaussian_pair import normal_between
from takifugu.numbers.after_noise.laplace_pair import UNIT
from takifugu.numbers.atoms import Floats
from takifugu.numbers.search import SCALE_TOLERANCE, halved, mean, smallest_safe

#: The open ends of a set's intervals, in increasing order, infinite where there is no end.
Intervals = tuple[tuple[float, float], ...]

#: Beyond this many deviations a normal law has no mass above 1e-320.
_REACH = 38.5
_BEYOND = 40.0
_POINTS = 24
#: Next to the size of H: what the rule of integration may miss.
_RULE = 2.0**-90
#: Where almost all of the answer's variance is explained, more noise is taken than is needed: Y is next to g itself.
LEAST_NOISE = 2.0**-7
#: Beyond it the two laws are next to equal for every set that floats can tell from nothing.
_MOST_NOISE = 2.0**40
_MOST_CELLS, _NARROW, _TARGET = 20_000, 2.0**-34, 2.0**-40
#: Sets of less mass than this are not told from nothing.
_LEAST_MASS = 1e-200


@dataclass(frozen=True)
class Given:
    """An answer's law at standardised places y, given g in a set."""

    intervals: Intervals
    rho: float
    c: float

    def mass(self) -> tuple[float, float]:
        """Return P(U) and a bound on its relative error."""
        values, errors = [], []
        for low, high in self.intervals:
            value, error = _between(np.array([low]), np.array([high]))
            values.append(float(value[0]))
            errors.append(float(error[0]))
        total = math.fsum(values)
        return total, math.fsum(errors) / total if total else math.inf

    def share(self, y: Floats) -> tuple[Floats, Floats]:
        """Return Q_U(y) and a bound on its error."""
        total, error = np.zeros_like(y), np.zeros_like(y)
        for low, high in self.intervals:
            ends = max(abs(end) for end in (low, high) if math.isfinite(end))
            place = 4 * UNIT * (ends + np.abs(y)) / self.c
            value, blur = _between((low - self.rho * y) / self.c, (high - self.rho * y) / self.c, place)
            total, error = total + value, error + blur
        return total, error

    def range(self, left: Floats, right: Floats) -> tuple[Floats, Floats]:
        """Bound Q_U on cells: each interval's share has one maximum."""
        low, high = np.zeros_like(left), np.zeros_like(left)
        for interval in self.intervals:
            alone = Given((interval,), self.rho, self.c)
            (at_left, blur_left), (at_right, blur_right) = alone.share(left), alone.share(right)
            low += np.minimum(at_left - blur_left, at_right - blur_right)
            middle = sum(interval) / 2 / self.rho  # infinite for half-lines, which are monotone
            top, blur = alone.share(np.clip(middle, left, right))
            high += np.maximum(np.maximum(at_left + blur_left, at_right + blur_right), top + blur)
        return np.maximum(low, 0.0), high


def sets_delta(left: Intervals, right: Intervals, noise: float, epsilon: float) -> float:
    """Bound delta(epsilon) of Y given g in `left` against `right`, from above.

    `noise` is k. The bound is within about 1e-10 of delta where it is above 1e-15; below 2**-7 of noise it is that of
    2**-7 or 1. Raises Unsupported for a set without mass.

    >>> below, above = ((-math.inf, 0.0),), ((0.0, math.inf),)
    >>> round(sets_delta(below, above, math.sqrt(1 / 0.49 - 1), 1.0), 5)  # correlation .7
    0.26087
    """
    if noise < LEAST_NOISE:
        return 1.0
    rho, c = 1 / math.hypot(1, noise), noise / math.hypot(1, noise)
    ratio = _Ratio(Given(left, rho, c), Given(right, rho, c), epsilon)
    starts, ends, charge = ratio.positive()
    return min(1.0, ratio.integral(starts, ends) + charge)


def least_noise(left: Intervals, right: Intervals, epsilon: float, delta: float) -> float:
    """Return the least k for delta in both directions, rounded up.

    Rounding adds at most 2**-36 relative. k is never below 2**-7, even where less would do. Raises Unsupported for a
    set without mass, and where a set is so unlikely that delta cannot be judged.

    >>> below, above = ((-math.inf, 0.0),), ((0.0, math.inf),)
    >>> round(least_noise(below, above, 1.0, 0.2608737734), 4), round(math.sqrt(1 / 0.49 - 1), 4)
    (1.0202, 1.0202)
    """

    def judge(noise: float) -> tuple[float, bool]:
        excess = max(sets_delta(left, right, noise, epsilon), sets_delta(right, left, noise, epsilon))
        return excess, excess <= delta

    if judge(LEAST_NOISE)[1]:
        return LEAST_NOISE
    start = 1.0
    while not judge(start)[1]:
        start *= 2
        if start > _MOST_NOISE:
            raise Unsupported(
                f"delta {at_least(delta)} is too small to be judged for sets as unlikely as these",
                fix="give a larger delta",
            )
    return smallest_safe(judge, start, delta, SCALE_TOLERANCE)


class _Ratio:
    """H = Q_U/P(U) - e^epsilon Q_V/P(V), with bounds on its error."""

    def __init__(self, left: Given, right: Given, epsilon: float) -> None:
        (p, p_error), (q, q_error) = left.mass(), right.mass()
        if min(p, q) < _LEAST_MASS:
            raise Unsupported(
                f"the belief gives one of the sets a probability below {_LEAST_MASS:g}",
                fix="compare sets that can occur",
            )
        self.left, self.right = left, right
        self.p, self.q, self.error = p, q / math.exp(epsilon), p_error + q_error + 16 * UNIT * (1 + epsilon)
        self.scale = 1 / self.p + 1 / self.q

    def at(self, y: Floats) -> tuple[Floats, Floats]:
        """Return H(y) and a bound on its error."""
        (a, a_error), (b, b_error) = self.left.share(y), self.right.share(y)
        left, right = a / self.p, b / self.q
        return left - right, a_error / self.p + b_error / self.q + self.error * (left + right)

    def positive(self) -> tuple[Floats, Floats, float]:
        """Return intervals of positive H, and a bound on the rest."""
        if len(self.left.intervals) == 1 == len(self.right.intervals):
            return self._one_side()
        edges = np.linspace(-_REACH, _REACH, 257)
        left, right = edges[:-1], edges[1:]
        starts, ends = list[Floats](), list[Floats]()
        charge, certain = 2e-320 * self.scale, 0.0
        while left.size:
            top, floor = self._above(left, right), self._below(left, right)
            weight = (right - left) * _density(left, right)
            positive, doubtful = floor > 0, (top > 0) & (floor <= 0)
            starts.append(left[positive])
            ends.append(right[positive])
            certain += float((weight * np.maximum(floor, 0.0))[positive].sum())
            count = int(np.count_nonzero(doubtful))
            done = (weight * top <= _TARGET * certain / max(count, 1)) | (right - left < _NARROW)
            done |= weight * top < 1e-290
            if count > _MOST_CELLS:
                done[:] = True
            charge += float((weight * top)[doubtful & done].sum())
            split = doubtful & ~done
            middle = (left[split] + right[split]) / 2
            left, right = np.concatenate((left[split], middle)), np.concatenate((middle, right[split]))
        begin, finish = np.sort(np.concatenate(starts)), np.sort(np.concatenate(ends))
        return begin[~np.isin(begin, finish)], finish[~np.isin(finish, begin)], charge * (1 + 2.0**-40)

    def _one_side(self) -> tuple[Floats, Floats, float]:
        way = 1.0 if self.left.intervals[0][0] < self.right.intervals[0][0] else -1.0

        def signs(t: Floats) -> Floats:
            """Return the sign of H at y = way * t."""
            value, error = self.at(way * t)
            return np.where(np.abs(value) > error, np.sign(value), 0.0)

        places = np.linspace(-_REACH, _REACH, 309)
        sides = signs(places)
        low, high = places[sides > 0].max(initial=-_REACH), places[sides < 0].min(initial=_REACH)
        if (sides > 0).any():
            inner = _halved(lambda t: bool(signs(np.array([t]))[0] > 0), low, high)
        else:
            inner = -_REACH
        outer = _halved(lambda t: bool(signs(np.array([t]))[0] >= 0), inner, high)
        doubtful = np.array([inner]), np.array([min(_REACH, outer + _STEP)])
        left, right = doubtful if way > 0 else (-doubtful[1], -doubtful[0])
        charge = float(((right - left) * _density(left, right) * self._above(left, right))[0]) + 2e-320 * self.scale
        if inner <= -_REACH:
            return np.zeros(0), np.zeros(0), charge
        ends = (-_REACH, inner) if way > 0 else (-inner, _REACH)
        return np.array([ends[0]]), np.array([ends[1]]), charge

    def _above(self, left: Floats, right: Floats) -> Floats:
        """Return upper bounds of the positive part of H on cells."""
        (_, most), (least, _) = self.left.range(left, right), self.right.range(left, right)
        return np.maximum(most / self.p * (1 + self.error) - least / self.q * (1 - self.error), 0.0)

    def _below(self, left: Floats, right: Floats) -> Floats:
        (least, _), (_, most) = self.left.range(left, right), self.right.range(left, right)
        return least / self.p * (1 - self.error) - most / self.q * (1 + self.error)

    def integral(self, starts: Floats, ends: Floats) -> float:
        """Bound the integral of phi H over intervals of positive H."""
        nodes, weights = _rule()
        total = 0.0
        for start, end in zip(starts.tolist(), ends.tolist(), strict=True):
            cuts = np.linspace(start, end, 1 + max(1, math.ceil((end - start) / self.left.c)))
            half = np.diff(cuts) / 2
            y = ((cuts[:-1] + cuts[1:]) / 2)[:, None] + half[:, None] * nodes
            value, error = self.at(y.ravel())
            density = np.exp(-(y.ravel() ** 2) / 2) / math.sqrt(2 * math.pi)
            measure = (half[:, None] * weights).ravel() * density * (1 + 2.0**-44)
            total += float((measure * np.maximum(value + error, 0.0)).sum())
            total += _RULE * self.scale * (end - start)
        return total * (1 + 2.0**-44)


#: How narrowly a change of sign is found.
_STEP = 2.0**-44
#: No normal density exceeds it.
_DENSEST = 0.39894229


def _density(left: Floats, right: Floats) -> Floats:
    """Return the largest standard normal density on each cell."""
    nearest = np.where((left < 0) & (right > 0), 0.0, np.minimum(np.abs(left), np.abs(right)))
    return _DENSEST * np.exp(-(nearest**2) / 2) * (1 + 2.0**-40)


def _halved(holds: Callable[[float], bool], low: float, high: float) -> float:
    """Return a place at most _STEP before the end of a condition."""
    return halved(holds, low, high, lambda good, bad: bad - good <= _STEP, mean)


def _between(low: Floats, high: Floats, place: Floats | float = 4 * UNIT) -> tuple[Floats, Floats]:
    """Return Phi(high) - Phi(low), and a bound on its error."""
    low, high = np.clip(low, -_BEYOND, _BEYOND), np.clip(high, -_BEYOND, _BEYOND)
    place = place + 8 * UNIT * (1 + np.minimum(np.abs(low), np.abs(high)))
    between, error = normal_between(low, high, place)
    return between, error + 4 * UNIT * between


@lru_cache(maxsize=1)
def _rule() -> tuple[Floats, Floats]:
    nodes, weights = np.polynomial.legendre.leggauss(_POINTS)
    return nodes, weights


def standardised(
    intervals: Sequence[tuple[Fraction | float | None, Fraction | float | None]], mean: Any, deviation: float
) -> Intervals:
    """Return intervals of g in deviations from its mean.

    >>> standardised([(None, 5.0)], 3.0, 2.0)
    ((-inf, 1.0),)
    """
    moved = []
    for low, high in intervals:
        least = -math.inf if low is None else float(low - mean) / deviation
        most = math.inf if high is None else float(high - mean) / deviation
        moved.append((least, most))
    return tuple(moved)
