"""A continuous answer whose density is known given each value of what is hidden, normal or not (Zhang22 §4.2)."""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterable, Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import combinations, product
from typing import TypeVar

from takifugu.core.errors import InputError, within
from takifugu.core.plain import Json, Plain, set_fields
from takifugu.model.beliefs.estimate import is_private_source
from takifugu.model.beliefs.one_sequence import Nameless
from takifugu.model.queries.forms import OnGrid, Query
from takifugu.model.queries.real_columns import RealNumber
from takifugu.model.secrets import Secret
from takifugu.model.secrets.properties import (
    DatasetProperty,
    DistributionParameter,
    Named,
    Value,
    dataset_property,
    distribution_parameter,
)
from takifugu.model.secrets.value_sets import ValueSet, number
from takifugu.numbers.densities import Continuous, check_density, from_dict
from takifugu.numbers.densities.normal import Normal
from takifugu.numbers.rationals import Number, as_fraction, to_text

Law = TypeVar("Law", bound=Continuous)

#: An undeclared resolution is a power of ten, at most this share of the least deviation.
FINE = 1e-6


@dataclass(frozen=True, eq=False)
class Density(Nameless):
    """The answer has the density `given[a]` where the hidden property, or parameter, has the value a.

    `about` says what is hidden. `references` are the normal distributions, all of one deviation, that stand for these
    densities in Zhang22 Algorithm 2. A secret about sets compares the values in them one by one, which covers every
    mixture of them. `resolution` is the grid of the published number where the query declares none.

    >>> from takifugu.numbers.densities.uniform_mean import UniformMean
    >>> belief = Density("income", "mean", {40: UniformMean(12, 1, 3), 50: UniformMean(12, 1.5, 3.5)})
    >>> belief.describe()
    "an answer with a stated density given each of 2 values of the mean of 'income' (assumed)"
    >>> belief.references[1]
    Normal(mean=2.5, deviation=0.166666...)
    """

    about: DatasetProperty | DistributionParameter
    values: tuple[Fraction, ...]
    curves: tuple[Continuous, ...]
    references: tuple[Normal, ...]
    resolution: Fraction
    source: str = "assumed"

    def __init__(
        self,
        attribute: str | Iterable[str],
        function: str | Iterable[Number] | Named,
        given: Mapping[Number, Continuous],
        references: Mapping[Number, Normal] | None = None,
        resolution: Number | None = None,
        source: str = "assumed",
        of: Value | Iterable[Value] | None = None,
    ) -> None:
        """Check the densities of one published number.

        `function` is that of `dataset_property`, or "parameter" for one that governs the column in the population.
        Without `references` each density has the normal one of its mean; their common variance is the mean variance.
        Raises InputError for fewer than two values, for what is no density, and for references that are not normal, of
        different deviations, or not one for each value.
        """
        if function == "parameter":
            hidden: DatasetProperty | DistributionParameter = distribution_parameter(attribute)  # type: ignore[arg-type]
        else:
            hidden = dataset_property(attribute, function, of=of)
        table = _by_value(given, "given")
        if len(table) < 2:
            fewer = "the belief knows fewer than two values of what is hidden"
            raise InputError(fewer, fix="give two or more").at("given")
        for value, curve in table.items():
            with within("given", to_text(value)):
                check_density(curve)
        normals = _references(table) if references is None else _by_value(references, "references")
        _check_references(table, normals)
        step = _resolution(table.values(), resolution)
        set_fields(
            self, about=hidden, values=tuple(table), curves=tuple(table.values()),
            references=tuple(normals[value] for value in table), resolution=step, source=source,
        )  # fmt: skip

    @property
    def size(self) -> int:
        return 1

    @property
    def columns(self) -> tuple[str, ...]:
        return (self.about.column,) if isinstance(self.about, DistributionParameter) else self.about.columns

    @property
    def from_private_data(self) -> bool:
        """Return whether the source says the belief came from private data."""
        return is_private_source(self.source)

    def alphabet(self, entry: int) -> tuple[Hashable, ...]:
        return ()  # the number itself, which is any

    def possible(self, entry: int) -> tuple[bool, ...]:
        return ()

    def position(self, name: Hashable) -> int:
        raise InputError(f"the answer has no column {name!r}", fix="publish Identity()")

    def components(self) -> tuple[range, ...]:
        return (range(1),)

    def component(self, number: int) -> Density:
        return self

    def resolve(self, query: Query) -> RealNumber:
        """Return the one answer of the belief.

        Raises InputError for a query other than Identity().
        """
        description = query.to_dict()
        if description != {"kind": "identity", "attribute": None, "grid": description.get("grid")}:
            raise InputError(
                f"the belief is about one published number, and the query is {query.describe()}",
                fix="publish Identity()",
            ).at("query")
        grid = query.grid if isinstance(query, OnGrid) else None
        return RealNumber(grid or self.resolution)

    def _of_parameter(self, secret: Secret) -> tuple[tuple[int, int], ...] | None:
        if not isinstance(secret, DistributionParameter) or (secret.column, secret.map) != (self.columns[0], None):
            raise self._other(secret)
        if secret.interval is not None:
            raise InputError(
                "the belief knows single values of the parameter, and the secret names an interval", fix="name values"
            ).at("interval")
        if secret.values is None:
            return None
        numbers = [as_fraction(value, "a parameter", "values") for value in secret.values]
        return tuple(combinations([self._place(value, "values") for value in numbers], 2))

    def _of_sets(self, sets: Iterable[ValueSet]) -> tuple[tuple[int, int], ...]:
        """Return every value of one set against every value of another."""
        places: list[list[int]] = []
        for members in sets:
            if isinstance(members, tuple):
                places.append([self._place(value, "sets") for value in members])
            else:
                places.append([i for i, value in enumerate(self.values) if members.holds(value)])
        pairs: list[tuple[int, int]] = []
        for first, second in combinations(places, 2):
            pairs += product(first, second)
        return tuple(pairs)

    def _place(self, value: Fraction, key: str) -> int:
        if value not in self.values:
            raise InputError(
                f"the secret names the value {number(value)}, of which the belief tells nothing",
                fix=f"write some of {[number(stated_value) for stated_value in self.values]}",
            ).at(key)
        return self.values.index(value)

    def _other(self, secret: Secret) -> InputError:
        return InputError(
            f"the belief tells the answer given {self._hidden}, and the secret is {secret.describe()}",
            fix="hide that, or give a belief about what is to be hidden",
        ).at("beliefs")

    @property
    def _hidden(self) -> str:
        if isinstance(self.about, DatasetProperty):
            return self.about.what
        return f"the parameter of {self.columns[0]!r} in the population"

    def assumptions(self) -> tuple[str, ...]:
        return (f"given {self._hidden}, the answer has the stated density",)

    def to_dict(self) -> Json:
        rows = zip(self.values, self.curves, self.references, strict=True)
        return {
            "kind": "density", "about": self.about.to_dict(), "resolution": to_text(self.resolution),
            "given": [[to_text(value), curve.to_dict(), reference.to_dict()] for value, curve, reference in rows],
            "source": self.source,
        }  # fmt: skip

    @staticmethod
    def from_dict(data: Plain) -> Density:
        from takifugu.model import secrets

        hidden, of = secrets.from_dict(data["about"]), None
        column: str | tuple[str, ...]
        function: str | tuple[Fraction, ...] | Named
        if isinstance(hidden, DistributionParameter):
            column, function = hidden.column, "parameter"
        elif isinstance(hidden, DatasetProperty):
            column, function, of = hidden.columns, hidden.function, hidden.of
        else:
            raise InputError(f"a density is about {hidden.describe()}", rule="it hides a property, or a parameter")
        curves = {value: from_dict(curve) for value, curve, _ in data["given"]}
        laws = {value: from_dict(reference) for value, _, reference in data["given"]}
        references = {value: law for value, law in laws.items() if isinstance(law, Normal)}
        source = data.get("source", "assumed")
        return Density(column, function, curves, references, data["resolution"], source, of)

    def describe(self) -> str:
        count = len(self.values)
        return f"an answer with a stated density given each of {count} values of {self._hidden} ({self.source})"

    def property(self, secret: Secret) -> DensityView:
        """Return the values of a secret.

        Raises InputError for one about anything else than this belief.
        """
        if isinstance(self.about, DistributionParameter):
            pairs = self._of_parameter(secret)
        elif isinstance(secret, DatasetProperty) and self.about == replace(
            secret, max_difference=None, pairs=None, sets=None
        ):
            pairs = self._of_sets(secret.sets) if secret.sets is not None else secret.compared(self.values)
        else:
            raise self._other(secret)
        return DensityView(self, pairs)


