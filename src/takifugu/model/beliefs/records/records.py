"""Records: so many independent rows, each with the joint distribution of one table over named columns (Zhang22 §3)."""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import cached_property
from itertools import chain
from typing import ClassVar

import numpy as np

from takifugu.core.arrays import IntArray
from takifugu.core.assumptions import Assumption, public, world
from takifugu.core.columns import value_of
from takifugu.core.entries import Nameless, Undivided, positions
from takifugu.core.errors import InputError
from takifugu.core.plain import LEFT_OUT, Plain, PlainForm, form, set_fields
from takifugu.core.registry import place_of
from takifugu.core.rules import check_as_many, check_known, pairs_of, wrong_type
from takifugu.model.beliefs.table import JointTable
from takifugu.model.queries import (
    Additive,
    GroupBy,
    Histogram,
    Identity,
    JointQuery,
    Mean,
    Query,
)
from takifugu.model.queries.resolving.columns import Record
from takifugu.model.queries.resolving.summing import answer_of_entries
from takifugu.model.queries.tables.by import by_columns
from takifugu.model.queries.tables.rows import RowQuery
from takifugu.model.queries.tables.together import joined
from takifugu.numbers.rationals import Number, as_fraction, common_denominator, is_whole

#: Most records that a belief is about: every list of them stays small beside the data.
MOST_RECORDS = 10**8


