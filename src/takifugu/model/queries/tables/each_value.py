"""Every row's own value, to be published after it was randomised: an answer of one cell per row."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass, field
from fractions import Fraction
from pathlib import Path
from typing import Annotated, Any, Literal, Protocol, runtime_checkable

import numpy as np
from annotated_types import Ge, Le

from takifugu.core.arrays import IntArray
from takifugu.core.entries import Entries
from takifugu.core.errors import InputError
from takifugu.core.escaping import at_most, number
from takifugu.core.plain import form, set_fields
from takifugu.core.rules import check_type, list_of, requires
from takifugu.core.sections import Key, Number
from takifugu.model.queries.answer import OfAlikeEntries
from takifugu.model.queries.forms import Query
from takifugu.numbers.rationals import as_fraction, as_non_negative, as_whole


@runtime_checkable
class OfRows(Protocol):
    """A belief about rows that come from one of several populations."""

    @property
    def populations(self) -> tuple[str, ...]: ...

    @property
    def nearest(self) -> float:
        """Return the least distance between two values."""
        ...


@dataclass(frozen=True)
class LocalValue(Query, kind="each-value"):
    """Publish each row's value by itself, randomised (Kawamoto19 Algorithm 1).

    Args:
        dummies: How many uniform values each value is hidden among; 0 sends the value by itself.
        batch: Name of the rows, for the ledger. Releases of one name read the same rows; batches of two names share
            none.
        columns: Columns of the value. Releases about other columns read other values of the same rows.
        radius: Largest distance between a value and what is sent, in the units of the belief; None for no limit.

    Raises:
        InputError: Unless `dummies` is a whole number from 0, and `radius` a number from 0.

    Examples:
        >>> LocalValue(dummies=3, batch="March", columns=("activity",)).describe()
        "each row's 'activity' of the batch 'March', randomised among 3 dummies"
    """

    dummies: int = 0
    batch: str = ""
    columns: tuple[str, ...] = field(default=(), metadata=form(read=tuple))
    radius: Fraction | None = field(default=None, metadata=form(is_left_out=True))

    def __post_init__(self) -> None:
        as_whole(self.dummies, "the number of dummies", "dummies")
        check_type(self.batch, str, "the name of a batch", 'write batch="March"', "batch")
        set_fields(self, columns=tuple(list_of(self.columns, "the columns", "columns", "['activity']")))
        if self.radius is not None:
            set_fields(self, radius=as_non_negative(self.radius, "the radius", "radius"))

    def resolve(self, entries: Entries) -> Any:
        """Return the answer under a belief about populations.

        Args:
            entries: The belief.

        Returns:
            The answer, without data.

        Raises:
            InputError: For another belief, and for a radius without another value in reach.
        """
        if not isinstance(entries, OfRows):
            raise requires(self.describe(), "rows from populations", "FromPopulations(...)").at("query")
        if self.radius is not None and self.radius < entries.nearest:
            raise InputError(
                f"the radius is {number(float(self.radius))}",
                rule=f"it cuts all noise: no other value is nearer than {number(entries.nearest)}",
                fix=f"write at least {at_most(entries.nearest)}",
            ).at("radius")
        return RowCodes(entries.size, len(entries.alphabet(0)))

    def describe(self) -> str:
        whose = f" of the batch {self.batch!r}" if self.batch else ""
        among = f" among {self.dummies} dummies" if self.dummies else ""
        subject = " and ".join(map(repr, self.columns)) or "value"
        within = "" if self.radius is None else f" within {number(float(self.radius))}"
        return f"each row's {subject}{whose}, randomised{within}{among}"


@dataclass(frozen=True)
class RowCodes(OfAlikeEntries):
    """The numbers of the values of `size` rows, one cell each; there are `count` values."""

    size: int
    count: int

    grid = Fraction(1)

    @property
    def labels(self) -> tuple[str, ...]:
        if self.size == 1:
            return ("value",)
        return tuple(map("row {}".format, range(self.size)))

    @property
    def cells(self) -> int:
        return self.size

    @property
    def key(self) -> Hashable:
        return "row codes", self.size, self.count

    @property
    def weights(self) -> IntArray:
        return np.ones(self.size, dtype=np.int64)

    @property
    def step(self) -> int:
        """Return how far one row's number can move."""
        return self.count - 1

    def restrict(self, entries: slice) -> RowCodes:
        """Return the answer about a run of rows."""
        return RowCodes(len(range(self.size)[entries]), self.count)

    def totals(self, values: IntArray) -> IntArray:
        """Return the value indices themselves, shape (rows, cells)."""
        return values[:, : self.size]

    def evaluate(self, values: object) -> tuple[int, ...]:
        """Return the number of each row's value."""
        return tuple(map(int, np.asarray(values).reshape(-1)))


@dataclass(frozen=True, kw_only=True)
class EachValueSection:
    """Each row's value, randomised by itself."""

    query: Literal["each-value"]
    dummies: Annotated[int, Ge(0), Le(10_000), Key("how many dummies are sent beside a value", 10)] = 0

    radius: Annotated[Number | None, Key("no value is sent as one that is farther away than this", 500)] = None

    blamed = "query"

    def query_about(self, belief: Entries, folder: Path) -> LocalValue:
        radius = None
        if self.radius is not None:
            radius = as_fraction(self.radius, "the radius", "radius")
        return LocalValue(self.dummies, radius=radius)