@dataclass(frozen=True, eq=False)
class DensityView(Nameless):
    """A density belief as a secret reads it: one entry, the value of what is hidden."""

    whole: Density
    pairs: tuple[tuple[int, int], ...] | None
    size: int = 1

    @property
    def source(self) -> str:
        return self.whole.source

    def alphabet(self, entry: int) -> tuple[Hashable, ...]:
        return self.whole.values

    def possible(self, entry: int) -> tuple[bool, ...]:
        return (True,) * len(self.whole.values)

    def position(self, name: Hashable) -> int:
        return self.whole.position(name)

    def components(self) -> tuple[range, ...]:
        return (range(1),)

    def component(self, number: int) -> DensityView:
        return self

    def assumptions(self) -> tuple[str, ...]:
        return self.whole.assumptions()

    def to_dict(self) -> Json:
        return self.whole.to_dict()

    def describe(self) -> str:
        return self.whole.describe()

    def describe_hypothesis(self, value: int) -> str:
        """Word the hypothesis of a hidden value, by its index."""
        return f"{self.whole._hidden} is {number(self.whole.values[value])}"


def _resolution(curves: Iterable[Continuous], declared: Number | None) -> Fraction:
    if declared is None:
        least = min(curve.deviation for curve in curves)
        return Fraction(10) ** math.floor(math.log10(least * FINE))
    step = as_fraction(declared, "resolution", "resolution")
    if step <= 0:
        raise InputError(f"the resolution is {declared!r}", rule="it must be above 0").at("resolution")
    return step


