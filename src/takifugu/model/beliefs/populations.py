"""A belief about the rows of one person: each is drawn from one of several populations, and which one is hidden.

Kawamoto19 §2: a population is a distribution of one value. A person has at most `rows` of them. Where they are
declared independent given the population, r rows tell r times what one tells; where they may depend on each other, the
distributions of single rows say nothing about several together: (x, x) and (x, 1 - x), x a fair coin, have the same.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import chain, combinations
from typing import Any, ClassVar, TypedDict, Unpack

from takifugu.core.assumptions import Assumption, world
from takifugu.core.cache import memoised
from takifugu.core.columns import value_of
from takifugu.core.entries import Nameless, Undivided
from takifugu.core.errors import InputError
from takifugu.core.plain import ByValue, Json, Plain, set_fields, to_plain
from takifugu.core.rules import check_type, check_written_apart, list_of, members_of
from takifugu.model.beliefs.counted_populations import (
    Law,
    Sample,
    Value,
    check_supports,
    checked_values,
    covering,
    masses_of,
    prior_of,
    spread,
)
from takifugu.model.beliefs.population_region import Regions, is_number
from takifugu.model.beliefs.states import first_few
from takifugu.model.secrets.families import View
from takifugu.numbers.rationals import Number, as_fraction, as_non_negative, as_truth, as_whole, to_text
from takifugu.numbers.transport.bottleneck import least_largest


class About(TypedDict, total=False):
    """What is declared of people's rows beside the distributions of single ones."""

    rows: int
    independent: bool
    scales: Sequence[Number]
    measure: str
    prior: Mapping[Hashable, Number] | None
    source: str
    supports: str


