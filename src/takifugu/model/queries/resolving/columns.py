"""An answer about whole columns of records: what a record adds, and D(N) when all values of some columns change.

Entry e of the belief is a parameter, and column c belongs to the entry `entry_of[c]`. The answer is a sum over the
records of a sum over terms; a term is a table over the values of the columns that it reads.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property

import numpy as np

from takifugu.core.arrays import IntArray
from takifugu.core.errors import DataError, InputError
from takifugu.core.rules import check_known, too_large
from takifugu.model.queries.additive.coded import Identity, Mean
from takifugu.model.queries.answer import Additive, State, check_indices, check_reach
from takifugu.model.queries.forms import Query
from takifugu.model.queries.resolving.summing import check_sum
from takifugu.model.queries.tables.by import GroupBy, by_columns
from takifugu.model.queries.tables.rows import RowQuery
from takifugu.model.queries.tables.statistic import WholeColumns
from takifugu.model.queries.tables.together import JointQuery, in_common


@dataclass(frozen=True, eq=False)
class Term:
    """What a record adds by some of its columns: `table`, integers of shape (k_1, ..., k_r, cells), in grid units."""

    columns: tuple[int, ...]
    table: IntArray

    def change(self, near: frozenset[int]) -> int:
        """Return the largest L1 change by some columns."""
        axes = [axis for axis, column in enumerate(self.columns) if column in near]
        if not axes:
            return 0
        outside = [value for value in range(len(self.columns)) if value not in axes]
        rows = math.prod(self.table.shape[place] for place in axes)
        cells = self.table.shape[-1]
        tables = np.transpose(self.table, (*outside, *axes, -1)).reshape(-1, rows, cells)
        if cells == 1:
            return int((tables.max(axis=1) - tables.min(axis=1)).max())
        different = np.unique(tables.reshape(len(tables), -1), axis=0).reshape(-1, rows, cells)
        largest = 0
        for table in different:
            largest = max(largest, *(int(np.abs(table - row).sum(axis=1).max()) for row in table))
        return largest


@dataclass(frozen=True, eq=False)
class ColumnAnswer(WholeColumns):
    """The answer grid * sum over records r and terms t of t.table[x_r]; entries are parameters of columns."""

    grid: Fraction
    labels: tuple[str, ...]
    terms: tuple[Term, ...]
    records: int
    entry_of: tuple[int, ...]
    size: int
    names: tuple[str, ...]

    def __post_init__(self) -> None:
        most = sum(float(np.abs(term.table.astype(float)).sum(axis=-1).max(initial=0.0)) for term in self.terms)
        check_reach(most * self.records, self.grid)

    @cached_property
    def key(self) -> Hashable:
        """Return a key by column names, equal for equal answers only."""
        keys = []
        for term in self.terms:
            names = tuple(self.names[column] for column in term.columns)
            keys.append((names, term.table.shape, term.table.tobytes()))
        return "columns", self.records, tuple(keys)

    def change(self, entries: Iterable[int]) -> int:
        """Return D(N) of whole columns, Zhang22's Delta_{A and N} F (Section 5.1): every record may change in them."""
        # a term's change is reached; their sum is exact where each column moves the answer alone, else a bound
        changed = frozenset(entries)
        near = frozenset(column for column, entry in enumerate(self.entry_of) if entry in changed)
        if near not in self._changes:
            self._changes[near] = self.records * sum(term.change(near) for term in self.terms)
        return self._changes[near]

    @cached_property
    def _changes(self) -> dict[frozenset[int], int]:
        return {}

    def nearest(self, norm: int = 1) -> Fraction:
        """Return the least that one record changes by a column that is read, in grid units."""
        changes = filter(None, self.entry_changes().tolist())
        return min((Fraction(change, self.records) for change in changes), default=Fraction(0))

    def farthest(self, entries: Sequence[int] | range, norm: int = 1) -> Fraction:
        """Return the most that one record changes by a column of these entries."""
        return max((Fraction(self.change((entry,)), self.records) for entry in entries), default=Fraction(0))

    def cell_ranges(self) -> tuple[int, ...]:
        """Return each cell's largest minus least value, in grid units."""
        return tuple(self.of_cell(cell).change(range(self.size)) for cell in range(self.cells))

    def of_cell(self, cell: int) -> ColumnAnswer:
        """Return one of its cells as an answer."""
        terms = tuple(Term(term.columns, term.table[..., cell : cell + 1]) for term in self.terms)
        return replace(self, labels=(self.labels[cell],), terms=terms)

    def evaluate(self, values: IntArray) -> tuple[int, ...]:
        """Return the true answer in grid units from value indices, shape (records, columns)."""
        if values.shape != (self.records, len(self.entry_of)):
            raise DataError("the data have other records or columns than the belief", fix="declare both with it")
        return tuple(map(int, self.of_rows(values).sum(axis=0)))

    def of_rows(self, values: IntArray) -> IntArray:
        """Return the addend of each record, shape (records, cells)."""
        total = np.zeros((len(values), self.cells), dtype=np.int64)
        for term in self.terms:
            read = [values[:, column] for column in term.columns]
            for index, size in zip(read, term.table.shape, strict=False):
                check_indices(index, size)
            total += term.table[tuple(read)]
        return total

    def totals(self, values: IntArray) -> IntArray:
        """Return the answer to each row of listed states: the entries, then the values of every record in turn."""
        width, total = len(self.entry_of), np.zeros((len(values), self.cells), dtype=np.int64)
        for start in range(self.size, self.size + self.records * width, width):
            total += self.of_rows(values[:, start : start + width])
        return total


