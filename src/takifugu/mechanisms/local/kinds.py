"""Kinds of channels for one value by name: their rows at a strength, what they need of the values, and their source."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType

import numpy as np

from takifugu.core.cache import cached
from takifugu.mechanisms.local.populations import Populations
from takifugu.mechanisms.local.weights import Cells, cells_of, decaying, laplace_masses, restricted, same_or_other
from takifugu.numbers.atoms import Floats


def are_places(populations: Populations) -> bool:
    """Return whether all values are two finite coordinates."""
    places = populations.places
    return all(isinstance(v, tuple) and len(v) == 2 and np.isfinite(np.array(v, dtype=float)).all() for v in places)


def fill_a_box(populations: Populations) -> bool:
    """Return whether the values are the middles of equal cells of a box."""
    return are_places(populations) and _cells(populations) is not None


def _cells(populations: Populations) -> Cells | None:
    return cached(populations, cells_of, lambda: cells_of(populations.places))


@dataclass(frozen=True)
class Kind:
    """A kind of channel."""

    source: str
    #: At a strength and within a radius, before they are divided by their sums; None: the linear program.
    rows: Callable[[Populations, float, float], Floats] | None
    of_distance: bool = True  # the strength is per unit of distance; else a number like epsilon
    applies: Callable[[Populations], bool] = lambda populations: True
    among_dummies: bool = False
    takes_radius: bool = False
    work: float = 4e3  # operations per pair of values


def _remapped(populations: Populations, strength: float, _: float) -> Floats:
    cells = _cells(populations)
    assert cells is not None
    return laplace_masses(cells, strength)


def _restricted(populations: Populations, strength: float, radius: float) -> Floats:
    """Return noise that decays with distance and is cut off beyond the radius (Kawamoto19 §6.4)."""
    return restricted(populations.distances, strength, radius)


_MEASURED = "what it tells about the population is measured exactly"
_ANDRES = "Andrés, Bordenabe, Chatzikokolakis and Palamidessi 2013"
#: The kinds of channels, in the order of comparisons.
KINDS: Mapping[str, Kind] = MappingProxyType({
    "randomised-response": Kind(
        f"Kairouz, Oh and Viswanath 2014; {_MEASURED}",
        lambda populations, strength, _: same_or_other(len(populations.values), strength), of_distance=False,
    ),
    "exponential": Kind(
        f"McSherry and Talwar 2007; {_MEASURED}",
        lambda populations, strength, _: decaying(populations.distances, strength / 2),
    ),
    "planar-laplace": Kind(
        f"{_ANDRES}, on a grid; {_MEASURED}",
        lambda populations, strength, _: decaying(populations.distances, strength), applies=are_places,
    ),
    "planar-laplace-remapped": Kind(
        f"Andrés et al. 2013, rounded to cells and remapped into the box; {_MEASURED}", _remapped, applies=fill_a_box
    ),
    "restricted-laplace": Kind(
        f"Kawamoto and Murakami 2019, §6.4, cut at a radius; {_MEASURED}", _restricted, takes_radius=True
    ),
    "tupling": Kind(
        "Kawamoto and Murakami 2019, Algorithm 1, with its exact delta", _restricted, among_dummies=True,
        takes_radius=True, work=2e4,
    ),
    "optimal": Kind(
        "the least expected loss of one value, by a linear program, repaired and measured", None, work=5e4
    ),
})  # fmt: skip