@dataclass(frozen=True, eq=False)
class Records(PlainForm, Nameless, Undivided, kind="records"):
    """Model independent records, each a row of one joint table (Zhang22 Definition 3).

    Entries are the records, in any order; queries and secrets name the table's columns.

    Args:
        table: The distribution of a row; its names are the columns, in text.
        n: Number of records; it is public.
        source: Where the numbers come from, in words; None for the table's source.
        within: An interval (low, high) for each row's probability. The belief is then the class of all distributions in
            them, of which the table is one.

    Raises:
        InputError: Unless the table is a JointTable with columns named in text, `n` a whole number above 0, and each
            interval around its row's probability.

    Examples:
        >>> table = JointTable([("a", 0), ("a", 1), ("b", 1)], [0.5, 0.25, 0.25], names=["group", "ill"])
        >>> people = Records(table, 40)
        >>> people.size, people.columns, people.alphabet(0)[1]
        (40, ('group', 'ill'), ('a', 1))
    """

    table: JointTable
    size: int = field(metadata=form(key="records"))
    source: str = "assumed"
    within: tuple[tuple[Fraction, Fraction], ...] | None = field(default=None, metadata=LEFT_OUT)

    entry_word = "row"

    answers: ClassVar = {
        "the distribution of the answer": "analysis.questions.answer_law:FOR_RECORDS",
        "how data are read": "releasing.planning.reading_records:of_records",
        "the mean of an answer": "analysis.expectations.rows:OfRecords",
        "the list of joint states": "audit.records:RecordStates",
        "the distribution of a cell": "analysis.cell_laws.characteristic:of_records",
        "the moments of a count": "analysis.expectations.moments_of_rows:of_records",
        "data drawn from a belief": "analysis.questions.made_up_data:of_records",
        "the view of a secret": "model.beliefs.records.record_views:view_of",
    }

    def __init__(
        self,
        table: JointTable,
        n: int,
        source: str | None = None,
        within: Iterable[tuple[Number, Number]] | None = None,
    ) -> None:
        fix = "give a JointTable(rows, probabilities, names)"
        if not isinstance(table, JointTable) or not place_of(type(table)):  # of a derived type nothing is proved
            raise wrong_type(table, "the distribution of a record", fix).at("table")
        if not all(isinstance(name, str) for name in table.column_names):
            raise InputError("a column of the records has no name in text", fix="give names=['race', ...]").at("table")
        number = value_of(n)
        if not is_whole(number, 1) or number > MOST_RECORDS:
            raise InputError(
                f"there are {n!r} records", rule=f"their number is public, a whole number from 1 to {MOST_RECORDS:,}"
            ).at("n")
        set_fields(
            self, table=table, size=number, within=None if within is None else _intervals(table, within),
            source=table.source if source is None else str(source),
        )  # fmt: skip

    @property
    def columns(self) -> tuple[str, ...]:
        return tuple(map(str, self.table.column_names))

    @cached_property
    def record(self) -> Record:
        """One record, as queries read it."""
        return Record(self.columns, tuple(map(self.table.alphabet, range(len(self.columns)))))

    def alphabet(self, entry: int) -> tuple[Hashable, ...]:
        """Return the values of a record.

        Args:
            entry: The record's number.

        Returns:
            The rows of the table.
        """
        return self.table.rows

    def possible(self, entry: int) -> tuple[bool, ...]:
        return self._possible

    @cached_property
    def _possible(self) -> tuple[bool, ...]:
        if self.within is not None:
            return tuple(high > 0 for _, high in self.within)
        return tuple(weight > 0 for weight in self.weights)

    @cached_property
    def weights(self) -> tuple[int, ...]:
        """Integers proportional to the table's probabilities, floats as binary fractions.

        >>> Records(JointTable([(0,), (1,)], [0.25, 0.75]), 2).weights
        (1, 3)
        """
        exact = list(map(Fraction, self.table.masses))
        common = common_denominator(exact)
        return tuple(int(mass * common) for mass in exact)

    def column(self, name: str) -> int:
        """Return the number of a column.

        Args:
            name: The column's name.

        Returns:
            Its place in the table, from 0.

        Raises:
            InputError: For an unknown column.
        """
        check_known([name], self.columns, "the records have no column", "attribute")
        return self.columns.index(name)

    def position(self, name: Hashable) -> int:
        raise InputError(
            f"{name!r} does not name a record",
            rule="the entries are records, which are numbered from 0; columns are named by queries over records, "
            "dataset_property(...) and every_entry(attribute=...)",
        )

    def resolve(self, query: Query) -> Additive:
        """Return the answer of a query about the columns.

        Args:
            query: The query.

        Returns:
            The answer, without data.

        Raises:
            InputError: For a query that does not fit the columns.

        Examples:
            >>> people = Records(JointTable([("a", 0), ("b", 1)], [0.5, 0.5], names=["group", "ill"]), 40)
            >>> from takifugu import CountRows
            >>> people.resolve(Mean("ill")).grid, people.resolve(CountRows({"group": "b"})).tables[0].tolist()
            (Fraction(1, 40), [[0], [1]])
        """
        if isinstance(query, JointQuery):
            return joined(list(map(self.resolve, query.queries)))
        if isinstance(query, GroupBy):
            raise by_columns()
        if isinstance(query, RowQuery):
            return self._of_rows(query)
        if isinstance(query, Identity) and self.size > 1:
            raise InputError(
                f"{query.describe()} is one value, and there are {self.size} records",
                fix="publish a Mean, Sum, Count or Histogram",
            ).at("query")
        if not (query.reads_alike or query.adds_up):
            return answer_of_entries(query.over_records, self)
        if isinstance(query, Histogram) and query.states is None and query.entries is not None:
            values = chain.from_iterable(map(self.table.alphabet, positions(self.table, query.entries)))
            query = replace(query, states=tuple(dict.fromkeys(values)))
        answer = query.resolve(self.table)
        total = np.zeros((len(self.table.rows), answer.cells), dtype=np.int64)
        for place in np.flatnonzero(answer.weights).tolist():
            total += answer.contribution(place)[self.table.indices[:, place]]
        grid = answer.grid / self.size if isinstance(query, Mean) else answer.grid
        return self._added(grid, answer.labels, total)

    def _of_rows(self, query: RowQuery) -> Additive:
        alphabets = {name: self.table.alphabet(i) for i, name in enumerate(self.columns)}
        rows = [dict(zip(self.columns, row, strict=True)) for row in self.table.rows]
        return self._added(query.adds, query.labels(alphabets), query.table(rows, alphabets))

    def _added(self, grid: Fraction, labels: tuple[str, ...], rows: IntArray) -> Additive:
        return Additive(grid, labels, (rows,), np.ones(self.size, dtype=np.int64))

    def assumptions(self) -> tuple[Assumption, ...]:
        law = world("The records are independent, each with the same stated joint distribution of its columns.")
        if self.within is not None:  # also where it was counted: what was never counted has no interval
            law = world(
                "The records are independent, each with the same joint distribution of its columns. It is one of those "
                f"within the stated intervals: none but these {len(self.within)} different rows can occur."
            )
        return law, public("The number of records is public.")

    @classmethod
    def from_dict(cls, data: Plain) -> Records:
        return cls(JointTable.from_dict(data["table"]), data["records"], data.get("source"), data.get("within"))

    def describe(self) -> str:
        loose = "" if self.within is None else " of probabilities within intervals"
        return (
            f"{self.size:,} independent records of {len(self.columns)} columns, with {len(self.table.rows)} different "
            f"rows{loose} ({self.source})"
        )


def _intervals(table: JointTable, within: Iterable[tuple[Number, Number]]) -> tuple[tuple[Fraction, Fraction], ...]:
    intervals = tuple(
        (as_fraction(low, "an end of an interval", "within"), as_fraction(high, "an end of an interval", "within"))
        for low, high in pairs_of(within, "the intervals", "within", "[(0.4, 0.6), (0.4, 0.6)]")
    )
    check_as_many(intervals, "intervals", table.rows, "rows of the table", "within")
    masses = [Fraction(mass) / (table.total or 1) for mass in table.masses]
    for row, mass, (low, high) in zip(table.rows, masses, intervals, strict=True):
        if not 0 <= low <= mass <= high <= 1:
            raise InputError(
                f"the interval of the row {row} goes from {float(low):g} to {float(high):g}",
                rule=f"it must lie inside [0, 1] and hold the table's probability {float(mass):g}",
            ).at("within")
    return intervals
