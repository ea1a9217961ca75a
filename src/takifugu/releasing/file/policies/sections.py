"""The sections of a release file under a policy: people and places, or one declared value per person."""

from __future__ import annotations

from fractions import Fraction
from typing import Annotated, Any, Literal

from pydantic import StrictInt

from takifugu.numbers.rationals import as_fraction
from takifugu.releasing.file.calendars import CalendarKeys, Windowed
from takifugu.releasing.file.keys import Number, OfPolicy, Section, State, Text, meaning
from takifugu.releasing.file.relation_keys import key
from takifugu.releasing.file.sections import FileSpec


class PolicySourceSpec(CalendarKeys):
    """Where the private data are: a row for each visit of a person to a place, or a row for each person."""

    rows: OfPolicy = None
    value: Annotated[Text | tuple[Text, Text] | None, key("value", "place", ["east", "north"])] = None


class PredicateSpec(Section):
    """One predicate: the record has none of these values, or has one of these at least."""

    none_of: Annotated[tuple[State, ...] | None, meaning("hide that a record has one of these", min_length=1)] = None
    any_of: Annotated[tuple[State, ...] | None, meaning("hide that a record has none of these", min_length=1)] = None


class PolicyHideSpec(Section):
    """The policy: a move of one record is hidden if every predicate that held before it still holds."""

    visits: Annotated[
        Literal["all"] | tuple[State, ...] | None,
        meaning('hide that a person was at each of these places, "all" or a list', "all"),
    ] = None
    policy: Annotated[
        tuple[PredicateSpec, ...] | None, meaning("predicates over declared values", [{"none_of": ["ill"]}])
    ] = None


class PriorSpec(Section):
    """What is known in public of the counts: for the forecast alone, never for the noise."""

    counts: Annotated[tuple[StrictInt, ...], meaning("counts", [0, 1, 5], min_length=1)]
    shares: Annotated[tuple[Number, ...], meaning("the share of the places", [0.9, 0.08, 0.02], min_length=1)]

    @property
    def by_count(self) -> dict[int, Fraction]:
        """Return the share of the places with each count."""
        return {n: as_fraction(share, "a share") for n, share in zip(self.counts, self.shares, strict=True)}


class PolicyReleaseSpec(FileSpec):
    """A release file under a policy, version 1: one source, what the data can be, what is hidden, releases."""

    source: Annotated[PolicySourceSpec, meaning("where the private data are")]
    belief: Annotated[Any, meaning("what the data can be")]
    hide: Annotated[PolicyHideSpec, meaning("what must stay secret")]
    prior: Annotated[PriorSpec | None, meaning("what is known in public, for the forecast")] = None
    table: tuple[Windowed, ...]
