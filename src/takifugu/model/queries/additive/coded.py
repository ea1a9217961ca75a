"""Queries that add up codes of states: sums, means, weighted sums, the value itself."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from fractions import Fraction
from itertools import chain
from pathlib import Path
from typing import Annotated, ClassVar, Literal

from takifugu.core.columns import no_list, value_of
from takifugu.core.entries import Entries, positions
from takifugu.core.errors import InputError, within
from takifugu.core.plain import form, set_fields
from takifugu.core.rules import check_as_many, check_type
from takifugu.core.sections import FilePath, Key, Text
from takifugu.core.sections import Number as Written
from takifugu.model.queries.answer import Additive, Chosen, State
from takifugu.model.queries.coding import chosen_mask, coded
from takifugu.model.queries.forms import (
    CODES,
    RUNS,
    Query,
    codes_from,
    codes_to,
    copied_codes,
    entry_tuple,
    grid_or_none,
    where,
)
from takifugu.model.queries.sections import RECORDS, Attribute, Grid, Variables, meant
from takifugu.model.queries.sections import Codes as CodesKey
from takifugu.numbers.number_files import numbers_in
from takifugu.numbers.rationals import Number, as_fraction, as_fractions, to_text

Codes = Mapping[State, Number]


@dataclass(frozen=True)
class _Adding(Query):
    """What a sum and a mean have: the column or the entries that are added, their codes, and a grid."""

    attribute: Hashable | None = None
    codes: Codes | None = field(default=None, hash=False, metadata=CODES)
    entries: Chosen | None = field(default=None, metadata=RUNS)
    grid: Number | None = None

    reads_alike = is_by_cells = is_with_others = is_with_threshold = True

    def __post_init__(self) -> None:
        fix = "write codes={...} for the number of each state, or the name of one column"
        check_type(self.attribute, Hashable | None, "a column", fix, "attribute")
        if self.attribute is not None and self.entries is not None:
            raise InputError("the query names a column and a list of entries", fix="give one of them").at("entries")
        set_fields(
            self, attribute=value_of(self.attribute), codes=copied_codes(self.codes), entries=entry_tuple(self.entries),
            grid=grid_or_none(self.grid),
        )  # fmt: skip

    def describe(self) -> str:
        if self.attribute is not None:
            return f"the {self.kind} of {self.attribute!r}{_coding(self.codes)}"
        return f"the {self.kind} of all values{where(self.entries)}"


@dataclass(frozen=True)
class Sum(_Adding, kind="sum"):
    """Add up the numbers of the entries.

    Args:
        attribute: One named column of a table; None adds all entries, or the chosen ones.
        codes: The number of each state; None where the states are numbers.
        entries: The entries to add, by number from 0 or by name; None for all.
        grid: Step of the published number, in answer units. Each number is rounded to it, half to even. None takes the
            numbers' common step, at least 1/1,000,000.

    Raises:
        InputError: At calibration, for a state without a number.
        Unsupported: At calibration, where the grid must be declared.

    Examples:
        >>> Sum(codes={"still": 0, "walking": "0.5"}).describe()
        'the sum of all values'
    """

    def resolve(self, entries: Entries) -> Additive:
        read = chosen_mask(entries, self.entries, self.attribute)
        return coded(entries, "sum", self.codes, read, grid=grid_or_none(self.grid))


@dataclass(frozen=True)
class Mean(_Adding, kind="mean"):
    """Average the numbers of the entries.

    The sum (see `Sum`) is divided by the public number of entries that are added.

    Args:
        attribute: One named column of a table; None averages all entries, or the chosen ones.
        codes: The number of each state; None where the states are numbers.
        entries: The entries to average, by number from 0 or by name; None for all.
        grid: Step of the sum, in answer units; None takes the numbers' common step.

    Examples:
        >>> Mean("age").describe()
        "the mean of 'age'"
    """

    is_mean = is_sizeless = True

    def undivided(self) -> Sum:
        return Sum(self.attribute, self.codes, self.entries, self.grid)

    def resolve(self, entries: Entries) -> Additive:
        count = 1
        if self.entries is not None:
            count = len(set(positions(entries, self.entries)))
        elif self.attribute is None:
            count = entries.size
        total = self.undivided().resolve(entries)
        return replace(total, grid=total.grid / count, labels=("mean",))


@dataclass(frozen=True)
class Linear(Query, kind="linear"):
    """Add up the entries' numbers with weights: sum_i weights[i] * code(x_i).

    Args:
        weights: One number for each entry, exact as typed.
        codes: The number of each state; None where the states are numbers.
        grid: Step of the published number. Each product is rounded to it, half to even. None takes the products' common
            step, at least 1/1,000,000.

    Raises:
        InputError: For weights that are not a list of numbers.

    Examples:
        >>> Linear([1, 0, "1/2"]).weights
        (Fraction(1, 1), Fraction(0, 1), Fraction(1, 2))
    """

    weights: tuple[Fraction, ...] = field()
    codes: Codes | None = field(default=None, hash=False, metadata=CODES)
    grid: Fraction | None = None

    adds_up = is_with_others = is_with_threshold = True

    def __init__(self, weights: Iterable[Number], codes: Codes | None = None, grid: Number | None = None) -> None:
        if no_list(weights) is not None:
            raise InputError(f"the weights are {weights!r}", fix="give a list of numbers, one per entry").at("weights")
        set_fields(
            self, weights=tuple(as_fraction(w, "a weight", "weights") for w in weights), codes=copied_codes(codes),
            grid=grid_or_none(grid),
        )  # fmt: skip

    def resolve(self, entries: Entries) -> Additive:
        fix = "give one for each, 0 where an entry is not read"
        check_as_many(self.weights, "weights", range(entries.size), "entries", "weights", fix=fix)
        return coded(entries, "linear", self.codes, chosen_mask(entries), self.weights, self.grid)

    def over(self, entries: Iterable[int]) -> Linear:
        """Return the same sum about some entries alone.

        Args:
            entries: Their numbers; all other weights become 0.

        Returns:
            The query.
        """
        read = frozenset(entries)
        weights = []
        for entry, weight in enumerate(self.weights):
            weights.append(weight if entry in read else Fraction(0))
        return Linear(weights, self.codes, self.grid)

    def unweighted(self) -> Sum:
        """Return the sum of the codes without their weights."""
        return Sum(codes=self.codes, grid=self.grid)

    def describe(self) -> str:
        return "a weighted sum of the values"


@dataclass(frozen=True)
class Identity(Query, kind="identity"):
    """Publish the value itself, of `distribution_pair` or of one column.

    Args:
        attribute: The column's name; None for the answer that `distribution_pair` compares.
        grid: Step of the published number, in answer units.
        codes: The number of each category. It is part of the query, because it decides how much noise is needed.

    Examples:
        >>> Identity("age").describe()
        "the value of 'age'"
        >>> Identity("education", codes={"Bachelors": 1, "Masters": 2}).describe()
        "the value of 'education', coded 'Bachelors' = 1, 'Masters' = 2"
    """

    attribute: Hashable | None = None
    grid: Fraction | None = None
    codes: Codes | None = field(default=None, hash=False, metadata=form(codes_to, codes_from, is_left_out=True))

    adds_up = is_with_others = True

    def __init__(
        self, attribute: Hashable | None = None, grid: Number | None = None, codes: Codes | None = None
    ) -> None:
        set_fields(self, attribute=value_of(attribute), grid=grid_or_none(grid), codes=copied_codes(codes))

    def resolve(self, entries: Entries) -> Additive:
        if self.attribute is None and entries.size != 1:
            raise InputError(
                f"Identity() publishes one value, and the belief has {entries.size} entries",
                fix="name the column, Identity('age'), or publish a Histogram, Sum or Mean",
            ).at("attribute")
        return coded(entries, "value", self.codes, chosen_mask(entries, column=self.attribute), grid=self.grid)

    def describe(self) -> str:
        if self.attribute is None:
            subject = "the value itself"
        else:
            subject = f"the value of {self.attribute!r}"
        return subject + _coding(self.codes)


def _coding(codes: Codes | None) -> str:
    """Describe the codes of categories, as the noise depends on them."""
    if codes is None:
        return ""
    return ", coded " + ", ".join(f"{value_of(s)!r} = {to_text(as_fraction(c, 'a code'))}" for s, c in codes.items())


@dataclass(frozen=True, kw_only=True)
class _Added:
    attribute: Attribute = None
    variables: Variables = None
    codes: CodesKey = None
    grid: Grid = None

    blamed = "codes"
    query_type: ClassVar[type[Sum | Mean]]

    def query_about(self, belief: Entries, folder: Path) -> Sum | Mean:
        meaning = meant(belief, self.codes, None, self.variables, self.attribute)
        return self.query_type(self.attribute, meaning.codes, meaning.entries, self.grid)


@dataclass(frozen=True, kw_only=True)
class SumSection(_Added):
    """The sum of the numbers that values stand for."""

    query: Literal["sum"]

    query_type = Sum


@dataclass(frozen=True, kw_only=True)
class MeanSection(_Added):
    """The mean of the numbers that values stand for."""

    query: Literal["mean"]

    query_type = Mean


@dataclass(frozen=True, kw_only=True)
class LinearSection:
    """A weighted sum of the entries of one sequence."""

    query: Literal["linear"]
    weights: Annotated[
        tuple[Written, ...] | FilePath,
        Key("the weight of each entry of the sequence, or a CSV file that holds them", [1, 0, "1/2"]),
    ]
    codes: CodesKey = None
    grid: Grid = None

    blamed = "codes"

    def query_about(self, belief: Entries, folder: Path) -> Linear:
        with within("weights"):
            if isinstance(self.weights, str):
                rows = numbers_in(folder / self.weights, "one weight for each entry")
                weights = tuple(chain.from_iterable(rows))
            else:
                weights = as_fractions(self.weights, "a weight")
            if not any(weights):
                raise InputError(
                    "no weight differs from 0, so nothing would be published", fix="write one number for each entry"
                )
        return Linear(weights, meant(belief, self.codes).codes, self.grid)


@dataclass(frozen=True, kw_only=True)
class IdentitySection:
    """The value of one column of a record itself."""

    query: Literal["identity"]
    attribute: Annotated[Text, Key("the column whose value is published", "education", (RECORDS,))]
    codes: CodesKey = None
    grid: Grid = None

    blamed = "codes"

    def query_about(self, belief: Entries, folder: Path) -> Identity:
        return Identity(self.attribute, self.grid, meant(belief, self.codes, attribute=self.attribute).codes)
