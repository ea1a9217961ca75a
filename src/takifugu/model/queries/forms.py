"""What every query offers, and how its parts are written to and read from plain data."""

from __future__ import annotations

from collections.abc import Iterable
from fractions import Fraction
from typing import Protocol, runtime_checkable

from takifugu.core.arrays import IntArray
from takifugu.core.entries import Entries
from takifugu.core.plain import Json, Plain, form
from takifugu.model.queries.additive import Additive, Chosen
from takifugu.model.queries.selections import codes_from, codes_to, runs, unruns
from takifugu.numbers.rationals import Number, as_positive


class Query(Protocol):
    """Define a statistic: resolved against a belief's entries it is an integer answer on a grid.

    Implement this protocol for a query of your own (docs/extending.md).

    Examples:
        >>> from takifugu.model.queries import Count
        >>> Count("walking").to_dict()["kind"]
        'count'
    """

    def resolve(self, entries: Entries) -> Additive: ...

    def to_dict(self) -> Json: ...

    def describe(self) -> str: ...


class Registered(Query, Protocol):
    """A query of a kind that is registered: what it writes down is read back."""

    @staticmethod
    def from_dict(data: Plain) -> Query: ...


@runtime_checkable
class OnGrid(Protocol):
    """A query that may declare the grid of its answers."""

    @property
    def grid(self) -> Fraction | None: ...


@runtime_checkable
class OfEntries(Protocol):
    """A query that may name the entries that it reads; None: all."""

    @property
    def entries(self) -> Chosen | None: ...


@runtime_checkable
class Limited(Protocol):
    """A query that only some definitions allow (None: all do), with the rule that forbids it elsewhere, and a fix."""

    @property
    def definitions(self) -> tuple[str, ...] | None: ...

    @property
    def elsewhere(self) -> tuple[str, str]: ...


class Answer(Protocol):
    """What a query is resolved to: cells of whole steps of a grid."""

    @property
    def grid(self) -> Fraction: ...

    @property
    def labels(self) -> tuple[str, ...]: ...


@runtime_checkable
class ReadsAlike(Protocol):
    """A query to which every entry adds by its value alone."""

    @property
    def reads_alike(self) -> bool: ...


@runtime_checkable
class AddsUp(Protocol):
    """A query about columns whose answers to single rows add up."""

    @property
    def adds_up(self) -> bool: ...


@runtime_checkable
class Choosing(Protocol):
    """A query that chooses values."""

    @property
    def is_choice(self) -> bool: ...


@runtime_checkable
class Averaging(Protocol):
    """A query that divides the sum of some entries by their number."""

    def undivided(self) -> Query: ...


@runtime_checkable
class Weighing(Protocol):
    """A query with a weight for each entry by its number."""

    @property
    def weights(self) -> tuple[Fraction, ...]: ...

    def over(self, entries: Iterable[int]) -> Query:
        """Return the query about some entries alone."""
        ...

    def unweighted(self) -> Query:
        """Return the query with a weight of 1 for each entry."""
        ...


@runtime_checkable
class ByCells(Protocol):
    """A query with an answer for each cell of entries."""

    @property
    def query(self) -> Query: ...

    @property
    def cells(self) -> tuple[tuple[str, Chosen], ...]: ...

    @property
    def by(self) -> str: ...

    @property
    def every(self) -> int | None: ...

    @property
    def entries(self) -> Chosen | None: ...

    @property
    def blocks(self) -> int: ...

    def held(self, entries: Entries) -> list[IntArray]: ...

    def unnamed(self) -> Query: ...


@runtime_checkable
class QueryReader(Protocol):
    """A belief or domain over records, which reads queries itself, column by column."""

    def resolve(self, query: Query) -> Additive: ...


def of_each_cell(query: Query) -> Query:
    """Return the query of each cell; any other query as it is."""
    return query.query if isinstance(query, ByCells) else query


def is_choice(query: Query) -> bool:
    """Return whether a value is chosen, as by a median or mode."""
    return isinstance(of_each_cell(query), Choosing)


def reads_alike(query: Query) -> bool:
    """Return whether counts of the entries' states decide the answer."""
    return isinstance(query, ReadsAlike) and query.reads_alike


def adds_up_over_rows(query: Query) -> bool:
    """Return whether answers to single rows add up."""
    return reads_alike(query) or (isinstance(query, AddsUp) and query.adds_up)


def grid_or_none(grid: Number | None) -> Fraction | None:
    """Read a declared grid: a rational above 0, or none."""
    if grid is None:
        return None
    return as_positive(grid, "the grid", "grid")


#: How a field of codes is written.
CODES = form(codes_to, codes_from)
#: How a field of chosen entries is written.
RUNS = form(runs, unruns)
