"""The sections of a release file that randomises a column: where rows and populations are, and what is sent."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import Field, StrictBool, StrictFloat

from takifugu.model.beliefs.sections import Public
from takifugu.releasing.file.sections import (
    FileKeys,
    FileSpec,
    Name,
    Number,
    Path,
    Positive,
    Section,
    SourceFile,
    SourceKeys,
    State,
    Table,
    Text,
    UnitsIndependent,
)

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
    def value_columns(self) -> tuple[Any, ...]:
        return (self.value,) if self.coordinates is None else self.coordinates


class BoxSpec(Section):
    """A rectangle that is divided into equal cells; a place counts as the centre of its cell."""

    first: Annotated[Pair, Field(description="the lowest and the highest first coordinate", examples=[[139.5, 139.9]])]
    second: Annotated[Pair, Field(description="the lowest and the highest second one", examples=[[35.5, 35.9]])]
    cells: Annotated[
        tuple[Positive, Positive], Field(description="how many cells along either coordinate", examples=[[15, 15]])
    ]
    degrees: Annotated[
        StrictBool, Field(description="the coordinates are degrees of longitude and latitude: distances are in metres")
    ] = False
    metres: Annotated[Pair | None, Field(description="how many metres one unit of either coordinate is")] = None
    outside: Annotated[
        Literal["refuse", "clamp"], Field(description="what a place outside the box is: refused, or moved to its edge")
    ] = "refuse"


class ReferenceSpec(FileKeys):
    """A public file of other people, in which the values of each population are counted."""

    file: Annotated[Path, Field(description="a public file of a table, relative to this file", examples=["survey.csv"])]
    population: Annotated[Text, Field(description="the column that names the population", examples=["status"])]
    populations: Annotated[
        tuple[Text, ...] | None, Field(min_length=2, description="the populations that count; other rows are left out")
    ] = None
    value: ValueColumn = None
    coordinates: Coordinates = None
    unit: Annotated[
        Text | None,
        Field(description="the column that says whose row it is; without it rows are independent", examples=["person"]),
    ] = None
    confidence: Annotated[
        StrictFloat,
        Field(gt=0, lt=1, description="how surely the true populations are in the class that the promise covers"),
    ] = 0.99
    smoothing: Annotated[
        Number, Field(description="added to the count of each value where losses are averaged", examples=[1])
    ]
    from_private_data: Annotated[
        StrictBool,
        Field(description="declare that these are the private rows: the promise does not cover what they tell"),
    ] = False


def reference_columns(given: ReferenceSpec, source: PopulationSourceSpec) -> tuple[Any, ...]:
    """Return the columns of the reference file that hold the value: by default called as in the private data."""
    columns = given.value if source.coordinates is None else given.coordinates
    return source.value_columns if columns is None else (columns,) if isinstance(columns, str) else columns


class PopulationsSpec(Section):
    """The populations that a row may come from: declared, or counted in a reference file."""

    kind: Literal["populations"]
    source: Annotated[Text, Field(description="where the populations come from", examples=["a travel survey of 2024"])]
    values: Annotated[
        tuple[State, ...] | None,
        Field(min_length=2, description="the values that a row may have", examples=[["a", "b"]]),
    ] = None
    box: BoxSpec | None = None
    laws: Annotated[
        dict[Text, tuple[Number, ...]] | None,
        Field(description="for each population the probability of each value (or cell, row by row of the box)"),
    ] = None
    reference: ReferenceSpec | None = None
    supports: Annotated[
        Literal["refuse", "align"],
        Field(description="a value that is impossible in one population and possible in another: refused, or accepted"),
    ] = "refuse"
    rows_independent: Annotated[
        StrictBool, Field(description="declare that a person's rows are independent given the population")
    ] = False
    units_independent: UnitsIndependent = None

    def counted(self, public: Public) -> tuple[tuple[str, ...], ReferenceSpec, tuple[str, ...]] | None:
        given = self.reference
        return None if given is None else (("reference", "file"), given, reference_columns(given, public.source))


class PopulationItemSpec(Table):
    """A randomised column to publish."""

    @property
    def per(self) -> str:
        """One table has the rows of all persons."""
        return "pooled"


class PopulationReleaseSpec(FileSpec):
    """A release file that randomises a column."""

    source: PopulationSourceSpec
    belief: PopulationsSpec
    release: tuple[Any, ...]
