"""The sections of a release file that randomises a column: where rows and populations are, and what is sent."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import Field, StrictBool

from takifugu.releasing.file.keys import Name, Number, Positive, SourceFile, Text
from takifugu.releasing.file.row_words import Answers
from takifugu.releasing.file.sections import FileSpec, SourceKeys
from takifugu.releasing.file.tables import Table

Pair = tuple[Number, Number]
Coordinates = Annotated[
    tuple[Text, Text] | None,
    Field(description="the two columns with the coordinates of a place", examples=[["longitude", "latitude"]]),
]
ValueColumn = Annotated[Text | None, Field(description="the column with the values", examples=["activity"])]


class PopulationSourceSpec(SourceKeys):
    """Where the private rows are: a person's values, or places, one per row."""

    name: Annotated[Name, Field(description="the data's name in the ledger", examples=["checkins"])]
    file: Annotated[SourceFile, Field(examples=["checkins.csv"])] = None
    rows: Answers = "answers"
    unit: Annotated[Text | None, Field(description="the column that says whose row it is", examples=["person"])] = None
    value: ValueColumn = None
    coordinates: Coordinates = None
    rows_per_person: Annotated[
        Positive, Field(description="the most rows that a person may have; one with more is refused", examples=[1])
    ]
    batch: Annotated[
        Text | None,
        Field(description="a name for these rows: no row is in batches of two names", examples=["2026-03"]),
    ] = None
    list_units: Annotated[StrictBool, Field(description="name the persons on the certificate")] = False

    @property
    def value_columns(self) -> tuple[str, ...]:
        return self.coordinates or (self.value or "",)


class PopulationItemSpec(Table):
    """A randomised column to publish."""

    @property
    def scope(self) -> str:
        """One table has the rows of all persons."""
        return "pooled"


class PopulationReleaseSpec(FileSpec):
    """A release file that randomises a column."""

    source: PopulationSourceSpec
    belief: Any
    release: tuple[PopulationItemSpec, ...]
