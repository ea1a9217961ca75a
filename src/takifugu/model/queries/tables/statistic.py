"""A statistic of whole columns that is no sum over records: its change is what its author declares."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any, Self

import numpy as np

from takifugu.core.arrays import IntArray
from takifugu.core.cache import memoised
from takifugu.core.entries import Entries
from takifugu.core.errors import DataError, InputError, Unsupported
from takifugu.core.functions import as_named
from takifugu.core.plain import Json, Plain, arguments, form, set_fields
from takifugu.core.rules import are_different, check_type, list_of, members_of, requires, wrong_type
from takifugu.model.queries.answer import Additive, Answer, State
from takifugu.model.queries.forms import Query, grid_or_none
from takifugu.numbers.rationals import Number, as_fraction, to_text

_DEFINED: dict[tuple[str, int], Callable[..., object]] = {}


@dataclass(frozen=True)
class Statistic(Query, kind="statistic"):
    """Publish a function of whole columns with a declared change (Zhang22 §5.1).

    Regression coefficients are an example. Takifugu does not check the declared change; the guarantee rests on it.

    Args:
        name: Name of the function in ledgers.
        version: Its version; another function needs another one.
        columns: The columns that it reads.
        function: Takes a list of values for each column; returns a number, or one for each label. None if it was read
            from a ledger.
        column_sensitivity: The largest L1 change of the result when all values of some columns change: one number for
            any of them, or one for each column, whose changes then add up.
        grid: Step of the published numbers, in answer units; results are rounded to it.
        labels: Names of the results.

    Raises:
        InputError: For a missing name, column, change or grid, a negative change, and another function under this name
            and version.

    Examples:
        >>> spread = Statistic("spread", 1, ["age"], lambda ages: max(ages) - min(ages), column_sensitivity=100, grid=1)
        >>> spread.describe()
        "spread (version 1) of 'age', declared to change by at most 100"
    """

    name: str
    version: int
    columns: tuple[str, ...]
    column_sensitivity: tuple[Fraction, ...]
    grid: Fraction
    labels: tuple[str, ...] = ("value",)
    function: Callable[..., object] | None = field(
        default=None, compare=False, repr=False, metadata=form(is_private=True)
    )

    def __init__(
        self,
        name: str,
        version: int,
        columns: Iterable[str],
        function: Callable[..., object] | None,
        column_sensitivity: Number | Mapping[str, Number],
        grid: Number,
        labels: Iterable[str] = ("value",),
    ) -> None:
        read = tuple(list_of([columns] if isinstance(columns, str) else columns, "the columns", "columns", "['age']"))
        if not isinstance(name, str) or not name or not read or not are_different(read):
            raise InputError("a statistic needs a name, and different columns that it reads").at("columns")
        if function is not None and not callable(function):
            raise wrong_type(function, "a function", "give one of the columns").at("function")
        if isinstance(column_sensitivity, Mapping):
            missing = [value for value in read if value not in column_sensitivity]
            if missing:
                raise InputError(
                    f"the statistic declares no change for the column {missing[0]!r}", fix="declare one"
                ).at("column_sensitivity")
            declared = [as_fraction(column_sensitivity[c], "a change", "column_sensitivity") for c in read]
        else:
            declared = [as_fraction(column_sensitivity, "the change", "column_sensitivity")]
        if min(declared) < 0:
            raise InputError("a declared change is negative", rule="it must be 0 or more").at("column_sensitivity")
        check_type(version, Hashable, "a version", "write for example 1", "version")
        if function is not None:
            _DEFINED[name, version] = as_named(function, "the statistic", name, version, "version")
        step = grid_or_none(grid)
        if step is None:
            raise InputError("the statistic has no grid", fix="write for example grid='0.01'").at("grid")
        set_fields(
            self, name=name, version=version, columns=read, column_sensitivity=tuple(declared), grid=step,
            labels=tuple(members_of(labels, "the labels", "labels", "['value']")),
            function=_DEFINED.get((name, version)),
        )  # fmt: skip

    def steps(self, read: Iterable[str]) -> int:
        """Return the declared change of the statistic, in steps of its grid.

        Rounding moves each cell by half a step at most, before and after.

        Args:
            read: The columns that change.

        Returns:
            A whole number.
        """
        names = set(read)
        if names.isdisjoint(self.columns):
            return 0
        moved = self.column_sensitivity[0]
        if len(self.column_sensitivity) == len(self.columns):
            moved = Fraction(0)
            for column, change in zip(self.columns, self.column_sensitivity, strict=True):
                if column in names:
                    moved += change
        return int(moved / self.grid) + len(self.labels) if moved else 0

    def value(self, columns: Sequence[Sequence[State]]) -> list[int]:
        """Return the statistic of some columns, in steps of its grid.

        Args:
            columns: The values of each column.

        Returns:
            One whole number for each label.

        Raises:
            DataError: Where its function fails.
        """
        if self.function is None:
            raise InputError(f"the statistic {self.name!r}, version {self.version}, is defined by nobody")
        try:
            result = self.function(*map(list, columns))
            numbers: list[Any] = list(result) if isinstance(result, Iterable) else [result]
            cells = [round(Fraction(number) / self.grid) for number in numbers]
        except Exception:
            raise DataError(f"the statistic {self.name!r} failed on these data") from None
        if len(cells) != len(self.labels):
            raise DataError(f"the statistic {self.name!r} has other numbers than its {len(self.labels)} labels")
        return cells

    def resolve(self, entries: Entries) -> Additive:
        """Refuse: a belief over parameters resolves this query itself.

        Args:
            entries: Another belief.

        Returns:
            Nothing.

        Raises:
            InputError: Always.
        """
        raise requires(self.describe(), "a population's columns", "Parameters(...)").at("query")

    def to_dict(self) -> Json:
        changes: list[str] = list(map(to_text, self.column_sensitivity))
        of_columns: str | dict[str, str] = changes[0]
        if len(changes) > 1:
            of_columns = dict(zip(self.columns, changes, strict=True))
        return {**super().to_dict(), "column_sensitivity": of_columns}

    @classmethod
    def from_dict(cls, data: Plain) -> Statistic:
        return cls(**arguments(cls, data), function=None)

    def describe(self) -> str:
        names = " and ".join(map(repr, self.columns))
        changes = " and ".join(map(to_text, self.column_sensitivity))
        return f"{self.name} (version {self.version}) of {names}, declared to change by at most {changes}"


class WholeColumns(Answer):
    """An answer about whole columns, of which every record may change."""

    #: The answer's own, as are `labels`, `size` (entries are parameters of columns) and `change` (D of some).
    records: int

    def change(self, entries: Iterable[int]) -> int:
        raise NotImplementedError

    @property
    def weights(self) -> IntArray:
        """Return 1 for every entry with a column in use, else 0."""
        read: IntArray = (self.entry_changes() != 0).astype(np.int64)
        return read

    @memoised
    def entry_changes(self) -> IntArray:
        """Return D of each entry's column alone, in grid units; D(N) may be less than their sum, never more."""
        return np.array([self.change((entry,)) for entry in range(self.size)], dtype=np.int64)

    def restrict(self, entries: slice) -> Self:
        """Return the answer itself, as parameters share its records."""
        if range(self.size)[entries] != range(self.size):
            raise Unsupported("an answer about whole columns has no share of some parameters alone")
        return self


