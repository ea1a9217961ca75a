"""The sections of a release file of records: one row per person or case, related columns, no order in time."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import partial
from typing import Annotated, Any, Literal

from pydantic import Field, StrictBool

from takifugu.core.errors import TakifuguError
from takifugu.releasing.file.keys import Answers, Edges, Section, State, Text, meaning
from takifugu.releasing.file.problems import fault, faults_at
from takifugu.releasing.file.reading import bins_of
from takifugu.releasing.file.sections import FileSpec, SourceKeys
from takifugu.releasing.file.tables import SharedTable


class RecordSourceSpec(SourceKeys):
    """Where the private records are."""

    rows: Answers = "answers"
    unit: Annotated[Text | None, meaning("the column that says whose row it is; without it, one row")] = None
    value: Annotated[
        Text | Annotated[tuple[Text, ...], Field(min_length=2)] | None,
        meaning("users, contacts: the column with each one's value; users: or the columns that make it"),
    ] = None
    group: Annotated[Text | None, meaning("users: the column with the name of each user's group")] = None
    person: Annotated[Text | None, meaning("contacts: the column with the name of each person")] = None
    null_keys: Annotated[
        Literal["refuse", "drop"] | None,
        meaning('rows that do not say whose they are: "refuse", or "drop" to leave them out'),
    ] = None
    bins: Annotated[
        dict[str, Edges | dict[str, Edges]] | None,
        meaning(
            "users, contacts: the numbers that count as each value; others: the same for each column",
            {"young": [0, 30], "old": [30, 120]},
        ),
    ] = None


class RecordHideSpec(Section):
    """What must stay secret; without this section, every single value."""

    kind: Annotated[Literal["every-entry"] | None, meaning("every single value is hidden")] = None
    variable: Annotated[Text | None, meaning("the one variable of a network that is hidden")] = None
    attribute: Annotated[Text | None, meaning("the one column of a table that is hidden")] = None
    person: Annotated[Text | None, meaning("the one person of a contact graph who is hidden")] = None
    a: Annotated[State | None, meaning("one of the two values that it may have")] = None
    b: Annotated[State | None, meaning("the other one")] = None
    presence: Annotated[StrictBool, meaning("whether each user is present or absent is hidden")] = False


class RecordItemSpec(SharedTable):
    """One table to publish."""

    by: Annotated[
        Text | Annotated[tuple[Text, ...], Field(min_length=1)] | None,
        meaning("users: a cell for each group, or each combination of columns", "ward"),
    ] = None


class RecordReleaseSpec(FileSpec):
    """A release file of records, version 1: one source, one belief, one or more releases."""

    source: Annotated[RecordSourceSpec, meaning("where the private records are")]
    belief: Any
    hide: Annotated[RecordHideSpec, meaning("what must stay secret")] = RecordHideSpec()
    release: tuple[RecordItemSpec, ...]


def bins_problems(source: RecordSourceSpec, columns: bool) -> Iterator[TakifuguError]:
    """Yield the faults of the bins in [source]."""
    for name, bins in (source.bins or {}).items():
        if isinstance(bins, Mapping) != columns:
            problem, fix = "is bins of one column", f"write bins = {{ {name} = {{ low = [0, 10], high = [10, 20] }} }}"
            if not columns:
                problem, fix = "is bins of several columns", f"write the two edges of each value, {name} = [0, 10]"
            yield fault(("source", "bins", name), problem, fix)
            return
    if not columns:
        yield from faults_at(("source", "bins"), partial(bins_of, source))
        return
    for column in source.bins or {}:
        yield from faults_at(("source", "bins", column), partial(bins_of, source, column))
