"""An answer that adds up over entries, as integer tables on a grid, and D(N): how far it moves when entries change."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING, Any, Generic, Self, TypeVar, cast

import numpy as np
import numpy.typing as npt

from takifugu.core.arrays import IntArray, read_only, unwritable
from takifugu.core.cache import cached
from takifugu.core.errors import DataError, InputError
from takifugu.core.plain import set_fields
from takifugu.numbers.rationals import as_positive, root_up
from takifugu.numbers.runs import Repeated, Runs, in_one_turn, refined, whole_numbers

State = Hashable
#: Entries that a query reads: their numbers in the order in which they are listed, and the names of others.
Chosen = tuple[int | str, ...]
Numbers = TypeVar("Numbers", IntArray, IntArray | None)

#: Answers and changes of answers stay below this many grid units, so that no sum of int64 numbers overflows.
LARGEST_ANSWER = 2.0**61
#: What so few runs of entries add is kept for others that add the same.
_SHORT = 1 << 14


class _InRuns(Generic[Numbers]):
    """A field that is set to numbers, or runs of them, kept as runs, and read as numbers one by one."""

    def __init__(self, is_optional: bool = False) -> None:
        self.is_optional = is_optional

    def __set_name__(self, owner: type, name: str) -> None:
        self.name = name

    def __get__(self, answer: Any, owner: type) -> Numbers:
        if answer is None and not self.is_optional:
            raise AttributeError(self.name)  # a dataclass reads from this that the field has no default
        runs = None if answer is None else answer.__dict__[self.name]
        return cast(Numbers, runs if runs is None else runs.numbers)

    def __set__(self, answer: Any, numbers: Numbers) -> None:
        runs: Any = numbers
        if numbers is not None and not isinstance(numbers, Runs):
            runs = Runs.of(whole_numbers(numbers, self.name, (None,)))
        answer.__dict__[self.name] = runs


class Answer:
    """What a query is resolved to: cells of whole steps of a grid."""

    if TYPE_CHECKING:  # fields or properties, as an answer has them: a property here would be a field's default

        @property
        def grid(self) -> Fraction: ...

        @property
        def labels(self) -> tuple[str, ...]: ...

        @property
        def size(self) -> int: ...

    on_grid = True  # every answer is a multiple of the grid

    @property
    def cells(self) -> int:
        return len(self.labels)


class OfAlikeEntries(Answer):
    """An answer that each of its entries moves by up to `step` grid units, whatever the others are."""

    @property
    def step(self) -> int:
        raise NotImplementedError

    def entry_changes(self) -> IntArray:
        """Return the largest L1 change by each entry, in whole grid units."""
        return np.full(self.size, self.step, dtype=np.int64)

    def change(self, entries: Iterable[int]) -> int:
        """Return the largest L1 change by these entries, in grid units."""
        return len(list(entries)) * self.step

    def nearest(self, norm: int = 1) -> Fraction:
        """Return the least that an entry changes, in grid units."""
        return Fraction(self.step)

    def farthest(self, entries: Sequence[int] | range, norm: int = 1) -> Fraction:
        """Return the most that an entry changes, as `nearest` counts it."""
        return self.nearest(norm)

    def cell_ranges(self) -> tuple[int | None, ...]:
        """Return each cell's largest minus least value, in grid units; None where nothing bounds it."""
        return (self.step,) * self.cells

    def restrict(self, entries: slice) -> Self:
        """Return the answer itself: nothing says how single entries add to it."""
        return self