@dataclass(frozen=True)
class Record:
    """The columns of one record as entries that a query can be resolved against."""

    names: tuple[str, ...]
    alphabets: tuple[tuple[State, ...], ...]

    @property
    def size(self) -> int:
        return len(self.names)

    @property
    def one_alphabet(self) -> bool:
        return len(set(self.alphabets)) == 1

    def alphabet(self, entry: int) -> tuple[State, ...]:
        return self.alphabets[entry]

    def position(self, name: Hashable) -> int:
        check_known([name], self.names, "the records have no column")
        return self.names.index(str(name))


def over_columns(query: Query, record: Record, records: int, entry_of: tuple[int, ...], size: int) -> ColumnAnswer:
    """Return the sum of a query over records, column by column; a mean divides by their public number."""
    if isinstance(query, JointQuery):
        return _joined([over_columns(part, record, records, entry_of, size) for part in query.queries])
    if isinstance(query, RowQuery):
        return _of_rows(query, record, records, entry_of, size)
    if isinstance(query, GroupBy):
        raise by_columns()
    if isinstance(query, Identity):
        raise InputError(
            f"{query.describe()} is one number, and there are {records} records",
            fix="publish a Count, Sum, Mean or Histogram of the column",
        ).at("query")  # fmt: skip
    answer = query.resolve(record)
    if not isinstance(answer, Additive) or answer.size != record.size:
        raise InputError(f"{query.describe()} does not add up over the columns of records").at("query")
    check_sum(answer, query, record)
    read = np.flatnonzero(answer.weights).tolist()
    terms = tuple(Term((column,), answer.contribution(column)) for column in read)
    grid = answer.grid / records if isinstance(query, Mean) else answer.grid
    return ColumnAnswer(grid, answer.labels, terms, records, entry_of, size, record.names)


def _joined(answers: Sequence[ColumnAnswer]) -> ColumnAnswer:
    """Join several answers over the same columns on a common grid."""
    grid, labels = in_common(answers)
    terms, first = list[Term](), 0
    for answer in answers:
        for term in answer.terms:
            table = np.zeros((*term.table.shape[:-1], len(labels)), dtype=np.int64)
            table[..., first : first + len(answer.labels)] = term.table * int(answer.grid / grid)
            terms.append(Term(term.columns, table))
        first += len(answer.labels)
    return replace(answers[0], grid=grid, labels=labels, terms=tuple(terms))


def _of_rows(
    query: RowQuery, record: Record, records: int, entry_of: tuple[int, ...], size: int
) -> ColumnAnswer:
    """Return the sum over records of what the values of several columns add: a table over all of them."""
    alphabets = dict(zip(record.names, record.alphabets, strict=True))
    labels = query.labels(alphabets)
    columns = [alphabets[name] for name in query.names]
    count = math.prod(map(len, columns))
    if count > query.most_rows:
        what, fix = f"a table of {query.describe()}", "name fewer columns"
        raise too_large(what, count, query.most_rows, "combinations of values", fix).at("query")
    rows = [dict(zip(query.names, values, strict=True)) for values in itertools.product(*columns)]
    table = query.table(rows, alphabets).reshape(*map(len, columns), -1)
    term = Term(tuple(map(record.position, query.names)), table)
    return ColumnAnswer(query.adds, labels, (term,), records, entry_of, size, record.names)
