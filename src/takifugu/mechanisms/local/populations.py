"""The populations that an adversary may weigh, and what values cost to confuse."""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Iterable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import combinations
from typing import Any

import numpy as np
import numpy.typing as npt

from takifugu.core.errors import InputError
from takifugu.model.beliefs.estimate import checked_source, is_private_source
from takifugu.model.beliefs.population_region import Regions, covering, samples_of
from takifugu.numbers.rationals import Number, as_fraction
from takifugu.numbers.transport.bottleneck import Metric, checked_distances

Value = Hashable
Law = Mapping[Value, Fraction]


@dataclass(frozen=True, eq=False)
class Populations:
    """Distributions of one value by the name of the population, over the same values; `metric` is the loss.

    `laws` has a mapping from values to masses for each name; masses must sum to 1 (within 1e-9; they are then divided
    by their sum). The metric is Euclidean distance where values are pairs of numbers, 0 or 1 otherwise. `prior` weighs
    values in the expected loss (default: the mean of the populations). With `regions` the populations were counted, and
    whatever is promised holds for all distributions in them, not for `laws` alone. Raises InputError for fewer than two
    populations, a population of one value alone, or a metric that is none.

    >>> two = Populations({"home": {"a": "0.8", "b": "0.2"}, "out": {"a": "0.3", "b": "0.7"}})
    >>> two.values, [tuple(pair) for pair in two.pairs], two.distances.tolist()
    (('a', 'b'), [('home', 'out')], [[0.0, 1.0], [1.0, 0.0]])
    """

    laws: Mapping[str, Law]
    values: tuple[Value, ...]
    metric: Metric
    prior: Law
    source: str = "assumed"
    regions: Regions | None = None

    def __init__(
        self,
        laws: Mapping[str, Mapping[Value, Number]],
        metric: Metric | None = None,
        prior: Mapping[Value, Number] | None = None,
        source: str = "assumed",
        regions: Regions | None = None,
    ) -> None:
        if not isinstance(laws, Mapping) or len(laws) < 2:
            raise InputError("there are fewer than two populations", fix="give a distribution by each name").at("laws")
        laws_by_name = {str(name): _law(law, f"population {name!r}") for name, law in laws.items()}
        values = tuple(dict.fromkeys(value for law in laws_by_name.values() for value in law))
        for name, law in laws_by_name.items():
            if sum(mass > 0 for mass in law.values()) < 2:
                raise InputError(
                    f"the population {name!r} has one value only", rule="whoever sees that value knows it",
                    fix="smooth it over the declared values",
                ).at("laws")  # fmt: skip
        none, even = Fraction(0), Fraction(1, len(laws_by_name))
        mean = {x: sum((law.get(x, none) for law in laws_by_name.values()), none) * even for x in values}
        object.__setattr__(self, "laws", laws_by_name)
        object.__setattr__(self, "values", values)
        object.__setattr__(self, "metric", metric or _usual(values))
        object.__setattr__(self, "prior", mean if prior is None else _law(prior, "the prior"))
        object.__setattr__(self, "source", source)
        object.__setattr__(self, "regions", regions)
        checked_distances(list(values), list(values), self.metric)
        if unknown := [value for value in self.prior if value not in self._places]:
            raise InputError(f"the prior has the value {unknown[0]!r}, which no population has").at("prior")

    @property
    def pairs(self) -> tuple[tuple[str, str], ...]:
        """Return the names of every two populations, once."""
        return tuple(combinations(self.laws, 2))

    @property
    def from_private_data(self) -> bool:
        """Return whether the source states that the populations were taken from the column that they are to protect."""
        return is_private_source(self.source)

    def only(self, names: tuple[str, ...]) -> Populations:
        """Return some of the populations."""
        regions = None if self.regions is None else self.regions.only(names)
        laws = {name: self.laws[name] for name in names}
        return Populations(laws, self.metric, None, self.source, regions)

    @cached_property
    def distances(self) -> npt.NDArray[np.float64]:
        """Return the loss of taking one value for another, shape (values, values)."""
        return np.array([[float(self.metric(x, y)) for y in self.values] for x in self.values])

    @cached_property
    def table(self) -> npt.NDArray[np.float64]:
        """Return the masses, shape (populations, values)."""
        return np.array([[float(law.get(x, 0)) for x in self.values] for law in self.laws.values()])

    @cached_property
    def _places(self) -> dict[Value, int]:
        return {value: number for number, value in enumerate(self.values)}

    def indices(self, column: Iterable[Any]) -> npt.NDArray[np.int64]:
        """Return the number of each value of a column; DataError for one that is not declared, naming none."""
        from takifugu.core.errors import DataError

        listed = column.tolist() if hasattr(column, "tolist") else list(column)
        try:
            return np.array([self._places[value] for value in listed], dtype=np.int64)
        except (KeyError, TypeError):
            raise DataError(
                "the column has a value that no population declares", fix="declare it, or clamp it before"
            ).at("column") from None

    def describe(self) -> str:
        counted = "" if self.regions is None else f", counted: confidence {self.regions.confidence:g}"
        names = " and ".join(map(repr, self.laws))
        return f"the populations {names} over {len(self.values)} values ({self.source}{counted})"


