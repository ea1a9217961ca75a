"""How many records have each combination of values of some columns (age group by sex): for beliefs over records only.

A record adds 1 to at most one cell. So a change moves the table by 2 from one cell to another, by 1 into or out of the
listed ones, and else not at all. Records that change together can all change so, and nothing cancels.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from pathlib import Path
from typing import Annotated, Literal

import numpy as np

from takifugu.core.arrays import IntArray
from takifugu.core.columns import has_members, value_of
from takifugu.core.entries import Entries
from takifugu.core.errors import InputError
from takifugu.core.plain import Plain, form, set_fields
from takifugu.core.rules import check_any, check_known, check_written_apart, too_large
from takifugu.core.sections import Key
from takifugu.model.queries.additive.counts import Histogram
from takifugu.model.queries.answer import State
from takifugu.model.queries.forms import state_or_states
from takifugu.model.queries.sections import Adjust, Columns, States, Total, check_columns, values_by_column, values_of
from takifugu.model.queries.tables.rows import Alphabets, RowQuery
from takifugu.numbers.rationals import as_whole

#: A table of more numbers (combinations that a record can have, times cells) is refused.
_MOST_NUMBERS = 10_000_000
_BETWEEN = ", "


@dataclass(frozen=True)
class CrossTable(RowQuery, kind="cross-table"):
    """Count the records with each combination of values of several columns.

    Cells are in the order of the columns; the last one varies fastest. One record moves the table by 2.

    Args:
        columns: Names of columns, or a mapping of names to the values that get cells (None: all values of the belief).
        total: A public constant that divides each count, a whole number above 0.

    Raises:
        InputError: For no column, a repeated one, one without values, and a total that is not a whole number above 0.

    Examples:
        >>> from takifugu import JointTable, Records
        >>> rows = [("young", "f"), ("young", "m"), ("old", "f")]
        >>> people = Records(JointTable(rows, [0.5, 0.25, 0.25], names=["age", "sex"]), 40)
        >>> answer = people.resolve(CrossTable(["age", "sex"]))
        >>> answer.labels, answer.change([0]), answer.change([0, 1])
        (('old, f', 'old, m', 'young, f', 'young, m'), 2, 4)
    """

    columns: tuple[tuple[str, tuple[State, ...] | None], ...] = field(metadata=form(read=dict))
    total: int | None = None

    is_count = True
    most_rows = _MOST_NUMBERS

    def __init__(self, columns: Mapping[str, Iterable[State] | None] | Iterable[str], total: int | None = None) -> None:
        set_fields(self, columns=_columns(columns))
        public_total = value_of(total)
        if public_total is not None:
            as_whole(public_total, "the table's public total", "total", least=1)
        set_fields(self, total=public_total)

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(dict(self.columns))

    @property
    def grid(self) -> Fraction:  # type: ignore[override]
        return Fraction(1, self.total or 1)

    @property
    def adds(self) -> Fraction:
        return self.grid

    def values(self, alphabets: Alphabets) -> list[tuple[State, ...]]:
        """Return the values that get cells, for each column.

        Args:
            alphabets: The values of each column of a belief.

        Returns:
            The values by column.

        Raises:
            InputError: For an unknown column or value.
        """
        values = []
        for name, chosen_values in self.columns:
            check_known([name], alphabets, "the records have no column", "columns")
            check_known(chosen_values or (), alphabets[name], f"the column {name!r} has no value", "columns", name)
            values.append(chosen_values or alphabets[name])
        return values

    def labels(self, alphabets: Alphabets) -> tuple[str, ...]:
        values = self.values(alphabets)
        _check_size(math.prod(map(len, values)))
        labels = tuple(_BETWEEN.join(map(str, cell)) for cell in itertools.product(*values))
        check_written_apart(labels, "the table has the cells", "columns", fix="rename a value")
        return labels

    def table(self, rows: Sequence[Mapping[str, State]], alphabets: Alphabets) -> IntArray:
        values = self.values(alphabets)
        shape = tuple(map(len, values))
        _check_size(len(rows) * math.prod(shape))
        place = []
        for values_of_column in values:
            place.append({value: place for place, value in enumerate(values_of_column)})
        table = np.zeros((len(rows), *shape), dtype=np.int64)
        for number, row in enumerate(rows):
            cell = tuple(place_of.get(row[name], -1) for place_of, name in zip(place, self.names, strict=True))
            if min(cell) >= 0:
                table[(number, *cell)] = 1
        return table.reshape(len(rows), -1)

    @staticmethod
    def two_way(data: Plain, labels: Iterable[str]) -> tuple[tuple[str, str], ...] | None:
        """Return both values of each label of a two-way table.

        Args:
            data: The query's `to_dict` form.
            labels: The labels.

        Returns:
            Two values for each label; None for other tables, and where the labels alone do not tell.

        Examples:
            >>> CrossTable.two_way(CrossTable({"age": ["a, b", "c"], "sex": ["f"]}).to_dict(), ["a, b, f", "c, f"])
            (('a, b', 'f'), ('c', 'f'))
        """
        if len(data["columns"]) != 2:
            return None
        (_, first), (_, second) = data["columns"]
        if first is not None and second is not None:
            return tuple(itertools.product(map(str, first), map(str, second)))
        cells = []
        for label in labels:
            left, *others = label.split(_BETWEEN)
            if len(others) != 1:
                return None
            cells.append((left, others[0]))
        return tuple(cells)

    def describe(self) -> str:
        subject = f"how many records have each combination of {' and '.join(map(repr, self.names))}"
        if self.total is None:
            return subject
        return f"{subject}, divided by the public constant {self.total}"


def _check_size(numbers: int) -> None:
    if numbers > _MOST_NUMBERS:
        fix = "name fewer columns, or fewer values of them"
        raise too_large("the table", numbers, _MOST_NUMBERS, "numbers", fix).of(InputError).at("columns")


def _columns(columns_given: object) -> tuple[tuple[str, tuple[State, ...] | None], ...]:
    """Return the columns with the values of their cells, None for all."""
    if isinstance(columns_given, str) or not has_members(columns_given):
        raise InputError(f"the columns are {columns_given!r}", fix="give a list, such as ['age', 'sex']").at("columns")
    all_names = list(columns_given)
    names = [name for name in all_names if isinstance(name, str)]
    if not all_names or len(names) < len(all_names) or len(set(names)) < len(names):
        raise InputError(
            f"the table's columns are {all_names}", rule="it names one column or more, each once by its text",
            fix="write for example CrossTable(['age', 'sex'])",
        ).at("columns")  # fmt: skip
    columns = []
    for name in names:
        values = columns_given[name] if isinstance(columns_given, Mapping) else None
        states = None if values is None else state_or_states(values)
        if states is not None:
            check_any(states, f"the table has no value of {name!r}", "columns", name)
        columns.append((name, states))
    return tuple(columns)


@dataclass(frozen=True, kw_only=True)
class CrossTableSection:
    """How many records have each value of a column, or each combination of values of several."""

    query: Literal["histogram"]
    attribute: Annotated[Columns | None, Key("the column whose values are counted", "education")] = None
    by: Annotated[
        Columns | None, Key("the columns of which each combination of values has a cell, beside `attribute`", ["age"])
    ] = None
    states: States = None
    total: Total = None
    adjust: Adjust = None

    @property
    def blamed(self) -> str:
        return "by" if self.by else "attribute"

    def query_about(self, belief: Entries, folder: Path) -> Histogram | CrossTable:
        values_of_columns, counted_columns, by = values_by_column(belief), _listed(self.attribute), _listed(self.by)
        if not counted_columns and not by:
            fix = 'write the column whose values are counted, attribute = "education"'
            raise InputError("is missing", fix=fix).at("attribute")
        check_columns(by, belief, "by")
        check_columns(counted_columns, belief, "attribute")
        if len(counted_columns) != 1 and self.states is not None:
            raise InputError("the states are those of one attribute, and none is named", fix="leave them out").at(
                "states"
            )
        states = None
        if self.states is not None:
            states = values_of(counted_columns[0], self.states, values_of_columns, "states")
        if self.by is None:
            if len(counted_columns) > 1:
                raise InputError("a histogram is of one column", fix="publish one table for each").at("attribute")
            return Histogram(states, self.total, counted_columns)
        if len({*by, *counted_columns}) < len(by) + len(counted_columns):
            raise InputError("a column is named twice", fix="name each once").at("by")
        for name in (*by, *counted_columns):
            if name not in values_of_columns:
                raise InputError(f"{name!r} holds real numbers, which have no cells", fix="publish a mean or a sum").at(
                    "by"
                )
        values = {name: tuple(values_of_columns[name].values()) for name in (*by, *counted_columns)}
        if states is not None:
            values[counted_columns[0]] = states
        return CrossTable(values, self.total)


def _listed(columns: str | tuple[str, ...] | None) -> tuple[str, ...]:
    if columns is None:
        return ()
    return (columns,) if isinstance(columns, str) else columns
