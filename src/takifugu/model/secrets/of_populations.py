"""Which population a person's rows come from, as a secret: all populations alike, or the farther the less hidden.

Without a metric epsilon holds for every two populations (Kawamoto19 Definition 8). With one it is per unit of their
distance (Definition 9): W-infinity of the two in the distance of values, or numbers that are declared.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import combinations, permutations
from typing import Protocol, runtime_checkable

from takifugu.core.errors import InputError
from takifugu.core.plain import PlainForm, form
from takifugu.core.rules import check_known, requires
from takifugu.model.secrets.families import Family, View
from takifugu.numbers.rationals import Number, as_fraction

#: The distance of two populations that is computed: the least largest move of a coupling.
W_INFINITY = "w-infinity"
#: Distances of populations by both names.
Declared = Mapping[str, Mapping[str, Number]]
#: Relative rounding that declared distances may show in the triangle inequality.
_ROUNDING = Fraction(1, 2**40)


@runtime_checkable
class WithPopulations(Protocol):
    """A belief about rows that come from one of several populations; `which` is the entry that says from which one."""

    @property
    def which(self) -> View: ...

    @property
    def populations(self) -> tuple[str, ...]: ...

    def w_infinity(self, name: str, other: str) -> Fraction | None:
        """Return W-infinity of two populations, None where they were counted."""
        ...


def _read(metric: object) -> object:
    if not isinstance(metric, list | tuple):
        return metric
    return tuple((a, b, as_fraction(distance, "a distance")) for a, b, distance in metric)


@dataclass(frozen=True)
class WhichPopulation(PlainForm, kind="which-population"):
    """Hide which of the belief's populations a person's rows are drawn from: every two of them, both ways."""

    #: Epsilon is per unit of this distance between two populations.
    metric: str | tuple[tuple[str, str, Fraction], ...] | None = field(
        default=None, metadata=form(read=_read, is_left_out=True)
    )

    @property
    def definition(self) -> str:
        """Return the definition that epsilon is read under."""
        return "distribution" if self.metric is None else "extended-distribution"

    def view(self, belief: object) -> View:
        if not isinstance(belief, WithPopulations):
            raise requires("the secret is a population", "a belief over several", "FromPopulations(...)").at("beliefs")
        self._check_names(belief.populations)
        return belief.which

    def family(self, belief: object) -> Family:
        return Family((0,))

    def distance(self, belief: WithPopulations, name: str, other: str) -> Fraction | None:
        """Return the factor of epsilon for two populations, None for W-infinity of counted ones: nobody knows it."""
        if self.metric is None:
            return Fraction(1)
        if isinstance(self.metric, str):
            return belief.w_infinity(name, other)
        return next(distance for a, b, distance in self.metric if {a, b} == {name, other})

    def weight(self, belief: object, left: Hashable, right: Hashable) -> float:
        """Return the distance of two populations as a float, infinite where nobody knows it."""
        assert isinstance(belief, WithPopulations)
        distance = self.distance(belief, str(left), str(right))
        return math.inf if distance is None else float(distance)

    def describe(self) -> str:
        which = "which population the rows of a person come from"
        if self.metric is None:
            return which
        how = "W-infinity" if isinstance(self.metric, str) else "declared"
        return f"{which}, the better the nearer two are ({how} distance)"

    def _check_names(self, populations: tuple[str, ...]) -> None:
        if not isinstance(self.metric, tuple):
            return
        pairs = [{a, b} for a, b, _ in self.metric]
        check_known(sorted(set().union(*pairs)), populations, "no population is", "metric")
        for name, other in combinations(populations, 2):
            if {name, other} not in pairs:
                raise InputError(
                    f"the metric has no distance between {name!r} and {other!r}", rule="every two populations have one",
                    fix=f"write metric = {{ {name} = {{ {other} = 1 }} }}, with the others",
                ).at("metric")  # fmt: skip


def population_membership(metric: str | Declared | None = None) -> WhichPopulation:
    """Hide which population a person's rows come from (Kawamoto19 Definitions 8 and 9).

    Args:
        metric: Makes epsilon a rate per unit of distance: "w-infinity", or a number for every two populations.

    Returns:
        The secret, for `Pufferfish`.

    Raises:
        InputError: For an unknown metric.

    Examples:
        >>> population_membership().describe()
        'which population the rows of a person come from'
        >>> population_membership({"home": {"out": 3}}).metric
        (('home', 'out', Fraction(3, 1)),)
    """
    if metric is None or (isinstance(metric, str) and metric == W_INFINITY):
        return WhichPopulation(metric)
    if not isinstance(metric, Mapping) or not all(isinstance(to, Mapping) for to in metric.values()):
        raise InputError(
            f"the metric is {metric!r}", rule="it is W-infinity, or a distance for every two populations",
            fix='write "w-infinity" or { home = { out = 2 } }',
        ).at("metric")  # fmt: skip
    return WhichPopulation(_checked(metric))


def _checked(metric: Declared) -> tuple[tuple[str, str, Fraction], ...]:
    """Return each distance once; InputError where they are no metric."""
    distances: dict[tuple[str, str], Fraction] = {}
    for name, others in metric.items():
        for other, number in others.items():
            distance = as_fraction(number, f"the distance between {name!r} and {other!r}", "metric")
            if distance < 0 or (distance > 0) == (name == other):
                raise _no_metric(
                    f"the distance between {name!r} and {other!r} is {number!r}",
                    "it is above 0 between two populations, and 0 from one to itself", "give a distance",
                )  # fmt: skip
            if distances.get((other, name), distance) != distance:
                raise _no_metric(
                    f"from {name!r} to {other!r} it is {number!r}, and back {float(distances[other, name]):g}",
                    "a distance is the same both ways", "write it once",
                )  # fmt: skip
            distances[name, other] = distances[other, name] = distance
    names = list(dict.fromkeys(name for name, _ in distances))
    for start, middle, end in permutations(names, 3):
        legs = [(start, end), (start, middle), (middle, end)]
        if not distances.keys() >= set(legs):
            continue
        direct, detour = distances[start, end], distances[start, middle] + distances[middle, end]
        if direct > detour * (1 + _ROUNDING):
            raise _no_metric(
                f"from {start!r} to {end!r} it is {float(direct):g}, and {float(detour):g} through {middle!r}",
                "no detour is shorter (triangle inequality)", "write the shorter one",
            )  # fmt: skip
    return tuple((a, b, distances[a, b]) for a, b in combinations(names, 2) if (a, b) in distances)


def _no_metric(what: str, rule: str, fix: str) -> InputError:
    return InputError(f"the metric is none: {what}", rule=rule, fix=fix).at("metric")
