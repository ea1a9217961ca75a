"""The beliefs of such a file: jointly normal columns, independent records of one table, parameters of a population."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field, StrictBool, StrictInt

from takifugu.releasing.file.records.sections import TableFitSpec
from takifugu.releasing.file.sections import FileKeys, Number, Path, Section, State, Text

RecordCount = Annotated[
    StrictInt, Field(ge=1, le=10_000_000, description="how many records there are, which is public", examples=[500])
]
Origin = Annotated[Text, Field(description="where the belief comes from", examples=["a public survey of last year"])]


class NormalFitSpec(FileKeys):
    """Mean and covariance of the columns of a public file."""

    file: Annotated[Path, Field(description="a public file of records", examples=["public.csv"])]
    private: Annotated[StrictBool, Field(description="true where the file holds the private data itself")] = False


class NormalSpec(Section):
    """Columns of numbers that are jointly normal, one independent draw per record."""

    kind: Annotated[Literal["normal"], Field(description="jointly normal columns")]
    records: RecordCount
    source: Origin
    columns: Annotated[
        tuple[Text, ...], Field(min_length=1, description="the columns of numbers", examples=[["weight", "income"]])
    ]
    mean: Annotated[
        tuple[Number, ...] | None, Field(description="the mean of each column", examples=[[70, 40]])
    ] = None
    covariance: Annotated[
        tuple[tuple[Number, ...], ...] | None,
        Field(description="one row of covariances per column", examples=[[[100, 20], [20, 81]]]),
    ] = None
    fit: Annotated[NormalFitSpec | None, Field(description="estimate both from a public file")] = None
    ranges: Annotated[
        dict[str, tuple[Number, Number]],
        Field(
            description="the least and the largest number that each column can hold, known without the data",
            examples=[{"weight": [30, 200], "income": [0, 200]}],
        ),
    ]  # fmt: skip
    resolution: Annotated[Number, Field(description="the step that numbers are rounded to when read", examples=["0.1"])]
    outside: Annotated[
        Literal["refuse", "clip"], Field(description='what becomes of other numbers: "refuse", or "clip" to the range')
    ] = "refuse"
    missing: Annotated[
        dict[str, Number] | None,
        Field(description="what a missing or infinite value of a column counts as", examples=[{"income": 40}]),
    ] = None


class ClassesSpec(Section):
    """Classes of a column of numbers: below the first end, from each end to below the next, from the last one on."""

    ends: Annotated[
        tuple[Number, ...], Field(min_length=1, description="where a new class begins", examples=[[20, 40]])
    ]
    values: Annotated[
        tuple[State, ...] | None,
        Field(description="what each class counts as, one more than ends; default: its words", examples=[[10, 30, 50]]),
    ] = None
    missing: Annotated[State | None, Field(description="the class of a missing or infinite value")] = None


class IndependentRecordsSpec(Section):
    """Independent records, each with the same joint distribution of its columns."""

    kind: Annotated[Literal["independent-records"], Field(description="independent records of one table")]
    records: RecordCount
    source: Origin
    fit: Annotated[TableFitSpec | None, Field(description="count the rows of a public file")] = None
    classes: Annotated[
        dict[str, ClassesSpec] | None,
        Field(description="the classes of columns of numbers", examples=[{"hours": {"ends": [20, 40]}}]),
    ] = None
    columns: Annotated[tuple[Text, ...] | None, Field(description="the names of the columns of `rows`")] = None
    rows: Annotated[
        tuple[tuple[State, ...], ...] | None,
        Field(description="every combination of values that can occur", examples=[[["a", "low"], ["b", "high"]]]),
    ] = None
    counts: Annotated[tuple[StrictInt, ...] | None, Field(description="how often each row was counted")] = None
    probabilities: Annotated[tuple[Number, ...] | None, Field(description="the probability of each row")] = None


class PriorSpec(Section):
    """The joint distribution of the parameters: row by row, or as a Bayesian network."""

    columns: Annotated[tuple[Text, ...] | None, Field(description="the parameters, named as the columns")] = None
    rows: Annotated[
        tuple[tuple[State, ...], ...] | None,
        Field(description="every combination of values", examples=[[["low", "low"], ["high", "high"]]]),
    ] = None
    probabilities: Annotated[tuple[Number, ...] | None, Field(description="the probability of each row")] = None
    network: Annotated[Path | None, Field(description="a BIF file, or another that pyAgrum reads")] = None


class ColumnSpec(Section):
    """How a column is distributed in the population, for each value of its parameter."""

    values: Annotated[
        tuple[State, ...], Field(min_length=1, description="the values in the column", examples=[["no", "yes"]])
    ]
    given: Annotated[
        dict[str, tuple[Number, ...]],
        Field(
            min_length=1, description="their probabilities, for each value of the parameter",
            examples=[{"low": ["0.9", "0.1"], "high": ["0.6", "0.4"]}],
        ),
    ]  # fmt: skip


class ParametersSpec(Section):
    """Columns that each follow their own parameter of the population; the parameters depend on each other."""

    kind: Annotated[Literal["parameters"], Field(description="parameters of the population")]
    records: RecordCount
    source: Origin
    prior: Annotated[PriorSpec, Field(description="the joint distribution of the parameters")]
    columns: Annotated[
        dict[str, ColumnSpec], Field(min_length=1, description="the distribution of each column, by its parameter")
    ]


class BoxColumnSpec(Section):
    """How a column of two values is distributed in the population, given the parameters."""

    values: Annotated[tuple[State, State], Field(description="the two values in the column", examples=[["yes", "no"]])]
    chance: Annotated[
        Number | dict[str, Number],
        Field(
            description="the probability of the first value: a number, or a constant plus a slope for each parameter",
            examples=[{"constant": "0.6", "smokers": "-0.2"}],
        ),
    ]


class ParameterBoxSpec(Section):
    """Parameters of which only the intervals are known; each number in them is covered."""

    kind: Annotated[Literal["parameter-box"], Field(description="intervals of parameters of the population")]
    records: RecordCount
    source: Origin
    intervals: Annotated[
        dict[str, tuple[Number, Number]],
        Field(min_length=1, description="the interval of each parameter", examples=[{"smokers": ["0.2", "0.4"]}]),
    ]
    columns: Annotated[
        dict[str, BoxColumnSpec], Field(min_length=1, description="the distribution of each column, by the parameters")
    ]
