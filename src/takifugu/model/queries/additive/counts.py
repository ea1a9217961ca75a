"""Counts of states: how many entries are in one, in each, and above each of declared numbers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from pathlib import Path
from typing import Annotated, Literal, Self

import numpy as np
from annotated_types import MinLen

from takifugu.core.columns import no_list, value_of
from takifugu.core.entries import Entries
from takifugu.core.errors import InputError
from takifugu.core.plain import VALUES, Plain, arguments, form, set_fields
from takifugu.core.rules import check_any, check_known, check_written_apart
from takifugu.core.sections import Key
from takifugu.core.sections import Number as Written
from takifugu.model.queries.answer import Additive, Chosen, State
from takifugu.model.queries.coding import Rows, alphabets, code_of, state_tables, states_of
from takifugu.model.queries.forms import (
    CODES,
    RUNS,
    Query,
    copied_codes,
    entry_tuple,
    named_state,
    state_or_states,
    where,
)
from takifugu.model.queries.sections import Adjust, Codes, Counted, States, Total, Variables, meant
from takifugu.numbers.rationals import Number, as_fraction, as_positive, as_whole, to_text

#: How a duration is written; without one nothing is.
DURATION = form(is_left_out=True)


def _listed(state: State) -> list[State]:
    return list(state) if isinstance(state, tuple) else [state]


def _duration(time: Number | None) -> Fraction | None:
    return None if time is None else as_positive(time, "the duration of an entry", "duration")


class _Counting(Query):
    """What counts have: each entry that is counted adds 1 to a cell, or its duration."""

    duration: Fraction | None = None

    reads_alike = is_count = is_by_cells = True

    def counted(self, entries: Entries, labels: tuple[str, ...], rows: Rows, total: int = 1) -> Additive:
        each = self.duration or Fraction(1)
        tables, weights, table_of = state_tables(entries, self.entries, rows)
        return Additive(each / total, labels, tables, weights, table_of, each=each)

    def lasting(self, duration: Fraction) -> Self:
        return replace(self, duration=duration)  # type: ignore[type-var]


@dataclass(frozen=True)
class Count(_Counting, kind="count"):
    """Count the entries in a state, or in any of several.

    With a duration the answer is the time that these entries take.

    Args:
        state: One state, or a list of states.
        entries: The entries to count, by number from 0 or by name; None for all.
        duration: The time of one entry, a number above 0, in any unit: `"1/60"` for a minute in hours.

    Raises:
        InputError: For no state, and for a duration that is not above 0. Calibration raises it for an unknown state or
            entry.

    Examples:
        >>> Count("walking").describe(), Count("walking", duration="1/60").describe()
        ("how often state 'walking' occurs", "the time in state 'walking'")
    """

    state: State = field(metadata=form(_listed, key="states"))
    entries: Chosen | None = field(default=None, metadata=RUNS)
    duration: Fraction | None = field(default=None, metadata=DURATION)

    is_with_others = is_with_threshold = True

    def __post_init__(self) -> None:
        states = state_or_states(self.state)
        check_any(states, "the query counts no state", "states")
        state = states[0] if len(states) == 1 else states
        set_fields(self, state=state, entries=entry_tuple(self.entries), duration=_duration(self.duration))

    @property
    def states(self) -> tuple[State, ...]:
        return self.state if isinstance(self.state, tuple) else (self.state,)

    def resolve(self, entries: Entries) -> Additive:
        check_known(self.states, states_of(entries), "the belief has no state", "states")
        return self.counted(entries, ("count",), lambda alphabet: [[int(s in self.states)] for s in alphabet])

    @classmethod
    def from_dict(cls, data: Plain) -> Count:
        values = arguments(cls, data)
        return cls(values.pop("states"), **values)

    def describe(self) -> str:
        states, entries = ", ".join(map(repr, self.states)), where(self.entries)
        if self.duration is not None:
            return f"the time in state{'s' * (len(self.states) > 1)} {states}{entries}"
        if len(self.states) == 1:
            return f"how often state {states} occurs{entries}"
        return f"how often the states {states} occur{entries}"


@dataclass(frozen=True)
class Histogram(_Counting, kind="histogram"):
    """Count the entries in each state.

    Args:
        states: The cells, in order; None for all states of the belief.
        total: A public constant that divides each count, a whole number above 0.
        entries: The entries to count, by number from 0 or by name; None for all.
        duration: The time of one entry; cells are then times, in its unit.

    Raises:
        InputError: For no cell, a repeated cell, and a total or duration that is not above 0. Calibration raises it for
            an unknown state.

    Examples:
        >>> Histogram(total=100).describe(), Histogram(duration="1/60").describe()
        ('how often each state occurs, divided by the public constant 100', 'the time in each state')
    """

    states: tuple[State, ...] | None = field(default=None, metadata=VALUES)
    total: int | None = None
    entries: Chosen | None = field(default=None, metadata=RUNS)
    duration: Fraction | None = field(default=None, metadata=DURATION)

    is_with_others = is_with_threshold = True

    def __post_init__(self) -> None:
        if self.states is not None:
            if no_list(self.states) is not None:
                raise InputError(
                    f"the histogram's states are {self.states!r}", fix="give a list, such as ['a', 'b']"
                ).at("states")
            cells = list(map(named_state, self.states))
            if not cells or len(set(cells)) != len(cells):
                raise InputError(
                    f"the histogram's cells are {cells}", fix="name at least one state, each once"
                ).at("states")
            set_fields(self, states=tuple(cells))
        total = value_of(self.total)
        if total is not None:
            as_whole(total, "the histogram's public total", "total", least=1)
        set_fields(self, total=total, entries=entry_tuple(self.entries), duration=_duration(self.duration))

    def resolve(self, entries: Entries) -> Additive:
        cells = self.states or states_of(entries)
        check_known(cells, states_of(entries), "the belief has no state", "states")
        fix = "rename a state, or publish one histogram for each kind of column"
        check_written_apart(cells, "the histogram has the cells", "states", fix=fix)

        def rows(alphabet: tuple[State, ...]) -> list[list[int]]:
            return [[int(state == cell) for cell in cells] for state in alphabet]

        return self.counted(entries, tuple(map(str, cells)), rows, self.total or 1)

    def lasting(self, duration: Fraction) -> Histogram:
        return self if self.total else super().lasting(duration)

    def describe(self) -> str:
        subject = "how often each state occurs" if self.duration is None else "the time in each state"
        subject += where(self.entries)
        if self.total is None:
            return subject
        return f"{subject}, divided by the public constant {self.total}"


@dataclass(frozen=True)
class EveryChange(Query, kind="every-change"):
    """Any statistic at all of which only the loss is known: b = 1/epsilon stands for a loss of epsilon an entry."""

    adds_up = True

    def resolve(self, entries: Entries) -> Additive:
        """Return half a histogram: values of an entry have L1 distance 1."""
        most = max(map(len, alphabets(entries)))
        rows: list[list[int]] = np.eye(most, dtype=np.int64).tolist()
        tables, weights, table_of = state_tables(entries, None, lambda alphabet: rows[: len(alphabet)])
        return Additive(Fraction(1, 2), tuple(map(str, range(most))), tables, weights, table_of)

    def describe(self) -> str:
        return "a statistic that any change of a value may move"


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
        meaning = meant(belief, None, self.states, self.variables)
        return Histogram(meaning.states, self.total, meaning.entries)


@dataclass(frozen=True, kw_only=True)
class CountSection:
    """How many entries have one of some values."""

    query: Literal["count"]
    states: Counted
    variables: Variables = None
    adjust: Adjust = None

    blamed = "states"

    def query_about(self, belief: Entries, folder: Path) -> Count:
        meaning = meant(belief, None, self.states, self.variables)
        return Count(meaning.states, meaning.entries)


@dataclass(frozen=True)
class CountAbove(_Counting, kind="count-above"):
    """Count the entries above each of several thresholds.

    An entry equal to a threshold is not above it. One entry moves one count for each threshold between its two numbers.

    Args:
        thresholds: One number or several, each once.
        codes: The number of each state; None where the states are numbers.
        entries: The entries to count, by number from 0 or by name; None for all.
        duration: The time of one entry; the answers are then times, in its unit.

    Raises:
        InputError: For no threshold, a repeated one, and a duration that is not above 0. Calibration raises it for a
            state without a number.

    Examples:
        >>> CountAbove([30, "50.5"]).describe()
        'how many values are above 30 and above 50.5'
    """

    thresholds: tuple[Fraction, ...]
    codes: Mapping[State, Number] | None = field(default=None, hash=False, metadata=CODES)
    entries: Chosen | None = field(default=None, metadata=RUNS)
    duration: Fraction | None = field(default=None, metadata=DURATION)

    def __init__(
        self,
        thresholds: Number | Sequence[Number],
        codes: Mapping[State, Number] | None = None,
        entries: Sequence[int | str] | None = None,
        duration: Number | None = None,
    ) -> None:
        all_thresholds = thresholds if isinstance(thresholds, list | tuple) else [thresholds]
        exact = tuple(as_fraction(value_of(threshold), "a threshold", "thresholds") for threshold in all_thresholds)
        if not exact or len(set(exact)) < len(exact):
            raise InputError(
                "a threshold is repeated" if exact else "there is no threshold", fix="give each threshold once"
            ).at("thresholds")
        set_fields(
            self, thresholds=exact, codes=copied_codes(codes), entries=entry_tuple(entries),
            duration=_duration(duration),
        )  # fmt: skip

    def resolve(self, entries: Entries) -> Additive:
        def rows(alphabet: tuple[State, ...]) -> list[list[int]]:
            table = []
            for state in alphabet:
                number = code_of(state, self.codes)
                table.append([int(number > threshold) for threshold in self.thresholds])
            return table

        return self.counted(entries, tuple(self._words()), rows)

    def _words(self) -> list[str]:
        return [f"above {to_text(threshold)}" for threshold in self.thresholds]

    def describe(self) -> str:
        *first, last = self._words()
        all_words = f"{', '.join(first)} and {last}" if first else last
        subject = "how many values are" if self.duration is None else "the time in which values are"
        return f"{subject} {all_words}{where(self.entries)}"


@dataclass(frozen=True, kw_only=True)
class CountAboveSection:
    """How many entries have a number above each of some."""

    query: Literal["count-above"]
    thresholds: Annotated[tuple[Written, ...], MinLen(1), Key("the numbers above which entries are counted", [30, 60])]
    codes: Codes = None
    variables: Variables = None

    blamed = "codes"

    def query_about(self, belief: Entries, folder: Path) -> CountAbove:
        meaning = meant(belief, self.codes, None, self.variables)
        return CountAbove(self.thresholds, meaning.codes, meaning.entries)
