"""An answer that adds up over entries, as integer tables on a grid, and D(N): how far it moves when entries change."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

import numpy as np
import numpy.typing as npt

from takifugu.core.cache import cached
from takifugu.core.errors import DataError, InputError

State = Hashable
#: Entries that a query reads: their numbers in the order in which they are listed, and the names of others.
Chosen = tuple[int | str, ...]
IntArray = npt.NDArray[np.int64]

#: Answers and changes of answers stay below this many grid units, so that no sum of int64 numbers overflows.
LARGEST_ANSWER = 2.0**61
#: Entries are looked at so many at a time, where a copy of all would be long.
_BLOCK = 1 << 18
#: What so few entries add is kept for others that add the same.
_SHORT = 1 << 14


@dataclass(frozen=True, eq=False)
class Additive:
    """An answer F(x) = grid * sum_i weights[i] * tables[table_of[i]][x_i]: a vector of integers times the grid.

    `tables` are integer arrays (number of values, number of cells); `weights` are integers, one per entry, 0 where an
    entry is not observed; x_i is the index of entry i's value in its alphabet. Without `table_of` all entries share
    the only table. Raises InputError when an answer could exceed 2**61 grid units.
    """

    grid: Fraction
    labels: tuple[str, ...]
    tables: tuple[IntArray, ...]
    weights: IntArray
    table_of: IntArray | None = None

    on_grid = True  # every answer is a multiple of the grid
    is_chosen_from = False  # what is published is a value that these counts are of, and not they themselves

    def __post_init__(self) -> None:
        reach = np.array([float(np.abs(t.astype(float)).sum(axis=1).max(initial=0)) for t in self.tables])
        total = 0.0
        for part in self._parts():
            each = reach[0] if self.table_of is None else reach[self.table_of[part]]
            total += float((np.abs(self.weights[part].astype(float)) * each).sum())
        if 2 * total > LARGEST_ANSWER:
            raise InputError(
                f"the answer can exceed 2**61 steps of its grid {self.grid}", fix="declare a coarser grid"
            ).at("grid")

    @property
    def size(self) -> int:
        return len(self.weights)

    @property
    def cells(self) -> int:
        return len(self.labels)

    @property
    def key(self) -> Hashable:
        """Return a key that two shares of an answer have in common exactly when they add the same numbers."""
        table_of = None if self.table_of is None else self.table_of.tobytes()
        return self.weights.tobytes(), table_of, tuple((t.shape, t.tobytes()) for t in self.tables)

    @property
    def table_numbers(self) -> IntArray:
        """Return which of the tables each entry uses, shape (entries,)."""
        return np.zeros(self.size, dtype=np.int64) if self.table_of is None else self.table_of

    def table(self, entry: int) -> IntArray:
        return self.tables[0 if self.table_of is None else int(self.table_of[entry])]

    def contribution(self, entry: int) -> IntArray:
        """Return the integer array (values, cells) that entry `entry` adds to the answer, in grid units."""
        share: IntArray = self.table(entry) * self.weights[entry]
        return share

    def entry_changes(self) -> IntArray:
        """Return the largest L1 change of the answer when one entry alone changes, one integer per entry (grid units).

        D(N) is the sum of these over N: reached when all tables are alike (every query on one alphabet), and an upper
        bound when columns with different tables are added (triangle inequality).
        """
        each = self._largest[0] if self.table_of is None else self._largest[self.table_of]
        return np.abs(self.weights) * each

    def change(self, entries: Iterable[int]) -> int:
        """Return D(N): the largest L1 change of the answer, in grid units, when only the entries in N change."""
        index = np.fromiter(entries, dtype=np.int64)
        return int(self.entry_changes()[index].sum())

    def coordinate_change(self, entries: Sequence[int] | range) -> int:
        """Return the largest change of a single cell when one of `entries` changes, in grid units."""
        spread = np.array([int((t.max(axis=0) - t.min(axis=0)).max(initial=0)) for t in self.tables], dtype=np.int64)
        index = np.asarray(entries, dtype=np.int64)
        if index.size == 0:
            return 0
        each = spread[0] if self.table_of is None else spread[self.table_of[index]]
        return int((np.abs(self.weights[index]) * each).max())

    def cell_ranges(self) -> tuple[int, ...]:
        """Return how far each cell's largest possible value is from its smallest, in grid units, whatever the data."""
        low, high = self.cell_bounds()
        return tuple((high - low).tolist())

    def cell_bounds(self) -> tuple[IntArray, IntArray]:
        """Return the least and the largest that each cell can be, in grid units, whatever the data."""
        least = np.array([table.min(axis=0) for table in self.tables], dtype=np.int64)
        most = np.array([table.max(axis=0) for table in self.tables], dtype=np.int64)
        added, taken = np.zeros(len(self.tables), dtype=np.int64), np.zeros(len(self.tables), dtype=np.int64)
        for part in self._parts():
            weights = self.weights[part]
            which = np.zeros_like(weights) if self.table_of is None else self.table_of[part]
            np.add.at(added, which, np.maximum(weights, 0))
            np.add.at(taken, which, np.minimum(weights, 0))
        return added @ least + taken @ most, added @ most + taken @ least

    @cached_property
    def is_count(self) -> bool:
        """Whether each cell is a number of entries: one adds 1 to a cell, or nothing."""
        ones = bool(self.weights.min(initial=0) >= 0 and self.weights.max(initial=1) <= 1)
        return ones and self.grid == 1 and all(bool(np.isin(table, (0, 1)).all()) for table in self.tables)

    def constant_sum(self) -> Fraction | None:
        """Return what the cells sum to whatever the data, in answer units; None where that depends on the data.

        An entry adds the same to the sum whatever its value, so the sum is that of all entries: public as they are.
        """
        sums = [table.sum(axis=1) for table in self.tables]
        which = self.table_numbers
        read = np.unique(which[self.weights != 0]).tolist()
        if any(sums[t].min() != sums[t].max() for t in read):
            return None
        each = np.array([int(s[0]) if len(s) else 0 for s in sums], dtype=np.int64)
        return int((each[which] * self.weights).sum()) * self.grid

    def blocks(self, count: int) -> Iterator[Additive]:
        """Yield the answer's cells in so many blocks of equally many, each as an answer of its own."""
        size = self.cells // count
        for first in range(0, self.cells, size):
            tables = tuple(table[:, first : first + size] for table in self.tables)
            yield Additive(self.grid, self.labels[first : first + size], tables, self.weights, self.table_of)

    def restrict(self, entries: slice) -> Additive:
        """Return the part of the answer that a run of entries contributes, with the tables that it uses.

        Short parts that add the same numbers are one object.
        """
        weights = self.weights[entries]
        if len(weights) > _SHORT:
            return self._restricted(entries)
        which = None if self.table_of is None else self.table_of[entries].tobytes()
        return cached(self, (Additive.restrict, weights.tobytes(), which), lambda: self._restricted(entries))

    def _restricted(self, entries: slice) -> Additive:
        if self.table_of is None:
            return Additive(self.grid, self.labels, self.tables, self.weights[entries])
        used, table_of = np.unique(self.table_of[entries], return_inverse=True)
        tables = tuple(self.tables[int(i)] for i in used) or self.tables[:1]
        return Additive(self.grid, self.labels, tables, self.weights[entries], table_of.astype(np.int64))

    def evaluate(self, values: npt.NDArray[np.integer]) -> tuple[int, ...]:
        """Return the true answer in grid units, one integer per cell, of value indices x (one per entry).

        Values of entries with weight 0 are not read. Raises DataError for a wrong length or an index that is not in
        the entry's alphabet; the message never repeats the data.
        """
        if len(values) != self.size:
            raise DataError(
                "the data and the belief have different numbers of entries", fix="declare the length of the data"
            )
        read = np.flatnonzero(self.weights)
        which = np.zeros(len(read), dtype=np.int64) if self.table_of is None else self.table_of[read]
        heights = np.array([len(t) for t in self.tables], dtype=np.int64)
        index = np.asarray(values)[read].astype(np.int64)
        if ((index < 0) | (index >= heights[which])).any():
            raise DataError(
                "a value of the data is not among the states that the belief knows", fix="add it to the states"
            )
        times = np.zeros(int(heights.sum()), dtype=np.int64)  # how often each row of a table is added, with its weight
        np.add.at(times, (np.cumsum(heights) - heights)[which] + index, self.weights[read])
        there = np.flatnonzero(times)
        return tuple(int(total) for total in times[there] @ np.concatenate(self.tables)[there])

    def totals(self, values: IntArray) -> IntArray:
        """Return the answer to each row of value indices, in grid units, shape (rows, cells): for listed states."""
        total = np.zeros((len(values), self.cells), dtype=np.int64)
        for entry in np.flatnonzero(self.weights).tolist():
            total += self.contribution(entry)[values[:, entry]]
        return total

    def _parts(self) -> Iterator[slice]:
        return (slice(first, first + _BLOCK) for first in range(0, self.size, _BLOCK))

    @cached_property
    def _largest(self) -> IntArray:
        return np.array([_largest_change(t) for t in self.tables], dtype=np.int64)


def whole_change(answer: Additive) -> int:
    """Return D of all entries, in grid units: less than the sum of their changes where several move a term together."""
    changes: IntArray = answer.entry_changes()
    return int(changes.sum()) if isinstance(answer, Additive) else int(answer.change(range(len(changes))))


def _largest_change(table: IntArray) -> int:
    if table.shape[1] == 1:
        return int(table.max() - table.min())
    table = table[:, (table != table[:1]).any(axis=0)]  # a table by cells moves few of them
    return max((int(np.abs(table - row).sum(axis=1).max()) for row in table), default=0)
