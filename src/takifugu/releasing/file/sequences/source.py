"""The sections [source] and [belief] of sequences, and the keys that their rows are read by."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Any, Literal

from pydantic import Field, StrictBool

from takifugu.releasing.file.calendars import CalendarKeys
from takifugu.releasing.file.keys import (
    LASTING,
    Described,
    Edges,
    Positive,
    State,
    Steps,
    Text,
    UnitsIndependent,
    meaning,
)  # fmt: skip
from takifugu.releasing.file.relation_keys import key


class SequenceBelief(Described):
    """The keys of [belief] that every belief about sequences has."""

    states: Annotated[
        tuple[State, ...],
        meaning("every state that can occur, known without looking at the data", ["still", "walking"], min_length=2),
    ]
    source: Annotated[Text, meaning("where the belief comes from")] = "assumed"
    recordings_independent: Annotated[
        StrictBool | None, meaning("declare that recordings of one person are independent")
    ] = None
    units_independent: UnitsIndependent = None
    max_length: Annotated[Positive | None, meaning("the most steps that a recording may have")] = None


class SourceSpec(CalendarKeys):
    """Where the private data are, and what their columns mean."""

    rows: Steps = "samples"
    value: Annotated[Text, key("value", "state")]
    recording: Annotated[Text | None, key("recording")] = None
    end: Annotated[Text | None, key("end", "left")] = None
    gaps: Annotated[Literal["hidden", "public"] | None, key("gaps")] = None
    default_state: Annotated[State | None, key("default_state")] = None
    bins: Annotated[dict[str, Edges] | None, key("bins", {"still": [0, 100], "moving": [100, 2000]})] = Field(
        default=None
    )

    @property
    def are_runs(self) -> bool:
        """Return whether rows hold in more steps than their own."""
        return self.rows in LASTING

    @property
    def hides_gaps(self) -> bool:
        """Return whether which steps were observed is hidden: in a calendar, if nothing else is declared."""
        return self.gaps == "hidden" or (self.gaps is None and self.from_ is not None)


def read_by(spec: Any, belief: Any) -> tuple[dict[str, Any], Sequence[State], tuple[str, ...]]:
    """Return the keys that rows of sequences are read by, and the states."""
    source: SourceSpec = spec.source
    states = () if spec.belief is None else spec.belief.states
    return {**source.read(), "gaps": "hidden" if source.hides_gaps else "public"}, states, ()
