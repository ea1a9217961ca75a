"""Rows grouped into pieces, as the few integers that sequences need: what an engine is asked, and its answers."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Protocol

#: What names a piece: the unit and the piece as texts, None where there is no such column or it has no value.
Key = tuple[str | None, str | None]


@dataclass(frozen=True)
class Fact:
    """What the rows of one piece in one state amount to; None where a question has no meaning.

    `low` and `high` bound the ticks of the order column, `offsets` their remainders by the step, `first` and `last`
    the row numbers; `unplaced` counts the rows without a tick.
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


def by_piece(facts: Iterable[Fact]) -> dict[Key, list[Fact]]:
    """Return the facts of each piece."""
    grouped: dict[Key, list[Fact]] = {}
    for fact in facts:
        grouped.setdefault(fact.key, []).append(fact)
    return grouped


def are_together(grouped: Mapping[Key, list[Fact]]) -> bool:
    """Return whether rows have numbers and no piece's rows have another piece's rows between them."""
    for facts in grouped.values():
        ends = [end for fact in facts for end in (fact.first, fact.last) if end is not None]
        if not ends or max(ends) - min(ends) != sum(fact.rows for fact in facts) - 1:
            return False
    return True


class Rows(Protocol):
    """Rows that were picked and grouped. An entry's place counts from 0 along its piece; `before` is the first place
    that is cut off.
    """

    @property
    def step(self) -> int | None:
        """Return how many ticks make a declared step; None without one."""

    def surveyed(self) -> tuple[Rows, dict[Key, list[Fact]]]:
        """Return the facts of every piece, one per state, and the rows again, now with what their facts tell."""

    def misorder(self) -> tuple[bool, bool]:
        """Return whether the order column has ties inside a piece, and whether it goes backwards along the rows."""

    def counts(self, before: int | None, weights: Mapping[range, int] | None) -> Iterator[tuple[Key, int, int]]:
        """Yield piece, state, and how many entries are in it (or their weights' sum)."""

    def edges(self, before: int | None) -> Iterator[tuple[Key, int | None, int | None]]:
        """Yield piece, a place where a run of observed entries starts, and the place where another one ends."""

    def entries(self, before: int | None) -> Iterator[tuple[Key, int, int]]:
        """Yield piece, place and state of every row."""

    def transitions(self) -> Iterator[tuple[int, int, int]]:
        """Yield two states and how often the second is observed one place after the first."""
