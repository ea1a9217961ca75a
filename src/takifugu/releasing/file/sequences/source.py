"""The sections [source] and [belief] of sequences, and which value is which state, which time which step."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Literal

from pydantic import Field, StrictBool

from takifugu.data import Table
from takifugu.data.wide import Wide
from takifugu.releasing.file.calendars import CalendarKeys
from takifugu.releasing.file.keys import (
    LASTING,
    Described,
    Edges,
    Moment,
    Number,
    Path,
    Positive,
    State,
    Steps,
    Text,
    UnitsIndependent,
    meaning,
    names_of,
)  # fmt: skip


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
    recordings_independent: Annotated[
        StrictBool | None, meaning("declare that recordings of one person are independent")
    ] = None
    units_independent: UnitsIndependent = None
    min_length: Annotated[Positive, meaning("recordings with fewer steps are left out")] = 1
    max_length: Annotated[Positive | None, meaning("the most steps that a recording may have")] = None
    longer: Annotated[Literal["refuse", "cut"], meaning("what to do with one longer than max_length")] = "refuse"


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
    recording: Annotated[Text | None, meaning("the column that numbers a person's recordings")] = None
    order: Annotated[
        Text | tuple[Text, Text] | None,
        meaning(
            "the column that orders the rows of a recording (of stays, that says when each starts), or those of a date "
            "and a time of day"
        ),
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
    default_state: Annotated[
        State | None,
        meaning(
            "the state where no row says one: of changes, before a first row, if that is a fact; of stays and events, "
            "without one"
        ),
    ] = None
    end: Annotated[
        Text | tuple[Text, Text] | None,
        meaning(
            "the column that says when a stay ends, empty where it has not, or those of its date and time of day; "
            "a time of day alone, beside two of order, is the first one after the start"
        ),
    ] = None
    duration: Annotated[
        tuple[Text, Text] | None,
        meaning("instead of end: the column of how long a stay is, and what a 1 there is", ["hours", "1h"]),
    ] = None
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
        meaning('rows that do not say whose, or of which recording, they are: "refuse", or "drop" to leave them out'),
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
    def are_runs(self) -> bool:
        """Return whether rows hold in more steps than their own."""
        return self.rows in LASTING

    @property
    def entry_noun(self) -> str:
        """Return what its tables count; a wide row holds many."""
        return "steps" if self.rows == "wide" else super().entry_noun

    @property
    def form(self) -> str | None:
        """Return the format of times other than ISO 8601."""
        return None if self.rows == "wide" and not isinstance(self.order, tuple) else self.order_format

    @property
    def reads_all_columns(self) -> bool:
        return self.rows == "wide"

    def wide(self, state_of: Mapping[str, State]) -> Wide:
        """Return the meaning of columns in wide rows, by the states of raw values."""
        assert self.columns is not None  # which `runs.faults_of` requires, as the order
        assert self.order is not None
        *days, order = names_of(self.order)
        columns: tuple[str, ...] | Mapping[str, str] = names_of(self.columns)
        if isinstance(self.columns, dict):
            columns = {header: str(step) for header, step in self.columns.items()}
        empty: tuple[str, ...] = ()
        if self.empty is not None:
            empty = (str(self.empty), *(raw for raw, state in state_of.items() if state == self.empty))
        others = (*names_of(self.unit), *names_of(self.recording), *days, *self.attributes)
        return Wide(columns, order, self.value, others, self.ignore, self.order_format, bool(days), empty)

    def long(self, table: Table, belief: Described | None) -> Table:
        table = super().long(table, belief)
        if self.rows != "wide" or self.columns is None or self.order is None:  # which is told with the keys
            return table
        states = belief.map if isinstance(belief, SequenceBelief) else {}
        from takifugu.data.melting import melted  # after reading a file: it loads narwhals

        return melted(table, self.wide(states))
