"""A column's mean or sum whose density is stated for each value of what is hidden, as a release file declares it."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, fields
from fractions import Fraction
from itertools import chain
from typing import Annotated, Any, ClassVar, Literal

from annotated_types import MinLen

from takifugu.core.assumptions import Assumption, world
from takifugu.core.errors import InputError, TakifuguError, within
from takifugu.core.plain import toml_of
from takifugu.core.sections import Key, Number, Text, written
from takifugu.model.beliefs import sections
from takifugu.model.beliefs.density import Density
from takifugu.model.beliefs.records.declared_normal import Missing, Ranges, Resolution, readings
from takifugu.model.beliefs.sections import Cited, Public
from takifugu.model.queries.additive.coded import Mean, Sum
from takifugu.numbers import rationals
from takifugu.numbers.densities import Continuous
from takifugu.numbers.densities.normal import Normal, NormalMixture
from takifugu.numbers.densities.piecewise_linear import PiecewiseLinear
from takifugu.numbers.densities.truncated import Truncated
from takifugu.numbers.rationals import as_fraction, as_interval

Numbers = tuple[Number, ...] | None
#: What a density can be: its fields are the keys, and the first one with a written key decides.
_FORMS = {form: tuple(part.name for part in fields(form)) for form in (NormalMixture, PiecewiseLinear, Normal)}


@dataclass(frozen=True, kw_only=True)
class StatedDensity:
    """The density of the answer for one value of what is hidden; several of one value are a class."""

    value: Annotated[Number, Key("the value of what is hidden", 40)]
    mean: Annotated[Number | None, Key("the mean of a normal distribution", 2)] = None
    deviation: Annotated[Number | None, Key("its standard deviation", 1)] = None
    weights: Annotated[Numbers, Key("the weights of a mixture of normal distributions", ["0.5", "0.5"])] = None
    means: Annotated[Numbers, Key("their means", [1, 3])] = None
    deviations: Annotated[Numbers, Key("their standard deviations", [1, 1])] = None
    points: Annotated[Numbers, Key("points of a density that is linear between them", [0, 1, 2])] = None
    heights: Annotated[Numbers, Key("the density at these points", [0, 1, 0])] = None
    low: Annotated[Number | None, Key("cut to what lies from here on", 0)] = None
    high: Annotated[Number | None, Key("cut to what lies up to here", 10)] = None

    def density(self) -> Continuous:
        """Return the density of the written keys, all those of one form."""
        keys = written(self, chain.from_iterable(_FORMS.values()))
        form = next((form for form, names in _FORMS.items() if set(names) & set(keys)), None)
        if form is None or set(keys) != set(_FORMS[form]):
            raise InputError(
                f"the density has the keys {', '.join(keys) or 'of none'}",
                fix="write mean and deviation, or weights, means and deviations, or points and heights",
            )
        whole = form(*map(self._read, _FORMS[form]))
        if self.low is None and self.high is None:
            return whole
        return Truncated(whole, self._read("low"), self._read("high"))

    def check_width(self, step: float) -> None:
        """Raise InputError for a deviation below the step in which the answer is read."""
        for key, values in (("deviation", [self.deviation]), ("deviations", self.deviations or ())):
            for value in values:
                if value is not None and _number(value, key) < step:
                    raise InputError(
                        f"the deviation {value} is less than {step:.3g}", rule="the answer is read in such steps, so "
                        "nothing tells it from one number", fix="write the true deviation, or a finer resolution",
                    ).at(key)  # fmt: skip

    def _read(self, key: str) -> Any:
        """Return the number of a key, its list of numbers, or None."""
        value = getattr(self, key)
        if isinstance(value, tuple):
            return [_number(part, key) for part in value]
        return None if value is None else _number(value, key)


def _number(value: Number, key: str) -> float:
    return float(as_fraction(value, f"the {key}", key))


@dataclass(frozen=True, kw_only=True)
class DensitySection:
    """A column's mean or sum, with its density for each value of what is hidden."""

    kind: Annotated[Literal["density"], Key("a number whose density is known")]
    records: sections.Records
    source: Cited
    column: Annotated[Text, Key("the column of numbers that is published", "weight")]
    answer: Annotated[Literal["mean", "sum"], Key("what is published of it")] = "mean"
    about: Annotated[Text, Key("the sensitive column", "income")]
    function: Annotated[
        Literal["mean", "sum", "parameter"],
        Key('what is hidden of it: "mean", "sum", or the "parameter" of its population'),
    ] = "mean"
    given: Annotated[
        tuple[StatedDensity, ...],
        MinLen(2),
        Key(
            "the density of the answer, for each value of what is hidden",
            [{"value": 40, "mean": 70, "deviation": 2}, {"value": 50, "mean": 71, "deviation": 2}],
        ),
    ]
    ranges: Annotated[Ranges, Key("the least and the largest number that the column can hold", {"weight": [30, 200]})]
    resolution: Resolution
    missing: Missing = None

    hides: ClassVar = ("property", "parameter")

    @property
    def columns(self) -> tuple[str, ...]:
        return (self.column,)

    def ends(self, name: str) -> tuple[Number, Number]:
        """Return the ends of the column's numbers."""
        if name not in self.ranges:
            fix = f"write the least and the largest number that it can hold, {toml_of(name)} = [0, 200]"
            raise InputError("is missing", fix=fix).at("ranges", name)
        return self.ranges[name]

    @property
    def parts(self) -> int:
        """Return what the sum of the column is divided by."""
        return self.records if self.answer == "mean" else 1

    def faults(self) -> Iterator[TakifuguError]:
        step = float(as_fraction(self.resolution, "the resolution", "resolution")) / self.parts
        for place, stated in enumerate(self.given):
            try:
                stated.density()
                stated.check_width(step)
            except TakifuguError as error:
                error.where = ("given", place, *error.where[:1])
                yield error

    def belief(self, public: Public) -> Density:
        given = dict[rationals.Number, list[Continuous]]()
        for place, stated in enumerate(self.given):
            with within("given", place):
                given.setdefault(as_fraction(stated.value, "the value", "value"), []).append(stated.density())
        query = Mean(self.column) if self.answer == "mean" else Sum(self.column)
        step, weight = as_fraction(self.resolution, "the resolution", "resolution"), Fraction(self.records, self.parts)
        low, high = as_interval(self.ranges[self.column], "the range", "ranges", self.column)
        ends = math.floor(low / step) * step * weight, math.ceil(high / step) * step * weight  # also of rounded numbers
        return Density(
            self.about, self.function, given, resolution=None, source=self.source, answer=query,
            rounding=step / 2 * weight, value_range=ends,
        )  # fmt: skip

    def assumptions(self) -> Iterator[Assumption]:
        yield from readings(self.resolution, self.missing)
        yield world("The stated densities are those of numbers that were put into their range.")
