"""Counts of states: how many entries are in one, and how many are in each."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Literal

from takifugu.core.entries import Entries
from takifugu.core.errors import InputError, did_you_mean, nearest
from takifugu.core.plain import Json, Plain
from takifugu.model.queries.additive import Additive, Chosen, State
from takifugu.model.queries.coding import alphabets, state_tables
from takifugu.model.queries.forms import (
    entry_tuple,
    named_state,
    plain,
    runs,
    several,
    unruns,
    where,
)
from takifugu.model.queries.sections import Adjust, Counted, States, Total, Variables, meant


@dataclass(frozen=True)
class Count:
    """The number of entries that are in `state` (one state, or a list of states), over all or the chosen entries.

    Raises InputError for no state, and for a state or entry that the belief does not know.

    >>> Count("walking").describe()
    "how often state 'walking' occurs"
    """

    state: State
    entries: Chosen | None = None

    def __post_init__(self) -> None:
        states = several(self.state if isinstance(self.state, list | tuple | set | frozenset) else [self.state])
        if not states:
            raise InputError(
                "the query counts no state", rule="its list of states is empty", fix="name at least one"
            ).at("states")
        object.__setattr__(self, "state", states[0] if len(states) == 1 else states)
        object.__setattr__(self, "entries", entry_tuple(self.entries))

    @property
    def states(self) -> tuple[State, ...]:
        return self.state if isinstance(self.state, tuple) else (self.state,)

    def resolve(self, entries: Entries) -> Additive:
        _known_states(entries, self.states, "the query counts state")
        tables, weights, table_of = state_tables(
            entries, self.entries, lambda alphabet: [[int(s in self.states)] for s in alphabet]
        )
        return Additive(Fraction(1), ("count",), tables, weights, table_of)

    def to_dict(self) -> Json:
        return {"kind": "count", "states": list(self.states), "entries": runs(self.entries)}

    @staticmethod
    def from_dict(data: Plain) -> Count:
        return Count(data["states"], unruns(data.get("entries")))

    def describe(self) -> str:
        if len(self.states) == 1:
            return f"how often state {self.state!r} occurs{where(self.entries)}"
        return f"how often the states {', '.join(map(repr, self.states))} occur{where(self.entries)}"


@dataclass(frozen=True)
class Histogram:
    """How many entries are in each state; divided by the public constant `total` where one is given.

    `states` chooses and orders the cells (all states of the belief otherwise). Raises InputError for no cell, a
    repeated one, one that the belief does not know, or a total that is not a whole number above 0.

    >>> Histogram(total=100).describe()
    'how often each state occurs, divided by the public constant 100'
    """

    states: tuple[State, ...] | None = None
    total: int | None = None
    entries: Chosen | None = None

    def __post_init__(self) -> None:
        if self.states is not None:
            if isinstance(self.states, str) or not isinstance(self.states, Iterable):
                raise InputError(
                    f"the histogram's states are {self.states!r}", fix="give a list, such as ['a', 'b']"
                ).at("states")
            listed = [named_state(s) for s in self.states]
            if not listed or len(set(listed)) != len(listed):
                raise InputError(
                    f"the histogram's cells are {listed}", fix="name at least one state, each once"
                ).at("states")
            object.__setattr__(self, "states", tuple(listed))
        total = plain(self.total)
        if total is not None and (isinstance(total, bool) or not isinstance(total, int) or total < 1):
            raise InputError(
                f"the histogram's total is {self.total!r}", rule="it must be a public whole number above 0"
            ).at("total")
        object.__setattr__(self, "total", total)
        object.__setattr__(self, "entries", entry_tuple(self.entries))

    def resolve(self, entries: Entries) -> Additive:
        cells = self.states or tuple(dict.fromkeys(s for a in alphabets(entries) for s in a))
        _known_states(entries, cells, "the histogram has a cell")
        labels = tuple(str(c) for c in cells)
        if len(set(labels)) != len(labels):
            alike = next(label for label in labels if labels.count(label) > 1)
            raise InputError(
                f"two cells of the histogram are written {alike!r}, so that they could not be told apart",
                fix="rename a state, or publish one histogram for each kind of column",
            ).at("states")
        tables, weights, table_of = state_tables(
            entries, self.entries, lambda alphabet: [[int(s == c) for c in cells] for s in alphabet]
        )
        return Additive(Fraction(1, self.total or 1), labels, tables, weights, table_of)

    def to_dict(self) -> Json:
        states = None if self.states is None else list(self.states)
        return {"kind": "histogram", "states": states, "total": self.total, "entries": runs(self.entries)}

    @staticmethod
    def from_dict(data: Plain) -> Histogram:
        return Histogram(data.get("states"), data.get("total"), unruns(data.get("entries")))

    def describe(self) -> str:
        what = f"how often each state occurs{where(self.entries)}"
        return what if self.total is None else f"{what}, divided by the public constant {self.total}"


def _known_states(entries: Entries, states: tuple[State, ...], what: str) -> None:
    known = {s for alphabet in alphabets(entries) for s in alphabet}
    for state in states:
        if state not in known:
            raise InputError(
                f"{what} {state!r}, which the belief does not know",
                fix=f"write {nearest(state, sorted(map(str, known)))}{did_you_mean(state, known)}",
            ).at("states")


@dataclass(frozen=True, kw_only=True)
class HistogramSection:
    """How many entries have each value."""

    query: Literal["histogram"]
    states: States = None
    variables: Variables = None
    total: Total = None
    adjust: Adjust = None

    blamed = "states"

    def query_about(self, belief: Entries, folder: Path) -> Histogram:
        named = meant(belief, None, self.states, self.variables)
        return Histogram(named.states, self.total, named.entries)


@dataclass(frozen=True, kw_only=True)
class CountSection:
    """How many entries have one of some values."""

    query: Literal["count"]
    states: Counted
    variables: Variables = None
    adjust: Adjust = None

    blamed = "states"

    def query_about(self, belief: Entries, folder: Path) -> Count:
        named = meant(belief, None, self.states, self.variables)
        return Count(named.states, named.entries)
