"""A query by cells: one answer for each hour of the day, weekday or ward, from the entries that lie in it.

Cells are different coordinates: an entry moves the table by the sum of its changes in the cells that hold it. D(N) is
at most the sum of these over N (triangle inequality), and just that where all entries have one alphabet: all can move
between the two values that are farthest apart, and nothing cancels. Choices are by the counts of each cell alone.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import product
from typing import Any

import numpy as np

from takifugu.core.arrays import IntArray
from takifugu.core.columns import value_of
from takifugu.core.entries import Entries, positions
from takifugu.core.errors import InputError, within
from takifugu.core.plain import LEFT_OUT, Plain, form, set_fields
from takifugu.core.rules import check_any, check_written_apart, list_of, pairs_of, too_large
from takifugu.core.sections import written as named
from takifugu.model.queries.additive.counts import Histogram
from takifugu.model.queries.answer import Additive, Chosen
from takifugu.model.queries.choices.candidates import Candidates
from takifugu.model.queries.coding import common_step
from takifugu.model.queries.forms import RUNS, Query, entry_tuple, runs, unruns, where
from takifugu.model.queries.registry import is_registered, part_from_dict
from takifugu.numbers.rationals import as_whole
from takifugu.numbers.runs import Repeated, Runs

#: The entries of each label.
Cells = Mapping[str, Iterable[int | str]] | Iterable[tuple[str, Iterable[int | str]]]
#: A table of more numbers (kinds of entries x values x cells of the answer) is refused: 400 MB.
MOST_NUMBERS = 50_000_000


def checked_cells(cells: Cells) -> tuple[tuple[str, Chosen], ...]:
    """Return the cells as labels and entries."""
    chosen_of = dict[str, Chosen]()
    for label, entries in pairs_of(cells, "the cells", "cells", "[('night', range(6))]"):
        if not isinstance(label, str) or not label:
            raise InputError(f"a cell is called {label!r}", rule="its label is a text", fix="name it").at("cells")
        if label in chosen_of:
            raise InputError(f"two cells are called {label!r}", fix="rename one, or join them").at("cells")
        with within("cells", label):
            chosen_of[label] = entry_tuple(_some(entries, label)) or ()
    check_any(chosen_of, "the table has no cell", "cells", fix="name one, with its entries")
    return tuple(chosen_of.items())


def checked_period(every: int | None, cells: tuple[tuple[str, Chosen], ...]) -> int | None:
    """Return after how many entries the cells repeat, which hold none beyond those."""
    if every is None:
        return None
    as_whole(every, "the period of the cells", "every", least=1)
    for label, entries in cells:
        odd = next((entry for entry in entries if isinstance(entry, str) or entry >= every), None)
        if odd is not None:
            rule = f"cells that repeat every {every} entries hold numbers from 0 to {every - 1}"
            raise InputError(f"the cell {label!r} holds {odd!r}", rule=rule, fix="number them so").at("cells", label)
    return every


def _some(entries: object, label: str) -> list[int | str]:
    """Return a cell's entries as a list, or raise InputError without any."""
    iterable = [entries] if isinstance(entries, str) else value_of(entries)
    if not isinstance(iterable, Iterable):
        message = f"the entries of the cell {label!r} are {entries!r}"
        raise InputError(message, fix="give a list of entry numbers or names, such as [0, 24]").at("entries")
    listing = list(iterable)
    check_any(listing, f"the cell {label!r} has no entry", fix="leave it out, or name its entries")
    return listing


