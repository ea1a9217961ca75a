"""A stated density as a secret reads it: one entry, the value of what is hidden."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import chain, combinations, product
from typing import ClassVar

from takifugu.core.errors import InputError
from takifugu.core.nearest import unknown
from takifugu.model.beliefs.density import Density
from takifugu.model.secrets import Secret
from takifugu.model.secrets.families import View
from takifugu.model.secrets.properties import DatasetProperty, DistributionParameter
from takifugu.model.secrets.value_sets import ValueSet, number
from takifugu.numbers.rationals import as_fractions


@dataclass(frozen=True, eq=False)
class DensityView(View):
    """A density belief as a secret reads it: one entry, the value of what is hidden."""

    whole: Density
    pairs: tuple[tuple[int, int], ...] | None

    answers: ClassVar = {
        "the density of the answer": "analysis.questions.answer_density:of_view",
        "the distribution of the answer": "analysis.questions.answer_law:FOR_DENSITIES",
        "the density that the audit looks at": "audit.real_line:of_density",
    }

    @property
    def values(self) -> tuple[Fraction, ...]:
        return self.whole.values

    def describe_hypothesis(self, value: int) -> str:
        """Word the hypothesis of a hidden value, by its index."""
        whole = self.whole
        words = f"{whole.hidden} is {number(whole.values[value])}"
        if whole.values.count(whole.values[value]) == 1:
            return words
        return f"{words} (density {value - whole.values.index(whole.values[value]) + 1})"


def view_of(density: Density, secret: Secret) -> DensityView:
    """Return the view of a stated density for a secret about the same number."""
    if isinstance(density.about, DistributionParameter):
        pairs = _of_parameter(density, density.about.column, secret)
    elif isinstance(secret, DatasetProperty) and density.about == replace(
        secret, max_difference=None, pairs=None, sets=None
    ):
        if secret.sets is not None:
            pairs = _of_sets(density, secret.sets)
        else:
            numbers = sorted(set(density.values))
            pairs = _of_numbers(density, numbers, secret.compared(numbers), "pairs")
    else:
        raise _other(density, secret)
    return DensityView(density, pairs)


def _of_parameter(density: Density, column: str, secret: Secret) -> tuple[tuple[int, int], ...]:
    if not isinstance(secret, DistributionParameter) or (secret.column, secret.map) != (column, None):
        raise _other(density, secret)
    if secret.interval is not None:
        raise InputError(
            "the belief knows single values of the parameter, and the secret names an interval", fix="name values"
        ).at("interval")
    stated = sorted(set(density.values)) if secret.values is None else secret.values
    numbers = as_fractions(stated, "a parameter", "values")
    return _of_numbers(density, numbers, secret.compared(numbers), "values")


def _of_numbers(
    density: Density, numbers: Sequence[Fraction], pairs: Iterable[tuple[int, int]] | None, key: str
) -> tuple[tuple[int, int], ...]:
    """Return the densities of one value against those of another, for pairs of different values."""
    several: list[tuple[int, int]] = []
    for a, b in combinations(range(len(numbers)), 2) if pairs is None else pairs:
        several += product(_places(density, numbers[a], key), _places(density, numbers[b], key))
    return tuple(several)


def _of_sets(density: Density, sets: Iterable[ValueSet]) -> tuple[tuple[int, int], ...]:
    """Return every value of one set against every value of another."""
    places: list[list[int]] = []
    for members in sets:
        if isinstance(members, tuple):
            places.append([*chain.from_iterable(_places(density, value, "sets") for value in members)])
        else:
            places.append([i for i, value in enumerate(density.values) if members.holds(value)])
    pairs: list[tuple[int, int]] = []
    for first, second in combinations(places, 2):
        pairs += product(first, second)
    return tuple(pairs)


def _places(density: Density, value: Fraction, key: str) -> list[int]:
    """Return the numbers of a value's densities."""
    if value not in density.values:
        values = list(map(number, dict.fromkeys(density.values)))
        raise unknown(f"the belief tells nothing of the value {number(value)}", number(value), values).at(key)
    return [place for place, stated_value in enumerate(density.values) if stated_value == value]


def _other(density: Density, secret: Secret) -> InputError:
    return InputError(
        f"the belief tells the answer given {density.hidden}, and the secret is {secret.describe()}",
        fix="hide that, or give a belief about what is to be hidden",
    ).at("beliefs")
