"""Rows grouped into pieces, as the few integers that sequences need: what an engine answers."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from takifugu.core.errors import DataError
from takifugu.data.times.zones import DAY, HOUR

#: Why a row has no place in the order: it has no value there, clocks skipped that time, or showed it more than once.
MISSING, SKIPPED, UNCLEAR = 1, 2, 3
#: Why it has none yet: clocks showed its time more than once, or it is far from those of the first rows.
TWICE, FAR = 4, 5

#: A longer piece, or ticks further apart, mean a mistake in the order column or in the step.
WIDEST_SPAN = 2**53

#: What names a piece: the unit and the piece as texts, None where there is no such column or it has no value.
Key = tuple[str | None, str | None]


class NotPlain(DataError):
    """Rows that need the careful reading: nothing may be wrong with them."""


@dataclass(frozen=True, slots=True)
class Fact:
    """What the rows of one piece in one state amount to; None where a question has no meaning.

    `low` and `high` bound the ticks of the order column, `offsets` their remainders by the step, `first` and `last`
    the row numbers; `unplaced` says why a row has no tick (0 where all have one). `ties`, `back` and `leaps` count the
    rows whose tick is that of the row above, is below it, and is so by more than a clock is ever set back.
    """

    key: Key
    code: int
    rows: int
    unplaced: int
    low: int | None
    high: int | None
    offsets: tuple[int, int] | None
    first: int | None
    last: int | None
    ties: int = 0
    back: int = 0
    leaps: int = 0


def by_piece(facts: Iterable[Fact]) -> dict[Key, list[Fact]]:
    """Return the facts of each piece."""
    grouped: dict[Key, list[Fact]] = {}
    for fact in facts:
        grouped.setdefault(fact.key, []).append(fact)
    return grouped


def runs_by_piece(edges: Iterable[tuple[Key, int | None, int | None]]) -> dict[Key, tuple[range, ...]]:
    """Return each piece's runs of entries, from their starts and ends."""
    marks: dict[Key, tuple[list[int], list[int]]] = {}
    for key, start, end in edges:
        first, last = marks.setdefault(key, ([], []))
        if start is not None:
            first.append(start)
        if end is not None:
            last.append(end)
    runs = dict[Key, tuple[range, ...]]()
    for key, (first, last) in marks.items():
        runs[key] = tuple(range(start, end + 1) for start, end in zip(sorted(first), sorted(last), strict=True))
    return runs


def extent(facts: Iterable[Fact]) -> tuple[int, int]:
    """Return the first and the last tick of some rows, 0 without any."""
    ticks = list[int]()
    for fact in facts:
        if fact.low is not None and fact.high is not None:
            ticks += (fact.low, fact.high)
    return min(ticks, default=0), max(ticks, default=0)


def are_together(grouped: Mapping[Key, list[Fact]]) -> bool:
    """Return whether no piece's rows have others between them."""
    for facts in grouped.values():
        ends = [end for fact in facts for end in (fact.first, fact.last) if end is not None]
        if not ends or max(ends) - min(ends) != sum(fact.rows for fact in facts) - 1:
            return False
    return True


@dataclass(frozen=True)
class Arrangement:
    """Whether rows of one piece tie, and whether their times look like a clock that was set back."""

    ties: bool
    set_back: bool

#: Clocks are set back at night: what they show then is at most this much after 23:00.
NIGHT = 5 * HOUR


def looks_set_back(pieces: Iterable[tuple[int, int, int]]) -> bool:
    """Return whether rows of some piece look like a clock set back.

    Such rows go backwards as often as clocks do, and each time by no more. A piece has its number of backward steps,
    that of steps unlike a clock's, and its span in microseconds.
    """
    return any(back and not leaps and back <= 1 + span // (180 * DAY) for back, leaps, span in pieces)
