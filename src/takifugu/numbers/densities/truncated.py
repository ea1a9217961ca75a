"""A density cut to a range: what remains is scaled up to mass 1."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from functools import cached_property
from itertools import pairwise

import numpy as np

from takifugu.core.errors import InputError
from takifugu.core.plain import PlainForm, form
from takifugu.numbers.atoms import Floats
from takifugu.numbers.densities import Continuous, check_density, finite, from_dict


@dataclass(frozen=True)
class Truncated(PlainForm, kind="truncated"):
    """Restrict a distribution to a range.

    Args:
        whole: The distribution.
        low: Lower end, in answer units; None for no end.
        high: Upper end; one of the two ends is given.

    Raises:
        InputError: Unless low < high and the range holds at least 1e-9 of the distribution.

    Examples:
        >>> from takifugu.numbers.densities.normal import Normal
        >>> half = Truncated(Normal(0, 1), low=0)
        >>> half.pdf(np.array([-1.0, 0.5])).round(6).tolist()
        [0.0, 0.704131]
    """

    whole: Continuous = field(metadata=form(read=from_dict))
    low: float | None = None
    high: float | None = None

    def __post_init__(self) -> None:
        check_density(self.whole)
        for name, end in (("low", self.low), ("high", self.high)):
            if end is not None:
                object.__setattr__(self, name, finite(end, name))
        if not self._ends[0] < self._ends[1]:
            raise InputError(
                f"the range is from {self.low!r} to {self.high!r}", rule="low must be below high"
            ).at("low")
        if self.share[0] < 1e-9:
            raise InputError(
                "the range holds less than 1e-9 of the distribution", fix="give a range where it is likely to lie"
            ).at("low")

    @property
    def _ends(self) -> tuple[float, float]:
        low = -math.inf if self.low is None else self.low
        high = math.inf if self.high is None else self.high
        return low, high

    @cached_property
    def share(self) -> tuple[float, float]:
        """Bound the whole distribution's mass in the range."""
        least, most = self.whole.mass(*(np.array([end]) for end in self._ends))
        return float(least[0]), float(most[0])

    @cached_property
    def _moments(self) -> tuple[float, float]:
        """Return mean and deviation to nine digits, the same on every machine, for words, grids and references."""
        places = np.unique(np.clip(self.whole.edges, *self._ends))
        ends = list(filter(math.isfinite, self._ends))
        places = np.unique(np.concatenate([places, ends]))
        cells = np.unique(np.concatenate([np.linspace(a, b, 257) for a, b in pairwise(places)]))
        masses, middles = self.mass(cells[:-1], cells[1:])[1], (cells[:-1] + cells[1:]) / 2
        mean = float(masses @ middles / masses.sum())
        deviation = math.sqrt(float(masses @ (middles - mean) ** 2 / masses.sum()))
        return float(f"{mean:.9g}"), float(f"{deviation:.9g}")

    @property
    def mean(self) -> float:
        return self._moments[0]

    @property
    def deviation(self) -> float:
        return self._moments[1]

    @property
    def range(self) -> tuple[float, float]:
        first, last = self.whole.range
        return max(self._ends[0], first), min(self._ends[1], last)

    @property
    def edges(self) -> tuple[float, ...]:
        low, high = self._ends
        ends = set(filter(math.isfinite, (low, high)))
        return tuple(sorted({edge for edge in self.whole.edges if low < edge < high} | ends))

    def pdf(self, x: Floats) -> Floats:
        low, high = self._ends
        return np.where((x >= low) & (x <= high), self.whole.pdf(x) / self.share[1], 0.0)

    def bounds(self, low: Floats, high: Floats) -> tuple[Floats, Floats]:
        first, last = self._ends
        least, most = self.whole.bounds(np.clip(low, first, last), np.clip(high, first, last))
        outside, holds = (high <= first) | (low >= last), (low >= first) & (high <= last)
        return self._scaled(np.where(holds, least, 0.0), np.where(outside, 0.0, most))

    def mass(self, low: Floats, high: Floats) -> tuple[Floats, Floats]:
        least, most = self.whole.mass(np.clip(low, *self._ends), np.clip(high, *self._ends))
        least, most = self._scaled(least, most)
        return least, np.minimum(most, 1.0)

    def _scaled(self, least: Floats, most: Floats) -> tuple[Floats, Floats]:
        return least / self.share[1] * (1 - 2.0**-51), most / self.share[0] * (1 + 2.0**-51)

    def describe(self) -> str:
        low, high = self.low, self.high
        ends = []
        if low is not None:
            ends.append(f"from {low:g}")
        if high is not None:
            ends.append(f"up to {high:g}")
        return f"{self.whole.describe()}, cut to what lies {' '.join(ends)}"


def truncated(law: Continuous, low: float, high: float) -> Continuous:
    """Return a density cut to a range that may have no end; itself if it lies within."""
    first, last = law.range
    if low <= first and last <= high:
        return law
    whole = law.whole if isinstance(law, Truncated) else law
    start, end = max(low, first), min(high, last)
    return Truncated(whole, start if math.isfinite(start) else None, end if math.isfinite(end) else None)
