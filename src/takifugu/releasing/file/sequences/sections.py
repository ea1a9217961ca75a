"""The sections of a release file of sequences, and how long its steps and its states last."""

from __future__ import annotations

import re
from collections.abc import Hashable, Iterator, Sequence
from contextlib import suppress
from datetime import timedelta
from fractions import Fraction
from functools import partial
from typing import Annotated, Any, Literal

from pydantic import Field, StrictBool, StrictInt

from takifugu.core.arrays import FloatArray
from takifugu.core.errors import InputError
from takifugu.data import parse_step, steps_in
from takifugu.data.relation.keys import RUNS
from takifugu.model.beliefs.chains.declared_chain import ChainSection
from takifugu.model.beliefs.chains.stays import SECONDS, UNITS
from takifugu.numbers.rationals import as_fraction
from takifugu.releasing.certificates.facts import FOR_EVER, Fact, Stays
from takifugu.releasing.file.calendars import CalendarKeys, Windowed
from takifugu.releasing.file.keys import (
    Described,
    Edges,
    Positive,
    Section,
    State,
    Steps,
    Text,
    UnitsIndependent,
    checked,
    meaning,
)
from takifugu.releasing.file.kind import ReleaseFile
from takifugu.releasing.file.relation_keys import key
from takifugu.releasing.file.sections import FileSpec, SharedTable


class SequenceBelief(Described):
    """The keys of [belief] that every belief about sequences has; its section says what its states are."""

    states: tuple[State, ...]
    source: Annotated[Text, meaning("where the belief comes from")] = "assumed"
    recordings_independent: Annotated[
        StrictBool | None, meaning("declare that recordings of one person are independent")
    ] = None
    units_independent: UnitsIndependent = None
    max_length: Annotated[Positive | None, meaning("the most steps that a recording may have")] = None


class SourceSpec(CalendarKeys):
    """Where the private data are, and what their columns mean."""

    rows: Steps
    value: Annotated[Text, key("value", "state")]
    recording: Annotated[Text | None, key("recording")] = None
    end: Annotated[Text | None, key("end")] = None
    gaps: Annotated[Literal["hidden", "public"] | None, key("gaps")] = None
    default_state: Annotated[State | None, key("default_state")] = None
    bins: Annotated[dict[str, Edges] | None, key("bins", {"still": [0, 100], "moving": [100, 2000]})] = Field(
        default=None
    )

    @property
    def are_runs(self) -> bool:
        """Return whether rows hold in more steps than their own."""
        return self.rows in RUNS

    @property
    def hides_gaps(self) -> bool:
        """Return whether which steps were observed is hidden: in a calendar, if nothing else is declared."""
        return self.gaps == "hidden" or (self.gaps is None and self.from_ is not None)


def read_by(spec: Any, belief: Any) -> tuple[dict[str, Any], Sequence[State], tuple[str, ...]]:
    """Return the keys that rows of sequences are read by, and the states."""
    source: SourceSpec = spec.source
    states = () if spec.belief is None else spec.belief.states
    return {**source.read(), "gaps": "hidden" if source.hides_gaps else "public"}, states, ()


class EveryEntrySpec(Section):
    """The value in every row must stay secret."""

    kind: Annotated[Literal["every-entry"], meaning("every single value is hidden")] = "every-entry"


class EveryRunSpec(Section):
    """The values in every run of steps must stay secret, all of them together."""

    kind: Annotated[Literal["every-run"], meaning("the values of every run of steps are hidden together")]
    length: Annotated[
        StrictInt | Text,
        meaning("how long a run is: a time, or a number of steps where the steps have no time", "1h"),
        checked(partial(parse_step, what="the length of a run")),
    ]


class EntrySpec(Section):
    """One entry of one sequence must stay secret; the others are not protected."""

    kind: Annotated[Literal["one-entry"], meaning("whether one entry has one or the other value is hidden")]
    entry: Annotated[StrictInt, meaning("the entry's number, counted from 0", 6, ge=0)]
    a: Annotated[State, meaning("one state that it may have", "ill")]
    b: Annotated[State, meaning("the other state that it may have", "well")]


