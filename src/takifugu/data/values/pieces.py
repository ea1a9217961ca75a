"""Pieces of sequences: what is public about each, and how many of its entries are in each state."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from takifugu.core.arrays import IntArray
from takifugu.numbers.runs import Runs

#: A longer piece means a mistake in the order or in the step.
LONGEST_PIECE = 2**24


@dataclass(eq=False, slots=True)  # there may be millions, and frozen ones take six times as long to make
class Piece:
    """One piece of one unit's sequence: what is public about it, and how many of its entries are in each state.

    `observed` are the runs of entries that have a state, counted from 0; the others have weight 0. `counts` has one
    integer per state and is private: it goes into the noise and nowhere else. So are `values`, where they were asked
    for: the number of each entry's state, -1 where it was not observed. `written` is the unit's name as the data spell
    it. Entries counted by cells have the (public) number of each one's `cell`, and private counts by cell and state.
    `start` is the (public) tick of the first entry, where it is in no window.
    """

    unit: str | None
    piece: str | None
    length: int
    observed: tuple[range, ...]
    counts: IntArray = field(repr=False)
    written: str | None = field(default=None, repr=False)
    values: IntArray | None = field(default=None, repr=False)
    cell: IntArray | None = field(default=None, repr=False)
    by_cell: IntArray | None = field(default=None, repr=False)
    start: int | None = None

    @property
    def complete(self) -> bool:
        """Return whether every entry was observed."""
        if len(self.observed) == 1:  # as most have, and there may be millions
            return len(self.observed[0]) == self.length
        return sum(map(len, self.observed)) == self.length

    def weights(self) -> Runs:
        """Return the weights of the piece's entries, 1 if observed, else 0."""
        starts = np.array([run.start for run in self.observed], dtype=np.int64)
        stops = np.array([run.stop for run in self.observed], dtype=np.int64)
        return Runs.indicator(starts, stops, self.length)


@dataclass(frozen=True, eq=False)
class Counted:
    """The pieces of a chain's sequences, their entries counted by state where the rows are; private."""

    pieces: tuple[Piece, ...] = field(repr=False)
