"""The populations of a belief, as what randomises one value reads them: by name, with what confusing values costs."""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from itertools import combinations
from typing import Any

import numpy as np

from takifugu.core.cache import memoised
from takifugu.model.beliefs.population_region import Regions
from takifugu.numbers.atoms import Floats, masses_at, tabulated

Value = Hashable
Law = Mapping[Value, Fraction]


@dataclass(frozen=True, eq=False)
class Populations:
    """Distributions of one value by the name of the population, over the same values."""

    laws: Mapping[str, Law]
    values: tuple[Value, ...]
    places: tuple[Value, ...]  # the values, in the measure of the distances where they are places
    #: The loss of taking one value for another, shape (values, values).
    distances: Floats
    prior: Law  # weighs values in the expected loss
    regions: Regions | None  # of counted populations: a promise holds for all distributions in them
    #: What epsilon is multiplied by for two populations, in order of `pairs`; None where that is 1 for all.
    apart: Mapping[tuple[str, str], Fraction] | None = None
    #: Whether these are known; W-infinity of counted populations is not, and 1 stands for it.
    are_known: bool = True

    @property
    def pairs(self) -> tuple[tuple[str, str], ...]:
        """Return the names of every two populations, once."""
        return tuple(combinations(self.laws, 2))

    def largest(self, of_two: Callable[[Law, Law], float]) -> float:
        """Return the largest number of any two populations."""
        return max(of_two(self.laws[left], self.laws[right]) for left, right in self.pairs)

    @property
    def distances_apart(self) -> Mapping[tuple[str, str], Fraction]:
        """Return what epsilon is multiplied by for each two populations."""
        return dict.fromkeys(self.pairs, Fraction(1)) if self.apart is None else self.apart

    def only(self, names: tuple[str, ...]) -> Populations:
        """Return some of the populations."""
        regions = None if self.regions is None else self.regions.only(names)
        return replace(self, laws={name: self.laws[name] for name in names}, regions=regions, apart=None)

    @cached_property
    def table(self) -> Floats:
        """Return the masses, shape (populations, values)."""
        return np.array([masses_at(law, self.values) for law in self.laws.values()])

    def distance(self, value: Value, other: Value) -> float:
        """Return the loss of taking one value for another."""
        return float(self.distances[self._number[value], self._number[other]])

    @cached_property
    def _number(self) -> dict[Value, int]:
        return {value: place for place, value in enumerate(self.values)}


@memoised
def populations_of(belief: Any) -> Populations:
    """Return the populations of a belief (`FromPopulations`)."""
    places, distance = belief.values, belief.distance
    if belief.is_planar:
        x_scale, y_scale = map(float, belief.scales)
        places, distance = tuple((x_scale * x, y_scale * y) for x, y in belief.values), math.dist
    distances = tabulated(distance, places, places)
    laws = {
        name: dict(zip(belief.values, law, strict=True))
        for name, law in zip(belief.populations, belief.laws, strict=True)
    }
    prior = dict(zip(belief.values, belief.prior, strict=True))
    return Populations(laws, belief.values, places, distances, prior, belief.regions)
