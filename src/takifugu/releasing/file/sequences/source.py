"""The sections [source] and [belief] of sequences, and which value is which state, which time which step."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import timedelta
from fractions import Fraction
from hashlib import sha256
from typing import Annotated, Literal

from pydantic import Field, StrictBool

from takifugu.core.cache import cached
from takifugu.core.lists import without_keys
from takifugu.core.plain import Json
from takifugu.data import Layout, Table, Zone, order_kind, parse_step, text_of
from takifugu.data.rows.kinds_of_order import CLOCK_TIMES
from takifugu.data.times.time_format import EPOCHS
from takifugu.data.wide import Wide, read_step
from takifugu.numbers.rationals import as_fraction, to_text
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

#: Formats of texts that ISO 8601 reads as the same times, or not at all.
_ISO_DAY, _ISO_CLOCKS = "%Y-%m-%d", ("%H:%M", "%H:%M:%S", "%H:%M:%S.%f")
ISO_FORMATS = frozenset((_ISO_DAY, *(f"{_ISO_DAY}{sign}{clock}" for sign in "T " for clock in _ISO_CLOCKS)))
#: Keys about times, and about names, that mean nothing without them.
_OF_ORDER = ("duplicates", "ambiguous", "timezone", "order_format", "round_to")


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

    def layout(self, belief: Described, table: Table | None) -> Json:
        """Return the meaning of the keys, one text for all its spellings.

        Only how the steps of a calendar lie is kept: one that starts later counts the same ones. Without a table,
        nobody knows what the order column holds.
        """
        assert isinstance(belief, SequenceBelief)  # which files about sequences have
        layout = without_keys(super().layout(belief, table), _OF_ORDER)
        if self.order is not None:
            layout |= _of_order(self, table)
        if self.unit is None and self.recording is None:
            layout.pop("null_keys", None)
        if self.rows == "wide":
            layout |= _of_columns(self)
        layout["step"] = _length(self.step)
        layout["from"] = None if self.calendar is None else f"steps that start {self.calendar.name.partition(', ')[2]}"
        if self.bins is not None:
            layout["bins"] = {state: [*map(_edge, ends)] for state, ends in self.bins.items()}
        layout["states"] = {str(text_of(state)): str(state) for state in belief.states}
        layout["states"] |= {str(text_of(raw)): str(state) for raw, state in belief.map.items()}
        if self.duration is not None:
            layout["duration"] = [self.duration[0], _length(self.duration[1])]
        layout["default_state"] = None if self.default_state is None else str(self.default_state)
        layout["min_length"] = belief.min_length if belief.min_length > 1 else None
        layout["max_length"] = belief.max_length if belief.longer == "cut" else None
        return layout


def _of_columns(source: SourceSpec) -> Json:
    """Return the steps of wide rows, in place of their keys."""
    wide = source.wide({})
    steps: Json | list[str] = sorted(wide.columns)
    if isinstance(wide.columns, Mapping):
        read = {header: read_step(step, None, wide.of_days) for header, step in wide.columns.items()}
        steps = {header: step[1] for header, step in read.items() if step is not None}
    others = sorted({*wide.others, *wide.ignored} - {source.unit, source.recording})
    layout = {"columns": steps, "form": wide.form, "others": others, "empty": source.empty}
    return {"wide": layout, **dict.fromkeys(("rows", "columns", "ignore", "empty"))}


def _of_order(source: SourceSpec, table: Table | None) -> Json:
    """Return the rules for times as steps and rows of one step."""
    times = None
    if table is not None:
        day, clock = columns_of_order(source.order)
        read = Layout(
            source.value, source.unit, source.recording, day, null_keys=source.null_keys, order_format=source.form,
            time_of_day=clock,
        )  # fmt: skip
        key = "order", source.order, source.form, source.null_keys
        times = cached(table, key, lambda: order_kind(table, read))
    layout: Json = {"times": times, "duplicates": {"refuse": None}.get(source.duplicates, source.duplicates)}
    if times in (None, CLOCK_TIMES):
        layout["timezone"] = clocks(source.timezone)
        stretches = Zone(source.timezone or "UTC").stretches
        if source.ambiguous != "refuse" and any(stretch.back for stretch in stretches):  # else none is shown twice
            layout["ambiguous"] = source.ambiguous
    if source.form not in (None, *ISO_FORMATS, *EPOCHS):
        layout["order_format"] = source.form
    if source.round_to is not None:
        part, keeps_steps = parse_step(source.round_to), False
        if isinstance(part, timedelta):
            part = Fraction(part // timedelta(microseconds=1))
        if source.calendar is not None and layout.get("timezone", clocks(None)) == clocks(None):
            keeps_steps = times == CLOCK_TIMES and Fraction(source.calendar.start) % part == 0
        layout["round_to"] = [_length(source.round_to), keeps_steps]
    return layout


def _edge(written: int | float | str) -> str:
    infinite = str(written).strip().removeprefix("+")
    return infinite if infinite in ("inf", "-inf") else to_text(as_fraction(written, "an edge"))


def _length(written: Number | None) -> str | None:
    if written is None:
        return None
    length = parse_step(written)
    return f"{length // timedelta(seconds=1)}s" if isinstance(length, timedelta) else to_text(length)


def columns_of_order(order: str | tuple[str, str] | None) -> tuple[str | None, str | None]:
    """Return the columns of the order and of its times of day."""
    return order if isinstance(order, tuple) else (order, None)


def clocks(zone: str | None) -> list[str]:
    """Return a zone's clock in brief; zones without changes share one.

    >>> clocks(None), clocks("Etc/UTC"), clocks("Europe/Berlin")[0]
    (['UTC+0s', 'UTC+0s'], ['UTC+0s', 'UTC+0s'], 'Europe/Berlin')
    """
    time_zone = Zone(zone or "UTC")
    first = time_zone.stretches[0].offset // 1_000_000
    if not time_zone.changes:
        return [f"UTC{first:+}s"] * 2
    return [time_zone.name, sha256(repr((first, time_zone.changes)).encode()).hexdigest()[:16]]
