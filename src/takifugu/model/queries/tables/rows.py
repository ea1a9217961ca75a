"""The number of records that satisfy conditions on their columns: for beliefs over records only."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Annotated, Literal

import numpy as np
from annotated_types import MinLen

from takifugu.core.arrays import IntArray
from takifugu.core.entries import Entries
from takifugu.core.errors import InputError
from takifugu.core.plain import set_fields
from takifugu.core.rules import check_any, check_known, pairs_of, requires
from takifugu.core.sections import Key, Text
from takifugu.core.sections import State as Written
from takifugu.model.queries.answer import Additive, State
from takifugu.model.queries.forms import Query, state_or_states
from takifugu.model.queries.sections import Adjust, Counted, check_columns, values_by_column, values_of
from takifugu.numbers.rationals import as_truth

Alphabets = Mapping[str, tuple[State, ...]]


class RowQuery(Query):
    """A query that reads several columns of a record together: each record adds to some cells."""

    is_with_others = True
    #: Combinations of values that a record may have; more are refused.
    most_rows = 1_000_000

    @property
    @abstractmethod
    def names(self) -> tuple[str, ...]:
        """Return the columns that are read."""

    @property
    def adds(self) -> Fraction:
        """Return what a record adds to a cell."""
        return Fraction(1)

    @abstractmethod
    def labels(self, alphabets: Alphabets) -> tuple[str, ...]:
        """Return the name of each cell.

        Args:
            alphabets: The values of each column of a belief.

        Returns:
            The names.
        """

    @abstractmethod
    def table(self, rows: Sequence[Mapping[str, State]], alphabets: Alphabets) -> IntArray:
        """Return the effect of each record on each cell.

        Args:
            rows: The records' values by column.
            alphabets: The values of each column of a belief.

        Returns:
            Whole numbers, shape (rows, cells).
        """

    def resolve(self, entries: Entries) -> Additive:
        """Refuse: beliefs over records resolve this query themselves.

        Args:
            entries: A belief over other entries.

        Returns:
            Nothing.

        Raises:
            InputError: Always.
        """
        raise requires(self.describe(), "a belief over records", "Records(table, n) or Parameters(...)").at("query")


@dataclass(frozen=True)
class CountRows(RowQuery, kind="count-rows"):
    """Count the records with chosen values in named columns.

    Args:
        where: A state, or a list of states, for each column.
        any_of: Whether one matching column is enough; by default all must match.

    Raises:
        InputError: For no column, and for a column without a state.

    Examples:
        >>> CountRows({"height": "tall", "sat": ["high", "highest"]}).describe()
        "the number of records with 'height' = 'tall' and 'sat' = 'high' or 'highest'"
    """

    where: tuple[tuple[str, tuple[State, ...]], ...]
    any_of: bool = False

    is_count = True

    def __init__(self, where: Mapping[str, object] | Iterable[tuple[str, object]], any_of: bool = False) -> None:
        pairs = pairs_of(where, "the columns", "where", "[('height', 'tall')]")
        if not pairs or any(not isinstance(name, str) for name, _ in pairs):
            raise InputError(
                f"the query counts the records where {pairs!r}", rule="it names one column or more",
                fix="write for example CountRows({'height': 'tall', 'sat': 'high'})",
            ).at("where")  # fmt: skip
        conditions = []
        for name, states in pairs:
            chosen_states = state_or_states(states)
            check_any(chosen_states, f"the query names no state of {name!r}", "where", name)
            conditions.append((name, chosen_states))
        set_fields(self, where=tuple(conditions), any_of=as_truth(any_of, "any_of"))

    def holds(self, record: Mapping[str, State]) -> bool:
        """Return whether a record is counted.

        Args:
            record: Its values by column.

        Returns:
            True if it is.

        Examples:
            >>> CountRows({"a": 1, "b": [1, 2]}, any_of=True).holds({"a": 0, "b": 2})
            True
        """
        verdicts = (record[name] in states for name, states in self.where)
        return any(verdicts) if self.any_of else all(verdicts)

    def check(self, alphabets: Alphabets) -> None:
        """Check the columns and states of the query.

        Args:
            alphabets: The values of each column of a belief.

        Raises:
            InputError: For a column or state that the belief does not know.
        """
        for name, states in self.where:
            check_known([name], alphabets, "the records have no column", "where")
            check_known(states, alphabets[name], f"the column {name!r} has no value", "where", name)

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(dict(self.where))

    def labels(self, alphabets: Alphabets) -> tuple[str, ...]:
        self.check(alphabets)
        return ("count",)

    def table(self, rows: Sequence[Mapping[str, State]], alphabets: Alphabets) -> IntArray:
        return np.array([[int(self.holds(row))] for row in rows], dtype=np.int64)

    def describe(self) -> str:
        words = [f"{name!r} = {' or '.join(map(repr, states))}" for name, states in self.where]
        between = " or " if self.any_of else " and "
        return f"the number of records with {between.join(words)}"


@dataclass(frozen=True, kw_only=True)
class CountRowsSection:
    """How many records have some values in several columns."""

    query: Literal["count-rows"]
    where: Annotated[
        dict[str, Written | tuple[Written, ...]], MinLen(1),
        Key("the values that a row must have", {"height": "tall"}),
    ]  # fmt: skip
    any_of: Annotated[bool, Key("one column with such a value is enough")] = False
    adjust: Adjust = None

    blamed = "where"

    def query_about(self, belief: Entries, folder: Path) -> CountRows:
        values_of_columns = values_by_column(belief)
        conditions = {}
        for name, states in self.where.items():
            conditions[name] = values_of(name, states, values_of_columns, "where", name)
        return CountRows(conditions, self.any_of)


@dataclass(frozen=True, kw_only=True)
class ColumnCountSection:
    """How many records have one of some values in a column."""

    query: Literal["count"]
    attribute: Annotated[Text, Key("the column whose values are counted", "smoker")]
    states: Counted
    adjust: Adjust = None

    blamed = "attribute"

    def query_about(self, belief: Entries, folder: Path) -> CountRows:
        check_columns([self.attribute], belief, "attribute")
        return CountRows({self.attribute: values_of(self.attribute, self.states, values_by_column(belief), "states")})
