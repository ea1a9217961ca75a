"""A continuous answer whose density is stated given each value of what is hidden (Zhang22 §4.2)."""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from operator import itemgetter
from typing import ClassVar, Protocol, TypeVar, runtime_checkable

from takifugu.core.assumptions import Assumption, world
from takifugu.core.entries import Nameless, Undivided
from takifugu.core.errors import InputError, within
from takifugu.core.plain import ByValue, Json, Plain, set_fields
from takifugu.core.rules import check_any
from takifugu.model.queries.additive.coded import Identity
from takifugu.model.queries.forms import Query, own_grid
from takifugu.model.queries.resolving.real_columns import RealNumber
from takifugu.model.secrets.declared_properties import dataset_property, distribution_parameter
from takifugu.model.secrets.properties import DatasetProperty, DistributionParameter, NamedFunction, Value
from takifugu.numbers.densities import Continuous, check_density, from_dict
from takifugu.numbers.densities.normal import Normal
from takifugu.numbers.densities.truncated import truncated
from takifugu.numbers.rationals import Number, as_fraction, as_interval, as_non_negative, as_positive, to_text

Law = TypeVar("Law", bound=Continuous)

#: An undeclared resolution is a power of ten, at most this share of the least deviation.
FINE = 1e-6


def grid_of(curves: Iterable[Continuous], declared: Number | None) -> Fraction:
    """Return the declared step of the published number, or a fine one."""
    if declared is None:
        least = min(curve.deviation for curve in curves)
        return Fraction(10) ** math.floor(math.log10(least * FINE))
    return as_positive(declared, "the resolution", "resolution")


def laws_by_value(law_of: Mapping[Number, Law | Sequence[Law]], name: str) -> list[tuple[Fraction, Law]]:
    """Return each value with each of its laws, by value."""
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


@runtime_checkable
class OfOneColumn(Protocol):
    """A query that may read one column only."""

    @property
    def attribute(self) -> Hashable | None: ...


