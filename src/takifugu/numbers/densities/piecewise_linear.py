"""A density as a table: straight lines between points, 0 outside."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from takifugu.core.arrays import IntArray
from takifugu.core.errors import InputError
from takifugu.core.plain import PlainForm, set_fields
from takifugu.core.rules import list_of
from takifugu.numbers.atoms import Floats
from takifugu.numbers.densities import TINY, between_tails, finite

#: How far the integral of what is written may lie from 1; it is scaled to it.
TOLERANCE = 1e-6


@dataclass(frozen=True)
class PiecewiseLinear(PlainForm, kind="tabulated"):
    """Model a number by a density that is linear between points, such as a histogram or a drawn curve.

    Args:
        points: Two or more numbers in ascending order, in answer units.
        heights: The density at each point; its integral is 1 within 1e-6.

    Raises:
        InputError: For fewer than two points, points that do not rise, a negative height, and another integral.

    Examples:
        >>> triangle = PiecewiseLinear([0, 1, 2], [0, 1, 0])
        >>> triangle.mean, triangle.mass(np.array([0.0]), np.array([0.5]))[1].round(6).tolist()
        (1.0, [0.125])
    """

    points: tuple[float, ...]
    heights: tuple[float, ...]

    def __init__(self, points: Sequence[object], heights: Sequence[object]) -> None:
        places = [finite(point, "points") for point in list_of(points, "the points", "points", "[0, 1, 2]")]
        values = [finite(height, "heights") for height in list_of(heights, "the heights", "heights", "[0, 1, 0]")]
        if len(places) != len(values) or len(places) < 2:
            raise InputError(
                f"{len(places)} points and {len(values)} heights", rule="each point has one height, two or more",
                fix="give one height for each of two points or more",
            ).at("points")  # fmt: skip
        set_fields(self, points=tuple(places), heights=tuple(values))
        for before, after in zip(self.points, self.points[1:], strict=False):
            if after <= before:
                raise InputError(
                    f"the point {after:g} follows {before:g}", rule="points rise", fix="sort them"
                ).at("points")
        lowest = min(self.heights)
        if lowest < 0:
            raise InputError(
                f"the density is {lowest:g} somewhere", rule="a density is nowhere below 0", fix="write 0 there"
            ).at("heights")
        if abs(self._total - 1) > TOLERANCE:
            raise InputError(
                f"the density integrates to {self._total:.9g}", rule="its integral is 1 within 1e-6",
                fix="divide every height by that" if self._total else "write heights above 0",
            ).at("heights")  # fmt: skip

    @cached_property
    def _total(self) -> float:
        return math.fsum(self._pieces.tolist())

    @cached_property
    def _pieces(self) -> Floats:
        x, y = np.array(self.points), np.array(self.heights)
        pieces: Floats = np.diff(x) * (y[1:] + y[:-1]) / 2
        return pieces

    @cached_property
    def _moments(self) -> tuple[float, float]:
        x, y = np.array(self.points), np.array(self.heights)
        left, width, first, last = x[:-1], np.diff(x), y[:-1], y[1:]
        mean = math.fsum((self._pieces * left + width**2 * (first + 2 * last) / 6).tolist()) / self._total
        shifted = left - mean
        square = self._pieces * shifted**2 + shifted * width**2 * (first + 2 * last) / 3
        square += width**3 * (first + 3 * last) / 12
        return mean, math.sqrt(math.fsum(square.tolist()) / self._total)

    @property
    def mean(self) -> float:
        return self._moments[0]

    @property
    def deviation(self) -> float:
        return self._moments[1]

    @property
    def range(self) -> tuple[float, float]:
        return self.points[0], self.points[-1]

    @property
    def edges(self) -> tuple[float, ...]:
        return self.points

    def pdf(self, x: Floats) -> Floats:
        return np.where((x < self.points[0]) | (x > self.points[-1]), 0.0, self._inside(x))

    def bounds(self, low: Floats, high: Floats) -> tuple[Floats, Floats]:
        """Bound the density in cells; in a cell that holds a point, by all heights.

        Args:
            low: The cells' lower ends, shape (n,).
            high: Their upper ends.

        Returns:
            Lower and upper bounds, each of shape (n,).
        """
        points = np.array(self.points)
        first = np.searchsorted(points, low, side="right")
        last = np.searchsorted(points, high, side="left")
        straight, outside = first == last, (high <= points[0]) | (low >= points[-1])
        left, right = self._inside(low), self._inside(high)
        least = np.where(straight & ~outside, np.minimum(left, right), 0.0)
        most = np.where(straight, np.maximum(left, right), max(self.heights) / self._total)
        slack = self._relative
        return least * (1 - slack) - TINY, np.where(outside, 0.0, most * (1 + slack)) + TINY

    def mass(self, low: Floats, high: Floats) -> tuple[Floats, Floats]:
        error = self._relative
        middle = self.points[len(self.points) // 2]
        return between_tails(
            low, high, middle, lambda x: self._below(x), lambda x: self._mirrored._below(-x),
            lambda x: np.full_like(x, error),
        )  # fmt: skip

    @cached_property
    def _mirrored(self) -> PiecewiseLinear:
        return PiecewiseLinear([-x for x in reversed(self.points)], self.heights[::-1])

    @cached_property
    def _sums(self) -> Floats:
        return np.concatenate(([0.0], np.cumsum(self._pieces)))

    def _below(self, x: Floats) -> Floats:
        """Return P(X <= x), a sum of positive terms."""
        place, here, height = self._on_line(x)
        below: Floats = (self._sums[place] + here * (np.array(self.heights)[place] + height) / 2) / self._total
        return below

    def _inside(self, x: Floats) -> Floats:
        """Return heights, those of the ends outside."""
        return self._on_line(x)[2] / self._total

    def _on_line(self, x: Floats) -> tuple[IntArray, Floats, Floats]:
        """Return the line of each place, how far along it that is, and its height, before all are scaled."""
        points, heights = np.array(self.points), np.array(self.heights)
        inside = np.clip(x, points[0], points[-1])
        place = np.clip(np.searchsorted(points, inside, side="right") - 1, 0, len(points) - 2)
        here, left = inside - points[place], points[place + 1] - inside
        # A sum of positive terms keeps its digits where a line falls to 0.
        height = (heights[place] * left + heights[place + 1] * here) / (points[place + 1] - points[place])
        return place, here, height

    @property
    def _relative(self) -> float:
        return 2.0**-48 * (len(self.points) + 8)

    def describe(self) -> str:
        return f"a table of {len(self.points)} points from {self.points[0]:g} to {self.points[-1]:g}"
