"""The sections of a release file of sequences."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field, StrictBool, StrictInt

from takifugu.core.plain import Json
from takifugu.core.sections import values_of, written
from takifugu.data import Table
from takifugu.data.melting import melted
from takifugu.releasing.file.calendars.sections import CalendarKeys, Windowed
from takifugu.releasing.file.keys import (
    LASTING,
    Edges,
    Moment,
    Number,
    Path,
    Positive,
    Section,
    State,
    Steps,
    Text,
    UnitsIndependent,
    meaning,
    names_of,
)  # fmt: skip
from takifugu.releasing.file.sections import Described, FileSpec
from takifugu.releasing.file.sequences.resolved import resolved
from takifugu.releasing.file.sequences.wide import wide_of
from takifugu.releasing.file.tables import SharedTable


class SourceSpec(CalendarKeys):
    """Where the private data are, and what their columns mean."""

    rows: Steps = "samples"
    columns: Annotated[
        Text | tuple[Text, ...] | dict[Text, Moment] | None,
        meaning(
            "of wide rows: the columns that are steps, headers or patterns with * and ?, or headers with "
            "the number or time of each",
            "2026-*",
            {"Mon": "2026-01-05", "Tue": "2026-01-06"},
        ),
    ] = None
    ignore: Annotated[tuple[Text, ...], meaning("of wide rows: columns that are not read", ["name", "class"])] = ()
    empty: Annotated[State | None, meaning("of wide rows: the state that an empty cell means")] = None
    value: Annotated[Text, meaning("the column with the states", "state")]
    unit: Annotated[Text | None, meaning("the column that says whose row it is")] = None
    piece: Annotated[Text | None, meaning("the column that numbers a person's pieces")] = None
    order: Annotated[
        Text | tuple[Text, Text] | None,
        meaning("the column that orders the rows of a piece, or those of a date and a time of day"),
    ] = None
    step: Annotated[Number | None, meaning("the declared step between rows; missing steps are unobserved", "1min")] = (
        None
    )
    gaps: Annotated[
        Literal["hidden", "public"],
        meaning('which steps of a window were observed: "hidden", or "public" (in a calendar only)'),
    ] = "hidden"
    roster: Annotated[
        Path | Annotated[tuple[Text, ...], Field(min_length=1)] | None,
        meaning(
            "who is covered, of changes, stays and events: a public list with their column and, where "
            "these differ, from and until; or the names",
            "agents.csv",
        ),
    ] = None
    before: Annotated[State | None, meaning("of changes: what everybody was until a first row, if that is a fact")] = (
        None
    )
    start: Annotated[
        Text | tuple[Text, Text] | None,
        meaning("the column that says when a stay starts, or those of its date and time of day"),
    ] = None
    end: Annotated[
        Text | tuple[Text, Text] | None,
        meaning(
            "the column that says when a stay ends, empty where it has not, or those of its date and time of day; "
            "a time of day alone, beside two of start, is the first one after the start"
        ),
    ] = None
    duration: Annotated[
        tuple[Text, Text] | None,
        meaning("instead of end: the column of how long a stay is, and what a 1 there is", ["hours", "1h"]),
    ] = None
    otherwise: Annotated[State | None, meaning("the state of a step without a stay or an event")] = None
    overlap: Annotated[
        Literal["refuse", "first", "last"],
        meaning(
            'stays that overlap, or events in one step: "refuse", the one that began "first" counts, or '
            'the "last" one, which ends the other'
        ),
    ] = "refuse"
    nulls: Annotated[
        Literal["refuse", "unobserved"],
        meaning('missing states: "refuse", or "unobserved" where the pattern of gaps is public'),
    ] = "refuse"
    null_keys: Annotated[
        Literal["refuse", "drop"],
        meaning('rows that do not say whose, or of which piece, they are: "refuse", or "drop" to leave them out'),
    ] = "refuse"
    ambiguous: Annotated[
        Literal["refuse", "first", "last", "drop"],
        meaning(
            'rows at a time that clocks in timezone show twice: as the order of the rows says ("refuse" '
            'where it says nothing), all of the "first" or the "last" pass, or left out ("drop")'
        ),
    ] = "refuse"
    round_to: Annotated[
        Number | None, meaning("what an inexact order is rounded to: the step, or a whole part of it", "1min")
    ] = None
    duplicates: Annotated[
        Literal["refuse", "first", "last"],
        meaning('two rows in one step: "refuse", or the "first" or "last" of them counts'),
    ] = "refuse"
    bins: Annotated[
        dict[str, Edges] | None,
        meaning(
            "numbers that count as each state, from the first edge to below the second one",
            {"still": [0, 100], "moving": [100, 2000]},
        ),
    ] = None
    attributes: Annotated[
        dict[str, tuple[State, ...]],
        meaning(
            "columns that say something public of each person, with all their values, for tables by them",
            {"ward": ["A", "B"]},
        ),
    ] = Field(default_factory=dict)
    list_units: Annotated[
        StrictBool, meaning("name the people on the certificates of pooled tables, not only their number")
    ] = False

    @property
    def times(self) -> str | tuple[str, str] | None:
        """Return the column, or two, of each row's time."""
        return self.order if self.start is None else self.start

    @property
    def are_runs(self) -> bool:
        """Return whether rows hold in more steps than their own."""
        return self.rows in LASTING

    @property
    def form(self) -> str | None:
        """Return the format of times other than ISO 8601."""
        return None if self.rows == "wide" and not isinstance(self.order, tuple) else self.order_format

    @property
    def reads_all_columns(self) -> bool:
        return self.rows == "wide"

    def long(self, table: Table, belief: Described | None) -> Table:
        table = super().long(table, belief)
        if self.rows != "wide" or self.columns is None or self.order is None:  # which is told with the keys
            return table
        return melted(table, wide_of(self, belief.map if isinstance(belief, SequenceBelief) else {}))

    def layout(self, belief: Described, table: Table | None) -> Json:
        """Return the layout of the opened source."""
        assert isinstance(belief, SequenceBelief)  # which files about sequences have
        return resolved(super().layout(belief, table), self, belief, table)


class SequenceBelief(Described):
    """The keys of [belief] that every belief about sequences has."""

    states: Annotated[
        tuple[State, ...],
        meaning("every state that can occur, known without looking at the data", ["still", "walking"], min_length=2),
    ]
    map: Annotated[dict[str, State], meaning("raw values and the state that each one counts as")] = Field(
        default_factory=dict
    )
    source: Annotated[Text, meaning("where the belief comes from")] = "assumed"
    pieces_independent: Annotated[StrictBool | None, meaning("declare that pieces of one person are independent")] = (
        None
    )
    units_independent: UnitsIndependent = None
    min_length: Annotated[Positive, meaning("pieces with fewer steps are left out")] = 1
    max_length: Annotated[Positive | None, meaning("the most steps that a piece may have")] = None
    longer: Annotated[Literal["refuse", "cut"], meaning("what to do with a piece longer than max_length")] = "refuse"


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
        candidates = [value for section in sections for value in values_of(section, written(section, (key,))).values()]
        columns = candidates[0] if candidates else ()
        for column in names_of(columns):
            columns_by_key[(key, column) if isinstance(columns, tuple) else (key,)] = column
    return columns_by_key
