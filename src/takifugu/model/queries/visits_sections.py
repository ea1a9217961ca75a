"""The sections of a release file about visits: counts of people, and which of them are at most a threshold."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Literal

from annotated_types import MinLen

from takifugu.core.entries import Entries
from takifugu.core.errors import InputError
from takifugu.core.sections import Key, Positive
from takifugu.core.sections import Number as Written
from takifugu.core.sections import State as Named
from takifugu.model.queries.additive import State
from takifugu.model.queries.counts import Count
from takifugu.model.queries.forms import Query
from takifugu.model.queries.sections import Counted
from takifugu.model.queries.visits import AtMost, Placed, Visitors

_Places = Annotated[
    Annotated[tuple[Named, ...], MinLen(1)] | None, Key("the places that are counted; default: all", ["bar"])
]


@dataclass(frozen=True, kw_only=True)
class VisitorsSection:
    """How many people were at each place."""

    query: Literal["visitors"]
    places: _Places = None

    blamed = "query"

    def query_about(self, belief: Entries, folder: Path) -> Visitors:
        return Visitors(self.places)


@dataclass(frozen=True, kw_only=True)
class PeopleCountSection:
    """How many people have one of some values."""

    query: Literal["count"]
    states: Counted | None = None

    blamed = "query"

    def query_about(self, belief: Entries, folder: Path) -> Count:
        return Count(self.states or ())


@dataclass(frozen=True, kw_only=True)
class SafeSection:
    """Which counts, of visitors or of people with some values, are at most a threshold."""

    query: Literal["safe"]
    at_most: Annotated[
        Written | dict[str, Written], Key('the threshold, one number or one for each place; "fewer than 3" is 2', 5)
    ]
    limit: Annotated[
        Positive | None, Key("after so many places that are not known to be safe the others are not answered", 20)
    ] = None
    alpha: Annotated[
        Written | None,
        Key('also say which are "dangerous", more than at_most: each one wrongly with this probability at most', 0.001),
    ] = None
    places: _Places = None
    first: Annotated[
        Literal["outskirts"] | None,
        Key("of a grid: which places are answered first, a limit being spent in this order", "outskirts"),
    ] = None
    states: Annotated[Counted | None, Key("with values: the values that are counted", ["ill"])] = None

    blamed = "at_most"

    def query_about(self, belief: Entries, folder: Path) -> AtMost:
        query: Query = Visitors(self._places(belief)) if self.states is None else Count(self.states)
        return AtMost(query, self.at_most, self.limit, self.alpha)

    def _places(self, belief: Entries) -> tuple[State, ...] | None:
        """Return the places in the order of the answers, None for the domain's."""
        if self.first is None:
            return self.places
        inwards = belief.from_outside() if isinstance(belief, Placed) else ()
        if not inwards:
            fix = "list the places in the order of the answers"
            raise InputError("is of the boxes of a grid, and the places are none", fix=fix).at("first")
        chosen = dict.fromkeys(inwards if self.places is None else self.places)
        return (*(place for place in inwards if place in chosen), *(place for place in chosen if place not in inwards))
