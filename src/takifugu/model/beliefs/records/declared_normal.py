"""Jointly normal columns as a release file declares them: by mean and covariance, or fitted to a public file."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from operator import itemgetter
from typing import Annotated, ClassVar, Literal

from annotated_types import MinLen

from takifugu.core.assumptions import Assumption, reading
from takifugu.core.errors import InputError, TakifuguError
from takifugu.core.plain import toml_of
from takifugu.core.sections import FilePath, Key, Number, PublicFile, Text, written
from takifugu.model.beliefs import Belief, sections
from takifugu.model.beliefs.records.normal import MultivariateNormal
from takifugu.model.beliefs.records.normal_fit import normality
from takifugu.model.beliefs.sections import Cited, Confidence, Private, Public
from takifugu.numbers.rationals import as_fraction, to_text


def exact_texts(numbers: Mapping[str, Number]) -> dict[str, str]:
    """Return numbers by name as texts, alike however they are written."""
    return {name: to_text(as_fraction(number, name)) for name, number in numbers.items()}


#: A column without a range holds numbers up to so many deviations from its mean.
DEVIATIONS = 1024
#: How columns of numbers are read: their ranges, their step, and what becomes of missing numbers.
Ranges = dict[str, tuple[Number, Number]]
Resolution = Annotated[Number, Key("the step that numbers are rounded to when read", "0.1")]
Missing = Annotated[
    dict[str, Number] | None,
    Key("what a missing or infinite value of a column counts as", {"income": 40}, read=exact_texts),
]


@dataclass(frozen=True, kw_only=True)
class NormalFit(PublicFile):
    """Mean and covariance of the columns of a public file."""

    file: Annotated[FilePath, Key("a public file of records", "public.csv")]
    private: Private = False
    confidence: Confidence = None

    def counted(self, belief: NormalSection, source: object) -> Sequence[str]:
        return belief.columns


@dataclass(frozen=True, kw_only=True)
class OtherNormal:
    """Another law that the same columns may have."""

    mean: Annotated[tuple[Number, ...], Key("the mean of each column", [72, 40])]
    covariance: Annotated[
        tuple[tuple[Number, ...], ...], Key("one row of covariances per column", [[110, 20], [20, 81]])
    ]


@dataclass(frozen=True, kw_only=True)
class NormalSection:
    """Columns of numbers that are jointly normal, one independent draw per record."""

    kind: Annotated[Literal["normal"], Key("jointly normal columns")]
    records: sections.Records
    source: Cited
    columns: Annotated[tuple[Text, ...], MinLen(1), Key("the columns of numbers", ["weight", "income"])]
    mean: Annotated[tuple[Number, ...] | None, Key("the mean of each column", [70, 40])] = None
    covariance: Annotated[
        tuple[tuple[Number, ...], ...] | None, Key("one row of covariances per column", [[100, 20], [20, 81]])
    ] = None
    fit: Annotated[
        NormalFit | None,
        Key("estimate both from a public `file`, or with a `confidence` every distribution that it supports"),
    ] = None
    others: Annotated[
        tuple[OtherNormal, ...],
        Key(
            "other distributions that the columns may have instead: noise is enough for each",
            [{"mean": [72, 40], "covariance": [[110, 20], [20, 81]]}],
        ),
    ] = ()
    resolution: Resolution
    ranges: Annotated[
        Ranges,
        Key(
            "the ends that numbers of a column are clipped to, known without the data",
            {"weight": [30, 200], "income": [0, 200]},
        ),
    ] = field(default_factory=dict)
    missing: Missing = None

    hides: ClassVar = ("property", "record", "parameter")

    def faults(self) -> Iterator[TakifuguError]:
        declared = written(self, ("mean", "covariance"))
        if self.records < 2:
            rule = "a property of whole columns is of two records or more, and their number is public"
            yield InputError("the number of records is 1", rule=rule, fix="write a whole number from 2").at("records")
        if self.fit is not None:
            for key in declared:
                yield InputError("is given beside fit", fix="write only one of them").at(key)
        elif len(declared) < 2:
            missing = "covariance" if declared == ["mean"] else "mean"
            yield InputError("is missing", fix="write mean and covariance, or a [belief.fit]").at(missing)
        else:
            try:
                MultivariateNormal(self.mean or (), self.covariance or (), self.columns, self.records)
            except TakifuguError as error:
                error.where = error.where[:1]
                yield error
        for number, other in enumerate(self.others):
            try:
                MultivariateNormal(other.mean, other.covariance, self.columns, self.records)
            except TakifuguError as error:
                yield error.at("others", number, *error.where[:1])

    def belief(self, public: Public) -> MultivariateNormal:
        if self.fit is None:
            return self._normal(self.mean or (), self.covariance or (), 1)
        numbers = self._fitted(public, self.fit)
        fitted = MultivariateNormal.fit(
            numbers, self.columns, source=f"{self.source}; fitted to {self.fit.file}", private=self.fit.private,
            records=self.records, ranges=self.ranges, resolution=self.resolution,
            replaced=tuple(self.missing or {}), confidence=self.fit.confidence,
        )  # fmt: skip
        self._check_width(fitted)
        return fitted

    def remarks(self, public: Public) -> Iterator[str]:
        """Yield the linear part of the public numbers that looks least normal; of private numbers nothing is said."""
        if self.fit is None or self.fit.private:
            return
        columns = {name: list(map(float, texts)) for name, texts in self._fitted(public, self.fit).items()}
        parts = list(normality(columns))
        if not parts:
            return
        name, skewness, excess, chance = min(parts, key=itemgetter(3))
        chance_text, verdict = f"{chance:.2g}", "the belief is a guess about its shape, too"
        if chance < 1e-6:
            chance_text = "below 1e-6"
        if chance >= 0.05:
            verdict = "no sign against the belief"
        yield (
            f"how normal the {len(columns[self.columns[0]]):,} rows of {self.fit.file} are: least so is {name}, with "
            f"skewness {skewness:.2g} and excess kurtosis {excess:.2g} (0 and 0 of normal numbers; as much by chance: "
            f"{chance_text}, Jarque and Bera): {verdict}"
        )

    def _fitted(self, public: Public, fit: NormalFit) -> dict[str, list[str]]:
        """Return the numbers of the public file, by column."""
        table = public.open(fit)
        numbers: dict[str, list[str]] = {name: [] for name in self.columns}
        for row in table.texts(self.columns):
            for name, text in zip(self.columns, row, strict=True):
                numbers[name].append("nan" if text is None else table.number(text, name))
        return numbers

    def class_with(self, belief: Belief) -> list[Belief]:
        """Return a belief with the other ones of its class."""
        beliefs = [belief]
        for number, other in enumerate(self.others, start=2):
            beliefs.append(self._normal(other.mean, other.covariance, number))
        return beliefs

    def _normal(
        self, means: Sequence[Number], covariance: Sequence[Sequence[Number]], number: int
    ) -> MultivariateNormal:
        source = f"{self.source}; distribution {number} of {1 + len(self.others)}" if self.others else self.source
        belief = MultivariateNormal(
            means, covariance, self.columns, self.records, self.ranges, self.resolution, source,
            tuple(self.missing or {}),
        )  # fmt: skip
        self._check_width(belief)
        return belief

    @property
    def _farthest(self) -> Fraction:
        """The end of a column without a range: sums of its steps stay below 2**62."""
        return min(2**50, 2**61 // max(self.records, 1)) * as_fraction(self.resolution, "the resolution", "resolution")

    def ends(self, name: str) -> tuple[Number, Number]:
        """Return the ends that numbers of a column are clipped to."""
        return self.ranges[name] if name in self.ranges else (to_text(-self._farthest), to_text(self._farthest))

    def _check_width(self, belief: MultivariateNormal) -> None:
        """Refuse a column without a range that could leave what sums hold."""
        for place, name in enumerate(belief.columns):
            farthest = abs(belief.mean[place]) + Fraction(DEVIATIONS * math.sqrt(belief.covariance[place][place]))
            if name not in self.ranges and farthest > self._farthest:
                step = to_text(as_fraction(self.resolution, "the resolution"))
                raise InputError(
                    f"numbers of {name!r} may be too large for a sum in steps of {step}",
                    fix=f"write its range, {toml_of(name)} = [0, 200], or a coarser resolution",
                ).at("ranges", name)

    def assumptions(self) -> Iterator[Assumption]:
        yield from readings(self.resolution, self.missing)


def readings(resolution: Number, missing: dict[str, Number] | None) -> Iterator[Assumption]:
    """Yield what is assumed of numbers that are rounded, and of those that are missing."""
    step = to_text(as_fraction(resolution, "the resolution"))
    yield reading(f"Numbers are rounded to multiples of {step} when they are read.")
    for name, value in (missing or {}).items():
        yield reading(f"A missing or infinite value of {name!r} counts as {value}, as if that had been observed.")
