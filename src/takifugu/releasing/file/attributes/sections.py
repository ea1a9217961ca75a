"""The sections of a release file that hides a property of whole columns: what is hidden, and what is published."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import Field

from takifugu.releasing.file.keys import Name, Number, Section, SourceFile, State, Text
from takifugu.releasing.file.row_words import Answers
from takifugu.releasing.file.sections import FileSpec, SourceKeys
from takifugu.releasing.file.tables import Table

Columns = Text | Annotated[tuple[Text, ...], Field(min_length=1)]


class AttributeSourceSpec(SourceKeys):
    """Where the private records are: one row per record, a column for each that the belief names."""

    name: Annotated[Name, Field(description="the data's name in the ledger", examples=["customers"])]
    file: Annotated[SourceFile, Field(examples=["customers.csv"])] = None
    rows: Answers = "answers"

    @property
    def unit(self) -> None:
        """All records together are one unit: what is hidden is theirs together."""
        return None


class SetSpec(Section):
    """A set of values of a property: all numbers of an interval; an end that is left out is infinite."""

    at_least: Annotated[Number | None, Field(description="the first number of the set")] = None
    below: Annotated[Number | None, Field(description="the first number above the set")] = None


class PropertySpec(Section):
    """A property of the records at hand: a function of a column, or of several, over all of them."""

    attribute: Annotated[Columns, Field(description="the sensitive column, or a list of columns", examples=["income"])]
    function: Annotated[
        Literal["mean", "sum", "share"] | tuple[Number, ...],
        Field(description='"mean", "sum", "share" (of the values `of`), or one weight per column', examples=["mean"]),
    ]
    of: Annotated[State | tuple[State, ...] | None, Field(description="the values of which a share is hidden")] = None
    max_difference: Annotated[
        Number | tuple[Number, ...] | None,
        Field(description="compare values of the property that differ by at most this", examples=[5]),
    ] = None
    pairs: Annotated[
        tuple[tuple[Number, Number], ...] | None, Field(min_length=1, description="compare these pairs of values")
    ] = None
    sets: Annotated[
        tuple[SetSpec | tuple[Number, ...], ...] | None,
        Field(description="compare these sets of values", examples=[[{"below": 50}, {"at_least": 50}]]),
    ] = None


class ParameterSpec(Section):
    """A parameter of the population that the records come from: what governs a column there."""

    attribute: Annotated[Text, Field(description="the column whose parameter is hidden", examples=["smoker"])]
    values: Annotated[
        tuple[State, ...] | None, Field(description="compare these values of it; default: all", examples=[["a", "b"]])
    ] = None
    interval: Annotated[tuple[Number, Number] | None, Field(description="compare all numbers from one to another")] = (
        None
    )
    map: Annotated[Text | None, Field(description="how a number becomes a distribution, as the belief names it")] = None


class OneRecordSpec(Section):
    """The value of a column in any single record (individual attribute privacy)."""

    attribute: Annotated[Text, Field(description="the sensitive column", examples=["income"])]
    max_difference: Annotated[
        Number | None, Field(description="compare values that differ by at most this; required where nothing bounds it")
    ] = None


class AttributeHideSpec(Section):
    """What must stay secret: properties of the records at hand, parameters of the population, or single values."""

    property: Annotated[
        PropertySpec | tuple[PropertySpec, ...] | None,
        Field(
            description="a property of the records at hand, or a list of them",
            examples=[{"attribute": "income", "function": "mean", "max_difference": 5}],
        ),
    ] = None
    parameter: Annotated[
        ParameterSpec | tuple[ParameterSpec, ...] | None,
        Field(description="a parameter of the population, or a list of them", examples=[{"attribute": "smoker"}]),
    ] = None
    record: Annotated[
        OneRecordSpec | None,
        Field(description="the value of a column in any one record", examples=[{"attribute": "income"}]),
    ] = None


class AttributeReleaseSpec(FileSpec):
    """A release file that hides a property of whole columns, version 1: one source, one belief, releases."""

    source: Annotated[AttributeSourceSpec, Field(description="where the private records are")]
    belief: Any
    hide: Annotated[AttributeHideSpec, Field(description="what must stay secret")]
    release: tuple[Table, ...]
