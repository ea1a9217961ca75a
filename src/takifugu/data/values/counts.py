"""Counted rows as columns: what is public about each piece of a sequence, and how many entries are in each state."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from takifugu.core.arrays import BoolArray, IntArray
from takifugu.numbers.runs import Runs

Names = npt.NDArray[np.object_]
#: A longer piece means a mistake in the order or in the step.
LONGEST_PIECE = 2**24


@dataclass(frozen=True, eq=False)
class Counts:
    """The pieces of all units as columns, in the order of their names: public lengths and gaps, and private counts."""

    #: A piece is a unit's recording, or its window of the calendar. Private, but for names, lengths and gaps.
    lengths: IntArray
    #: Which pieces have a state at every step; these have no runs.
    complete: BoolArray
    #: The steps of piece `runs[0][i]` from `runs[1][i]` to before `runs[2][i]`, from its start on, have a state.
    runs: tuple[IntArray, IntArray, IntArray]
    #: Shape (pieces, states).
    counts: IntArray = field(repr=False)
    #: Shape (pieces, cells, states), with cells; `cell` is that of each step of the window.
    by_cell: IntArray | None = field(default=None, repr=False)
    cell: IntArray | None = field(default=None, repr=False)
    #: Those of units and of recordings.
    names: tuple[Names, Names] = field(default=(np.empty(0, object), np.empty(0, object)), repr=False)
    #: Ticks of the first steps of recordings without a window, counted from 1970, or from 0.
    starts: IntArray | None = None
    #: Where they were asked for: the number of each entry's state by piece, -1 where it was not observed.
    values: Sequence[IntArray] | None = field(default=None, repr=False)

    def __len__(self) -> int:
        return len(self.lengths)

    @property
    def are_seen(self) -> BoolArray:
        """Return which pieces have a step with a state."""
        are_seen: BoolArray = self.complete & (self.lengths > 0)
        are_seen[self.runs[0]] = True
        return are_seen

    def observed(self, piece: int) -> tuple[range, ...]:
        """Return the runs of steps of a piece that have a state."""
        if self.complete[piece]:
            return (range(int(self.lengths[piece])),)
        low, high = np.searchsorted(self.runs[0], [piece, piece + 1])
        return tuple(map(range, self.runs[1][low:high].tolist(), self.runs[2][low:high].tolist()))

    def observed_through(self, pieces: range) -> tuple[range, ...]:
        """Return the runs of steps that have a state, counted through some pieces that stand in a row."""
        runs, start = list[range](), 0
        for piece in pieces:
            runs += [range(start + run.start, start + run.stop) for run in self.observed(piece)]
            start += int(self.lengths[piece])
        return tuple(runs)

    def weights(self, piece: int) -> Runs:
        """Return the weights of a piece's entries, 1 if observed, else 0."""
        runs = self.observed(piece)
        starts = np.array([run.start for run in runs], dtype=np.int64)
        stops = np.array([run.stop for run in runs], dtype=np.int64)
        return Runs.indicator(starts, stops, int(self.lengths[piece]))

    def taken(self, pieces: IntArray) -> Counts:
        """Return some pieces, each once, in the order in which they are given."""

        def of_pieces(column: Any) -> Any:
            return None if column is None else column[pieces]

        place = np.full(len(self), -1, dtype=np.int64)
        place[pieces] = np.arange(len(pieces))
        order = np.argsort(place[self.runs[0]], kind="stable")
        order = order[place[self.runs[0][order]] >= 0]
        whose, first, stop = (column[order] for column in self.runs)
        values = None if self.values is None else [self.values[piece] for piece in pieces.tolist()]
        return replace(
            self, lengths=of_pieces(self.lengths), complete=of_pieces(self.complete), counts=of_pieces(self.counts),
            runs=(place[whose], first, stop), by_cell=of_pieces(self.by_cell), starts=of_pieces(self.starts),
            names=(of_pieces(self.names[0]), of_pieces(self.names[1])), values=values,
        )  # fmt: skip

    def summed(self, pieces: IntArray) -> IntArray:
        """Return the number of entries of some pieces, each once, by cell (one if none are kept) and state."""
        counts = self.counts[:, None] if self.by_cell is None else self.by_cell
        total: IntArray = (counts if len(pieces) == len(self) else counts[pieces]).sum(axis=0)
        return total

    def digest(self) -> bytes:
        """Return a digest, equal only for equal names and numbers; it goes into a keyed hash and nowhere else."""
        digest = hashlib.sha256()
        for names in self.names:
            digest.update(repr(names.tolist()).encode())
        for column in (self.lengths, self.complete, *self.runs, self.counts, self.by_cell):
            if column is not None:
                digest.update(f"{column.shape}".encode() + column.tobytes())
        return digest.digest()
