"""Queries that do not add up: a median, other quantiles, the most frequent values; one of declared values is chosen."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from pathlib import Path
from typing import Annotated, Literal

from takifugu.core.columns import value_of
from takifugu.core.entries import Entries
from takifugu.core.errors import InputError
from takifugu.core.plain import VALUES, set_fields
from takifugu.core.rules import check_written_apart, list_of
from takifugu.core.sections import Key, Positive
from takifugu.core.sections import Number as Written
from takifugu.model.queries.answer import Chosen, State
from takifugu.model.queries.choices.candidates import (
    DEFINITIONS,
    ELSEWHERE,
    AtRank,
    Candidates,
    MostFrequent,
    Outcome,
    candidates,
)
from takifugu.model.queries.coding import code_of, states_of
from takifugu.model.queries.forms import CODES, RUNS, Query, copied_codes, entry_tuple, several, where
from takifugu.model.queries.sections import Codes, Listed, States, Variables, meant
from takifugu.numbers.rationals import Number, as_fraction, as_fractions, as_whole, to_text

_HALF = Fraction(1, 2)


@dataclass(frozen=True)
class Quantile(Query, kind="quantile"):
    """Publish the value below which a share of the entries lie, chosen among the declared values.

    Args:
        shares: One share or several, each above 0 and below 1.
        codes: The number of each state; None where the states are numbers.
        states: States in order, from the lowest, where they have no numbers. Entries in other states do not count.
        entries: The entries to read, by number from 0 or by name; None for all.

    Raises:
        InputError: For a share outside (0, 1), a repeated share, and codes beside states. Calibration raises it for a
            single value and for states that are unknown or no numbers.

    Examples:
        >>> Quantile("0.9").describe(), Quantile([0.25, 0.75], states=["low", "mid", "high"]).describe()
        ('the 0.9 quantile of all values', 'the 0.25 and 0.75 quantiles of all values')
    """

    shares: tuple[Fraction, ...]
    codes: Mapping[State, Number] | None = field(default=None, hash=False, metadata=CODES)
    states: tuple[State, ...] | None = field(default=None, metadata=VALUES)
    entries: Chosen | None = field(default=None, metadata=RUNS)

    reads_alike = is_sizeless = is_by_cells = is_choice = True
    definitions, elsewhere = DEFINITIONS, ELSEWHERE

    def __init__(
        self,
        shares: Number | Sequence[Number],
        codes: Mapping[State, Number] | None = None,
        states: Sequence[State] | None = None,
        entries: Sequence[int | str] | None = None,
    ) -> None:
        all_shares = shares if isinstance(shares, list | tuple) else [shares]
        exact = tuple(as_fraction(value_of(share), "a share", "share") for share in all_shares)
        if not exact or any(not 0 < share < 1 for share in exact) or len(set(exact)) < len(exact):
            shares_text = ", ".join(map(str, all_shares)) or "none"
            raise InputError(
                f"the quantile is asked at the share {shares_text}",
                rule="each lies above 0 and below 1, and none is repeated", fix="write for example 0.9",
            ).at("share")  # fmt: skip
        if codes is not None and states is not None:
            raise InputError(
                "codes are given beside states", rule="codes tell the order of values, too", fix="leave one of them out"
            ).at("codes")
        set_fields(self, shares=exact, codes=copied_codes(codes), states=_listed(states), entries=entry_tuple(entries))

    def resolve(self, entries: Entries) -> Candidates:
        if self.states is not None:
            places = {state: place for place, state in enumerate(self.states)}
            return candidates(entries, self.entries, places, _outcomes(self.states), AtRank(self.shares), self._names)
        states_of_belief = states_of(entries)
        texts = [state for state in states_of_belief if not _is_number(state)]
        if self.codes is None and texts:
            raise InputError(
                f"the state {texts[0]!r} is no number, so nothing says what is above it",
                fix=f"list the states from the lowest, states = {list(states_of_belief)}, or give their codes",
            ).at("states")
        numbers = {state: code_of(state, self.codes) for state in states_of_belief}
        values = sorted(set(numbers.values()))
        places = {state: values.index(number) for state, number in numbers.items()}
        return candidates(entries, self.entries, places, tuple(values), AtRank(self.shares), self._names)

    @property
    def _names(self) -> tuple[str, ...]:
        names = []
        for share in self.shares:
            names.append("median" if share == _HALF else f"{to_text(share)} quantile")
        return tuple(names)

    def describe(self) -> str:
        if self.shares == (_HALF,):
            return f"the median of all values{where(self.entries)}"
        *first, last = map(to_text, self.shares)
        all_words = f"{', '.join(first)} and {last} quantiles" if first else f"{last} quantile"
        return f"the {all_words} of all values{where(self.entries)}"


@dataclass(frozen=True)
class TopK(Query, kind="top-k"):
    """Publish the most frequent states, the most frequent first.

    Args:
        count: How many states, from 1 to all of them.
        states: The states to choose from; None for all.
        entries: The entries to read, by number from 0 or by name; None for all.

    Raises:
        InputError: For a count that is not a whole number above 0. Calibration raises it for unknown states and for
            more states than there are.

    Examples:
        >>> TopK(3).describe(), TopK(1).describe()
        ('the 3 most frequent states, the most frequent first', 'the most frequent state')
    """

    count: int
    states: tuple[State, ...] | None = field(default=None, metadata=VALUES)
    entries: Chosen | None = field(default=None, metadata=RUNS)

    reads_alike = is_by_cells = is_choice = True
    definitions, elsewhere = DEFINITIONS, ELSEWHERE

    def __post_init__(self) -> None:
        count = as_whole(value_of(self.count), "the count", "count", least=1)
        set_fields(self, count=count, states=_listed(self.states), entries=entry_tuple(self.entries))

    def resolve(self, entries: Entries) -> Candidates:
        states = self.states or states_of(entries)
        if self.count > len(states):
            raise InputError(
                f"the {self.count} most frequent of {len(states)} states are wanted", fix="write a smaller count"
            ).at("count")
        names = tuple(map("rank {}".format, range(1, self.count + 1)))
        if self.count == 1:
            names = ("mode",)
        places = {state: place for place, state in enumerate(states)}
        return candidates(entries, self.entries, places, _outcomes(states), MostFrequent(self.count), names)

    def describe(self) -> str:
        among = "" if self.states is None else f" of {len(self.states)}"
        if self.count == 1:
            return f"the most frequent state{among}{where(self.entries)}"
        return f"the {self.count} most frequent states{among}, the most frequent first{where(self.entries)}"


def Median(
    codes: Mapping[State, Number] | None = None,
    states: Sequence[State] | None = None,
    entries: Sequence[int | str] | None = None,
) -> Quantile:
    """Publish the median: the quantile of one half.

    Args:
        codes: The number of each state; None where the states are numbers.
        states: States in order, from the lowest, where they have no numbers. Entries in other states do not count.
        entries: The entries to read, by number from 0 or by name; None for all.

    Returns:
        The quantile of one half.

    Examples:
        >>> Median().describe()
        'the median of all values'
    """
    return Quantile(_HALF, codes, states, entries)


def Mode(states: Sequence[State] | None = None, entries: Sequence[int | str] | None = None) -> TopK:
    """Publish the most frequent state.

    Args:
        states: The states to choose from; None for all.
        entries: The entries to read, by number from 0 or by name; None for all.

    Returns:
        The same as `TopK(1)` of these states.

    Examples:
        >>> Mode().describe()
        'the most frequent state'
    """
    return TopK(1, states, entries)  # type: ignore[arg-type]


def _listed(states: Sequence[State] | None) -> tuple[State, ...] | None:
    """Return named states in their order, each once."""
    if states is None:
        return None
    every = list_of(states, "the states", "states", "['low', 'high']")
    different = several(every)
    if not different or len(different) != len(every):
        raise InputError(f"the states are {states!r}", rule="a list names each state once, in order").at("states")
    return different


def _is_number(state: State) -> bool:
    return isinstance(state, int | float | Fraction) and not isinstance(state, bool)


def _outcomes(states: Sequence[State]) -> tuple[Outcome, ...]:
    """Return states as published: all as numbers, else as texts."""
    if all(map(_is_number, states)):
        return as_fractions(states, "a state", "states")
    check_written_apart(states, "the query chooses among", "states")
    return tuple(map(str, states))


@dataclass(frozen=True, kw_only=True)
class _Ranked:
    codes: Codes = None
    states: Listed = None
    variables: Variables = None

    @property
    def blamed(self) -> str:
        return "states" if self.codes is None else "codes"

    def at(self, share: Number | Sequence[Number], belief: Entries) -> Quantile:
        meaning = meant(belief, self.codes, self.states, self.variables)
        return Quantile(share, meaning.codes, meaning.states, meaning.entries)


@dataclass(frozen=True, kw_only=True)
class MedianSection(_Ranked):
    """The value in the middle."""

    query: Literal["median"]

    def query_about(self, belief: Entries, folder: Path) -> Quantile:
        return self.at(_HALF, belief)


@dataclass(frozen=True, kw_only=True)
class QuantileSection(_Ranked):
    """The value below which a share of the entries lie."""

    query: Literal["quantile"]
    share: Annotated[Written | tuple[Written, ...], Key("the share of the entries that lie below it, or several", 0.9)]

    def query_about(self, belief: Entries, folder: Path) -> Quantile:
        return self.at(self.share, belief)


@dataclass(frozen=True, kw_only=True)
class ModeSection:
    """The most frequent value."""

    query: Literal["mode"]
    states: States = None
    variables: Variables = None

    blamed = "states"

    def query_about(self, belief: Entries, folder: Path) -> TopK:
        meaning = meant(belief, None, self.states, self.variables)
        return TopK(1, meaning.states, meaning.entries)


@dataclass(frozen=True, kw_only=True)
class TopKSection:
    """The most frequent values."""

    query: Literal["top-k"]
    k: Annotated[Positive, Key("how many of the most frequent values are published", 3)]
    states: States = None
    variables: Variables = None

    blamed = "k"

    def query_about(self, belief: Entries, folder: Path) -> TopK:
        meaning = meant(belief, None, self.states, self.variables)
        return TopK(self.k, meaning.states, meaning.entries)
