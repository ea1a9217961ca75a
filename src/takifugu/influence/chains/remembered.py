"""Messages of stretches are remembered while the program runs: a run that enters as one before it did is that one.

What a run of equal profiles does to the losses that enter it depends on the chain's law, the run, and these losses
alone. Windows of a recording that are charged one after the other change the messages of the stretches near them, until
a message is, as it is rounded up, what it was: then all farther ones are. Where the losses of a run have settled, those
of a longer one are the same: weeks of 167, 168 and 169 hours are one run.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Hashable, Sequence
from dataclasses import dataclass, field
from hashlib import sha256
from threading import Lock

import numpy as np

from takifugu.core.arrays import FloatArray
from takifugu.numbers.atoms import Array
from takifugu.numbers.outward_rounding import sum_up

#: How many bytes of losses are kept in all.
MOST = 2**27


def largest_of(matrices: FloatArray) -> float | FloatArray:
    """Return the largest entry of each of several matrices, shape (n, 1, 1); of one a number, which is quicker."""
    return float(matrices.max()) if len(matrices) == 1 else matrices.max(axis=(1, 2), keepdims=True)


@dataclass(eq=False)
class Memory:
    """The losses and profiles (..., k, k) of a sweep's last positions, of one sweep or of several side by side."""

    zero: FloatArray
    losses: dict[int, FloatArray] = field(default_factory=dict)
    tables: dict[int, FloatArray] = field(default_factory=dict)
    last_moving: int = -1  # the last position with any profile
    _entering: dict[int, tuple[FloatArray, FloatArray]] = field(default_factory=dict)
    _largest: tuple[FloatArray | None, float | FloatArray] = None, 0.0

    @staticmethod
    def beside(memories: Sequence[Memory]) -> Memory:
        """Return those of several sweeps in one, of the same positions."""
        losses = {p: np.array([memory.losses[p] for memory in memories]) for p in memories[0].losses}
        tables = {p: np.array([memory.tables[p] for memory in memories]) for p in memories[0].losses}
        return Memory(np.array([memory.zero for memory in memories]), losses, tables, memories[0].last_moving)

    def of(self, places: int | Sequence[int]) -> Memory:
        """Return that of one of several sweeps, or of some of them."""
        losses = {p: loss[places].copy() for p, loss in self.losses.items()}
        tables = {p: table[places].copy() for p, table in self.tables.items()}
        return Memory(self.zero[places], losses, tables, self.last_moving)

    def entering(self, position: int) -> FloatArray:
        """Return the profile and loss of a position together."""
        loss = self.losses[position]
        # Every jump asks again.
        known = self._entering.get(position)
        if known is None or known[0] is not loss:
            known = self._entering[position] = loss, sum_up(self.tables[position], loss)
        return known[1]

    def largest(self, position: int) -> float | FloatArray:
        """Return `largest_of` a position's profiles, mostly that of the position before."""
        table = self.tables[position]
        if table is not self._largest[0]:
            self._largest = table, largest_of(table)
        return self._largest[1]

    def keep(self, position: int, loss: FloatArray, table: FloatArray, reach: int) -> None:
        self.losses[position], self.tables[position] = loss, table
        if self.tables.get(self.last_moving) is table or table.any():
            self.last_moving = position
        for old in [p for p in self.losses if p < position - reach and p < self.last_moving]:
            del self.losses[old], self.tables[old]
            self._entering.pop(old, None)

    def forget(self, position: int) -> None:
        self.losses = {p: loss for p, loss in self.losses.items() if p >= position or p == self.last_moving}
        self.tables, self._entering = {key: self.tables[key] for key in self.losses}, {}

    def since(self, start: int) -> Memory:
        """Return the same memory, with positions counted from another one."""
        losses = {p - start: loss for p, loss in self.losses.items()}
        tables = {p - start: table for p, table in self.tables.items()}
        return Memory(self.zero, losses, tables, self.last_moving - start)

    def become(self, other: Memory) -> None:
        self.losses, self.tables, self.last_moving = other.losses, other.tables, other.last_moving
        self._entering = {}

    @property
    def key(self) -> Hashable:
        digest = sha256()
        for position, loss in self.losses.items():
            digest.update(position.to_bytes(8, "big", signed=True))
            digest.update(loss.tobytes())
            digest.update(self.tables[position].tobytes())
        return digest.digest(), self.last_moving


@dataclass(frozen=True, eq=False)
class Run:
    """A run's losses, explicit and repeated, and the memory after it."""

    explicit: FloatArray
    repeated: FloatArray
    after: Memory

    @property
    def size(self) -> int:
        arrays = [self.explicit, self.repeated, *self.after.losses.values(), *self.after.tables.values()]
        return sum(array.nbytes for array in arrays)

_RUNS: OrderedDict[Hashable, Run] = OrderedDict()
_LOCK = Lock()
_bytes = [0]


def remembered(key: Hashable) -> Run | None:
    """Return the run of this key, if it is kept."""
    with _LOCK:
        run = _RUNS.get(key)
        if run is not None:
            _RUNS.move_to_end(key)
        return run


def remember(key: Hashable, run: Run) -> None:
    """Keep a run, in place of those that were not asked for longest."""
    if run.size > MOST // 64:
        return
    with _LOCK:
        if key not in _RUNS:
            _RUNS[key] = run
            _bytes[0] += run.size
        while _bytes[0] > MOST:
            _bytes[0] -= _RUNS.popitem(last=False)[1].size


def forget() -> None:
    """Drop all memories."""
    with _LOCK:
        _RUNS.clear()
        _bytes[0] = 0


def law_of(*arrays: Array) -> Hashable:
    """Return the identity of arrays, some of them perhaps None."""
    digest = sha256()
    for array in arrays:
        if array is None:
            digest.update(b"none")
        else:
            digest.update(repr((array.shape, array.dtype.str)).encode() + array.tobytes())
    return digest.digest()