@dataclass(frozen=True, eq=False)
class Additive(Answer):
    """An answer F(x) = grid * sum_i weights[i] * tables[table_of[i]][x_i]: a vector of integers times the grid.

    `tables` are integer arrays (number of values, number of cells); `weights` are integers, one per entry, 0 where an
    entry is not observed; x_i is the index of entry i's value in its alphabet. Without `table_of` all entries share
    the only table. Both are kept as runs of entries that count alike (`kinds`), and written out when they are read.
    `each` is what an entry counts, where it is a count: 1, or its duration. Raises InputError for numbers that are not
    whole, shapes that do not fit, and answers beyond 2**61 grid units.
    """

    grid: Fraction
    labels: tuple[str, ...]
    tables: tuple[IntArray, ...]
    weights: _InRuns[IntArray] = _InRuns()
    table_of: _InRuns[IntArray | None] = _InRuns(is_optional=True)
    each: Fraction = field(default=Fraction(1), kw_only=True)

    is_chosen_from = False  # what is published is a value that these counts are of, and not they themselves

    def __post_init__(self) -> None:
        labels, tables = tuple(self.labels), list[IntArray]()
        for table in self.tables:
            tables.append(unwritable(whole_numbers(table, "tables", (None, len(labels)))))
        set_fields(self, grid=as_positive(self.grid, "the grid", "grid"), labels=labels, tables=tuple(tables))
        if self.in_runs[1] is not None and self.in_runs[1].size != self.size:
            raise InputError(f"{self.size} entries name {self.in_runs[1].size} tables", rule="each names one")
        (weights, numbers), lengths = self.total_kinds
        if numbers.min(initial=0) < 0 or numbers.max(initial=0) >= len(tables):
            raise InputError(f"an answer names the tables {numbers.min()} to {numbers.max()} of {len(tables)}")
        reach = np.array([float(np.abs(t.astype(float)).sum(axis=1).max(initial=0)) for t in tables])
        check_reach(float((np.abs(weights.astype(float)) * lengths * reach[numbers]).sum()), self.grid)

    @cached_property
    def kinds(self) -> tuple[IntArray, IntArray]:
        """Return each run's weight and table number (2, runs), and length."""
        kinds, ends, times = self.turn
        return read_only(np.tile(kinds, times)), read_only(np.tile(np.diff(ends, prepend=0), times))

    @property
    def total_kinds(self) -> tuple[IntArray, IntArray]:
        """Return weights and table numbers (2, kinds), and how many entries have them."""
        kinds, ends, times = self.turn
        return kinds, np.diff(ends, prepend=0) * times

    @cached_property
    def turn(self) -> tuple[IntArray, IntArray, int]:
        """Return the kinds and ends of the runs that repeat, and how often.

        Kinds are weights and table numbers, (2, runs).
        """
        weights, numbers = self.in_runs
        rows, times = in_one_turn(weights, Runs.alike(0, weights.size) if numbers is None else numbers)
        kinds, ends = refined(*rows)
        return read_only(kinds), read_only(ends), times

    @property
    def in_runs(self) -> tuple[Any, Any]:
        """Return the weights and the table numbers as `Runs`.

        Another answer may be made of them as of numbers.
        """
        return self.__dict__["weights"], self.__dict__["table_of"]

    @property
    def size(self) -> int:
        return int(self.in_runs[0].size)

    @property
    def key(self) -> Hashable:
        """Return a key of the addends, equal for equal shares only."""
        kinds, lengths = self.kinds
        return kinds.tobytes(), lengths.tobytes(), tuple((t.shape, t.tobytes()) for t in self.tables)

    @property
    def table_numbers(self) -> IntArray:
        """Return the table number of each entry, shape (entries,)."""
        if self.table_of is None:
            return Runs.alike(0, self.size).numbers
        return self.table_of

    def table(self, entry: int) -> IntArray:
        return self.tables[0 if self.table_of is None else int(self.table_of[entry])]

    def contribution(self, entry: int) -> IntArray:
        """Return each value's addend in grid units, shape (values, cells)."""
        share: IntArray = self.table(entry) * self.weights[entry]
        return share

    @cached_property
    def changes(self) -> Runs:
        """Return the largest L1 change by each entry alone, in grid units.

        D(N) is the sum of these over N: reached when all tables are alike (every query on one alphabet), and an upper
        bound when columns with different tables are added (triangle inequality).
        """
        (weights, tables), ends, times = self.turn
        return Repeated.of_times(Runs(np.abs(weights) * self._largest[tables], ends).joined(), times)

    def entry_changes(self) -> IntArray:
        """Return `changes`, one integer per entry."""
        return self.changes.numbers

    def change(self, entries: Iterable[int]) -> int:
        """Return D(N), the largest L1 change by N alone, in grid units."""
        return int(self.changes.at(np.fromiter(entries, dtype=np.int64)).sum())

    def farthest(self, entries: Sequence[int] | range, norm: int = 1) -> Fraction:
        """Return the largest change by one of `entries`, in grid units, rounded up.

        Changes of several cells count by their L1 length, or their L2 length where `norm` is 2.
        """
        kinds, ends, times = self.turn
        different, place = np.unique(np.abs(kinds), axis=1, return_inverse=True)
        lengths = self._moves(different, norm)
        longest = sorted({Fraction(0), *lengths})
        ranks = np.array(list(map(longest.index, lengths)), dtype=np.int64)
        return longest[Repeated.of_times(Runs(ranks[place.ravel()], ends).joined(), times).largest(entries)]

    def nearest(self, norm: int = 1) -> Fraction:
        """Return the least such change of any entry that is read, 0 if none is."""
        moves = self._moves(np.unique(np.abs(self.total_kinds[0]), axis=1), norm)
        return min(filter(None, moves), default=Fraction(0))

    def _moves(self, kinds: IntArray, norm: int) -> list[Fraction]:
        """Return the change by an entry of each weight and table number."""
        of_table = list(map(Fraction, self._largest.tolist()))
        if norm == 2:
            of_table = list(map(_longest_change, self.tables))
        return [weight * of_table[number] for weight, number in kinds.T.tolist()]

    def cell_ranges(self) -> tuple[int, ...]:
        """Return each cell's largest minus least value, in grid units."""
        low, high = self.cell_bounds()
        return tuple((high - low).tolist())

    @cached_property
    def _ends(self) -> tuple[IntArray, IntArray]:
        """Return the least and largest addends, shape (tables, cells) each."""
        ends = [(table.min(axis=0), table.max(axis=0)) for table in self.tables]
        least, most = np.array(ends, dtype=np.int64).swapaxes(0, 1)
        return least, most

    def cell_bounds(self) -> tuple[IntArray, IntArray]:
        """Return each cell's least and largest possible value, in grid units."""
        least, most = self._ends
        (weights, table_numbers), lengths = self.total_kinds
        added, taken = np.zeros(len(self.tables), dtype=np.int64), np.zeros(len(self.tables), dtype=np.int64)
        np.add.at(added, table_numbers, np.maximum(weights, 0) * lengths)
        np.add.at(taken, table_numbers, np.minimum(weights, 0) * lengths)
        return added @ least + taken @ most, added @ most + taken @ least

    @cached_property
    def is_count(self) -> bool:
        """Return whether each entry adds 1 to a cell, or its duration, or nothing."""
        ones = bool(np.isin(self.total_kinds[0][0], (0, 1)).all())
        least, most = self._ends
        return ones and self.grid == self.each and bool((least >= 0).all() and (most <= 1).all())

    @property
    def is_whole_count(self) -> bool:
        """Return whether each entry adds 1 to a cell, or nothing."""
        return self.is_count and self.grid == 1

    def constant_sum(self) -> Fraction | None:
        """Return the cells' constant sum in answer units, None without one.

        Where an entry adds the same to the sum whatever its value, the sum is that of all entries: public as they are.
        """
        (weights, table_numbers), lengths = self.total_kinds
        sum_of_table = np.zeros(len(self.tables), dtype=np.int64)
        for number in np.unique(table_numbers[weights != 0]).tolist():
            sums = self.tables[number].sum(axis=1)
            if sums.min() != sums.max():
                return None
            sum_of_table[number] = sums[0]
        return int((sum_of_table[table_numbers] * weights * lengths).sum()) * self.grid

    def blocks(self, count: int) -> Iterator[Additive]:
        """Yield the cells in blocks of equal size, each as an answer."""
        size = self.cells // count
        for first in range(0, self.cells, size):
            yield self._of_cells(slice(first, first + size))

    def of_cell(self, cell: int) -> Additive:
        """Return one of its cells as an answer."""
        return self._of_cells(slice(cell, cell + 1))

    def _of_cells(self, cells: slice) -> Additive:
        tables = tuple(table[:, cells] for table in self.tables)
        return Additive(self.grid, self.labels[cells], tables, *self.in_runs, each=self.each)

    def restrict(self, entries: slice) -> Additive:
        """Return the part of the answer from a run of entries.

        The part has the tables of that run only. Parts of few runs that add the same numbers are one object.
        """
        first, stop, _ = entries.indices(self.size)
        weights, numbers = self.in_runs
        weights, numbers = weights.between(first, stop), None if numbers is None else numbers.between(first, stop)
        if len(weights.ends) > _SHORT or (numbers is not None and len(numbers.ends) > _SHORT):
            return self._of_part(weights, numbers)
        key = (Additive.restrict, weights.key, None if numbers is None else numbers.key)
        return cached(self, key, lambda: self._of_part(weights, numbers))

    def _of_part(self, weights: Any, numbers: Any) -> Additive:
        if numbers is None:
            return Additive(self.grid, self.labels, self.tables, weights, each=self.each)
        used, table_of = np.unique(numbers.values, return_inverse=True)
        tables = tuple(self.tables[int(i)] for i in used) or self.tables[:1]
        places = numbers.mapped(table_of.astype(np.int64))
        return Additive(self.grid, self.labels, tables, weights, places, each=self.each)

    def evaluate(self, values: npt.NDArray[np.integer]) -> tuple[int, ...]:
        """Return the true answer in grid units, one integer per cell.

        `values` are value indices x, one per entry; those of entries with weight 0 are not read. Raises DataError for a
        wrong length or an index that is not in the entry's alphabet; the message never repeats the data.
        """
        if len(values) != self.size:
            raise DataError(
                "the data and the belief have different numbers of entries", fix="declare the length of the data"
            )
        read = np.flatnonzero(self.weights)
        if self.table_of is None:
            table_numbers = np.zeros(len(read), dtype=np.int64)
        else:
            table_numbers = self.table_of[read]
        heights = np.array(list(map(len, self.tables)), dtype=np.int64)
        index = np.asarray(values)[read].astype(np.int64)
        check_indices(index, heights[table_numbers])
        times = np.zeros(int(heights.sum()), dtype=np.int64)  # how often each row of a table is added, with its weight
        np.add.at(times, (np.cumsum(heights) - heights)[table_numbers] + index, self.weights[read])
        weighed = np.flatnonzero(times)
        return tuple(map(int, times[weighed] @ np.concatenate(self.tables)[weighed]))

    def totals(self, values: IntArray) -> IntArray:
        """Return the answer to each listed state, in grid units (rows, cells)."""
        total = np.zeros((len(values), self.cells), dtype=np.int64)
        for entry in np.flatnonzero(self.weights).tolist():
            total += self.contribution(entry)[values[:, entry]]
        return total

    @cached_property
    def shows_missing(self) -> bool:
        """Return whether an entry without a value changes the answer by more than one with another value, L1 or L2."""
        return any(
            np.abs(table).sum(axis=1).max(initial=0) > _largest_change(table)
            or root_up(int((table.astype(object) ** 2).sum(axis=1).max(initial=0))) > _longest_change(table)
            for table in self.tables
        )

    @cached_property
    def _largest(self) -> IntArray:
        return np.array(list(map(_largest_change, self.tables)), dtype=np.int64)


