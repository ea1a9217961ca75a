"""The densities that a belief states by value, checked, with the normal distributions that stand for them."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from fractions import Fraction
from operator import itemgetter
from typing import TypeVar

from takifugu.core.errors import InputError
from takifugu.core.rules import check_any
from takifugu.numbers.densities import Continuous
from takifugu.numbers.densities.normal import Normal
from takifugu.numbers.rationals import Number, as_fraction, as_positive, to_text

Law = TypeVar("Law", bound=Continuous)

#: An undeclared resolution is a power of ten, at most this share of the least deviation.
FINE = 1e-6


def grid_of(curves: Iterable[Continuous], declared: Number | None) -> Fraction:
    """Return the declared step of the published number, or a fine one.

    Raises InputError unless it is above 0.
    """
    if declared is None:
        least = min(curve.deviation for curve in curves)
        return Fraction(10) ** math.floor(math.log10(least * FINE))
    return as_positive(declared, "the resolution", "resolution")


def laws_by_value(law_of: Mapping[Number, Law | Sequence[Law]], name: str) -> list[tuple[Fraction, Law]]:
    """Return each value with each of its laws, by value.

    Raises InputError for no mapping, and for a value that is named twice or has none.
    """
    if not isinstance(law_of, Mapping):
        raise InputError(
            f"{name} is {law_of!r}", rule="it has one distribution for each value", fix="write {40: Normal(2, 1), ...}"
        ).at(name)
    laws_of = {as_fraction(value, "a value", name): laws for value, laws in law_of.items()}
    if len(laws_of) != len(law_of):
        raise InputError(f"{name} names a value twice", fix="give a list of its densities").at(name)
    rows: list[tuple[Fraction, Law]] = []
    for value, laws in sorted(laws_of.items(), key=itemgetter(0)):
        listed_laws: Sequence[Law] = laws if isinstance(laws, list | tuple) else [laws]  # type: ignore[list-item]
        check_any(listed_laws, "a value has no density", name, to_text(value), fix="give one or more")
        rows += [(value, law) for law in listed_laws]
    return rows


def references_of(table: list[tuple[Fraction, Continuous]]) -> list[tuple[Fraction, Normal]]:
    """Return the normal distribution of each mean, all of the mean variance."""
    deviation = math.sqrt(math.fsum(curve.deviation**2 for _, curve in table) / len(table))
    return [(value, Normal(curve.mean, deviation)) for value, curve in table]


def check_references(table: list[tuple[Fraction, Continuous]], normals: list[tuple[Fraction, Normal]]) -> None:
    """Raise InputError for what cannot stand for the densities."""
    wrong = [value for value, normal in normals if not isinstance(normal, Normal)]
    if wrong or list(map(itemgetter(0), table)) != list(map(itemgetter(0), normals)):
        raise InputError(
            "the references are not one normal distribution for each density",
            fix="give {value: Normal(mean, deviation)}, or none",
        ).at("references")
    if len({reference.deviation for _, reference in normals}) > 1:
        raise InputError(
            "the references have different deviations",
            rule="Zhang22 Algorithm 2 requires one variance for all values", fix="give all of them one deviation",
        ).at("references")  # fmt: skip