def estimated(
    rows: Iterable[tuple[str, Value]],
    values: Iterable[Value],
    smoothing: Number,
    source: str,
    private: bool = False,
    metric: Metric | None = None,
    confidence: float = 0.99,
    people: Iterable[Hashable] | None = None,
) -> Populations:
    """Return populations counted from rows (name, value) of a reference file of other people.

    They are a class: each in a region that holds the true one, all of them with probability `confidence`
    (`beliefs.population_region`), and promises hold for the whole class. The rows are independent of each other, or,
    where `people` says whose row each is, people are, and each counts once. `values` are declared; `smoothing` is added
    to the count of each for the distributions that losses are averaged over, and changes no promise.

    `private=True` marks that the rows are the column to protect: then the privacy that is promised does not cover what
    the distributions tell. Raises InputError for a row with an undeclared value, smoothing that is negative, and a
    confidence outside (0, 1).

    >>> found = estimated([("m", 1), ("m", 2), ("f", 2)], [1, 2], smoothing=1, source="a public survey")
    >>> found.laws["f"][1], found.regions.sizes
    (Fraction(1, 3), {'m': 2, 'f': 1})
    """
    declared, share = list(dict.fromkeys(values)), as_fraction(smoothing, "smoothing", "smoothing")
    if share < 0:
        raise InputError(f"smoothing is {smoothing!r}", rule="it must not be negative").at("smoothing")
    places = {value: number for number, value in enumerate(declared)}
    listed = [(str(name), value) for name, value in rows]
    if any(value not in places for _, value in listed):
        raise InputError("a row has a value that is not declared", fix="declare all values").at("values")
    samples = samples_of([(name, places[value]) for name, value in listed], len(declared), people)
    laws = {name: dict(zip(declared, sample.smoothed(share), strict=True)) for name, sample in samples.items()}
    regions = covering(samples, declared, confidence)
    return Populations(laws, metric, source=checked_source(source, private), regions=regions)


def _law(given: Mapping[Value, Number], what: str) -> Law:
    if not isinstance(given, Mapping):
        raise InputError(f"{what} is {given!r}", fix="give a mapping from values to masses").at("laws")
    masses = {value: as_fraction(mass, "a mass", "laws") for value, mass in given.items()}
    total = sum(masses.values(), Fraction(0))
    if not masses or min(masses.values()) < 0 or abs(total - 1) > Fraction(1, 10**9):
        raise InputError(f"the masses of {what} sum to {float(total):g}", rule="they are not negative and sum to 1").at(
            "laws"
        )
    return {value: mass / total for value, mass in masses.items()}


def _usual(values: tuple[Value, ...]) -> Callable[[Any, Any], float]:
    if all(isinstance(v, tuple) and len(v) == 2 and all(isinstance(x, int | float) for x in v) for v in values):
        return lambda x, y: math.hypot(x[0] - y[0], x[1] - y[1])
    if all(isinstance(v, int | float) and not isinstance(v, bool) for v in values):
        return lambda x, y: float(abs(x - y))
    return lambda x, y: float(x != y)