def tables_of_kinds(
    base: Additive, places_of_cells: list[IntArray], parts: list[int]
) -> tuple[tuple[IntArray, ...], IntArray]:
    """Return a table for each kind of entry, and every entry's kind: its table in `base`, and its cells."""
    if base.table_of is None:
        kind_of = np.zeros(base.size, dtype=np.int64)
    else:
        kind_of = base.table_of.copy()
    joined = list[tuple[int, int]]()  # kinds after the first: another kind, with one more cell
    for cell, places in enumerate(places_of_cells):
        before, place_in_kinds = _numbered(kind_of[places])
        kind_of[places] = len(base.tables) + len(joined) + place_in_kinds
        joined += product(before.tolist(), [cell])
        _check_size(len(joined))
    used, table_of = _numbered(kind_of)
    kinds_of_entries = [_cells_of(kind, len(base.tables), joined) for kind in used.tolist()]
    _check_size(sum(len(base.tables[number]) for number, _ in kinds_of_entries) * base.cells * len(places_of_cells))
    tables = tuple(_table(base, number, cells, parts) for number, cells in kinds_of_entries)
    return tables, table_of


def _numbered(kinds: IntArray) -> tuple[IntArray, IntArray]:
    """Return the different kinds, small numbers, and where each entry's one is among them."""
    is_used = np.bincount(kinds) > 0
    return np.flatnonzero(is_used), (np.cumsum(is_used) - 1)[kinds]


def _check_size(numbers: int) -> None:
    if numbers > MOST_NUMBERS:
        fix = "take fewer cells, or cells of which fewer overlap"
        raise too_large("the table by cells", numbers, MOST_NUMBERS, "numbers", fix).of(InputError).at("cells")


def _cells_of(kind: int, first: int, joined: list[tuple[int, int]]) -> tuple[int, list[int]]:
    """Return the query's table number and the cells of a kind."""
    cells = list[int]()
    while kind >= first:
        kind, cell = joined[kind - first]
        cells.append(cell)
    return kind, cells


def _table(base: Additive, number: int, cells: list[int], parts: list[int]) -> IntArray:
    """Return the addend of each value of an entry in these cells."""
    base_table = base.tables[number]
    table = np.zeros((len(base_table), base.cells * len(parts)), dtype=np.int64)
    for cell in cells:
        table[:, cell * base.cells : (cell + 1) * base.cells] = base_table * parts[cell]
    return table


def _read_query(data: Plain) -> Query:
    return part_from_dict(data, lambda kind: kind.is_by_cells)


def _written_cells(cells: tuple[tuple[str, Chosen], ...]) -> list[list[object]]:
    return [[label, runs(entries)] for label, entries in cells]


def _read_cells(cells: list[Any]) -> list[tuple[str, Chosen]]:
    return [(label, unruns(entries)) for label, entries in cells]