Hide = EveryEntrySpec | EveryRunSpec | EntrySpec


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
    hide: Annotated[Hide, Field(discriminator="kind", description="what must stay secret")] = EveryEntrySpec()
    table: tuple[ItemSpec, ...]

    @property
    def run(self) -> int:
        """Return how many steps in a row are hidden together; InputError at its key."""
        if not isinstance(self.hide, EveryRunSpec):
            return 1
        return steps_in(self.hide.length, self.source.length)


#: Seconds of the units of time, by their usual names.
_SECONDS = {**SECONDS, "secs": 1, "mins": 60, "quarter-hour": 900, "quarter-hours": 900, "hr": 3600, "hrs": 3600}

def seconds_of_step(step: Any) -> Fraction | None:
    """Return the seconds in a step, if it has a time."""
    with suppress(InputError):
        length = parse_step(step)
        if isinstance(length, timedelta):
            return Fraction(length // timedelta(microseconds=1), 10**6)
    return None


def seconds_in(words: str) -> Fraction | None:
    """Return the seconds in a unit of time ("Minutes", "1.5 h"), None for any other unit."""
    seconds, rest = _beginning(words)
    return None if rest else seconds


def _beginning(words: str) -> tuple[Fraction | None, str]:
    """Return the seconds in the unit of time that words begin with, if any, and the rest."""
    read = re.match(r"([0-9./]{1,9})?\s*([a-z]+(?:-hours?)?)\b\.?", words.strip().lower())
    with suppress(InputError):
        if read is not None and read[2] in _SECONDS:
            return as_fraction(read[1] or 1, "a time") * _SECONDS[read[2]] or None, words.strip()[read.end() :]
    return None, words


def duration_in(unit: str | None, step: Any) -> Fraction | None:
    """Return how much of a unit of time one step lasts; None where it is that unit, or either is no time."""
    seconds, of_a_step = seconds_in(unit or ""), seconds_of_step(step)
    if seconds is None or of_a_step is None or of_a_step == seconds:
        return None
    return of_a_step / seconds


def calls_steps_a_time(unit: str | None, step: Any) -> bool:
    """Return whether words begin with another time than a step is, and go on: counted steps would be called that."""
    (seconds, rest), of_a_step = _beginning(unit or ""), seconds_of_step(step)
    return rest != "" and None not in (seconds, of_a_step) and seconds != of_a_step


Step = int | timedelta | None


def lasting(file: ReleaseFile) -> Iterator[Fact]:
    """Yield the mean lengths of states of a single chain."""
    spec = file.sections(ReleaseSpec)
    source, belief = spec.source, spec.belief.meant
    if not isinstance(belief, ChainSection) or (belief.fit and belief.fit.confidence is not None):
        return
    step, calendar = source.length, source.calendar
    if belief.matrix_by is None or calendar is None:
        yield stays_of(file.belief.matrix, file.belief.states, step)
        return
    for cells, matrix in belief.matrices_in(file.belief, calendar):
        yield stays_of(matrix, file.belief.states, step, f"{belief.matrix_by} {cells}")


def stays_of(
    matrix: Sequence[Sequence[float]] | FloatArray, states: Sequence[Hashable], step: Step, cells: str = ""
) -> Stays:
    """Return the mean lengths of states, in time or else in steps."""
    lasting = dict[str, str]()
    for place, (state, row) in enumerate(zip(states, matrix, strict=False)):
        leaving = 1 - row[place]
        if leaving <= 0:
            lasting[str(state)] = FOR_EVER
        elif not isinstance(step, timedelta):
            steps = f"{1 / leaving:.3g}"
            lasting[str(state)] = f"about {steps} {'step' if steps == '1' else 'steps'}"
        else:
            seconds, unit, length = step.total_seconds() / leaving, "seconds", 1
            for names, longer in UNITS.items():
                if seconds >= 2 * longer:
                    unit, length = names[1], longer
            lasting[str(state)] = f"about {seconds / length:.3g} {unit}"
    return Stays(lasting, cells)