def _by_value(law_of: Mapping[Number, Law], name: str) -> dict[Fraction, Law]:
    if not isinstance(law_of, Mapping):
        raise InputError(
            f"{name} is {law_of!r}", rule="it has one distribution for each value", fix="write {40: Normal(2, 1), ...}"
        ).at(name)
    densities = {as_fraction(value, "a value", name): density for value, density in law_of.items()}
    if len(densities) != len(law_of):
        raise InputError(f"{name} names a value twice").at(name)
    return dict(sorted(densities.items()))


def _references(table: Mapping[Fraction, Continuous]) -> dict[Fraction, Normal]:
    deviation = math.sqrt(math.fsum(curve.deviation**2 for curve in table.values()) / len(table))
    return {value: Normal(curve.mean, deviation) for value, curve in table.items()}


def _check_references(table: Mapping[Fraction, Continuous], normals: Mapping[Fraction, Normal]) -> None:
    wrong = [value for value in normals if not isinstance(normals[value], Normal)]
    if wrong or table.keys() != normals.keys():
        raise InputError(
            "the references are not one normal distribution for each value of what is hidden",
            fix="give {value: Normal(mean, deviation)}, or none",
        ).at("references")
    if len({reference.deviation for reference in normals.values()}) > 1:
        raise InputError(
            "the references have different deviations",
            rule="Zhang22 Algorithm 2 requires one variance for all values", fix="give all of them one deviation",
        ).at("references")  # fmt: skip