@dataclass(frozen=True)
class GroupBy(Query, kind="by"):
    """Answer a query for each cell, such as each hour of the day.

    Cells may overlap, and need not cover all entries. The answer's change D(N) is the sum, over the entries in N, of
    the changes in their own cells.

    Args:
        query: A count, histogram, sum, mean, count above thresholds, quantile or top-k.
        cells: The entries of each label, by number from 0 or by name.
        by: Words for the cells, such as "time of day".
        every: Length of one period. Entries are then numbers below it, and the cells repeat each period, so that they
            mean the same for one sequence and for a pool.
        entries: The entries to read; None for all.
        axes: Names of the things that the cells combine, such as ("weekday", "hour").
        parts: Each cell's value on every axis.

    Raises:
        InputError: For no cell, an empty cell, a repeated label, a query that chooses entries itself, and parts that do
            not fit cells and axes.

    Examples:
        >>> from takifugu import Count
        >>> table = GroupBy(Count("walking"), {"night": range(0, 6), "day": range(6, 24)}, by="time of day", every=24)
        >>> table.describe()
        "how often state 'walking' occurs, by time of day (2 cells)"
        >>> from takifugu import MarkovChain
        >>> answer = table.resolve(MarkovChain([[0.9, 0.1], [0.4, 0.6]], 48, states=["still", "walking"]))
        >>> answer.labels, answer.change(range(48))
        (('night', 'day'), 48)
    """

    query: Query = field(metadata=form(read=_read_query))
    cells: tuple[tuple[str, Chosen], ...] = field(metadata=form(_written_cells, _read_cells))
    by: str = ""
    every: int | None = None
    entries: Chosen | None = field(default=None, metadata=RUNS)
    axes: tuple[str, ...] = field(default=(), metadata=LEFT_OUT)
    parts: tuple[tuple[str, ...], ...] = field(default=(), metadata=LEFT_OUT)

    reads_alike = True

    def __init__(
        self,
        query: Query,
        cells: Cells,
        by: str = "",
        every: int | None = None,
        entries: Iterable[int | str] | None = None,
        axes: Iterable[str] = (),
        parts: Iterable[Iterable[str]] = (),
    ) -> None:
        if not (is_registered(query) and query.is_by_cells):
            message = f"a {type(query).__name__} cannot be told by cells"
            fix = "give a Count, Histogram, Sum, Mean, CountAbove, Median, Quantile, Mode or TopK"
            raise InputError(message, fix=fix).at("query")
        for key in named(query, ("entries", "attribute")):
            message = f"the query that is told by cells has {key} of its own"
            raise InputError(message, rule="the cells choose the entries", fix=f"leave its {key} out").at("query", key)
        set_fields(self, query=query, cells=checked_cells(cells), by=str(by))
        all_parts = []
        for of_cell in list_of(parts, "the parts", "parts", "[['Monday', '00']]"):
            all_parts.append(tuple(list_of(of_cell, "the parts of a cell", "parts", "['Monday', '00']")))
        set_fields(
            self, every=checked_period(every, self.cells), entries=entry_tuple(entries),
            axes=tuple(list_of(axes, "the axes", "axes", "['weekday', 'hour']")), parts=tuple(all_parts),
        )  # fmt: skip
        # what holds of the query holds of the table; each of its cells is a block where the query is a histogram
        set_fields(
            self, definitions=query.definitions, elsewhere=query.elsewhere, is_choice=query.is_choice,
            blocks=len(self.cells) if isinstance(query, Histogram) else 1,
        )  # fmt: skip
        if list(map(len, self.parts)) != [len(self.axes)] * len(self.cells if self.axes else ()):
            rule = "every cell has one part for each axis"
            raise InputError("the parts do not fit the cells and axes of the table", rule=rule).at("parts")

    def resolve(self, entries: Entries) -> Additive:
        """Return the vector of all cells.

        Args:
            entries: The belief or domain.

        Returns:
            The answer, without data.

        Raises:
            InputError: For an unknown entry, and for too large a table.
        """
        base = self.query.undivided().resolve(entries)
        turn, times = self._in_one_turn(base)
        if times == 1:
            places_of_cells = self.held(entries)
        else:
            places_of_cells = list(map(np.array, dict(self.cells).values()))
        parts = [Fraction(1)] * len(places_of_cells)
        if self.query.is_mean:
            parts = [Fraction(1, len(places) * times) for places in places_of_cells]
        unit = common_step(parts)
        tables, table_of = tables_of_kinds(turn, places_of_cells, [int(part / unit) for part in parts])
        read = np.zeros(turn.size, dtype=np.int64)
        read[np.concatenate(places_of_cells)] = 1
        weights: Any = Repeated.of_times(Runs.of(turn.weights * read), times)
        numbers: Any = Repeated.of_times(Runs.of(table_of), times)
        labels = self._labels(base.labels)
        if isinstance(base, Candidates):  # their unit is 1
            names = self._labels(base.published)
            choice = base.outcomes, base.goal, names, len(places_of_cells)
            return Candidates(base.grid, labels, tables, weights, numbers, *choice)
        return Additive(base.grid * unit, labels, tables, weights, numbers, each=base.each)

    def _in_one_turn(self, base: Additive) -> tuple[Additive, int]:
        """Return the answer about one turn, as many entries as repeat, and the number of turns."""
        weights, table_of = base.in_runs
        is_alike = len(weights.values) == 1 and table_of is None and self.entries is None
        if self.every is None or base.size % self.every or not is_alike:
            return base, 1
        return base.restrict(slice(0, self.every)), base.size // self.every

    @property
    def of_each_cell(self) -> Query:
        return self.query

    @property
    def numbers_entries(self) -> bool:
        return self.every is None or self.entries is not None

    def held(self, entries: Entries) -> list[IntArray]:
        """Return the belief's positions of the entries of each cell.

        Args:
            entries: The belief or domain.

        Returns:
            Whole numbers for each cell.

        Raises:
            InputError: For an unknown entry, a cell without entries, and a mean over none.
        """
        places_of_cells = [self._positions(entries, *cell) for cell in self.cells]
        if self.entries is not None:
            read = np.array(positions(entries, self.entries), dtype=np.int64)
            places_of_cells = [places[np.isin(places, read)] for places in places_of_cells]
        for (label, _), places in zip(self.cells, places_of_cells, strict=True):
            if not len(places) and (self.entries is None or self.query.is_mean):
                message = f"the cell {label!r} has no entry"
                if self.entries is not None:
                    message = f"no entry of {label!r} is read"
                raise InputError(message, fix="leave the cell out").at("cells", label)
        return places_of_cells

    def _positions(self, entries: Entries, label: str, cell_entries: Chosen) -> IntArray:
        if self.every is not None:
            first = np.array(cell_entries, dtype=np.int64)
            places: IntArray = (np.arange(0, entries.size, self.every, dtype=np.int64)[:, None] + first).ravel()
            return places[places < entries.size]
        with within("cells", label):
            return np.unique(np.array(positions(entries, cell_entries), dtype=np.int64))

    def unnamed(self) -> GroupBy:
        """Return the same table with cells numbered, as a ledger keeps it."""
        cells = [(str(number), entries) for number, (_, entries) in enumerate(self.cells)]
        return GroupBy(self.query, cells, "", self.every, self.entries)

    def _labels(self, states: tuple[str, ...]) -> tuple[str, ...]:
        if not isinstance(self.query, Histogram) and len(states) == 1:
            return tuple(dict(self.cells))
        labels = tuple(f"{label}, {state}" for (label, _), state in product(self.cells, states))
        check_written_apart(labels, "the table has the cells", "cells", fix="rename a cell or a state")
        return labels

    @staticmethod
    def two_way(data: Plain, labels: Iterable[str]) -> tuple[tuple[str, str], ...] | None:
        """Return the two parts of each label, such as cell and state of a histogram.

        Args:
            data: The query's `to_dict` form.
            labels: The labels.

        Returns:
            Two texts for each label; None for other queries and for choices.

        Examples:
            >>> from takifugu import Count, Histogram
            >>> hours = GroupBy(Histogram(), {"00": [0], "01": [1]})
            >>> GroupBy.two_way(hours.to_dict(), ["00, a", "00, b, c", "01, a", "01, b, c"])
            (('00', 'a'), ('00', 'b, c'), ('01', 'a'), ('01', 'b, c'))
            >>> table = GroupBy(Count(1), {"Monday 00": [0]}, axes=["weekday", "hour"], parts=[["Monday", "00"]])
            >>> GroupBy.two_way(table.to_dict(), ["Monday 00"])
            (('Monday', '00'),)
        """
        all_labels, cells = tuple(labels), list(dict(data["cells"]))
        if _read_query(data["query"]).is_choice:
            return None
        if data["query"]["kind"] != "histogram":
            is_by_two = len(data.get("axes", ())) == 2 and len(all_labels) == len(cells)
            if is_by_two:
                return tuple((row, column) for row, column in data["parts"])
            return None
        states = len(all_labels) // len(cells)
        cell_and_state = []
        for number, label in enumerate(all_labels):
            cell = cells[number // states]
            cell_and_state.append((cell, label.removeprefix(f"{cell}, ")))
        return tuple(cell_and_state)

    def describe(self) -> str:
        return f"{self.query.describe()}, by {self.by or 'cells'} ({len(self.cells)} cells){where(self.entries)}"


def by_columns() -> InputError:
    """Return the refusal of a table by cells over records' columns."""
    return InputError(
        "a table by cells chooses entries, and those of records are columns",
        fix="count rows by the values of columns: CrossTable(['age', 'sex'])",
    ).at("query")