@dataclass(frozen=True, eq=False)
class DeclaredAnswer(WholeColumns):
    """A statistic over the columns of a belief, rounded to its grid; D(N) is declared, and one step more per cell."""

    query: Statistic
    names: tuple[str, ...]
    states: tuple[tuple[State, ...], ...]
    records: int
    entry_of: tuple[int, ...]
    size: int

    @property
    def grid(self) -> Fraction:
        return self.query.grid

    @property
    def labels(self) -> tuple[str, ...]:
        return self.query.labels

    @property
    def key(self) -> Hashable:
        return "statistic", self.records, repr(self.query.to_dict())

    def change(self, entries: Iterable[int]) -> int:
        """Return D(N) of whole columns, in grid units."""
        changed = set(entries)
        return self.query.steps(name for name, entry in zip(self.names, self.entry_of, strict=True) if entry in changed)

    def nearest(self, norm: int = 1) -> Fraction:
        """Return one step of the grid: nothing says how far one record moves it."""
        return Fraction(1)

    def farthest(self, entries: Sequence[int] | range, norm: int = 1) -> Fraction:
        return Fraction(1)

    def cell_ranges(self) -> tuple[int, ...]:
        return (self.change(range(self.size)),) * self.cells

    def evaluate(self, values: IntArray) -> tuple[int, ...]:
        """Return the statistic in grid units of value indices, shape (records, columns)."""
        read = list(map(self.names.index, self.query.columns))
        columns = []
        for column in read:
            columns.append([self.states[column][place] for place in values[:, column].tolist()])
        return tuple(self.query.value(columns))

    def totals(self, values: IntArray) -> IntArray:
        """Return the answer to each row of listed states (`ColumnAnswer.totals`)."""
        rows = values[:, self.size :].reshape(len(values), self.records, len(self.names))
        return np.array(list(map(self.evaluate, rows)), dtype=np.int64)
