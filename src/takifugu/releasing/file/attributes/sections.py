"""The sections of a release file that hides a property of whole columns: what is hidden, and what is published."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import Field

from takifugu.core.errors import InputError
from takifugu.releasing.file.keys import Answers, Number, Section, State, Text, meaning
from takifugu.releasing.file.sections import FileSpec, SourceKeys
from takifugu.releasing.file.tables import Table

Columns = Text | Annotated[tuple[Text, ...], Field(min_length=1)]


class AttributeSourceSpec(SourceKeys):
    """Where the private records are: one row per record, a column for each that the belief names."""

    rows: Answers = "answers"

    @property
    def unit(self) -> None:
        """All records together are one unit: what is hidden is theirs together."""
        return None


class SetSpec(Section):
    """A set of values of a property: all numbers of an interval; an end that is left out is infinite."""

    at_least: Annotated[Number | None, meaning("the first number of the set")] = None
    below: Annotated[Number | None, meaning("the first number above the set")] = None

    @property
    def ends(self) -> tuple[Number | None, Number | None]:
        """Return both ends, None for infinite ones; InputError without any."""
        if self.at_least is None and self.below is None:
            raise InputError("a set of values has no end", fix="write below, at_least, or both").at("sets")
        return self.at_least, self.below


class PropertySpec(Section):
    """A property of the records at hand: a function of a column, or of several, over all of them."""

    attribute: Annotated[Columns, meaning("the sensitive column, or a list of columns", "income")]
    function: Annotated[
        Literal["mean", "sum", "share"] | tuple[Number, ...],
        meaning('"mean", "sum", "share" (of the values `of`), or one weight per column', "mean"),
    ]
    of: Annotated[State | tuple[State, ...] | None, meaning("the values of which a share is hidden")] = None
    max_difference: Annotated[
        Number | tuple[Number, ...] | None, meaning("compare values of the property that differ by at most this", 5)
    ] = None
    pairs: Annotated[
        tuple[tuple[Number, Number], ...] | None, meaning("compare these pairs of values", min_length=1)
    ] = None
    sets: Annotated[
        tuple[SetSpec | tuple[Number, ...], ...] | None,
        meaning("compare these sets of values", [{"below": 50}, {"at_least": 50}]),
    ] = None


class ParameterSpec(Section):
    """A parameter of the population that the records come from: what governs a column there."""

    attribute: Annotated[Text, meaning("the column whose parameter is hidden", "smoker")]
    values: Annotated[tuple[State, ...] | None, meaning("compare these values of it; default: all", ["a", "b"])] = None
    interval: Annotated[tuple[Number, Number] | None, meaning("compare all numbers from one to another")] = None
    map: Annotated[Text | None, meaning("how a number becomes a distribution, as the belief names it")] = None
    max_difference: Annotated[
        Number | None, meaning("compare only values of it that differ by at most this", 5)
    ] = None


class OneRecordSpec(Section):
    """The value of a column in any single record (individual attribute privacy)."""

    attribute: Annotated[Text, meaning("the sensitive column", "income")]
    max_difference: Annotated[
        Number | None, meaning("compare values that differ by at most this; required where nothing bounds it")
    ] = None


class AttributeHideSpec(Section):
    """What must stay secret: properties of the records at hand, parameters of the population, or single values."""

    property: Annotated[
        PropertySpec | tuple[PropertySpec, ...] | None,
        meaning(
            "a property of the records at hand, or a list of them",
            {"attribute": "income", "function": "mean", "max_difference": 5},
        ),
    ] = None
    parameter: Annotated[
        ParameterSpec | tuple[ParameterSpec, ...] | None,
        meaning("a parameter of the population, or a list of them", {"attribute": "smoker"}),
    ] = None
    record: Annotated[
        OneRecordSpec | None, meaning("the value of a column in any one record", {"attribute": "income"})
    ] = None


class AttributeReleaseSpec(FileSpec):
    """A release file that hides a property of whole columns, version 1: one source, one belief, releases."""

    source: Annotated[AttributeSourceSpec, meaning("where the private records are")]
    belief: Any
    hide: Annotated[AttributeHideSpec, meaning("what must stay secret")]
    release: tuple[Table, ...]
