"""Distributions of one value by population, as people write them: masses, values and supports that agree."""

from __future__ import annotations

import math
from collections.abc import Hashable, Mapping, Sequence
from fractions import Fraction
from typing import Any

from takifugu.core.errors import InputError
from takifugu.core.lists import value_of
from takifugu.core.rules import check_any, check_known, no_law
from takifugu.model.beliefs.population_region import is_number
from takifugu.model.beliefs.states import checked_alphabet
from takifugu.numbers.rationals import Number, as_fraction

#: A text, a number, or a place: a pair of numbers.
Value = Hashable
Law = tuple[Fraction, ...]
#: Masses may miss a sum of 1 by this much; they are then divided by their sum.
TOLERANCE = Fraction(1, 10**9)


def prior_of(
    declared: Mapping[Any, Number] | None, values: Sequence[Value], laws: Sequence[Sequence[Fraction]]
) -> tuple[Fraction, ...]:
    if declared is None:
        even = Fraction(1, len(laws))
        return tuple(sum(masses, Fraction(0)) * even for masses in zip(*laws, strict=True))
    weights = masses_of(declared, "the prior")
    check_known(weights, values, "no population has the value", "prior")
    return tuple(weights.get(value, Fraction(0)) for value in values)


def masses_of(law: object, title: str) -> dict[Value, Fraction]:
    if not isinstance(law, Mapping):
        raise InputError(f"{title} is {law!r}", fix="give a mapping from values to masses").at("laws")
    masses: dict[Value, Fraction] = {}
    for value, mass in law.items():
        plain: Value = value_of(value)
        if isinstance(value, tuple):
            plain = tuple(map(value_of, value))
        masses[plain] = masses.get(plain, Fraction(0)) + as_fraction(mass, "a mass", "laws")
    total = sum(masses.values(), Fraction(0))
    if not masses or min(masses.values()) < 0 or abs(total - 1) > TOLERANCE:
        raise no_law(title, total).at("laws")
    return {value: mass / total for value, mass in masses.items()}


def checked_values(values: list[Hashable]) -> tuple[Value, ...]:
    check_any(values, "the populations have no value", "values")
    if not any(isinstance(value, tuple) for value in values):
        return checked_alphabet(values, "the populations", "values")
    for value in values:
        place = value if isinstance(value, tuple) else ()
        if len(place) != 2 or not all(map(is_number, place)):
            raise InputError(
                f"a place is {value!r}", rule="it is a pair of numbers, for all values or none"
            ).at("values")
        if not all(map(math.isfinite, place)):
            raise InputError("a place has a coordinate that is not finite", fix="give a number").at("values")
    return tuple(values)


def check_supports(laws: Mapping[str, Law], values: Sequence[Value], supports: str) -> None:
    check_known([supports], ("refuse", "align"), "supports is", "supports")
    for name, law in laws.items():
        if sum(mass > 0 for mass in law) < 2:
            raise InputError(
                f"the population {name!r} has one value only", rule="whoever sees that value knows it",
                fix="smooth it over the declared values",
            ).at("laws")  # fmt: skip
        possible = map(any, zip(*laws.values(), strict=True))
        missing = [v for v, mass, elsewhere in zip(values, law, possible, strict=True) if elsewhere and not mass]
        if missing and supports == "refuse":
            raise InputError(
                f"the value {missing[0]!r} is impossible in the population {name!r} and possible in another one",
                rule="whoever learns that it occurred knows the population",
                fix='smooth the populations, or accept it with supports = "align"',
            ).at("supports")
