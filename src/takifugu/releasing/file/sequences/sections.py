"""The sections of a release file of sequences."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field, StrictBool, StrictInt

from takifugu.core.plain import Json
from takifugu.data import Calendar, Table, Zone, parse_step
from takifugu.data.melting import melted
from takifugu.releasing.file.keys import (
    CalendarEnd,
    Edges,
    Moment,
    Name,
    Number,
    OrderFormat,
    Path,
    Positive,
    Section,
    SourceFile,
    State,
    Text,
    Timezone,
    UnitsIndependent,
    WindowEnd,
    WindowStart,
)  # fmt: skip
from takifugu.releasing.file.row_words import LASTING, Steps
from takifugu.releasing.file.sections import Described, FileSpec, SourceKeys
from takifugu.releasing.file.sequences.resolved import resolved
from takifugu.releasing.file.sequences.wide import wide_of
from takifugu.releasing.file.tables import SharedTable


class SourceSpec(SourceKeys):
    """Where the private data are, and what their columns mean."""

    name: Annotated[Name, Field(description="the data's name in the ledger", examples=["activity-study"])]
    file: Annotated[SourceFile, Field(examples=["activity.csv"])] = None
    rows: Steps = "samples"
    columns: Annotated[
        Text | tuple[Text, ...] | dict[Text, Moment] | None,
        Field(
            description="of wide rows: the columns that are steps, headers or patterns with * and ?, or headers with "
            "the number or time of each",
            examples=["2026-*", {"Mon": "2026-01-05", "Tue": "2026-01-06"}],
        ),
    ] = None
    ignore: Annotated[
        tuple[Text, ...], Field(description="of wide rows: columns that are not read", examples=[["name", "class"]])
    ] = ()
    empty: Annotated[State | None, Field(description="of wide rows: the state that an empty cell means")] = None
    value: Annotated[Text, Field(description="the column with the states", examples=["state"])]
    unit: Annotated[Text | None, Field(description="the column that says whose row it is")] = None
    piece: Annotated[Text | None, Field(description="the column that numbers a person's pieces")] = None
    order: Annotated[
        Text | tuple[Text, Text] | None,
        Field(description="the column that orders the rows of a piece, or those of a date and a time of day"),
    ] = None
    step: Annotated[
        Number | None,
        Field(description="the declared step between rows; missing steps are unobserved", examples=["1min"]),
    ] = None
    from_: Annotated[
        Moment | None,
        Field(
            alias="from",
            description="where the calendar of the recording starts, by clocks in timezone, or in UTC",
            examples=["2026-01-05"],
        ),
    ] = None
    until: CalendarEnd = None
    gaps: Annotated[
        Literal["hidden", "public"],
        Field(description='which steps of a window were observed: "hidden", or "public" (in a calendar only)'),
    ] = "hidden"
    roster: Annotated[
        Path | Annotated[tuple[Text, ...], Field(min_length=1)] | None,
        Field(
            description="who is covered, of changes, stays and events: a public list with their column and, where "
            "these differ, from and until; or the names",
            examples=["agents.csv"],
        ),
    ] = None
    before: Annotated[
        State | None, Field(description="of changes: what everybody was until a first row, if that is a fact")
    ] = None
    start: Annotated[Text | None, Field(description="the column that says when a stay starts")] = None
    end: Annotated[Text | None, Field(description="the column that says when a stay ends; empty where it has not")] = (
        None
    )
    duration: Annotated[
        tuple[Text, Text] | None,
        Field(
            description="instead of end: the column of how long a stay is, and what a 1 there is",
            examples=[["hours", "1h"]],
        ),
    ] = None
    otherwise: Annotated[State | None, Field(description="the state of a step without a stay or an event")] = None
    overlap: Annotated[
        Literal["refuse", "first", "last"],
        Field(
            description='stays that overlap, or events in one step: "refuse", the one that began "first" counts, or '
            'the "last" one, which ends the other'
        ),
    ] = "refuse"
    nulls: Annotated[
        Literal["refuse", "unobserved"],
        Field(description='missing states: "refuse", or "unobserved" where the pattern of gaps is public'),
    ] = "refuse"
    null_keys: Annotated[
        Literal["refuse", "drop"],
        Field(
            description='rows that do not say whose, or of which piece, they are: "refuse", or "drop" to leave them out'
        ),
    ] = "refuse"
    order_format: OrderFormat = None
    timezone: Timezone = None
    ambiguous: Annotated[
        Literal["refuse", "first", "last", "drop"],
        Field(
            description='rows at a time that clocks in timezone show twice: as the order of the rows says ("refuse" '
            'where it says nothing), all of the "first" or the "last" pass, or left out ("drop")'
        ),
    ] = "refuse"
    round_to: Annotated[
        Number | None,
        Field(description="what an inexact order is rounded to: the step, or a whole part of it", examples=["1min"]),
    ] = None
    duplicates: Annotated[
        Literal["refuse", "first", "last"],
        Field(description='two rows in one step: "refuse", or the "first" or "last" of them counts'),
    ] = "refuse"
    bins: Annotated[
        dict[str, Edges] | None,
        Field(
            description="numbers that count as each state, from the first edge to below the second one",
            examples=[{"still": [0, 100], "moving": [100, 2000]}],
        ),
    ] = None
    attributes: Annotated[
        dict[str, tuple[State, ...]],
        Field(
            description="columns that say something public of each person, with all their values, for tables by them",
            examples=[{"ward": ["A", "B"]}],
        ),
    ] = Field(default_factory=dict)
    list_units: Annotated[
        StrictBool, Field(description="name the people on the certificates of pooled tables, not only their number")
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

    @property
    def calendar(self) -> Calendar | None:
        """Return the declared calendar, if any; InputError with its key."""
        if self.from_ is None or self.step is None:
            return None
        zone = None if self.timezone is None else Zone(self.timezone)
        return Calendar.read(self.from_, self.until, parse_step(self.step), zone)

    def layout(self, belief: Described, table: Table | None) -> Json:
        """Return the layout of the opened source."""
        assert isinstance(belief, SequenceBelief)  # which files about sequences have
        return resolved(super().layout(belief, table), self, belief, table)


class SequenceBelief(Described):
    """The keys of [belief] that every belief about sequences has."""

    states: Annotated[
        tuple[State, ...],
        Field(
            min_length=2,
            description="every state that can occur, known without looking at the data",
            examples=[["still", "walking"]],
        ),
    ]
    map: Annotated[dict[str, State], Field(description="raw values and the state that each one counts as")] = Field(
        default_factory=dict
    )
    source: Annotated[Text, Field(description="where the belief comes from")] = "assumed"
    pieces_independent: Annotated[
        StrictBool | None, Field(description="declare that pieces of one person are independent")
    ] = None
    units_independent: UnitsIndependent = None
    min_length: Annotated[Positive, Field(description="pieces with fewer steps are left out")] = 1
    max_length: Annotated[Positive | None, Field(description="the most steps that a piece may have")] = None
    longer: Annotated[Literal["refuse", "cut"], Field(description="what to do with a piece longer than max_length")] = (
        "refuse"
    )


class EveryEntrySpec(Section):
    """The value in every row must stay secret."""

    kind: Annotated[Literal["every-entry"], Field(description="every single value is hidden")] = "every-entry"


class EntrySpec(Section):
    """One entry of one sequence must stay secret; the others are not protected."""

    kind: Annotated[Literal["one-entry"], Field(description="whether one entry has one or the other value is hidden")]
    entry: Annotated[StrictInt, Field(ge=0, description="the entry's number, counted from 0", examples=[6])]
    a: Annotated[State, Field(description="one state that it may have", examples=["ill"])]
    b: Annotated[State, Field(description="the other state that it may have", examples=["well"])]


Hide = EveryEntrySpec | EntrySpec


class ItemSpec(SharedTable):
    """One table to publish."""

    per: Annotated[Literal["unit", "pooled", "both"], Field(description="one answer per person, one for all, both")] = (
        "pooled"
    )
    by: Annotated[
        Text | Annotated[tuple[Text, ...], Field(min_length=1, max_length=2)] | None,
        Field(
            description="a cell for each hour, weekday, date, week or month of the calendar, or for each two of them; "
            "or for each value of a public attribute of people",
            examples=["hour"],
        ),
    ] = None
    from_: WindowStart = None
    to: WindowEnd = None
    window: Annotated[
        Text | None, Field(description="the window: a day, a week, a month or a year", examples=["2026-W07"])
    ] = None
    every: Annotated[
        Literal["day", "week", "month", "year"] | None,
        Field(description="a table for each whole day, week, month or year of the calendar"),
    ] = None

    @property
    def scope(self) -> str:
        return self.per

    @property
    def period(self) -> str | None:
        return self.window


class ReleaseSpec(FileSpec):
    """A release file, version 1: one source of sequences, one belief, one or more releases."""

    source: Annotated[SourceSpec, Field(description="where the private data are, and what their columns mean")]
    belief: SequenceBelief
    hide: Annotated[EveryEntrySpec | EntrySpec, Field(discriminator="kind", description="what must stay secret")] = (
        EveryEntrySpec()
    )
    release: tuple[ItemSpec, ...]
