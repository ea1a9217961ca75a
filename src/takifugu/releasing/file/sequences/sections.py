"""The sections of a release file of sequences."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field, StrictInt

from takifugu.core.sections import values_of, written
from takifugu.releasing.file.calendars import Windowed
from takifugu.releasing.file.keys import Section, State, Text, meaning
from takifugu.releasing.file.sections import FileSpec
from takifugu.releasing.file.sequences.source import SequenceBelief, SourceSpec
from takifugu.releasing.file.tables import SharedTable


class EveryEntrySpec(Section):
    """The value in every row must stay secret."""

    kind: Annotated[Literal["every-entry"], meaning("every single value is hidden")] = "every-entry"


class EntrySpec(Section):
    """One entry of one sequence must stay secret; the others are not protected."""

    kind: Annotated[Literal["one-entry"], meaning("whether one entry has one or the other value is hidden")]
    entry: Annotated[StrictInt, meaning("the entry's number, counted from 0", 6, ge=0)]
    a: Annotated[State, meaning("one state that it may have", "ill")]
    b: Annotated[State, meaning("the other state that it may have", "well")]


Hide = EveryEntrySpec | EntrySpec


class ItemSpec(SharedTable, Windowed):
    """One table to publish."""

    per: Annotated[Literal["unit", "pooled", "both"], meaning("one answer per person, one for all, both")] = "pooled"
    by: Annotated[
        Text | Annotated[tuple[Text, ...], Field(min_length=1, max_length=2)] | None,
        meaning(
            "a cell for each hour, weekday, date, week or month of the calendar, or for each two of them; "
            "or for each value of a public attribute of people",
            "hour",
        ),
    ] = None

    @property
    def scope(self) -> str:
        return self.per


class ReleaseSpec(FileSpec):
    """A release file, version 1: one source of sequences, one belief, one or more releases."""

    source: Annotated[SourceSpec, meaning("where the private data are, and what their columns mean")]
    belief: SequenceBelief
    hide: Annotated[EveryEntrySpec | EntrySpec, Field(discriminator="kind", description="what must stay secret")] = (
        EveryEntrySpec()
    )
    release: tuple[ItemSpec, ...]


def named_columns(*sections: object) -> dict[tuple[str, ...], str]:
    """Return the columns of the first section with them, by key."""
    columns_by_key = dict[tuple[str, ...], str]()
    for key in ("unit", "piece", "order", "start", "end", "value"):
        columns: str | tuple[str, ...] = ()
        for section in reversed(sections):
            columns = values_of(section, written(section, (key,))).get(key, columns)
        if isinstance(columns, str):
            columns_by_key[key,] = columns
        else:
            columns_by_key |= {(key, column): column for column in columns}
    return columns_by_key