def check_reach(most: float, grid: Fraction) -> None:
    """Raise InputError for an answer of more steps of its grid than integers hold."""
    if most * 2 > LARGEST_ANSWER:
        what = f"the answer can exceed 2**61 steps of its grid {grid}"
        raise InputError(what, fix="declare a coarser grid").at("grid")


def check_indices(index: npt.NDArray[np.integer], sizes: IntArray | int) -> None:
    """Raise DataError for a value index outside of its alphabet."""
    if ((index < 0) | (index >= sizes)).any():
        what = "a value of the data is not among the states that the belief knows"
        raise DataError(what, fix="add it to the states")


def whole_change(answer: Additive) -> int:
    """Return D of all entries, in grid units: less than their sum where several move a term together."""
    if isinstance(answer, Additive):
        return answer.changes.total
    changes: IntArray = answer.entry_changes()  # may raise Unsupported
    return int(answer.change(range(len(changes))))


def _longest_change(table: IntArray) -> Fraction:
    """Return the largest L2 distance of two rows, rounded up."""
    if table.shape[1] == 1:
        return Fraction(_largest_change(table))
    rows = np.unique(table[:, (table != table[:1]).any(axis=0)], axis=0)
    if float(np.abs(rows).max(initial=0)) ** 2 * 4 * rows.shape[1] >= 2.0**62:
        rows = rows.astype(object)
    return root_up(max((int(((rows - row) ** 2).sum(axis=1).max()) for row in rows), default=0))


def _largest_change(table: IntArray) -> int:
    if table.shape[1] == 1:
        return int(table.max() - table.min())
    table = table[:, (table != table[:1]).any(axis=0)]  # a table by cells moves few of them
    return max((int(np.abs(table - row).sum(axis=1).max()) for row in table), default=0)
