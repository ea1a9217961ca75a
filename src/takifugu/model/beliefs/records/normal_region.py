"""Jointly normal columns of which a public sample is known: every law that the sample supports.

The class has the laws within the ends of slopes and variances that the sample tells (`normal_fit`). A loss grows with
the size of a slope, and falls with the variances, so it is largest at an end of the slope and the least variances
(docs/theory/attributes.md#fitted-normal-columns): these are the `laws` of a column.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations
from operator import itemgetter
from typing import ClassVar

from takifugu.core.assumptions import Assumption, world
from takifugu.core.errors import InputError, Unsupported
from takifugu.core.plain import Json, Plain, set_fields
from takifugu.core.rules import check_type
from takifugu.model.beliefs.records.normal import MultivariateNormal
from takifugu.model.beliefs.records.normal_fit import Ends
from takifugu.model.beliefs.records.normal_views import ColumnsView, NormalView, records_view_of
from takifugu.model.queries.resolving.real_columns import ColumnSums
from takifugu.model.secrets import Secret
from takifugu.model.secrets.of_entries import EveryEntry
from takifugu.model.secrets.properties import DatasetProperty, DistributionParameter
from takifugu.numbers.normal.matrices import Vector


class NormalRegion(MultivariateNormal):
    """Model independent, jointly normal records by every distribution that a public sample supports.

    `MultivariateNormal.fit` makes one, with a confidence. The guarantee holds for the whole class, not for the estimate
    alone.

    Args:
        estimate: The sample's own distribution, by which queries and data are read.
        ends: Ends of the class.

    Examples:
        >>> sample = {"x": [1, 2, 3, 4], "y": [1, 3, 2, 4]}
        >>> len(MultivariateNormal.fit(sample, source="a public survey", confidence=0.99).laws("x"))
        2
    """

    ends: Ends

    answers: ClassVar = {
        "the moments of a count": "analysis.questions.likely_range:unknown",
        "the view of a secret": "model.beliefs.records.normal_region:region_view_of",
    }

    def __init__(self, estimate: MultivariateNormal, ends: Ends) -> None:
        fit = "write MultivariateNormal.fit(data, source=..., confidence=0.99)"
        check_type(estimate, MultivariateNormal, "the distribution of a sample", fit, "estimate")
        set_fields(self, **vars(estimate))
        set_fields(self, ends=ends)

    def laws(self, name: str) -> tuple[MultivariateNormal, ...]:
        """Return the distributions of the class that lose most where a column is hidden.

        Args:
            name: The column.

        Returns:
            The distributions.
        """
        x, laws = self.columns.index(name), dict[Vector, MultivariateNormal]()
        for end in (0, 1):
            slopes = tuple(Fraction(1) if y == x else ends[end] for y, ends in enumerate(self.ends.slopes[x]))
            if slopes not in laws:
                laws[slopes] = ExtremeLaw(self, x, slopes)
        return tuple(laws.values())

    def assumptions(self) -> tuple[Assumption, ...]:
        return (
            *super().assumptions(),
            world(
                "The joint normal distribution is any in the class that the public sample supports. The class covers "
                f"the true one with confidence {self.ends.confidence}, and the guarantee holds only if it does."
            ),
            world("The rows of the public sample are independent draws of the same joint normal distribution."),
        )

    def to_dict(self) -> Json:
        return {**super().to_dict(), "kind": "normal-region", "region": self.ends.to_dict()}

    @staticmethod
    def from_dict(data: Plain) -> NormalRegion:
        return NormalRegion(MultivariateNormal.from_dict(data), Ends.from_dict(data["region"]))

    def describe(self) -> str:
        names = " and ".join(map(repr, self.columns))
        return (
            f"{self.records} independent records of the jointly normal columns {names}, under every distribution that "
            f"{self.ends.sample:,} public rows support (confidence {self.ends.confidence}; {self.source})"
        )


class ExtremeLaw(MultivariateNormal):
    """The law with given slopes on column `x`, and the least variances of x and of the others given x."""

    def __init__(self, region: NormalRegion, x: int, slopes: Vector) -> None:
        least, residuals = region.ends.variances[x], region.ends.residuals[x]
        covariance = []
        for y, slope in enumerate(slopes):
            row = [slope * other * least for other in slopes]
            row[y] += residuals[y]
            covariance.append(tuple(row))
        fields = {name: value for name, value in vars(region).items() if name in MultivariateNormal.__annotations__}
        set_fields(self, **{**fields, "covariance": tuple(covariance)}, x=x)

    x: int

    def pivots(self, read: Sequence[int]) -> Vector:
        """Bound the variance of each column given x and earlier ones, by at most that of any law of the class."""
        others = [column for column in read if column != self.x]
        first, *further = super().pivots([self.x, *others])
        return (first, *further) if self.x in read else tuple(further)


@dataclass(frozen=True, eq=False)
class RegionView(ColumnsView):
    """One entry, the hypothesis about column `x`, once under each of the `laws` that lose most."""

    whole: NormalRegion
    x: int
    laws: tuple[NormalView, ...]

    answers: ClassVar = {
        "the distribution of the answer": "analysis.answer_laws.normal:ShiftLaw",
        "the normal distribution of the answer": "analysis.answer_laws.normal:ViewLaw",
        "the density that the audit looks at": "audit.normal_columns:of_region_view",
    }

    @property
    def sets(self) -> tuple[()]:
        """Return none: sets of values are refused with the secret."""
        return ()

    @property
    def values(self) -> tuple[str, ...]:
        return tuple(map(self.describe_hypothesis, range(len(self.laws) * len(self.laws[0].values))))

    @property
    def pairs(self) -> tuple[tuple[int, int], ...]:
        """Return the pairs of hypotheses that are compared, each under one law."""
        view, size = self.laws[0], len(self.laws[0].values)
        every = view.pairs
        if every is None:
            every = tuple(sorted(combinations(range(size), 2), key=itemgetter(1)))
        pairs: tuple[tuple[int, int], ...] = ()
        for number in range(len(self.laws)):
            pairs += tuple((number * size + a, number * size + b) for a, b in every)
        return pairs

    def describe_hypothesis(self, index: int) -> str:
        number, place = divmod(index, len(self.laws[0].values))
        words = self.laws[number].values[place]
        if len(self.laws) == 1:
            return words
        return f"{words}, where slopes on {self.whole.columns[self.x]!r} are {('least', 'largest')[number]}"

    def law_of(self, answer: ColumnSums, a: int, b: int) -> tuple[NormalView, int, int]:
        """Return two hypotheses under the law that they share."""
        self.check(answer)
        size = len(self.laws[0].values)
        return self.laws[a // size], a % size, b % size

    def check(self, answer: ColumnSums) -> None:
        """Raise Unsupported for an answer whose worst law is not known."""
        others = [self.whole.columns[column] for column in answer.read_columns if column != self.x]
        of_population = self.laws[0].of and self.x in answer.read_columns
        if len(others) > (0 if of_population else 1):
            hidden = self.whole.columns[self.x]
            raise Unsupported(
                f"the answer reads {' and '.join(map(repr, others))}, and what is hidden is of {hidden!r}; a fit with "
                "a confidence bounds "
                + ("no sum of columns of a population" if of_population else "each column beside it, and no two"),
                fix="publish one column at a time, or declare the distributions (mean, covariance, others)",
            )

    def entry_change(self, answer: ColumnSums) -> Fraction:
        """Bound what one record changes, in L1, under whatever law."""
        return self.laws[0].entry_change(answer)


def region_view_of(belief: NormalRegion, secret: Secret) -> RegionView:
    """Return the view of a region for a secret about one of its columns."""
    if belief.is_process:
        raise InputError(
            "the columns were fitted with a confidence, and there is one record",
            rule="the worst distribution is known for several records", fix="declare the mean and the covariance",
        ).at("records")  # fmt: skip
    name = belief.read.named(_hidden_column(secret))
    views = tuple(records_view_of(law, secret) for law in belief.laws(name))
    return RegionView(belief, secret, belief.columns.index(name), views)


def _hidden_column(secret: Secret) -> Hashable:
    """Return the column that a secret is about, if its worst distribution is known."""
    if isinstance(secret, DatasetProperty):
        if len(secret.columns) == 1 and secret.function in ("mean", "sum") and secret.sets is None:
            return secret.columns[0]
    elif isinstance(secret, EveryEntry) and secret.attribute is not None:
        return secret.attribute
    elif isinstance(secret, DistributionParameter) and secret.map in (None, "mean"):
        return secret.column
    raise InputError(
        f"what is hidden is {secret.describe()}",
        rule="of columns that were fitted with a confidence the worst distribution is known for the mean, the sum or "
        "one value of a single column",
        fix="hide one column up to a max_difference, or declare the distributions (mean, covariance, others)",
    ).at("secrets")  # fmt: skip