@dataclass(frozen=True, eq=False)
class FromPopulations(Nameless, Undivided, ByValue):
    """Model a person's rows as drawn from one of several populations (Kawamoto19).

    With `regions` the populations were counted (see `counted`), and the guarantee holds for all distributions in them.

    Args:
        laws: The distribution of each population, value -> probability, kept exact. Values are texts, numbers, or
            places as pairs of numbers.
        rows: Rows of one person.
        independent: Whether a person's rows are independent, given the population.
        scales: Length of one unit of either coordinate of a place.
        measure: Unit of these lengths, such as "m".
        prior: Weights of the values where an error is averaged; None for the mean of the populations.
        source: Where the distributions come from, in words; certificates print it.
        supports: "refuse" a value that is possible in one population only, or "align" the populations.
        regions: The class of each population, where it was counted.

    Raises:
        InputError: For fewer than two populations, a population of one value, probabilities that do not sum to 1,
            coordinates that are not finite, rows below 1, and different supports without "align".

    Examples:
        >>> belief = FromPopulations({"home": {"a": "0.8", "b": "0.2"}, "out": {"a": "0.3", "b": "0.7"}}, rows=2)
        >>> belief.populations, belief.alphabet(0), belief.size
        (('home', 'out'), ('a', 'b'), 2)
    """

    populations: tuple[str, ...]
    values: tuple[Value, ...]
    laws: tuple[Law, ...]
    rows: int
    independent: bool
    scales: tuple[Fraction, Fraction]
    measure: str
    prior: Law
    source: str
    regions: Regions | None

    answers: ClassVar = {
        "how data are read": "analysis.questions.coded_rows:of_rows",
        "the list of joint states": "audit.populations:RowStates",
    }

    def __init__(
        self,
        laws: Mapping[str, Mapping[Any, Number]],
        rows: int = 1,
        independent: bool = False,
        scales: Sequence[Number] = (1, 1),
        measure: str = "",
        prior: Mapping[Any, Number] | None = None,
        source: str = "assumed",
        supports: str = "refuse",
        regions: Regions | None = None,
    ) -> None:
        if not isinstance(laws, Mapping) or len(laws) < 2:
            raise InputError("there are fewer than two populations", fix="give a distribution by each name").at("laws")
        check_written_apart(laws, "there are the populations", "laws")
        read = {str(name): masses_of(law, f"the population {name!r}") for name, law in laws.items()}
        values = checked_values(list(dict.fromkeys(chain.from_iterable(read.values()))))
        masses_by_name = {}
        for name, law in read.items():
            masses_by_name[name] = tuple(law.get(value, Fraction(0)) for value in values)
        check_supports(masses_by_name, values, supports)
        count = as_whole(value_of(rows), "the number of a person's rows", "rows", least=1)
        pair = list_of(scales, "the scales", "scales", "(1, 1)")
        units = tuple(as_fraction(scale, "a scale", "scales") for scale in pair)
        if len(units) != 2 or min(units) <= 0:
            raise InputError(f"the scales are {pair!r}", rule="they are two numbers above 0").at("scales")
        all_masses = tuple(masses_by_name.values())
        if regions is not None:
            check_type(regions, Regions, "a class of populations", "write FromPopulations.counted(...)", "regions")
            if {*regions.by_name} != {*masses_by_name} or len(regions.tree.values) != len(values):
                what = "the regions are those of other populations"
                raise InputError(what, fix="count the same values").at("regions")
        set_fields(
            self, populations=tuple(masses_by_name), values=values, laws=all_masses, rows=count,
            independent=as_truth(independent, "independent"), scales=units, measure=str(measure),
            prior=prior_of(prior, values, all_masses), source=source, regions=regions,
        )  # fmt: skip

    @staticmethod
    def counted(
        samples: Mapping[str, Sample],
        values: Sequence[Hashable],
        confidence: float = 0.99,
        smoothing: Number = 1,
        **more: Unpack[About],
    ) -> FromPopulations:
        """Return the class of populations that counts support.

        Args:
            samples: The counts of each population, as `samples_of` makes them.
            values: The values, in the counts' order.
            confidence: Probability that the class holds all true distributions, between 0 and 1.
            smoothing: Added to each count, for the distributions that losses are averaged over.
            more: Further arguments of `FromPopulations`.

        Returns:
            The belief; the guarantee holds for the whole class.

        Raises:
            InputError: For a confidence outside (0, 1).

        Examples:
            >>> from takifugu.model.beliefs.counted_populations import samples_of
            >>> samples = samples_of([("home", 0), ("home", 1), ("out", 1)], 2)
            >>> FromPopulations.counted(samples, ["a", "b"], source="a survey").regions.sizes
            {'home': 2, 'out': 1}
        """
        share = as_non_negative(smoothing, "smoothing", "smoothing")
        every = checked_values(members_of(values, "the values", "values", "['a', 'b']"))
        regions = covering(samples, every, confidence)
        laws = {name: dict(zip(every, of.smoothed(share), strict=True)) for name, of in samples.items()}
        return FromPopulations(laws, regions=regions, **more)

    @staticmethod
    def spread(
        names: Sequence[str], values: Sequence[Hashable], largest_mass: Number, **more: Unpack[About]
    ) -> FromPopulations:
        """Return the class of populations in which no value has more than a given probability (Kawamoto19 Section 6.2).

        Losses are averaged over the values alike.

        Args:
            names: Names of the populations.
            values: The values.
            largest_mass: Largest probability of a value, from 1 / number of values to 1.
            more: Further arguments of `FromPopulations`.

        Returns:
            The belief; the guarantee holds for the whole class.

        Raises:
            InputError: For a mass that no distribution keeps.

        Examples:
            >>> FromPopulations.spread(["home", "out"], ["a", "b", "c"], "1/2", source="a guess").populations
            ('home', 'out')
        """
        populations = list_of(names, "the populations", "names", "['home', 'out']")
        every = checked_values(members_of(values, "the values", "values", "['a', 'b']"))
        regions = spread(populations, every, largest_mass)
        laws = {name: dict.fromkeys(every, Fraction(1, len(every))) for name in populations}
        return FromPopulations(laws, regions=regions, **more)

    @property
    def size(self) -> int:
        return self.rows

    @property
    def adds_up(self) -> bool:
        """Return whether rows add up: r tell at most r times one."""
        return self.rows == 1 or self.independent

    @property
    def is_planar(self) -> bool:
        """Whether values are places, pairs of numbers."""
        return isinstance(self.values[0], tuple)

    @cached_property
    def places(self) -> tuple[tuple[float, float], ...]:
        """Return the places among the values, as pairs of coordinates."""
        return tuple(value for value in self.values if isinstance(value, tuple))

    @cached_property
    def place(self) -> dict[Value, int]:
        """Return the number of each value."""
        return {value: place for place, value in enumerate(self.values)}

    @cached_property
    def which(self) -> WhichOf:
        """Return the belief as a secret about the population reads it."""
        return WhichOf(self)

    def alphabet(self, entry: int) -> tuple[Value, ...]:
        return self.values

    def position(self, name: Hashable) -> int:
        raise InputError(f"the rows of a person have no column {name!r}", fix="publish LocalValue()")

    def possible(self, entry: int) -> tuple[bool, ...]:
        return tuple(map(any, zip(*self.laws, strict=True)))

    def distance(self, first: Value, second: Value) -> float:
        """Return the error of taking one value for another.

        Args:
            first: One value.
            second: The other value.

        Returns:
            The length between places, |x - y| for numbers, else 0 or 1.
        """
        if isinstance(first, tuple) and isinstance(second, tuple):
            (a, b), (c, d) = first, second
            return math.hypot(float(self.scales[0]) * (a - c), float(self.scales[1]) * (b - d))
        if self._are_numbers:
            return abs(float(first) - float(second))  # type: ignore[arg-type]
        return float(first != second)

    @cached_property
    def _are_numbers(self) -> bool:
        return all(map(is_number, self.values))

    @cached_property
    def nearest(self) -> float:
        """Return the least distance between two values."""
        return min(self.distance(x, y) for x, y in combinations(self.values, 2))

    @memoised
    def w_infinity(self, name: str, other: str) -> Fraction | None:
        """Return the least largest move from one population to another.

        Args:
            name: One population.
            other: The other one.

        Returns:
            The length; None where they were counted, as it is then unknown.
        """
        if self.regions is not None:
            return None
        return Fraction(least_largest(self._law(name), self._law(other), self.distance)[0])

    def _law(self, name: str) -> dict[Value, Fraction]:
        return dict(zip(self.values, self.laws[self.populations.index(name)], strict=True))

    @memoised
    def only(self, names: tuple[str, ...]) -> FromPopulations:
        """Return the belief about some of the populations.

        Args:
            names: Their names.

        Returns:
            The belief.
        """
        laws, prior = {name: self._law(name) for name in names}, dict(zip(self.values, self.prior, strict=True))
        return FromPopulations(
            laws, self.rows, self.independent, self.scales, self.measure, prior, self.source, "align",
            None if self.regions is None else self.regions.only(names),
        )  # fmt: skip

    def assumptions(self) -> tuple[Assumption, ...]:
        law_of_row = world("Each row of a person follows the stated distribution of that person's population.")
        class_of = () if self.regions is None else self.regions.assumptions()
        if self.rows == 1:
            return (law_of_row, world("No person has more than 1 row."), *class_of)
        together = world("The rows of a person may depend on each other in any way.")
        if self.independent:
            together = world("Given the population, the rows of a person are independent of each other.")
        return (law_of_row, world(f"No person has more than {self.rows} rows."), together, *class_of)

    def to_dict(self) -> Json:
        laws = {}
        for name, law in zip(self.populations, self.laws, strict=True):
            laws[name] = list(map(to_text, law))
        return {
            "kind": "populations",
            "values": list(map(to_plain, self.values)), "laws": laws,
            "rows": self.rows, "independent": self.independent, "scales": list(map(to_text, self.scales)),
            "measure": self.measure, "prior": list(map(to_text, self.prior)), "source": self.source,
            "regions": None if self.regions is None else self.regions.to_dict(),
        }  # fmt: skip

    @staticmethod
    def from_dict(data: Plain) -> FromPopulations:
        values = [tuple(value) if isinstance(value, list) else value for value in data["values"]]
        laws = {name: dict(zip(values, law, strict=True)) for name, law in data["laws"].items()}
        return FromPopulations(
            laws, data["rows"], data["independent"], data["scales"], data["measure"],
            dict(zip(values, data["prior"], strict=True)), data["source"], "align",
            None if data.get("regions") is None else Regions.from_dict(data["regions"], values),
        )  # fmt: skip

    def describe(self) -> str:
        names = first_few(self.populations, " or ")
        word = "places" if self.is_planar else "values"
        count = "1 row" if self.rows == 1 else f"up to {self.rows} rows"
        words = f"{count} of a person, each of {len(self.values)} {word}, drawn from the population {names}"
        return f"{words} ({self.source}{'' if self.regions is None else self.regions.in_short})"


@dataclass(frozen=True, eq=False)
class WhichOf(View):
    """The belief as a secret about the population reads it: one entry, whose values are the populations."""

    whole: FromPopulations
    pairs = None

    answers: ClassVar = {"the list of joint states": "audit.populations:WhichStates"}

    @property
    def values(self) -> tuple[str, ...]:
        return self.whole.populations

    def describe_hypothesis(self, value: int) -> str:
        """Word the hypothesis of a value, by its index."""
        return f"the population is {self.values[value]!r}"