@dataclass(frozen=True, eq=False)
class Density(Nameless, Undivided, ByValue):
    """Model an answer that has a declared density for each value of the hidden property.

    A value may have several possible densities. Each is compared with each of another value, which covers every choice
    among them and every mixture. A secret about sets compares their values one by one.

    Args:
        attribute: The hidden column, or several.
        function: The hidden function of it, as in `dataset_property`.
        given: The answer's density, or a list of possible ones, for each value of the hidden property.
        references: Normal distributions of one deviation that stand for the densities in Zhang22 Algorithm 2; None
            takes those of the same means and the average variance.
        resolution: Grid of the published number, in answer units, where the query declares none.
        source: Where the densities come from, in words; certificates print it.
        of: The values that a "share" counts.
        answer: The query whose answer has the densities; None for the published number itself.
        rounding: Largest distance between a number that is read and the number that has the density.
        value_range: (low, high) of the number, as it is and as it is read: the densities are cut to it, and data
            outside it are refused. With it the mechanism "group-dp" composes. None for no ends.

    Raises:
        InputError: For a value without a density or named twice, for references that do not fit, and for a density
            with less than 1e-9 of its mass in the range.

    Examples:
        >>> from takifugu.numbers.densities.bates import Bates
        >>> belief = Density("income", "mean", {40: Bates(12, 1, 3), 50: Bates(12, 1.5, 3.5)})
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
    answer: Query = field(default_factory=Identity)
    rounding: Fraction = Fraction(0)
    value_range: tuple[Fraction, Fraction] | None = None

    answers: ClassVar = {
        "how data are read": "analysis.questions.real_columns:of_number",
        "the view of a secret": "model.beliefs.density_views:view_of",
    }

    def __init__(
        self,
        attribute: str | Iterable[str],
        function: str | Iterable[Number] | NamedFunction,
        given: Mapping[Number, Continuous | Sequence[Continuous]],
        references: Mapping[Number, Normal | Sequence[Normal]] | None = None,
        resolution: Number | None = None,
        source: str = "assumed",
        of: Value | Iterable[Value] | None = None,
        answer: Query | None = None,
        rounding: Number = 0,
        value_range: tuple[Number, Number] | None = None,
    ) -> None:
        """Check the densities of one published number."""
        if isinstance(function, str) and function == "parameter":
            hidden: DatasetProperty | DistributionParameter = distribution_parameter(attribute)  # type: ignore[arg-type]
        else:
            hidden = dataset_property(attribute, function, of=of)
        table = _densities(given)
        if references is None:
            normals = references_of(table)
        else:
            normals = laws_by_value(references, "references")
        check_references(table, normals)
        ends = None if value_range is None else as_interval(value_range, "the range", "value_range")
        set_fields(
            self, about=hidden, values=tuple(value for value, _ in table), curves=_cut(table, ends),
            references=tuple(normal for _, normal in normals),
            resolution=grid_of((curve for _, curve in table), resolution),
            source=source, answer=Identity() if answer is None else answer,
            rounding=as_non_negative(rounding, "the rounding", "rounding"), value_range=ends,
        )  # fmt: skip

    @property
    def size(self) -> int:
        return 1

    @property
    def columns(self) -> tuple[str, ...]:
        """Return the columns that the answer reads.

        If it reads the hidden number itself, these are that number's columns.
        """
        if isinstance(self.answer, OfOneColumn) and self.answer.attribute is not None:
            return (str(self.answer.attribute),)
        if isinstance(self.about, DistributionParameter):
            return (self.about.column,)
        return self.about.columns

    def alphabet(self, entry: int) -> tuple[Hashable, ...]:
        return ()  # the number itself, which is any

    def possible(self, entry: int) -> tuple[bool, ...]:
        return ()

    def position(self, name: Hashable) -> int:
        raise InputError(f"the answer has no column {name!r}", fix="publish Identity()")

    def resolve(self, query: Query) -> RealNumber:
        """Return the one answer of the belief.

        Args:
            query: The query.

        Returns:
            The answer, a real number.

        Raises:
            InputError: For a query about another column, or with codes.
        """
        if {**query.to_dict(), "grid": None} != {**self.answer.to_dict(), "grid": None}:
            raise InputError(
                f"the belief is about one published number, {self.answer.describe()}, and the query is "
                f"{query.describe()}",
                fix="publish Identity()" if self.answer == Identity() else f"publish {self.answer.describe()}",
            ).at("query")
        reach = None if self.value_range is None else self.value_range[1] - self.value_range[0]
        return RealNumber(own_grid(query) or self.resolution, reach)

    @property
    def hidden(self) -> str:
        if isinstance(self.about, DatasetProperty):
            return self.about.what
        return f"the parameter of {self.about.column!r} in the population"

    def assumptions(self) -> tuple[Assumption, ...]:
        stated = "the stated density" if self.is_single else "one of the stated densities"
        if self.value_range is not None:
            low, high = map(to_text, self.value_range)
            stated += f", cut to numbers from {low} to {high}"
        if not self.is_single:
            stated += ", or a mixture of them"
        read = f", and is read within {to_text(self.rounding)} of it" if self.rounding else ""
        return (world(f"Given {self.hidden}, the answer has {stated}{read}."),)

    @property
    def is_single(self) -> bool:
        """Return whether each value has one density only."""
        return len(set(self.values)) == len(self.values)

    def to_dict(self) -> Json:
        rows = zip(self.values, self.curves, self.references, strict=True)
        more: Json = {} if self.answer == Identity() else {"answer": self.answer.to_dict()}
        if self.rounding:
            more["rounding"] = to_text(self.rounding)
        if self.value_range is not None:
            more["value_range"] = list(map(to_text, self.value_range))
        return {
            "kind": "density", "about": self.about.to_dict(), "resolution": to_text(self.resolution),
            "given": [[to_text(value), curve.to_dict(), reference.to_dict()] for value, curve, reference in rows],
            "source": self.source, **more,
        }  # fmt: skip

    @staticmethod
    def from_dict(data: Plain) -> Density:
        from takifugu.model import queries, secrets

        hidden, of = secrets.from_dict(data["about"]), None
        column: str | tuple[str, ...]
        function: str | tuple[Fraction, ...] | NamedFunction
        if isinstance(hidden, DistributionParameter):
            column, function = hidden.column, "parameter"
        elif isinstance(hidden, DatasetProperty):
            column, function, of = hidden.columns, hidden.function, hidden.of
        else:
            raise InputError(f"a density is about {hidden.describe()}", rule="it hides a property, or a parameter")
        curves, references = dict[Number, list[Continuous]](), dict[Number, list[Normal]]()
        for value, curve, reference in data["given"]:
            curves.setdefault(value, []).append(from_dict(curve))
            references.setdefault(value, []).append(Normal.from_dict(reference))
        answer = None
        if "answer" in data:
            answer = queries.from_dict(data["answer"])
        source = data.get("source", "assumed")
        return Density(
            column, function, curves, references, data["resolution"], source, of, answer, data.get("rounding", 0),
            data.get("value_range"),
        )  # fmt: skip

    def describe(self) -> str:
        count = len(set(self.values))
        article, stated = self.answer.describe(), "one of several stated densities"
        if self.answer == Identity():
            article = "an answer"
        if self.is_single:
            stated = "a stated density"
        return f"{article} with {stated} given each of {count} values of {self.hidden} ({self.source})"


def _densities(given: Mapping[Number, Continuous | Sequence[Continuous]]) -> list[tuple[Fraction, Continuous]]:
    """Return the densities of two or more values, in order."""
    table = laws_by_value(given, "given")
    if len(dict(table)) < 2:
        fewer = "the belief knows fewer than two values of what is hidden"
        raise InputError(fewer, fix="give two or more").at("given")
    for value, curve in table:
        with within("given", to_text(value)):
            check_density(curve)
    return table


def _cut(table: list[tuple[Fraction, Continuous]], ends: tuple[Fraction, Fraction] | None) -> tuple[Continuous, ...]:
    """Return the densities given that the number lies between the ends; InputError where it hardly does.

    All are cut at an end beyond which one of them has a mass of 1e-300 or more, as its edges tell.
    """
    if ends is None:
        return tuple(curve for _, curve in table)
    low, high = map(float, ends)
    least = low if any(curve.edges[0] < low for _, curve in table) else -math.inf
    most = high if any(curve.edges[-1] > high for _, curve in table) else math.inf
    curves = list[Continuous]()
    for value, curve in table:
        try:
            curves.append(truncated(curve, least, most))
        except InputError:
            raise InputError(
                f"the density is {curve.describe()}, and the answer is declared to lie between {low:g} and {high:g}",
                rule="there it has less than 1e-9 of its mass",
                fix="write the true range, or the density of numbers that lie in it",
            ).at("given", to_text(value)) from None
    return tuple(curves)
