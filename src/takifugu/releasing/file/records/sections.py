"""The sections of a release file of records: one row per person or case, related columns, no order in time."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import Field, StrictBool, StrictInt

from takifugu.releasing.file.sections import (
    Edges,
    FileKeys,
    FileSpec,
    Name,
    Number,
    Path,
    Section,
    SharedTable,
    SourceFile,
    SourceKeys,
    State,
    Text,
    UnitsIndependent,
)

Size = Annotated[StrictInt, Field(ge=1, le=10_000_000)]


#: What users can contribute: values, or a list of values, one for each column.
Values = tuple[State | tuple[State, ...], ...]


class RecordSourceSpec(SourceKeys):
    """Where the private records are."""

    name: Annotated[Name, Field(description="the data's name in the ledger", examples=["census"])]
    file: Annotated[SourceFile, Field(examples=["people.csv"])] = None
    unit: Annotated[Text | None, Field(description="the column that names the unit; without it, one row")] = None
    value: Annotated[
        Text | Annotated[tuple[Text, ...], Field(min_length=2)] | None,
        Field(description="users, contacts: the column with each one's value; users: or the columns that make it"),
    ] = None
    group: Annotated[Text | None, Field(description="users: the column with the name of each user's group")] = None
    person: Annotated[Text | None, Field(description="contacts: the column with the name of each person")] = None
    null_keys: Annotated[
        Literal["refuse", "drop"] | None,
        Field(description='rows without a unit or person: "refuse", or "drop" to leave them out'),
    ] = None
    bins: Annotated[
        dict[str, Edges | dict[str, Edges]] | None,
        Field(
            description="users, contacts: the numbers that count as each value; others: the same for each column",
            examples=[{"young": [0, 30], "old": [30, 120]}],
        ),
    ] = None


class RecordBelief(Section):
    """The keys of [belief] that every belief about records of units has."""

    units_independent: UnitsIndependent = None


class NetworkSpec(RecordBelief):
    """A Bayesian network; a record has one column for each of its variables."""

    kind: Annotated[Literal["network"], Field(description="a Bayesian network")]
    file: Annotated[Path, Field(description="a BIF file, or another that pyAgrum reads", examples=["asia.bif"])]
    source: Annotated[Text | None, Field(description="where the network comes from")] = None


class TableFitSpec(FileKeys):
    """The joint counts of some columns of a public file, exact."""

    file: Annotated[Path, Field(description="a public file of records", examples=["public.csv"])]
    columns: Annotated[
        tuple[Text, ...], Field(min_length=1, description="the columns counted", examples=[["race", "education"]])
    ]
    private: Annotated[StrictBool, Field(description="true where the file holds the private data itself")] = False


class TableSpec(RecordBelief):
    """The joint distribution of a record's columns: counted in a public file, or declared row by row."""

    kind: Annotated[Literal["table"], Field(description="a joint table of the columns of a record")]
    source: Annotated[Text, Field(description="where the belief comes from", examples=["a public census of last year"])]
    fit: Annotated[TableFitSpec | None, Field(description="count the rows of a public file")] = None
    columns: Annotated[tuple[Text, ...] | None, Field(description="the names of the columns of `rows`")] = None
    rows: Annotated[
        tuple[tuple[State, ...], ...] | None,
        Field(description="every combination of values that can occur", examples=[[["a", "low"], ["b", "high"]]]),
    ] = None
    counts: Annotated[tuple[StrictInt, ...] | None, Field(description="how often each row was counted")] = None
    probabilities: Annotated[tuple[Number, ...] | None, Field(description="the probability of each row")] = None


class GroupSpec(Section):
    """Users that share one distribution."""

    name: Annotated[Text, Field(description="the group's name, as in the column source.group", examples=["ward 1"])]
    size: Annotated[Size, Field(description="how many users are in the group", examples=[25])]
    values: Annotated[Values, Field(min_length=1, description="what a user contributes", examples=[[0, 1]])]
    probabilities: Annotated[
        tuple[Number, ...], Field(min_length=1, description="the probability of each value", examples=[[0.9, 0.1]])
    ]
    presence: Annotated[Number, Field(description="the probability that a user is present")] = 1


class UsersSpec(Section):
    """Independent users: one distribution for all, or one per group."""

    kind: Annotated[Literal["users"], Field(description="independent users, one row per user")]
    size: Annotated[Size | None, Field(description="how many users there are", examples=[25])] = None
    values: Annotated[
        Values | None, Field(description="what a user can contribute", examples=[["ill", "well"]])
    ] = None
    probabilities: Annotated[
        tuple[Number, ...] | None, Field(description="the probability of each value", examples=[[0.1, 0.9]])
    ] = None
    presence: Annotated[Number, Field(description="the probability that a user is present")] = 1
    absence: Annotated[
        Literal["unknown", "removed"] | None,
        Field(description='what absence means: "unknown" (counted with an unknown value) or "removed"'),
    ] = None
    groups: Annotated[tuple[GroupSpec, ...] | None, Field(description="the groups, if they differ")] = None
    source: Annotated[Text, Field(description="where the belief comes from")] = "assumed"


class ContactsSpec(FileKeys):
    """People who meet: groups in which everybody meets everybody, and a disease that spreads inside them."""

    kind: Annotated[Literal["contacts"], Field(description="a contact graph, one row per person")]
    file: Annotated[Path, Field(description="a public file of who met whom, a row per pair", examples=["meetings.csv"])]
    columns: Annotated[
        tuple[Text, Text], Field(description="the two columns with the names of a pair", examples=[["one", "other"]])
    ]
    at_least: Annotated[
        dict[str, Number] | None,
        Field(description="the least value of a column for a meeting to count", examples=[{"minutes": 5}]),
    ] = None
    people: Annotated[tuple[Text, ...] | None, Field(description="people who are not in the file of meetings")] = None
    states: Annotated[tuple[State, State], Field(description="well first, ill second", examples=[["well", "ill"]])]
    outside: Annotated[Number, Field(description="the probability of infection from outside", examples=[0.1])]
    inside: Annotated[Number, Field(description="the probability that an ill person infects another of the group")]
    source: Annotated[Text, Field(description="where the belief comes from")] = "assumed"


class RecordHideSpec(Section):
    """What must stay secret; without this section, every single value."""

    kind: Annotated[Literal["every-entry"] | None, Field(description="every single value is hidden")] = None
    variable: Annotated[Text | None, Field(description="the one variable of a network that is hidden")] = None
    attribute: Annotated[Text | None, Field(description="the one column of a table that is hidden")] = None
    person: Annotated[Text | None, Field(description="the one person of a contact graph who is hidden")] = None
    a: Annotated[State | None, Field(description="one of the two values that it may have")] = (
        None
    )
    b: Annotated[State | None, Field(description="the other one")] = None
    presence: Annotated[StrictBool, Field(description="whether each user is present or absent is hidden")] = False


class RecordItemSpec(SharedTable):
    """One table to publish."""

    by: Annotated[
        Text | Annotated[tuple[Text, ...], Field(min_length=1)] | None,
        Field(description="users: a cell for each group, or each combination of columns", examples=["ward"]),
    ] = None


class RecordReleaseSpec(FileSpec):
    """A release file of records, version 1: one source, one belief, one or more releases."""

    source: Annotated[RecordSourceSpec, Field(description="where the private records are")]
    belief: Annotated[
        NetworkSpec | TableSpec | UsersSpec | ContactsSpec,
        Field(discriminator="kind", description="what an adversary may believe"),
    ]
    hide: Annotated[RecordHideSpec, Field(description="what must stay secret")] = RecordHideSpec()
    release: tuple[Any, ...]
