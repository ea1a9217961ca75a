"""Several queries as one answer: a vector of all their cells, noised and accounted for together."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import chain
from pathlib import Path
from typing import Annotated, ClassVar, Literal

import numpy as np
from annotated_types import MinLen

from takifugu.core.arrays import IntArray
from takifugu.core.entries import Entries, columns_of
from takifugu.core.errors import within
from takifugu.core.plain import Plain, form, set_fields
from takifugu.core.rules import check_any, list_of, wrong_type
from takifugu.core.sections import Key
from takifugu.core.sections import Number as Written
from takifugu.model.queries.additive.coded import Linear, Mean, Sum
from takifugu.model.queries.answer import Additive, Answer, check_reach
from takifugu.model.queries.coding import common_step
from takifugu.model.queries.forms import Query, grid_or_none
from takifugu.model.queries.registry import is_registered, part_from_dict
from takifugu.model.queries.sections import Codes, Columns, Grid, check_columns, coded, values_by_column
from takifugu.numbers.rationals import Number


def _read_queries(queries: list[Plain]) -> list[Query]:
    return [part_from_dict(data, lambda kind: kind.is_with_others) for data in queries]


@dataclass(frozen=True)
class JointQuery(Query, kind="together"):
    """Publish the answers of several queries as one vector.

    The noise hides the secret from a reader of all answers together.

    Args:
        queries: The queries: sums, means, counts, histograms, weighted sums, values.
        grid: Step of every cell where columns hold real numbers; elsewhere each query keeps its own.

    Raises:
        InputError: For no query, and for a query of another kind.

    Examples:
        >>> from takifugu import Count
        >>> JointQuery([Count("ill"), Count("well")]).describe()
        "how often state 'ill' occurs; how often state 'well' occurs"
    """

    queries: tuple[Query, ...] = field(metadata=form(read=_read_queries))
    grid: Fraction | None = None

    def __init__(self, queries: Iterable[Query], grid: Number | None = None) -> None:
        all_queries = tuple(list_of(queries, "the queries", "queries", "[Count('ill'), Mean()]"))
        check_any(all_queries, "nothing is told together", "queries", fix="give two queries or more")
        for number, query in enumerate(all_queries):
            if not (is_registered(query) and query.is_with_others):
                fix = "give sums, means, counts, histograms or weighted sums"
                raise wrong_type(query, "told together with others", fix).at("queries", number)
        set_fields(self, queries=all_queries, grid=grid_or_none(grid))

    def resolve(self, entries: Entries) -> Additive:
        answers = list[Additive]()
        for number, query in enumerate(self.queries):
            with within("queries", number):
                answers.append(query.resolve(entries))
        return joined(answers)

    def describe(self) -> str:
        return "; ".join(query.describe() for query in self.queries)


def in_common(answers: Sequence[Answer]) -> tuple[Fraction, tuple[str, ...]]:
    """Return the common grid of answers, and the labels of all their cells."""
    grid = common_step(answer.grid for answer in answers)
    return grid, unlike(list(chain.from_iterable(answer.labels for answer in answers)))


def joined(answers: list[Additive]) -> Additive:
    """Join several answers over the same entries on a common grid."""
    grid, labels = in_common(answers)
    columns = []
    for answer in answers:
        columns += [answer.weights, answer.table_numbers]
    rows = np.stack(columns, axis=1)
    different, kind_numbers = np.unique(rows, axis=0, return_inverse=True)
    tables = tuple(_table(answers, row.reshape(-1, 2), grid) for row in different)
    is_read = (rows[:, ::2] != 0).any(axis=1).astype(np.int64)
    return Additive(grid, labels, tables, is_read, kind_numbers.ravel().astype(np.int64))


def _table(answers: list[Additive], kinds: IntArray, grid: Fraction) -> IntArray:
    """Return what an entry adds to all cells, by weights and tables."""
    shares = [(a, int(weight), a.tables[int(number)]) for a, (weight, number) in zip(answers, kinds, strict=True)]
    heights = [len(table) for _, weight, table in shares if weight] or [len(table) for _, _, table in shares]
    parts = list[IntArray]()
    for answer, weight, table in shares:
        read = table if weight else np.zeros((max(heights), answer.cells), dtype=np.int64)
        factor = weight * int(answer.grid / grid)
        check_reach(int(np.abs(read).max(initial=0)) * abs(factor), grid)  # before 64 bits would wrap
        parts.append(read * factor if read.any() else read)
    return np.concatenate(parts, axis=1)


def unlike(labels: list[str]) -> tuple[str, ...]:
    """Return labels made different: the second "mean" becomes "mean 2"."""
    names = list[str]()
    for label in labels:
        number, name = 1, label
        while name in names:
            number += 1
            name = f"{label} {number}"
        names.append(name)
    return tuple(names)


@dataclass(frozen=True, kw_only=True)
class _EachColumn:
    attribute: Annotated[Columns, Key("the column that is read; a list for one answer of each", "weight")]
    codes: Codes = None
    grid: Grid = None

    query_type: ClassVar[type[Sum | Mean]]

    @property
    def blamed(self) -> str:
        return "attribute" if self.codes is None else "codes"

    def query_about(self, belief: Entries, folder: Path) -> Query:
        names = (self.attribute,) if isinstance(self.attribute, str) else self.attribute
        check_columns(names, belief, "attribute")
        values_of_columns = values_by_column(belief)
        queries = []
        for column in names:
            codes = coded(self.codes, values_of_columns.get(column, {}))
            queries.append(self.query_type(column, codes, None, self.grid))
        return queries[0] if len(queries) == 1 else JointQuery(queries, self.grid)


@dataclass(frozen=True, kw_only=True)
class ColumnMeanSection(_EachColumn):
    """The mean of a column over all records."""

    query: Literal["mean"]

    query_type = Mean


@dataclass(frozen=True, kw_only=True)
class ColumnSumSection(_EachColumn):
    """The sum of a column over all records."""

    query: Literal["sum"]

    query_type = Sum


@dataclass(frozen=True, kw_only=True)
class ColumnLinearSection:
    """A weighted sum of columns over all records."""

    query: Literal["linear"]
    weights: Annotated[
        dict[str, Written], MinLen(1), Key("the weight of each column that is added up", {"weight": 1, "height": -1})
    ]
    grid: Grid = None

    blamed = "weights"

    def query_about(self, belief: Entries, folder: Path) -> Linear:
        check_columns(self.weights, belief, "weights")
        return Linear([self.weights.get(name, 0) for name in columns_of(belief)], grid=self.grid)
